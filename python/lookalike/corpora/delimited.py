"""Reads CSV and TSV. A quote-aware pattern cuts records, so that each record is written with its original bytes.

A row is a record after the header, with its line end; a blank line is a row too. A quote opens a field only at its
start (RFC 4180); elsewhere it is an ordinary character. The pattern never backtracks, so that a chunk takes time linear
in its bytes. An incomplete record waits for the next chunk; beyond ``RECORD_BYTES`` it is passed through unread, in
pieces.
"""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, cast

from lookalike._types import Problem
from lookalike.corpora.arrays import Wanted
from lookalike.corpora.batches import RECORD_BYTES, Columns, Names, packed, without_texts
from lookalike.corpora.compression import by_suffix
from lookalike.corpora.encodings import Coding, Removed, Rewriter, legacy, unmarked
from lookalike.corpora.lines import check_rows, read
from lookalike.corpora.places import InPlace, Place
from lookalike.corpora.written import number_in
from lookalike.documents.reasons import MIB, in_bytes

_DELIMITERS = b",;\t|"
#: Text inside quotes; the next quote closes it, or is the first of two at the end of the data.
_INSIDE = re.compile(rb'[^"]*+(?:""[^"]*+)*+')
#: Longest header that is accepted.
_HEADER_BYTES = 16 * MIB


class Cut(NamedTuple):
    """Consecutive records that fill ``data`` completely."""

    data: bytes
    #: Empty for a piece of an overlong record.
    records: list[re.Match[bytes]]
    #: Whether a record ends here; false only for a piece.
    is_end: bool = True


class Dialect:
    """How records and fields are separated for one delimiter."""

    def __init__(self, delimiter: bytes) -> None:
        self._at = re.escape(delimiter)
        bare = rb"[^%b\r\n]*+" % self._at
        self._field = rb'(?:"%b"%b|(?!")%b)' % (_INSIDE.pattern, bare, bare)
        self.fields = re.compile(rb"(?:\A|(?<=%b))%b" % (self._at, self._field))
        self.stops = re.compile(rb"[%b\r\n]" % self._at)

    def record(self, *wanted: int) -> re.Pattern[bytes]:
        """Return the pattern of a record with its end; its groups are the fields with the given numbers, ascending.

        The groups of a record that has too few fields are empty.
        """
        parts, passed = [], 0
        for number in wanted:
            parts.append(rb"(?:%b%b){%d}(%b)" % (self._field, self._at, number - passed, self._field))
            passed = number + 1
        rest = rb"(?:%b%b)*+" % (self._at, self._field)
        long = rb"%b%b|" % (self._at.join(parts), rest) if wanted else b""
        return re.compile(rb"(?:%b%b%b)(?:\r\n|\n|\r|\Z)" % (long, self._field, rest))


def cuts(chunks: Iterator[bytes], dialect: Dialect, *wanted: int, most: int = RECORD_BYTES) -> Iterator[Cut]:
    """Cut bytes into records. One that has more than ``most`` bytes, or a quote that is never closed, is in pieces."""
    pattern = dialect.record(*wanted)
    waiting: list[bytes] = []
    held, enough = 0, 0
    for chunk in chunks:
        waiting.append(chunk)
        held += len(chunk)
        if held < enough:
            continue
        data = b"".join(waiting)
        records, end = _records(data, pattern, last=False)
        if end:
            yield Cut(data[:end], records)
        rest = data[end:]
        if len(rest) > most:
            rest = yield from _passed(rest, chunks, dialect)
        # Search again only when the data has doubled, so that the total work is linear.
        waiting, held, enough = [rest], len(rest), min(2 * len(rest), most + 1)
    data = b"".join(waiting)
    records, end = _records(data, pattern, last=True)
    if end:
        yield Cut(data[:end], records)
    if data[end:]:
        yield Cut(data[end:], [])


def _records(held: bytes, pattern: re.Pattern[bytes], *, last: bool) -> tuple[list[re.Match[bytes]], int]:
    """Return the whole records at the beginning, and where they end. A ``\\r`` at the end may be half of one."""
    records, end = [], 0
    while end < len(held) and (record := pattern.match(held, end)):
        if record.end() == len(held) and not last and held[-1:] != b"\n":
            break
        records.append(record)
        end = record.end()
    return records, end


