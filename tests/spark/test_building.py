"""An archive whose segments were made on a cluster answers as one to which the same rows were added."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.cli.main import cli

WORDS = [f"word{number}" for number in range(300)]
CHOSEN: dict[str, Any] = {"threshold": 0.7}


def rows() -> list[dict[str, Any]]:
    """Texts of which some are near others, with further columns, and rows that cannot be read."""
    chance = random.Random(3)
    found: list[dict[str, Any]] = []
    for number in range(240):
        text = chance.choices(WORDS, k=60)
        if found and chance.random() < 0.4:
            text = str(found[chance.randrange(len(found))]["text"]).split()
            text[chance.randrange(len(text))] = "changed"
        found.append({"id": f"d{number:03}", "text": " ".join(text), "year": 2000 + number % 7})
    found[17]["text"] = None
    return found


def frame(spark: Any, given: list[dict[str, Any]]) -> Any:
    return spark.createDataFrame([tuple(row.values()) for row in given], "id string, text string, year int")


def answers(index: la.Index, texts: list[str]) -> list[Any]:
    def told(text: str) -> Any:
        found = json.loads(json.dumps(index.query(text).to_json(), default=str))
        return {name: value for name, value in found.items() if name not in ("index", "generation")}

    return [told(text) for text in texts]


@pytest.fixture(scope="module")
def segments(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lookalike.spark.building import build_index

    folder = tmp_path_factory.mktemp("segments") / "parquet"
    build_index(frame(spark, rows()).repartition(7), **CHOSEN).write.parquet(str(folder))
    return folder


def test_an_archive_of_adopted_segments_answers_as_an_added_one(segments: Path, tmp_path: Path) -> None:
    given = rows()
    table = pa.Table.from_pylist(given, pa.schema([("id", "string"), ("text", "string"), ("year", "int32")]))
    with la.Index.create(tmp_path / "added", kind="corpus", **CHOSEN) as index:
        added = index.add(table)
        entries = [(one.id, one.meta) for one in index.documents()]
        expected = answers(index, [row["text"] for row in given[:40] if row["text"]])
    la.Index.create(tmp_path / "adopted", kind="corpus", **CHOSEN).close()
    done = CliRunner().invoke(cli, ["index", "adopt", str(tmp_path / "adopted"), str(segments), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["added"], told["replaced"], told["unchanged"]) == (added.added, 0, 0)
    assert len(told["skipped"]) == len(added.skipped) == 1
    with la.Index.open(tmp_path / "adopted", write=True) as index:
        assert [(one.id, one.meta) for one in index.documents()] == entries
        assert answers(index, [row["text"] for row in given[:40] if row["text"]]) == expected
        assert index.check() == []
        again = index.adopt(segments)
        assert (again.added, again.replaced, again.unchanged) == (0, 0, added.added)


def test_segments_made_with_other_parameters_are_refused(segments: Path, tmp_path: Path) -> None:
    with (
        la.Index.create(tmp_path / "own", kind="corpus", threshold=0.9) as index,
        pytest.raises(la.VersionError, match="threshold"),
    ):
        index.adopt(segments)


def test_a_table_that_holds_no_segments_is_wrong_usage(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "rows.parquet")
    with la.Index.create(tmp_path / "own", kind="corpus") as index:
        with pytest.raises(la.ParameterError, match="holds no segments, it has no column `first`"):
            index.adopt(tmp_path / "rows.parquet")
        (tmp_path / "torn.parquet").write_bytes(b"PAR1")
        with pytest.raises(la.DamagedError, match="cannot be read as Parquet"):
            index.adopt(tmp_path / "torn.parquet")


def test_several_segments_of_a_partition_keep_the_order(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lookalike.spark import building

    monkeypatch.setattr(building, "SEGMENT_BYTES", 1)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
    try:
        df = frame(spark, rows()).withColumnRenamed("id", "name")
        made = building.build_index(df.coalesce(1), order="name", id_column="name", **CHOSEN)
        made.write.parquet(str(tmp_path / "segments"))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert spark.read.parquet(str(tmp_path / "segments")).count() >= 5
    with la.Index.create(tmp_path / "own", kind="corpus", **CHOSEN) as index:
        index.adopt(tmp_path / "segments")
        assert [one.id for one in index.documents()] == [row["id"] for row in rows() if row["text"] is not None]
    with pytest.raises(la.ParameterError, match="they have no order"):
        building.build_index(df)
