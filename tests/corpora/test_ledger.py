"""The ledger as a file: what is written is read again, and nothing that was changed passes for it."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from lookalike.corpora.ledger import VERSION, Facts, Ledger, Reading, Verdict, new_digest, packed, unpacked
from lookalike.errors import LedgerError

FACTS = [
    Facts("in/a.jsonl", "jsonl", rows=3, size=40, digest="ab", clean="a.jsonl", clean_size=20, clean_digest="cd"),
    Facts("in/b.parquet", "parquet", rows=9, compression="zstd", groups=[4, 5], unread=[1], is_lost=True),
]
ENTRIES: list[dict[str, Any]] = [
    {"source": 0, "row": 1, "data": "é\n"},
    {"source": 0, "row": 2, "base64": "/w=="},
    {"source": 1, "row": 0, "data": "x" * 3000},
]


def written(folder: Path, name: str = "ledger.jsonl", *, is_folder: bool = True, **header: Any) -> Path:
    with Ledger(str(folder / "spool")) as ledger:
        for entry in ENTRIES:
            ledger.add(entry)
        ledger.write(str(folder / "draft"), str(folder / name), {"parameters": {}} | header, FACTS, is_folder=is_folder)
    (folder / "draft").rename(folder / name)
    return folder / name


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def assert_refused(path: Path, data: bytes, said: str) -> None:
    path.write_bytes(data)

    def read() -> None:
        list(Reading(str(path)).entries())

    with pytest.raises(LedgerError, match=said) as caught:
        read()
    assert str(caught.value).startswith(f"`{path}` ")
    assert "XX" not in str(caught.value)


@pytest.mark.parametrize("is_folder", [True, False])
@pytest.mark.parametrize("name", ["ledger.jsonl", "ledger.jsonl.gz", "ledger.jsonl.zst"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str, is_folder: bool):
    path = written(tmp_path, name, is_folder=is_folder, program="lookalike 1")
    reading = Reading(str(path))
    assert reading.path == str(path)
    assert (reading.sources, reading.is_folder) == (FACTS, is_folder)
    assert reading.header["program"] == "lookalike 1"
    assert reading.header["parameters"] == {}
    assert list(reading.entries()) == ENTRIES


def test_the_name_says_how_it_is_compressed(tmp_path: Path):
    plain, packed_ = written(tmp_path, "a.jsonl"), written(tmp_path, "b.jsonl.gz")
    assert gzip.decompress(packed_.read_bytes()) == plain.read_bytes()


def test_the_header_counts_and_digests_what_follows(tmp_path: Path):
    header, *entries = lines(written(tmp_path))
    told = json.loads(header)
    assert list(told) == ["ledger", "parameters", "is_folder", "entries", "digest", "sources"]
    assert (told["ledger"], told["entries"]) == (VERSION, 3) == (1, 3)
    assert told["digest"] == hashlib.sha256(b"".join(entries)).hexdigest()
    assert set(told["sources"][0]) == {
        "name", "format", "rows", "size", "digest", "clean", "clean_size", "clean_digest", "compression", "groups",
        "unread", "is_lost",
    }  # fmt: skip


def test_lines_are_utf_8_without_spaces(tmp_path: Path):
    first = lines(written(tmp_path))[1]
    assert first == '{"source":0,"row":1,"data":"é\\n"}\n'.encode()


def test_a_name_that_is_no_utf_8_is_escaped(tmp_path: Path):
    with Ledger(str(tmp_path / "spool")) as ledger:
        ledger.add({"id": "\udcff", "row": 1})
        ledger.write(str(tmp_path / "l"), "l", {}, [], is_folder=False)
    assert lines(tmp_path / "l")[1] == b'{"id":"\\udcff","row":1}\n'
    assert list(Reading(str(tmp_path / "l")).entries()) == [{"id": "\udcff", "row": 1}]


def test_the_file_of_entries_is_closed_at_the_end(tmp_path: Path):
    with Ledger(str(tmp_path / "spool")) as ledger:
        ledger.add(ENTRIES[0])
    with pytest.raises(ValueError, match="closed"):
        ledger.add(ENTRIES[1])
    assert (tmp_path / "spool").read_bytes().count(b"\n") == 1


def test_new_digests_are_sha_256():
    assert new_digest().name == "sha256"


@pytest.mark.parametrize("data", [b"", b"plain", "é".encode(), b"\xff\x00", bytes(range(256))])
def test_any_bytes_can_be_packed(data: bytes):
    entry = packed(data)
    assert unpacked(json.loads(json.dumps(entry))) == data
    assert list(entry) == (["data"] if data.isascii() or data == "é".encode() else ["base64"])


def test_base_64_with_other_letters_is_refused():
    for wrong in ("/w!==", "\n/w==", "/w"):
        with pytest.raises(ValueError, match=r"base64|padding"):
            unpacked({"base64": wrong})


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
def test_a_verdict_names_the_row_that_stays_and_what_was_measured(measure: str):
    assert Verdict((2, 7, "doc"), measure, 0.9, "exact", "minhash").to_json() == {
        "survivor": {"source": 2, "row": 7, "id": "doc"},
        measure: 0.9,
        "basis": "exact",
        "method": "minhash",
    }


# --- ledgers that are not to be trusted ---


def test_an_entry_that_was_changed_is_found_by_its_digest(tmp_path: Path):
    """The number of entries and every line stay sound; only the digest tells."""
    path = written(tmp_path)
    data = path.read_bytes()
    changed = data.replace(b'"row":1', b'"row":0')
    assert len(changed) == len(data) != data.index(b'"row":1')
    assert_refused(path, changed, "cut short or was changed")


def test_entries_in_another_order_are_found(tmp_path: Path):
    path = written(tmp_path)
    header, first, second, third = lines(path)
    assert_refused(path, header + second + first + third, "cut short or was changed")


def test_an_entry_more_or_less_is_found(tmp_path: Path):
    path = written(tmp_path)
    header, first, second, third = lines(path)
    for entries in (first + second, first + second + third + third, b""):
        assert_refused(path, header + entries, "cut short or was changed")


@pytest.mark.parametrize("name", ["entries", "digest"])
def test_a_header_without_count_or_digest_is_found(tmp_path: Path, name: str):
    path = written(tmp_path)
    header, *entries = lines(path)
    told = json.loads(header)
    del told[name]
    assert_refused(path, json.dumps(told).encode() + b"\n" + b"".join(entries), "cut short or was changed")


def test_a_count_that_lies_is_found_though_the_digest_is_right(tmp_path: Path):
    path = written(tmp_path)
    assert_refused(path, path.read_bytes().replace(b'"entries":3', b'"entries":4'), "cut short or was changed")


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"[1]\n", b"text\n", b'{"ledger":"1"}\n', b'{"other":1}\n', b"[" * 99_999]
)
def test_other_files_are_no_ledgers(tmp_path: Path, data: bytes):
    assert_refused(tmp_path / "l", data, "is not a ledger")


def test_a_line_that_is_no_object_is_found(tmp_path: Path):
    path = written(tmp_path)
    header, first, *_ = lines(path)
    for line in (b"[]\n", b"{\n", b"\xff\n", first[:-5]):
        assert_refused(path, header + line, "is not a ledger, or is cut short")


@pytest.mark.parametrize("version", [VERSION + 1, 99])
def test_a_newer_ledger_is_refused_by_its_version(tmp_path: Path, version: int):
    assert_refused(tmp_path / "l", b'{"ledger":%d}\n' % version, f"version {version}, this program reads {VERSION}")


def test_an_older_version_is_not_refused_for_being_old(tmp_path: Path):
    assert_refused(tmp_path / "l", b'{"ledger":0}\n', "is damaged: its header")


@pytest.mark.parametrize("lost", ["sources", "is_folder"])
def test_a_header_that_lacks_something_is_damaged(tmp_path: Path, lost: str):
    path = written(tmp_path)
    told = json.loads(lines(path)[0])
    del told[lost]
    assert_refused(path, json.dumps(told).encode() + b"\n", "is damaged: its header")


@pytest.mark.parametrize("sources", [3, [3], [{"name": "a"}], None])
def test_sources_that_are_none_are_damage(tmp_path: Path, sources: object):
    told = {"ledger": 1, "is_folder": True, "sources": sources}
    assert_refused(tmp_path / "l", json.dumps(told).encode() + b"\n", "is damaged: its header")


def test_a_field_of_a_later_version_is_passed_over(tmp_path: Path):
    path = written(tmp_path)
    header, *entries = lines(path)
    told = json.loads(header)
    told["sources"][0]["colour"] = "red"
    path.write_bytes(json.dumps(told).encode() + b"\n" + b"".join(entries))
    reading = Reading(str(path))
    assert reading.sources == FACTS
    assert list(reading.entries()) == ENTRIES


def test_a_packed_ledger_that_is_cut_is_refused(tmp_path: Path):
    path = written(tmp_path, "l.jsonl.gz")
    data = path.read_bytes()
    for cut in (len(data) - 3, len(data) // 2):
        assert_refused(path, data[:cut], "cannot be read: |cut short")
    path.write_bytes(data[: len(data) - 3])
    with pytest.raises(LedgerError, match="cannot be read"):
        list(Reading(str(path)).entries())


def test_a_last_line_without_its_end_is_put_together_too(tmp_path: Path):
    """3 MB come in several pieces; the line end is not part of what is digested."""
    line = json.dumps({"data": "z" * 3_000_000}).encode()
    header = {"ledger": 1, "is_folder": False, "entries": 1, "digest": hashlib.sha256(line).hexdigest(), "sources": []}
    (tmp_path / "l").write_bytes(json.dumps(header).encode() + b"\n" + line)
    assert list(Reading(str(tmp_path / "l")).entries()) == [json.loads(line)]


def test_lines_longer_than_a_piece_are_put_together(tmp_path: Path):
    """A line of 3 MB comes in several pieces, and pieces hold the ends of several lines."""
    rng = random.Random(1)
    entries = [{"row": i, "data": "y" * rng.choice([0, 10, 700_000, 3_000_000])} for i in range(12)]
    with Ledger(str(tmp_path / "spool")) as ledger:
        for entry in entries:
            ledger.add(entry)
        ledger.write(str(tmp_path / "l"), "l.gz", {}, [], is_folder=False)
    assert list(Reading(str(tmp_path / "l")).entries()) == entries
