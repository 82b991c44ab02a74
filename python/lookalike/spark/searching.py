"""All stored fingerprints within a few bits of queries, or of a table with itself, on a cluster.

*By scans* (Manku, Jain, Das Sarma 2007, §3.3), for up to ``SCANS`` blocks of queries. The queries travel to every
Python worker, which builds the tables on them once; the stored fingerprints never leave their partition. The paper
copies the file of queries to every machine in the same way. Tables are built where they are used: a million queries are
8 MB and an eighth of a second, and their tables are larger than that. A worker compares a part of a partition with all
queries at a time, through the same function of the core that the local engine calls. Cost: one scan of the stored rows
for every ``BLOCK`` queries. The distinct fingerprints of queries pass through the driver, 8 bytes each: 512 MiB at
most. Ids of queries meet their pairs in a join.

*By keys* (§3.1), for more queries. Distinct fingerprints that share a key of their bits are compared
(``proposing.py``), then joins bring the rows that hold them. Cost: a shuffle of up to 220 keys per distinct fingerprint
(20 of a billion within 3 bits) and of the rows. Nothing passes through the driver but counts. Fingerprints of queries
and stored ones are one set there, so pairs of two stored ones are found too, and dropped in the join.

Without queries the rows of a table are its queries, at the cost of one more shuffle of them. A pair is one of two rows,
so a row that the table holds twice is a pair with itself, at distance 0. The local engine lists a pair of ids as often
as two rows have it; here it is listed once. Rows with the same fingerprint are all paired: n of them make n²/2 pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import params
from lookalike._calls import explained
from lookalike.errors import ParameterError
from lookalike.neighbours.limits import LANGUAGE, LENGTH, Limits
from lookalike.spark.keeping import quieted
from lookalike.spark.plans import check_kind
from lookalike.spark.prints import FINGERPRINT, ID, prints
from lookalike.spark.proposing import near_prints
from lookalike.spark.shipping import Batches, shipped

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Queries that are compared with the stored rows in one scan. Their tables take about 60 bytes each in a worker.
BLOCK = 1 << 22
#: Most blocks of queries that are compared by scans. Within 3 bits a scan takes 2.5 µs of CPU per stored row, and keys
#: take 60 µs per row (1.5 million rows on the cluster of the tests), more with more rows. The driver sets the limit.
SCANS = 16
#: Queries that come to the driver in one piece, of 8 bytes each: far below the usual limit on results.
PIECE = 1 << 19
#: Stored rows that a worker compares at a time. Fewer make the search in large tables slow.
CHUNK = 1 << 18
#: The columns of the answer, which has the order of all of them.
PAIRS = ("left", "right", "distance")
#: What runs on the workers.
SEARCH, PACK = "lookalike.spark.searching.found", "lookalike.spark.searching.packed"
#: Tells two equal rows of a table apart.
_COPY = "copy"
#: The columns of a row beside its id, and their types.
_KINDS = {FINGERPRINT: "long", LENGTH: "long", LANGUAGE: "string", _COPY: "int"}
#: The schema of what a worker finds: the fingerprint of the query, and the stored row.
_FOUND = f"left_{FINGERPRINT} long, right string, " + ", ".join(f"right_{name} {kind}" for name, kind in _KINDS.items())
#: Two linked fingerprints: that of the left and that of the right row of a pair.
_LINK = (f"left_{FINGERPRINT}", f"right_{FINGERPRINT}")


class Neighbours(NamedTuple):
    """Pairs of query and stored fingerprint, and the rows of both tables that could not be searched."""

    #: ``left``, ``right`` (ids as strings) and ``distance``, ascending, each pair once.
    pairs: DataFrame
    #: ``id`` and ``reason``.
    left_out: DataFrame


@explained(*params.NEAR.values())
@quieted
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
    :returns: ``pairs``: ``left`` (the id of the query), ``right`` (the id of the stored row) and ``distance``. Ids are
        strings there, and sorted as such; a pair of ids is listed once. ``left_out``: ``id`` and ``reason`` of the rows
        that could not be searched.
    :raises ParameterError: A parameter is out of range, or a column is missing.
    """
    if queries is not None:
        check_kind(queries, "queries")
    distance = params.DISTANCE.default if distance is None else distance
    if isinstance(distance, bool) or not isinstance(distance, Integral):
        raise ParameterError(f"distance `{distance}` is not a whole number: use 0 to 10")
    distance = int(distance)
    if not 0 <= distance <= 10:
        raise ParameterError(f"distance `{distance}` is out of range: use 0 to 10")
    limits = Limits(length_within, bool(same_language))
    limits.check(False, None)
    names = [str(params.NEAR["id_column"].default if id_column is None else id_column)]
    names.append(str(params.NEAR["fingerprint_column"].default if fingerprint_column is None else fingerprint_column))
    rows = prints(stored, names[0], names[1], limits.columns)
    asked = rows if queries is None else prints(queries, names[0], names[1], limits.columns)
    left_out = rows.left_out if queries is None else asked.left_out.unionByName(rows.left_out)
    stored = _held(rows.rows, limits)
    pairs = _own(stored, distance, limits) if queries is None else _asked(stored, asked.rows, distance, limits)
    return Neighbours(pairs.select(*PAIRS).distinct().orderBy(*PAIRS), left_out)