def _passed(held: bytes, chunks: Iterator[bytes], dialect: Dialect) -> Generator[Cut, None, bytes]:
    """Yield an overlong record in pieces, and return the data after it."""
    state = "start"
    piece: bytes | None = held
    while piece is not None:
        end, state = _end(piece, state, dialect)
        if end is not None:
            yield Cut(piece[:end], [])
            return piece[end:]
        yield Cut(piece, [], is_end=False)
        piece = next(chunks, None)
    yield Cut(b"", [])
    return b""


def _end(data: bytes, state: str, dialect: Dialect) -> tuple[int | None, str]:
    """Return where a record ends, or the parser state at the end of the data."""
    at = 0
    while at < len(data):
        byte = data[at : at + 1]
        if state == "return":
            return at + (byte == b"\n"), state
        if state == "start":
            state, at = ("quoted", at + 1) if byte == b'"' else ("bare", at)
        elif state == "quoted":
            at = cast(re.Match[bytes], _INSIDE.match(data, at)).end()
            state, at = (state, at) if at == len(data) else ("quote", at + 1)
        elif state == "quote":
            state, at = ("quoted", at + 1) if byte == b'"' else ("bare", at)
        elif stop := dialect.stops.search(data, at):
            if stop[0] == b"\n":
                return stop.end(), state
            state, at = "return" if stop[0] == b"\r" else "start", stop.end()
        else:
            return None, state
    return None, state


def value(field: bytes | None) -> bytes | None:
    """Return the text of a field."""
    if field is None or not field.startswith(b'"'):
        return field
    end = field.rfind(b'"')
    return field[1:end].replace(b'""', b'"') + field[end + 1 :]


