"""A Spark session for a command: started quietly, watched while it works, and stopped whatever happens.

What Spark itself says goes to a file, which a failure names; users read one sentence.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lookalike._types import Progress
from lookalike.engines.writing import WriteError
from lookalike.errors import LookalikeError, MissingExtraError, ParameterError
from lookalike.spark.java import java_home
from lookalike.spark.keeping import running_step
from lookalike.spark.shipping import told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Seconds between two looks at the progress of a job.
_LOOK = 0.5
#: What a session of a command has unless ``conf`` says otherwise.
_USUAL = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    # What is broadcast passes through the driver.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
#: The addresses in that of a master, and how many seconds each may take to answer.
_MASTERS, _ANSWER = re.compile(r"([^:,/]+):(\d+)"), 10


def settings(conf: Sequence[str]) -> dict[str, str]:
    """Return settings of Spark that are written as NAME=VALUE. Errors: ``ParameterError``."""
    found = {}
    for one in conf:
        name, equals, value = one.partition("=")
        if not equals or not name.startswith("spark."):
            raise ParameterError(f"conf `{one}` is no setting of Spark: use spark.NAME=VALUE")
        found[name] = value
    return found


def check_master(master: str | None) -> None:
    """Errors: ``WriteError`` if no master of a standalone cluster answers; Spark itself asks for minutes."""
    if master is None or not master.startswith("spark://"):
        return
    reasons = []
    for host, port in _MASTERS.findall(master.removeprefix("spark://")):
        try:
            socket.create_connection((host, int(port)), _ANSWER).close()
        except (OSError, OverflowError) as error:
            reasons.append(str(error))
        else:
            return
    if reasons:
        raise WriteError(errno.EIO, f"no Spark master answers at {master} ({reasons[0]}): check --master")


@contextlib.contextmanager
def session(master: str | None, conf: Sequence[str], tell: Progress) -> Iterator[SparkSession]:
    """Run a session; ``tell`` hears of every stage.

    Errors: ``MissingExtraError``, ``ParameterError``, ``VersionError``, ``WriteError`` for what Spark could not do.
    """
    asked = {**_USUAL, **settings(conf)}
    check_master(master)
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingExtraError("engine spark", "spark") from None
    os.environ["JAVA_HOME"] = java_home()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    with _log() as log, _Interrupts() as interrupts, _spoken(log, interrupts, master):
        started = _started(master, asked, log)
        # Spark has put its own handler in the place of Python's.
        interrupts.heed()
        try:
            with _watched(started, tell):
                yield started
        finally:
            with contextlib.suppress(Exception):
                started.stop()


@contextlib.contextmanager
def _log() -> Iterator[str]:
    """Yield a file for what Spark says. It is removed unless an error names it."""
    handle, path = tempfile.mkstemp(prefix="lookalike-spark-", suffix=".log")
    os.close(handle)
    try:
        yield path
    except WriteError:
        raise
    except BaseException:
        os.unlink(path)
        raise
    else:
        os.unlink(path)


def _started(master: str | None, asked: dict[str, str], log: str) -> SparkSession:
    """Start Spark. Its Java process keeps the handle of standard error that is there now, so that is the log."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("lookalike")
    if master is not None:
        builder = builder.master(master)
    for name, value in asked.items():
        builder = builder.config(name, value)
    with _stderr_to(log), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return builder.getOrCreate()


