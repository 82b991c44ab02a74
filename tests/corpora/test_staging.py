"""Outputs that appear whole, together, or not at all: what is on the disk when, and what is never written over."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from lookalike.corpora import Staging
from lookalike.errors import NoSpaceError


def put(staging: Staging, target: Path, data: bytes = b"new") -> Path:
    draft = Path(staging.file(str(target)))
    draft.write_bytes(data)
    return draft


def hidden(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".lookalike-")]


def test_a_file_appears_when_it_is_committed(tmp_path: Path):
    with Staging() as staging:
        draft = put(staging, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        assert draft.parent.parent == tmp_path
        assert re.fullmatch(r"\.lookalike-.+\.part", draft.parent.name)
        staging.commit()
        assert (tmp_path / "out").read_bytes() == b"new"
        assert hidden(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_outputs_appear_together_also_in_folders_that_are_not_there_yet(tmp_path: Path):
    with Staging() as staging:
        drafts = {put(staging, tmp_path / "a"), put(staging, tmp_path / "deep" / "er" / "b", b"b")}
        folder = Path(staging.folder(str(tmp_path / "c")))
        (folder / "d").write_bytes(b"d")
        assert len({*drafts, folder}) == 3
        assert [path.name for path in tmp_path.iterdir()] == [folder.parent.name]
        staging.commit()
    assert (tmp_path / "deep" / "er" / "b").read_bytes() == b"b"
    assert (tmp_path / "c" / "d").read_bytes() == b"d"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c", "deep"]


def test_a_relative_target_is_meant_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with Staging() as staging:
        assert staging.check("x") == str(tmp_path / "x")
        Path(staging.file("a")).write_bytes(b"a")
        (Path(staging.folder("b")) / "c").write_bytes(b"c")
        staging.commit()
    assert (tmp_path / "a").read_bytes() + (tmp_path / "b" / "c").read_bytes() == b"ac"


class Disk:
    """Sees what is synced and renamed, in order, while both are done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[str, int]] = []
        self._sync, self._replace = os.fsync, os.replace
        monkeypatch.setattr(os, "fsync", self.sync)
        monkeypatch.setattr(os, "replace", self.replace)

    def sync(self, handle: int) -> None:
        self.seen.append(("sync", os.fstat(handle).st_ino))
        self._sync(handle)

    def replace(self, old: str, new: str) -> None:
        self.seen.append(("rename", os.stat(old).st_ino))
        self._replace(old, new)


def test_everything_is_on_the_disk_before_anything_is_renamed_and_folders_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    disk = Disk(monkeypatch)
    (tmp_path / "sub").mkdir()
    with Staging() as staging:
        file, other = put(staging, tmp_path / "a"), put(staging, tmp_path / "sub" / "b")
        folder = Path(staging.folder(str(tmp_path / "c")))
        (folder / "inner").mkdir()
        for name in ("d", "inner/e"):
            (folder / name).write_bytes(b"x")
        inside = [path.stat().st_ino for path in (folder, folder / "inner", folder / "d", folder / "inner" / "e")]
        moved = [path.stat().st_ino for path in (file, other, folder)]
        handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        staging.commit()
        assert not handles or len(os.listdir("/proc/self/fd")) <= handles
    kinds = [kind for kind, _ in disk.seen]
    first, last = kinds.index("rename"), len(kinds) - kinds[::-1].index("rename")
    assert {one for _, one in disk.seen[:first]} == {*moved, *inside}
    assert [one for _, one in disk.seen[first:last]] == moved
    assert {one for _, one in disk.seen[last:]} == {tmp_path.stat().st_ino, (tmp_path / "sub").stat().st_ino}


