"""The report of a deduplication: one page, and the same for programs; whole, or not there at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from heapq import nlargest, nsmallest
from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple

from lookalike import _core, params
from lookalike._types import Progress
from lookalike.deduplication import Deduplication
from lookalike.deduplication.audit import CONFIDENCE, Audit, Share, audit
from lookalike.deduplication.picking import Row, pick
from lookalike.deduplication.result import LINKS
from lookalike.documents.reasons import in_bytes
from lookalike.rendering.comparison_tables import KIND, SCHEMA_VERSION
from lookalike.rendering.html import frame
from lookalike.rendering.html.dedup_plots import PLOT, PLOT_TOP, CurvePlot, curve_plot, resemblance_bars, size_bars
from lookalike.rendering.html.differences import Side, differences
from lookalike.rendering.html.folder import JSON, OVERVIEW, drafted
from lookalike.rendering.safe import visible

#: How many are listed; report.json has them all, but for examples.
MOST = {"sources": 50, "problems": 200, "capped": 20, "giants": 20}
#: Pairs that are shown, by why; 30 at most.
MISSED, NEAREST, ESTIMATED, HIGHEST, GIANTS = 6, 9, 6, 5, 2
#: What the audit tells, in this order.
ORDER = ("partnered", "documents", "pairs", "removed", "estimated")
#: Characters of a name that are shown.
NAME = 200


class Example(NamedTuple):
    """A pair that is shown: the row that stays, the one that goes, what was said and what is so."""

    why: str
    left: int
    right: int
    #: As the job has it, and how it was found; of missed pairs nothing was found.
    found: float | None
    link: str
    exact: float | None = None


class Shown(NamedTuple):
    """An example with its names and texts."""

    example: Example
    names: tuple[str, str]
    sides: tuple[Side, Side]


class Measure(NamedTuple):
    """A line of the audit."""

    name: str
    share: Share
    #: What it means, in one sentence.
    sentence: str


def write(
    answer: Deduplication,
    out: Path,
    *,
    overwrite: bool = False,
    seed: int = params.SEED.default,
    progress: Progress | None = None,
) -> Audit:
    """Audit an answer while its corpus is open, and write the report into a new folder, or in place of an earlier one.

    Errors: ``ParameterError`` if the folder is not free, ``OSError``.
    """
    with drafted(out, overwrite=overwrite) as draft:
        found = audit(answer, seed=seed, progress=progress)
        plot = curve_plot(answer)
        shown = _shown(answer, _examples(answer, found))
        (draft / OVERVIEW).write_bytes(_page(answer, found, plot, shown).encode())
        (draft / JSON).write_bytes(_json(answer, found, plot, shown).encode())
    return found


def _page(answer: Deduplication, found: Audit, plot: CurvePlot | None, shown: list[Shown]) -> str:
    own = answer.rows - answer.references
    least, bars = resemblance_bars(answer)
    giants = pick(answer.stretches, (giant.survivor for giant in answer.giants[: MOST["giants"]]), answer.settings)
    return frame.page(
        "dedup",
        answer=answer,
        title=f"Deduplication of {own:,} row{'' if own == 1 else 's'}",
        lead=" ".join(_lead(answer)),
        own=own,
        gone=sum(answer.removed.values()),
        measure="containment" if answer.settings.method == "containment" else "resemblance",
        sizes=size_bars(answer),
        least=least,
        bars=bars,
        plot=(PLOT, PLOT_TOP),
        curve=plot,
        audit=found,
        measures=list(_measures(answer, found)),
        confidence=frame.percent(CONFIDENCE),
        shown=shown,
        giant_names=[_name(giants.get(giant.survivor), giant.survivor) for giant in answer.giants[: MOST["giants"]]],
        facts=list(_facts(answer)),
        sources=[
            (
                visible(one.source.name),
                one.source.format,
                one.rows,
                in_bytes(one.source.size) if one.source.size else "",
            )
            for one in answer.stretches[: MOST["sources"]]
        ],
        most=MOST,
        exactly=_exactly,
    )


def _lead(answer: Deduplication) -> Iterator[str]:
    """Say what was done, and what is sure about it."""
    settings, gone, own = answer.settings, sum(answer.removed.values()), answer.rows - answer.references
    if settings.method == "exact":
        yield "Only identical texts were looked for."
    if not gone:
        yield f"Nothing found: all {own:,} rows stay."
        return
    yield f"{gone:,} of {own:,} rows go ({frame.percent(gone / own)}), {own - gone:,} stay."
    if settings.clustering == "components":
        yield (
            f"Pairs from {settings.threshold:g} on hold rows together, and chains of them do too: a row may be less "
            "like the one that stays for it than the threshold says."
        )
    elif settings.method == "containment":
        yield f"Of every row that goes, at least {settings.threshold:g} is in the one that stays, verified one by one."
    elif settings.method == "minhash":
        yield f"Every row that goes reaches {settings.threshold:g} against the one that stays, verified one by one."


def _facts(answer: Deduplication) -> Iterator[tuple[str, str]]:
    """Yield what people ask first."""
    words = {
        "short": "shorter than a shingle, compared as a whole only",
        "missing": "without a text",
        "bad": "unreadable",
        "blank": "blank lines",
    }
    yield "Version", f"lookalike {_core.__version__}"
    yield "Rows read", f"{answer.rows:,}"
    if answer.references:
        yield "Rows to stay clear of", f"{answer.references:,}"
    apart = ", ".join(f"{answer.states[state]:,} {told}" for state, told in words.items() if answer.states[state])
    yield "Not compared, and kept", apart or "none"
    yield "Documents after identical texts were put together", f"{answer.documents:,}"
    work = answer.work
    yield "Pairs glanced at, and compared exactly", f"{work['glances']:,}, {work['exact_comparisons']:,}"
    if work["unsampled"]:
        yield "Documents too short to be sampled", f"{work['unsampled']:,}"
    if work["spilled_bytes"]:
        yield "Kept in files, for want of memory", in_bytes(work["spilled_bytes"])
    for name, value in answer.settings.shown.items():
        yield name.replace("_", " "), visible(frame.plain(value))


def _measures(answer: Deduplication, found: Audit) -> Iterator[Measure]:
    """Yield the audit as people read it."""
    threshold = f"{answer.settings.threshold:g}"
    where = "among the rows to stay clear of" if answer.references else "in the corpus"
    partnered, documents, pairs, removed, sketched = (getattr(found, name) for name in ORDER)
    draw = "All" if partnered.is_whole else "Drawn at random:"
    yield Measure(
        "Documents with a partner",
        partnered,
        f"{draw} {found.drawn:,} documents; {partnered.hits:,} have one at {threshold} or above {where}.",
    )
    yield Measure(
        "Documents found (recall)",
        documents,
        f"{documents.hits:,} of the {documents.trials:,} with a partner are in a cluster or pair.",
    )
    told = "All {} pairs of theirs below 1" if pairs.is_whole else "{} pairs of theirs below 1, one for each drawn,"
    yield Measure(
        "Pairs found (recall)",
        pairs,
        f"{told.format(f'{pairs.trials:,}')} were looked up: {pairs.hits:,} were found, or one of the two goes "
        "anyway. Of the others both stay.",
    )
    yield Measure(
        "Rows that go rightly (precision)",
        removed,
        f"{removed.trials:,} rows that go without being identical were compared exactly with the row that stays: "
        f"{removed.hits:,} reach {threshold}.",
    )
    yield Measure(
        "… of those that go by an estimate",
        sketched,
        f"The same for {sketched.trials:,} rows of which a sketch was sure: {sketched.hits:,} reach {threshold}.",
    )


def _exactly(share: float, *, up: bool = False) -> str:
    """Print a share as a percentage with two decimals, rounded to the safe side; only all of it is 100 %."""
    hundredths = ceil(share * 1e4 - 1e-6) if up else floor(share * 1e4 + 1e-6)
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".") + " %"


def _examples(answer: Deduplication, found: Audit) -> list[Example]:
    """Return pairs worth a look, each once, with their exact scores."""
    chosen: dict[tuple[int, int], Example] = {}
    for example in _chosen(answer, found):
        chosen.setdefault((example.left, example.right), example)
    scores = answer.core.scores(list(chosen), answer.settings.method == "containment")
    return [example._replace(exact=score) for example, score in zip(chosen.values(), scores, strict=True)]


def _chosen(answer: Deduplication, found: Audit) -> Iterator[Example]:
    for missed in found.missed[:MISSED]:
        yield Example("missed: both stay", missed.left, missed.right, None, "")
    value = answer.resemblances
    near = [row for row in answer.gone if LINKS[answer.links[row]] != "identical"]

    def example(why: str, row: int) -> Example:
        return Example(why, answer.survivors[row], row, value[row], LINKS[answer.links[row]])

    for giant in answer.giants[:GIANTS]:
        members = (row for row in near if answer.survivors[row] == giant.survivor)
        for row in nsmallest(2, members, key=lambda row: (value[row], row)):
            yield example("the least alike of a giant cluster", row)
    for row in nsmallest(NEAREST, near, key=lambda row: (value[row], row)):
        yield example("nearest the threshold", row)
    estimated = (row for row in near if LINKS[answer.links[row]] == "estimated")
    for row in nsmallest(ESTIMATED, estimated, key=lambda row: (value[row], row)):
        yield example("estimated only", row)
    for row in nlargest(HIGHEST, near, key=lambda row: (value[row], -row)):
        yield example("most alike", row)


def _shown(answer: Deduplication, examples: Iterable[Example]) -> list[Shown]:
    """Bring names and texts of examples back."""
    listed = list(examples)
    rows = {row for example in listed for row in (example.left, example.right)}
    found = pick(answer.stretches, rows, answer.settings, texts=True) if rows else {}
    shown = []
    for one in listed:
        left, right = (found.get(row) for row in (one.left, one.right))
        sides = differences(left.text if left else None, right.text if right else None)
        shown.append(Shown(one, (_name(left, one.left), _name(right, one.right)), sides))
    return shown


def _name(row: Row | None, number: int) -> str:
    """Return what a row is called, safe to show and not too long."""
    name = visible(row.name) if row is not None else f"row {number:,}"
    return name if len(name) <= NAME else name[: NAME - 1] + "…"


def _json(answer: Deduplication, found: Audit, plot: CurvePlot | None, shown: list[Shown]) -> str:
    """Return everything but the texts."""
    sizes = sorted(answer.cluster_sizes.values(), reverse=True)
    parts: dict[str, Any] = {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "of": "deduplication",
        "version": _core.__version__,
        **answer.to_json(),
        "source_bytes": [one.source.size for one in answer.stretches],
        "cluster_sizes": {str(size): sizes.count(size) for size in sorted(set(sizes))},
        "resemblances": [[bar.label, bar.amount] for bar in resemblance_bars(answer)[1]],
        "audit": found.to_json(),
        "curve": None if plot is None else [[rho, formula, *more] for rho, formula, more in plot.curve.rows()],
        "curve_shingles": [] if plot is None else [size.union for size in plot.curve.simulated],
        "examples": [one.example._asdict() | {"names": one.names} for one in shown],
    }
    return json.dumps(parts, indent=1) + "\n"
