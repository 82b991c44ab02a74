"""Fingerprints that differ from one in few bits, after Manku, Jain, Das Sarma 2007: a table in memory or in a folder.

A table is a set of rows, each a 64-bit fingerprint and an id. A row that is there is not inserted again, and one that
is not there is not removed, so that repeating either does no harm. What ``save`` returned from is durable: it survives
the end of the process and of the power. What did not return leaves the folder as it was, or as it was to become.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, overload

from lookalike import params
from lookalike._core import Column, HammingBatch, HammingStore, hamming_distances
from lookalike._types import counted
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    # Type checkers know typing_extensions; the installed package does not depend on it.
    from typing_extensions import Buffer

#: Fingerprints or ids: an array of unsigned 64-bit numbers, or any sequence of whole numbers.
Numbers: TypeAlias = "Buffer | Sequence[int]"
Folder: TypeAlias = str | PathLike[str]


@overload
def hamming(left: int, right: int) -> int: ...
@overload
def hamming(left: Numbers, right: Numbers) -> Column: ...
def hamming(left: int | Numbers, right: int | Numbers) -> int | Column:
    """Count the bits in which two fingerprints differ, or those of two columns pair by pair.

    >>> hamming(0b1010, 0b0110), hamming([1, 2, 3], [1, 1, 0])
    (2, [0, 2, 2])
    """
    if isinstance(left, int) and isinstance(right, int):
        distance: int = hamming_distances([left], [right])[0]
        return distance
    if isinstance(left, int) or isinstance(right, int):
        raise ParameterError("a fingerprint cannot be compared with a column: give two of a kind")
    return hamming_distances(left, right)


class Pairs(NamedTuple):
    """Queries and stored fingerprints within a distance, ascending by query and position."""

    #: Numbers of queries, and positions of what was streamed.
    queries: Column
    positions: Column
    #: In how many bits each pair differs.
    distances: Column


class QueryBatch:
    """Many queries, made ready to have fingerprints streamed past them (Manku 2007, §3.3).

    What a chunk gives depends on the queries and the chunk alone, so any number of workers may take chunks of any size.

    >>> batch = QueryBatch([0b0000, 0b1111], distance=1)
    >>> batch.chunk([0b0001, 0b0111, 0b0000], first=100).positions
    [100, 102, 101]
    """

    def __init__(self, queries: Numbers, *, distance: int | None = None) -> None:
        """Build tables on the queries."""
        self._batch = HammingBatch(queries, params.DISTANCE.default if distance is None else distance)

    def __len__(self) -> int:
        return len(self._batch)

    def __repr__(self) -> str:
        return f"<QueryBatch of {counted(len(self), 'query', 'queries')}, distance {self._batch.distance}>"

    def chunk(self, fingerprints: Numbers, first: int = 0) -> Pairs:
        """Find all pairs with fingerprints whose positions are ``first`` and those after it."""
        return Pairs(*self._batch.chunk(fingerprints, first))


class Near(NamedTuple):
    """What is near one fingerprint, ascending by id."""

    ids: Column
    fingerprints: Column
    #: In how many bits each differs.
    distances: Column


class NearBatch(NamedTuple):
    """What is near each of many fingerprints, ascending by number of the query and id."""

    queries: Column
    ids: Column
    distances: Column
    #: For each query, how many fingerprints it was compared with.
    candidates: Column


def _rebuilt(cls: type[HammingTable], *parts: Any) -> HammingTable:
    """Make a table of the rows and the recipe of another."""
    return cls(HammingStore.build(*parts))


class HammingTable:
    """A set of fingerprints with ids that finds all within a distance.

    >>> table = HammingTable.build([0b0000, 0b0011, 0b1111], ids=[7, 8, 9], distance=2)
    >>> table.query(0b0001).ids
    [7, 8]
    >>> table.insert([0b0101], [10]), table.remove([0b0011], [8]), len(table)
    (1, 1, 3)
    >>> table.query_batch([0b0001, 0b1110]).ids
    [7, 10, 9]
    """

    def __init__(self, store: HammingStore) -> None:
        """Use ``build`` or ``open``."""
        self._store = store

    @classmethod
    def build(
        cls,
        fingerprints: Numbers = (),
        ids: Numbers | None = None,
        *,
        distance: int | None = None,
        tables: str | int | None = None,
        hold: str | None = None,
    ) -> Self:
        """Make a table in memory.

        :param ids: one for each fingerprint; by default their numbers from 0 on.
        :param distance: the most bits in which an answer may ever differ.
        :param tables: ``compact``, ``fast``, or how many.
        :param hold: ``plain`` or ``compressed``; ``mapped`` once it is saved.
        """
        tables = params.TABLES.default if tables is None else tables
        design, count = (tables, None) if isinstance(tables, str) else ("", tables)
        distance = params.DISTANCE.default if distance is None else distance
        hold = params.HOLD.default if hold is None else hold
        return cls(HammingStore.build(fingerprints, ids, distance, design, count, hold))

    @classmethod
    def open(cls, folder: Folder, *, write: bool = False, hold: str | None = None) -> Self:
        """Open a table that was saved: to ask it, as it is now, or to change it, which only one process may at a time.

        :param hold: ``plain`` or ``compressed`` read it into memory; ``mapped`` leaves it in its files.
        """
        return cls(HammingStore.open(folder, params.HOLD.default if hold is None else hold, write))

    @staticmethod
    def check(folder: Folder) -> int:
        """Read everything of a table that was saved; how many rows it has. An error names the file that is damaged."""
        return HammingStore.check(folder)

    def insert(self, fingerprints: Numbers, ids: Numbers) -> int:
        """Insert rows; how many were not there."""
        return self._store.insert(fingerprints, ids)

    def remove(self, fingerprints: Numbers, ids: Numbers) -> int:
        """Remove rows; how many were there."""
        return self._store.remove(fingerprints, ids)

    def query(self, fingerprint: int, distance: int | None = None) -> Near:
        """Find all rows within a distance, by default that of the table."""
        if not 0 <= fingerprint < 1 << 64:
            raise ParameterError(f"fingerprint `{fingerprint}` is not one: use 0 to 2^64 − 1")
        return Near(*self._store.query(fingerprint, self.distance if distance is None else distance))

    def query_batch(self, fingerprints: Numbers, distance: int | None = None) -> NearBatch:
        """Find all rows within a distance of each fingerprint, on all cores."""
        return NearBatch(*self._store.query_batch(fingerprints, self.distance if distance is None else distance))

    def rows(self) -> tuple[Column, Column]:
        """Give fingerprints and ids of all rows, ascending."""
        return self._store.rows()

    def compact(self) -> None:
        """Put everything together, so that a query asks in one place, and what was removed takes no more room."""
        self._store.compact()

    def save(self, folder: Folder | None = None) -> None:
        """Make everything durable: in a new folder, where the table then lives, or in the one it lives in."""
        self._store.save(folder)

    def close(self) -> None:
        """Let memory, files and the right to write go; what was not saved is lost."""
        self._store.close()

    @property
    def distance(self) -> int:
        """The most bits in which an answer may differ."""
        return self._store.distance

    @property
    def generation(self) -> int:
        """How often it was saved; 0 in memory."""
        return self._store.generation

    @property
    def nbytes(self) -> int:
        """Bytes in memory, of tables and ids; what is mapped is not counted."""
        tables, ids, _ = self._store.footprint
        return tables + ids

    def __len__(self) -> int:
        return len(self._store)

    def __repr__(self) -> str:
        try:
            where = "in memory" if self.generation == 0 else f"in a folder, generation {self.generation:,}"
            return f"<HammingTable of {counted(len(self), 'row')}, distance {self.distance}, {where}>"
        except ParameterError:
            return "<HammingTable, closed>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Tell pickle how to make the table again from its rows. Errors: ``TypeError`` if it lives in a folder."""
        if self.generation:
            raise TypeError(
                "a table that lives in a folder cannot be pickled or copied: "
                "open it in the other process with HammingTable.open(folder)"
            )
        return _rebuilt, (type(self), *self._store.rows(), *self._store.recipe())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
