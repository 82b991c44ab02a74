"""Judges proposed pairs: sketches reject, then the exact score accepts. Texts are read again only where needed.

Both steps run the judge of the core on the documents of a cell (``cells``). Pairs carry the content hashes of their
texts from the first to the second step, which compares them with those of the texts that it reads.

Cost: 50 ns per pair of sketches and 3 ns per shingle that is counted, beside what ``cells`` sends around.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike import _core
from lookalike.deduplication.reading import open_core
from lookalike.spark import columns
from lookalike.spark.cells import changed, each_cell, in_cells, side
from lookalike.spark.plans import Plan, column
from lookalike.spark.ranks import is_reference, order_of
from lookalike.spark.scratch import scratch
from lookalike.spark.shipping import Batches, filled, shipped

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: Pairs that sketches do not reject, the content hashes of their texts, and edges.
GLANCED = "left binary, right binary, estimate float"
CONTENTS = ("left_content", "right_content")
SCORED = f"{GLANCED}, score float"
#: What a sketch and its rank take.
_SKETCH_BYTES = 600


def glanced(pairs: DataFrame, documents: DataFrame, size: tuple[int, int], plan: Plan) -> DataFrame:
    """Return the pairs that their sketches do not reject, each once, with the estimate.

    ``size`` is how many documents there are, and the bytes of their longest rank. If texts are read again to score
    them, the pairs have ``CONTENTS``.
    """
    contents = () if plan.is_scored_by_sketch else CONTENTS
    step = shipped("lookalike.spark.judging.glance_batches", plan.chosen, contents)
    cells = side(size[0], _SKETCH_BYTES + 2 * size[1], plan.limits.cell, plan.limits.cells)
    schema = ", ".join([GLANCED, *(f"{name} binary" for name in contents)])
    return in_cells(pairs, _sketches(documents), cells, step, schema)


def _sketches(documents: DataFrame) -> Any:
    kept = documents.select("rank", "sketch", "print", "length", "language", "content")
    return lambda rows: rows.join(kept, "rank", "left")


def with_contents(pairs: DataFrame, documents: DataFrame, plan: Plan) -> DataFrame:
    """Return pairs as ``scored`` takes them: with ``CONTENTS`` if texts are read again."""
    if plan.is_scored_by_sketch:
        return pairs
    for name, content in zip(("left", "right"), CONTENTS, strict=True):
        pairs = pairs.join(documents.selectExpr(f"rank as {name}", f"content as {content}"), name)
    return pairs


def scored(
    pairs: DataFrame, sources: tuple[DataFrame, DataFrame], size: tuple[int, float], plan: Plan, *, is_edge: bool = True
) -> DataFrame:
    """Return pairs with their exact score: with ``is_edge`` those that reach the threshold, otherwise all.

    ``sources`` are the documents and (flag, order, text) of all rows; ``size`` is how many there are, and their mean
    bytes. A score that is undefined is 0. Errors: ``ParameterError`` if a text is no longer what it was.
    """
    documents, texts = sources
    by_sketch = plan.is_scored_by_sketch
    of = _sketches(documents) if by_sketch else _texts(texts, plan)
    cells = side(size[0], _SKETCH_BYTES if by_sketch else size[1], plan.limits.cell, plan.limits.cells)
    step = shipped("lookalike.spark.judging.score_batches", plan.chosen, by_sketch, is_edge)
    return in_cells(pairs, of, cells, step, SCORED)


def _texts(texts: DataFrame, plan: Plan) -> Any:
    from pyspark.sql import functions as sql

    def joined(rows: DataFrame) -> DataFrame:
        rank = sql.col("rank")
        order = order_of(rank, plan.prefix, plan.kind)
        named = rows.withColumn("flag", is_reference(rank)).withColumn("order", order)
        return named.join(texts, ["flag", "order"], "left").drop("flag", "order")

    return joined


def texts_of(df: DataFrame, against: DataFrame | None, plan: Plan) -> DataFrame:
    """Return (flag, order, text) of all rows."""
    from pyspark.sql import functions as sql

    kind = "bigint" if plan.kind == "number" else "string"

    def read(one: DataFrame, *, flag: bool) -> DataFrame:
        order, text = column(one, plan.order).cast(kind), column(one, plan.asked.text_column)
        return one.select(sql.lit(flag).alias("flag"), order.alias("order"), text.alias("text"))

    own = read(df, flag=False)
    return own if against is None else own.unionByName(read(against, flag=True))


def glance_batches(batches: Batches, chosen: dict[str, Any], contents: tuple[str, ...]) -> Batches:
    """Compare sketches on a worker; pairs get these columns of content hashes."""
    import numpy as np
    import pyarrow as pa

    asked = filled(chosen)
    with scratch() as folder:
        core = open_core(asked, folder)
        push, known = _pusher(core, asked.memory // 2), list[pa.Array]()

        def take(batch: pa.RecordBatch, is_new: bool) -> None:
            push(batch, is_new)
            known[:] = [] if is_new else [*known, batch["content"]]

        def pairs(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any], _rows: pa.RecordBatch) -> list[pa.Array]:
            found = _core.glance_pairs(core, asked.arguments(None), left.tobytes(), right.tobytes())
            of_texts = columns.joined(known)
            carried = [of_texts.take(pa.array(places)) for places, _ in zip((left, right), contents, strict=False)]
            return [pa.array(np.frombuffer(found[1], dtype=bool)), columns.numbers(found[0], pa.float32()), *carried]

        yield from each_cell(batches, take, pairs, [], ["estimate", *contents])


def score_batches(batches: Batches, chosen: dict[str, Any], by_sketch: bool, is_edge: bool) -> Batches:
    """Score pairs exactly on a worker."""
    import numpy as np
    import pyarrow as pa

    asked = filled(chosen)
    with scratch() as folder:
        core = open_core(asked, folder, sketch=None if by_sketch else "shingles")

        def pairs(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any], rows: pa.RecordBatch) -> list[pa.Array]:
            if not by_sketch:
                _check_contents(core, (left, right), rows)
            found = _core.score_pairs(core, asked.arguments(None), left.tobytes(), right.tobytes(), is_edge)
            mask = np.frombuffer(found[1], dtype=bool)
            return [pa.array(mask if is_edge else np.ones_like(mask)), columns.numbers(found[0], pa.float32())]

        push = _pusher(core, asked.memory // 2) if by_sketch else _reader(core, asked.memory // 2)
        yield from each_cell(batches, push, pairs, ["estimate"], ["score"])


def _check_contents(core: _core.Corpus, places: tuple[Any, Any], rows: pa.RecordBatch) -> None:
    """Errors: ``ParameterError`` if the texts of pairs are not those that were signed."""
    import pyarrow as pa

    found = columns.sixteens(_core.corpus_contents(core, 0))
    for name, at in zip(CONTENTS, places, strict=True):
        if not columns.are_equal(found.take(pa.array(at)), rows[name]):
            raise changed()


def _pusher(core: _core.Corpus, memory: int) -> Any:
    """Return a function that takes signed documents."""

    def push(batch: pa.RecordBatch, is_new: bool) -> None:
        if is_new:
            _core.clear_corpus(core, memory)
            return
        import numpy as np

        if batch["sketch"].null_count:
            raise changed()
        present = batch["print"].is_valid().to_numpy(zero_copy_only=False).astype(np.uint8).tobytes()
        prints = columns.block(batch["print"].fill_null(0), "int64"), present
        traits = columns.block(batch["length"], "int32"), columns.block(batch["language"], "int8")
        _core.push_signed(core, columns.buffers(batch["sketch"]), prints, traits)

    return push


def _reader(core: _core.Corpus, memory: int) -> Any:
    """Return a function that takes texts."""

    def push(batch: pa.RecordBatch, is_new: bool) -> None:
        if is_new:
            _core.clear_corpus(core, memory)
            return
        if batch["text"].null_count:
            raise changed()
        validity, offsets, data, width, rows = columns.buffers(batch["text"])
        core.push_columns(validity, offsets, data, width, rows, True, None)

    return push
