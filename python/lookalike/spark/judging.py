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
from lookalike.spark.cells import BUNDLES, changed, each_cell, in_cells, packed, side
from lookalike.spark.plans import Plan, column
from lookalike.spark.ranks import is_reference, order_of
from lookalike.spark.scratch import scratch
from lookalike.spark.shipping import Batches, filled, shipped

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: What bundles carry of pairs that sketches do not reject: the estimate, and the content hashes of texts that are read
#: again.
_ESTIMATE = ("estimate", "<f4")
_CONTENTS = (("left_content", "V16"), ("right_content", "V16"))
SCORED = "left binary, right binary, estimate float, score float"
#: What a sketch and its rank take.
_SKETCH_BYTES = 600


def glance_side(count: int, longest: int, plan: Plan) -> int:
    """Return along a side how many cells compare sketches of so many documents, of which this is the longest rank."""
    return side(count, _SKETCH_BYTES + 2 * longest, plan.limits.cell, plan.limits.cells)


def score_side(count: int, bytes_each: float, plan: Plan) -> int:
    """Return along a side how many cells score so many documents, of so many bytes each."""
    each = _SKETCH_BYTES if plan.is_scored_by_sketch else bytes_each
    return side(count, each, plan.limits.cell, plan.limits.cells)


def glanced(bundles: DataFrame, documents: DataFrame, plan: Plan, score_cells: int) -> DataFrame:
    """Return bundles, for so many cells along a side, of the pairs that their sketches do not reject."""
    step = shipped("lookalike.spark.judging.glance_batches", plan.chosen, plan.is_scored_by_sketch, score_cells)
    return in_cells(bundles, _sketches(documents, *([] if plan.is_scored_by_sketch else ["content"])), step, BUNDLES)


def _sketches(documents: DataFrame, *further: str) -> Any:
    kept = documents.select("rank", "sketch", "print", "length", "language", *further)
    return lambda rows: rows.join(kept, "rank", "left")


def bundled(pairs: DataFrame, documents: DataFrame, plan: Plan, score_cells: int) -> DataFrame:
    """Return bundles of pairs (left, right) that no sketches were compared of: their estimate is 0."""
    from pyspark.sql import functions as sql

    pairs = pairs.select("left", "right", sql.lit(0.0).cast("float").alias("estimate"))
    if not plan.is_scored_by_sketch:
        for name in ("left", "right"):
            pairs = pairs.join(documents.selectExpr(f"rank as {name}", f"content as {name}_content"), name)
    step = shipped("lookalike.spark.judging.pack_batches", plan.is_scored_by_sketch, score_cells)
    return pairs.mapInArrow(step, BUNDLES)


def scored(
    bundles: DataFrame, documents: DataFrame, texts: DataFrame, plan: Plan, *, is_edge: bool = True
) -> DataFrame:
    """Return pairs with their exact score: with ``is_edge`` those that reach the threshold, otherwise all.

    ``texts`` are (flag, order, text) of all rows. A score that is undefined is 0. Errors: ``ParameterError`` if a text
    is no longer what it was.
    """
    by_sketch = plan.is_scored_by_sketch
    of = _sketches(documents) if by_sketch else _texts(texts, plan)
    step = shipped("lookalike.spark.judging.score_batches", plan.chosen, by_sketch, is_edge)
    return in_cells(bundles, of, step, SCORED)


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

    def read(one: DataFrame, *, flag: bool) -> DataFrame:
        text = column(one, plan.asked.text_column)
        return one.select(sql.lit(flag).alias("flag"), plan.order_in(one).alias("order"), text.alias("text"))

    own = read(df, flag=False)
    return own if against is None else own.unionByName(read(against, flag=True))


def _carried(by_sketch: bool) -> np.dtype[Any]:
    """Return what pairs carry to where they are scored."""
    import numpy as np

    return np.dtype([_ESTIMATE] if by_sketch else [_ESTIMATE, *_CONTENTS])


def glance_batches(batches: Batches, chosen: dict[str, Any], by_sketch: bool, score_cells: int) -> Batches:
    """Compare sketches on a worker, and make bundles of the pairs that they do not reject."""
    import numpy as np
    import pyarrow as pa

    asked, carried = filled(chosen), _carried(by_sketch)
    with scratch() as folder:
        core = open_core(asked, folder)
        push, known = _pusher(core, asked.memory // 2), list[pa.Array]()

        def documents(batch: pa.RecordBatch, is_new: bool) -> None:
            push(batch, is_new)
            if not by_sketch:
                known[:] = [] if is_new else [*known, batch["content"]]

        def pairs(left: bytes, right: bytes, _extras: Any) -> tuple[Any, list[pa.Array]]:
            estimates, mask = _core.glance_pairs(core, asked.arguments(None), left, right)
            is_possible = np.frombuffer(mask, dtype=bool)
            made = [pa.array(np.frombuffer(estimates, dtype=np.float32)[is_possible])]
            if not by_sketch:
                known[:] = [columns.joined(known)]
                places = (np.frombuffer(one, dtype=np.uint32)[is_possible] for one in (left, right))
                made += [known[0].take(pa.array(one)) for one in places]
            return is_possible, made

        found = each_cell(batches, documents, pairs, np.dtype([]), list(carried.names or ()), once=False)
        yield from packed(found, score_cells, carried)


def pack_batches(batches: Batches, by_sketch: bool, score_cells: int) -> Batches:
    """Make bundles of pairs on a worker."""
    yield from packed(batches, score_cells, _carried(by_sketch))


def score_batches(batches: Batches, chosen: dict[str, Any], by_sketch: bool, is_edge: bool) -> Batches:
    """Score pairs exactly on a worker."""
    import numpy as np
    import pyarrow as pa

    asked = filled(chosen)
    with scratch() as folder:
        core = open_core(asked, folder, sketch=None if by_sketch else "shingles")

        def pairs(left: bytes, right: bytes, extras: Any) -> tuple[Any, list[pa.Array]]:
            if not by_sketch:
                _check_contents(core, (left, right), extras)
            scores, mask = _core.score_pairs(core, asked.arguments(None), left, right, is_edge)
            found = np.frombuffer(mask, dtype=bool) | (not is_edge)
            made = extras["estimate"], np.frombuffer(scores, dtype=np.float32)
            return found, [pa.array(one[found]) for one in made]

        push = _pusher(core, asked.memory // 2) if by_sketch else _reader(core, asked.memory // 2)
        yield from each_cell(batches, push, pairs, _carried(by_sketch), ["estimate", "score"], once=True)


def _check_contents(core: _core.Corpus, places: tuple[bytes, bytes], extras: Any) -> None:
    """Errors: ``ParameterError`` if the texts of pairs are not those that were signed."""
    import numpy as np

    found = np.frombuffer(_core.corpus_contents(core, 0), dtype="V16")
    for (name, _), of_side in zip(_CONTENTS, places, strict=True):
        if found[np.frombuffer(of_side, dtype=np.uint32)].tobytes() != extras[name].tobytes():
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
