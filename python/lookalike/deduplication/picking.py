"""Reads single rows of a corpus again, by a pass over its sources: their names, and texts on demand."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from lookalike import _core
from lookalike.corpora.arrays import USUAL_ID, value_at
from lookalike.corpora.batches import Batch, Columns, Lines, Quoted, Source, Texts, unpacked
from lookalike.corpora.lines import LineSource
from lookalike.corpora.parquet import ParquetSource
from lookalike.corpora.texts import TextSource
from lookalike.deduplication.reading import Stretch


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


_JSON = json.JSONDecoder(parse_int=_Number, parse_float=_Number)


class Row(NamedTuple):
    """The name and text of a row."""

    #: Its id, or else file and line.
    name: str
    text: str | None
    #: Whether it has an id.
    is_named: bool = True


class Reading(Protocol):
    """The columns that are read."""

    @property
    def text_column(self) -> str:
        """The column of texts."""

    @property
    def id_column(self) -> str | None:
        """The column of ids, if one was named."""


Picked = Iterator[tuple[int, str | None, str | None]]


def pick(
    stretches: Iterable[Stretch],
    wanted: Iterable[int],
    settings: Reading,
    *,
    texts: bool = False,
    tell: Callable[[int], None] = lambda done: None,
) -> dict[int, Row]:
    """Return the wanted rows, by number. Cost: one pass over the sources that hold any of them.

    ``tell`` is told how many bytes are done.
    """
    rows = sorted(set(wanted))
    found: dict[int, Row] = {}
    before = 0
    for stretch in stretches:
        start, end = (bisect_left(rows, row) for row in (stretch.first, stretch.first + stretch.rows))
        if start < end:
            own = [row - stretch.first for row in rows[start:end]]
            for row, name, text in rows_of(stretch, own, settings, texts):
                found[stretch.first + row] = Row(name or f"{stretch.source.name}:{row + 1}", text, bool(name))
                tell(before + stretch.source.done)
        before += stretch.source.size
        tell(before)
    return found


def rows_of(stretch: Stretch, wanted: Iterable[int], settings: Reading, texts: bool) -> Picked:
    """Yield number, id and text of the wanted rows of one source; ``None`` for a missing id or text.

    Nothing is read after the last of them.
    """
    wanted = sorted(wanted)
    for found in _rows_until_end(stretch, wanted, settings, texts):
        yield found
        if found[0] == wanted[-1]:
            return


def _rows_until_end(stretch: Stretch, wanted: list[int], settings: Reading, texts: bool) -> Picked:
    mask = bytearray(b"\1") * stretch.rows
    for row in wanted:
        mask[row] = 0
    lines = _core.LineFilter(bytes(mask))
    at = 0
    source = stretch.source
    for batch in _batches(source, texts):
        if isinstance(batch, Lines):
            yield from _of_lines(lines, batch, settings, texts)
        else:
            rows = batch.rows if isinstance(batch, Columns) else len(batch.rows)
            own = [row - at for row in wanted[bisect_left(wanted, at) : bisect_left(wanted, at + rows)]]
            yield from _of_columns(batch, own, at, texts) if isinstance(batch, Columns) else _of_texts(batch, own, at)
            at += rows


def _batches(source: Source, texts: bool) -> Iterator[Batch]:
    # Only tables and folders can be read for their ids alone.
    if isinstance(source, ParquetSource | TextSource) and not texts:
        return source.named()
    return source.pieces() if isinstance(source, LineSource) else source.batches()


def _of_columns(batch: Columns, own: list[int], at: int, texts: bool) -> Picked:
    held = unpacked(batch) if texts and own else None
    for row in own:
        text = held[row] if held is not None else None
        yield at + row, batch.ids[row] if batch.ids is not None else None, _shown(text)


def _of_texts(batch: Texts, own: list[int], at: int) -> Picked:
    for row in own:
        name, text = batch.rows[row]
        yield at + row, name, _shown(text)


def _shown(text: bytes | str | None) -> str | None:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _of_lines(lines: _core.LineFilter, batch: Lines, settings: Reading, texts: bool) -> Picked:
    column = settings.id_column or USUAL_ID
    if texts:
        for row, line in lines.pick(batch.data, batch.last):
            yield row, _name(_value(line, column)), _text(line, settings)
    else:
        for row, found in lines.values(batch.data, batch.last, column):
            yield row, _name(_loaded(found) if isinstance(found, str) else _value(found, column)), None


def _loaded(text: str) -> Any:
    try:
        return _JSON.decode(text)
    except (ValueError, RecursionError):
        return None


def _value(line: bytes, column: str) -> Any:
    """Return the value of a column of a line; ``None`` if it has none."""
    try:
        found = _loaded(line.decode(json.detect_encoding(line), "surrogatepass"))
    except ValueError:
        return None
    return value_at(found, column)


def _name(value: Any) -> str | None:
    if value is None or isinstance(value, _Number):
        return value
    return Quoted(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(line: bytes, settings: Reading) -> str | None:
    value = _value(line, settings.text_column)
    return value if isinstance(value, str) else None
