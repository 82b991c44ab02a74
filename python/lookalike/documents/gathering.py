"""Reads the files below one root: a folder, an archive (read as if it were a folder), or a few files.

Every file that cannot be read, is not wanted or exceeds a limit goes on the list of skipped files. No file raises.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

from lookalike.documents import archives, nested
from lookalike.documents.files import opened, read_at_most
from lookalike.documents.folders import A_REPORT, is_report, walk
from lookalike.documents.info import INFO
from lookalike.documents.intake import Document, Limits, Skipped, in_order
from lookalike.documents.meters import ExhaustedError, Member, Meter, Tree
from lookalike.documents.patterns import Choice
from lookalike.documents.reasons import RefusedError, in_bytes, too_large, why

#: Name for an archive member that has no usable name.
_UNNAMED = "unnamed"
#: Characters shown of a name that is too long.
_SHOWN = 200


class Run:
    """State shared by all roots of a run: the limits, what is left of them, and the list of skipped files."""

    def __init__(
        self, choice: Choice, limits: Limits, follow_links: bool, progress: Callable[[int], None] | None
    ) -> None:
        self.choice = choice
        self.limits = limits
        self.follow_links = follow_links
        self.skipped: list[Skipped] = []
        self._progress = progress
        self._visited = self._files = self._bytes = 0
        #: Set once a limit is reached and reading stops.
        self._is_full = False

    def skip(self, name: str, reason: str, *, is_submitted: bool = True) -> None:
        """Add an entry to the list of skipped files."""
        self.skipped.append(Skipped(name, reason, is_submitted))

    def admits(self, name: str) -> bool:
        """Count a file or folder. Beyond the limit nothing more is read; this is listed once."""
        self._visited += 1
        if self._visited > self.limits.files:
            self._fill(name, f"beyond {self.limits.files:,} files and folders")
        return not self._is_full

    def holds(self, name: str, size: int) -> bool:
        """Count a document's bytes. Beyond the limit no more documents are kept; this is listed once."""
        if self._bytes + size > self.limits.total_bytes:
            self._fill(name, f"beyond {in_bytes(self.limits.total_bytes)} in all")
        if self._is_full:
            return False
        self._bytes += size
        self._files += 1
        if self._progress:
            self._progress(self._files)
        return True

    def release(self, size: int) -> None:
        """Give back the bytes of a document that is dropped."""
        self._bytes -= size

    def _fill(self, name: str, reason: str) -> None:
        if not self._is_full:
            self.skip(name, f"{reason}: this file and all later ones are not read")
        self._is_full = True


