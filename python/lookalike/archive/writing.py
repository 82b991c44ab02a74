"""Changes an index: adds, replaces and removes documents, writes and merges segments. One process at a time.

Every change is one commit of the catalogue. A segment is made in this order: its number becomes garbage in the
catalogue (one commit), the file is written and synced in a folder of its own, renamed, the folder synced, and a second
commit lists it. So a process that ends at any point leaves the index as it was before or after the change, and the next
writer deletes what the catalogue lists as garbage. Files are unlinked only after the commit that drops them.

After an error of the disk the writer ends: whether the last commit is on disk is then known only to the next one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lookalike import _core
from lookalike._types import Progress, unheard
from lookalike.archive.catalogue import Catalogue
from lookalike.archive.folder import Folder, segment_name, segment_number
from lookalike.archive.lock import WriterLock
from lookalike.archive.merging import Policy
from lookalike.archive.results import LISTED_IDS
from lookalike.archive.state import Change, SegmentRow, State, count, label, marked
from lookalike.archive.view import SHADOW, View, Views
from lookalike.engines.writing import NO_SPACE, WriteError, writing
from lookalike.errors import ParameterError

MERGING = "merging segments"


@dataclass
class Counts:
    """How many documents were added, replaced and found unchanged, and how many shadows were added."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    #: The first ids that were replaced.
    replaced_ids: list[bytes] = field(default_factory=list)
    shadows: int = 0
    #: The ids of those replaced documents that are among the newest ones.
    repeated: list[bytes] = field(default_factory=list)

    def __iadd__(self, other: Counts) -> Counts:
        self.added += other.added
        self.replaced += other.replaced
        self.unchanged += other.unchanged
        self.replaced_ids += other.replaced_ids[: LISTED_IDS - len(self.replaced_ids)]
        self.shadows += other.shadows
        self.repeated += other.repeated
        return self


#: A document to add: its id, its mark (the hash of its content, and of what else is told of it), and its record. A
#: shadow has no id.
Signed = tuple[bytes | None, bytes, bytes]


