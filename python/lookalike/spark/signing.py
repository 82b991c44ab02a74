"""Signs rows: from each text its content hash, sketch, keys, fingerprint, length and language, and the rank of the row.

Cost: one pass over the texts, in Rust; about 700 bytes a row with the default sketch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lookalike import _core
from lookalike.corpora.arrays import USUAL_ID, numbers_of
from lookalike.deduplication.reading import open_core
from lookalike.deduplication.settings import Settings
from lookalike.errors import ParameterError
from lookalike.spark import columns
from lookalike.spark.keeping import quieted
from lookalike.spark.plans import Plan, check_columns, check_text, column, settings_of
from lookalike.spark.ranks import OWN, REFERENCE, ranks
from lookalike.spark.scratch import scratch
from lookalike.spark.shipping import Batches, filled, plain, shipped

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

#: What is kept of a row, beside rank and id.
SIGNED = (
    "content binary, state tinyint, size int, sketch binary, keys array<bigint>, print bigint, length int, "
    "language tinyint"
)
#: Bytes of sketches and keys that are made at a time: rows of long sketches are signed in smaller parts.
_PART_BYTES = 16 << 20
#: The parameters of the simhash alone.
_PRINTING = ("features", "ignore")
#: What ``sign`` returns, beside the id.
PUBLIC = "content binary, sketch binary, features array<bigint>, simhash bigint, length int, language string"


def signed_rows(df: DataFrame, plan: Plan, *, is_reference: bool = False) -> DataFrame:
    """Return rank, id and ``SIGNED`` of every row."""
    order = column(df, plan.order) if plan.is_named_by_order else plan.order_in(df)
    read = [order.alias("order"), column(df, plan.asked.text_column).alias("text")]
    if not plan.is_named_by_order:
        read.append(column(df, plan.id).alias("id"))
    if plan.asked.number_column is not None:
        read.append(column(df, plan.asked.number_column).alias("number"))
    flag = REFERENCE if is_reference else OWN
    step = shipped("lookalike.spark.signing.sign_batches", plan.chosen, flag, plan.is_sought)
    return df.select(*read).mapInArrow(step, _schema("rank binary", df, plan.id, SIGNED))


def _schema(before: str, df: DataFrame, name: str, after: str) -> StructType:
    """Return a schema of columns, the ids of a DataFrame, and columns."""
    from pyspark.sql import types

    fields = [*(types.StructType.fromDDL(before) if before else ()), types.StructField("id", df.schema[name].dataType)]
    return types.StructType([*fields, *types.StructType.fromDDL(after)])


def sign_batches(batches: Batches, chosen: dict[str, Any], flag: int, is_sought: bool) -> Batches:
    """Sign rows (order, text, id, number) on a worker."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    asked = filled(chosen)
    with scratch() as folder:
        core = open_core(asked, folder, sketch="shingles" if is_sought else None)
        for batch in _parts(batches, asked):
            made = signed(core, asked, batch["text"])
            order = batch["order"]
            largest = None
            if "number" in batch.schema.names and not is_sought:
                largest = np.asarray(numbers_of(batch["number"], str(asked.number_column), "the rows"))
            shingles = made.shingles if asked.method == "containment" and not is_sought else None
            sizes = made.sizes if asked.keep == "longest" and not is_sought else None
            rank = ranks(order, flag, shingles, sizes, largest)
            # A row without an order is told by an empty rank.
            rank = pc.if_else(order.is_valid(), rank, pa.scalar(b""))
            names = batch["id"] if "id" in batch.schema.names else order
            yield pa.RecordBatch.from_arrays(
                [rank, names, *kept(made)], names=["rank", "id", *(one.split()[0] for one in SIGNED.split(", "))]
            )


def _parts(batches: Batches, asked: Settings) -> Batches:
    """Cut batches, so that what is made of the rows of a part takes at most ``_PART_BYTES``."""
    keys = asked.size if asked.filter is None else asked.filter.keys
    rows = max(1, _PART_BYTES // (4 * asked.size + 8 * keys))
    for batch in batches:
        yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))