class Gathering:
    """The files of one root. REQUIRES: one of the ``take_…`` methods was called."""

    def __init__(self, run: Run, label: str) -> None:
        self._run = run
        #: Prefix of names on the list of skipped files; may be empty.
        self._label = label
        #: By path below the root.
        self.documents: list[Document] = []
        #: The paths that lead into an archive.
        self.archives: set[str] = set()
        #: Folders that were met, and those of members of archives, whether or not a file of them is read.
        self.folders: set[str] = set()
        #: Candidates for ``info.csv`` by path; include and exclude patterns do not apply to them.
        self.infos: dict[str, bytes] = {}
        #: Whether the root itself is an archive.
        self.is_archive = False

    def take_folder(self, folder: str) -> None:
        """Read all files below a folder. Errors: ``OSError`` if the folder itself is no longer there."""

        def enters(path: str) -> bool:
            if is_report(os.path.join(folder, path)):
                self._run.skip(self._name(path), A_REPORT, is_submitted=False)
                return False
            return self._enters(path)

        for found in walk(folder, enters, follow_links=self._run.follow_links):
            if found.reason and not found.path and not os.path.lexists(folder):
                raise OSError(errno.ESTALE, "it vanished during the run", folder)
            if found.reason:
                if self._run.admits(self._name(found.path)):
                    self._skip(found.path, found.reason)
            elif self._wants(found.path):
                self._take(found.target or os.path.join(folder, found.path), found.path, found.path, follow=False)

    def take_file(self, file: str) -> None:
        """Read a file the user named, following links; an archive is read as if it were a folder."""
        name = os.path.basename(file)
        if self._wants(name):
            self._take(file, name, "", follow=True)

    def _enters(self, path: str) -> bool:
        entered = self._fits(path) and self._run.choice.enters(path) and self._run.admits(self._name(path))
        if entered:
            self.folders.add(path)
        return entered

    def _wants(self, path: str) -> bool:
        """Decide whether to read a file. Members of archives are decided one by one later."""
        if not self._fits(path):
            return False
        if archives.has_archive_name(path):
            wanted = self._run.choice.enters(path, "archive")
        else:
            wanted = _may_name(path) or self._run.choice.keeps(path)
        return wanted and self._run.admits(self._name(path))

    def _fits(self, path: str) -> bool:
        most = self._run.limits.path_bytes
        if len(in_order(path)) > most:
            self._skip(f"{path[:_SHOWN]}…", f"its path is longer than {in_bytes(most)}")
            return False
        return True

    def _name(self, path: str) -> str:
        return f"{self._label}/{path}" if self._label and path else path or self._label

    def _skip(self, path: str, reason: str) -> None:
        self._run.skip(self._name(path), reason)

    def _take(self, target: str, path: str, prefix: str, *, follow: bool) -> None:
        """Read a file from disk. If it is an archive, its members go below ``prefix``."""
        limits = self._run.limits
        try:
            with opened(target, follow=follow) as (stream, size):
                kind = _kind(path, stream)
                if kind:
                    self.is_archive = not prefix
                    meter = Meter(Tree.new(limits), size)
                    members = archives.members(kind, path, stream, meter)
                    self._expand(members, path, prefix, meter, depth=0, owns_tree=True)
                else:
                    self._add(path, read_at_most(stream, size, limits.file_bytes))
        except RefusedError as error:
            self._skip(path, str(error))
        except OSError as error:
            self._skip(path, why(error))

    def _expand(
        self, members: Iterator[Member], path: str, prefix: str, meter: Meter, *, depth: int, owns_tree: bool
    ) -> bool:
        """Read the members of an archive; return whether any were kept. Members before a damaged place are kept."""
        self.archives.add(prefix)
        before = len(self.documents)
        try:
            for member in members:
                self._take_member(member, path, prefix, meter.tree, depth)
        except RefusedError as error:
            self._run.skip(self._name(prefix) or path, str(error))
        except ExhaustedError as error:
            for document in self.documents[before:]:
                self._run.release(len(document.data))
            del self.documents[before:]
            if error.scope is meter.tree and not owns_tree:
                raise
            self._run.skip(self._name(prefix) or path, str(error))
            return False
        return True

    def _take_member(self, member: Member, path: str, prefix: str, tree: Tree, depth: int) -> None:
        """Read a member, which may be an archive."""
        limits = self._run.limits
        if member.name is None:
            inner = archives.stem(prefix or path)
        else:
            inner = f"{prefix}/{_label(member.name)}" if prefix else _label(member.name)
            if member.is_folder:
                self._enters(inner)
                return
            self.folders.add(inner.rpartition("/")[0])
        if not self._fits(inner) or self._run.choice.hides(inner) or not self._wants(inner):
            return
        nests = archives.has_archive_name(inner)
        try:
            if nests and depth == limits.archive_depth:
                raise RefusedError(f"more than {limits.archive_depth} levels inside an archive")
            data = member.read(limits.nested_bytes if nests else limits.file_bytes)
            kind = archives.recognise(inner, data[: archives.HEAD_BYTES])
            if kind:
                self._take_nested(kind, inner, data, tree, depth + 1, is_apart=depth == 0 and not prefix)
            elif len(data) > limits.file_bytes:
                raise too_large(limits.file_bytes)
            else:
                self._add(inner, data)
        except RefusedError as error:
            self._run.skip(self._name(inner) if member.name else self._name(prefix) or path, str(error))

    def _take_nested(self, kind: str, path: str, data: bytes, tree: Tree, depth: int, *, is_apart: bool) -> None:
        """Read an archive inside an archive.

        In an archive that is read as a folder, each nested archive has its own allowance: if it breaks a limit, only it
        is skipped, and its bytes are given back. Deeper archives share one allowance, so that nesting gains nothing.
        """
        allowance = tree.split() if is_apart else tree
        meter = Meter(allowance, len(data))
        members = nested.members(kind, path, data, meter)
        if self._expand(members, path, path, meter, depth=depth, owns_tree=is_apart):
            tree.bytes_left, tree.entries_left = allowance.bytes_left, allowance.entries_left

    def _add(self, path: str, data: bytes) -> None:
        is_info = _may_name(path)
        if is_info:
            self.infos[path] = data
        decided = not is_info and not archives.has_archive_name(path)
        if (decided or self._run.choice.keeps(path)) and self._run.holds(self._name(path), len(data)):
            self.documents.append(Document(path, data))


def _kind(path: str, stream: BinaryIO) -> str | None:
    head = stream.read(archives.HEAD_BYTES)
    stream.seek(0)
    return archives.recognise(path, head)


def _may_name(path: str) -> bool:
    """Return whether a file may be the ``info.csv``: at the root, or in the one folder that holds everything."""
    return path.count("/") <= 1 and path.rpartition("/")[2] == INFO


def _label(name: str) -> str:
    """Return a safe relative path for a member, whatever its name contains."""
    return "/".join(part for part in name.split("/") if part not in ("", ".", "..")) or _UNNAMED
