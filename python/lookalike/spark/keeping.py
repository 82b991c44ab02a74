"""Keeps tables that several steps read in the memory and on the disks of the executors, until the caller releases them.

What a lost executor kept is computed again. Every step is a pure function of rows, so it is the
same, unless the input has changed meanwhile.

While a job runs, its plans are neither adaptive nor written out in full, and mean the same in every session. Spark
keeps the text of every plan for its pages, with everything held below it, once more whenever an adaptive plan changes;
a long chain of steps fills the driver with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import signature
from threading import Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from lookalike.spark.plans import check_kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Given = ParamSpec("Given")
Made = TypeVar("Made")

#: How Spark plans jobs. What it broadcasts passes through the driver, and it takes sketches and texts in compressed
#: files for smaller than they are.
_QUIET = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.maxPlanStringLength": "16384",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Spark holds tables in batches of so many rows, at most 4 MiB. While it writes or reads them, Java's serializer
    # keeps a hundred batches in memory that nothing accounts for, so batches of bundles must be far smaller.
    "spark.sql.inMemoryColumnarStorage.batchSize": "256",
    # These change what a table of counts has, what a name in backticks means, and which words are names.
    "spark.sql.retainGroupColumns": "true",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
}
#: The number of partitions of shuffles, and the least that a job needs. With one, Spark leaves shuffles out: a task
#: would then begin with all rounds of ``components``, and so long a chain overflows the stack of Java.
_PARTITIONS, _LEAST = "spark.sql.shuffle.partitions", 2

#: For each session, how many jobs run in it, its settings before the first of them, and those of the jobs.
_QUIETED: dict[int, tuple[int, dict[str, str | None], dict[str, str]]] = {}
_LOCK = Lock()


@contextmanager
def quiet(df: DataFrame) -> Iterator[None]:
    """Switch adaptive plans and long texts of plans off while jobs run; restore the settings after the last of them."""
    conf, session = df.sparkSession.conf, id(df.sparkSession)
    with _LOCK:
        jobs, before, own = _QUIETED.get(session, (0, {}, {}))
        if not jobs:
            own = _QUIET | {_PARTITIONS: str(max(_LEAST, int(str(conf.get(_PARTITIONS)))))}
            before = {name: conf.get(name, None) for name in own}
            for name, value in own.items():
                conf.set(name, value)
        _QUIETED[session] = jobs + 1, before, own
    try:
        yield
    finally:
        with _LOCK:
            jobs, before, own = _QUIETED.pop(session)
            if jobs > 1:
                _QUIETED[session] = jobs - 1, before, own
            else:
                _restore(conf, before, own)


def quieted(work: Callable[Given, Made]) -> Callable[Given, Made]:
    """Let a function whose first argument is a DataFrame plan its tables as jobs do, whatever the session has."""
    first = next(iter(signature(work).parameters))

    @wraps(work)
    def run(*given: Given.args, **named: Given.kwargs) -> Made:
        df: Any = given[0] if given else named.get(first)
        check_kind(df)
        with quiet(df):
            return work(*given, **named)

    return run


def _restore(conf: Any, before: dict[str, str | None], own: dict[str, str]) -> None:
    # A session that was stopped meanwhile has no settings any more.
    with suppress(Exception):
        for name, found in before.items():
            if conf.get(name, None) != own[name]:
                continue  # somebody else has changed it meanwhile
            if found is None:
                conf.unset(name)
            else:
                conf.set(name, found)


#: The steps that run in this process.
_RUNNING: list[str] = []


@contextmanager
def step(df: DataFrame, name: str) -> Iterator[None]:
    """Mark the jobs of Spark that start meanwhile as those of a step: its pages and its log then tell them apart."""
    session, tag = df.sparkSession, f"lookalike {name}"
    session.addTag(tag)
    _RUNNING.append(name)
    try:
        yield
    finally:
        _RUNNING.remove(name)
        session.removeTag(tag)


def running_step() -> str:
    """Return the name of the step that began last, for progress; empty if none runs."""
    return _RUNNING[-1] if _RUNNING else ""


class Kept:
    """The DataFrames that a job keeps on the executors."""

    def __init__(self) -> None:
        self._held: list[DataFrame] = []

    def hold(self, df: DataFrame) -> DataFrame:
        """Keep a DataFrame from its first use on."""
        from pyspark import StorageLevel

        held = df.persist(StorageLevel.MEMORY_AND_DISK)
        self._held.append(held)
        return held

    def release(self, df: DataFrame) -> None:
        """Release a DataFrame, if it is kept."""
        rest = [one for one in self._held if one is not df]
        if len(rest) < len(self._held):
            df.unpersist()
        self._held = rest

    def close(self) -> None:
        """Release all, the last first: Spark makes new plans for kept tables that use a released one."""
        for one in reversed(self._held):
            # A session that was stopped keeps nothing.
            with suppress(Exception):
                one.unpersist()
        self._held = []
