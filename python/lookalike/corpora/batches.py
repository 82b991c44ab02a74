"""What a source hands over: rows in batches of three kinds, and what was wrong on the way.

A batch holds about ``CHUNK_BYTES``, whatever the file holds; no kind but ``Texts`` has a Python object a row. Every row
of a source is counted, also one whose text is missing or cannot be read: row numbers are those of the file.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, overload

from lookalike._types import Problem, counted
from lookalike.documents.reasons import MIB

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Buffer

#: So much of a file is handed over at a time.
CHUNK_BYTES = 8 * MIB
#: A record with more bytes is not compared; it is passed through to the output a piece at a time.
RECORD_BYTES = 256 * MIB
#: Formats of files, by the names that users give them; what is no file is "arrow".
FORMATS = ("jsonl", "parquet", "csv", "warc", "mbox", "documents", "text")


@dataclass(frozen=True, slots=True)
class Lines:
    """Bytes of a file of lines, as they come: a chunk may begin and end in the middle of a line."""

    data: bytes
    #: Whether nothing follows. The last chunk may be empty.
    last: bool


class Quoted(str):
    """An id that is a string in a file that may have numbers as ids: `"1"` is another one than `1`."""

    __slots__ = ()


class Names(Sequence[str | None]):
    """The ids of a batch, each made when it is asked for: most never are."""

    def __init__(self, rows: int, name: Callable[[int], str | None], column: pa.Array | None = None) -> None:
        self._rows = range(rows)
        self._name = name
        #: The Arrow array of the ids, if there is one.
        self.column = column

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> str | None: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str | None]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str | None] | None:
        if isinstance(at, slice):
            return [self._name(row) for row in self._rows[at]]
        return self._name(self._rows[at])


@dataclass(frozen=True, slots=True)
class Columns:
    """Texts as the three buffers of an Arrow string array; the offsets may begin above 0."""

    #: One bit per row, the lowest first, 0 where there is no text; ``None`` if all rows have one.
    validity: Buffer | None
    #: ``rows + 1`` signed integers in the order of the machine.
    offsets: Buffer
    data: Buffer
    #: Bytes per offset: 4 or 8.
    width: int
    rows: int
    ids: Sequence[str | None] | None = None
    #: The values that decide who survives, where they were asked for; NaN where there is none.
    numbers: Sequence[float] | None = None
    #: Whether the type of the texts is string: they are UTF-8 and never guessed at. Else they are bytes as a file has
    #: them, in any encoding.
    is_text: bool = False
    #: Makes the other columns of all rows, without the text, for metadata; ``None`` if there are none.
    others: Callable[[], Sequence[Mapping[str, Any]]] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Texts:
    """Rows one by one, each with its id; ``None`` where there is no text.

    A ``str`` is Unicode and never guessed at; bytes may have any encoding.
    """

    rows: Sequence[tuple[str | None, bytes | str | None]]
    #: As in ``Columns``.
    numbers: Sequence[float] | None = None


Batch = Lines | Columns | Texts


class Source(Protocol):
    """A file, folder or object with rows. It can be iterated any number of times, and gives the same rows each time."""

    @property
    def name(self) -> str:
        """As the user gave it."""

    @property
    def format(self) -> str:
        """One of ``FORMATS``, or ``arrow``."""

    @property
    def problems(self) -> Sequence[Problem]:
        """What the last iteration met; complete when it has ended."""

    @property
    def size(self) -> int:
        """How many bytes it has, as it lies there; 0 where that is not known."""

    @property
    def done(self) -> int:
        """How many of them the iteration has behind it, about."""

    def batches(self) -> Iterator[Batch]:
        """Yield all rows, in order."""


def mended_note(source: str, line: int, rows: int) -> Problem:
    """Return the remark on texts with parts that are no characters; ``line`` counts the rows of the source from 1."""
    what = "1 text has" if rows == 1 else f"{rows:,} texts from here on have"
    reason = f"{what} parts that are no Unicode characters, such as half a surrogate pair; each was read as U+FFFD"
    return Problem(source, f"line {line}", reason, rows, is_note=True)


def remarks(source: str, notes: Mapping[str, int], what: str) -> list[Problem]:
    """Return one remark for each kind of note of front ends on documents, with the number of these documents."""
    return [Problem(source, "", f"{counted(number, what)}: {note}", is_note=True) for note, number in notes.items()]


def as_bytes(buffer: Buffer) -> memoryview:
    """Return a buffer as unsigned bytes. The core copies what another thread could write to."""
    return memoryview(buffer).cast("B")


def without_texts(rows: int) -> Columns:
    """Return rows that are there but cannot be read."""
    return Columns(bytes((rows + 7) // 8), bytes(4 * (rows + 1)), b"", 4, rows)


def packed(
    texts: Sequence[bytes | None],
    ids: Sequence[str | None] | None,
    numbers: Sequence[float] | None = None,
    *,
    is_text: bool = False,
) -> Columns:
    """Return texts as one batch, without Arrow."""
    offsets = array("q", [0])
    validity = bytearray((len(texts) + 7) // 8)
    total = 0
    for row, text in enumerate(texts):
        if text is not None:
            validity[row >> 3] |= 1 << (row & 7)
            total += len(text)
        offsets.append(total)
    data = b"".join(text for text in texts if text is not None)
    return Columns(bytes(validity), offsets.tobytes(), data, 8, len(texts), ids, numbers, is_text)


def unpacked(batch: Columns) -> list[bytes | None]:
    """Return the texts of a batch one by one: the oracle of whatever reads its buffers."""
    whole = memoryview(batch.offsets).cast("B")
    offsets = whole.cast("i") if batch.width == 4 else whole.cast("q")
    data = memoryview(batch.data)
    validity = None if batch.validity is None else memoryview(batch.validity)
    return [
        bytes(data[offsets[row] : offsets[row + 1]])
        if validity is None or validity[row >> 3] >> (row & 7) & 1
        else None
        for row in range(batch.rows)
    ]
