"""``lookalike query`` and ``lookalike seen`` from outside: what they print, their page, and every exit code."""

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

import lookalike as la

POOL = (
    "The municipal swimming pool is closed on Monday because of the annual cleaning of the large basin. Tickets that "
    "were bought before keep their value until the end of the season, and the sauna on the second floor stays open for "
    "all guests who come through the door on the east side of the building."
)
ROWS = [
    {"id": "mon", "text": POOL, "year": 2024},
    {"id": "tue", "text": POOL, "year": 2025},
    {"id": "<b>wed</b>", "text": POOL.replace("annual", "yearly") + " See you soon.", "year": 2025},
    {
        "id": "thu\x1b[31m",
        "text": "The library opens late on Thursday and closes early, as ever.",
        "year": 2025,
    },
]


@pytest.fixture
def place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    with la.Index.create("index", kind="corpus") as index:
        index.add(ROWS)
    (tmp_path / "new.txt").write_text(POOL)
    return tmp_path


def run(*arguments: str, data: bytes = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "lookalike", *arguments], input=data, capture_output=True, **more)


def printed(*arguments: str, data: bytes = b"") -> str:
    done = run(*arguments, data=data)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_table_for_each_question(place: pathlib.Path):
    shown = printed("query", "index", "new.txt", "--threshold", "0.5")
    assert "new.txt (239 tokens, 51 distinct shingles) against 4 documents of index" in shown
    assert "identical: 2 documents with 1 text" in shown
    assert "resemblance: 3 documents with 2 texts" in shown
    assert "complete within 3 bits: every stored simhash is compared" in shown
    assert "proposes a document of resemblance 0.5 with probability" in shown
    assert "\x1b[31m" not in printed("query", "index", "new.txt", "--threshold", "0.001", "--distance", "10")


def test_json_is_one_document(place: pathlib.Path):
    found = json.loads(printed("query", "index", "-", "--json", "--where", "year=2025", data=POOL.encode()))
    assert found["name"] == "standard input"
    assert [answer["matches"][0]["id"] for answer in found["answers"]] == ["tue"] * 5
    assert found["answers"][0]["matches"][0]["meta"]["fields"] == {"year": 2025}


def test_questions_and_lengths_can_be_chosen(place: pathlib.Path):
    arguments = ("query", "index", "new.txt", "--question", "containment", "--threshold", "0.3", "--top", "1", "--json")
    (answer,) = json.loads(printed(*arguments))["answers"]
    assert (answer["question"], len(answer["matches"]), answer["distinct"]) == ("containment", 1, 2)


def test_the_page_shows_everything_and_runs_nothing(place: pathlib.Path):
    shown = printed("query", "index", "new.txt", "--threshold", "0.3", "-o", "report")
    assert "report: report" in shown
    page = (place / "report" / "report.html").read_text()
    assert "&lt;b&gt;wed&lt;/b&gt;" in page
    assert "<b>wed</b>" not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert "every stored simhash is compared" in page
    report = json.loads((place / "report" / "report.json").read_text())
    assert (report["kind"], report["of"]) == ("lookalike report", "query")
    assert run("query", "index", "new.txt", "-o", "report").returncode == 2, "a report is not overwritten"
    assert run("query", "index", "new.txt", "-o", "report", "--overwrite").returncode == 0


def test_seen_says_yes_or_no_first(place: pathlib.Path):
    assert printed("seen", "index", "new.txt").splitlines()[:2] == ["yes", "nearest: mon, identical, 2 copies"]
    assert printed("seen", "index", "new.txt", "--quiet") == "yes\n"
    assert printed("seen", "index", "-", "--quiet", data=b"Something entirely different was said today.") == "no\n"
    assert printed("seen", "index", "-", data=b"x").splitlines()[1].startswith("nearest: no document is like it")
    verdict = json.loads(printed("seen", "index", "-", "--json", data=POOL.replace("Monday", "Friday").encode()))
    assert verdict["nearest"]["resemblance"]["exact"] is True
    assert verdict["identical"] is False


def test_exit_codes(place: pathlib.Path):
    assert run("seen", "index", "new.txt", "--fail-if-seen").returncode == 1
    assert run("seen", "index", "-", "--fail-if-seen", data=b"nothing of the kind").returncode == 0
    for arguments, code, told in [
        (("query", "index", "missing.txt"), 2, b"`missing.txt` does not exist"),
        (("query", "nowhere", "new.txt"), 2, b"nowhere"),
        (("query", "index", "new.txt", "--where", "year"), 2, b"is not a condition"),
        (("query", "index", "new.txt", "--threshold", "0"), 2, b"--threshold `0.0` must be more than 0"),
        (("query", "index", "new.txt", "--distance", "11"), 2, b"--distance `11` is out of range"),
        (("query", "index", "new.txt", "--name", "a.py"), 2, b"--name has no effect unless PATH is -"),
        (("query", "index", "new.txt", "--overwrite"), 2, b"--overwrite has no effect without --out"),
        (("seen", "index", "-"), 3, b"binary"),
        (("query", "index", "-"), 3, b"binary"),
    ]:
        done = run(*arguments, data=b"\x00\x01\x02\xff" * 400)
        assert (done.returncode, told in done.stderr) == (code, True), (arguments, done.stderr)
        assert b"Traceback" not in done.stderr


def test_a_damaged_index_is_exit_4(place: pathlib.Path):
    with la.Index.open("index", write=True) as index:
        index.compact()
    (segment,) = place.glob("index/seg-*.lat")
    data = bytearray(segment.read_bytes())
    for at in range(0, len(data), 50):
        data[at] ^= 0xFF
    os.chmod(segment, 0o644)
    segment.write_bytes(bytes(data))
    for command in ("query", "seen"):
        done = run(command, "index", "new.txt")
        assert done.returncode == 4, done.stderr
        assert b"Traceback" not in done.stderr


def test_names_of_any_bytes_are_shown(place: pathlib.Path):
    name = os.fsdecode(b"caf\xff \xc3\xa9.txt")
    (place / name).write_text(POOL)
    assert "identical: 2 documents" in printed("query", "index", name)
    assert printed("seen", "index", name, "--quiet") == "yes\n"