class Writer:
    """The process that changes an index. It holds the lock until it is closed."""

    def __init__(self, folder: Folder, catalogue: Catalogue, views: Views, lock: WriterLock, policy: Policy) -> None:
        self._folder, self._catalogue, self._views, self._lock = folder, catalogue, views, lock
        self.policy = policy
        #: Held for a whole change, from the look at what is there to the last commit: threads take turns.
        self.turn = threading.RLock()
        self._has_failed = self._is_closed = False
        # Garbage whose files are gone; the next commit forgets it.
        self._unlinked: set[int] = set()
        self._view = views.latest()
        folder.remove_new()
        self._sweep()
        folder.reserve(policy.reserve)

    @property
    def state(self) -> State:
        """The newest state."""
        return self._view.state

    @property
    def is_own(self) -> bool:
        """Whether this process changes the index, and not the one that it was forked from."""
        return self._lock.is_own

    @property
    def view(self) -> View:
        """A view of the newest state."""
        return self._view

    def check(self) -> None:
        """Refuse a forked process, and a writer that was closed or has failed. Errors: ``ParameterError``."""
        self._lock.check()
        if self._is_closed:
            raise ParameterError(f"index `{self._folder.path}` is closed: open it again")
        if self._has_failed:
            raise ParameterError(
                f"an earlier change of index `{self._folder.path}` failed: close it and open it again, "
                "which shows what is in it"
            )

    def close(self) -> None:
        """Take no more changes; waits for one that another thread is making. In a forked process: do nothing."""
        if self._lock.is_own:
            with self.turn:
                self._is_closed = True

    @contextlib.contextmanager
    def _changing(self, needed: int = 0) -> Iterator[None]:
        """Run a change. After any error in it the writer takes no other one. Errors: with the bytes needed."""
        with self.turn:
            self.check()
            try:
                with writing(self._folder.path, lambda: needed):
                    yield
            except BaseException:
                self._has_failed = True
                raise

    # --- adding ------------------------------------------------------------------------------------------------------

    def add(self, documents: Sequence[Signed], newest: int = 0) -> Counts:
        """Add documents in one commit: new ones, and those that differ from the one with their id.

        ``newest``: how many of the documents that came last count as the newest ones.

        REQUIRES: the document that a shadow follows is in the index or stands before it, and is not replaced here.
        Errors: ``OSError``; nothing is added then.
        """
        with self.turn:
            counts, new, removed = self._compared(documents)
            first = self._view.first_of_last(newest) if removed else 0
            counts.repeated = [id_ for id_, number in removed.items() if newest and number >= first]
            if new:
                with self._changing(2 * sum(len(record) for record in new)):
                    self._append(new, list(removed.values()), counts.shadows)
                    self._tidy()
        return counts

    def _compared(self, documents: Sequence[Signed]) -> tuple[Counts, list[bytes], dict[bytes, int]]:
        """Return the records to append, and ids and numbers of the documents that they replace."""
        ids = list(dict.fromkeys(id_ for id_, _, _ in documents if id_ is not None))
        numbers = dict(zip(ids, self._view.core.find_ids(ids), strict=True))
        found = {id_: number for id_, number in numbers.items() if number is not None}
        latest = {id_: bytes(self._view.core.row(number).mark) for id_, number in found.items()}
        counts, records, place = Counts(), list[bytes | None](), dict[bytes, int]()
        for id_, mark, record in documents:
            if id_ is None:
                counts.shadows += 1
                records.append(record)
                continue
            if latest.get(id_) == mark:
                counts.unchanged += 1
                continue
            if id_ in latest:
                counts.replaced += 1
                counts.replaced_ids.append(id_)
            else:
                counts.added += 1
            if id_ in place:
                records[place[id_]] = None
            latest[id_], place[id_] = mark, len(records)
            records.append(record)
        replaced = {id_: found[id_] for id_ in place if id_ in found}
        return counts, [record for record in records if record is not None], replaced

    def _append(self, records: list[bytes], removed: list[int], shadows: int) -> None:
        """Commit new documents, to the tail or as a segment, and the removal of those that they replace."""
        bitmaps, untailed, fewer = self._marks(removed)
        more = shadows - fewer
        first = self.state.next_arrival
        new = list(enumerate(records, first))
        waiting = [one for one in self._views.tail().documents() if one[0] not in untailed]
        size = sum(len(record) for _, record in waiting) + sum(map(len, records))
        if not self.policy.is_full(len(waiting) + len(new), size):
            change = Change(removed=bitmaps, tail=new, untailed=untailed, arrivals=len(new), shadows=more)
            self._commit(change)
            return
        number = self._begin()
        whole = [*waiting, *new]
        made = self._written(number, whole)
        every = frozenset(self.state.arrivals)
        change = Change(made=[made], removed=bitmaps, untailed=every, arrivals=len(new), shadows=more)
        change.kept = frozenset([made.name])
        self._commit(change)

    def flush(self) -> None:
        """Make the tail a segment."""
        with self.turn:
            self._flush(self._views.tail().documents())

    def _flush(self, waiting: list[tuple[int, bytes]]) -> None:
        if not waiting:
            return
        with self._changing(sum(len(record) for _, record in waiting)):
            made = self._written(self._begin(), waiting)
            arrivals = frozenset(self.state.arrivals)
            self._commit(Change(made=[made], untailed=arrivals, kept=frozenset([made.name])))

    # --- removing ----------------------------------------------------------------------------------------------------

    def remove(self, numbers: Iterable[int], run: str | None = None) -> int:
        """Remove documents by their numbers in ``view``, in one commit; return how many. Errors: ``OSError``.

        Shadows that follow a removed document go with it, and are not counted. ``run`` as in ``Change``.

        REQUIRES: ``turn`` is held since ``view`` was looked at.
        """
        chosen = sorted(set(numbers))
        if chosen or run is not None:
            with self._changing():
                bitmaps, untailed, fewer = self._marks(chosen)
                self._commit_from_reserve(Change(removed=bitmaps, untailed=untailed, shadows=-fewer, run=run))
                self._tidy()
        return len(chosen)

    def note_run(self, run: str) -> None:
        """Note the run of ``dedup`` that has not finished, as in ``State``; empty if it has. Errors: ``OSError``."""
        with self._changing():
            self._commit(Change(run=run))

    def decide_run(self, outputs: str) -> None:
        """Note that the unfinished run is decided, with its outputs (``Pending``). Errors: ``OSError``."""
        with self._changing():
            self._commit(Change(outputs=outputs))

    def _marks(self, numbers: Sequence[int]) -> tuple[dict[int, bytes], frozenset[int], int]:
        """Return new bitmaps of segments, the arrivals that leave the tail, and how many of them are shadows.

        Shadows that follow one of the documents are among them. REQUIRES: the numbers are live.
        """
        rows: dict[int, list[int]] = {}
        arrivals, shadows = [], 0
        segments, core = self.state.segments, self._view.core
        has_shadows = bool(numbers) and core.shadows > 0
        for number in sorted({*numbers, *core.followers(list(numbers))}) if has_shadows else numbers:
            shadows += has_shadows and core.row(number).flags & SHADOW
            part, row = core.place(number)
            if part < len(segments):
                rows.setdefault(part, []).append(row)
            else:
                arrivals.append(self._view.arrival(part - len(segments), row))
        bitmaps = {}
        for part, some in rows.items():
            one = segments[part]
            bitmaps[one.number] = marked(self.state.removed.get(one.number), one.rows, some)
        return bitmaps, frozenset(arrivals), shadows

    # --- merging -----------------------------------------------------------------------------------------------------

    def merge(self, progress: Progress = unheard) -> None:
        """Merge neighbours until the policy is content."""
        with self.turn:
            while run := self.policy.plan(self.state.segments, self.state.removed):
                progress(MERGING, 0, None)
                self._merge(run)

    def _tidy(self) -> None:
        """Merge after a change. Without room for it the segments stay as they are: the change itself is durable."""
        try:
            self.merge()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            self._sweep()

    def compact(self, progress: Progress = unheard) -> None:
        """Make one segment of all documents that fit one, without removed rows, and give free space back."""
        with self._changing(sum(one.length for one in self.state.segments)):
            progress(MERGING, 0, None)
            self.flush()
            for run in self.policy.fitting(self.state.segments, self.state.removed):
                if len(run) > 1 or run[0].number in self.state.removed:
                    self._merge(run)
            self.erase()

    def purge(self, progress: Progress = unheard) -> None:
        """Erase removed documents: rewrite each segment that has some, unlink the old file, clean the catalogue.

        Errors: ``OSError``, also if a file could not be deleted.
        """
        with self._changing(max((one.length for one in self.state.segments), default=0)):
            for done, one in enumerate(self.state.segments):
                progress(MERGING, done, len(self.state.segments))
                if one.number in self.state.removed:
                    self._merge([one])
            self.erase()
        self._check_erased()

    def _check_erased(self) -> None:
        """Errors: ``WriteError`` if a file is left that may hold removed documents."""
        if left := self._folder.remains({one.name for one in self.state.segments}):
            raise WriteError(
                errno.EBUSY,
                f"documents are removed from index `{self._folder.path}`, but these files are left and may hold their "
                f"texts: {', '.join(left)}; delete them, or close whatever has them open and purge again",
            )

    def erase(self) -> None:
        """Delete garbage, and leave no byte of deleted rows in the catalogue and its journal."""
        self._sweep()
        if self._unlinked:
            self._commit(Change())
        self._catalogue.erase()

    def _merge(self, run: Sequence[SegmentRow]) -> None:
        """Replace neighbouring segments by one without their removed rows."""
        removed = self.state.removed
        live = sum(one.rows - count(removed.get(one.number, b"")) for one in run)
        dropped = frozenset(one.number for one in run)
        garbage = frozenset(one.name for one in run)
        if not live:
            self._commit(Change(dropped=dropped, garbage=garbage))
        else:
            number = self._begin()
            numbers = [one.number for one in self.state.segments]
            parts = [self._view.parts[numbers.index(one.number)] for one in run]
            with self._made(number) as path:
                told = self._told(run[0].first, run[-1].last)
                rows, length, seal = _core.merge_segments(parts, path, told, self.policy.memory)
            level = self.policy.tier(length)
            made = SegmentRow(number, seal, length, rows, run[0].first, run[-1].last, level)
            kept = frozenset([made.name])
            self._commit(Change(made=[made], dropped=dropped, garbage=garbage, kept=kept))
        self._sweep()

    def rewrite(
        self, one: SegmentRow, parameters: str, live: int, records: Callable[[str], Iterable[list[bytes]]]
    ) -> None:
        """Replace a segment by one of ``live`` other records, which were made with these parameters.

        ``records`` takes a folder for temporary files. Errors: ``OSError``, and what making the records raises.
        """
        with self._changing(one.length):
            dropped, garbage = frozenset([one.number]), frozenset([one.name])
            # Which of the new records are shadows is counted when it is needed.
            change = Change(dropped=dropped, garbage=garbage, shadows=None)
            if live:
                number = self._begin()
                with self._made(number) as path:
                    told = label(replace(self.state, parameters=parameters), one.first, one.last)
                    rows, length, seal = _pushed(path, told, self.policy.memory, records(os.path.dirname(path)))
                made = SegmentRow(number, seal, length, rows, one.first, one.last, self.policy.tier(length))
                change.made, change.kept = [made], frozenset([made.name])
            self._commit(change)
            self._sweep()

    def set_parameters(self, parameters: str) -> None:
        """Commit other parameters. REQUIRES: all documents were made with them."""
        with self._changing():
            self._commit(Change(parameters=parameters))

    # --- segments ----------------------------------------------------------------------------------------------------

    def _begin(self) -> int:
        """Give out the number of a new segment; it is garbage until it is listed."""
        number = self.state.next_segment
        self._commit(Change(garbage=frozenset([segment_name(number)]), segments=1))
        return number

    def _written(self, number: int, documents: Sequence[tuple[int, bytes]]) -> SegmentRow:
        """Write documents as a segment. REQUIRES: the number was given out."""
        first, last = documents[0][0], documents[-1][0]
        with self._made(number) as path:
            records = [record for _, record in documents]
            told = self._told(first, last)
            rows, length, seal = _core.write_segment(path, records, told, self.policy.memory)
        return SegmentRow(number, seal, length, rows, first, last, self.policy.tier(length))

    def _told(self, first: int, last: int) -> bytes:
        """Return what a segment says of itself: with it ``repair`` can make the catalogue again."""
        return label(self.state, first, last)

    @contextlib.contextmanager
    def _made(self, number: int) -> Iterator[str]:
        """Yield the path where a segment is made; then give it its name, durably."""
        self._folder.check_same()
        workshop, name = self._folder.workshop(number), segment_name(number)
        os.mkdir(workshop)
        yield os.path.join(workshop, name)
        os.rename(os.path.join(workshop, name), self._folder.file(name))
        os.rmdir(workshop)
        self._folder.sync()

    def adopt(self, segment: _core.Segment, dropped: Sequence[int], replaced: list[int]) -> None:
        """Write a segment of another index as one of this index, without some rows, and remove what they replace.

        It is written anew and not copied, because a segment says which index and which arrivals it holds. REQUIRES: the
        tail is empty, so that the numbers of ``replaced`` hold; all shadows are among ``dropped``.
        """
        with self._changing(segment.length):
            number, first = self._begin(), self.state.next_arrival
            kept_rows = segment.rows - len(dropped)
            without = marked(None, segment.rows, dropped) if dropped else None
            with self._made(number) as path:
                told = self._told(first, first + kept_rows - 1)
                rows, length, seal = _core.merge_segments([(segment, without)], path, told, self.policy.memory)
            made = SegmentRow(number, seal, length, rows, first, first + rows - 1, self.policy.tier(length))
            bitmaps, untailed, fewer = self._marks(replaced)
            change = Change(made=[made], removed=bitmaps, untailed=untailed, arrivals=rows, shadows=-fewer)
            change.kept = frozenset([made.name])
            self._commit(change)
            self.merge()

    # --- commits -----------------------------------------------------------------------------------------------------

    def _commit(self, change: Change) -> None:
        """Commit a change, durably. Errors: ``LockedError``, ``OSError``."""
        self._folder.check_same()
        self._lock.check_kept()
        if self._unlinked:
            # A file that is unlinked comes back after a loss of power unless the folder is synced.
            self._folder.sync()
        forgotten = frozenset(segment_name(number) for number in self._unlinked)
        change.kept = change.kept | forgotten
        before = self.state
        if before.shadows is None:
            # A catalogue of an earlier version, or a repaired one: from now on it knows.
            before = replace(before, shadows=self._view.core.shadows)
        state = self._catalogue.apply(before, change)
        self._unlinked.clear()
        view = self._views.show(state, list(change.tail))
        assert view is not None
        self._view = view

    def _commit_from_reserve(self, change: Change) -> None:
        """Commit a removal. On a full disk the journal, and then the reserve, make room for it. Errors: ``OSError``."""
        for make_room in (self._catalogue.write_back, self._folder.give_up_reserve):
            try:
                self._commit(change)
                return
            except OSError as error:
                if error.errno not in NO_SPACE:
                    raise
            with contextlib.suppress(OSError):
                make_room()
        self._commit(change)

    def _sweep(self) -> None:
        """Delete files that the catalogue lists as garbage; those that stay are tried again by the next writer."""
        for name in sorted(self.state.garbage):
            number = segment_number(name)
            if number is not None and number not in self._unlinked and self._folder.unlink(number):
                self._unlinked.add(number)


def _pushed(path: str, told: bytes, memory: int, chunks: Iterable[list[bytes]]) -> tuple[int, int, int]:
    """Write records as a segment, chunk by chunk; return its rows, length and seal."""
    writer = _core.SegmentWriter(path, told, memory)
    try:
        for chunk in chunks:
            writer.push(chunk)
        return writer.finish()
    finally:
        writer.close()
