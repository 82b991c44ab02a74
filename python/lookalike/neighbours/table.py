"""Tables that find all fingerprints within a few bits, after Manku, Jain, Das Sarma 2007; in memory or in a folder.

A table is a set of rows, each a 64-bit fingerprint and an id, a number or a string. Inserting a row twice, or removing
one that is not there, changes nothing. When ``save`` returns, the table survives a crash of the process or the machine.
When ``save`` does not return, the folder holds either the old table or the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, overload

from lookalike import params
from lookalike._core import Column, HammingBatch, HammingStore, hamming_distances
from lookalike._types import counted
from lookalike.corpora.arrays import buffers_of
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    # Type checkers know typing_extensions; the installed package does not depend on it.
    from typing_extensions import Buffer

#: Fingerprints or ids: an array of unsigned 64-bit numbers, or any sequence of whole numbers.
Numbers: TypeAlias = "Buffer | Sequence[int]"
#: Ids: numbers or strings; a list of strings, a column of this package, or an Arrow array.
Ids: TypeAlias = "Buffer | Sequence[int] | Sequence[str] | Column"
Folder: TypeAlias = str | PathLike[str]


@overload
def hamming(a: int, b: int) -> int: ...
@overload
def hamming(a: Numbers, b: Numbers) -> Column: ...
def hamming(a: int | Numbers, b: int | Numbers) -> int | Column:
    """Count the bits in which two fingerprints differ, or two columns of fingerprints row by row.

    :param a: A fingerprint, or a column of them.
    :param b: The other fingerprint, or a column of the same length.
    :returns: The number of bits, or a column of such numbers.
    :raises ParameterError: One is a fingerprint and the other a column, or the columns differ in length.

    >>> hamming(0b1010, 0b0110), hamming([1, 2, 3], [1, 1, 0])
    (2, [0, 2, 2])
    """
    if isinstance(a, int) and isinstance(b, int):
        distance: int = hamming_distances([a], [b])[0]
        return distance
    if isinstance(a, int) or isinstance(b, int):
        raise ParameterError("a fingerprint cannot be compared with a column: give two fingerprints or two columns")
    return hamming_distances(a, b)


class Pairs(NamedTuple):
    """Queries and stored fingerprints within a distance, ascending by query and position."""

    #: Numbers of queries, and positions of streamed fingerprints.
    queries: Column
    positions: Column
    #: Bits in which each pair differs.
    distances: Column


class QueryBatch:
    """Many queries, prepared for streaming fingerprints past them (Manku 2007, §3.3).

    The result for a chunk depends only on the queries and the chunk. So any number of workers may take chunks of any
    size.

    :param queries: The fingerprints to look for.
    :param distance: The most bits in which a pair may differ, 0 to 10. Default: 3.
    :raises ParameterError: A parameter is out of range.

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
        """Find all pairs with these fingerprints; the first of them has the position ``first``."""
        return Pairs(*self._batch.chunk(fingerprints, first))


def _given(ids: Any) -> Any:
    """Return ids as the core takes them: the buffers of an Arrow array of strings, else what was given."""
    if not hasattr(ids, "__arrow_c_array__") or isinstance(ids, Column):
        return ids
    import pyarrow as pa

    found = pa.array(ids)
    if not (pa.types.is_string(found.type) or pa.types.is_large_string(found.type)):
        return ids
    return *buffers_of(found), len(found)


class Near(NamedTuple):
    """The rows near one fingerprint, ascending by id; ids are numbers or strings, as the table has them."""

    ids: Column
    fingerprints: Column
    #: Bits in which each differs.
    distances: Column


class NearBatch(NamedTuple):
    """The rows near each of many fingerprints, ascending by query and id."""

    queries: Column
    ids: Column
    distances: Column
    #: For each query, how many fingerprints it was compared with.
    candidates: Column


def _rebuilt(cls: type[HammingTable], *parts: Any) -> HammingTable:
    """Make a table of the rows and the recipe of another."""
    return cls(HammingStore.build(*parts))


