"""Texts that a caller holds → batches for the core: lists and iterables, files given as ``Path``, columns of Arrow.

A column of pyarrow, polars or pandas goes to the core as its buffers, without a Python object per row, if pyarrow is
installed and can hold it; else it is read like a list. A value that is null is a document that cannot be read.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lookalike import documents
from lookalike.corpora.arrays import buffers_of, is_string, strings_of
from lookalike.corpora.batches import as_bytes
from lookalike.errors import FrontendError, ParameterError
from lookalike.frontends import installed

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Buffer

Text: TypeAlias = str | bytes | bytearray | memoryview
#: What a list or column may hold: texts, files, and nothing.
Given: TypeAlias = Text | os.PathLike[str] | None
#: The buffers of a column as the core takes them: validity, offsets, data, bytes per offset, rows, whether it is text.
Strings: TypeAlias = "tuple[Buffer | None, Buffer, Buffer, int, int, bool]"
Batch: TypeAlias = "list[Text | None] | Strings"

#: Bytes of text a thread takes at a time: enough to make the hand-over free, little enough to balance.
BATCH_BYTES = 1 << 20
#: A longer string is no path, and a longer part of a path is no name.
MAX_PATH, MAX_NAME = 4096, 255
#: So many strings of a list tell whether they are paths.
LOOKED_AT = 100


def batches(texts: Iterable[Given], *, whole: bool = False) -> Iterator[Batch]:
    """Cut documents into batches of about ``BATCH_BYTES``; with ``whole`` a list of texts stays one batch.

    Errors: ``ParameterError`` for a list of strings that name files, and for a column that holds no texts.
    """
    if isinstance(texts, str | bytes | bytearray | memoryview):
        raise ParameterError("one text was given where several are taken: put it in a list")
    column = column_of(texts)
    if column is not None:
        for chunk in column.chunks:
            yield from _pieces(strings_of(chunk, "texts"))
        return
    if isinstance(texts, list | tuple):
        refuse_paths(texts)
    if whole and isinstance(texts, list) and set(map(type, texts)) <= {str, bytes}:
        yield texts
    else:
        yield from _gathered(texts)


def _gathered(texts: Iterable[Given]) -> Iterator[list[Text | None]]:
    batch: list[Text | None] = []
    size = 0
    for given in texts:
        # Exact types, because asking for more takes as long as the rest of the loop.
        text = given if type(given) is str or type(given) is bytes else _loaded(given)
        batch.append(text)
        size += len(text or "")
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _loaded(given: Given) -> Text | None:
    """Read a file; what stands for no value becomes ``None``."""
    if isinstance(given, os.PathLike):
        return read_file(given)
    return None if is_missing(given) else given


def read_file(path: os.PathLike[str] | str) -> str | bytes:
    """Return the readable text of a file, by its format: the bytes themselves for text and code.

    Errors: ``FrontendError`` that names the file, ``OSError``.
    """
    name = os.fspath(path)
    data = documents.read(name)
    try:
        return installed().extract(name, data).text
    except FrontendError as error:
        raise FrontendError(f"`{name}`: {error}") from None


def is_missing(value: object) -> bool:
    """Tell whether a value stands for none: pandas has several that do."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"


def speaks_arrow(given: Any) -> bool:
    """Tell whether an object hands out Arrow."""
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


def library_of(given: Any) -> str:
    """Return the package that an object is of; a class derived from a frame or column is of the package of that."""
    packages = [kind.__module__.partition(".")[0] for kind in type(given).__mro__]
    return next((package for package in packages if package in ("polars", "pandas")), packages[0])


def column_of(given: Any) -> pa.ChunkedArray | None:
    """Return a column as Arrow; ``None`` for anything else, without pyarrow, and for values that Arrow cannot hold."""
    is_pandas = library_of(given) == "pandas" and hasattr(given, "array")
    if not is_pandas and not speaks_arrow(given):
        return None
    try:
        import pyarrow as pa
    except ImportError:
        return None
    try:
        if is_pandas:
            found = pa.array(given, from_pandas=True)
        else:
            found = pa.chunked_array(given) if hasattr(given, "__arrow_c_stream__") else pa.array(given)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeError):
        # Mixed values, or strings with half a surrogate pair.
        return None
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _pieces(texts: pa.Array) -> Iterator[Strings]:
    """Cut an array of strings, where the bits that tell nulls begin with a byte."""
    is_text = is_string(texts.type)
    given, *columns, width = buffers_of(texts)
    validity = None if given is None else as_bytes(given)
    offsets, data = (as_bytes(one) for one in columns)
    ends = offsets.cast("i" if width == 4 else "q")
    start, rows = 0, len(texts)
    while start < rows:
        full = bisect_left(ends, ends[start] + BATCH_BYTES, start + 1, rows)
        stop = min(rows, start + (full - start + 7) // 8 * 8)
        bits = None if validity is None else validity[start // 8 : (stop + 7) // 8]
        yield bits, offsets[start * width : (stop + 1) * width], data, width, stop - start, is_text
        start = stop


def refuse_paths(texts: Sequence[object]) -> None:
    """Refuse strings that name existing files: in a list, strings are texts and files are given as ``Path``.

    A list with a string that cannot be a path is a list of texts, whatever else it holds. Only the first ``LOOKED_AT``
    strings are looked at: a list of paths shows itself by then. Cost: about a tenth of a millisecond; each named folder
    is listed once. Errors: ``ParameterError``.
    """
    strings = [text for text in texts[:LOOKED_AT] if isinstance(text, str)]
    if any(len(text) >= MAX_PATH or "\n" in text for text in strings):
        return
    found = set(_names(os.curdir)).intersection(text for text in strings if len(text) <= MAX_NAME)
    found |= _below_folders([text for text in strings if os.sep in text])
    for text in strings if found else ():
        if text in found and os.path.isfile(text):
            raise ParameterError(
                f"`{text}` stands in a list of texts but names a file: write pathlib.Path({text!r}) for the file, "
                "or give iter(texts) if it is meant as text"
            )


def _below_folders(strings: list[str]) -> set[str]:
    """Return the strings that lead to something in a folder."""
    folders: dict[str, frozenset[str]] = {}
    found = set()
    for text in strings:
        above, separator, name = text.rpartition(os.sep)
        folder = above + separator
        if folder not in folders:
            folders[folder] = _names(folder)
        if name in folders[folder]:
            found.add(text)
    return found


def _names(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except (OSError, ValueError):
        return frozenset()
