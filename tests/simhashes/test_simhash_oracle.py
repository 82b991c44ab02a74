"""Whole files through the command line: every fingerprint is the one of a slow program, whatever holds the texts."""

from __future__ import annotations

import csv
import gzip
import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from lookalike.cli.main import cli
from oracles import near as nearness
from oracles import simhashes as oracle

WORDS = ["ferry", "tide", "table", "Straße", "ὃς人间", "naïve", "İstanbul", "2", "3.5", "don't", "שלום", "สวัสดี", "ﬁne"]


def texts(count: int, seed: int) -> list[str]:
    """Texts of all lengths, some the same, some a word apart, some without words."""
    chance = random.Random(seed)
    made = ["", "?!", "\n\n", "one"]
    while len(made) < count:
        if chance.random() < 0.3:
            words = chance.choice(made).split(" ")
            words[chance.randrange(len(words))] = chance.choice(WORDS)
            made.append(" ".join(words))
        elif chance.random() < 0.2:
            made.append(chance.choice(made))
        else:
            made.append(" ".join(chance.choices(WORDS, k=chance.randrange(1, 60))))
    return made


def written(folder: Path, kind: str, rows: list[tuple[str, str]]) -> Path:
    path = folder / f"texts.{kind}"
    lines = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows)
    if kind == "jsonl":
        path.write_text(lines, encoding="utf-8")
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    elif kind == "csv":
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("id", "text"), *rows])
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        names, given = zip(*rows, strict=True)
        parquet.write_table(pa.table({"id": names, "text": given}), path, row_group_size=37)
    return path


def fingerprints(path: Path, out: Path, *options: str) -> dict[str, tuple[int | None, str]]:
    done = CliRunner().invoke(cli, ["simhash", str(path), "-o", str(out), "--overwrite", "--quiet", *options])
    assert done.exit_code == 0, done.output
    with open(out, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {row["id"]: (int(row["fingerprint"], 16) if row["fingerprint"] else None, row["length"]) for row in rows}


@pytest.mark.parametrize("unit", ["word", "character", "line"])
@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "csv", "parquet"])
def test_every_row_of_a_file_is_as_the_oracle(kind: str, unit: str, tmp_path: Path):
    rows = [(f"row-{number}", text) for number, text in enumerate(texts(60, 1))]
    path, out = written(tmp_path, kind, rows), tmp_path / "prints.csv"
    expected = {name: (oracle.of_text(text, unit), str(oracle.length(text, unit))) for name, text in rows}
    # A blank field of CSV is a row without a text, which has no length either.
    for threads in ("1", "2"):
        found = fingerprints(path, out, "--unit", unit, "--threads", threads)
        assert {name: value[0] for name, value in found.items()} == {name: value[0] for name, value in expected.items()}
        assert all(found[name] == expected[name] for name, text in rows if text)


def test_groups_of_equal_fingerprints_are_counted_as_the_oracle(tmp_path: Path):
    rows = [(f"row-{number}", text) for number, text in enumerate(texts(80, 2))]
    path, out = written(tmp_path, "jsonl", rows), tmp_path / "prints.csv"
    done = CliRunner().invoke(cli, ["simhash", str(path), "-o", str(out), "--json"])
    report = json.loads(done.stdout)
    prints = [(name, value) for name, text in rows if (value := oracle.of_text(text)) is not None]
    groups = nearness.groups(prints)
    assert report["distinct"] == len({value for _, value in prints})
    assert report["largest_group"] == max(len(group) for group in groups)
    assert report["states"]["fingerprinted"] == len(prints)
