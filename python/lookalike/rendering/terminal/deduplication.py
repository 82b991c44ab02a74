"""A deduplication as text for a terminal: rows kept and removed, the guarantee, problems, and where the outputs are.

Everything is printed from the settings of the run and from its facts (``Deduplication.to_json``), so a run on one
machine and a run on a cluster say the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike._types import Problem, counted
from lookalike.deduplication.repeating import told_repeated
from lookalike.deduplication.settings import Settings
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


#: What a run found, as ``Deduplication.to_json`` has it.
Facts = Mapping[str, Any]


def as_json(found: Facts) -> str:
    """Return the facts as one JSON document. Ids of a cluster may be of any type."""
    return json.dumps(found, ensure_ascii=False, indent=2, default=str)


def facts(
    settings: Settings, found: Facts, files: Mapping[str, str | PathLike[str] | None], *, quiet: bool = False
) -> str:
    """Return what was found and where the outputs are; ``quiet`` leaves out notes and problems."""
    notes = () if quiet else (*_notes(settings, found), *problems.lines([Problem(**one) for one in found["problems"]]))
    lines = [*_found(found), *_guarantee(settings, found), *_warnings(found), *notes, *_added(found), *_written(files)]
    return "\n".join(map(visible, lines))


def _found(found: Facts) -> Iterator[str]:
    own = found["rows"] - found["references"]
    gone = sum(found["removed"].values())
    share = f" ({gone / own:.1%})" if own else ""
    yield f"{counted(own, 'row')} read, {own - gone:,} kept, {gone:,} removed{share}"
    if gone:
        parts = ", ".join(f"{count:,} {link}" for link, count in found["removed"].items() if count)
        yield f"  removed: {parts}"
        largest = counted(found["largest_cluster"], "row")
        yield f"  {counted(found['clusters'], 'cluster')}, the largest with {largest}"
    if "index" in found:
        yield f"  removed for a document of the index: {found['index']['removed']:,}"
    yield from _contaminated(found)
    yield from _uncompared(found)


def _uncompared(found: Facts) -> Iterator[str]:
    """Say which rows were not compared, or only as a whole: of the input, and of the references."""
    theirs = found.get("reference_states") or dict.fromkeys(found["states"], 0)
    own = {name: count - theirs[name] for name, count in found["states"].items()}
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


def _contaminated(found: Facts) -> Iterator[str]:
    """Say how many references were found, in how many rows, and on which side."""
    if (of := found.get("contamination")) is None:
        return
    rows = of["rows"]
    yield f"  found: {of['found']:,} of {counted(of['references'], 'reference')}, in {counted(rows, 'row')}"
    if not rows:
        return
    sides = {
        "contains": ("contains a reference", "contain a reference"),
        "contained": ("is contained in one", "are contained in one"),
        "both": ("does both", "do both"),
    }
    yield "  of these rows, " + ", ".join(counted(of[name], *words) for name, words in sides.items())


def _guarantee(settings: Settings, found: Facts) -> Iterator[str]:
    if found["rows"] == found["references"]:
        return
    if settings.is_by_features and settings.filter is not None:
        yield from _unverified(settings.filter)
        return
    if settings.is_by_distance:
        yield f"not verified: {_promise(settings, found)}"
    elif settings.method == "simhash":
        within = f"within {counted(settings.distance, 'bit')}{settings.over_ids}"
        yield f"verified pairs {within}: {_promise(settings, found)}"
    elif "contamination" in found:
        one = "one" if all(settings.sought) else "a reference"
        sides = ("contains at least {0:g} of a reference", f"has at least {{0:g}} of itself in {one}")
        told = [
            text.format(settings.threshold) for text, is_sought in zip(sides, settings.sought, strict=True) if is_sought
        ]
        yield f"counted exactly{settings.over_ids}: every removed row {', or '.join(told)}; no kept row does"
    elif settings.method != "exact":
        yield f"verified{settings.over_ids}: {_promise(settings, found)}"
    if settings.search == "join":
        yield "no filter: every pair at or above the threshold was found, by an exact join"
    elif (used := settings.filter) is not None:
        above = min(1.0, settings.threshold + 0.05)
        yield (
            f"filter {used.k},{used.s},{used.r}: share of the pairs that it proposes: "
            f"{used.accept(settings.threshold):.2%} at {settings.threshold:g}, {used.accept(above):.2%} at {above:g}"
        )


#: Resemblances at which the curve of an unverified filter is told.
TOLD = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


def _unverified(found: Filter) -> Iterator[str]:
    """Tell what the filter decided, and which share of the pairs of a resemblance it accepts."""
    equal = f"at least {found.r} of {counted(found.k, 'feature')}"
    yield f"not verified: every removed row was linked to the row kept for it by {equal}"
    shares = ", ".join(f"{found.accept(rho):.2g} at {rho:g}" for rho in TOLD)
    yield f"filter {found.k},{found.s},{found.r}: expected share of pairs accepted, by resemblance: {shares}"


def _promise(settings: Settings, found: Facts) -> str:
    """Return what is true of every removed row, or of the pairs that link it to the row kept for it."""
    each, linked, beyond = _words(settings)
    if settings.clustering != "components":
        return f"every removed row has {each}"
    return f"clusters are linked by pairs {linked}; removed rows {beyond}: {found['removed_below']:,}"


def _words(settings: Settings) -> tuple[str, str, str]:
    """Return what a removed row has, what linked pairs have, and what is said of rows that have it not."""
    kept = "the row kept for it"
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


def _warnings(found: Facts) -> Iterator[str]:
    for giant in found["giants"][:3]:
        name = giant["survivor"]
        around = (
            f"{counted(giant['documents'], 'document')} around row {name if isinstance(name, str) else f'{name:,}'}"
        )
        yield f"warning: a very large cluster, {around}: look at it before you use the result"


def _notes(settings: Settings, found: Facts) -> Iterator[str]:
    if found["capped"]:
        untried = counted(sum(one["untried"] for one in found["capped"]), "pair")
        keys = counted(len(found["capped"]), "fingerprint" if settings.method == "simhash" else "key")
        yield f"note: {keys} too common to propose all pairs; {untried} left to other keys"
    if (repeated := found["repeated_ids"]) is not None:
        apart = "source and row tell them apart" if repeated["places"] else "the tables do not tell them apart"
        yield f"note: {told_repeated(repeated)}; {apart}"
    yield from (f"note: {note}" for note in found["notes"])
    if unsampled := found["work"]["unsampled"]:
        yield f"note: {counted(unsampled, 'document')} too short to be sampled; use a smaller --modulus for them"


def _added(found: Facts) -> Iterator[str]:
    """Say what the index has now."""
    archived = found.get("index")
    if archived is None or archived["added"] is None:
        return
    shadows = archived["shadows"]
    keys = f", and the keys of {counted(shadows, 'removed row')}" if shadows else ""
    yield f"added to {archived['path']}: {counted(archived['added'], 'row')}{keys}"
    if archived["renamed"]:
        yield f"  added as id~run:row, because another document has their id: {archived['renamed']:,}"


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
