"""All stored fingerprints within a few bits of queries, on a cluster (Manku, Jain, Das Sarma 2007, §3.3).

The queries travel to every Python worker, which builds the tables on them once; the stored fingerprints never leave
their partition. The paper copies the file of queries to every machine in the same way. Tables are built where they are
used: a million queries are 8 MB and an eighth of a second, and their tables are larger than that. A worker compares
a part of a partition with all queries at a time, through the same function of the core that the local engine calls.

Cost: one scan of the stored rows for every ``BLOCK`` queries. Only distinct fingerprints of queries, 8 bytes each, pass
through the driver; ids of queries meet their pairs in a join.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import params
from lookalike._calls import explained
from lookalike.errors import ParameterError
from lookalike.neighbours.limits import LANGUAGE, LENGTH, Limits
from lookalike.spark.prints import FINGERPRINT, ID, Prints, prints
from lookalike.spark.shipping import Batches, shipped

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Queries that are compared with the stored rows in one scan. Their tables take about 60 bytes each in a worker.
BLOCK = 1 << 22
#: Queries that come to the driver in one piece, of 8 bytes each: far below the usual limit on results.
PIECE = 1 << 19
#: Stored rows that a worker compares at a time. Fewer make the search in large tables slow.
CHUNK = 1 << 18
#: The columns of the answer, which has the order of all of them.
PAIRS = ("left", "right", "distance")
#: What runs on the workers.
SEARCH, PACK = "lookalike.spark.searching.found", "lookalike.spark.searching.packed"
#: The schema of what a worker finds: the bits of the query, and the stored row.
_FOUND = f"asked long, right string, distance int, right_{LENGTH} long, right_{LANGUAGE} string"


class Neighbours(NamedTuple):
    """Pairs of query and stored fingerprint, and the rows of both tables that could not be searched."""

    #: ``left``, ``right`` (ids as strings) and ``distance``, ascending, each pair once.
    pairs: DataFrame
    #: ``id`` and ``reason``.
    left_out: DataFrame


@explained(*params.NEAR.values())
def near(
    stored: DataFrame,
    queries: DataFrame | None = None,
    *,
    distance: int | None = None,
    id_column: str | None = None,
    fingerprint_column: str | None = None,
    length_within: float | None = None,
    same_language: bool | None = None,
) -> Neighbours:
    """Find all stored fingerprints within a distance of queries, or all pairs of the stored ones, each once.

    :param stored: A table with ids and fingerprints: numbers, or texts as ``lookalike near`` reads them.
    :param queries: Another such table; many small files are one table. Without queries ``stored`` is compared with
        itself, and the smaller id of a pair is on the left.
    :parameters:
    :returns: The pairs, sorted and without duplicates, and the rows that were left out.
    :raises ParameterError: A parameter is out of range, or a column is missing.
    """
    distance = int(params.DISTANCE.default if distance is None else distance)
    if not 0 <= distance <= 10:
        raise ParameterError(f"distance `{distance}` is out of range: use 0 to 10")
    limits = Limits(length_within, bool(same_language))
    limits.check(False, None)
    names = [str(params.NEAR["id_column"].default if id_column is None else id_column)]
    names.append(str(params.NEAR["fingerprint_column"].default if fingerprint_column is None else fingerprint_column))
    rows = prints(stored, names[0], names[1], limits.columns)
    asked = rows if queries is None else prints(queries, names[0], names[1], limits.columns)
    left_out = rows.left_out if queries is None else asked.left_out.unionByName(rows.left_out)
    return Neighbours(_pairs(rows, asked, distance, limits, queries is None), left_out)


def _pairs(rows: Prints, asked: Prints, distance: int, limits: Limits, is_own: bool) -> DataFrame:
    """Return the pairs of two tables of fingerprints."""
    from pyspark.sql import functions as sql

    scanned = rows.rows.select(ID, FINGERPRINT, *_traits(limits))
    blocks = list(_blocks(asked.rows)) or [b""]
    scans = [scanned.mapInArrow(shipped(SEARCH, block, distance), _FOUND) for block in blocks]
    named = asked.rows.select(sql.col(ID).alias("left"), FINGERPRINT, *_traits(limits))
    pairs = reduce(lambda left, right: left.unionByName(right), scans)
    pairs = pairs.join(named, sql.col("asked") == sql.col(FINGERPRINT)).where(_allowed(limits))
    if is_own:
        pairs = pairs.where(sql.col("left") < sql.col("right"))
    return pairs.select(*PAIRS).distinct().orderBy(*PAIRS)


def _traits(limits: Limits) -> list[Column]:
    """Return the columns of length and language, null where no limit asks for them."""
    from pyspark.sql import functions as sql

    kinds = {LENGTH: "long", LANGUAGE: "string"}
    columns = {name: sql.col(name) if name in limits.columns else sql.lit(None) for name in kinds}
    return [columns[name].cast(kind).alias(name) for name, kind in kinds.items()]


def _allowed(limits: Limits) -> Column:
    """Return whether the limits let a pair be one (``lengths.rs``, ``row_limits.rs``)."""
    from pyspark.sql import functions as sql

    allowed = sql.lit(True)
    if limits.length_within is not None:
        one, other = sql.col(LENGTH), sql.col(f"right_{LENGTH}")
        share = sql.lit(limits.length_within) * sql.greatest(one, other).cast("double")
        allowed = allowed & (sql.abs(one - other).cast("double") <= share)
    if limits.same_language:
        allowed = allowed & (sql.col(LANGUAGE) == sql.col(f"right_{LANGUAGE}")) & (sql.col(LANGUAGE) != "")
    return allowed


def _blocks(asked: DataFrame) -> Iterator[bytes]:
    """Yield the distinct fingerprints of the queries, packed, at most ``BLOCK`` at a time."""
    pieces = 1 + asked.count() // PIECE
    rows = (
        asked.select(FINGERPRINT).distinct().repartition(pieces, FINGERPRINT).mapInArrow(shipped(PACK), "packed binary")
    )
    held = bytearray()
    for row in rows.toLocalIterator():
        held += row.packed
        while len(held) >= 8 * BLOCK:
            yield bytes(held[: 8 * BLOCK])
            del held[: 8 * BLOCK]
    if held:
        yield bytes(held)


def packed(batches: Batches) -> Batches:
    """Turn a column of fingerprints into rows of packed ones."""
    import pyarrow as pa

    for batch in batches:
        yield pa.record_batch({"packed": pa.array([_values(batch.column(0)).tobytes()], pa.binary())})


def _values(column: Any) -> Any:
    """Return a column of fingerprints as an array of unsigned numbers, without copying it."""
    import numpy as np

    return column.to_numpy(zero_copy_only=False).view(np.uint64)


#: The tables that this process has built last: it serves many partitions.
_LAST: dict[tuple[bytes, int], Any] = {}


def _tables(packed: bytes, distance: int) -> Any:
    """Return the tables on the queries, built once in a process."""
    import hashlib

    from lookalike import _core

    key = hashlib.blake2b(packed).digest(), distance
    if key not in _LAST:
        _LAST.clear()
        _LAST[key] = _core.HammingBatch(memoryview(packed).cast("Q") if packed else [], distance)
    return _LAST[key]


def found(batches: Batches, packed: bytes, distance: int) -> Batches:
    """Yield the stored rows near queries, part by part."""
    import numpy as np
    import pyarrow as pa

    tables, values = _tables(packed, distance), np.frombuffer(packed, np.int64)
    for rows in _chunks(batches):
        queries, places, distances = tables.chunk(_values(rows.column(FINGERPRINT)), 0)
        taken = rows.take(pa.array(np.asarray(places)))
        columns = {"asked": pa.array(values[np.asarray(queries)]), "right": taken.column(ID)}
        columns["distance"] = pa.array(np.asarray(distances).astype(np.int32))
        columns |= {f"right_{name}": taken.column(name) for name in (LENGTH, LANGUAGE)}
        yield pa.record_batch(columns)


def _chunks(batches: Batches) -> Batches:
    """Join batches, which Spark makes small, to batches of at least ``CHUNK`` rows, but for the last."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= CHUNK:
            yield pa.concat_batches(held)
            held, rows = [], 0
    if held:
        yield pa.concat_batches(held)