@dataclass
class CsvSource(InPlace):
    """A file of records with a header."""

    place: Place
    compression: str | None
    wanted: Wanted
    problems: list[Problem] = field(default_factory=list)
    format: str = "csv"
    _coding: Coding = field(default=Coding(), init=False)
    #: Its encoding, where that is neither UTF-8 nor translated while it is read.
    _legacy: str | None = field(default=None, init=False)

    def batches(self) -> Iterator[Columns]:
        """Yield the texts of all records after the header."""
        self.problems.clear()
        header, dialect, chunks = self._opened(self.problems)
        if not header:
            return
        wanted = self._columns(header, dialect)
        fields = sorted({field for field in wanted if field is not None})
        text, name, number = (None if field is None else fields.index(field) + 1 for field in wanted)
        row = 0
        for cut in cuts(chunks, dialect, *fields):
            if cut.records:
                made = self._batch(cut, row, text or 0, name, number)
                yield replace(made, others=partial(self._others, cut.records, header, dialect))
            elif cut.is_end:
                reason = f"a quote is never closed, or more than {in_bytes(RECORD_BYTES)}; it is not compared"
                self.problems.append(Problem(self.name, f"row {row}", reason, 1))
                yield without_texts(1)
            row += len(cut.records) or cut.is_end

    def _batch(self, cut: Cut, row: int, text: int, name: int | None, number: int | None) -> Columns:
        """Return the texts, names and numbers of records from the groups of their patterns."""
        records = cut.records
        texts = [self._text(value(record[text])) for record in records]
        short = [at for at, one in enumerate(texts) if one is None and not _is_blank(records[at])]
        if short:
            reason = f"{len(short):,} records from here on have too few fields; they are not compared"
            self.problems.append(Problem(self.name, f"row {row + short[0]}", reason, len(short)))
        ids = None if name is None else Names(len(records), lambda at: self._name(value(records[at][name])))
        numbers = (
            None if number is None else array("d", [number_in(value(record[number]) or b"") for record in records])
        )
        return packed(texts, ids, numbers, is_text=True)

    def _others(self, records: Sequence[re.Match[bytes]], header: bytes, dialect: Dialect) -> list[dict[str, str]]:
        """Return all columns of records but the text."""
        names = self._names(header, dialect)
        text = self._columns(header, dialect)[0]
        made = []
        for record in records:
            fields = [self._name(value(one[0])) or "" for one in dialect.fields.finditer(record[0].rstrip(b"\r\n"))]
            made.append({name: one for at, (name, one) in enumerate(zip(names, fields, strict=False)) if at != text})
        return made

    def _text(self, field: bytes | None) -> bytes | None:
        """Return a field as UTF-8, by the encoding of the file: fields are not guessed at one by one."""
        return field if self._legacy is None or field is None else field.decode(self._legacy, "replace").encode()

    def _name(self, field: bytes | None) -> str | None:
        return None if field is None else field.decode(self._legacy or "utf-8", "backslashreplace")

    def kept(self, mask: bytes) -> Iterator[tuple[bytes, Sequence[Removed]]]:
        """Yield the header, the records that the mask keeps, and the removed ones."""
        parts = self._kept(mask)
        header = next(parts)
        rewriter = Rewriter(self._coding)
        yield self._coding.mark, []
        for part in itertools.chain([header], parts):
            yield rewriter.feed(*part)

    def _kept(self, mask: bytes) -> Iterator[tuple[bytes, list[Removed]]]:
        """Yield the same as UTF-8, without a mark."""
        self.problems.clear()
        header, dialect, chunks = self._opened(self.problems)
        yield header, []
        row, at = 0, len(header)
        for cut in cuts(chunks, dialect):
            rows = len(cut.records) or cut.is_end
            if row + rows > len(mask):
                check_rows(row + rows, len(mask))
            removed: list[Removed] = []
            data = cut.data
            if mask.find(0, row, row + rows) >= 0 and cut.records:
                data, removed = _without(cut, mask[row : row + rows], row, at)
            yield data, removed
            row, at = row + rows, at + len(data)
        check_rows(row, len(mask))

    def check(self) -> None:
        """Errors: ``ParameterError`` if a column is missing."""
        header, dialect, _ = self._opened([])
        self.done = 0
        if header:
            self._columns(header, dialect)

    def _opened(self, problems: list[Problem]) -> tuple[bytes, Dialect, Iterator[bytes]]:
        """Read the beginning: return the header's bytes, the format of the file, and the data after the header."""
        self._coding, chunks = unmarked(read(self, self.compression, problems), self.name, problems)
        first = next(chunks, b"")
        self._legacy = legacy(first)
        return self._header(itertools.chain([first], chunks))

    def _header(self, chunks: Iterator[bytes]) -> tuple[bytes, Dialect, Iterator[bytes]]:
        """Return the header's bytes, the format of the file, and the data after the header."""
        held = b""
        dialect = Dialect(_DELIMITERS[:1])
        for chunk in chunks:
            held += chunk
            dialect = Dialect(_delimiter(held, self.place.name))
            header = dialect.record().match(held)
            if header and (header.end() < len(held) or held.endswith(b"\n")):
                return header[0], dialect, itertools.chain([held[header.end() :]], chunks)
            if len(held) > _HEADER_BYTES:
                break
        return held, dialect, chunks

    def _names(self, header: bytes, dialect: Dialect) -> list[str]:
        """Return the names of the columns."""
        fields = dialect.fields.finditer(header.rstrip(b"\r\n"))
        return [(value(field[0]) or b"").decode(self._legacy or "utf-8", "replace") for field in fields]

    def _columns(self, header: bytes, dialect: Dialect) -> tuple[int, int | None, int | None]:
        """Return the field numbers of text, id and number."""
        names = self._names(header, dialect)
        text, name, number = self.wanted.among(names, self.name)
        name_at, number_at = (None if one is None else names.index(one) for one in (name, number))
        return names.index(text), name_at, number_at


def _delimiter(head: bytes, name: str) -> bytes:
    """Return the most frequent delimiter of the first line; by default a comma, or a tab for TSV."""
    line = head.partition(b"\n")[0]
    usual = b"\t" if by_suffix(name.lower())[0].endswith(".tsv") else b","
    return max((usual, *(bytes([one]) for one in _DELIMITERS)), key=line.count)


def _is_blank(record: re.Match[bytes]) -> bool:
    return not record[0].strip(b"\r\n")


def _without(cut: Cut, mask: bytes, row: int, at: int) -> tuple[bytes, list[Removed]]:
    """Return the kept bytes of some records, and the removed records."""
    kept, removed = [], []
    for number, (keep, record) in enumerate(zip(mask, cut.records, strict=True)):
        if keep:
            kept.append(record[0])
            at += len(record[0])
        else:
            removed.append(Removed(row + number, at, record[0]))
    return b"".join(kept), removed
