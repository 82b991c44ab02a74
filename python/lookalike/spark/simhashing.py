"""The simhash of every row of a table, on a cluster: the fingerprints of ``simhash_corpus``, one partition at a time.

Cost: linear in the texts; nothing is moved between workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from lookalike._calls import explained
from lookalike.corpora.arrays import USUAL_ID, texts_of
from lookalike.corpora.batches import RECORD_BYTES, as_bytes
from lookalike.errors import ParameterError
from lookalike.params import DEDUPLICATION, patterns
from lookalike.simhashes.texts import LANGUAGES, MAKING, IdfTable, maker
from lookalike.spark.keeping import quieted
from lookalike.spark.plans import column
from lookalike.spark.prints import FINGERPRINT, ID, check_column
from lookalike.spark.shipping import Batches, shipped

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: What runs on the workers.
MAKE = "lookalike.spark.simhashing.made"
#: What became of a row: the words of ``simhash_corpus``, and one for a text that is too long to be compared.
FINGERPRINTED, WITHOUT_FEATURES, MISSING, TOO_LONG = "fingerprinted", "without_features", "missing", "too_long"


@explained(*MAKING, DEDUPLICATION["text_column"])
@quieted
def simhash(
    df: DataFrame,
    *,
    features: str | None = None,
    unit: str | None = None,
    shingle: int | None = None,
    homoglyphs: bool | None = None,
    language: str | None = None,
    idf: IdfTable | os.PathLike[str] | str | None = None,
    ignore: Iterable[str] | None = None,
    languages: bool | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
) -> DataFrame:
    """Compute the fingerprint of every row.

    :param df: A table with ids and texts.
    :param features: How features are made of a text: ``words`` (default) or ``paper``.
    :parameters:
    :param id_column: Name of the column with the ids. Default: ``id``.
    :returns: ``id`` as it is in the table, ``fingerprint`` (64 bits as a signed number; null if there is none),
        ``length`` in tokens, ``language`` if ``languages`` is asked for (null where it is not clear), and ``state``:
        ``fingerprinted``, ``without_features``, ``missing`` or ``too_long``.
    :raises ParameterError: Parameters contradict each other, or a column is missing.
    """
    from pyspark.sql import types

    table = idf if idf is None or isinstance(idf, IdfTable) else IdfTable.load(idf)
    chosen: dict[str, Any] = {
        "features": features,
        "unit": unit,
        "shingle": shingle,
        "homoglyphs": homoglyphs,
        "language": language,
    }
    chosen |= {"ignore": patterns(ignore or ()) or None, "languages": languages}
    asked = maker(idf=table, **chosen)[1]
    given = tuple(chosen.items())
    text = str(DEDUPLICATION["text_column"].default if text_column is None else text_column)
    name = id_column or USUAL_ID
    for one in (text, name):
        check_column(df, one)
    if not isinstance(df.schema[text].dataType, types.StringType | types.BinaryType):
        raise ParameterError(f"column `{text}` holds {df.schema[text].dataType.simpleString()}: name a column of texts")
    schema = types.StructType(
        [types.StructField(ID, df.schema[name].dataType), types.StructField(FINGERPRINT, types.LongType())]
        + [types.StructField("length", types.LongType())]
        + ([types.StructField("language", types.StringType())] if asked.languages else [])
        + [types.StructField("state", types.StringType())]
    )
    weights = None if table is None else table.core.to_bytes()
    return df.select(column(df, name).alias(ID), column(df, text).alias("text")).mapInArrow(
        shipped(MAKE, given, weights), schema
    )


@cache
def _maker(given: tuple[Any, ...], weights: bytes | None) -> tuple[Any, Any]:
    """Return the core's maker of fingerprints, once in a process."""
    from lookalike import _core

    table = None if weights is None else IdfTable(_core.IdfTable(weights))
    return maker(idf=table, **dict(given))


def made(batches: Batches, given: tuple[Any, ...], weights: bytes | None) -> Batches:
    """Yield the fingerprints of batches of ids and texts."""
    from lookalike import _core

    core, asked = _maker(given, weights)
    reader = _core.SimhashReader(core, "text", ID, RECORD_BYTES, 1)
    reader.begin("a table")
    for batch in batches:
        if batch.num_rows:
            yield _fingerprinted(reader, batch, asked.languages)


def _fingerprinted(reader: Any, batch: pa.RecordBatch, with_languages: bool) -> pa.RecordBatch:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, _ = texts_of(batch.column("text"), "the table")
    validity = None if texts.validity is None else as_bytes(texts.validity)
    buffers = (validity, as_bytes(texts.offsets), as_bytes(texts.data), texts.width, texts.rows)
    found = reader.push_columns(*buffers, texts.is_text, [""] * texts.rows)
    bits, is_there, lengths, spoken = found[2:]
    is_valid = np.frombuffer(is_there, np.uint8) != 0
    columns = {ID: batch.column(ID), FINGERPRINT: pa.array(np.asarray(bits).view(np.int64), mask=~is_valid)}
    columns["length"] = pa.array(np.asarray(lengths).astype(np.int64))
    if with_languages:
        codes = pa.array((None, *LANGUAGES), pa.string())
        columns["language"] = codes.take(pa.array(np.frombuffer(spoken, np.uint8)))
    is_long = pc.fill_null(pc.greater(pc.binary_length(batch.column("text")), RECORD_BYTES), False)
    states = pc.if_else(pa.array(is_valid), FINGERPRINTED, WITHOUT_FEATURES)
    states = pc.if_else(is_long, TOO_LONG, states)
    columns["state"] = pc.if_else(pc.is_null(batch.column("text")), MISSING, states)
    return pa.record_batch(columns)
