"""Names of documents as bytes: every string has bytes of its own, and comes back."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike._types import bytes_of, text_of

#: Characters of which the old encoding mixed some up: halves of pairs, bytes as surrogates, and what they spell.
ODD = st.text(st.sampled_from("aé\ud800\udc00\udc80\udced\udca0\udcc3\udca9\udcff\udfff"), max_size=6)


@given(ODD, ODD)
def test_different_names_have_different_bytes(one: str, other: str):
    assert text_of(bytes_of(one)) == one
    assert (bytes_of(one) == bytes_of(other)) == (one == other)


@given(st.binary(max_size=8))
def test_file_names_of_any_bytes_come_back(name: bytes):
    shown = name.decode("utf-8", "surrogateescape")
    assert text_of(bytes_of(shown)) == shown
    assert bytes_of(shown) == (b"\xff" + shown.encode("utf-8", "surrogatepass") if name[:1] == b"\xff" else name)


@given(st.binary(max_size=8))
def test_no_stored_bytes_are_an_error(stored: bytes):
    assert isinstance(text_of(stored), str)


def test_names_that_were_mixed_up_are_two_documents(tmp_path: Path):
    with la.Index.create(tmp_path / "index", kind="corpus") as index:
        names = ["\ud800", "\udced\udca0\udc80", "é", "\udcc3\udca9"]
        index.add([(name, f"text of {place}") for place, name in enumerate(names)])
        assert [one.id for one in index.documents()] == names
        assert index.remove(names[1]) == 1
        assert names[0] in index


def test_a_submission_with_such_a_name_is_found_by_it(tmp_path: Path):
    (tmp_path / "class").mkdir()
    with open(os.path.join(os.fsencode(tmp_path / "class"), b"\xffo\xe9.py"), "w") as file:
        file.write("x = 1\n")
    with la.Index.create(tmp_path / "index") as index:
        assert index.add(tmp_path / "class").added == 1
        (only,) = index.documents()
        assert only.id == "\udcffo\udce9.py"
        assert only.id in index
        assert index.remove(only.id) == 1
