"""What the service tells about the documents of a class: languages, labels, beginnings of ids, and values there are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.cli.main import cli
from support.packing import zip_bytes
from support.servers import Server, serving
from support.submissions import prose, statements, wrapped

JAVA = wrapped(statements(1, "java", 12), "java")
PATH = "/v1/indexes/years/documents"
LINES = {"Content-Type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("told")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with la.Index.create(folder / "years", kind="class") as index:
        index.add({"ann.py": wrapped(statements(2, "python", 12), "python")}, label="2025-hw1")
        index.add({"bob.txt": prose(1, 80)}, label="2025-hw2")
    with la.Index.create(folder / "news", kind="corpus") as index:
        index.add([("monday", prose(2, 80))])
    with serving(folder / "years", folder / "news", data=folder / "data") as running:
        yield running


def test_a_file_without_an_extension_says_that_it_was_read_as_text(server: Server):
    answer = server.ask("PUT", f"{PATH}/2024-hw3/s159", JAVA)
    assert answer.json["files"] == [{"name": "s159", "language": "text"}]
    assert answer.json["notes"] == [
        "its name has no file extension, so it was read as text: for code give a name such as Main.java"
    ]
    found = server.ask("POST", "/v1/indexes/years/query?name=Main.java&question=passages", JAVA).json
    assert not found["answers"][0]["matches"], "the copy is missed, which is why it must be told"


def test_the_name_tells_the_language_and_the_copy_is_found(server: Server):
    answer = server.ask("PUT", f"{PATH}/2024-hw3/s160?name=Main.java&label=2024-hw3", JAVA)
    assert answer.json == {
        "id": "2024-hw3/s160",
        "outcome": "added",
        "files": [{"name": "Main.java", "language": "java"}],
    }
    found = server.ask("GET", f"{PATH}/2024-hw3/s160").json
    assert (found["files"], found["languages"], found["label"]) == (["Main.java"], ["java"], "2024-hw3")
    answers = server.ask("POST", "/v1/indexes/years/query?name=Main.java&question=passages", JAVA).json["answers"]
    assert [one["id"] for one in answers[0]["matches"]] == ["2024-hw3/s160"]
    assert [one["id"] for one in server.ask("GET", f"{PATH}?where=label=2024-*").json["documents"]] == ["2024-hw3/s160"]


def test_every_file_of_an_archive_has_its_language(server: Server):
    body = zip_bytes(("src/Main.java", JAVA.encode()), ("README.md", prose(3, 60).encode()))
    answer = server.ask("PUT", f"{PATH}/both", body, headers={"Content-Type": "application/zip"})
    told = {one["name"]: one["language"] for one in answer.json["files"]}
    assert told == {"src/Main.java": "java", "README.md": "text"}
    assert "notes" not in answer.json
    found = server.ask("GET", f"{PATH}/both").json
    assert dict(zip(found["files"], found["languages"], strict=True)) == told


def test_a_batch_tells_languages_and_notes(server: Server):
    rows = [{"id": "c1", "text": JAVA, "name": "Main.java"}, {"id": "c2", "text": JAVA}]
    answer = server.ask("POST", PATH, "\n".join(map(json.dumps, rows)), headers=LINES)
    assert answer.json["languages"] == {"c1": "java", "c2": "text"}
    assert [(row["line"], row["id"]) for row in answer.json["notes"]] == [(2, "c2")]
    with la.Client(server.address) as client:
        told = client.add("years", rows, batch=1)
    assert (told["unchanged"], [row["line"] for row in told["notes"]]) == (2, [2])


def test_the_command_line_names_languages_and_the_unit_of_lengths(folder: Path, server: Server):
    def asked(*arguments: str) -> str:
        done = CliRunner().invoke(cli, ["index", *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    shown = json.loads(asked("show", str(folder / "years"), "2025-hw1/ann.py", "--json"))
    assert (shown["languages"], shown["unit"]) == (["python"], "word")
    listed = json.loads(asked("list", str(folder / "years"), "--json"))
    assert listed[0] == {key: value for key, value in shown.items() if key != "text"}
    assert "tokens" not in shown
    news = json.loads(asked("show", str(folder / "news"), "monday", "--json"))
    assert news["length"] == len(news["text"].split())


def test_a_label_is_for_submissions(server: Server):
    answer = server.ask("PUT", "/v1/indexes/news/documents/x?label=2025", b"some words")
    assert (answer.status, answer.code) == (422, "bad-parameter")
    odd = server.ask("PUT", f"{PATH}/x?label={'a' * 2000}", b"some words")
    assert (odd.status, odd.code) == (422, "bad-value")


def test_a_value_that_no_document_has_is_told_with_those_there_are(server: Server):
    answer = server.ask("GET", f"{PATH}?where=label=2025").json
    assert answer["documents"] == []
    (note,) = answer["notes"]
    assert note.startswith("no document has label `2025`; values: ")
    assert "2025-hw1, 2025-hw2" in note
    assert "yaer" in server.ask("GET", f"{PATH}?where=yaer=2025").json["notes"][0]
    assert "notes" not in server.ask("GET", f"{PATH}?where=label=2025-*").json
    assert "notes" not in server.ask("GET", PATH).json


def test_documents_are_found_by_the_beginning_of_their_id(server: Server):
    found = server.ask("GET", f"{PATH}?prefix=2025-hw").json
    assert [one["id"] for one in found["documents"]] == ["2025-hw1/ann.py", "2025-hw2/bob.txt"]
    first = server.ask("GET", f"{PATH}?prefix=2025-hw&limit=1").json
    rest = server.ask("GET", f"{PATH}?prefix=2025-hw&limit=1&after={first['next']}").json
    assert [one["id"] for one in rest["documents"]] == ["2025-hw2/bob.txt"]
    assert rest["next"] is None
    assert server.ask("GET", f"{PATH}?prefix=hw1").json == {"documents": [], "next": None}
