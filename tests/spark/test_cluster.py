"""The cluster that the other tests run on is one: two workers in processes of their own, with the package in reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from support.cluster import Cluster


def test_both_workers_work_with_this_package(spark: Any, cluster: Cluster) -> None:
    def told(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import os

        import lookalike

        rows = sum(batch.num_rows for batch in batches)
        yield pa.record_batch({"parent": [os.getppid()], "rows": [rows], "version": [lookalike.__version__]})

    found = spark.range(0, 1000, 1, 8).mapInArrow(told, "parent long, rows long, version string").collect()
    import lookalike

    assert sum(row.rows for row in found) == 1000
    assert {row.version for row in found} == {lookalike.__version__}
    assert len(cluster.alive()) == 2
    assert spark.sparkContext.getConf().get("spark.master") == cluster.url
