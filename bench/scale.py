"""What a cluster would take for a web: unit costs measured on a small cluster here, and a table made of them.

    python -m bench.scale                     measure on this machine and print the tables of docs/scale.md
    python -m bench.scale --from FILE         print the tables again from kept measurements
    python -m bench.scale --out FILE          keep the measurements

Every step runs on a real cluster of two workers on loopback, at two sizes. The difference of the two, by document, is
the unit cost. The steps run once before at the smaller size, so that neither the start of Spark nor what Java compiles
is in it. CPU is that of all processes, Java and Python; bytes shuffled and spilled are from Spark's event log. The
model is in ``scale_model``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import duplicates, measure, scale_model
from bench.cluster_costs import Watch, write_rows

#: Documents of the two runs of each step.
SIZES = (100_000, 400_000)
#: Stored fingerprints of the two runs of `near`, and queries.
PRINTS, QUERIES = (20_000_000, 100_000_000), 1_000_000
#: Every so many queries one is made of a stored fingerprint, with this many bits changed: it must be found.
PLANTED, CHANGED = 1000, 3
#: Partitions of a run.
PARTITIONS = 16


def arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--from", dest="kept", type=Path, metavar="FILE", help="print from these measurements")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the measurements to this file")
    parser.add_argument("--sizes", type=int, nargs=2, default=SIZES, metavar="N", help="documents of the two runs")
    parser.add_argument("--prints", type=int, nargs=2, default=PRINTS, metavar="N", help="fingerprints of the two runs")
    parser.add_argument("--queries", type=int, default=QUERIES, metavar="N", help="queries of `near`")
    parser.add_argument(
        "--keys", type=Path, metavar="FILE", help="corpus whose keys are counted for skew: gzipped JSON Lines, or a zip"
    )
    parser.add_argument(
        "--only", choices=("near", "documents", "keys"), help="measure only this, keep the rest of --out"
    )
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Measure, or read what was measured, and print the tables."""
    options = arguments(given)
    if options.kept is None:
        before = json.loads(options.out.read_text()) if options.out is not None and options.out.exists() else {}
        found = measured(options)
        found = before | found | {"steps": before.get("steps", {}) | found["steps"]}
        if options.out is not None:
            options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    else:
        found = json.loads(options.kept.read_text(encoding="utf-8"))
    print(scale_model.page(found))
    return 0


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Run every step at both sizes."""
    from tests.support.cluster import Cluster, missing, session

    if reason := missing():
        sys.exit(f"bench.scale: {reason}")
    cluster = Cluster()
    found: dict[str, Any] = {"machine": measure.machine(), "load": measure.load_average(), "day": time.strftime("%F")}
    watch = Watch(cluster)
    try:
        with session(cluster.url, cluster.folder / "driver", **watch.settings()) as spark:
            spark.range(1000).count()
            if options.only in (None, "near"):
                found["near"] = [_near(spark, watch, count, options.queries) for count in options.prints]
            if options.keys is not None:
                found["keys"] = _keys_of(spark, options.keys)
            if options.only in (None, "documents"):
                small, large = (_rows(spark, cluster.folder, count) for count in options.sizes)
                _documents(small, watch.warm_up)
                found["documents"] = [_documents(rows, watch.step) for rows in (small, large)]
        watch.complete(found)
    finally:
        cluster.stop()
    return found


def _near(spark: Any, watch: Watch, count: int, queries: int) -> dict[str, Any]:
    """Search queries in so many fingerprints; the planted ones must be found."""
    from pyspark.sql import functions as sql

    from lookalike.spark import near

    stored = spark.range(0, count, 1, PARTITIONS).select("id", sql.xxhash64("id").alias("fingerprint"))
    changed = sql.when(sql.col("id") % PLANTED == 0, sql.xxhash64("id").bitwiseXOR(sql.lit((1 << CHANGED) - 1)))
    asked = spark.range(0, queries, 1, 4).select(
        "id", changed.otherwise(sql.xxhash64("id", sql.lit(1))).alias("fingerprint")
    )
    pairs = watch.step(f"near {count}", lambda: near(stored, asked, distance=CHANGED).pairs.collect())
    planted = {(row.left, row.distance) for row in pairs if row.left == row.right}
    expected = {(str(number), CHANGED) for number in range(0, min(queries, count), PLANTED)}
    assert expected <= planted, "a planted pair was not found"
    return {"fingerprints": count, "queries": queries, "pairs": len(pairs), "planted": len(expected)}


def _rows(spark: Any, folder: Path, count: int) -> Any:
    """Return so many documents of the corpus of near-duplicates. Spark divides them: that is part of no step."""
    import pyarrow.parquet as pq

    place = folder / f"{count}.parquet"
    write_rows(pq.read_table(duplicates.file(count, "parquet")), place)
    return spark.read.parquet(str(place))


def _documents(rows: Any, run: Callable[[str, Callable[[], Any]], Any]) -> dict[str, Any]:
    """Run the steps on documents."""
    from lookalike.spark import build_index, dedup, sign, simhash

    count, size = rows.selectExpr("count(*)", "sum(octet_length(text))").collect()[0]

    def answer() -> int:
        with dedup(rows) as found:
            _drain(found.kept)
            return int(found.summary["kept"])

    steps: dict[str, Callable[[], Any]] = {
        "simhash": lambda: _drain(simhash(rows)),
        "sign": lambda: _drain(sign(rows)),
        "build_index": lambda: _drain(build_index(rows)),
        "dedup": answer,
    }
    found = {name: run(f"{name} {count}", work) for name, work in steps.items()}
    return {"count": count, "bytes": size, "kept": found["dedup"]}


def _drain(rows: Any) -> None:
    """Compute all rows, and keep none."""
    rows.write.format("noop").mode("overwrite").save()


def _keys_of(spark: Any, corpus: Path) -> dict[str, Any]:
    """Count the keys of the filter of a corpus by how many documents hold them."""
    from pyspark.sql import functions as sql

    from bench.engines import texts_in
    from lookalike.spark import sign

    texts = texts_in(corpus)
    rows = spark.createDataFrame(list(enumerate(texts)), "id bigint, text string").repartition(PARTITIONS)
    holders = sign(rows).select(sql.explode("features").alias("key")).groupBy("key").count()
    counts = holders.groupBy("count").agg(sql.count("*").alias("keys")).collect()
    return {
        "corpus": corpus.parent.name,
        "documents": len(texts),
        "holders": sorted([row["count"], row["keys"]] for row in counts),
    }


if __name__ == "__main__":
    sys.exit(main())
