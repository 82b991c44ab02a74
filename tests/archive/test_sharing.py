"""An index for another institution: nothing of it can be read, and whoever has the key file can ask it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import lookalike as la
from lookalike.errors import ParameterError

TEXTS = {
    "alice": "The lighthouse keeper wrote in his journal that the lamp burned whale oil for years, then paraffin.",
    "bob": "A recipe for bread needs flour, water, salt and time; the oven must be hot before the loaf goes in.",
}


def every_byte(folder: Path) -> bytes:
    """All files, all records, and all texts as they are read."""
    with la.Index(folder) as index, index.snapshot() as view:
        texts = [text.encode() for number, _ in view.rows() for _, text in view.core.texts(number)]
        return b"".join([*(file.read_bytes() for file in folder.iterdir()), *view.records(), *texts])


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    with la.Index.create(tmp_path / "own", kind="corpus") as index:
        index.add([{"id": name, "text": text, "course": "secret course"} for name, text in TEXTS.items()])
        assert index.share(tmp_path / "shared", tmp_path / "key") == 2
    return tmp_path


def test_nothing_that_can_be_read_is_in_it(shared: Path) -> None:
    stored = every_byte(shared / "shared")
    for word in (b"alice", b"secret course", b"lighthouse", b"bread"):
        assert word not in stored
        assert word in every_byte(shared / "own")


def test_only_its_owner_can_read_the_key_file(shared: Path) -> None:
    assert stat.S_IMODE((shared / "key").stat().st_mode) == 0o600
    assert len((shared / "key").read_text().strip()) == 32


def test_an_index_is_not_shared_twice(shared: Path) -> None:
    with la.Index(shared / "shared") as index, pytest.raises(ParameterError, match="share the original"):
        index.share(shared / "again", shared / "key")


def test_a_file_without_a_key_is_refused(shared: Path) -> None:
    (shared / "empty").write_text("no key")
    with la.Index(shared / "own") as index, pytest.raises(ParameterError, match="32 hexadecimal digits"):
        index.share(shared / "again", shared / "empty")
    assert not (shared / "again").exists()


def test_nothing_is_added_to_a_shared_index(shared: Path) -> None:
    with la.Index.open(shared / "shared", write=True) as index, pytest.raises(ParameterError, match="share that again"):
        index.add([("carol", "a text that could be read")])
    assert b"carol" not in every_byte(shared / "shared")
