"""Submissions made to be slow, to hide, or to harm who reads the report: work grows linearly, and answers stay honest.

The rows are those of a threat model: worst-case similarity (H) and output (O).
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import lookalike as la
from support.submissions import classroom, half_copied, named, pairs, prose, reasons, run, snapshot, work, write

Made = dict[str, str | bytes]

#: What could go quadratic, by size.
GROWING: dict[str, tuple[int, Callable[[int], Made]]] = {
    "H1 one passage in all": (400, lambda n: {f"{i}.txt": prose(7, 40) + prose(i + 10, 30) for i in range(n)}),
    "H2 identical": (400, lambda n: {f"{i}.txt": prose(7, 60) for i in range(n)}),
    "tiny files": (500, lambda n: {f"{i}.txt": f"x{i}" for i in range(n)}),
    "empty files": (500, lambda n: {f"{i}.txt": "" for i in range(n)}),
    "T4 one letter": (1_000_000, lambda n: {"1.txt": "a" * n, "2.txt": "a" * (n - 1)}),
    "a period": (200_000, lambda n: {"1.txt": "ab" * n, "2.txt": "ba" * n}),
    "one statement": (15_000, lambda n: {f"{i}.py": "x = f(1, y)\n" * (n + i) for i in range(2)}),
    "one line again and again": (10_000, lambda n: {f"{i}.txt": "said the old man\n" * (n + i) for i in range(2)}),
    "brackets": (100_000, lambda n: {"1.c": "(" * n, "2.c": "int a = " + "[" * n}),
    # From about 120 copies on: below, each copy is tried against each.
    "one work many times": (200, lambda n: {f"{i}.txt": prose(7, 80) * (n + i) for i in range(4)}),
}


#: Linear work takes 2 times as long for twice the size, quadratic work 4 times.
MOST_GROWTH = 3.5


def growth(root: Path, size: int, make: Callable[[int], Made]) -> float:
    """Return how many times longer twice the size takes."""
    spent = []
    for n in (size, 2 * size):
        folder = write(root / str(n), make(n))
        before = time.process_time()
        la.compare(folder, threads=1)
        spent.append(time.process_time() - before)
    return spent[1] / max(spent[0], 0.02)


@pytest.mark.parametrize("row", GROWING)
def test_twice_as_much_takes_about_twice_as_long(tmp_path: Path, row: str):
    """Processor time, not that of the wall; the best of three, for a factor that linear work does not reach."""
    size, make = GROWING[row]
    ratios: list[float] = []
    while len(ratios) < 3 and (not ratios or ratios[-1] > MOST_GROWTH):
        ratios.append(growth(tmp_path / str(len(ratios)), size, make))
    assert ratios[-1] <= MOST_GROWTH, f"{row}: ratios {ratios}"


def test_a_passage_that_all_share_is_listed_once_with_its_holders(tmp_path: Path):
    """Row H1: it weighs little, and no planted copy is lost in it."""
    shared = prose(7, 60)
    write(tmp_path, {f"{i:03}.txt": shared + prose(i + 1000, 60) for i in range(200)})
    write(tmp_path, {"thief.txt": shared + half_copied(1, 2, "text"), "victim.txt": shared + work(1, "text")})
    report = la.compare(tmp_path)
    assert pairs(report)[0] == ("thief.txt", "victim.txt")
    assert [len(common.holders) for common in report.common] == [202]
    assert report.common[0].tokens > len(shared) / 2


def test_identical_submissions_are_found_however_many(tmp_path: Path):
    """Row H2: one row for the group, all in one cluster, and the row says how many pairs it stands for."""
    classroom(tmp_path)
    report = la.compare(write(tmp_path, {f"{i:03}.txt": prose(7) for i in range(200)}))
    assert [(named(report, pair), pair.stands_for) for pair in report.pairs if pair.stands_for > 1] == [
        (("000.txt", "001.txt"), 200 * 199 // 2)
    ]
    assert [[report.entries[i].name for i in group] for group in report.groups] == [[f"{i:03}.txt" for i in range(200)]]
    assert [len(cluster.members) for cluster in report.clusters] == [200, 2]
    assert "200 identical submissions" in reasons(report)["000.txt"]
    assert ("thief.txt", "victim.txt") in pairs(report)


def test_2_000_tiny_files_hide_nothing(tmp_path: Path):
    classroom(tmp_path)
    report = la.compare(write(tmp_path, {f"{i}.py": f"x = {i}\n" for i in range(2000)}))
    assert pairs(report)[0] == ("thief.txt", "victim.txt")
    assert sum("too short to compare" in remark.reason for remark in report.undefined) == 2000


REPEATING = {
    "a letter": ("a.txt", "a" * 100_000, "a" * 99_990),
    "a period": ("a.txt", "ab" * 100_000, "ab" * 99_990),
    "a line": ("a.txt", "said the old man\n" * 500, "said the old man\n" * 501),
    "a statement": ("a.py", "x = f(1, y)\n" * 300, "x = f(1, y)\n" * 301),
    "a work and a statement": ("a.py", work(1, "python") + "x = 1\n" * 9000, work(1, "python") + "x = 1\n" * 8999),
}


@pytest.mark.parametrize("row", REPEATING)
def test_texts_that_repeat_themselves_are_found_alike(tmp_path: Path, row: str):
    name, left, right = REPEATING[row]
    report = la.compare(write(tmp_path, {f"1/{name}": left, f"2/{name}": right, "3/a.txt": prose(1)}))
    assert pairs(report) == [("1", "2")]
    assert report.pairs[0].score > 0.9


HOMOGLYPHS = str.maketrans("aeopcxy", "аеорсху")


@pytest.mark.parametrize(
    "disguise",
    [
        lambda text: text.translate(HOMOGLYPHS),
        lambda text: text.replace("a", "а"),
        lambda text: "\u200b".join(text),
        lambda text: text.replace("n", "n\u00ad").replace("s", "\u2060s"),
        lambda text: text.upper(),
        lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    ],
    ids=["Cyrillic", "one letter", "zero width", "soft hyphens", "capitals", "full width"],
)
def test_a_disguised_copy_is_found(tmp_path: Path, disguise: Callable[[str], str]):
    """Row H6."""
    report = la.compare(write(tmp_path, {"1.txt": prose(1), "2.txt": disguise(prose(1)), "3.txt": prose(2)}))
    assert pairs(report) == [("1.txt", "2.txt")]
    assert report.pairs[0].score > 0.9


@pytest.mark.parametrize(
    ("disguise", "sign"),
    [
        (lambda text: text.translate(HOMOGLYPHS), "mix Latin letters with others that look like them"),
        (lambda text: "\u200b".join(text), "unseen characters between letters"),
    ],
)
def test_a_disguise_is_told(tmp_path: Path, disguise: Callable[[str], str], sign: str):
    """Row H6: it hides nothing, and it is evidence too."""
    report = la.compare(write(tmp_path, {"1.txt": prose(1), "2.txt": disguise(prose(1))}))
    assert list(reasons(report)) == ["2.txt"]
    assert sign in reasons(report)["2.txt"]


def test_honest_scripts_are_no_disguise(tmp_path: Path):
    honest = (
        "Δt = 5 μs, Straße, naïve, Ελληνικά, русский язык, фреймворк Django, می\u200cخواهم, क्\u200dष, co\u00adop; " * 9
    )
    assert reasons(la.compare(write(tmp_path, {"1.txt": honest, "2.txt": prose(1)}))) == {}


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\u2028]]>--></style>{{7*7}} " + prose(1)


def test_markup_in_texts_stays_text(tmp_path: Path):
    """Row O1."""
    root = write(tmp_path / "in", {"1.txt": HOSTILE, "2.txt": HOSTILE})
    assert run("compare", root, "--out", tmp_path / "out", "--title", "<script>alert(2)</script>").code == 0
    for name, data in snapshot(tmp_path / "out").items():
        if name.endswith(".html"):
            assert b"<script>alert" not in data
            assert b"<img src=x" not in data
            assert b"default-src &#39;none&#39;" in data


def test_no_cell_is_a_formula(tmp_path: Path):
    """Row O2: in names of submissions and of files."""
    files: Made = {f"{sign}1+1/{sign}cmd.txt": prose(1) for sign in ("=", "+", "-", "@")}
    root = write(tmp_path / "in", files)
    run("compare", root, "--out", tmp_path / "out")
    for name in ("pairs.csv", "passages.csv", "clusters.csv"):
        with (tmp_path / "out" / name).open(newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert len(cells) > 10
        assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []


def test_no_path_of_this_machine_is_told(tmp_path: Path):
    """Row O4: neither in the folder nor on stdout, whatever went wrong."""
    root = classroom(tmp_path / "secret-place" / "in")
    write(root, {"bad.zip": b"PK\3\4 garbage", "bad.pdf": b"%PDF-1.4 garbage", "empty.txt": "", "bad.bin": bytes(99)})
    (root / "link").symlink_to(tmp_path)
    old = write(tmp_path / "secret-place" / "old", {"o.txt": prose(100), "bad.gz": b"\x1f\x8b\x08 garbage"})
    template = write(tmp_path / "secret-place" / "template", {"t.txt": prose(50), "bad.docx": b"PK\3\4 word/document"})
    out = tmp_path / "out"
    ran = run("compare", root, "--old", old, "--template", template, "--out", out)
    assert ran.code == 0
    shown = [data.decode() for data in snapshot(out).values()]
    assert "secret-place" not in ran.out + "".join(shown)
    assert str(tmp_path) not in "".join(shown)
    skipped = {remark["name"] for remark in json.loads((out / "report.json").read_bytes())["skipped"]}
    assert skipped >= {"bad.zip", "bad.pdf", "bad.bin", "link"}


def test_the_report_says_what_was_compared_and_how(tmp_path: Path):
    """Row O6: version, parameters, hashes, and all that was skipped or degraded; no clock."""
    root = write(tmp_path / "in", {"1.txt": prose(1), "2.txt": prose(2), "bad.c": "int main( {", "bad.bin": bytes(99)})
    run("compare", root, "--out", tmp_path / "1", "-k", "15", "-t", "40")
    run("compare", root, "--out", tmp_path / "2", "-k", "15", "-t", "40")
    assert snapshot(tmp_path / "1") == snapshot(tmp_path / "2")
    told = json.loads((tmp_path / "1" / "report.json").read_bytes())
    assert (told["version"], told["parameters"]["thresholds"]) == (la.__version__, {"c": [15, 40], "text": [15, 40]})
    assert all(len(entry["digest"]) == 64 for entry in told["entries"])
    assert [remark["name"] for remark in told["skipped"]] == ["bad.bin"]
    assert "syntax error" in told["warnings"][0]["reason"]
    write(root, {"1.txt": prose(3)})
    run("compare", root, "--out", tmp_path / "3")
    changed = json.loads((tmp_path / "3" / "report.json").read_bytes())
    assert changed["entries"][0]["digest"] != told["entries"][0]["digest"]
    assert changed["entries"][1]["digest"] == told["entries"][1]["digest"]
