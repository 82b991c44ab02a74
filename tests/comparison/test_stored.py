"""Files that were stored and restored are the files that were read, for every grammar and every format of the demo."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lookalike import _core, documents
from lookalike.comparison.reading import Question, Read, read_all
from lookalike.comparison.stored import facts, read_facts
from lookalike.errors import DamagedError
from lookalike.frontends import with_own

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "crates" / "code" / "samples"
CLASS = ROOT / "python" / "lookalike" / "demo" / "material" / "class"
QUESTION = Question("auto", None, None, False, None, None, 0.6, None, 0.5)


def read_class(path: Path, layout: str) -> list[tuple[documents.Submission, list[Read]]]:
    intake = documents.collect([path], layout=layout)
    reads, _ = read_all(intake, QUESTION, with_own(()), 1, lambda *_: None)
    return list(zip(intake.submissions, reads, strict=True))


def files(reads: list[Read]) -> list[_core.ReadFile]:
    return [read.file for read in reads if read.file is not None]


@pytest.mark.parametrize("path", [*sorted(SAMPLES.iterdir()), CLASS], ids=lambda path: path.name)
def test_stored_files_are_those_that_were_read(path: Path):
    handed = read_class(path, "auto" if path == CLASS else "flat")
    assert len(handed) > 3
    for submission, reads in handed:
        read = files(reads)
        stored = _core.store_files(read, facts(submission, reads))
        restored, told = _core.restore_files(stored, [file.text for file in read])
        assert [file.parts() for file in restored] == [file.parts() for file in read]
        assert _core.unreachable(restored) == _core.unreachable(read)
        known = read_facts(told)
        assert [one[:2] for one in known.files] == [(one.name, one.languages) for one in reads if one.file is not None]
        assert [one[2:] for one in known.files] == [(one.notes, one.format, one.places) for one in reads if one.file]


def test_other_bytes_are_damaged():
    [file] = files(read_class(SAMPLES / "go", "flat")[0][1])
    stored, chance = _core.store_files([file], b""), random.Random(3)
    for bytes_, texts in ((stored[:-1], [file.text]), (b"", []), (stored, []), (stored, ["x"])):
        with pytest.raises(DamagedError):
            _core.restore_files(bytes_, texts)
    for _ in range(300):
        broken = bytearray(stored)
        broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        try:
            found, _ = _core.restore_files(bytes(broken), [file.text])
        except DamagedError:
            continue
        assert all(one.parts() for one in found)


def test_facts_of_others_are_refused():
    for told in (b"{}", b"[]", b'{"digest":"","files":[1]}', b"\xff"):
        with pytest.raises(ValueError, match=r"."):
            read_facts(told)
