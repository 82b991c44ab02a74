"""The public class of the archive: opens an index, and hands each task to the module that does it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lookalike._types import Progress, bytes_of, unheard
from lookalike.archive import copying, retention
from lookalike.archive.opening import Opened, Path, check_local
from lookalike.archive.questions import Asking
from lookalike.archive.results import Added, Finding, Repaired, Stats, Upgraded
from lookalike.archive.view import SHADOW, Entry, View, conditions
from lookalike.archive.writing import Signed
from lookalike.errors import ParameterError

Where = Mapping[str, str]


class Index(Opened, Asking):
    """An archive of documents in a folder: it grows for years and answers every question from one ingest.

    One process at a time changes it, any number read it. A call that returns has made its changes durable: they
    survive the end of the process and a loss of power. A call that raises has left the index as it was, or with whole
    batches of an add. ``Index(path)`` opens it for reading; ``create`` and ``open(path, write=True)`` for changes.

    >>> import os, tempfile, lookalike as la
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "notices")
    ...     with la.Index.create(path, kind="corpus") as index:
    ...         print(index.add([("monday", "The pool is closed on Monday."), ("tuesday", "The library opens late.")]))
    ...         print(index.add([("monday", "The pool is closed all week.")]))
    ...         _ = index.remove("tuesday")
    ...     with la.Index(path) as index:
    ...         print([entry.id for entry in index.documents()])
    2 added, 0 replaced, 0 unchanged
    0 added, 1 replaced, 0 unchanged
    ['monday']
    """

    def documents(self, where: Where | None = None) -> Iterator[Entry]:
        """Yield all documents in the order of arrival.

        :param where: Only those with these values, such as ``{"label": "2025"}``.
        """
        with self.snapshot() as view:
            yield from view.documents(where)

    def document(self, id: str) -> Entry | None:
        """Return the document with an id, or ``None``.

        :param id: The id.
        """
        return self._view().document(id)

    def __len__(self) -> int:
        return len(self._view())

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.document(id) is not None

    def stats(self) -> Stats:
        """Return how much it holds and takes. Cost: linear in the documents."""
        from lookalike.archive.sizes import measured

        return measured(self._view(), self._folder)

    # --- changing ----------------------------------------------------------------------------------------------------

    def add(
        self,
        source: Any = (),
        *,
        template: Sequence[Path] = (),
        label: str | None = None,
        by_directory: bool | None = None,
        layout: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        follow_links: bool = False,
        text_column: str | None = None,
        id_column: str | None = None,
        time_column: str | None = None,
        format: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Added:
        """Add documents. The same id with other content or metadata replaces; if nothing differs, it is left alone.

        Batches are committed as they are read: an interrupted add continues where it stopped if it is run again.

        :param source: For a class: paths, read as ``compare`` reads them, or a mapping of names to texts. For a corpus:
            paths, tables, and iterables of texts, of pairs of id and text, or of dictionaries, as ``dedup`` takes them.
        :param template: Starter code; it is kept in the index, and matches with it are ignored.
        :param label: Put in front of the names of submissions, such as ``2025``, and kept with them.
        :param by_directory: Each folder is one submission.
        :param layout: How submissions are arranged: auto, flat, dirs, moodle, canvas.
        :param include: Read only files that match one of these patterns.
        :param exclude: Skip files that match one of these patterns.
        :param follow_links: Follow links that stay inside the folder.
        :param text_column: The column of the texts of rows.
        :param id_column: The column of their ids; without one a row is known by its content.
        :param time_column: The column of their times, which ``remove(older_than=…)`` looks at.
        :param format: The format of all files, where their names do not tell it.
        :param threads: Number of threads; all cores if it is left out.
        :param progress: Called with phase, amount done, and total or ``None``.
        :returns: How many documents were added, replaced and unchanged, and what was skipped.
        :raises ParameterError: A parameter is out of range, or the index is open for reading only.
        :raises OSError: Reading or writing failed.
        """
        from lookalike.archive.adding import Adding
        from lookalike.archive.signing import sign_batches

        adding = Adding(self._changes())
        parameters = self.parameters
        if parameters.bands is not None:
            raise ParameterError(f"index `{self._name}` holds keys of a MinHashLSH: add to it with MinHashLSH.insert")
        parameters.check_versions(self._name)
        if parameters.keyed is not None:
            raise ParameterError(
                f"index `{self._name}` was made to be shared, and holds nothing that can be read: add to the original, "
                "and share that again"
            )
        reading: dict[str, Any] = {"layout": layout, "text_column": text_column, "include": include, "exclude": exclude}
        reading = {name: value for name, value in {**reading, "templates": template}.items() if value}
        reading |= {"label": label, "by_directory": by_directory, "follow_links": follow_links}
        reading |= {"id_column": id_column, "time_column": time_column, "format": format, "threads": threads}
        return adding.run(sign_batches(source, parameters, known=adding.known, progress=progress, **reading))

    def _add_records(self, documents: Sequence[Signed]) -> Added:
        """Add signed documents in one commit: their ids, the hashes of their contents, and their records."""
        counts = self._changes().add(documents)
        return Added(counts.added, counts.replaced, counts.unchanged)

    def remove(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        where: Where | None = None,
        older_than: retention.Age | None = None,
        purge: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Remove documents. They are hidden at once; their bytes stay until their segment is merged.

        Where several conditions are given, all must hold. Of rows that ``dedup`` removed, which have no text and no
        metadata here, those go that were removed for such a document, and those with such an id or age.

        :param ids: An id, or several. Those that are not there are passed over.
        :param where: Documents with these values, such as ``{"label": "2019"}``.
        :param older_than: Documents whose time is before this: an age such as ``"2y"`` or a date. Those without a time
            stay. An age is refused if the clock is more than a day behind the newest document.
        :param purge: Erase all removed documents, also those of earlier calls: no file holds a byte of them afterwards.
        :param progress: Called with phase, amount done, and total or ``None``.
        :returns: How many were removed.
        :raises ParameterError: No condition is given, or the index is open for reading only.
        :raises OSError: Writing failed.
        """
        if ids is None and not where and older_than is None and not purge:
            raise ParameterError("remove needs a condition: give ids, where or older_than")
        writer = self._changes()
        removed = 0
        with writer.turn:
            if ids is not None or where or older_than is not None:
                removed = writer.remove(self._chosen(writer.view, ids, where, older_than))
            if purge:
                writer.purge(progress or unheard)
        return removed

    def _chosen(
        self, view: View, ids: str | Iterable[str] | None, where: Where | None, older_than: retention.Age | None
    ) -> Iterator[int]:
        """Yield the numbers of the documents that fulfil all conditions."""
        accepts = conditions(where)
        limit = None
        if older_than is not None:
            times = (row.time for _, row in view.every_row() if row.time is not None)
            limit = retention.cut(older_than, time.time, times)
        for number, row in view.every_row() if ids is None else _named(view, ids):
            is_old = limit is None or (row.time is not None and row.time < limit)
            if is_old and not (where and row.flags & SHADOW) and accepts(row.meta):
                yield number

    def compact(self, progress: Progress | None = None) -> None:
        """Merge all segments into one, without removed documents, and give free space back.

        :param progress: Called with phase, amount done, and total or ``None``.
        :raises OSError: Writing failed, or there is no room for the new segment beside the old ones.
        """
        writer = self._changes()
        with writer.turn:
            writer.compact(progress or unheard)

    def adopt(self, path: Path) -> Added:
        """Take over a segment that was made elsewhere with the same parameters, as if its documents were added.

        :param path: The file, or segments in rows of Parquet, a file or a folder. It is copied.
        :returns: How many documents were added, replaced and unchanged.
        :raises VersionError: It was made with other parameters; the message names both sides.
        :raises DamagedError: It is damaged.
        """
        from lookalike.archive.adopting import adopt

        writer = self._changes()
        with writer.turn:
            return adopt(writer, os.fspath(path))

    def upgrade(self, progress: Progress | None = None) -> Upgraded:
        """Read the stored texts again with this version of lookalike, where that makes other keys.

        Segments are committed one by one: an upgrade that is interrupted goes on where it stopped if it is run again.

        :param progress: Called with phase, amount done, and total or ``None``.
        :returns: How many documents were read again; none if the index is up to date.
        :raises ParameterError: The texts are not kept.
        :raises VersionError: A newer version made the index.
        :raises DamagedError: A document cannot be read again; the message names it.
        """
        from lookalike.archive.upgrading import upgrade

        return upgrade(self._changes(), self._name, progress or unheard)

    # --- looking after it --------------------------------------------------------------------------------------------

    def check(self, progress: Progress | None = None) -> list[Finding]:
        """Read every byte of it and compare everything with everything.

        :param progress: Called with phase, amount done, and total or ``None``.
        :returns: What is wrong; nothing if all is well.
        """
        from lookalike.archive.checking import check

        self._check_open()
        return check(self._folder, self._catalogue, progress or unheard)

    def backup(self, path: Path, progress: Progress | None = None) -> None:
        """Copy it to a new folder, also while another process changes it. The copy is one state of it.

        :param path: The new folder.
        :param progress: Called with phase, amount done, and total or ``None``.
        :raises FileExistsError: The folder is not empty.
        :raises OSError: Reading or writing failed.
        """
        self._check_open()
        copying.backup(self._catalogue, path, progress or unheard)

    def export(self, path: Path, *, overwrite: bool = False, progress: Progress | None = None) -> int:
        """Write ids, metadata and texts of all documents as JSON Lines, in the order of arrival.

        :param path: The file; ``.gz`` compresses it.
        :param overwrite: Replace it if it exists.
        :param progress: Called with phase, amount done, and total or ``None``.
        :returns: How many documents were written.
        :raises OSError: Writing failed.
        """
        from lookalike.archive.exporting import export

        with self.snapshot() as view:
            return export(view, os.fspath(path), overwrite=overwrite, progress=progress or unheard)

    def share(self, path: Path, key: Path, *, progress: Progress | None = None) -> int:
        """Write an index for another institution: keyed hashes, without texts, names, metadata and simhashes.

        Whoever has the key file can ask it; answers are estimates and marked as unverified. Without the key nobody can
        test a guess; how many keys documents have and share stays visible.

        :param path: The folder of the new index.
        :param key: The file of the secret. It is made if it does not exist; then only you can read it.
        :param progress: Called with phase, amount done, and total or ``None``.
        :returns: How many documents it has.
        :raises ParameterError: The index was itself made to be shared, or the key file holds no key.
        :raises FileExistsError: The folder is not empty.
        :raises OSError: Writing failed.
        """
        from lookalike.archive import sharing

        secret = sharing.read_secret(key, is_made=True)
        keyed = sharing.shared_parameters(self.parameters, secret)
        with self.snapshot() as view, type(self)._create(path, keyed) as made:
            for batch in sharing.shared_documents(view, secret, progress or unheard):
                made._add_records(batch)
            return len(made)

    @classmethod
    def repair(
        cls, path: Path, *, wait: float = 0.0, allow_network_fs: bool = False, progress: Progress | None = None
    ) -> Repaired:
        """Make a damaged index whole again, without what cannot be read. Back it up first if you can.

        :param path: The folder.
        :param wait: Seconds to wait for another process that changes it.
        :param allow_network_fs: Allow a network file system, where locks may not work.
        :param progress: Called with phase, amount done, and total or ``None``.
        :returns: Which documents were lost.
        :raises LockedError: Another process changes it.
        :raises DamagedError: Nothing in it can be read.
        """
        from lookalike.archive.repairing import repair

        check_local(os.fspath(path), allow_network_fs)
        return repair(os.fspath(path), wait, progress or unheard)


def _named(view: View, ids: str | Iterable[str]) -> Iterator[tuple[int, Any]]:
    given = [bytes_of(ids)] if isinstance(ids, str) else [bytes_of(one) for one in ids]
    wanted, core = list(dict.fromkeys(given)), view.core
    found = [number for number in core.find_ids(wanted) if number is not None]
    if core.shadows:
        found += [number for numbers in core.find_shadows(wanted) for number in numbers]
    for number in found:
        yield number, core.row(number)
