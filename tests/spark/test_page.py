"""The programs of the page on Spark run on the cluster; only addresses are replaced."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lookalike as la
from docs.tools.blocks import ROOT, blocks
from support.cluster import Cluster

PAGE = ROOT / "docs" / "howto" / "spark.md"


def test_the_programs_of_the_page_run(spark: Any, cluster: Cluster, tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": list(range(60)),
            "text": [f"note {number // 2} of the ferry that leaves at seven " * 3 for number in range(60)],
        }
    )
    (tmp_path / "corpus").mkdir()
    pq.write_table(table, tmp_path / "corpus" / "rows.parquet")
    programs = [block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if block.language == "py"]
    assert sum(len(one.splitlines()) for one in programs[:1]) <= 11
    names: dict[str, Any] = {}
    said = io.StringIO()
    for program in programs:
        placed = program.replace("hdfs:///", f"{tmp_path}/").replace("spark://host:7077", cluster.url)
        with contextlib.redirect_stdout(said):
            exec(compile(placed, str(PAGE), "exec"), names)
    expected = la.dedup(table, threshold=0.8)
    kept = pq.read_table(tmp_path / "clean").to_pylist()
    assert sorted(kept, key=lambda row: row["id"]) == expected.select().to_pylist()
    assert pq.read_table(tmp_path / "removed").num_rows == 60 - len(kept) > 0
    assert said.getvalue().startswith(f"{len(kept)} ")
    with la.Index.create(tmp_path / "archive", kind="corpus", threshold=0.8) as index:
        index.adopt(tmp_path / "segments")
        assert len(index) == 60
