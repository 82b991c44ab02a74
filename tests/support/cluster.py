"""A real Spark cluster on loopback: a master and workers as processes of their own, on free ports.

Each worker has an address of its own (127.0.0.1, 127.0.0.2, …): Spark copies a slow task only to another machine. The
processes write to files, so that a failure can show what they said. The cluster is up when the master's own page
lists every worker as alive. All processes are ended by their ids, whatever happens.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: Seconds after which a process counts as hung. It decides how soon a failure is told, never what passes.
PATIENCE = 1200
#: Seconds between two looks.
LOOK = 0.1
#: What keeps the processes of Spark small on a machine that others use too.
SMALL = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k"
_DEPLOY = "org.apache.spark.deploy"


def missing() -> str:
    """Return why no cluster can be started here; nothing if one can."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed: run `make quick`, or `pip install 'lookalike[spark]'`"
    from lookalike.errors import ParameterError
    from lookalike.spark.java import java_home

    try:
        java_home()
    except ParameterError as error:
        return str(error)
    return ""


def becomes(condition: Callable[[], Any], what: str) -> Any:
    """Wait until a condition holds, and return its value."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"{what}: not within {PATIENCE} seconds"
        time.sleep(LOOK)
    return found


class Cluster:
    """A running cluster."""

    def __init__(self, workers: int = 2, cores: int = 2, memory: str = "2g", above: str | None = None) -> None:
        """Start a master and workers; return when all are registered. Their files are in a new folder in ``above``."""
        self.folder = Path(tempfile.mkdtemp(prefix="lookalike-cluster-", dir=above))
        self.cores = cores
        self._size = ["-c", str(cores), "-m", memory]
        self._started: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        try:
            self.master = self._start("master", "master.Master", "--port", "0")
            log = self.folder / "master.log"
            self.url = self._told(log, r"Starting Spark master at (spark://\S+)")
            self.page = self._told(log, r"Web ?UI.*started at (http://[\w.:]+)")
            for _ in range(workers):
                self.add_worker()
            self.wait_for_workers(workers)
        except BaseException:
            self.stop()
            raise

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker; ``wait_for_workers`` tells when it takes part."""
        number = len(self._started)
        name, work = f"worker{number}", self.folder / f"worker{number}"
        started = self._start(
            name, "worker.Worker", *self._size, "-d", str(work), self.url, address=f"127.0.0.{number}"
        )
        self.workers.append(started)
        return started

    def alive(self) -> list[dict[str, Any]]:
        """Return the workers that the master counts on."""
        with urllib.request.urlopen(f"{self.page}/json/", timeout=PATIENCE) as answer:
            return [one for one in json.load(answer)["workers"] if one["state"] == "ALIVE"]

    def wait_for_workers(self, count: int) -> None:
        """Return when the master counts on this many workers."""
        becomes(lambda: len(self.alive()) == count, f"{count} workers")

    @contextlib.contextmanager
    def replacing(self) -> Iterator[None]:
        """Start a worker for each one that ends meanwhile; at the end all take part."""
        count, ended = len(self.workers), threading.Event()

        def replace() -> None:
            for worker in [one for one in self.workers if one.poll() is not None]:
                self.workers.remove(worker)
                self.add_worker()

        def look() -> None:
            while not ended.wait(LOOK):
                replace()

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            replace()
            self.wait_for_workers(count)

    def stop(self) -> None:
        """End all processes, the master last, and remove their files."""
        for process in reversed(self._started):
            below = descendants(process.pid)
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(PATIENCE)
            for one in below:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, name: str, kind: str, *arguments: str, address: str = "127.0.0.1") -> subprocess.Popen[bytes]:
        """Start a process of Spark. `spark-class` becomes the Java process, so its id is the one to end."""
        import pyspark

        from lookalike.spark.java import java_home

        home = os.path.dirname(pyspark.__file__)
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("SPARK_")},
            "SPARK_HOME": home,
            "JAVA_HOME": java_home(),
            "SPARK_LOCAL_IP": address,
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": SMALL,
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [f"{home}/bin/spark-class", f"{_DEPLOY}.{kind}", "--host", address, "--webui-port", "0"]
        with open(self.folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                [*command, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._started.append(process)
        return process

    def _told(self, log: Path, pattern: str) -> str:
        """Return what a log says, once it says it."""

        def found() -> str | None:
            said = log.read_text(encoding="utf-8", errors="replace")
            assert self.master.poll() is None, f"the master ended: {said[-2000:]}"
            match = re.search(pattern, said)
            return match[1] if match else None

        return str(becomes(found, pattern))


def children(parent: int) -> list[int]:
    """Return the processes that a process has started and that still run."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found


def descendants(parent: int) -> list[int]:
    """Return all processes below a process."""
    below = children(parent)
    return [*below, *(one for child in below for one in descendants(child))]


#: Settings for many jobs on a few rows each: compiling code for every stage would take half of their time. What a lost
#: worker held is asked for once more only, and soon.
FEW_ROWS = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "100ms",
}
#: How a session is set up. Nothing but a summary may come to the driver, so its limit is small.
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.maxResultSize": "16m",
    "spark.driver.extraJavaOptions": SMALL,
    "spark.executor.memory": "1g",
    "spark.executor.cores": "1",
    # A command that a test runs beside the session finds room on the same cluster.
    "spark.cores.max": "2",
    "spark.executor.extraJavaOptions": SMALL,
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
    "spark.ui.enabled": "false",
    # Spark keeps what its pages would show, also without them. Of some hundred jobs it would fill the driver.
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "1",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


@contextlib.contextmanager
def session(url: str, scratch: Path, **settings: str) -> Iterator[Any]:
    """Run a session on the cluster of this address; a name in ``settings`` may have _ for each dot.

    It is the only session of this process. Its driver keeps files in ``scratch``.
    """
    from pyspark.sql import SparkSession

    from lookalike.spark.java import java_home

    own = {name.replace("_", "."): value for name, value in settings.items()}
    os.environ.update(JAVA_HOME=java_home(), PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    os.environ.update(SPARK_LOCAL_DIRS=str(scratch))
    builder = SparkSession.builder.master(url).appName("lookalike-tests")
    for name, value in (SETTINGS | own).items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    try:
        yield found
    finally:
        found.stop()
