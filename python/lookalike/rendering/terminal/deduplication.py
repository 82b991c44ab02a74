"""A deduplication as text for a terminal: rows kept and removed, the guarantee, problems, and where the outputs are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike._types import counted
from lookalike.deduplication import Deduplication
from lookalike.rendering.safe import visible
from lookalike.rendering.terminal import problems

if TYPE_CHECKING:
    from lookalike.corpora import Restored
    from lookalike.deduplication.expecting import Expected
    from lookalike.designs.filters import Filter

#: Rows without a text, by the reason: one of them, several of them.
_STATES = {
    "missing": ("without text",) * 2,
    "bad": ("unreadable",) * 2,
    "blank": ("blank line", "blank lines"),
}


def as_json(answer: Deduplication) -> str:
    """Return the facts as one JSON document."""
    return json.dumps(answer.to_json(), ensure_ascii=False, indent=2)


def facts(answer: Deduplication, files: Mapping[str, str | PathLike[str] | None], *, quiet: bool = False) -> str:
    """Return what was found and where the outputs are; ``quiet`` leaves out notes and problems."""
    notes = () if quiet else (*_notes(answer), *problems.lines(answer.problems))
    lines = [*_found(answer), *_guarantee(answer), *_warnings(answer), *notes, *_added(answer), *_written(files)]
    return "\n".join(map(visible, lines))


def _found(answer: Deduplication) -> Iterator[str]:
    own = answer.rows - answer.references
    gone = sum(answer.removed.values())
    share = f" ({gone / own:.1%})" if own else ""
    yield f"{counted(own, 'row')} read, {own - gone:,} kept, {gone:,} removed{share}"
    if gone:
        parts = ", ".join(f"{count:,} {link}" for link, count in answer.removed.items() if count)
        yield f"  removed: {parts}"
        sizes = answer.cluster_sizes
        yield f"  {counted(len(sizes), 'cluster')}, the largest with {counted(max(sizes.values()), 'row')}"
    if answer.archived is not None:
        yield f"  removed for a document of the index: {answer.removed_for_index:,}"
    yield from _contaminated(answer)
    yield from _uncompared(answer)


def _uncompared(answer: Deduplication) -> Iterator[str]:
    """Say which rows were not compared, or only as a whole: of the input, and of the references."""
    own, theirs = answer.own_states, answer.reference_states
    if own["short"]:
        yield f"  shorter than a shingle: {own['short']:,} (compared as a whole only)"
    if without := _without_text(own):
        yield f"  not compared, and kept: {without}"
    if theirs["short"]:
        searched = "found only where a whole text is identical"
        yield f"  references too short to be searched for: {theirs['short']:,} ({searched})"
    if without := _without_text(theirs):
        yield f"  references not compared: {without}"


def _without_text(states: Mapping[str, int]) -> str:
    return ", ".join(f"{states[name]:,} {words[states[name] != 1]}" for name, words in _STATES.items() if states[name])


def _contaminated(answer: Deduplication) -> Iterator[str]:
    """Say how many references were found, in how many rows, and on which side."""
    if (found := answer.contamination) is None:
        return
    rows = sum(answer.removed.values())
    yield f"  found: {found.found:,} of {counted(found.references, 'reference')}, in {counted(rows, 'row')}"
    if not rows:
        return
    sides = {
        "contains": ("contains a reference", "contain a reference"),
        "contained": ("is contained in one", "are contained in one"),
        "both": ("does both", "do both"),
    }
    yield "  of these rows, " + ", ".join(counted(found.sides[name], *words) for name, words in sides.items())


def _guarantee(answer: Deduplication) -> Iterator[str]:
    settings = answer.settings
    if answer.rows == answer.references:
        return
    if settings.is_by_features and settings.filter is not None:
        yield from _unverified(settings.filter)
        return
    if settings.is_by_distance:
        yield f"not verified: {_promise(answer)}"
    elif settings.method == "simhash":
        yield f"verified pairs within {counted(settings.distance, 'bit')}{settings.over_ids}: {_promise(answer)}"
    elif answer.contamination is not None:
        one = "one" if all(settings.sought) else "a reference"
        sides = ("contains at least {0:g} of a reference", f"has at least {{0:g}} of itself in {one}")
        told = [
            text.format(settings.threshold) for text, is_sought in zip(sides, settings.sought, strict=True) if is_sought
        ]
        yield f"counted exactly{settings.over_ids}: every removed row {', or '.join(told)}; no kept row does"
    elif settings.method != "exact":
        yield f"verified{settings.over_ids}: {_promise(answer)}"
    if settings.search == "join":
        yield "no filter: every pair at or above the threshold was found, by an exact join"
    elif (found := settings.filter) is not None:
        above = min(1.0, settings.threshold + 0.05)
        yield (
            f"filter {found.k},{found.s},{found.r}: share of the pairs that it proposes: "
            f"{found.accept(settings.threshold):.2%} at {settings.threshold:g}, {found.accept(above):.2%} at {above:g}"
        )


#: Resemblances at which the curve of an unverified filter is told.
TOLD = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


def _unverified(found: Filter) -> Iterator[str]:
    """Tell what the filter decided, and which share of the pairs of a resemblance it accepts."""
    equal = f"at least {found.r} of {counted(found.k, 'feature')}"
    yield f"not verified: every removed row was linked to the row kept for it by {equal}"
    shares = ", ".join(f"{found.accept(rho):.2g} at {rho:g}" for rho in TOLD)
    yield f"filter {found.k},{found.s},{found.r}: expected share of pairs accepted, by resemblance: {shares}"


def _promise(answer: Deduplication) -> str:
    """Return what is true of every removed row, or of the pairs that link it to the row kept for it."""
    settings = answer.settings
    each, linked, beyond = _words(answer)
    if settings.clustering != "components":
        return f"every removed row has {each}"
    least = 1 - settings.distance / 64 if settings.is_by_distance else settings.threshold
    below = sum(answer.resemblances[row] < least for row in answer.gone)
    return f"clusters are linked by pairs {linked}; removed rows {beyond}: {below:,}"


def _words(answer: Deduplication) -> tuple[str, str, str]:
    """Return what a removed row has, what linked pairs have, and what is said of rows that have it not."""
    settings, kept = answer.settings, "the row kept for it"
    if settings.is_by_distance:
        within = f"within {counted(settings.distance, 'bit')}"
        return (
            f"a fingerprint {within} of {kept}",
            f"with fingerprints {within} of each other",
            "farther than that from the row kept for them",
        )
    limit = f"{settings.threshold:g}"
    if settings.method == "containment":
        return (
            f"at least {limit} of itself contained in {kept}",
            f"of which at least {limit} of one is contained in the other",
            "that are contained less in the row kept for them",
        )
    resemblance = f"resemblance ≥ {limit}"
    return f"{resemblance} with {kept}", f"with {resemblance}", "that resemble the row kept for them less than that"


def _warnings(answer: Deduplication) -> Iterator[str]:
    for giant in answer.giants[:3]:
        around = f"{counted(giant.documents, 'document')} around row {giant.survivor:,}"
        yield f"warning: a very large cluster, {around}: look at it before you use the result"


def _notes(answer: Deduplication) -> Iterator[str]:
    if answer.capped:
        untried = counted(sum(one.untried for one in answer.capped), "pair")
        keys = counted(len(answer.capped), "fingerprint" if answer.settings.method == "simhash" else "key")
        yield f"note: {keys} too common to propose all pairs; {untried} left to other keys"
    if answer.repeated_ids is not None:
        yield f"note: {answer.repeated_ids}; source and row tell them apart"
    yield from (f"note: {note}" for note in answer.notes)
    if unsampled := answer.work["unsampled"]:
        yield f"note: {counted(unsampled, 'document')} too short to be sampled; use a smaller --modulus for them"


def _added(answer: Deduplication) -> Iterator[str]:
    """Say what the index has now."""
    archived = answer.archived
    if archived is None or archived.added is None:
        return
    rows = archived.added.added
    keys = f", and the keys of {counted(archived.shadows, 'removed row')}" if archived.shadows else ""
    yield f"added to {archived.path}: {counted(rows, 'row')}{keys}"
    if archived.renamed:
        yield f"  added as id~run:row, because another document has their id: {archived.renamed:,}"


def _written(files: Mapping[str, str | PathLike[str] | None]) -> Iterator[str]:
    for name, path in files.items():
        if path is not None:
            shown = Path(path) / "report.html" if name == "report" else "standard output" if path == "-" else path
            yield f"{name}: {shown}"


def restored(done: Restored, out: str) -> str:
    """Return what was restored."""
    first = f"restored {counted(done.rows, 'row')} of {counted(done.sources, 'source')}: {out}"
    return "\n".join(map(visible, [first, *problems.lines(done.problems)]))


def restored_json(done: Restored) -> str:
    """Return what was restored as one JSON document."""
    found = [f"{problem.source}: {problem.reason}" for problem in done.problems]
    return json.dumps({"sources": done.sources, "rows": done.rows, "problems": found})


def expected(found: Expected, spent: float) -> str:
    """Return what a run would take."""
    return "\n".join(map(visible, found.lines(spent)))
