"""Front ends of one's own: passed to the call, or found by an entry point; the documented example runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike import frontends

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "frontends.md"


class Notes:
    languages = (la.Language("notes", aliases=("melody",), suffixes=(".notes",), names=("tune",)),)

    def read(self, data: bytes, language: str, comments: bool) -> la.Readable:
        return la.Readable.of_tokens(la.Tokens(data.decode("latin-1").split()), language, notes=["read as notes"])


def test_the_documented_example_runs(tmp_path: Path):
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    subprocess.run([sys.executable, "-c", "\n".join(blocks)], check=True, cwd=tmp_path)


def test_ones_own_front_end_is_chosen_by_name_before_all_others():
    own = frontends.with_own([Notes()])
    for name in ("song.notes", "SONG.NOTES", "folder/tune"):
        assert frontends.read(name, b"\0\1\2 c d", among=own).parts[0].language == "notes"
    assert frontends.read("song.txt", b"c d", "melody", among=own).parts[0].language == "notes"
    assert frontends.read("song.notes", b"c d", "text", among=own).parts[0].language == "text"
    assert frontends.read("a.py", b"x = 1", among=own).parts[0].language == "python"
    assert "notes" not in frontends.LANGUAGES


def test_remarks_and_faults_of_a_front_end_are_listed(tmp_path: Path):
    class Broken(Notes):
        def read(self, data: bytes, language: str, comments: bool) -> la.Readable:
            return super().read(data, language, comments) if data != b"bad" else 1 // 0  # type: ignore[return-value]

    for name, text in {"a": "c d e f g a b " * 3, "b": "c d e f g a b " * 3, "x": "bad"}.items():
        (tmp_path / f"{name}.notes").write_text(text, encoding="utf-8")
    report = la.compare(tmp_path, frontends=[Broken()])
    assert report.pair_count == 1
    assert {remark.reason for remark in report.warnings} == {"read as notes"}
    assert ["ZeroDivisionError" in remark.reason for remark in report.skipped] == [True]


def install(folder: Path, target: str) -> None:
    """Lay out a package with an entry point, as an installer would."""
    (folder / "songs.py").write_text(Path(__file__).read_text(encoding="utf-8"), encoding="utf-8")
    info = folder / "songs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: songs\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{frontends.GROUP}]\nnotes = {target}\n", encoding="utf-8")


@pytest.fixture
def fresh():
    frontends.installed.cache_clear()
    yield
    frontends.installed.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_a_front_end_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    install(tmp_path, "songs:Notes")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.notes").write_text("c d e f g a b " * 3, encoding="utf-8")
    report = la.compare([tmp_path / "a.notes", tmp_path / "b.notes"], language="notes")
    assert [entry.files[0].language for entry in report.entries] == ["notes", "notes"]
    command = [sys.executable, "-m", "lookalike", "languages"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tmp_path)})
    assert "notes         .notes" in listed.stdout


@pytest.mark.usefixtures("fresh")
def test_an_entry_point_that_cannot_be_loaded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    install(tmp_path, "songs:Missing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(la.ParameterError, match="front end `notes` of `songs:Missing` cannot be loaded"):
        la.compare(tmp_path)
