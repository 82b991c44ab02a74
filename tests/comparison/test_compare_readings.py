"""Files with one content that were read as different languages are named, because they are not compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lookalike as la
from lookalike.comparison.result import Remark

PROGRAM = """def total(prices, rate):
    result = 0
    for price in prices:
        result = result + price * rate
    return result * 2 + rate - len(prices)
"""
C = "int f(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * 2; return s; }\n"


def notes(report: la.Report) -> list[Remark]:
    return [remark for remark in report.warnings if "not compared with" in remark.reason]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


def test_a_program_handed_in_as_text_is_named_with_what_to_do(tmp_path: Path):
    """Line ends and outer blanks differ; they do not matter."""
    copy = "\n" + PROGRAM.replace("\n", "\r\n") + "  \r\n"
    write(tmp_path, {"ann/loans.py": PROGRAM, "bob/loans.txt": copy, "eve/other.py": "x = 1\n" * 30})
    assert notes(la.compare(tmp_path)) == [
        Remark(
            "bob/loans.txt",
            "read as text, so it was not compared with `ann/loans.py`, which has the same content and was read as "
            "python: give both the same suffix, or choose one language for all files",
        )
    ]


def test_they_come_before_remarks_on_syntax(tmp_path: Path):
    """The terminal shows only the first remarks."""
    broken = {f"p{i}/a.py": f"def f{i}(:\n" * 9 for i in range(6)}
    report = la.compare(write(tmp_path, broken | {"ann/loans.py": PROGRAM, "bob/loans.txt": PROGRAM}))
    assert len(report.warnings) > 6
    assert "not compared with" in report.warnings[0].reason


def test_the_reading_that_most_persons_share_is_the_usual_one(tmp_path: Path):
    write(tmp_path, {f"{name}/a.txt": PROGRAM for name in ("ann", "bob", "eve")} | {"zoe/a.py": PROGRAM})
    (note,) = notes(la.compare(tmp_path))
    assert note.name == "zoe/a.py"
    assert "with `ann/a.txt` and 2 more, which" in note.reason


@pytest.mark.parametrize(
    ("files", "old", "template"),
    [
        pytest.param({"ann/a.py": PROGRAM, "ann/a.txt": PROGRAM, "bob/b.py": C}, {}, {}, id="one person"),
        pytest.param({"ann/a.py": "x = 1\n", "bob/a.txt": "x = 1\n"}, {}, {}, id="too little"),
        pytest.param({"ann/a.py": "", "bob/a.txt": ""}, {}, {}, id="empty"),
        pytest.param({"ann/a.c": C, "bob/a.cpp": C}, {}, {}, id="languages whose tokens match"),
        pytest.param({"ann/a.py": PROGRAM, "bob/a.py": PROGRAM}, {}, {}, id="one language"),
        pytest.param({"ann/a.py": PROGRAM, "bob/a.txt": PROGRAM}, {}, {"start.py": PROGRAM}, id="starter code"),
        pytest.param({"zoe/a.py": C}, {"ann/a.py": PROGRAM, "bob/a.txt": PROGRAM}, {}, id="two old ones"),
    ],
)
def test_nothing_is_said_of(tmp_path: Path, files: dict[str, str], old: dict[str, str], template: dict[str, str]):
    folders = {name: write(tmp_path / name, given) for name, given in (("old", old), ("template", template)) if given}
    assert notes(la.compare(write(tmp_path / "new", files), **folders)) == []  # type: ignore[arg-type]


def test_a_new_file_is_told_of_an_old_one(tmp_path: Path):
    new, old = write(tmp_path / "new", {"ann/a.txt": PROGRAM, "bob/b.py": C}), tmp_path / "old"
    write(old, {"eve/a.py": PROGRAM})
    assert [note.name for note in notes(la.compare(new, old=old))] == ["ann/a.txt"]


def test_one_language_for_all_files_compares_them(tmp_path: Path):
    write(tmp_path, {"ann/a.py": PROGRAM, "bob/a.txt": PROGRAM})
    report = la.compare(tmp_path, language="python")
    assert notes(report) == []
    assert report.pairs[0].score == 1


def test_the_note_stands_in_the_report_and_an_anonymous_one_names_nobody(tmp_path: Path):
    write(tmp_path / "in", {"annabel/loans.py": PROGRAM, "bobby/loans.txt": PROGRAM})
    report = la.compare(tmp_path / "in")
    la.write_report(report, tmp_path / "out")
    told = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["warnings"]
    assert any("read as text, so it was not compared with `annabel/loans.py`" in str(one) for one in told)
    assert "so it was not compared with" in (tmp_path / "out" / "report.html").read_text("utf-8")
    la.write_report(report, tmp_path / "hidden", anonymise=True)
    for name in ("report.json", "report.html"):
        page = (tmp_path / "hidden" / name).read_text("utf-8")
        assert "so it was not compared with" in page
        assert "annabel" not in page
        assert "bobby" not in page
