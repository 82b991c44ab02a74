"""`lookalike dedup` as people run it: every format in and out, the way back, tables, refusals, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.corpora import restore
from support.children import PATIENCE
from support.dedups import FORMATS, Row, cells, command, content, corpus, lines, table, truth

ROWS = corpus()
#: Columns that say where a row of a cluster and its representative come from.
WHERE = ["source", "row", "representative_source", "representative_row"]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(ROWS))
    return path


def test_the_corpus_has_every_kind_of_row():
    found = truth(ROWS)
    assert {value == 1 for value in found.values()} == {True, False}
    assert min(found.values()) > 0.85, "no pair is where a filter may miss it"
    assert any(row.text is None for row in ROWS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_comes_back_without_rows_that_have_a_partner_and_whole_from_the_ledger(
    tmp_path: Path, capfd: Capture, name: str
):
    """The round trip, and that the kept part has nothing to take out any more."""
    source, clean, again, ledger = (tmp_path / one / name for one in ("in", "clean", "again", "ledger"))
    for folder in ("in", "clean", "again"):
        (tmp_path / folder).mkdir()
    ledger = tmp_path / "ledger.jsonl.zst"
    FORMATS[name](source, ROWS)
    facts = json.loads(command(capfd, "dedup", source, "-o", clean, "--ledger", ledger, "--json").out)
    assert facts["kept"] + sum(facts["removed"].values()) == facts["rows"]
    assert sum(facts["removed"].values()) > 15
    command(capfd, "dedup", clean, "--restore", ledger, "-o", again)
    if name == "rows.parquet":
        assert content(again).equals(content(source), check_metadata=True)
        metas = [pq.ParquetFile(path).metadata for path in (again, source)]
        sizes = [[meta.row_group(at).num_rows for at in range(meta.num_row_groups)] for meta in metas]
        assert sizes[0] == sizes[1]
    else:
        assert content(again) == content(source)
    second = json.loads(command(capfd, "dedup", clean, "--json").out)
    assert (second["rows"], sum(second["removed"].values())) == (facts["kept"], 0)
    assert second["states"]["bad"] == facts["states"]["bad"] == 0


def test_formats_agree_on_who_goes(tmp_path: Path, capfd: Capture):
    removed = set()
    for name in ("rows.jsonl", "rows.csv", "rows.parquet"):
        # Of a CSV file the missing texts are empty ones.
        some = [row for row in ROWS if row.text]
        FORMATS[name](tmp_path / name, some)
        command(capfd, "dedup", tmp_path / name, "--clusters", tmp_path / f"{name}.csv", "--keep", "max:stars")
        removed.add(str([one[:5] for one in cells(tmp_path / f"{name}.csv")]))
    assert len(removed) == 1


def test_kept_lines_are_the_same_bytes_in_the_same_order(rows: Path, tmp_path: Path, capfd: Capture):
    command(capfd, "dedup", rows, "-o", tmp_path / "out.jsonl", "--ledger", tmp_path / "gone")
    gone = [json.loads(line) for line in (tmp_path / "gone").read_bytes().splitlines()[1:]]
    kept = [line for at, line in enumerate(lines(ROWS).splitlines(True)) if at not in {one["row"] for one in gone}]
    assert (tmp_path / "out.jsonl").read_bytes() == b"".join(kept)
    found = truth(ROWS)
    for one in gone:
        survivor, row = one["survivor"]["row"], one["row"]
        off = 1e-5 if one["basis"] == "exact" else 0.1
        assert one["resemblance"] == pytest.approx(found[min(row, survivor), max(row, survivor)], abs=off)
        assert (one["survivor"]["id"], one["method"]) == (ROWS[survivor].id, "minhash")


def test_many_files_keep_their_names_and_division(tmp_path: Path, capfd: Capture):
    folder = tmp_path / "ein Ordner"
    (folder / "sub").mkdir(parents=True)
    parts = {"a.jsonl": ROWS[:20], "sub/żółw 🐢.jsonl": [], "sub/b.parquet": ROWS[20:40], "z.csv": ROWS[40:]}
    for name, part in parts.items():
        kind = "rows." + name.rpartition(".")[2]
        FORMATS[kind](folder / name, part or [])
    clean, ledger = tmp_path / "clean", tmp_path / "ledger.gz"
    command(capfd, "dedup", folder, "-o", clean, "--ledger", ledger, "--clusters", tmp_path / "clusters.csv")
    assert {str(path.relative_to(clean)) for path in clean.rglob("*") if path.is_file()} == set(parts)
    command(capfd, "dedup", clean, "--restore", ledger, "-o", tmp_path / "again")
    for name in parts:
        assert content(tmp_path / "again" / name) == content(folder / name), name
    numbers = {row.id: at for at, row in enumerate(ROWS)}
    pairs = {tuple(sorted((numbers[one[0]], numbers[one[2]]))) for one in cells(tmp_path / "clusters.csv")[1:]}
    assert {pair for pair in pairs if pair[0] != pair[1]} <= truth(ROWS).keys()


def test_a_survivor_in_the_ledger_is_named_by_the_source_it_is_in(tmp_path: Path, capfd: Capture):
    """A source without rows begins at the row of the one after it."""
    text = ROWS[0].text or ROWS[1].text or ROWS[2].text
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": text}) + "\n", encoding="utf-8")
    (tmp_path / "c.jsonl").write_text(json.dumps({"text": text}) + "\n", encoding="utf-8")
    inputs = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    command(capfd, "dedup", *inputs, "-o", tmp_path / "out", "--ledger", tmp_path / "gone")
    (entry,) = (json.loads(line) for line in (tmp_path / "gone").read_bytes().splitlines()[1:])
    assert (entry["source"], entry["survivor"]) == (2, {"source": 1, "row": 0, "id": f"{inputs[1]}:1"})


def test_standard_input_is_a_corpus(rows: Path, tmp_path: Path, capfd: Capture):
    command(capfd, "dedup", rows, "-o", tmp_path / "named.jsonl")
    command(capfd, "dedup", "-", "-o", tmp_path / "piped.jsonl", stdin=rows.read_bytes())
    assert (tmp_path / "piped.jsonl").read_bytes() == (tmp_path / "named.jsonl").read_bytes()


def test_an_address_is_a_corpus(rows: Path, tmp_path: Path, capfd: Capture):
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://dedup/rows.jsonl.gz", "wb", compression="gzip") as file:
        file.write(rows.read_bytes())
    command(capfd, "dedup", rows, "-o", tmp_path / "named.jsonl")
    command(capfd, "dedup", "memory://dedup/rows.jsonl.gz", "-o", tmp_path / "far.jsonl")
    assert (tmp_path / "far.jsonl").read_bytes() == (tmp_path / "named.jsonl").read_bytes()


def test_clusters_and_pairs_are_what_comparing_all_with_all_finds(rows: Path, tmp_path: Path, capfd: Capture):
    command(capfd, "dedup", rows, "--clusters", tmp_path / "clusters.csv", "--pairs", tmp_path / "pairs.csv")
    found = {(ROWS[left].id, ROWS[right].id): value for (left, right), value in truth(ROWS).items()}
    header, *pairs = cells(tmp_path / "pairs.csv")
    assert header == ["left", "right", "resemblance", "link", "left_source", "left_row", "right_source", "right_row"]
    for left, right, value, link, *where in pairs:
        assert [ROWS[int(where[at])].id for at in (1, 3)] == [left, right]
        assert float(value) == pytest.approx(found[left, right], abs=1e-4)
        assert (link == "identical") == (found[left, right] == 1)
    header, *members = cells(tmp_path / "clusters.csv")
    assert header == ["id", "cluster", "representative", "resemblance", "link", *WHERE]
    assert {one[0] for one in members} == {name for pair in found for name in pair}
    assert [int(one[0][2:]) for one in members] == sorted(int(one[0][2:]) for one in members)
    for name, _, representative, value, link, *where in members:
        assert where[::2] == [str(rows)] * 2
        assert [ROWS[int(where[at])].id for at in (1, 3)] == [name, representative]
        assert (name == representative) == (link == "survives")
        if name != representative:
            assert float(value) == pytest.approx(found[representative, name], abs=1e-4), "the first one stays"


def test_rows_without_ids_are_named_by_file_and_line(tmp_path: Path, capfd: Capture):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "same"}\n\n{"text": "same"}\n', encoding="utf-8")
    command(capfd, "dedup", path, "--pairs", tmp_path / "pairs.csv")
    assert cells(tmp_path / "pairs.csv")[1][:4] == [f"{path}:1", f"{path}:3", "1.0000", "identical"]


def test_names_of_strangers_are_no_formulas_and_break_no_table(tmp_path: Path, capfd: Capture):
    names = ["=1+1", "@sum", "-5", "+a", 'a"b,c', "line\nfeed\r", "\x1b[2J\u202e", "\t=x", "\0"]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": "same text"}) + "\n" for name in names), encoding="utf-8")
    done = command(capfd, "dedup", path, "--clusters", tmp_path / "clusters.csv")
    found = [one[0] for one in cells(tmp_path / "clusters.csv")[1:]]
    assert found == ["'=1+1", "'@sum", "-5", "'+a", 'a"b,c', "line\nfeed\r", "\x1b[2J\u202e", "'\t=x", "'\0"]
    assert "\x1b" not in done.out


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_whose_name_is_no_text_is_read_and_written(tmp_path: Path, capfd: Capture):
    folder = tmp_path / "in"
    folder.mkdir()
    path = os.fsencode(folder) + b"/\xff\n.jsonl"
    with open(path, "wb") as file:
        file.write(b'{"text":"same"}\n{"text":"same"}\nbad\n')
    done = command(
        capfd, "dedup", folder, "-o", tmp_path / "out", "--ledger", tmp_path / "gone", "--clusters", tmp_path / "c.csv"
    )
    assert "\\udcff" in done.out
    command(capfd, "dedup", tmp_path / "out", "--restore", tmp_path / "gone", "-o", tmp_path / "again")
    assert [os.fsencode(one.name) for one in (tmp_path / "again").iterdir()] == [b"\xff\n.jsonl"]
    json.loads(command(capfd, "dedup", folder, "--json").out)


def test_what_is_against_stays_and_takes_only_its_likes(tmp_path: Path, capfd: Capture):
    a, b = tmp_path / "train.jsonl", tmp_path / "test.parquet"
    FORMATS["rows.jsonl"](a, ROWS[:40])
    FORMATS["rows.parquet"](b, ROWS[40:])
    facts = json.loads(
        command(
            capfd, "dedup", a, "--against", b, "-o", tmp_path / "out.jsonl", "--ledger", tmp_path / "gone", "--json"
        ).out
    )
    expected = {left for left, right in truth(ROWS) if left < 40 <= right}
    kept = b"".join(line for at, line in enumerate(lines(ROWS[:40]).splitlines(True)) if at not in expected)
    assert (tmp_path / "out.jsonl").read_bytes() == kept
    assert expected
    assert (facts["references"], facts["kept"]) == (len(ROWS) - 40, 40 - len(expected))
    first = json.loads((tmp_path / "gone").read_bytes().splitlines()[1])
    assert first["survivor"]["source"] == -1
    assert first["survivor"]["id"] in {row.id for row in ROWS[40:]}
    command(capfd, "dedup", tmp_path / "out.jsonl", "--restore", tmp_path / "gone", "-o", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == a.read_bytes()


def test_a_dry_run_tells_the_size_of_things_and_writes_nothing(tmp_path: Path, capfd: Capture):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.jsonl").write_bytes(lines(ROWS))
    (folder / "d.parquet").write_bytes(b"")
    FORMATS["rows.parquet"](folder / "d.parquet", ROWS)
    before = sorted(tmp_path.rglob("*"))
    done = command(capfd, "dedup", folder, "-o", tmp_path / "out", "--dry-run")
    assert "nothing was written" in done.out
    told = json.loads(command(capfd, "dedup", folder, "--dry-run", "--json").out)
    assert (told["sources"], told["bad"]) == (4, 0)
    assert told["rows"] == pytest.approx(4 * len(ROWS), rel=0.1)
    assert told["bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert 100 * len(ROWS) < told["memory"] < 2**24
    assert sorted(tmp_path.rglob("*")) == before


def test_a_dry_run_of_much_looks_at_the_beginning_and_tells_of_the_whole(
    tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
):
    for module in ("compression", "lines"):
        monkeypatch.setattr(f"lookalike.corpora.{module}.chunks", lambda file, *_: iter(lambda: file.read(10_000), b""))
    monkeypatch.setattr("lookalike.deduplication.expecting.SAMPLE", 80_000)
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(lines(corpus(100)))
    told = json.loads(command(capfd, "dedup", tmp_path, "--dry-run", "--json").out)
    assert told["looked_at"] < 90_000 < told["bytes"]
    assert told["bad"] == 0, "a line that was cut off is none"
    assert told["rows"] == pytest.approx(2 * len(corpus(100)), rel=0.15)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "no output: give --out"),
        (["-o", "rows.jsonl"], 2, "is an input, and inputs are never written"),
        (["-o", "there.jsonl"], 2, "exists already: use another name, or --overwrite to replace it"),
        (["--clusters", "there.csv"], 2, "exists already"),
        (["--ledger", "new"], 2, "--ledger lists the rows removed from an output: give --out as well"),
        (["-o", "new", "--keep", "best"], 2, "--keep `best` is not known: use first, longest, or max:COLUMN"),
        (["-o", "new", "--threshold", "1.5"], 2, "--threshold `1.5` must be more than 0 and at most 1"),
        (["-o", "new", "--threshold", "nan"], 2, "--threshold `nan` is not a number: use the digits 0 to 9"),
        (["-o", "new", "--memory", "lots"], 2, "--memory `lots` is not an amount"),
        (["-o", "new", "--memory", "1MiB"], 2, "--memory `1MiB` is too little: use at least 16MiB"),
        (["-o", "new", "--memory", "1e30"], 2, "--memory `1e30` is too much: use at most 1024TiB"),
        (["-o", "new", "--threads", "-1"], 2, "--threads `-1` must be 0 (one per core) to 1024"),
        (["-o", "new", "--threads", "99999999999999999999"], 2, "must be 0 (one per core) to 1024"),
        (["-o", "new", "--method", "containment", "--modulus", "3"], 2, "--modulus `3` must be a power of two"),
        (["-o", "new", "--method", "containment", "--modulus", str(2**80)], 2, "must be a power of two, at most"),
        (["-o", "new", "--shingle", "0"], 2, "--shingle `0` is not a width of shingles"),
        (["-o", "new", "--size", "0"], 2, "--size `0` must be 1 to 16384"),
        (["-o", "new", "--size", str(10**30)], 2, "must be 1 to 16384"),
        (["-o", "new", "--size", "2"], 2, "--size `2` is too small to find nearly all pairs at --threshold `0.8`"),
        (["-o", "new", "--threshold", "1e-7"], 2, "--size `128` is too small"),
        (["-o", "new", "--max-errors", "-1"], 2, "--max-errors `-1` must be 0 or more"),
        (["-o", "new", "--threshold", "1"], 0, None),
        (["-o", "new", "--text-column", "body"], 2, "text column `body` is not in `rows.jsonl`: it has `id`, `text`"),
        (["-o", "new", "--format", "parquet"], 3, None),
        (["-o", "memory://new"], 2, "is not a local path"),
        (["-o", "there.jsonl/new.jsonl"], 7, "there.jsonl` cannot be read or written: Not a directory"),
        (["-o", "no/such/place/new.jsonl"], 0, None),
        (["--restore", "rows.jsonl", "-o", "new"], 3, "is not a ledger"),
        (["--restore", "nothing", "-o", "new"], 2, "`nothing` does not exist"),
        (["--restore", "nothing"], 2, "to restore, give the clean output"),
        (["no.jsonl", "-o", "new"], 2, "`no.jsonl` does not exist"),
        (["-o", "new", "--against", "no.jsonl"], 2, "`no.jsonl` does not exist"),
        (["-o", "new", "--max-errors", "0"], 3, "1 row could not be read, more than --max-errors `0` allows"),
        (["-o", "new", "--max-errors", "1"], 0, None),
        (["-o", "new", "--strict"], 3, None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_done_is_said_in_one_line(
    tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, message: str
):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_bytes(lines(ROWS[:5]) + b"{bad\n")
    Path("there.jsonl").write_bytes(b"mine\n")
    Path("there.csv").write_bytes(b"mine\n")
    if arguments[2:] == ["--format", "parquet"]:
        arguments = [*arguments, "--strict"]
    done = command(capfd, "dedup", "rows.jsonl", *arguments, expected=code)
    if message is not None:
        assert message in done.err
        assert done.err.count("\n") == 1
        assert sorted(os.listdir()) == ["rows.jsonl", "there.csv", "there.jsonl"], "nothing is left behind"
    assert Path("there.jsonl").read_bytes() == b"mine\n"


def test_no_input_and_unknown_options_are_usage(capfd: Capture):
    assert "no input: give files" in command(capfd, "dedup", expected=2).err
    assert "No such option" in command(capfd, "dedup", "x", "--colour", expected=2).err


def test_outputs_are_replaced_only_where_that_is_asked_for(rows: Path, tmp_path: Path, capfd: Capture):
    (tmp_path / "out.jsonl").write_bytes(b"old\n")
    command(capfd, "dedup", rows, "-o", tmp_path / "out.jsonl", "--overwrite")
    assert (tmp_path / "out.jsonl").read_bytes().startswith(lines(ROWS)[:10])


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize(
    ("option", "value", "word"),
    [("--text-column", "body", "text"), ("--id-column", "key", "id"), ("--keep", "max:x", "number")],
)
def test_a_column_that_is_not_there_is_refused_with_those_that_are(
    tmp_path: Path, capfd: Capture, name: str, option: str, value: str, word: str
):
    FORMATS[name](tmp_path / name, ROWS)
    done = command(capfd, "dedup", tmp_path / name, "-o", tmp_path / "out", option, value, expected=2)
    column = value.removeprefix("max:")
    assert f"{word} column `{column}` is not in `{tmp_path / name}`: it has `id`, `text`, `stars`, `note`" in done.err


def test_texts_have_no_columns_to_choose_by(tmp_path: Path, capfd: Capture):
    FORMATS["texts"](tmp_path / "in", ROWS[:3])
    done = command(capfd, "dedup", tmp_path / "in", "-o", tmp_path / "out", "--keep", "max:stars", expected=2)
    assert "number column `stars` is not in" in done.err
    assert "it has no columns" in done.err


def test_a_number_column_that_no_line_has_is_refused_with_those_that_are(rows: Path, capfd: Capture):
    refused = command(capfd, "dedup", rows, "--keep", "max:likes", "--json", expected=2)
    expected = "number column `likes` holds no number in any row: name a column of numbers; there are `id`, `text`"
    assert expected in refused.err
    facts = json.loads(command(capfd, "dedup", rows, "--keep", "max:stars", "--json").out)
    without = sum(row.stars is None for row in ROWS if row.text is not None)
    texts = sum(row.text is not None for row in ROWS)
    assert f"rows whose `stars` is missing or not a number: {without} of {texts}; they come last" in facts["notes"]


def test_the_facts_say_what_was_found_what_it_is_worth_and_what_was_not_read(
    rows: Path, tmp_path: Path, capfd: Capture
):
    rows.write_bytes(lines(ROWS) + b"{bad\n\n")
    shown = command(capfd, "dedup", rows, "-o", tmp_path / "out.jsonl", "--pairs", tmp_path / "p.csv").out
    assert f"{len(ROWS) + 2} rows read" in shown
    assert "2 without text, 1 unreadable, 1 blank line" in shown
    assert "verified: every removed row has resemblance ≥ 0.8 with the row kept for it" in shown
    assert f"not read: {rows}, line {len(ROWS) + 1}: not JSON" in shown
    assert f"out: {tmp_path / 'out.jsonl'}" in shown


def test_a_claim_over_narrow_ids_says_so_and_none_is_made_of_no_rows(rows: Path, tmp_path: Path, capfd: Capture):
    shown = command(capfd, "dedup", rows, "-o", tmp_path / "out.jsonl", "--bits", "40").out
    assert "verified over 40-bit shingle ids: every removed row has resemblance ≥ 0.8 with the row kept for it" in shown
    rows.write_bytes(b"")
    assert "verified" not in command(capfd, "dedup", rows, "-o", tmp_path / "none.jsonl").out


def test_progress_is_shown_on_a_terminal_only(rows: Path, tmp_path: Path):
    pty = pytest.importorskip("pty")
    arguments = [sys.executable, "-m", "lookalike", "dedup", str(rows), "-o", str(tmp_path / "a"), "--pairs", "p.csv"]
    piped = subprocess.run(arguments, capture_output=True, timeout=PATIENCE, check=True, cwd=tmp_path)
    assert piped.stderr == b""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([*arguments, "--overwrite"], stdout=subprocess.PIPE, stderr=theirs, cwd=tmp_path)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 2**16):
            shown += piece
    except OSError:
        pass  # What Linux says when the other side is closed.
    finally:
        os.close(ours)
    out, _ = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0
    assert out == piped.stdout
    for phase in (b"reading", b"comparing", b"naming", b"writing"):
        assert phase in shown


def test_a_progress_of_unknown_length_tells_the_time_and_one_of_known_length_what_is_left():
    from lookalike.rendering.terminal.progress import figures

    assert figures(0, None, 12.4, None) == "12 s"
    assert figures(2**20, 2**22, 1.0, 2.0**20) == "1 MiB of 4 MiB, 1 MiB/s, 3 s left"
    assert figures(0, 2**22, 0.0, None) == "0 bytes of 4 MiB"


def test_other_columns_of_a_table_are_untouched(tmp_path: Path, capfd: Capture):
    FORMATS["rows.parquet"](tmp_path / "in.parquet", ROWS)
    command(capfd, "dedup", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")
    kept = pq.read_table(tmp_path / "out.parquet")
    whole = table(ROWS)
    numbers = [int(name[2:]) for name in kept["id"].to_pylist()]
    assert kept.equals(whole.take(numbers), check_metadata=True)
    assert numbers == sorted(numbers)


def test_a_lone_row_and_no_row_stay(tmp_path: Path, capfd: Capture):
    for name in ("rows.jsonl", "rows.csv", "rows.parquet"):
        for count in (0, 1):
            source, out = tmp_path / f"{count}-{name}", tmp_path / f"out-{count}-{name}"
            FORMATS[name](source, [Row("a", "one text", 1.0, "")] * count if count else [])
            if name == "rows.parquet" and not count:
                pq.write_table(table(ROWS)[:0], source)
            facts = json.loads(command(capfd, "dedup", source, "-o", out, "--json").out)
            assert (facts["rows"], facts["kept"]) == (count, count)
            assert content(out) == content(source)


def test_a_slash_at_the_end_of_an_output_is_a_folder(rows: Path, tmp_path: Path, capfd: Capture):
    command(capfd, "dedup", rows, "-o", f"{tmp_path / 'out'}/")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["rows.jsonl"]


def test_a_row_group_that_loses_rows_in_many_batches_is_whole_again(
    tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lookalike.corpora.parquet.CHUNK_BYTES", 2**13)
    source, clean, ledger = tmp_path / "in.parquet", tmp_path / "out.parquet", tmp_path / "ledger"
    pq.write_table(table(ROWS), source)
    command(capfd, "dedup", source, "-o", clean, "--ledger", ledger)
    assert ledger.read_bytes().count(b'"group":0') > 3
    command(capfd, "dedup", clean, "--restore", ledger, "-o", tmp_path / "again.parquet")
    assert pq.read_table(tmp_path / "again.parquet").equals(pq.read_table(source), check_metadata=True)
    assert pq.ParquetFile(tmp_path / "again.parquet").metadata.num_row_groups == 1


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_the_names_in_tables_are_those_of_the_column_asked_for(tmp_path: Path, capfd: Capture, name: str):
    FORMATS[name](tmp_path / name, ROWS)
    for column in ("note", "stars"):
        out = tmp_path / f"{column}.csv"
        command(capfd, "dedup", tmp_path / name, "--clusters", out, "--id-column", column)
        shown = {str(getattr(row, column)) for row in ROWS} | {f"{tmp_path / name}:{at}" for at in range(1, 99)}
        assert {one[0] for one in cells(out)[1:]} <= shown | {""}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--method", "exact"], lambda left, right: left == right),
        (["--sketch", "permutations"], lambda left, right: True),
        (["--method", "containment", "--modulus", "2"], lambda left, right: True),
        (["--threshold", "1"], lambda left, right: left == right),
        (["--unit", "character"], lambda left, right: True),
        (["--labelled", "--shingle", "4"], lambda left, right: True),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_every_method_and_sketch_is_reached_from_the_command_line(
    rows: Path, tmp_path: Path, capfd: Capture, options: list[str], expected: Callable[[str, str], bool]
):
    command(capfd, "dedup", rows, *options, "--clusters", tmp_path / "clusters.csv")
    near = [pair for pair in truth(ROWS) if expected(ROWS[pair[0]].text or "", ROWS[pair[1]].text or "")]
    assert {one[0] for one in cells(tmp_path / "clusters.csv")[1:]} == {ROWS[row].id for pair in near for row in pair}


PIECES = st.sampled_from(
    [b'{"text": "a b c d e f g"}', b'{"id": 7, "text": "a b c d e f g"}', b"\n", b"\r\n", b"\r", b"", b"{", b'"', b",",
     b"text,id\n", b"a b c d e f g,1", b"\xff\x00", b'""', b"\xef\xbb\xbf", b"a"]
)  # fmt: skip


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=30).map(b"".join))
def test_whatever_bytes_a_file_has_they_come_back(tmp_path_factory: pytest.TempPathFactory, suffix: str, data: bytes):
    folder = tmp_path_factory.mktemp("bytes")
    head = b"text,id\n" if suffix == "csv" else b""
    (folder / f"in.{suffix}").write_bytes(head + data)
    la.dedup(folder / f"in.{suffix}", out=folder / f"out.{suffix}", ledger=folder / "gone")
    restore(folder / "gone", folder / f"out.{suffix}", folder / f"again.{suffix}")
    assert (folder / f"again.{suffix}").read_bytes() == head + data


def test_ids_are_shown_as_they_stand_in_the_line(tmp_path: Path, capfd: Capture):
    shown = {
        "1.50": "1.50",
        "12345678901234567890123": "12345678901234567890123",
        "true": "true",
        '"\\u0061\\"b"': 'a"b',
        "null": f"{tmp_path / 'rows.jsonl'}:5",
        "{}": "{}",
    }
    text = "".join(f'{{"id": {name}, "text": "the same text"}}\n' for name in shown)
    (tmp_path / "rows.jsonl").write_text(text, encoding="utf-8")
    command(capfd, "dedup", tmp_path / "rows.jsonl", "--clusters", tmp_path / "clusters.csv")
    assert [one[0] for one in cells(tmp_path / "clusters.csv")[1:]] == list(shown.values())


@pytest.mark.parametrize("job", ["dedup", "simhash"])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rows.jsonl", b"no json\n[1]\n"),
        ("rows.parquet", b"PAR1 and nothing else"),
        ("rows.jsonl.gz", b"\x1f\x8b damaged"),
        ("d/image.txt", b"\x89PNG\r\n\x1a\n\0\0\0\0"),
    ],
)
def test_exit_3_if_nothing_at_all_could_be_read(tmp_path: Path, capfd, job: str, name: str, data: bytes):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(data)
    source = tmp_path / name.partition("/")[0]
    done = command(capfd, job, source, "-o", tmp_path / ("out" if job == "dedup" else "out.csv"), expected=3)
    assert "no row could be read; the first reason: " in done.err
    assert "not read: " in done.out
    reason = done.out.partition("not read: ")[2].splitlines()[0]
    out = tmp_path / ("quiet" if job == "dedup" else "quiet.csv")
    quiet = command(capfd, job, source, "-o", out, "--quiet", expected=3)
    assert f"the first reason: {reason}\n" in quiet.err


@pytest.mark.parametrize("job", ["dedup", "simhash"])
def test_exit_0_if_there_is_nothing_to_read_or_something_was_read(tmp_path: Path, capfd, job: str):
    for number, data in enumerate((b"", b"\n", b'{"text": null}\n', b'{"text": "a"}\nno json\n')):
        (tmp_path / "rows.jsonl").write_bytes(data)
        out = tmp_path / f"{number}.{'jsonl' if job == 'dedup' else 'csv'}"
        assert command(capfd, job, tmp_path / "rows.jsonl", "-o", out, expected=None).code == 0