class HammingTable:
    """A set of fingerprints with ids that finds all of them within a distance.

    ``HammingTable.build`` makes one in memory, ``HammingTable.open`` opens a saved one.

    >>> table = HammingTable.build([0b0000, 0b0011, 0b1111], ids=[7, 8, 9], distance=2)
    >>> table.query(0b0001).ids
    [7, 8]
    >>> table.insert([0b0101], [10]), table.remove([0b0011], [8]), len(table)
    (1, 1, 3)
    >>> table.query_batch([0b0001, 0b1110]).ids
    [7, 10, 9]
    >>> HammingTable.build([0b0000, 0b0011], ids=["https://a.example", "https://b.example"]).query(0b0111, 1).ids
    ['https://b.example']
    """

    def __init__(self, store: HammingStore) -> None:
        """Use ``build`` or ``open``."""
        self._store = store

    @classmethod
    def build(
        cls,
        fingerprints: Numbers = (),
        ids: Ids | None = None,
        *,
        distance: int | None = None,
        tables: str | int | None = None,
        hold: str | None = None,
    ) -> Self:
        """Make a table in memory.

        :param fingerprints: The fingerprints; more can be inserted later.
        :param ids: One id per fingerprint, all whole numbers or all strings; by default their indices, from 0.
        :param distance: The most bits in which an answer may ever differ. Default: 3.
        :param tables: ``compact``, ``fast``, or how many. Default: ``compact``.
        :param hold: ``plain`` or ``compressed``; ``mapped`` once it is saved. Default: ``plain``.
        :raises ParameterError: A parameter is out of range.
        """
        tables = params.TABLES.default if tables is None else tables
        design, count = (tables, None) if isinstance(tables, str) else ("", tables)
        distance = params.DISTANCE.default if distance is None else distance
        hold = params.HOLD.default if hold is None else hold
        return cls(HammingStore.build(fingerprints, _given(ids), distance, design, count, hold))

    @classmethod
    def open(cls, folder: Folder, *, write: bool = False, hold: str | None = None) -> Self:
        """Open a saved table.

        :param folder: The folder it was saved in.
        :param write: Read-only snapshot by default; ``True`` opens it exclusively, for changes.
        :param hold: ``plain`` or ``compressed`` read it into memory; ``mapped`` leaves it in its files.
        :raises FormatError: The table is damaged or of another version.
        :raises LockedError: Another process has it open for writing.
        :raises OSError: A file cannot be read.
        """
        return cls(HammingStore.open(folder, params.HOLD.default if hold is None else hold, write))

    @staticmethod
    def check(folder: Folder) -> int:
        """Read all files of a saved table and return its number of rows. An error names the damaged file."""
        return HammingStore.check(folder)

    def insert(self, fingerprints: Numbers, ids: Ids) -> int:
        """Insert rows; return how many were new. Ids are of the kind that the table has, numbers or strings."""
        return self._store.insert(fingerprints, _given(ids))

    def remove(self, fingerprints: Numbers, ids: Ids) -> int:
        """Remove rows; return how many were there. A string stays in the files until ``compact`` and ``save``."""
        return self._store.remove(fingerprints, _given(ids))

    def query(self, fingerprint: int, distance: int | None = None) -> Near:
        """Find all rows within a distance of one fingerprint; default: the distance of the table."""
        if not 0 <= fingerprint < 1 << 64:
            raise ParameterError(f"fingerprint `{fingerprint}` is out of range: use 0 to 2^64 − 1")
        return Near(*self._store.query(fingerprint, self.distance if distance is None else distance))

    def query_batch(self, fingerprints: Numbers, distance: int | None = None) -> NearBatch:
        """Find all rows within a distance of each fingerprint, on all cores."""
        return NearBatch(*self._store.query_batch(fingerprints, self.distance if distance is None else distance))

    def rows(self) -> tuple[Column, Column]:
        """Return the fingerprints and ids of all rows, ascending."""
        return self._store.rows()

    def compact(self) -> None:
        """Merge all parts into one, so that queries are faster and removed rows take no space."""
        self._store.compact()

    def save(self, folder: Folder | None = None) -> None:
        """Write the table to disk: to a new folder, which it then belongs to, or to the folder it belongs to."""
        self._store.save(folder)

    def close(self) -> None:
        """Release memory, files and the write lock; changes that were not saved are lost."""
        self._store.close()

    @property
    def distance(self) -> int:
        """The most bits in which an answer may differ."""
        return self._store.distance

    @property
    def is_named(self) -> bool:
        """Whether its ids are strings."""
        return self._store.is_named

    @property
    def generation(self) -> int:
        """How many times it was saved; 0 for a table in memory."""
        return self._store.generation

    @property
    def nbytes(self) -> int:
        """Bytes of tables and ids in memory; mapped files are not counted."""
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
