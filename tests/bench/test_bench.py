"""The benchmark as a program: its answers are right, and a wrong one cannot pass. No test here looks at a clock."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from pathlib import Path

import pytest

from bench import definition, measure, report, runner
from bench.corpora import CORPORA
from bench.outcome import answer_of
from bench.works import Run, documents
from lookalike import _core, params

ROOT = Path(__file__).parents[2]
ROWS = definition.load(definition.FOLDER)
# The definition of H′ in FORMAT.md, repeated here so that the expected answers do not rest on the code they judge.
BASE = 0x9E3779B5
#: Works whose texts are not of `bench.corpora`.
OWN_CORPUS = ("archive", "compare", "crawl", "dedup", "hamming", "rival", "shared", "simhash", "sketches", "clustering")
WITHOUT_CORPUS = tuple(work for work in runner.WORKS if work.startswith(OWN_CORPUS))


def bench(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *map(str, arguments)]
    # Another seed of Python's own hash in every run: no corpus may depend on it.
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "random"}
    )


@pytest.fixture
def tampered(tmp_path: Path) -> Path:
    """Definitions with one digest changed, that of the row `word 5,12`."""
    folder = Path(shutil.copytree(definition.FOLDER, tmp_path / "definitions"))
    file = folder / "units.toml"
    right = ROWS["word 5,12"].expect["quick"].digest
    file.write_text(file.read_text("utf-8").replace(right, "0" * len(right)), "utf-8")
    return folder


def test_quick_run_gives_right_answers_and_writes_them_for_programs(tmp_path: Path) -> None:
    done = bench("--quick", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row["row"]: row for row in json.loads((tmp_path / "out.json").read_text())["rows"]}
    assert rows.keys() == ROWS.keys()
    judged = {name: row["answer"] for name, row in rows.items() if row["answer"] != "skipped"}
    assert set(judged.values()) == {"right"}
    assert all(row["note"] for row in rows.values() if row["answer"] == "skipped"), "a row is skipped without a reason"


def test_wrong_answer_fails_the_run_and_names_the_row(tampered: Path) -> None:
    done = bench("--quick", "--definitions", tampered, "--only", "word 5,12")
    assert done.returncode == 1
    assert "wrong answer: word 5,12\n" in done.stdout
    assert "expected" in done.stdout


def test_slow_row_does_not_fail_the_run() -> None:
    row = runner.Row(ROWS["xxh3"], answer="right", figures=[runner.Figure("memory pass", 0.1, at_least=0.2)])
    assert "missed: xxh3" in report.summary([row])
    assert row.answer == "right"


def test_missing_rivals_are_skipped_with_a_reason(tmp_path: Path) -> None:
    done = bench("--quick", "--rivals", tmp_path, "--only", "rival dolos-core")
    assert done.returncode == 0
    assert re.search(r"rival dolos-core +skipped: `winnow.py` is not in the folder given", done.stdout)


def test_unknown_row_is_refused() -> None:
    done = bench("--only", "no such row")
    assert done.returncode == 2
    assert "no row has `no such row` in its name" in done.stderr


def test_every_scheme_and_unit_has_a_row() -> None:
    assert {row.select.get("scheme") for row in ROWS.values()} >= set(params.SCHEMES)
    assert {row.select.get("unit", params.UNIT.default) for row in ROWS.values()} == set(params.UNITS)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_definition_is_complete(row: definition.Definition) -> None:
    assert row.work in runner.WORKS
    assert row.work in WITHOUT_CORPUS or row.corpus in CORPORA
    assert row.form in ("str", "bytes")
    assert (row.work in runner.UNJUDGED) == (not row.expect)
    assert all(answer.count > 0 and len(answer.digest) == 16 for answer in row.expect.values())


def test_reference_runs_before_the_row_that_needs_it() -> None:
    names = [row.name for row in definition.with_references(["robust 50,149 str"], ROWS)]
    assert names == ["memory pass", "xxh3", "figure5 50,149", "robust 50,149 str"]


def test_record_names_neither_machine_nor_path(tmp_path: Path) -> None:
    rows = list(runner.run_rows(definition.with_references(["xxh3"], ROWS), Run(quick=True)))
    file = report.write_record(rows, tmp_path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-[a-z0-9-]+\.csv", file.name)
    assert file.read_text().startswith("row,bytes,mb_s")
    assert os.uname().nodename not in file.read_text() + measure.machine()


def test_blessing_changes_only_the_row_it_names(tampered: Path) -> None:
    row = definition.load(tampered)["word 5,12"]
    definition.bless(row, "quick", ROWS["word 5,12"].expect["quick"])
    assert (tampered / "units.toml").read_text() == (definition.FOLDER / "units.toml").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "scheme winnow 50,149",
        "scheme robust 50,149",
        "zeros winnow",
        "zeros robust",
        "periodic winnow",
        "periodic robust",
    ],
)
def test_expected_answer_follows_from_the_definition_of_winnowing(name: str) -> None:
    row = ROWS[name]
    hashes, positions, offsets = [], [], [0]
    for text in documents(row.corpus, Run(quick=True).bytes_of(row)):
        for pos, identity in winnowed(text, k=50, w=100, is_robust=row.select["scheme"] == "robust"):
            positions.append(pos)
            hashes.append(identity)
        offsets.append(len(positions))
    columns = [number_column(8, hashes), number_column(4, positions)]
    # A batch also says where each document begins.
    columns += [number_column(8, offsets)] if row.work == "batch" else []
    assert answer_of(columns, len(hashes)) == row.expect["quick"]


def number_column(width: int, numbers: list[int]) -> bytes:
    return b"".join(number.to_bytes(width, "little") for number in numbers)


def winnowed(text: bytes, k: int, w: int, is_robust: bool) -> list[tuple[int, int]]:
    """Definitions 1 and 3 by a queue of candidates in ascending order, the minimum of the window in front."""
    ranks = kgram_ranks(bytes(c for c in text.lower() if chr(c).isalnum()), k)
    queue: deque[int] = deque()
    picks: list[int] = []
    for i, rank in enumerate(ranks):
        # Of equal k-grams the rightmost stays, and under the robust rule the one chosen last as well.
        while queue and (
            ranks[queue[-1]] > rank or (ranks[queue[-1]] == rank and not (is_robust and queue[-1] in picks[-1:]))
        ):
            queue.pop()
        queue.append(i)
        if queue[0] <= i - w:
            queue.popleft()
        if i >= w - 1 and queue[0] not in picks[-1:]:
            picks.append(queue[0])
    # A document shorter than one window is one window.
    picks = picks or list(queue)[:1]
    return [(i, ranks[i][1]) for i in picks]


def kgram_ranks(tokens: bytes, k: int) -> list[tuple[int, int]]:
    """What the order compares, for every k-gram: H′ modulo 2^32, then the identity."""
    found, hash_, leading = [], 0, pow(BASE, k, 1 << 32)
    for i, token in enumerate(tokens):
        leaving = tokens[i - k] * leading if i >= k else 0
        hash_ = (hash_ - leaving + token) * BASE % (1 << 32)
        if i >= k - 1:
            found.append((hash_, _core.xxh3(tokens[i - k + 1 : i + 1])))
    return found
