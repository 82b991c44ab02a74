"""Identical means the same text: a hash that was crafted to be equal does not deceive where texts are kept."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import lookalike as la
from lookalike import _core
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import SignedDocument, sign_batches
from lookalike.archive.store import Index

INNOCENT = "the minutes of the meeting of the garden club, with the list of plants for the spring"
OTHER = "an entirely different text about the repair of bicycles that shares nothing with the one before"


def forged(parameters: Parameters, id_: str, text: str, hash_of: str) -> SignedDocument:
    """Return a document with the content hash of another text, as a crafted collision of XXH3-128 would have it."""
    made = [one for batch in sign_batches([(id_, text), (id_, hash_of)], parameters) for one in batch.documents]
    (name, mark, record), (_, other, _) = made
    # A mark begins with the 16 bytes of the hash. The record has them with the lowest first, and ends with a checksum.
    own, wanted = mark[15::-1], other[15::-1]
    assert record.count(own) == 1
    body = record[:-8].replace(own, wanted)
    return name, other[:16] + mark[16:], body + struct.pack("<Q", _core.xxh3(body))


@pytest.fixture(params=[False, True], ids=["texts", "no texts"])
def index(request: pytest.FixtureRequest, tmp_path: Path):
    with la.Index.create(tmp_path / "index", kind="corpus", no_texts=request.param) as made:
        made._add_records([forged(made.parameters, "forged", OTHER, INNOCENT)])
        yield made


def test_a_collision_is_not_identical_where_texts_are_kept(index: Index):
    found = index.query(INNOCENT, question="identical").answers[0]
    seen = index.seen(INNOCENT)
    if index.parameters.texts:
        assert (found.documents, found.matches) == (0, ())
        assert "1 document has the same hash and another text, and is not listed" in found.certificate
        assert not seen
        assert "another text" in seen.certificate
    else:
        assert [one.id for one in found.matches] == ["forged"]
        assert "nothing is verified" in found.certificate
        assert seen.is_identical
        assert not seen.nearest.resemblance.is_exact
        assert "nothing is verified" in seen.certificate


def test_the_text_itself_is_found_beside_a_collision(index: Index):
    index.add([("own", INNOCENT), ("copy", INNOCENT)])
    for _ in range(2):
        found = index.query(INNOCENT, question="identical").answers[0]
        seen = index.seen(INNOCENT)
        first = "own" if index.parameters.texts else "forged"
        assert (found.matches[0].id, seen.nearest.id, seen.is_identical) == (first, first, True)
        assert found.documents == (2 if index.parameters.texts else 3)
        assert seen.nearest.resemblance.is_exact == index.parameters.texts
        index.compact()


def test_submissions_of_several_files_are_compared_file_by_file(tmp_path: Path):
    with la.Index.create(tmp_path / "index") as index:
        for name in ("ann", "bob"):
            (tmp_path / "class" / name).mkdir(parents=True)
            (tmp_path / "class" / name / "a.py").write_text("x = 1\n")
            (tmp_path / "class" / name / "b.py").write_text("y = 2\n")
        index.add(tmp_path / "class")
        found = index.query(tmp_path / "class" / "bob", question="identical").answers[0]
        assert (found.documents, found.matches[0].id) == (2, "ann")
        assert "stored texts are compared" in found.certificate