@contextlib.contextmanager
def _stderr_to(path: str) -> Iterator[None]:
    kept = os.dup(2)
    with open(path, "ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextlib.contextmanager
def _watched(started: Any, tell: Progress) -> Iterator[None]:
    """Tell of stages from another thread while a job runs."""
    ended = threading.Event()

    def watch() -> None:
        tracker = started.sparkContext.statusTracker()
        is_cluster = not started.sparkContext.master.startswith("local")
        while not ended.wait(_LOOK):
            with contextlib.suppress(Exception):
                for number in tracker.getActiveStageIds():
                    stage = tracker.getStageInfo(number)
                    name = ", ".join(filter(None, (running_step(), f"stage {number}")))
                    if is_cluster and not stage.numActiveTasks and not stage.numCompletedTasks:
                        name += ", waiting for executors"
                    tell(name, stage.numCompletedTasks, stage.numTasks)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        ended.set()
        thread.join()


class _Interrupts:
    """Turns SIGINT and SIGTERM into ``KeyboardInterrupt``, and remembers them: Java may hear of them too and end."""

    def __init__(self) -> None:
        self.is_heard = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interrupts:
        self.heed()
        return self

    def heed(self) -> None:
        """Put the handlers in place. Only the main thread may; elsewhere nobody interrupts."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.signal(number, self._hear)
                self._before.setdefault(number, before)

    def _hear(self, _number: int, _frame: object) -> None:
        self.is_heard = True
        # Spark's own code tells of calls that end with it, with tracebacks; one line says it.
        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")
        raise KeyboardInterrupt

    def __exit__(self, *_error: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        if self.is_heard:
            logging.disable(logging.NOTSET)


@contextlib.contextmanager
def _spoken(log: str, interrupts: _Interrupts, master: str | None) -> Iterator[None]:
    """Turn what Spark raises into one sentence. Errors: ``ParameterError``, ``VersionError``, ``WriteError``."""
    try:
        with told():
            yield
    except (LookalikeError, KeyboardInterrupt, OSError):
        if interrupts.is_heard:
            raise KeyboardInterrupt from None
        raise
    except Exception as error:
        if interrupts.is_heard:
            raise KeyboardInterrupt from None
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        if _ENDED in str(error):
            asked = "" if master is None else f" at {master}"
            raise WriteError(
                errno.EIO, f"Spark has ended: is there a cluster{asked}, and can it be reached? its log is {log}"
            ) from None
        for words, meant in _MEANT.items():
            if words in str(error):
                raise ParameterError(meant) from None
        kind, said = _condition(error)
        if kind in _USAGE:
            raise ParameterError(f"{said}{_USAGE[kind]}") from None
        raise WriteError(errno.EIO, f"Spark failed: {said}{_FAILED.get(kind, '')}; its log is {log}") from None


#: What every call says once Spark has ended by itself, as it does if no master answers.
_ENDED = "Cannot call methods on a stopped SparkContext"
#: Words of Spark that mean something a user can mend, and what that is.
_MEANT = {
    "CSV header does not conform to the schema": "the headers of the CSV files differ: engine spark reads files with "
    "the same columns in the same order; deduplicate the others apart, or use --engine local",
    "PARQUET_COLUMN_DATA_TYPE_MISMATCH": "a column has several types in the Parquet files of a table: write it with "
    "one type",
    "Could not read footer": "a file of the inputs is not Parquet: name its format with --format",
    "S3AFileSystem not found": "Spark has no file system for s3a here: add --conf "
    "spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION, with the version of Hadoop that your Spark has",
    "Please increase heap size": "the driver of Spark has too little memory: raise spark.driver.memory with --conf",
    "Please increase executor memory": "executors have too little memory: raise spark.executor.memory with --conf",
    "JAVA_GATEWAY_EXITED": "Spark did not start: check --master (such as spark://host:7077 or local[2]) and --conf",
    "CONFLICTING_PARTITION_COLUMN_NAMES": "the folders below an input are divided by different columns: give each as "
    "an input of its own run",
}
#: Conditions of Spark that a user can mend, and how.
_USAGE = {
    "PATH_NOT_FOUND": ": check the path",
    "PATH_ALREADY_EXISTS": ": choose another, or use --overwrite",
    "TABLE_OR_VIEW_NOT_FOUND": ": check the name of the table",
    "UNABLE_TO_INFER_SCHEMA": ": does it hold files of this format, not only in folders inside it? name another format "
    "with --format",
    "PARSE_SYNTAX_ERROR": ": check the name of the table",
    "SCHEMA_NOT_FOUND": ": check the name of the table",
    "DATA_SOURCE_NOT_FOUND": "",
    "COLUMN_ALREADY_EXISTS": "",
    "INVALID_CONF_VALUE": ": check --conf",
}
#: Conditions of Spark that may come of the machines as well, and what else may help.
_FAILED = {
    "FAILED_READ_FILE": ": if it is damaged, leave it out, or use --engine local, which reads what is whole",
}


def _condition(error: Any) -> tuple[str, str]:
    """Return the name of a condition of Spark, of the error or of what caused it, and its first sentence."""
    cause, text = error, ""
    while cause is not None:
        text = text or str(cause)
        found = re.search(r"\[([A-Z_]+)(?:\.[A-Z_]+)*\] ([^\n]*?)(?:\.? SQLSTATE|$|\n)", str(cause))
        if found:
            return found[1], found[2].strip().rstrip(".") + _root(str(cause))
        cause = getattr(cause, "_cause", None)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    worst = next((line for line in lines if "Exception: " in line or "Error: " in line), lines[0] if lines else "")
    return "", worst.lstrip(": ")[:300] or type(error).__name__


def _root(text: str) -> str:
    """Return what Java says of the first cause of an error about a file, in brackets; empty if it says nothing."""
    causes = re.findall(r"^Caused by: [\w.$]+: ([^\n]+)", text, re.MULTILINE) if "FAILED_READ_FILE" in text else []
    return f" ({causes[-1].strip()[:200]})" if causes else ""
