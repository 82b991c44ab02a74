"""``lookalike index`` from outside: what each command prints, and every exit code."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.cli.index import index as group
from lookalike.cli.main import cli
from tests.support.archives import fast_folder

ROWS = [
    {"id": "mon", "text": "the pool is closed on monday because of the storm", "year": 2024, "day": "2024-05-01"},
    {"id": "tue", "text": "the library opens late on tuesday and closes early", "year": 2025, "day": "2025-05-01"},
    {"id": "wed", "text": "buses run every ten minutes on wednesday evening", "year": 2025, "day": "2025-06-01"},
]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with fast_folder() as folder:
        monkeypatch.chdir(folder)
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        yield folder


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lookalike", "index", *arguments]
    return subprocess.run(command, capture_output=True, text=True, **more)


def called(*arguments: str) -> str:
    """The output of a command in this process."""
    done = CliRunner().invoke(cli, ["index", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def made(*, kind: str = "corpus") -> None:
    called("create", "archive", "--for", kind, "--quiet")


def filled() -> None:
    made()
    called("add", "archive", "rows.jsonl", "--time-column", "day", "--quiet")


# --- what commands print ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_documents_are_listed_in_the_order_of_arrival():
    filled()
    assert called("list", "archive").splitlines() == [
        "id\tlabel\tbytes\tkind",
        "mon\t-\t49\tdocument",
        "tue\t-\t50\tdocument",
        "wed\t-\t48\tdocument",
    ]
    assert [one["id"] for one in json.loads(called("list", "archive", "--json", "--where", "year=2025"))] == [
        "tue",
        "wed",
    ]


@pytest.mark.usefixtures("place")
def test_an_add_tells_what_it_did():
    made()
    assert json.loads(called("add", "archive", "rows.jsonl", "--json", "--quiet"))["added"] == 3
    again = json.loads(called("add", "archive", "rows.jsonl", "--json", "--quiet"))
    assert (again["added"], again["replaced"], again["unchanged"], again["skipped"]) == (0, 0, 3, [])
    Path("rows.jsonl").write_text(json.dumps(ROWS[0] | {"text": "quite another notice"}) + "\n")
    assert json.loads(called("add", "archive", "rows.jsonl", "--json", "--quiet"))["replaced"] == 1
    assert called("list", "archive").splitlines()[-1] == "mon\t-\t20\tdocument"


@pytest.mark.usefixtures("place")
def test_a_document_is_shown_with_its_text():
    filled()
    assert called("show", "archive", "tue").endswith(f"\n\n{ROWS[1]['text']}\n")
    assert json.loads(called("show", "archive", "tue", "--json"))["fields"]["year"] == 2025


@pytest.mark.usefixtures("place")
def test_documents_are_removed_by_id_condition_and_age():
    filled()
    assert json.loads(called("remove", "archive", "mon", "none", "--json", "--quiet")) == {
        "removed": 1, "missing": ["none"], "purged": False,
    }  # fmt: skip
    called("remove", "archive", "--where", "year=2025", "--older-than", "2025-05-02", "--purge", "--quiet")
    assert called("list", "archive").splitlines()[1:] == ["wed\t-\t48\tdocument"]


@pytest.mark.usefixtures("place")
def test_an_export_can_be_added_again():
    filled()
    called("export", "archive", "out.jsonl.gz", "--quiet")
    called("create", "other", "--for", "corpus", "--quiet")
    called("add", "other", "out.jsonl.gz", "--quiet")
    assert called("list", "other") == called("list", "archive")
    assert run("export", "archive", "out.jsonl.gz").returncode == 2


@pytest.mark.usefixtures("place")
def test_a_backup_is_an_index():
    filled()
    called("backup", "archive", "copy", "--quiet")
    assert called("list", "copy") == called("list", "archive")
    assert called("check", "copy", "--quiet") == ""


@pytest.mark.usefixtures("place")
def test_a_segment_of_another_index_is_adopted():
    filled()
    called("compact", "archive", "--quiet")
    called("create", "other", "--for", "corpus", "--quiet")
    segment = next(str(one) for one in Path("archive").glob("*.lat"))
    assert json.loads(called("adopt", "other", segment, "--json", "--quiet"))["added"] == 3
    assert json.loads(called("adopt", "other", segment, "--json", "--quiet"))["unchanged"] == 3
    assert called("list", "other") == called("list", "archive")
    assert called("check", "other", "--quiet") == ""


@pytest.mark.usefixtures("place")
def test_submissions_of_several_years_and_starter_code():
    for person, code in (("ann", "def f(x):\n    return x + 1\n"), ("bob", "print('hello')\n")):
        Path("subs", person).mkdir(parents=True)
        Path("subs", person, "a.py").write_text(code)
    Path("starter.py").write_text("import sys\n")
    made(kind="class")
    called("add", "archive", "subs", "--label", "2024", "--quiet")
    called("add", "archive", "subs", "--label", "2025", "--template", "starter.py", "--quiet")
    documents = json.loads(called("list", "archive", "--json"))
    assert [one["id"] for one in documents if "template" not in one] == ["2024/ann", "2024/bob", "2025/ann", "2025/bob"]
    assert sum("template" in one for one in documents) == 1
    assert (
        json.loads(called("add", "archive", "subs", "--label", "2025", "--template", "starter.py", "--json"))[
            "unchanged"
        ]
        == len(documents) - 2
    )
    assert json.loads(called("stats", "archive", "--json"))["templates"] == 1


def test_times_that_cannot_be_read_are_counted_and_named(place: Path):
    days = ["31.12.2024", "", "2024-12-31", "soon", "1735603200"]
    rows = [{"id": f"r{at}", "text": f"notice number {at}", "day": day} for at, day in enumerate(days)]
    (place / "times.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "times.csv").write_text(
        "id,text,day\n" + "".join(f"c{at},notice {at},{day}\n" for at, day in enumerate(days))
    )
    made()
    for name in ("times.jsonl", "times.csv"):
        done = run("add", "archive", name, "--time-column", "day")
        assert done.returncode == 0, done.stderr
        assert 'time not read in 3 rows, first: "31.12.2024"' in done.stderr
    listed = json.loads(called("list", "archive", "--json"))
    read = [one.get("time") for one in listed]
    assert read == [None, None, "2024-12-31T00:00:00Z", None, "2024-12-31T00:00:00Z"] * 2


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_a_time_column_that_no_row_has_is_refused_by_name(place: Path, name: str):
    (place / "rows.csv").write_text("id,text,year,day\nx,some text,2024,2024-05-01\n")
    made()
    done = run("add", "archive", name, "--time-column", "date")
    assert done.returncode == 2, done
    assert "time column `date` is not in" in done.stderr
    assert "year, day" in done.stderr
    assert called("list", "archive", "--json").strip() == "[]"


def test_an_id_with_two_texts_is_named_and_the_later_row_is_kept(place: Path):
    rows = [("a", "the first text of a"), ("b", "the text of b"), ("a", "the second text of a"), ("b", "the text of b")]
    (place / "messy.jsonl").write_text("".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in rows))
    made()
    note = (
        "1 row has an id that a later row has with another text or other fields, and the later one is kept; "
        "first ids: a"
    )
    done = run("add", "archive", "messy.jsonl")
    assert done.stderr == f"2 added, 0 replaced, 1 unchanged\nnote: {note}\n"
    before = called("list", "archive", "--json")
    assert "the second text" in called("show", "archive", "a")
    done = run("add", "archive", "messy.jsonl")
    assert done.stderr == f"0 added, 0 replaced, 3 unchanged\nnote: {note}\n"
    assert called("list", "archive", "--json") == before


@pytest.mark.usefixtures("place")
def test_rows_in_an_index_for_a_class_are_told():
    made(kind="class")
    assert "--for corpus" in run("add", "archive", "rows.jsonl").stderr
    called("create", "rows", "--for", "corpus", "--quiet")
    assert "--for corpus" not in run("add", "rows", "rows.jsonl").stderr
    assert "32 hexadecimal digits" in " ".join(called("add", "--help").split())


@pytest.mark.usefixtures("place")
def test_the_result_of_a_check_is_output():
    filled()
    assert called("check", "archive") == "no damage\n"
    assert called("check", "archive", "--json").strip() == "[]"


# --- exit codes ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_exit_code_0_is_durable():
    assert run("create", "archive", "--for", "corpus").returncode == 0
    done = run("add", "archive", "rows.jsonl")
    assert (done.returncode, done.stderr) == (0, "3 added, 0 replaced, 0 unchanged\n")
    assert run("upgrade", "archive").stderr == "the index is up to date\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list", "nowhere"], "does not exist"),
        (["list", "."], "is not an index"),
        (["create", "archive"], "is an index already"),
        (["create", "rows.jsonl"], "is a file"),
        (["create", "."], "is not empty"),
        (["create", "new", "--for", "corpus", "-l", "python"], "--language `python` has no effect"),
        (["create", "new", "-k", "9", "-t", "5"], "-t `5` is smaller"),
        (["add", "archive"], "nothing to add"),
        (["add", "archive", "none.jsonl"], "does not exist"),
        (["add", "archive", "rows.jsonl", "--label", "x"], "--label has no effect"),
        (["remove", "archive"], "give ids, --where or --older-than"),
        (["remove", "archive", "--older-than", "soon"], "--older-than `soon` is no time"),
        (["list", "archive", "--where", "x"], "is not a condition"),
        (["show", "archive", "x"], "is not in index"),
        (["backup", "archive", "archive"], "is the index itself"),
        (["export", "archive", "rows.csv"], "written as JSON Lines"),
    ],
)
@pytest.mark.usefixtures("place")
def test_exit_code_2_is_wrong_usage(arguments: list[str], told: str):
    filled()
    done = run(*arguments)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr


@pytest.mark.usefixtures("place")
def test_exit_code_3_is_nothing_readable():
    made()
    Path("bad.jsonl").write_text('{"id": "a"}\nnothing\n')
    assert run("add", "archive", "bad.jsonl").returncode == 3
    Path("mixed.jsonl").write_text('{"id": "a"}\n{"id": "b", "text": "some text"}\n')
    done = run("add", "archive", "mixed.jsonl")
    assert done.returncode == 0
    assert "1 added, 0 replaced, 0 unchanged, 1 skipped" in done.stderr
    assert run("add", "archive", "mixed.jsonl", "--strict").returncode == 3


@pytest.mark.parametrize("victim", ["catalog.sqlite", "seg"])
@pytest.mark.usefixtures("place")
def test_exit_code_4_is_damage_and_names_the_file(victim: str):
    filled()
    called("compact", "archive", "--quiet")
    path = next(one for one in Path("archive").iterdir() if one.name.startswith(victim))
    data = path.read_bytes()
    path.write_bytes(data[:4200] + bytes(len(data) - 4200))
    for command in (
        ["list", "archive"],
        ["check", "archive"],
        ["add", "archive", "rows.jsonl"],
        ["compact", "archive"],
    ):
        done = run(*command)
        assert done.returncode == 4, (command, done)
        assert path.name in done.stderr + done.stdout
    done = run("repair", "archive", "--json")
    told = json.loads(done.stdout)
    is_whole = not (told["lost"] or told["unnamed"] or told["is_open"])
    assert done.returncode == (0 if is_whole else 4), done
    assert run("check", "archive").returncode == 0


@pytest.mark.usefixtures("place")
def test_exit_code_4_is_a_missing_catalogue():
    filled()
    os.unlink("archive/catalog.sqlite")
    done = run("list", "archive")
    assert done.returncode == 4
    assert "catalog.sqlite" in done.stderr


@pytest.mark.usefixtures("place")
def test_exit_code_5_is_another_writer():
    filled()
    with la.Index.open("archive", write=True):
        for command in (["add", "archive", "rows.jsonl"], ["remove", "archive", "mon"], ["repair", "archive"]):
            done = run(*command)
            assert done.returncode == 5, done
            assert f"process {os.getpid()} on " in done.stderr
            assert "--wait" in done.stderr
        assert run("list", "archive").returncode == 0


@pytest.mark.usefixtures("place")
def test_exit_code_6_is_another_version_or_other_parameters():
    filled()
    called("compact", "archive", "--quiet")
    called("create", "other", "--for", "corpus", "--threshold", "0.9", "--quiet")
    done = run("adopt", "other", next(str(one) for one in Path("archive").glob("*.lat")))
    assert done.returncode == 6, done
    assert "dedup.threshold: 0.9 and 0.8" in done.stderr
    base = sqlite3.connect("archive/catalog.sqlite")
    base.execute("PRAGMA user_version = 2")
    base.commit()
    base.close()
    done = run("list", "archive")
    assert done.returncode == 6
    assert "made by format 2, this program reads ≤ 1" in done.stderr


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))


@pytest.mark.usefixtures("place")
def test_exit_code_7_is_no_space():
    filled()
    before = called("list", "archive")
    Path("more.jsonl").write_text(
        "".join(json.dumps({"id": f"n{at}", "text": f"{at} " * 999}) + "\n" for at in range(99))
    )
    done = run("add", "archive", "more.jsonl", preexec_fn=_small_files)
    assert done.returncode == 7, done
    assert "are needed" in done.stderr or "cannot be written" in done.stderr
    assert called("list", "archive") == before
    assert run("add", "archive", "more.jsonl").returncode == 0


# --- help ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", group.commands)
def test_every_command_has_an_example(name: str):
    told = CliRunner().invoke(group, [name, "--help"]).output
    assert f"lookalike index {name} " in told
