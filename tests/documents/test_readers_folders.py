"""File systems that mean harm, or are broken: links, pipes, names, depth, numbers; and nothing is ever written."""

from __future__ import annotations

import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from lookalike.documents import Limits, collect
from support.packing import HONEST, MIB, PACKERS, beside, memory_within, names, reasons, zip_bytes

# --- what is in a folder ---------------------------------------------------------------------


def test_links_are_not_followed_unless_asked_for(tmp_path: Path):
    (tmp_path / "secret").write_bytes(b"secret")
    root = tmp_path / "root"
    root.mkdir()
    beside(root, "a.py", HONEST)
    (root / "sub").mkdir()
    (root / "sub/s.py").write_bytes(HONEST)
    links = {"out": "../secret", "loop": ".", "dangling": "nowhere", "zero": "/dev/zero", "file": "a.py", "dir": "sub"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    (root / "sub/back").symlink_to("../dir")
    found = collect([root])
    assert names(found) == {"a.py": ["a.py"], "sub": ["s.py"]}
    assert reasons(found) == dict.fromkeys(["sub/back", *links], "a link, and links are not followed")
    found = collect([root], follow_links=True)
    assert names(found) == {"a.py": ["a.py"], "dir": ["s.py"], "file": ["file"], "sub": ["s.py"]}
    assert reasons(found) == {
        "dangling": "a link that leads nowhere",
        "dir/back": "a link that leads back to where it came from",
        "loop": "a link that leads back to where it came from",
        "out": "a link that leads out of the folder",
        "sub/back": "a link that leads back to where it came from",
        "zero": "a link that leads out of the folder",
    }


def test_links_that_lead_round_through_each_other_end(tmp_path: Path):
    for a, b in (("x", "y"), ("y", "x")):
        (tmp_path / a).mkdir()
        (tmp_path / a / "f.py").write_bytes(HONEST)
        (tmp_path / a / "link").symlink_to(f"../{b}")
    found = collect([tmp_path], follow_links=True)
    assert {one.name: [d.name for d in one.documents] for one in found.submissions} == {
        "x": ["f.py", "link/f.py"],
        "y": ["f.py", "link/f.py"],
    }


def test_links_that_branch_without_end_are_stopped_by_the_number_of_files(tmp_path: Path):
    for level in range(30):
        (tmp_path / f"{level:02}").mkdir()
        for name in "ab":
            (tmp_path / f"{level:02}" / name).symlink_to(f"../{level + 1:02}")
    (tmp_path / "30").mkdir()
    (tmp_path / "30/f.py").write_bytes(HONEST)
    found = collect([tmp_path], follow_links=True, limits=Limits(files=500))
    assert any(row.reason.startswith("beyond 500 files and folders") for row in found.skipped)


def test_fifos_sockets_and_devices_do_not_hold_the_run_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    beside(tmp_path, "a.py", HONEST)
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        found = collect([tmp_path])
    assert reasons(found) == {"fifo": "not a regular file", "socket": "not a regular file"}
    found = collect(["fifo", "/dev/zero", "a.py"])
    assert reasons(found) == {"fifo": "not a regular file", "zero": "not a regular file"}
    assert [one.name for one in found.submissions] == ["a.py"]


def test_a_sparse_file_of_ten_gigabytes_is_not_read(tmp_path: Path):
    beside(tmp_path, "a.py", HONEST)
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(10 * 2**30)
    with memory_within(MIB):
        found = collect([tmp_path])
    assert reasons(found) == {"sparse": "larger than 32 MiB"}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs a file that is larger than it says")
def test_a_size_is_what_was_read_not_what_was_said():
    assert os.stat("/proc/self/status").st_size == 0
    found = collect(["/proc/self/status"], limits=Limits(file_bytes=50))
    assert reasons(found) == {"status": "larger than 50 bytes"}


def test_a_file_that_vanishes_during_the_run_is_listed(tmp_path: Path):
    beside(tmp_path, "b.py", HONEST)
    found = collect([tmp_path], progress=lambda count: (tmp_path / "b.py").unlink(missing_ok=True))
    assert names(found) == {}
    assert reasons(found) == {"b.py": "cannot be read: no such file or directory"}


def test_what_may_not_be_read_is_listed(tmp_path: Path):
    private = [folder for folder in (tmp_path, *tmp_path.parents) if stat.S_IMODE(folder.stat().st_mode) == 0o700]
    beside(tmp_path, "b.py", HONEST)
    (tmp_path / "c").mkdir()
    for name in ("b.py", "c"):
        (tmp_path / name).chmod(0)
    user = os.geteuid()
    try:
        if user == 0:
            for folder in private:
                folder.chmod(0o755)
            os.seteuid(65534)
        found = collect([tmp_path])
    finally:
        os.seteuid(user)
        for folder in (*private, tmp_path / "c"):
            folder.chmod(0o700)
    assert reasons(found) == dict.fromkeys(("b.py", "c"), "cannot be read: permission denied")


def test_odd_names_are_kept_as_they_are(tmp_path: Path):
    odd = [b"new\nline.py", b"-rf", "\u202egnp.py".encode(), b"\xff\xfe.py", b"x" * 252 + b".py", b" ", b"*", b"a\\b"]
    for name in odd:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    found = collect([tmp_path])
    assert [os.fsencode(one.name) for one in found.submissions] == sorted(odd)
    assert all(os.fsencode(one.documents[0].name) == one.documents[0].data for one in found.submissions)


def test_folders_400_deep_are_walked(tmp_path: Path):
    beside(tmp_path, "a.py", HONEST)
    deep = tmp_path.joinpath(*["d"] * 400)
    deep.mkdir(parents=True)
    (deep / "x.py").write_bytes(HONEST)
    found = collect([tmp_path])
    assert names(found) == {"a.py": ["a.py"], "d": ["d/" * 399 + "x.py"]}
    assert len(collect([str(tmp_path / "**/x.py")]).submissions) == 1


def test_a_folder_that_is_deeper_than_the_system_allows_is_listed(tmp_path: Path):
    beside(tmp_path, "a.py", HONEST)
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(20):
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
        Path("x.py").write_bytes(HONEST)
        for _ in range(20):
            os.chdir("..")
    finally:
        os.chdir(here)
    found = collect([tmp_path])
    assert names(found) == {"a.py": ["a.py"]}
    assert len(found.skipped) == 1


def test_a_file_costs_less_than_a_kibibyte(tmp_path: Path):
    count = 2000
    for n in range(count):
        (tmp_path / f"submission {n:05}.py").touch()
    collect([tmp_path])
    with memory_within(count * 1024):
        found = collect([tmp_path])
    assert len(found.submissions) == count


# --- nothing is written -----------------------------------------------------------------------------

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_written: list[object] | None = None


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _written is None:
        return
    opens_to_write = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING
    if opens_to_write or event in ("os.mkdir", "os.rename", "os.link", "os.symlink", "tempfile.mkstemp"):
        _written.append((event, *arguments))


def test_nothing_is_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    global _written
    for kind in PACKERS:
        beside(tmp_path, f"x.{kind}", PACKERS[kind](("../../evil.py", HONEST), ("b.zip", zip_bytes(("c.py", HONEST)))))
    empty = tmp_path.parent / f"{tmp_path.name}-empty"
    empty.mkdir()
    monkeypatch.setenv("TMPDIR", str(empty))
    monkeypatch.chdir(empty)
    before = sorted(tmp_path.rglob("*"))
    collect([tmp_path])  # modules are loaded, and their caches written
    sys.addaudithook(_watch)
    _written = []
    try:
        found = collect([tmp_path])
        written = _written
    finally:
        _written = None
    assert len(found.submissions) == 2 + len(PACKERS)
    assert written == []
    assert list(empty.iterdir()) == []
    assert sorted(tmp_path.rglob("*")) == before
