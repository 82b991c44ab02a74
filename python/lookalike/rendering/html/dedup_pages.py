"""The report of a deduplication: one HTML page and one JSON file. The folder appears complete or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest, nsmallest
from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple

from lookalike import _core, params
from lookalike._types import Progress, counted
from lookalike.deduplication import Deduplication
from lookalike.deduplication.audit import Audit, Share, audit
from lookalike.deduplication.picking import Row, pick
from lookalike.deduplication.result import LINKS
from lookalike.designs.stats import CONFIDENCE
from lookalike.documents.reasons import in_bytes
from lookalike.rendering.comparison_tables import KIND, SCHEMA_VERSION
from lookalike.rendering.html import frame
from lookalike.rendering.html.dedup_plots import PLOT, PLOT_TOP, CurvePlot, curve_plot, resemblance_bars, size_bars
from lookalike.rendering.html.differences import Side, differences
from lookalike.rendering.html.folder import JSON, OVERVIEW, drafted
from lookalike.rendering.safe import visible
from lookalike.rendering.wording import percent

#: Longest lists; report.json has everything except more examples.
MOST = {"sources": 50, "problems": 200, "capped": 20, "giants": 20}
#: Numbers of example pairs, by the reason to show them; at most 24 in all.
MISSED, NEAREST, HIGHEST, GIANTS = 6, 9, 5, 2
#: Measures of the audit, in this order.
ORDER = ("partnered", "documents", "pairs", "removed")
#: Longest name in characters.
NAME = 200


class Example(NamedTuple):
    """An example pair: the kept row, the removed row, and their score as found and exactly."""

    why: str
    left: int
    right: int
    #: The score of the job and how it was found; ``None`` for a missed pair.
    found: float | None
    link: str
    exact: float | None = None


class Shown(NamedTuple):
    """An example with its names and texts."""

    example: Example
    names: tuple[str, str]
    sides: tuple[Side, Side]


class Measure(NamedTuple):
    """One measure of the audit."""

    name: str
    share: Share
    #: How it was measured, in one sentence.
    sentence: str


def write(
    answer: Deduplication,
    out: Path,
    *,
    overwrite: bool = False,
    seed: int = params.SEED.default,
    progress: Progress | None = None,
) -> Audit:
    """Audit an answer while its corpus is open, and write the report to a new folder or in place of an earlier one.

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
        title=f"Deduplication of {counted(own, 'row')}",
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
        confidence=percent(CONFIDENCE),
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
    """Yield sentences about the result and its guarantee."""
    verified = f"(verified{answer.settings.over_ids})"
    settings, gone, own = answer.settings, sum(answer.removed.values()), answer.rows - answer.references
    if settings.method == "exact":
        yield "Only identical texts were removed."
    if not gone:
        yield f"No near-duplicates found: {counted(own, 'row')} kept."
        return
    yield f"{gone:,} of {counted(own, 'row')} removed ({percent(gone / own)}), {own - gone:,} kept."
    if settings.clustering == "components":
        yield (
            f"Rows are linked by pairs that reach {settings.threshold:g}, also through chains of such pairs. So a "
            "removed row may be less similar to the row kept for it."
        )
    elif (contaminated := answer.contamination) is not None:
        yield f"{contaminated.found:,} of {counted(contaminated.references, 'reference')} were found in these rows."
    elif settings.method == "containment":
        yield f"At least {settings.threshold:g} of every removed row is contained in the row kept for it {verified}."
    elif settings.method == "minhash":
        yield f"Every removed row has resemblance ≥ {settings.threshold:g} with the row kept for it {verified}."


def _facts(answer: Deduplication) -> Iterator[tuple[str, str]]:
    """Yield names and values for the list at the end."""
    yield "Version", f"lookalike {_core.__version__}"
    yield "Rows read", f"{answer.rows:,}"
    if answer.references:
        yield "Rows of the reference corpus", f"{answer.references:,}"
    yield "Shorter than a shingle (compared as a whole only)", f"{answer.own_states['short']:,}"
    yield "Not compared, and kept", _without_text(answer.own_states)
    if theirs := answer.reference_states["short"]:
        yield "References too short to be searched for (found only where a whole text is identical)", f"{theirs:,}"
    if answer.references:
        yield "References not compared", _without_text(answer.reference_states)
    yield "Distinct documents", f"{answer.documents:,}"
    work = answer.work
    yield "Pairs compared by sketches, and exactly", f"{work['glances']:,}, {work['exact_comparisons']:,}"
    if work["unsampled"]:
        yield "Documents too short to be sampled", f"{work['unsampled']:,}"
    if work["spilled_bytes"]:
        yield "Temporary files", in_bytes(work["spilled_bytes"])
    for name, value in answer.settings.shown.items():
        yield name.replace("_", " "), visible(frame.plain(value))


