"""`lookalike dedup --against`: references that cannot be read are refused, and never counted as rows of the input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.dedups import Done, command

Capture = pytest.CaptureFixture[str]
LONG = "the ferry to the outer islands leaves at seven"
METHODS = pytest.mark.parametrize("method", ["minhash", "containment", "exact"])


def against(
    tmp_path: Path, capfd: Capture, rows: bytes, references: bytes, *more: str | Path, expected: int = 0
) -> Done:
    (tmp_path / "rows.jsonl").write_bytes(rows)
    (tmp_path / "tests.jsonl").write_bytes(references)
    arguments = ["dedup", tmp_path / "rows.jsonl", "--against", tmp_path / "tests.jsonl", "-o", tmp_path / "out.jsonl"]
    return command(capfd, *arguments, *more, expected=expected)


def lines(*texts: str | None, column: str = "text") -> bytes:
    return b"".join(json.dumps({column: text}).encode() + b"\n" for text in texts)


@METHODS
@pytest.mark.parametrize("wrong", ["rows", "tests"])
def test_a_column_that_one_side_lacks_is_refused(tmp_path: Path, capfd: Capture, method: str, wrong: str):
    sides = [lines(LONG, column="question" if name == wrong else "text") for name in ("rows", "tests")]
    done = against(tmp_path, capfd, *sides, "--method", method, expected=2)
    assert f"text column `text` is not in `{tmp_path / wrong}.jsonl`: it has `question`" in done.err
    assert not (tmp_path / "out.jsonl").exists()


@METHODS
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"no json\n[1]\n", "tests.jsonl, line 1: not JSON"),
        (b"", "0 rows, none with a text"),
        (lines(None, None), "2 rows, none with a text"),
    ],
)
def test_references_of_which_none_can_be_read_are_refused(
    tmp_path: Path, capfd: Capture, method: str, data: bytes, why: str
):
    done = against(tmp_path, capfd, lines(LONG), data, "--method", method, expected=3)
    assert "lookalike: no row of --against could be read, so there is nothing to look for: " in done.err
    assert why in done.err
    assert not (tmp_path / "out.jsonl").exists()


@METHODS
def test_an_input_of_which_nothing_can_be_read_is_refused_beside_references(
    tmp_path: Path, capfd: Capture, method: str
):
    done = against(tmp_path, capfd, b"no json\n", lines(LONG), "--method", method, expected=3)
    assert "no row could be read; the first reason: " in done.err


@METHODS
def test_rows_and_references_that_are_not_compared_are_counted_apart(tmp_path: Path, capfd: Capture, method: str):
    rows = lines("one two", LONG, "three", None) + b"\n"
    references = lines("one two", "four", LONG, None, None) + b"no json\n"
    done = against(tmp_path, capfd, rows, references, "--method", method)
    assert "5 rows read, 3 kept, 2 removed" in done.out
    assert "  not compared, and kept: 1 without text, 1 blank line\n" in done.out
    assert "  references not compared: 2 without text, 1 unreadable\n" in done.out
    if method != "exact":
        assert "  shorter than a shingle: 2 (compared as a whole only)\n" in done.out
        said = "references too short to be searched for: 2 (found only where a whole text is identical)\n"
        assert said in done.out
    facts = json.loads(command(
        capfd, "dedup", tmp_path / "rows.jsonl", "--against", tmp_path / "tests.jsonl", "--method", method, "--json"
    ).out)  # fmt: skip
    assert (facts["reference_states"]["missing"], facts["states"]["missing"]) == (2, 3)


def test_a_file_given_twice_is_a_note(tmp_path: Path, capfd: Capture):
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(lines(LONG))
    done = command(capfd, "dedup", rows, rows, "-o", tmp_path / "out.jsonl", "--strict")
    assert f"note: {rows}: was given twice; it is read once\n" in done.out
    assert "not read" not in done.out