def signed(core: _core.Corpus, asked: Settings, texts: pa.Array) -> _core.SignedColumns:
    """Sign texts, and forget them."""
    validity, offsets, data, width, rows = columns.buffers(texts)
    core.push_columns(validity, offsets, data, width, rows, True, None)
    made = _core.signed_columns(core, asked.arguments(None))
    _core.clear_corpus(core, asked.memory // 2)
    return made


def kept(made: _core.SignedColumns) -> list[pa.Array]:
    """Return the columns of ``SIGNED``."""
    import pyarrow as pa

    return [
        columns.sixteens(made.contents),
        columns.numbers(made.states, pa.int8()),
        columns.numbers(made.sizes, pa.int32()),
        columns.strings(*made.elements),
        columns.lists(*made.keys),
        columns.numbers(made.prints[0], pa.int64(), made.prints[1]),
        columns.numbers(made.lengths, pa.int32()),
        columns.numbers(made.languages, pa.int8()),
    ]


@quieted
def sign(df: DataFrame, **chosen: Any) -> DataFrame:
    """Sign the texts of a DataFrame.

    The parameters are those of ``la.dedup`` that decide what is kept of a text (``shingle``, ``unit``, ``sketch``,
    ``size``, ``filter``, ``text_column``, ``id_column`` …; ``features`` and ``ignore`` for the simhash). Rows come in
    no order.

    :returns: ``id``; ``content``, the 128-bit hash of the text; ``sketch``, 4 bytes an element; ``features``, the keys
        of the filter; ``simhash``; ``length`` in tokens; ``language``, empty where it is not clear. Null for rows
        without a text.
    :raises ParameterError: A parameter is out of range, or a column is not there.
    """
    if chosen.get("method", "minhash") != "minhash":
        raise ParameterError("method has no meaning here: a text is signed for all methods; leave it out")
    printing = plain({name: chosen.pop(name) for name in _PRINTING if name in chosen})
    given = settings_of({**chosen, "method": "minhash", "same_language": True})
    asked = filled(given)
    _printed(given, printing)
    name = asked.id_column or USUAL_ID
    check_columns(df, (asked.text_column, name), "the rows")
    check_text(df, asked.text_column)
    read = [column(df, name).alias("id"), column(df, asked.text_column).alias("text")]
    schema = _schema("", df, name, PUBLIC)
    return df.select(*read).mapInArrow(shipped("lookalike.spark.signing.sign_publicly", given, printing), schema)


def _printed(chosen: dict[str, Any], printing: dict[str, Any]) -> Settings:
    """Return the parameters of the simhash. Errors: ``ParameterError``."""
    unused = {"threshold", "filter", "recall", "size", "sketch", "keep", "same_language"}
    return filled(
        {name: value for name, value in chosen.items() if name not in unused} | printing | {"method": "simhash"}
    )


def sign_publicly(batches: Batches, chosen: dict[str, Any], printing: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """Sign rows (id, text) on a worker."""
    import pyarrow as pa
    import pyarrow.compute as pc

    asked = filled(chosen)
    printed = _printed(chosen, printing)
    codes = pa.array(["", *_core.simhash_languages()])
    with scratch() as folder, scratch() as other:
        core, prints = open_core(asked, folder), open_core(printed, other)
        for batch in _parts(batches, asked):
            content, state, _, sketch, keys, _, length, language = kept(signed(core, asked, batch["text"]))
            simhash = kept(signed(prints, printed, batch["text"]))[5]
            is_text = pc.less_equal(state, 1)
            found = [content, sketch, keys, simhash, length, codes.take(language)]
            there = [pc.if_else(is_text, one, pa.scalar(None, one.type)) for one in found]
            yield pa.RecordBatch.from_arrays(
                [batch["id"], *there],
                names=["id", "content", "sketch", "features", "simhash", "length", "language"],
            )
