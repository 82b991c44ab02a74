"""Makes the segments of an archive on a cluster: workers sign rows and write segment files, which come back as rows.

Rows are sorted by ``order``, so that taking over the segments in the order of ``first`` gives the order of arrival that
one ``index add`` of the sorted rows gives. ``lookalike index adopt`` does that with the written table. A worker holds
one segment at a time. Cost: one sort of the rows by Spark, and the signing of each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lookalike import _core, params
from lookalike._types import unheard
from lookalike.archive import signing_rows
from lookalike.archive.adopting_rows import FIRST, REASONS, ROWS, SEGMENT, SKIPPED
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import Reading, signer
from lookalike.corpora.arrays import USUAL_ID
from lookalike.errors import ParameterError
from lookalike.spark.keeping import quieted
from lookalike.spark.plans import check_text, column
from lookalike.spark.prints import check_column
from lookalike.spark.ranks import kind_of
from lookalike.spark.scratch import scratch
from lookalike.spark.shipping import Batches, shipped
from lookalike.spark.tables import check_order

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: Bytes of records in a segment: a row of Spark must fit its memory several times over.
SEGMENT_BYTES = 32 << 20
#: Bytes that writing a segment may take for sorting.
_MEMORY = 64 << 20
#: Reasons that a row of the answer lists; further skipped rows are only counted.
_LISTED = 100
#: What runs on the workers, and the column that holds the order there.
MAKE, _ORDER = "lookalike.spark.building.made", "lookalike order"


@quieted
def build_index(
    df: DataFrame,
    *,
    order: str | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    time_column: str | None = None,
    **parameters: Any,
) -> DataFrame:
    """Sign the rows of a table, and return segments of an archive.

    :param df: A table with texts and, if rows have them, ids. Of the other columns, strings, numbers and truth values
        are kept as metadata, as ``index add`` does.
    :param order: The column whose order is the order of arrival: whole numbers or strings, one of its own for every
        row. Default: the ids.
    :param text_column: The column of the texts.
    :param id_column: The column of the ids; a row without one is known by its content.
    :param time_column: The column of times, as ``index add`` takes it.
    :param parameters: Those of ``Index.create`` for an index of a corpus.
    :returns: One row for each segment: ``first`` (its smallest order), ``rows``, ``skipped``, ``reasons``, ``segment``.
        Write them as Parquet; ``lookalike index adopt`` takes that folder.
    :raises ParameterError: A parameter is out of range, a column is missing, or an order is null or not unique.
    """
    from pyspark.sql import types

    if "kind" in parameters:
        raise ParameterError("kind has no meaning here: an index that is built on a cluster is one of a corpus")
    asked = Parameters.of("corpus", **parameters)
    text = text_column or str(params.DEDUPLICATION["text_column"].default)
    named = id_column or (USUAL_ID if USUAL_ID in df.columns else None)
    by = order or named
    if by is None:
        raise ParameterError("the rows have no ids, so they have no order: name a column with `order`")
    for one in (by, text, *(one for one in (id_column, time_column) if one)):
        check_column(df, one)
    check_text(df, text)
    kind = df.schema[by].dataType
    kind_of(kind, by)
    check_order(df.select(column(df, by).alias("order")), by)
    fields = [(FIRST, kind), (ROWS, types.LongType()), (SKIPPED, types.LongType())]
    fields += [(REASONS, types.ArrayType(types.StringType())), (SEGMENT, types.BinaryType())]
    schema = types.StructType([types.StructField(name, one) for name, one in fields])
    rows = df.withColumn(_ORDER, column(df, by))
    rows = rows.repartitionByRange(_ORDER).sortWithinPartitions(_ORDER)
    return rows.mapInArrow(shipped(MAKE, asked.to_json(), (text, named, time_column), SEGMENT_BYTES), schema)


def made(batches: Batches, told: str, columns: tuple[str, str | None, str | None], most: int) -> Batches:
    """Yield the segments of a partition, of at least ``most`` bytes of records but for the last."""
    held = _Held(told)
    how = Reading(text_column=columns[0], id_column=columns[1], time_column=columns[2], threads=1)
    by = signer(Parameters.from_json(told), 1)
    for batch in batches:
        for signed in signing_rows.sign(_without_order(batch), by, how, None, unheard) if batch.num_rows else ():
            held.take(signed, batch.column(_ORDER)[0])
        if held.bytes >= most:
            yield from held.written()
    yield from held.written()


def _without_order(batch: pa.RecordBatch) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch]).drop_columns([_ORDER])


class _Held:
    """Signed rows that become the next segment."""

    def __init__(self, told: str) -> None:
        self._told = json.dumps({"parameters": json.loads(told)}, sort_keys=True, separators=(",", ":")).encode()
        self._clear()

    def _clear(self) -> None:
        self._records: list[bytes] = []
        self._reasons: list[str] = []
        self._first: Any = None
        self._skipped = self.bytes = 0

    def take(self, signed: Any, first: Any) -> None:
        """Add signed rows; ``first`` is the order of the first of their batch."""
        self._first = first if self._first is None else self._first
        self._records += [record for _, _, record in signed.documents]
        self.bytes += sum(len(record) for _, _, record in signed.documents)
        reasons = [
            f"{one.place}: {one.reason}" if one.place else one.reason for one in [*signed.problems, *signed.notes]
        ]
        self._skipped += sum(max(one.rows, 1) for one in signed.problems if not one.is_note)
        self._reasons += reasons[: _LISTED - len(self._reasons)]

    def written(self) -> Iterator[pa.RecordBatch]:
        """Yield what was taken as a segment, if there is any."""
        import pyarrow as pa

        if self._records or self._reasons:
            columns = {FIRST: pa.array([self._first.as_py()], self._first.type), ROWS: [len(self._records)]}
            columns |= {SKIPPED: [self._skipped], REASONS: pa.array([self._reasons], pa.list_(pa.string()))}
            columns[SEGMENT] = pa.array([self._segment()], pa.binary())
            yield pa.record_batch(columns)
        self._clear()

    def _segment(self) -> bytes:
        """Return the bytes of the segment file; none if no row could be read."""
        if not self._records:
            return b""
        with scratch() as folder:
            path = os.path.join(folder, "segment.lat")
            _core.write_segment(path, self._records, self._told, _MEMORY)
            with open(path, "rb") as file:
                return file.read()
