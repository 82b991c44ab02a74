"""Reads WARC: each record is a row; pages are compared by their main text, and records are written unchanged.

A file whose records are compressed one by one, as the standard recommends, is copied member by member. One that is
compressed as a whole is expanded into the scratch folder first and compressed again on writing. After a damaged place,
reading continues at the next record found; the bytes between are a row without text.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from lookalike._types import Problem
from lookalike.corpora.batches import CHUNK_BYTES, RECORD_BYTES, Texts
from lookalike.corpora.encodings import Removed
from lookalike.corpora.lines import ChangedError, check_rows, read, reason_of
from lookalike.corpora.places import InPlace, Place
from lookalike.corpora.scratch import Scratch
from lookalike.documents.reasons import RefusedError, in_bytes
from lookalike.errors import MissingExtraError
from lookalike.frontends.html import obstacle_in, stripped

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

#: Records handed over at a time, however small.
_MOST_RECORDS = 1024
#: How a record begins, to find one after a damaged place.
_PLAIN = re.compile(rb"(?<=\r\n\r\n)WARC/1\.[01]\r\n")
_GZIP = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")
#: Overlap of search windows: at least the length of the pattern.
_OVERLAP = 16
_HTML = ("text/html", "application/xhtml+xml")


class WarcSource(InPlace):
    """A WARC file, or a WET file of extracted texts."""

    format = "warc"

    def __init__(self, place: Place, scratch: Scratch) -> None:
        _fastwarc(place.name)
        self.place = place
        self.problems: list[Problem] = []
        self._scratch = scratch
        #: The file that is cut into records: the original or its expansion.
        self._cut: Place | None = None
        #: Compression of the file as a whole.
        self.compression: str | None = None
        #: Offsets of rows in it.
        self._starts = array("q")

    def batches(self) -> Iterator[Texts]:
        """Yield the records; pages and texts come with their text."""
        self.problems.clear()
        self._starts = array("q")
        rows: list[tuple[str | None, bytes | str | None]] = []
        total = 0
        try:
            place = self._prepared()
            with place.open() as file:
                size = place.size()
                for start, record in self._walk(file, size):
                    self._starts.append(start)
                    self.done = self.size * start // size
                    name, text = (None, None) if record is None else self._row(record)
                    rows.append((name, text))
                    total += len(text or "")
                    if total >= CHUNK_BYTES or len(rows) >= _MOST_RECORDS:
                        yield Texts(rows)
                        rows, total = [], 0
        except (RefusedError, OSError) as error:
            self.problems.append(Problem(self.name, "", reason_of(error)))
        if rows:
            yield Texts(rows)

    def kept(self, mask: bytes) -> Iterator[tuple[bytes, list[Removed]]]:
        """Yield kept bytes and removed records. REQUIRES: ``batches`` has ended."""
        check_rows(len(self._starts), len(mask))
        if not mask or self._cut is None:
            return
        at = self.done = 0
        with self._cut.open() as file:
            ends = [*self._starts[1:], self._cut.size()]
            starts = [0, *self._starts[1:]]
            row = 0
            while row < len(mask):
                self.done = self.size * starts[row] // max(ends[-1], 1)
                if not mask[row]:
                    file.seek(starts[row])
                    yield b"", [Removed(row, at, _exactly(file, ends[row] - starts[row]))]
                    row += 1
                    continue
                after = mask.find(0, row)
                after = len(mask) if after < 0 else after
                file.seek(starts[row])
                left = ends[after - 1] - starts[row]
                at += left
                while left:
                    piece = _exactly(file, min(left, CHUNK_BYTES))
                    left -= len(piece)
                    yield piece, []
                row = after

    def _prepared(self) -> Place:
        """Return a file with records that can be copied one by one."""
        if self._cut is None:
            format = self.place.compression()
            if format is None or (format == "gzip" and self._is_by_record()):
                self._cut = self.place
            else:
                path = self._scratch.path()
                with open(path, "wb") as file:
                    file.writelines(read(self, format, self.problems))
                self.compression = format
                self._cut = Place(self.name, path)
        return self._cut

    def _is_by_record(self) -> bool:
        """Return whether the second record of a compressed file, if any, starts its own stream."""
        from fastwarc.warc import ArchiveIterator

        with self.place.open() as file:
            try:
                records = iter(ArchiveIterator(file, parse_http=False))
                next(records, None)
                second = next(records, None)
            except OSError:
                return True
            if second is None:
                return True
            file.seek(second.stream_pos)
            return _GZIP.match(file.read(_OVERLAP)) is not None

    def _walk(self, file: BinaryIO, size: int) -> Iterator[tuple[int, WarcRecord | None]]:
        """Yield offsets and records; ``None`` for damaged parts."""
        from fastwarc.warc import ArchiveIterator

        is_plain = self._cut is not self.place or self.place.compression() is None
        marker = _PLAIN if is_plain else _GZIP
        at: int | None = 0
        is_damage = False
        while at is not None and at < size:
            file.seek(at)
            last, reason = None, ""
            try:
                for record in ArchiveIterator(file, parse_http=False):
                    last, is_damage = record.stream_pos, not _is_whole(record, size if is_plain else None)
                    yield last, None if is_damage else record
                    if is_damage:
                        reason = "cut short, or its length is wrong"
                        break
                else:
                    return
            except OSError as error:
                reason = f"damaged: {str(error).rstrip('.').lower()}"
            if last is None and not is_damage:
                is_damage = True
                yield at, None
            self._report(at if last is None else last, reason)
            at = _next(file, (at if last is None else last) + 1, marker)

    def _report(self, at: int, reason: str) -> None:
        self.problems.append(Problem(self.name, f"byte {at:,}", f"{reason}; reading continues at the next record", 1))

    def _row(self, record: WarcRecord) -> tuple[str | None, bytes | str | None]:
        name = record.headers.get("WARC-Target-URI") or record.record_id
        if _declared(record) > RECORD_BYTES:
            reason = f"larger than {in_bytes(RECORD_BYTES)}; it is not compared"
            self.problems.append(Problem(self.name, f"byte {record.stream_pos:,}", reason, 1))
            return name, None
        try:
            return name, _text(record)
        except (OSError, ValueError) as error:
            reason = f"damaged: {str(error).rstrip('.').lower()}; it is not compared"
            self.problems.append(Problem(self.name, f"byte {record.stream_pos:,}", reason, 1))
            return name, None


def _fastwarc(name: str) -> None:
    """Errors: ``MissingExtraError`` if the WARC packages are not installed."""
    try:
        with warnings.catch_warnings():
            # The package warns about its own deprecated names on import.
            warnings.simplefilter("ignore", DeprecationWarning)
            import fastwarc
            import resiliparse
    except ImportError:
        raise MissingExtraError(f"reading `{name}`", "data") from None
    del fastwarc, resiliparse


def _declared(record: WarcRecord) -> int:
    length = record.headers.get("Content-Length") or ""
    return int(length) if length.isdecimal() and len(length) < _OVERLAP else -1


def _is_whole(record: WarcRecord, end: int | None) -> bool:
    """Return whether a record has its declared length, and hold it; a too large one is skipped."""
    declared = _declared(record)
    if declared > RECORD_BYTES:
        return end is None or record.stream_pos + declared <= end
    record.freeze()
    return bool(record.content_length == declared)


def _text(record: WarcRecord) -> bytes | str | None:
    """Return the text of a page or text record, ``None`` for others. Errors: ``OSError``, ``ValueError``."""
    from fastwarc.warc import WarcRecordType

    if record.record_type in (WarcRecordType.conversion, WarcRecordType.resource):
        kind = (record.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        data = record.reader.read(RECORD_BYTES)
        return _visible(data, None) if kind in _HTML else data if kind.startswith("text/") else None
    if record.record_type != WarcRecordType.response or not record.is_http:
        return None
    record.parse_http(auto_decode="all")
    kind = (record.http_content_type or "").lower()
    if kind not in _HTML and kind != "text/plain":
        return None
    data = record.reader.read(RECORD_BYTES + 1)
    if len(data) > RECORD_BYTES:
        raise ValueError(f"expands beyond {in_bytes(RECORD_BYTES)}")
    return _visible(data, record.http_charset) if kind in _HTML else data


def _visible(data: bytes, charset: str | None) -> str:
    """Return the main text of a page; all its text if no main part is found, or if it nests too deep to be parsed."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    page = bytes_to_str(data, charset or detect_encoding(data) or "utf-8")
    if obstacle_in(page) is not None:
        return stripped(page)
    main = extract_plain_text(page, main_content=True, links=False)
    return str(main or extract_plain_text(page, links=False))


def _next(file: BinaryIO, start: int, marker: re.Pattern[bytes]) -> int | None:
    """Return where the next record may begin, at ``start`` or later."""
    before = min(start, _OVERLAP)
    file.seek(start - before)
    held, base = b"", start - before
    while piece := file.read(CHUNK_BYTES):
        held += piece
        found = marker.search(held, max(0, start - base))
        if found:
            return base + found.start()
        base += max(0, len(held) - _OVERLAP)
        held = held[-_OVERLAP:]
    return None


def _exactly(file: BinaryIO, size: int) -> bytes:
    parts = []
    while size:
        part = file.read(size)
        if not part:
            raise ChangedError("the input is shorter than in the first pass: it changed in between")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
