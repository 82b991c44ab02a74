"""Executors that have no lookalike get it with the job: the packages as an archive, as the page on Spark shows it."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from support.cluster import PATIENCE, SMALL, Cluster
from support.packages import OFFLINE, PYTHON, ROOT, UV, build_wheel, ran

#: What the page sends with a job; Spark itself and Java are on every worker.
SENT = ("pyarrow", "pandas")
PROGRAM = """
import json, os, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder
for name, value in json.loads(sys.argv[1]).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
from lookalike.errors import VersionError
from lookalike.spark import simhash
from lookalike.spark.shipping import told
rows = spark.createDataFrame([("a", "the ferry leaves at seven"), ("b", "boats to let")], "id string, text string")
try:
    with told():
        found = simhash(rows).collect()
    print(json.dumps(sorted([row.id, row.fingerprint] for row in found)))
except VersionError as error:
    print(json.dumps(str(error)))
spark.stop()
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of the wheel as one archive."""
    folder = tmp_path_factory.mktemp("packages")
    wheel = build_wheel(ROOT, folder / "wheel")
    command = [UV, "pip", "install", "--quiet", "--python", PYTHON, "--target", folder / "packages"]
    command += ["-c", ROOT / "constraints.txt", wheel, *SENT]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip("the package index cannot be reached, so the packages cannot be collected")
    assert done.returncode == 0, done.stderr
    with tarfile.open(folder / "packages.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(folder / "packages", ".")
    return folder / "packages.tar.gz"


def test_a_worker_without_the_package_is_refused_and_one_that_gets_it_answers(
    cluster: Cluster, packages: Path, tmp_path: Path
) -> None:
    import lookalike as la

    ran(PYTHON, "-m", "venv", "--without-pip", tmp_path / "bare")
    settings = {
        "spark.master": cluster.url,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": SMALL,
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.cores.max": "1",
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.task.maxFailures": "1",
        "spark.pyspark.python": str(tmp_path / "bare" / "bin" / "python"),
    }

    def told(**more: str) -> object:
        given = {**settings, **{name.replace("_", "."): value for name, value in more.items()}}
        environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
        done = subprocess.run(
            [str(PYTHON), "-c", PROGRAM, json.dumps(given)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    # A worker without Arrow cannot even read a batch, so that it says this is all that is asked.
    only_arrow = tmp_path / "arrow"
    only_arrow.mkdir()
    import numpy
    import pandas
    import pyarrow

    for module in (numpy, pandas, pyarrow):
        source = Path(module.__file__).parent
        (only_arrow / source.name).symlink_to(source)
        for libraries in source.parent.glob(f"{source.name}.libs"):
            (only_arrow / libraries.name).symlink_to(libraries)
    site = Path(pandas.__file__).parent.parent
    for name in ("dateutil", "pytz", "tzdata", "six.py"):
        if (site / name).exists():
            (only_arrow / name).symlink_to(site / name)
    assert "has no lookalike" in str(told(spark_executorEnv_PYTHONPATH=str(only_arrow)))

    sent = told(spark_archives=f"{packages}#packages", spark_executorEnv_PYTHONPATH="packages")
    texts = {"a": "the ferry leaves at seven", "b": "boats to let"}
    assert {name: bits % 2**64 for name, bits in sent} == {name: la.simhash(text) for name, text in texts.items()}  # type: ignore[union-attr]
