"""Tables of fingerprints with damaged files: an error that names the file, or the right answer; never a signal."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike import params
from lookalike.cli import shell
from lookalike.errors import DamagedError, FormatError, VersionError
from support.hamming_tables import COMPAT, answers, compat_rows, expected, mixed

ROWS = compat_rows()
FILES = sorted(path.name for path in COMPAT.iterdir() if path.name != "lock")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return Path(shutil.copytree(COMPAT, tmp_path / "table"))


def assert_noticed_or_right(folder: Path, what: str) -> None:
    for hold in params.HOLDS:
        try:
            with la.HammingTable.open(folder, hold=hold) as opened:
                assert list(zip(*opened.rows(), strict=True)) == ROWS, what
                assert answers(opened, mixed(2)) == expected(ROWS, mixed(2), 3), what
        except FormatError as error:
            named = str(error)
        else:
            named = str(folder)
        assert str(folder) in named, what
    with pytest.raises(FormatError) as noticed:
        la.HammingTable.check(folder)
    assert str(folder) in str(noticed.value), what


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_noticed(name: str, table: Path):
    chance = random.Random(11)
    whole = (table / name).read_bytes()
    for at in [*range(0, 64, 5), *(chance.randrange(len(whole)) for _ in range(30)), len(whole) - 1]:
        flipped = bytearray(whole)
        flipped[at] ^= 1 << chance.randrange(8)
        (table / name).write_bytes(flipped)
        assert_noticed_or_right(table, f"{name} at {at}")


@pytest.mark.parametrize("name", FILES)
def test_a_cut_file_is_noticed(name: str, table: Path):
    whole = (table / name).read_bytes()
    for length in [0, 1, 63, 64, len(whole) // 2, len(whole) - 1]:
        (table / name).write_bytes(whole[:length])
        assert_noticed_or_right(table, f"{name} cut to {length}")


def test_swapped_and_missing_files_are_noticed(table: Path):
    runs = [name for name in FILES if name.startswith("run-")]
    assert len(runs) >= 2
    first, second = ((table / name).read_bytes() for name in runs[:2])
    (table / runs[0]).write_bytes(second)
    (table / runs[1]).write_bytes(first)
    assert_noticed_or_right(table, "swapped")
    (table / runs[1]).unlink()
    (table / runs[0]).write_bytes(first)
    with pytest.raises(DamagedError, match=f"{runs[1]}.*missing"):
        la.HammingTable.open(table)


def test_a_newer_version_is_told_from_damage(table: Path):
    manifest = bytearray((table / "manifest").read_bytes())
    manifest[4] = 4
    manifest[56:64] = la._core.xxh3(bytes(manifest[:56])).to_bytes(8, "little")
    (table / "manifest").write_bytes(manifest)
    with pytest.raises(VersionError, match="has format `4`, this version reads `3`"):
        la.HammingTable.open(table)


EXITS = {
    "damaged": ("(FOLDER / 'manifest').write_bytes(b'')", shell.DAMAGED),
    "locked": ("held = la.HammingTable.open(FOLDER, write=True)", shell.LOCKED),
    "full": ("resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))", shell.IO_ERROR),
}


@pytest.mark.parametrize("what", EXITS)
def test_each_failure_has_its_exit_code(what: str, table: Path):
    fault, code = EXITS[what]
    program = (
        "import pathlib, resource, signal\nimport lookalike as la\nfrom lookalike.cli.shell import spoken_errors\n"
        f"FOLDER = pathlib.Path({str(table)!r})\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{fault}\n"
        "with spoken_errors():\n    table = la.HammingTable.open(FOLDER, write=True)\n"
        "    table.insert([1], [1])\n    table.save()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("lookalike: ")
    assert str(table) in done.stderr
    assert done.stderr.count("\n") == 1
    if what == "full":
        assert "bytes are needed" in done.stderr
        assert la.HammingTable.check(table) == len(ROWS)
        assert not list(table.glob("*.new"))
