"""What ``lookalike index`` tells people: what was read as what, replaced, missing, erased, and how big it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import lookalike as la
from lookalike.archive.where import LOOKED, unknown
from lookalike.cli.main import cli
from support.submissions import prose


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    la.Index.create("archive").close()
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["index", *arguments], catch_exceptions=False)


def written(path: str, number: int) -> Path:
    made = Path(path)
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text(prose(number, 20), "utf-8")
    return made


def ids() -> list[str]:
    with la.Index("archive") as index:
        return sorted(one.id for one in index.documents())


def test_an_add_says_what_it_read_the_paths_as():
    written("ann/a.txt", 1)
    written("ann/b.txt", 2)
    done = run("add", "archive", "ann")
    assert done.stderr.splitlines()[0] == (
        "read as: each file in `ann` is a submission (-d: all of it is one submission)"
    )
    done = run("add", "archive", "ann", "-d", "--json")
    assert json.loads(done.stdout)["understood"] == "`ann` is a submission"
    assert ids() == ["a.txt", "ann", "b.txt"]


def test_replaced_documents_are_named():
    for number in range(7):
        written(f"first/{number}.txt", number)
        written(f"second/{number}.txt", 50 + number)
    run("add", "archive", "first", "--label", "2025")
    done = run("add", "archive", "second", "--label", "2025")
    told = [line for line in done.stderr.splitlines() if line.startswith("replaced")]
    assert told == [
        "replaced, because the id was there with other content: 2025/0.txt, 2025/1.txt, 2025/2.txt, 2025/3.txt, "
        "2025/4.txt and 2 more; to keep both, add with another --label"
    ]
    with la.Index.open("archive", write=True) as index:
        assert index.add({"2025/0.txt": "other"}).replaced_ids == ["2025/0.txt"]
        assert index.add({"2025/0.txt": "other"}).replaced_ids == []


def test_equal_names_of_one_add_are_all_kept():
    for number, folder in enumerate(("cr1", "cr2")):
        written(f"{folder}/ann/main.txt", number)
        written(f"{folder}/given.txt", 10 + number)
    done = run(
        "add", "archive", "cr1/ann", "cr2/ann", "--template", "cr1/given.txt", "--template", "cr2/given.txt", "--json"
    )
    assert json.loads(done.stdout)["added"] == 4
    assert ids() == ["cr1/ann", "cr2/ann", "template/given (2).txt", "template/given.txt"]


def test_a_folder_without_files_and_empty_starter_code_are_told():
    written("subs/ann/a.txt", 1)
    Path("subs/bob").mkdir()
    Path("subs/bob/photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    Path("empty.txt").write_text("")
    told = run("add", "archive", "subs", "--template", "empty.txt").stderr
    assert "skipped: bob: no file in it is read" in told
    assert "note: empty.txt: starter code without any text" in told


def test_ids_that_are_not_there_are_exit_code_2_and_change_nothing():
    written("subs/ann.txt", 1)
    run("add", "archive", "subs")
    done = run("remove", "archive", "an.txt", "bob.txt", "--purge")
    assert done.exit_code == 2
    assert "nothing was removed: `an.txt`, `bob.txt` are not in index `archive`" in done.stderr
    done = run("remove", "archive", "ann.txt", "bob.txt")
    assert (done.exit_code, "`bob.txt` is not in index" in done.stderr) == (0, True)
    assert ids() == []


def test_a_purge_tells_what_it_gave_back():
    for number in range(30):
        written(f"subs/{number}.txt", number)
    run("add", "archive", "subs")
    run("compact", "archive")
    run("remove", "archive", "0.txt")
    with la.Index("archive") as index:
        before = index.stats()
    told = json.loads(run("remove", "archive", "1.txt", "2.txt", "--purge", "--json").stdout)
    with la.Index("archive") as index:
        after = index.stats()
    assert (told["removed"], told["erased"], told["bytes"]) == (2, 3, before.bytes - after.bytes)
    assert told["bytes"] > 0
    done = run("remove", "archive", "3.txt", "--purge")
    assert "1 document removed; 1 removed document erased, " in done.stderr


def test_sizes_by_content_add_up():
    for number in range(30):
        written(f"subs/{number}.txt", number)
    run("add", "archive", "subs", "--label", "2025")
    run("compact", "archive")
    found = json.loads(run("stats", "archive", "--json").stdout)
    assert (
        sum(found["sizes"].values()) == found["bytes"] == sum(one.stat().st_size for one in Path("archive").iterdir())
    )
    assert found["sizes"]["texts"] > 0 < found["sizes"]["postings"]
    assert found["labels"] == {"2025": 30}
    shown = run("stats", "archive").stdout
    assert "documents           30\n  by label          2025: 30\n" in shown
    assert "k 16, t 22 for text" in shown


def test_a_field_that_no_document_has_is_told():
    written("subs/ann.txt", 1)
    run("add", "archive", "subs", "--label", "2025")
    note = "note: no document has a field `yaer`; fields: label, title"
    for arguments in (["list", "archive"], ["remove", "archive"]):
        done = run(*arguments, "--where", "yaer=2025")
        assert (done.exit_code, note in done.stderr) == (0, True)
        assert "has a field" not in run(*arguments, "--where", "label=2020").stderr
    for command in ("query", "seen"):
        done = CliRunner().invoke(cli, [command, "archive", "subs/ann.txt", "--where", "yaer=2025"])
        assert (done.exit_code, note in done.output) == (0, True), done.output
        done = CliRunner().invoke(cli, [command, "archive", "subs/ann.txt", "--where", "label=2020"])
        assert "has a field" not in done.output


def test_a_value_that_no_document_has_is_told_with_those_there_are():
    written("subs/ann.txt", 1)
    for exercise in range(1, 8):
        run("add", "archive", "subs", "--label", f"2024-hw{exercise}")
    note = "note: no document has label `2024`; values: 2024-hw1, 2024-hw2, 2024-hw3, 2024-hw4, 2024-hw5 and 2 more"
    for command in ("query", "seen"):
        done = CliRunner().invoke(cli, [command, "archive", "subs/ann.txt", "--where", "label=2024"])
        assert (done.exit_code, note in done.output) == (0, True), done.output
    done = CliRunner().invoke(cli, ["query", "archive", "subs/ann.txt", "--where", "label=2024"])
    assert "against 0 of 7 documents of archive" in done.output
    done = CliRunner().invoke(cli, ["query", "archive", "subs/ann.txt", "--where", "label=2024-*", "--json"])
    assert (json.loads(done.output)["documents_asked"], json.loads(done.output)["notes"]) == (7, [])
    both = ["--where", "label=2024-hw1", "--where", "title=bob"]
    assert "no document has title `bob`" in CliRunner().invoke(cli, ["seen", "archive", "subs/ann.txt", *both]).output
    assert "0 documents removed" in run("remove", "archive", "--where", "label=2024").stderr
    assert "7 documents removed" in run("remove", "archive", "--where", "label=2024-*").stderr


def test_starter_code_is_not_counted_among_the_asked_documents():
    written("subs/ann.txt", 1)
    written("starter/given.txt", 2)
    done = run("add", "archive", "subs", "--template", "starter")
    assert "2 added, 0 replaced, 0 unchanged; starter code: 1 of the 2 added" in done.stderr
    assert "starter code" not in run("add", "archive", "subs", "--template", "starter").stderr
    assert "against 1 document of archive" in CliRunner().invoke(cli, ["query", "archive", "subs/ann.txt"]).output


def test_only_the_first_documents_are_looked_at_for_a_field():
    metas = [b'{"label": "a"}'] * LOOKED
    assert unknown({"year": 1}, [*metas, b'{"fields": {"year": 1}}']) == (
        "none of the first 10,000 documents has a field `year`; fields: label"
    )
    assert unknown({"label": 1}, metas) is None
    assert unknown({"label": 1}, []) is None