def _without_text(states: Mapping[str, int]) -> str:
    words = {"missing": "without text", "bad": "unreadable", "blank": "blank lines"}
    return ", ".join(f"{states[state]:,} {told}" for state, told in words.items() if states[state]) or "none"


def _measures(answer: Deduplication, found: Audit) -> Iterator[Measure]:
    """Yield the measures of the audit as sentences."""
    threshold = f"{answer.settings.threshold:g}"
    where = "in the reference corpus" if answer.references else "in the corpus"
    partnered, documents, pairs, removed = (getattr(found, name) for name in ORDER)
    draw = "All documents" if partnered.is_whole else "A random sample"
    yield Measure(
        "Documents with a near-duplicate",
        partnered,
        f"{draw}: {found.drawn:,}. With a near-duplicate at {threshold} or higher {where}: {partnered.hits:,}.",
    )
    yield Measure(
        "Recall of documents",
        documents,
        f"Documents with a near-duplicate: {documents.trials:,}. In a cluster or pair: {documents.hits:,}.",
    )
    told = "All their pairs below 1" if pairs.is_whole else "One of their pairs below 1 for each document"
    yield Measure(
        "Recall of pairs",
        pairs,
        f"{told}: {pairs.trials:,}. Found, or one of the two rows removed: {pairs.hits:,}. Both rows of the others are "
        "kept.",
    )
    yield Measure(
        "Precision of removed rows",
        removed,
        f"Removed rows that are not identical, compared exactly with the row kept for them: {removed.trials:,}. "
        f"With {threshold} or higher: {removed.hits:,}.",
    )


def _exactly(share: float, *, up: bool = False) -> str:
    """Return a percentage with two decimals, rounded to the safe side; only a share of 1 is 100 %."""
    hundredths = ceil(share * 1e4 - 1e-6) if up else floor(share * 1e4 + 1e-6)
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".") + " %"


def _examples(answer: Deduplication, found: Audit) -> list[Example]:
    """Return the example pairs, each once, with their exact scores."""
    chosen: dict[tuple[int, int], Example] = {}
    for example in _chosen(answer, found):
        chosen.setdefault((example.left, example.right), example)
    scores = answer.scores(list(chosen))
    return [example._replace(exact=score) for example, score in zip(chosen.values(), scores, strict=True)]


def _chosen(answer: Deduplication, found: Audit) -> Iterator[Example]:
    for missed in found.missed[:MISSED]:
        yield Example("missed: both rows kept", missed.left, missed.right, None, "")
    value = answer.resemblances
    near = [row for row in answer.gone if LINKS[answer.links[row]] != "identical"]

    def example(why: str, row: int) -> Example:
        return Example(why, answer.survivors[row], row, value[row], LINKS[answer.links[row]])

    for giant in answer.giants[:GIANTS]:
        members = (row for row in near if answer.survivors[row] == giant.survivor)
        for row in nsmallest(2, members, key=lambda row: (value[row], row)):
            yield example("least similar in a very large cluster", row)
    for row in nsmallest(NEAREST, near, key=lambda row: (value[row], row)):
        yield example("closest to the threshold", row)
    for row in nlargest(HIGHEST, near, key=lambda row: (value[row], -row)):
        yield example("most similar", row)


def _shown(answer: Deduplication, examples: Iterable[Example]) -> list[Shown]:
    """Read the names and texts of examples."""
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
    """Return the name of a row, safe to show and not too long."""
    name = visible(row.name) if row is not None else f"row {number:,}"
    return name if len(name) <= NAME else name[: NAME - 1] + "…"


def _json(answer: Deduplication, found: Audit, plot: CurvePlot | None, shown: list[Shown]) -> str:
    """Return the report as JSON, without texts."""
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
