"""Uploaded files: labels of any kind stay inside the tree, and each gets a place of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import ParameterError
from lookalike.service.comparing.jobs import Stored, TooLargeError
from lookalike.service.comparing.uploads import Places, Upload, checked, laid_out

LABELS = st.lists(
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(
            ["a", "a/b", "a/b/c", "a.py", "../a.py", "/etc/passwd", "a\\b", "..", "", ".", "x" * 400 + ".py"]
        ),
        st.binary(max_size=10).map(os.fsdecode),
    ),
    max_size=12,
)


@given(LABELS)
def test_every_label_has_a_place_of_its_own_inside(labels: list[str]):
    places = Places()
    given_places = [places.take(label) for label in labels]
    assert len(set(given_places)) == len(labels)
    folders = {place.rsplit("/", depth)[0] for place in given_places for depth in range(1, place.count("/") + 1)}
    assert not folders & set(given_places), "a place is a file and a folder"
    for place in given_places:
        assert not place.startswith("/")
        assert not {"", ".", ".."} & set(place.split("/"))
        assert "\0" not in place
        assert all(len(os.fsencode(part)) <= 255 for part in place.split("/") if part.isascii())


def test_plain_labels_are_kept():
    places = Places()
    labels = ["ann/Main.java", "ann/Util.java", "bob.java", "é/ü.c"]
    assert [places.take(label) for label in labels] == labels


def test_equal_labels_get_numbers():
    places = Places()
    assert [places.take("a.py") for _ in range(3)] == ["a.py", "a (2).py", "a (3).py"]
    assert [places.take("a.py/b") for _ in range(2)] == ["a (4).py/b", "a (4).py/b (2)"]


@pytest.mark.parametrize("path", ["", "/a", "a/", "../a", "a/../b", "./a", "a//b", "a\\b", "a\0", "\ud800", "é" * 600])
def test_a_path_that_is_not_plain_is_refused(path: str):
    with pytest.raises(ParameterError, match="path of a file"):
        checked(path)


def test_a_plain_path_is_taken():
    assert checked("ann/é.java") == "ann/é.java"


def test_an_upload_stops_at_its_limit(tmp_path: Path):
    upload = Upload(tmp_path / "uploads", 10)
    upload.write(b"12345")
    with pytest.raises(TooLargeError, match="room for 10"):
        upload.write(b"678901")
    upload.discard()
    assert list((tmp_path / "uploads").iterdir()) == []


def test_the_tree_has_the_uploads(tmp_path: Path):
    files = []
    for role, path in [("submissions", "ann/a.py"), ("templates", "../../a.py"), ("archive", "submissions.zip")]:
        upload = Upload(tmp_path / "uploads", 100)
        upload.write(path.encode())
        upload.finish()
        files.append(Stored(role, path, upload.stored, upload.bytes))
    made = laid_out(tmp_path / "uploads", files, tmp_path / "tree")
    assert made["submissions"] == ["submissions/ann/a.py"]
    assert made["templates"] == ["templates/a.py"]
    found = {str(path.relative_to(tmp_path / "tree")): path.read_bytes() for path in (tmp_path / "tree").rglob("*.*")}
    assert found == {
        "submissions/ann/a.py": b"ann/a.py",
        "templates/a.py": b"../../a.py",
        "archive/submissions.zip": b"submissions.zip",
    }
    assert (tmp_path / "uploads").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "uploads").iterdir()} == {0o600}