def _held(rows: DataFrame, limits: Limits) -> DataFrame:
    """Return rows with the columns of all ways; length and language are null where no limit asks for them."""
    from pyspark.sql import functions as sql

    given = {name: sql.col(name) for name in (FINGERPRINT, *limits.columns)} | {_COPY: sql.lit(1)}
    # Spark may cast before it leaves out rows without a length.
    others = (given.get(name, sql.lit(None)).try_cast(kind).alias(name) for name, kind in _KINDS.items())
    return rows.select(ID, *others)


def _asked(stored: DataFrame, queries: DataFrame, distance: int, limits: Limits) -> DataFrame:
    """Return the pairs of queries and stored rows."""
    asked = _held(queries, limits)
    distinct = asked.select(FINGERPRINT).distinct()
    every = distinct.union(stored.select(FINGERPRINT)).distinct()
    return _pairs(asked, stored, (distinct, every), distance).where(_allowed(limits))


def _own(stored: DataFrame, distance: int, limits: Limits) -> DataFrame:
    """Return the pairs of two rows of a table, the smaller id on the left."""
    rows, distinct = _told_apart(stored), stored.select(FINGERPRINT).distinct()
    pairs = _pairs(rows, rows, (distinct, distinct), distance).where(_allowed(limits))
    return pairs.where(_place("left") < _place("right"))


def _told_apart(rows: DataFrame) -> DataFrame:
    """Return the different rows of a table, and a copy of each that repeats: it is a pair with itself."""
    from pyspark.sql import functions as sql

    names = [name for name in rows.columns if name != _COPY]
    copies = sql.sequence(sql.lit(1), sql.least(sql.count("*"), sql.lit(2)).cast("int"))
    return rows.groupBy(*names).agg(copies.alias("copies")).select(*names, sql.explode("copies").alias(_COPY))


def _place(side: str) -> Column:
    """Return what orders the rows of a table."""
    from pyspark.sql import functions as sql

    return sql.struct(sql.col(side).alias(ID), *(sql.col(f"{side}_{name}").alias(name) for name in _KINDS))


def _pairs(asked: DataFrame, stored: DataFrame, distinct: tuple[DataFrame, DataFrame], distance: int) -> DataFrame:
    """Return the pairs of queries and stored rows. ``distinct`` has the fingerprints of queries, and of both."""
    from pyspark.sql import functions as sql

    count = distinct[0].count()
    is_scan = count <= SCANS * BLOCK
    found = _by_scans(stored, _blocks(distinct[0], count), distance) if is_scan else _linked(*distinct, distance)
    # Spark cannot know how many are found. If it expects few, it sends them through the driver; a merge does not.
    pairs = found.hint("merge").join(_side(asked, "left"), _LINK[0])
    if not is_scan:
        pairs = pairs.hint("merge").join(_side(stored, "right"), _LINK[1])
    return pairs.withColumn("distance", sql.bit_count(sql.col(_LINK[0]).bitwiseXOR(sql.col(_LINK[1]))))


def _by_scans(stored: DataFrame, blocks: Iterator[bytes], distance: int) -> DataFrame:
    """Return the stored rows near fingerprints of queries."""
    scans = [stored.mapInArrow(shipped(SEARCH, block, distance), _FOUND) for block in list(blocks) or [b""]]
    return reduce(lambda one, other: one.unionByName(other), scans)


def _linked(asked: DataFrame, every: DataFrame, distance: int) -> DataFrame:
    """Return each fingerprint of a query with itself, and any two near fingerprints in both orders."""
    from pyspark.sql import functions as sql

    same = asked.select(*(sql.col(FINGERPRINT).alias(name) for name in _LINK))
    if not distance:
        return same
    near = near_prints(every.select(sql.col(FINGERPRINT).alias("print")), distance)
    key, other = sql.col("key"), sql.col("other")
    orders = [sql.struct(one.alias(_LINK[0]), two.alias(_LINK[1])) for one, two in ((key, other), (other, key))]
    return same.union(near.select(sql.inline(sql.array(*orders))))


def _side(rows: DataFrame, side: str) -> DataFrame:
    """Name the columns of rows as those of one side of pairs."""
    return rows.withColumnsRenamed({ID: side} | {name: f"{side}_{name}" for name in _KINDS})


def _allowed(limits: Limits) -> Column:
    """Return whether the limits let a pair be one (``lengths.rs``, ``row_limits.rs``)."""
    from pyspark.sql import functions as sql

    allowed = sql.lit(True)
    if limits.length_within is not None:
        one, other = sql.col(f"left_{LENGTH}"), sql.col(f"right_{LENGTH}")
        share = sql.lit(limits.length_within) * sql.greatest(one, other).cast("double")
        allowed = allowed & (sql.abs(one - other).cast("double") <= share)
    if limits.same_language:
        one, other = sql.col(f"left_{LANGUAGE}"), sql.col(f"right_{LANGUAGE}")
        allowed = allowed & (one == other) & (one != "")
    return allowed


def _blocks(distinct: DataFrame, count: int) -> Iterator[bytes]:
    """Yield so many distinct fingerprints, packed, at most ``BLOCK`` at a time."""
    pieces = distinct.repartition(1 + count // PIECE, FINGERPRINT)
    rows = pieces.mapInArrow(shipped(PACK), "packed binary")
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
        queries, places, _ = tables.chunk(_values(rows.column(FINGERPRINT)), 0)
        taken = rows.take(pa.array(np.asarray(places)))
        columns = {_LINK[0]: pa.array(values[np.asarray(queries)]), "right": taken.column(ID)}
        columns |= {f"right_{name}": taken.column(name) for name in _KINDS}
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
