"""Runs rows one after the other and judges each: is the answer right, and are the figures as wanted?

Only a wrong answer fails a run. Speeds depend on the machine and on who else uses it: they are told and never decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bench import (
    archive,
    clustering,
    crawl,
    deduplication,
    hamming,
    jobs,
    measure,
    parallel,
    rivals,
    simhashes,
    sketches,
    space,
    works,
)
from bench.definition import Definition, with_references
from bench.outcome import Outcome, SkippedError
from bench.works import Run
from lookalike import _core

WORKS: dict[str, Callable[[Definition, Run], Outcome]] = {
    "archive": archive.archive,
    "archive-day": archive.day,
    "archive-growth": archive.growth,
    "archive-passages": archive.passages,
    "archive-seen": archive.seen,
    "batch": works.batch,
    "clustering": clustering.clustering,
    "compare": jobs.compare,
    "compare-growth": jobs.compare_growth,
    "crawl": crawl.work,
    "dedup": deduplication.dedup,
    "dedup-growth": deduplication.dedup_growth,
    "dedup-threads": deduplication.dedup_threads,
    "figure5": works.figure5,
    "hamming": hamming.online,
    "hamming-batch": hamming.streamed,
    "hamming-mapped": hamming.mapped,
    "linear": works.linear,
    "memory": works.read_pass(_core.memory_pass),
    "one": works.one,
    "rival": rivals.rival,
    "rival-class": rivals.rival_class,
    "rival-dedup": deduplication.rival_dedup,
    "rival-hamming": hamming.rival_hamming,
    "rival-seen": archive.rival_seen,
    "rival-simhashes": simhashes.rival_simhashes,
    "rival-sketches": sketches.rival_sketches,
    "rolling": works.rolling,
    "shared-class": rivals.shared_class,
    "shared-dedup": deduplication.shared_dedup,
    "shared-growth": deduplication.shared_growth,
    "shared-simhashes": simhashes.shared_simhashes,
    "shared-sketches": sketches.shared_sketches,
    "shared-text": rivals.shared_text,
    "simhash-dedup": simhashes.simhash_dedup,
    "simhashes": simhashes.simhashes,
    "sketches": sketches.sketches,
    "space": space.memory,
    "threads": parallel.threads,
    "xxh3": works.read_pass(_core.xxh3),
}

#: Works whose answer is not ours to know.
UNJUDGED = ("rival", "rival-class", "rival-dedup", "rival-hamming", "rival-seen", "rival-simhashes", "rival-sketches")
#: Works that are not measured a second time: memory does not vary, and rivals and large corpora take minutes.
ONCE_ONLY = (*UNJUDGED, "archive", "archive-growth", "clustering", "crawl", "shared-growth", "space")


@dataclass(frozen=True)
class Figure:
    """A number told of a row, and its bound if one is wanted."""

    name: str
    value: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether it is as wanted; None where nothing is."""
        if self.at_least is None and self.at_most is None:
            return None
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )


@dataclass
class Row:
    """A definition and what came of it."""

    definition: Definition
    #: None when the row was skipped.
    outcome: Outcome | None = None
    figures: list[Figure] = field(default_factory=list)
    #: `right`, `wrong`, `unknown` or `skipped`.
    answer: str = "skipped"
    note: str = ""

    @property
    def name(self) -> str:
        """The definition's name."""
        return self.definition.name


def run_rows(definitions: list[Definition], run: Run) -> Iterator[Row]:
    """Measure rows in order on one core; each comes out as it ends.

    Machines have slow minutes. So a row that misses what is wanted comes out a second time at the end, measured again
    together with all it is measured against; of both times the best repetition counts, on either side of the ratio.
    """
    done: dict[str, Row] = {}
    with measure.pinned(measure.USABLE[-1:]):
        for definition in definitions:
            done[definition.name] = row = run_row(definition, run, done)
            yield row
        for definition in worth_repeating(done):
            done[definition.name] = row = run_row(definition, run, done)
            yield row


def worth_repeating(done: dict[str, Row]) -> list[Definition]:
    """Rows that missed and their references; never one with a wrong answer, which nothing may mend."""
    fit = {name for name, row in done.items() if row.definition.work not in ONCE_ONLY and row.answer == "right"}
    missed = [row.name for row in done.values() if any(figure.is_met is False for figure in row.figures)]
    rows = {name: row.definition for name, row in done.items()}
    return [row for row in with_references([name for name in missed if name in fit], rows) if row.name in fit]


def run_row(definition: Definition, run: Run, done: dict[str, Row]) -> Row:
    """Measure a row, on top of what was measured of it before."""
    try:
        outcome = WORKS[definition.work](definition, run)
    except SkippedError as reason:
        return Row(definition, note=str(reason))
    except Exception as error:
        error.add_note(f"in row `{definition.name}` of {definition.file.name}")
        raise
    before = done.get(definition.name)
    if before and before.outcome:
        outcome.times += before.outcome.times
    answer, note = judge(definition, outcome, run)
    figures = figures_of(definition, outcome, done)
    return Row(definition, outcome, figures if not run.quick else unbounded(figures), answer, note)


def judge(definition: Definition, outcome: Outcome, run: Run) -> tuple[str, str]:
    """Compare the answer with the one expected; what is said of it, and why."""
    if outcome.fault:
        return "wrong", outcome.fault
    if outcome.answer is None:
        return "unknown", "" if definition.work in UNJUDGED else "the text is not the one whose answer is known"
    expected = definition.expect.get(run.size)
    if outcome.answer == expected:
        return "right", ""
    return "wrong", f"expected {expected}, got {outcome.answer}"


def figures_of(definition: Definition, outcome: Outcome, done: dict[str, Row]) -> list[Figure]:
    values = {name: ratio(outcome, done[name].outcome) for name in definition.against} | outcome.figures
    for name, row in definition.relative.items():
        theirs = done[row].outcome
        values[f"{name} of {row}"] = outcome.figures[name] / theirs.figures[name] if theirs else None
    if outcome.is_job:
        values["seconds"] = outcome.times.best
    bounds = [
        (name, value, definition.at_least.get(name), definition.at_most.get(name)) for name, value in values.items()
    ]
    return [Figure(name, value, *bound) for name, value, *bound in bounds if value is not None]


def unbounded(figures: list[Figure]) -> list[Figure]:
    """Forget what is wanted: of small texts, measured once, nothing is."""
    return [Figure(figure.name, figure.value) for figure in figures]


def ratio(outcome: Outcome, reference: Outcome | None) -> float | None:
    """Tell a speed as a multiple of another; None when that row was skipped."""
    return outcome.mb_s / reference.mb_s if reference else None
