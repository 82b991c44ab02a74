"""A deduplication at the terminal: what was found, what it is worth, what could not be read, where the outputs are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.deduplication import Deduplication
from lookalike.deduplication.outputs import Outputs
from lookalike.rendering.safe import visible

if TYPE_CHECKING:
    from lookalike.corpora import Restored
    from lookalike.deduplication.expecting import Expected

#: Problems shown at the terminal.
SHOWN_PROBLEMS = 5
_STATES = {
    "short": "shorter than a shingle, compared as a whole only",
    "missing": "without a text",
    "bad": "unreadable",
    "blank": "blank lines",
}


def as_json(answer: Deduplication) -> str:
    """Return the facts as one JSON document."""
    return json.dumps(answer.to_json(), ensure_ascii=False, indent=2)


def print_facts(answer: Deduplication, asked: Outputs, report: Path | None) -> None:
    """Print what was found, what it is worth, what went wrong, and where the outputs are."""
    for line in [*_found(answer), *_worth(answer), *_warnings(answer), *_written(asked, report)]:
        sys.stdout.write(visible(line) + "\n")


def _found(answer: Deduplication) -> Iterator[str]:
    own = answer.rows - answer.references
    gone = sum(answer.removed.values())
    share = f" ({gone / own:.1%})" if own else ""
    yield f"{own:,} rows read, {own - gone:,} stay, {gone:,} go{share}"
    if gone:
        parts = ", ".join(f"{count:,} {link}" for link, count in answer.removed.items() if count)
        yield f"  of those that go: {parts}"
        sizes = answer.cluster_sizes
        yield f"  {len(sizes):,} clusters, the largest has {max(sizes.values()):,} rows"
    states = {name: count for name, count in answer.states.items() if count and name != "compared"}
    if states:
        yield "  not compared, and kept: " + ", ".join(f"{count:,} {_STATES[name]}" for name, count in states.items())


def _worth(answer: Deduplication) -> Iterator[str]:
    settings = answer.settings
    if settings.method == "simhash":
        verified = "not verified" if settings.no_verify else f"threshold {settings.threshold:g}, verified"
        promise = "what goes is within it of the one that stays" if settings.no_verify else _promise(answer)
        yield f"fingerprints within {settings.distance} of 64 bits, {verified}: {promise}"
    if settings.method == "minhash" and (found := settings.filter) is not None:
        yield (
            f"threshold {settings.threshold:g}, verified: {_promise(answer)}; "
            f"filter {found.k},{found.s},{found.r} finds {found.accept(settings.threshold):.2%} of the pairs exactly "
            f"there, {found.accept(min(1.0, settings.threshold + 0.05)):.2%} of those 0.05 above"
        )


def _promise(answer: Deduplication) -> str:
    if answer.settings.clustering != "components":
        return "every row that goes reaches it against the one that stays"
    threshold = answer.settings.threshold
    below = sum(answer.resemblances[row] < threshold for row in answer.gone)
    return (
        f"clusters hang together by pairs that reach it, and {below:,} rows that go do not against the one that stays"
    )


def _warnings(answer: Deduplication) -> Iterator[str]:
    for giant in answer.giants[:3]:
        around = f"{giant.documents:,} documents around row {giant.survivor:,}"
        yield f"warning: a cluster of {around}: look at it before you rely on it"
    if answer.capped:
        untried = sum(one.untried for one in answer.capped)
        yield f"note: {len(answer.capped):,} keys are so common that {untried:,} of their pairs were not tried"
    if unsampled := answer.work["unsampled"]:
        yield f"note: {unsampled:,} documents are too short to be sampled; a smaller --modulus reaches them"
    for problem in answer.problems[:SHOWN_PROBLEMS]:
        place = f", {problem.place}" if problem.place else ""
        yield f"not read: {problem.source}{place}: {problem.reason}"
    if len(answer.problems) > SHOWN_PROBLEMS:
        yield f"  and {len(answer.problems) - SHOWN_PROBLEMS:,} more; --json lists them"


def _written(asked: Outputs, report: Path | None) -> Iterator[str]:
    named = {"out": asked.out, "clusters": asked.clusters, "pairs": asked.pairs, "ledger": asked.ledger}
    for name, path in named.items():
        if path is not None:
            yield f"{name}: {path}"
    if report is not None:
        yield f"report: {report / 'report.html'}"


def print_restored(done: Restored, out: str) -> None:
    """Print what was put back."""
    problems = [f"{problem.source}: {problem.reason}" for problem in done.problems]
    for line in [f"{done.sources:,} sources with {done.rows:,} rows are restored: {out}", *problems]:
        sys.stdout.write(visible(line) + "\n")


def restored_json(done: Restored) -> str:
    """Return what was put back as one JSON document."""
    problems = [f"{problem.source}: {problem.reason}" for problem in done.problems]
    return json.dumps({"sources": done.sources, "rows": done.rows, "problems": problems})


def print_expected(expected: Expected, spent: float) -> None:
    """Print what a run would take."""
    for line in expected.lines(spent):
        sys.stdout.write(line + "\n")
