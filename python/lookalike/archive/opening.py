"""Opens and closes an index: the lock, the catalogue, the writer, and views of the newest state."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from lookalike import params
from lookalike.archive import copying
from lookalike.archive.catalogue import Catalogue
from lookalike.archive.closing import Closing
from lookalike.archive.folder import Folder, network_type
from lookalike.archive.lock import WriterLock
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.view import View, Views
from lookalike.archive.writing import Writer
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.comparison.earlier import Opened as Searched

Path = str | os.PathLike[str]


class Opened(Closing):
    """An open index: what all of its tasks need."""

    def __init__(self, path: Path) -> None:
        """Open an index for reading.

        :param path: The folder.
        :raises DamagedError: A file of it is damaged; the message names it.
        :raises VersionError: It was made by another version.
        :raises OSError: It cannot be read.
        """
        self._start(Folder.open(path), os.fspath(path))

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        kind: str = "class",
        without: Iterable[str] = (),
        no_texts: bool = False,
        language: str | None = None,
        k: int | None = None,
        t: int | None = None,
        comments: bool = False,
        features_only: bool = False,
        allow_network_fs: bool = False,
        **dedup: Any,
    ) -> Self:
        """Make an index in a new or empty folder, and open it for changes. What is chosen here is fixed for ever.

        :param path: The folder.
        :param kind: ``class`` for submissions, with the thresholds of ``compare``; ``corpus`` for rows of text.
        :param without: Questions that are never asked: passages, resemblance, containment, distance.
        :param no_texts: Do not keep the texts; answers are then unverified.
        :param language: The language of all files; detected for each if it is left out.
        :param k: Noise threshold, instead of that of each language.
        :param t: Guarantee threshold, instead of that of each language.
        :param comments: Also store the words in comments of code.
        :param features_only: Keep only the features of the filter of each document (48 bytes with 6,14,2, the default
            here), its id and the hash of its content. Resemblance is then decided by the filter, and never verified.
        :param allow_network_fs: Allow a network file system, where locks may not work.
        :param dedup: ``unit``, ``shingle``, ``threshold``, ``sketch``, ``size``, ``filter``, ``recall``, ``modulus``,
            ``labelled``, ``bits``, ``features`` and ``ignore``, as in ``dedup``.
        :returns: The index, open for changes.
        :raises ParameterError: A parameter is out of range.
        :raises FileExistsError: The folder is not empty.
        :raises OSError: It cannot be written.
        """
        reading: dict[str, Any] = {"language": language, "k": k, "t": t, "comments": comments}
        parameters = Parameters.of(
            kind, without=without, no_texts=no_texts, features_only=features_only, **reading, **dedup
        )
        return cls._create(path, parameters, allow_network_fs=allow_network_fs)

    @classmethod
    def _create(
        cls, path: Path, parameters: Parameters, policy: Policy | None = None, *, allow_network_fs: bool = False
    ) -> Self:
        check_local(os.path.dirname(os.path.abspath(os.fspath(path))), allow_network_fs)
        folder = copying.prepare(path)
        lock = WriterLock(folder)
        try:
            # Another process may have made one between the first look and the lock.
            copying.check_empty(folder.path)
            Catalogue.create(folder, parameters.to_json())
        except BaseException:
            lock.release()
            raise
        return cls._opened(folder, os.fspath(path), policy, lock)

    @classmethod
    def open(cls, path: Path, *, write: bool = False, wait: float = 0.0, allow_network_fs: bool = False) -> Self:
        """Open an index.

        :param path: The folder.
        :param write: Open it for changes, which one process may at a time.
        :param wait: Seconds to wait for another process that changes it.
        :param allow_network_fs: Allow changes on a network file system, where locks may not work.
        :returns: The index.
        :raises LockedError: Another process changes it; the message names it.
        :raises DamagedError: A file of it is damaged; the message names it.
        :raises VersionError: It was made by another version.
        :raises OSError: It cannot be read or written.
        """
        return cls._open(path, None, write=write, wait=wait, allow_network_fs=allow_network_fs)

    @classmethod
    def _open(
        cls, path: Path, policy: Policy | None, *, write: bool, wait: float = 0.0, allow_network_fs: bool = False
    ) -> Self:
        if not write:
            return cls(path)
        folder = Folder.open(path)
        folder.check_index()
        check_local(folder.path, allow_network_fs)
        return cls._opened(folder, os.fspath(path), policy, WriterLock(folder, wait))

    @classmethod
    def _opened(cls, folder: Folder, name: str, policy: Policy | None, lock: WriterLock) -> Self:
        """Return an index that is open for changes; gives the lock back if it cannot be opened."""
        made = cls.__new__(cls)
        try:
            made._start(folder, name, lock, policy)
        except BaseException:
            lock.release()
            raise
        return made

    def _start(self, folder: Folder, name: str, lock: WriterLock | None = None, policy: Policy | None = None) -> None:
        self._name, self._folder, self._lock = name, folder, lock
        self._writer: Writer | None = None
        self._is_open = False
        self._catalogue = Catalogue(folder, write=lock is not None)
        self._views = Views(name, folder, self._catalogue)
        try:
            if lock is not None:
                self._writer = Writer(folder, self._catalogue, self._views, lock, policy or Policy())
        except BaseException:
            self._catalogue.close()
            raise
        self._is_open = True

    @property
    def path(self) -> str:
        """The folder, as it was resolved when it was opened."""
        return self._folder.path

    @property
    def parameters(self) -> Parameters:
        """The parameters that were chosen when it was created."""
        return self._view().parameters

    def snapshot(self) -> View:
        """Return the documents as they are now; later changes do not show in it. Use it in a ``with`` statement.

        :returns: A view, which has ``documents``, ``document`` and the questions, too.
        """
        return replace(self._view())

    def _view(self) -> View:
        self._check_open()
        # In a forked process the parent may have changed it.
        return self._views.latest(is_current=self._writer is not None and self._writer.is_own)

    def _searched(self) -> list[Searched]:
        from lookalike.comparison.earlier import Opened as Searched

        view = self._view()
        return [Searched(os.path.basename(self.path), view.parameters, view.core)]

    def _changes(self) -> Writer:
        """Return the writer. Errors: ``ParameterError`` if it is open for reading only, closed, or forked."""
        self._check_open()
        if self._writer is None:
            raise ParameterError(
                f"index `{self._name}` is open for reading only: open it with lookalike.Index.open(path, write=True)"
            )
        self._writer.check()
        return self._writer

    def _serve(self, process: int) -> None:
        """Say to other writers that a server has it open. REQUIRES: it is open for changes."""
        assert self._lock is not None
        self._lock.serve(process)

    def _check_open(self) -> None:
        if not self._is_open:
            raise ParameterError(f"index `{self._name}` is closed: open it again")

    def close(self) -> None:
        """Close the files and give the lock back, after a change that another thread is making."""
        if self._is_open:
            self._is_open = False
            if self._writer is not None:
                self._writer.close()
            self._writer = None
            self._catalogue.close()
            if self._lock is not None:
                self._lock.release()

    def __repr__(self) -> str:
        if not self._is_open:
            return f"<Index `{self._name}`, closed>"
        mode = "for changes" if self._writer is not None else "for reading"
        return f"<Index `{self._name}`, open {mode}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors: ``TypeError``: an index lives in its folder."""
        raise TypeError("an index cannot be pickled or copied: open it in the other process with Index(path)")


def check_local(folder: str, allow_network_fs: bool) -> None:
    """Refuse changes on a network file system. Errors: ``ParameterError``."""
    kind = None if allow_network_fs else network_type(folder)
    if kind is not None:
        raise ParameterError(
            f"`{folder}` is on a network file system ({kind}), where two processes may hold one lock: use a local "
            f"disk, or give {params.ALLOW_NETWORK_FS.name}=True if only one process changes the index"
        )
