"""A deduplication at the command line: progress while it runs, the facts when it is done."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lookalike.deduplication import Deduplication, job
from lookalike.deduplication.outputs import Outputs, write
from lookalike.deduplication.reading import Progress
from lookalike.documents.reasons import in_bytes
from lookalike.errors import ParameterError
from lookalike.report.safe import visible

#: Problems shown at the terminal.
SHOWN_PROBLEMS = 5
_STATES = {
    "short": "shorter than a shingle, compared as a whole only",
    "missing": "without a text",
    "bad": "unreadable",
    "blank": "blank lines",
}


def run(
    inputs: list[str], against: list[str], asked: Outputs, report: Path | None, chosen: dict[str, Any]
) -> Deduplication:
    """Deduplicate with a progress bar on stderr."""
    if report is not None:
        from lookalike.report.folder import check_out

        check_out(report, asked.overwrite)
        if chosen.get("no_verify"):
            raise ParameterError("a report tells of resemblances, and --no-verify measures none: leave out one of them")
    sources = given(inputs)
    others = given(against) or None
    with (
        progress() as tell,
        job.opened(sources, against=others, outputs=asked, progress=tell, **chosen) as (answer, corpus, scratch),
    ):
        if asked.any:
            write(answer, corpus, scratch, asked, tell)
        if report is not None:
            from lookalike.report.dedup_pages import write as write_report

            write_report(answer, report, overwrite=asked.overwrite, progress=tell)
    return answer


def given(inputs: Sequence[str]) -> list[_Given]:
    """Return inputs as paths: several strings would be texts."""
    return [_Given(one) for one in inputs]


class _Given:
    """An input as it was typed: a path, a pattern, an address, or ``-``."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __fspath__(self) -> str:
        return self._text


@contextmanager
def progress() -> Iterator[Progress]:
    """Show phase, amount, speed and time left on a terminal; nothing elsewhere, where a bar would only fill a log."""
    if not sys.stderr.isatty():
        yield lambda phase, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
    from rich.text import Text

    class Figures(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(figures(int(task.completed), _whole(task.total), task.elapsed or 0.0, task.speed))

    columns = (TextColumn("{task.description}"), BarColumn(), Figures())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(phase: str, done: int, total: int | None) -> None:
            if phase not in tasks:
                for task in tasks.values():
                    bar.stop_task(task)
                tasks[phase] = bar.add_task(phase, total=total)
            bar.update(tasks[phase], completed=done if total is None else min(done, total), total=total)

        yield tell


def _whole(total: float | None) -> int | None:
    return None if total is None else int(total)


def figures(done: int, total: int | None, seconds: float, speed: float | None) -> str:
    """Say how far a phase is; of one whose end is not known, how long it has been going on."""
    if total is None:
        return f"{seconds:.0f} s" if not done else f"{in_bytes(done)}, {seconds:.0f} s"
    shown = f"{in_bytes(done)} of {in_bytes(total)}"
    if not speed:
        return shown
    return f"{shown}, {in_bytes(int(speed))}/s, {(total - done) / speed:.0f} s left"


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


def restore(inputs: Sequence[str], ledger: str, out: str | None, overwrite: bool, is_json: bool) -> None:
    """Give an input back from its clean output and its ledger."""
    from lookalike.corpora import restore as restored

    if len(inputs) != 1 or out is None:
        raise ParameterError("to restore, give the clean output as the one INPUT, and -o for what it was made of")
    done = restored(ledger, inputs[0], out, overwrite=overwrite)
    problems = [f"{problem.source}: {problem.reason}" for problem in done.problems]
    facts = {"sources": done.sources, "rows": done.rows, "problems": problems}
    lines = [f"{done.sources:,} sources with {done.rows:,} rows are whole again: {out}", *problems]
    sys.stdout.write((json.dumps(facts) if is_json else "\n".join(visible(line) for line in lines)) + "\n")


def dry_run(inputs: list[str], against: list[str], chosen: dict[str, Any], is_json: bool) -> None:
    """Tell from the beginning of the inputs what the whole will take."""
    from lookalike.deduplication.expecting import expect

    started = time.process_time()
    expected = expect([*against, *inputs], chosen)
    if is_json:
        sys.stdout.write(json.dumps(expected.to_json(), indent=2) + "\n")
        return
    for line in expected.lines(time.process_time() - started):
        sys.stdout.write(line + "\n")
