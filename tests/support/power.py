"""Power cuts, made again from a trace of system calls: what a disk may hold at any moment of a change.

Writes that were not synced may be on the disk or not, in any combination, and torn at a sector. Names are changed in
order, and are sure only once their folder was synced. This is the model of ALICE (Pillai 2014) for a file system with
ordered metadata; the page cache, which survives a kill, does not survive here.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: Every call that changes a file or a folder. One that the model does not know is an error, never passed over.
CALLS = (
    "openat", "open", "creat", "write", "pwrite64", "writev", "pwritev", "pwritev2", "ftruncate", "truncate",
    "fallocate", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "fsync",
    "fdatasync", "sync_file_range", "link", "linkat", "symlink", "copy_file_range", "sendfile",
)  # fmt: skip
_LINE = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
#: Bytes that a disk writes as one.
SECTOR = 512


@dataclass
class File:
    """The content that is surely on disk, and the writes since: (offset, bytes), or (length, None) for a truncation."""

    sure: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def content(self, some: list[tuple[int, bytes | None]]) -> bytes:
        data = bytearray(self.sure)
        for at, written in some:
            if written is None:
                data[at:] = bytes(max(0, at - len(data)))
            else:
                data[len(data) : at] = bytes(max(0, at - len(data)))
                data[at : at + len(written)] = written
        return bytes(data)


class Disk:
    """A folder and what is pending on it, as a trace goes on."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self.names = {one.name: File(one.read_bytes()) for one in folder.iterdir() if not one.name.endswith("-shm")}
        self.sure = dict(self.names)
        #: Changes of names since the folder was synced: a name and its file, or ``None`` if it is gone.
        self.moves: list[dict[str, File | None]] = []
        self._offsets: dict[str, int] = {}

    def follow(self, log: str) -> Iterator[tuple[str, bytes]]:
        """Go through a trace. Yields what is written elsewhere, and ``("", b"")`` after each change of the folder."""
        for line in log.splitlines():
            found = _LINE.match(line)
            if found is None or int(found[3]) < 0:
                continue
            call, arguments = found[1], found[2]
            strings = [_unescaped(one) for one in _STRING.findall(arguments)]
            handle = re.match(r"(\d+)<([^>]*)>", arguments)
            path = os.fsdecode(_unescaped(handle[2])) if handle else ""
            if call == "write" and not self._is_own(path):
                yield path, strings[0] if strings else b""
            elif self._apply(call, arguments, path, strings, found[4]):
                yield "", b""

    def _is_own(self, path: str) -> bool:
        return path == self._folder or path.startswith(self._folder + "/")

    def _name(self, path: str | bytes) -> str:
        return os.fsdecode(path)[len(self._folder) + 1 :]

    def _apply(self, call: str, arguments: str, path: str, strings: list[bytes], opened: str | None) -> bool:
        if call in ("openat", "open", "creat"):
            return self._open(arguments, os.fsdecode(_unescaped(opened)) if opened else "")
        if call in ("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir"):
            return self._move(call, arguments, [os.fsdecode(one) for one in strings])
        if not self._is_own(path) or path.endswith("-shm"):
            return False
        name = self._name(path)
        if call in ("fsync", "fdatasync"):
            self._sync(name)
        elif call == "pwrite64":
            self.names[name].pending.append((int(arguments.rsplit(", ", 1)[1]), strings[0]))
        elif call == "write":
            at = self._offsets.get(name, 0)
            self.names[name].pending.append((at, strings[0]))
            self._offsets[name] = at + len(strings[0])
        elif call == "ftruncate":
            self.names[name].pending.append((int(arguments.rsplit(", ", 1)[1]), None))
        else:
            raise AssertionError(f"the model does not know {call}({arguments[:200]})")
        return True

    def _open(self, arguments: str, path: str) -> bool:
        name = self._name(path)
        if not self._is_own(path) or not name or name.endswith("-shm"):
            return False
        self._offsets[name] = 0
        if "O_TRUNC" in arguments and name in self.names:
            self.names[name].pending.append((0, None))
        if name in self.names or "O_CREAT" not in arguments:
            return False
        self._change({name: File()})
        return True

    def _move(self, call: str, arguments: str, paths: list[str]) -> bool:
        if not any(self._is_own(one) for one in paths):
            assert "AT_FDCWD" in arguments or call in ("rename", "unlink", "mkdir", "rmdir"), arguments
            return False
        names = [self._name(one) for one in paths]
        if call.startswith("rename"):
            self._change({names[0]: None, names[1]: self.names[names[0]]})
        elif call.startswith("unlink") and "AT_REMOVEDIR" not in arguments and not names[0].endswith("-shm"):
            self._change({names[0]: None})
        return True

    def _change(self, names: dict[str, File | None]) -> None:
        self.moves.append(names)
        _rename(self.names, names)

    def _sync(self, name: str) -> None:
        """A file's content, or the names of the folder; a workshop's names count with the folder's when they matter."""
        if not name:
            self.sure, self.moves = dict(self.names), []
        elif name in self.names:
            file = self.names[name]
            file.sure, file.pending = file.content(file.pending), []

    def cut(self, target: Path, draw: random.Random) -> None:
        """Write one state that the disk may be in if the power fails now."""
        names = dict(self.sure)
        for change in self.moves[: draw.randint(0, len(self.moves))]:
            _rename(names, change)
        keep = draw.choice(["all", "none", "some", "some"])
        target.mkdir()
        for name, file in names.items():
            some = [] if keep == "none" else [one for one in file.pending if keep == "all" or draw.random() < 0.5]
            if keep == "some" and some and some[-1][1] is not None:
                at, data = some[-1]
                some[-1] = at, data[: draw.randint(0, len(data) // SECTOR) * SECTOR]
            path = target / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(file.content(some))


def _rename(names: dict[str, File], change: dict[str, File | None]) -> None:
    for name, file in change.items():
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


def _unescaped(text: str) -> bytes:
    """The bytes that a string of strace stands for; with -xx each is \\x and two digits."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
