"""Checks that the suffix of an output names the format that is written.

Kept rows are copied byte for byte, so an output has the format of its input. A name without a suffix promises nothing
and is accepted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from lookalike.corpora.compression import by_suffix
from lookalike.corpora.sources import SUFFIXES, Corpus
from lookalike.corpora.warc import WarcSource
from lookalike.errors import ParameterError

#: What people call the formats.
NAMES = {"jsonl": "JSON Lines", "parquet": "Parquet", "csv": "CSV", "warc": "WARC", "mbox": "mbox", "text": "text"}
#: Tables are written as one of these.
TABLES = (".csv", ".parquet", ".pq")
_SUFFIX = re.compile(r"\.[A-Za-z]\w*")


def split(name: str) -> tuple[str, str | None]:
    """Return the suffix of a file name in lower case, without that of a compression, and the compression.

    >>> split("rows.jsonl.gz"), split("rows"), split("rows.2024")
    (('.jsonl', 'gzip'), ('', None), ('', None))
    """
    bare, compression = by_suffix(os.path.basename(name))
    suffix = os.path.splitext(bare)[1].lower()
    return suffix if _SUFFIX.fullmatch(suffix) else "", compression


def check_suffix(out: str, corpus: Corpus) -> None:
    """Refuse the name of a single output that names another format than its input. Errors: ``ParameterError``."""
    (source,) = corpus.sources
    check_format(out, source.format)
    (own, _), (wanted, packing) = split(source.name), split(out)
    if isinstance(source, WarcSource) and wanted and packing != source.place.compression():
        raise ParameterError(f"out `{out}`: WARC records are copied as they are: use the suffixes of the input")
    if source.format == "csv" and {own, wanted} == {".csv", ".tsv"}:
        raise ParameterError(f"out `{out}` would have the delimiters of `{own}`: use a name that ends in {own}")


def check_format(out: str, format: str) -> None:
    """Refuse an output whose suffix is not one of its format. Errors: ``ParameterError``."""
    suffix, packing = split(out)
    usual = [one for one, name in SUFFIXES.items() if name == format]
    if suffix and suffix not in usual:
        known = SUFFIXES.get(suffix)
        what = f"names {NAMES[known]}" if known else f"has the unknown suffix `{suffix}`"
        raise ParameterError(
            f"out `{out}` {what}, but the input is {NAMES[format]}, and rows are copied without conversion: "
            f"use a name that ends in {usual[0]}"
        )
    if format == "parquet" and packing:
        raise ParameterError(f"out `{out}`: Parquet compresses its columns itself: use a name that ends in .parquet")


def check_table(name: str, target: str) -> None:
    """Refuse a table whose suffix names no format of tables. Errors: ``ParameterError``."""
    suffix, packing = split(target)
    if suffix not in TABLES or (packing and suffix != ".csv"):
        raise ParameterError(
            f"{name} `{target}` has no suffix of a table: use a name that ends in .csv, .csv.gz or .parquet"
        )


def check_ledger(target: str) -> None:
    """Refuse a ledger whose suffix names another format than JSON Lines. Errors: ``ParameterError``."""
    suffix = split(target)[0]
    if suffix and SUFFIXES.get(suffix) != "jsonl":
        raise ParameterError(
            f"ledger `{target}` is written as JSON Lines, and `{suffix}` is not a suffix of that: "
            "use a name that ends in .jsonl, .jsonl.gz or .jsonl.zst"
        )


def check_stream(corpus: Corpus, *, with_ledger: bool) -> None:
    """Refuse a corpus that cannot be written as one stream of bytes. Errors: ``ParameterError``."""
    formats: Sequence[str] = sorted({source.format for source in corpus.sources})
    if formats == ["text"]:
        raise ParameterError("one stream cannot hold a folder of texts: use a folder as out=…")
    if len(corpus.sources) > 1 and (formats != ["jsonl"] or with_ledger):
        reason = "cannot be restored by ledger=…" if formats == ["jsonl"] else "must all be JSON Lines"
        raise ParameterError(f"several inputs in one stream {reason}: use one input, or a folder as out=…")