def test_an_error_of_the_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Not even what could be synced: the other output would be missing."""

    def broken(handle: int) -> None:
        raise OSError(errno.EIO, "broken disk")

    monkeypatch.setattr(os, "fsync", broken)
    with Staging() as staging:
        put(staging, tmp_path / "a")
        with pytest.raises(OSError, match="broken disk"):
            staging.commit()
        handle = os.open(tmp_path, os.O_RDONLY)
        os.close(handle)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("abort", [True, False])
def test_what_is_not_committed_is_removed(tmp_path: Path, abort: bool):
    with Staging() as staging:
        put(staging, tmp_path / "out")
        assert len(hidden(tmp_path)) == 1
        if abort:
            staging.abort()
            assert list(tmp_path.iterdir()) == []
            staging.commit()
            put(staging, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_somebody_else_removed_is_no_error(tmp_path: Path):
    with Staging() as staging:
        draft = put(staging, tmp_path / "out")
        shutil.rmtree(draft.parent)
    assert list(tmp_path.iterdir()) == []


def test_an_aborted_target_may_be_named_again(tmp_path: Path):
    with Staging() as staging:
        put(staging, tmp_path / "out", b"old")
        staging.abort()
        put(staging, tmp_path / "out", b"new")
        staging.commit()
    assert (tmp_path / "out").read_bytes() == b"new"


def test_the_hidden_folder_is_locked_while_it_is_used(tmp_path: Path):
    """So that the next run does not sweep it away as that of the dead."""
    with Staging() as first:
        draft = put(first, tmp_path / "a")
        with Staging() as second:
            put(second, tmp_path / "b")
            assert draft.exists()
            second.commit()
        first.commit()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_hidden_folders_of_the_dead_are_swept(tmp_path: Path):
    for name in (".lookalike-dead.part", ".lookalike-other", "mine.part"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".lock").touch()
    with Staging() as staging:
        put(staging, tmp_path / "a")
        staging.commit()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lookalike-other", "a", "mine.part"]


# --- what is never written over ---


def test_what_is_there_stays_unless_it_may_be_overwritten(tmp_path: Path):
    (tmp_path / "out").write_bytes(b"old")
    for ask in (Staging().file, Staging().check):
        with pytest.raises(FileExistsError, match=r"exists already: use another name, or overwrite") as caught:
            ask(str(tmp_path / "out"))
        assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(tmp_path / "out"))
    with Staging(overwrite=True) as staging:
        put(staging, tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == b"old"
        staging.commit()
    assert (tmp_path / "out").read_bytes() == b"new"


def test_what_appears_meanwhile_stays(tmp_path: Path):
    with Staging() as staging:
        put(staging, tmp_path / "other")
        put(staging, tmp_path / "out")
        (tmp_path / "out").write_bytes(b"of somebody else")
        with pytest.raises(FileExistsError, match="exists already"):
            staging.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() == b"of somebody else"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_is_there_is_never_replaced(tmp_path: Path, overwrite: bool):
    (tmp_path / "out").mkdir()
    staging = Staging(overwrite=overwrite)
    with pytest.raises(FileExistsError, match=r"^.Errno 17. exists already") as caught:
        staging.folder(str(tmp_path / "out"))
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(tmp_path / "out"))
    with pytest.raises(FileExistsError, match="exists already: use another name: ") as caught:
        staging.file(str(tmp_path / "out"))
    assert "overwrite" not in str(caught.value)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError, match="exists already"):
        staging.folder(str(tmp_path / "link"))


def test_a_device_is_never_replaced(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with Staging(overwrite=True) as staging, pytest.raises(FileExistsError, match="exists already: use another name"):
        staging.file(str(tmp_path / "pipe"))
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_link_is_replaced_not_followed(tmp_path: Path):
    (tmp_path / "real").write_bytes(b"real")
    for name, aim in (("link", "real"), ("broken", "nowhere")):
        (tmp_path / name).symlink_to(tmp_path / aim)
        with pytest.raises(FileExistsError, match="exists already"):
            Staging().file(str(tmp_path / name))
        with Staging(overwrite=True) as staging:
            put(staging, tmp_path / name)
            staging.commit()
        assert not (tmp_path / name).is_symlink()
    assert (tmp_path / "real").read_bytes() == b"real"
    assert not (tmp_path / "nowhere").exists()


def test_an_input_is_never_written_by_whatever_name(tmp_path: Path):
    (tmp_path / "in").write_bytes(b"input")
    (tmp_path / "link").symlink_to(tmp_path / "in")
    for inputs in ([tmp_path / "in"], [tmp_path / "link"], [tmp_path / "x", tmp_path / "in"]):
        staging = Staging(overwrite=True, inputs=map(str, inputs))
        for name in ("in", "link"):
            with pytest.raises(FileExistsError, match=r"^.Errno 17. is an input") as caught:
                staging.file(str(tmp_path / name))
            assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(tmp_path / name))
    (tmp_path / "in").unlink()
    with pytest.raises(FileExistsError, match="is an input"):
        Staging(inputs=[str(tmp_path / "in")]).folder(str(tmp_path / "in"))


def test_a_target_is_named_once(tmp_path: Path):
    with Staging() as staging:
        put(staging, tmp_path / "out")
        for ask in (staging.file, staging.folder, staging.check):
            with pytest.raises(FileExistsError, match=r"^.Errno 17. is the target of two outputs") as caught:
                ask(str(tmp_path / "out"))
            assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(tmp_path / "out"))


def test_a_check_names_nothing(tmp_path: Path):
    staging = Staging()
    assert staging.check(str(tmp_path / "out")) == str(tmp_path / "out")
    assert staging.check(str(tmp_path / "out")) == str(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", ["file/out", "file/deep/out", "broken/out"])
def test_below_a_file_nothing_can_be_written(tmp_path: Path, below: str):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError) as caught:
        Staging().file(str(tmp_path / below))
    found = (caught.value.errno, caught.value.strerror, caught.value.filename)
    assert found == (errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(tmp_path / below.split("/")[0]))


@pytest.mark.parametrize("mode", [0o500, 0o600, 0o400])
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, mode: int, monkeypatch: pytest.MonkeyPatch):
    """Whoever may do everything is asked what others may: the bits of the owner decide."""
    locked = tmp_path / "locked"
    locked.mkdir(mode=mode)
    allowed = os.access

    def as_owner(path: str, wanted: int) -> bool:
        held = os.stat(path).st_mode >> 6 & 7
        return held & wanted == wanted and allowed(path, wanted)

    monkeypatch.setattr(os, "access", as_owner)
    with pytest.raises(PermissionError) as caught:
        Staging().file(str(locked / "deep" / "out"))
    found = (caught.value.errno, caught.value.strerror, caught.value.filename)
    assert found == (errno.EACCES, os.strerror(errno.EACCES), str(locked))
    locked.chmod(0o700)
    assert Staging().check(str(locked / "out")) == str(locked / "out")


# --- no space ---


def full(staging: Staging, target: Path, code: int, size: int) -> None:
    put(staging, target, bytes(size))
    raise OSError(code, "as the system says it")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize(("expected", "size", "said"), [(3 * 2**30, 10, "3 GiB"), (0, 2047, "2 KiB")])
def test_no_space_tells_what_is_needed_and_what_is_free(tmp_path: Path, code: int, expected: int, size: int, said: str):
    with (
        pytest.raises(NoSpaceError, match=f"^.Errno {code}. no space for `.*`: up to {said} ") as caught,
        Staging(expected_bytes=expected) as staging,
    ):
        full(staging, tmp_path / "out", code, size)
    assert caught.value.errno == code
    assert re.search(r"[\d.]+ [KMGT]iB are free$", str(caught.value))
    assert list(tmp_path.iterdir()) == []


def test_no_space_before_anything_was_written_is_told_too():
    with pytest.raises(NoSpaceError, match="up to 7 bytes are needed"), Staging(expected_bytes=7):
        raise OSError(errno.ENOSPC, "full")
    with pytest.raises(NoSpaceError, match="up to 1 byte"), Staging():
        raise OSError(errno.ENOSPC, "full")


def test_other_errors_stay_what_they_are(tmp_path: Path):
    for error in (OSError(errno.EIO, "broken"), ArithmeticError("none of the system's"), KeyboardInterrupt()):
        staging = Staging()
        put(staging, tmp_path / "out")
        with pytest.raises(type(error)) as caught, staging:
            raise error
        assert caught.value is error
        assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_device_is_never_replaced(tmp_path: Path):
    (tmp_path / "link").symlink_to("/dev/null")
    with Staging(overwrite=True) as staging, pytest.raises(FileExistsError, match="not a file"):
        staging.file(str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()


def test_what_is_first_is_renamed_and_synced_before_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    disk = Disk(monkeypatch)
    with Staging() as staging:
        later = put(staging, tmp_path / "corpus").stat().st_ino
        draft = Path(staging.file(str(tmp_path / "ledger"), is_first=True))
        draft.write_bytes(b"ledger")
        first = draft.stat().st_ino
        staging.commit()
    folder = tmp_path.stat().st_ino
    assert disk.seen[-4:] == [("rename", first), ("sync", folder), ("rename", later), ("sync", folder)]


def test_an_error_at_any_rename_leaves_everything_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also where a file was there already, and a new folder was to come."""
    names = ("a", "b", "ledger")
    for name in names:
        (tmp_path / name).write_bytes(b"old")
    honest = os.replace
    for failing in range(7):
        left = failing

        def replace(old: str, new: str) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                raise OSError(errno.EIO, "broken disk")
            honest(old, new)

        monkeypatch.setattr(os, "replace", replace)
        with Staging(overwrite=True) as staging:
            for name in names:
                Path(staging.file(str(tmp_path / name), is_first=name == "ledger")).write_bytes(b"new")
            (Path(staging.folder(str(tmp_path / "new"))) / "x").write_bytes(b"x")
            with pytest.raises(OSError, match="broken disk"):
                staging.commit()
        assert sorted(path.name for path in tmp_path.iterdir()) == [*names]
        assert {(tmp_path / name).read_bytes() for name in names} == {b"old"}
