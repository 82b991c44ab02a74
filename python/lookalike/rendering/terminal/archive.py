"""What an index holds, as lines for a terminal: its documents, its size by content, and how it was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lookalike._types import counted
from lookalike.rendering.safe import visible
from lookalike.rendering.wording import in_bytes

if TYPE_CHECKING:
    from lookalike.archive.parameters import Parameters
    from lookalike.archive.results import Stats
    from lookalike.archive.view import Entry

#: Columns of the list of documents.
HEADER = "id\tlabel\tbytes\tkind"
#: What the tables of an index are for, in the order in which they are shown.
CONTENTS = {
    "texts": ("texts",),
    "tokens of code": ("tokens",),
    "passages": ("postings", "literals"),
    "resemblance": ("features", "sketches"),
    "containment": ("samples",),
    "distance": ("simhashes",),
    "ids and metadata": ("documents", "ids", "contents", "parameters"),
    "catalogue": ("catalogue",),
    "reserved": ("reserve",),
    "other": ("other",),
}
#: Labels that are shown.
SHOWN_LABELS = 10


def listing(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a header, and a line for each document: id, label, bytes and kind, separated by tabs."""
    yield HEADER
    for one in entries:
        kind = "starter code" if one.is_template else "document"
        yield "\t".join((visible(one.id), visible(one.label or "-"), str(one.bytes), kind))


def stats(name: str, figures: Stats, parameters: Parameters) -> Iterator[str]:
    """Yield lines about the documents, the size and the parameters of an index."""
    rows = [("index", f"{visible(name)}, for a {parameters.kind}"), *_documents(figures), *_sizes(figures)]
    rows += [*_parameters(parameters), ("changes", f"{figures.generation:,}")]
    width = max(len(heading) for heading, _ in rows) + 2
    yield from (f"{heading:<{width}}{value}" for heading, value in rows)


def _documents(figures: Stats) -> Iterator[tuple[str, str]]:
    starter = f", {figures.templates:,} of them starter code" if figures.templates else ""
    yield "documents", f"{figures.documents:,}{starter}"
    if figures.labels:
        shown = [f"{visible(label)}: {count:,}" for label, count in list(figures.labels.items())[:SHOWN_LABELS]]
        more = [f"and {len(figures.labels) - SHOWN_LABELS:,} more"] if len(figures.labels) > SHOWN_LABELS else []
        yield "  by label", ", ".join([*shown, *more])
    if figures.shadows:
        yield "dedup", f"{counted(figures.shadows, 'removed row')}, of which only keys and metadata are kept"
    if figures.removed:
        erased = "erased by `index compact` or `index remove --purge`"
        yield "removed", f"{counted(figures.removed, 'document')}, still on disk until {erased}"
    waiting = f"; {counted(figures.tail, 'document')} in the catalogue, not yet in a segment" if figures.tail else ""
    yield "files", f"{counted(figures.segments, 'segment')}{waiting}"


def _sizes(figures: Stats) -> Iterator[tuple[str, str]]:
    yield "on disk", in_bytes(figures.bytes)
    for heading, names in CONTENTS.items():
        size = sum(figures.sizes.get(name, 0) for name in names)
        if size:
            yield f"  {heading}", in_bytes(size)


def _parameters(made: Parameters) -> Iterator[tuple[str, str]]:
    dedup, simhash = made.dedup, made.simhash
    yield "answers", ", ".join(("identical", *made.questions))
    yield "texts kept", "yes" if made.texts else "no: answers are estimates"
    if made.keyed is not None:
        yield "shared", "it was made for another institution, and is asked with --key"
    if "passages" in made.questions:
        yield "language", f"{made.language}{', with comments' if made.comments else ''}"
        yield "passages", _thresholds(made)
    if "resemblance" in made.questions:
        unit = f"shingles of {counted(dedup.shingle, dedup.unit)}"
        filter_ = ",".join(map(str, dedup.filter))
        yield (
            "resemblance",
            f"threshold {dedup.threshold:g}, {unit}, filter {filter_}, {dedup.sketch} sketch of {dedup.size}",
        )
    if "containment" in made.questions:
        yield "containment", f"one in {dedup.modulus} shingles of {counted(dedup.shingle, dedup.unit)} is kept"
    if "distance" in made.questions:
        yield "distance", f"64-bit simhash of {simhash.features}"
    yield "versions", ", ".join(f"{name} {number}" for name, number in made.versions.items())


def _thresholds(made: Parameters) -> str:
    """Return k and t; languages with the same values share an entry."""
    languages: dict[tuple[int, int], list[str]] = {}
    for language, both in made.thresholds.items():
        languages.setdefault(both, []).append("other code" if language == "code" else language)
    return "; ".join(f"k {k}, t {t} for {', '.join(names)}" for (k, t), names in languages.items())
