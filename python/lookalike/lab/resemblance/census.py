"""The census of AltaVista on your corpus: how many documents are identical or nearly so, and in how large clusters.

Broder 1997, §1: 30 million pages, clusters at a resemblance of 50 %. Here the same by components, which is what
union-find gives, and by stars, which `dedup` takes; at 50 % and at the default threshold. Broder 2000, §1, estimates
duplicates and near-duplicates at 30 to 45 % of the Web: what a search engine need not keep.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike import params
from lookalike.deduplication import Deduplication, dedup
from lookalike.deduplication.result import LINKS
from lookalike.errors import FrontendError
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import RESEMBLANCE, Cell, Claim, Outcome, Table

#: The share that a search engine need not keep.
REPEATING = "documents that repeat another"
#: AltaVista's: all but one document of each cluster.
REPEATED = (12.3 - 3.6) / 30
#: §1: of 30 million documents 12.3 in 3.6 million clusters, of which 2.1 with 5.3 held identical ones only.
PAPER = {
    "documents in a cluster": 12.3 / 30,
    "clusters of identical documents only": 2.1 / 3.6,
    "documents a cluster": 12.3 / 3.6,
    "documents in clusters of identical ones only": 5.3 / 30,
    "documents in other clusters": 7 / 30,
    REPEATING: REPEATED,
}
#: 2000, §1: the share of all pages that are duplicates or near-duplicates.
WEB = (0.30, 0.45)
#: The paper's threshold.
HALF = 0.5
RUNS = tuple((threshold, way) for threshold in (HALF, params.THRESHOLD.default) for way in ("components", "star"))
#: Where the logarithmic axes are labelled.
TICKS = [lead * 10**power for power in range(9) for lead in (1, 2, 5)]
COLOURS = (plots.BLUE, plots.GREEN, plots.RED, "#cc79a7")


@dataclass(frozen=True)
class Count:
    """The clusters of a corpus at one threshold."""

    documents: int
    #: How many clusters there are of each size.
    sizes: dict[int, int]
    #: The same, for clusters whose documents are all identical.
    identical: dict[int, int]

    @property
    def clusters(self) -> int:
        """All clusters."""
        return sum(self.sizes.values())

    @property
    def members(self) -> int:
        """Documents in clusters."""
        return _members(self.sizes)

    def between(self, low: int, high: int) -> int:
        """Clusters of at least ``low`` and fewer than ``high`` documents."""
        return sum(number for size, number in self.sizes.items() if low <= size < high)

    @property
    def shares(self) -> dict[str, float]:
        """What the paper tells, as shares."""
        clusters, identical = max(self.clusters, 1), _members(self.identical)
        return {
            "documents in a cluster": self.members / self.documents,
            "clusters of identical documents only": sum(self.identical.values()) / clusters,
            "documents a cluster": self.members / clusters,
            "documents in clusters of identical ones only": identical / self.documents,
            "documents in other clusters": (self.members - identical) / self.documents,
            REPEATING: (self.members - self.clusters) / self.documents,
        }


def _members(sizes: dict[int, int]) -> int:
    return sum(size * count for size, count in sizes.items())


def count(found: Deduplication) -> Count:
    """Count the clusters of a deduplication."""
    alone = LINKS.index("identical")
    mixed = {found.survivors[row] for row in found.gone if found.links[row] != alone}
    sizes = found.cluster_sizes
    identical = Counter(size for survivor, size in sizes.items() if survivor not in mixed)
    return Count(found.rows, _ascending(Counter(sizes.values())), _ascending(identical))


def _ascending(sizes: Counter[int]) -> dict[int, int]:
    return dict(sorted(sizes.items()))


def measure(corpus: Corpus, seed: int, bits: int = params.SKETCHING["bits"].default) -> Outcome:
    """Cluster the corpus at both thresholds, both ways, by shingle ids of so many bits."""
    if len(corpus.documents) < 2:
        raise FrontendError(f"corpus `{corpus.name}` is one document: a census needs several; give a folder or rows")
    answers = {run: dedup(list(corpus.documents), threshold=run[0], clustering=run[1], bits=bits) for run in RUNS}
    counts = {run: count(found) for run, found in answers.items()}
    first = counts[HALF, "components"]
    states = answers[HALF, "components"].states
    return Outcome(
        name="census",
        title=f"Clusters of {first.documents:,} documents",
        sections="§1",
        parameters={
            "thresholds": [HALF, params.THRESHOLD.default],
            "shingle": params.SHINGLES["word"],
            "bits": bits,
            "seed": seed,
        },
        corpus=corpus.facts(),
        claims=tuple(
            Claim(name, PAPER.get(name), value, "", "components; paper: 30 M pages")
            for name, value in first.shares.items()
        ),
        tables=(_table(counts), _sizes(counts)),
        notes=(
            *corpus.notes(),
            f"duplicates and near-duplicates were estimated at {WEB[0]:.0%} to {WEB[1]:.0%} of the Web (Broder 2000, "
            f"§1); here {first.shares[REPEATING]:.1%} of the documents repeat another",
            "AltaVista used Rabin fingerprints of 40 bits (1997, §4.1); two shingles have the same id of "
            f"{bits} bits with a probability of at most {params.sketching(bits=bits).collision_bound:.2g}",
            f"documents shorter than a shingle, compared as a whole only: {states['short']:,}",
            "a component may hold documents that do not resemble each other; in a star each resembles its leader",
            "identical means the same text, byte for byte; the paper says no more than “identical”",
            "nothing here is drawn at random: the seed decides the synthetic corpus only",
        ),
        series={f"{threshold:g} {way}": _columns(counts[threshold, way]) for threshold, way in RUNS},
        paper=RESEMBLANCE,
    )


def _facts(found: Count) -> dict[str, Cell]:
    identical = sum(found.identical.values())
    return {
        "documents": found.documents,
        "clusters": found.clusters,
        "documents in them": found.members,
        "clusters of identical documents only": identical,
        "documents in those": _members(found.identical),
        "other clusters": found.clusters - identical,
        "documents in the others": found.members - _members(found.identical),
        "largest cluster": max(found.sizes, default=0),
        REPEATING: f"{found.shares[REPEATING]:.1%}",
    }


def _table(counts: dict[tuple[float, str], Count]) -> Table:
    facts = [_facts(found) for found in counts.values()]
    altavista = (
        "30 M",
        "3.6 M",
        "12.3 M",
        "2.1 M",
        "5.3 M",
        "1.5 M",
        "7 M",
        None,
        f"{REPEATED:.0%}; Web {WEB[0]:.0%}–{WEB[1]:.0%}",
    )
    columns = ("", *(f"{way}, {threshold:g}" for threshold, way in counts), "AltaVista, 0.5")
    rows: list[tuple[Cell, ...]] = [
        (name, *(one[name] for one in facts), then) for name, then in zip(facts[0], altavista, strict=True)
    ]
    return Table("clusters, and those of 1997", columns, tuple(rows))


def _sizes(counts: dict[tuple[float, str], Count]) -> Table:
    """Tell how many clusters have which size, in classes that double."""
    most = max((max(one.sizes, default=0) for one in counts.values()), default=0)
    lows = [2**i for i in range(1, max(most, 2).bit_length())]
    rows: list[tuple[Cell, ...]] = [
        (f"{low} to {2 * low - 1}", *(one.between(low, 2 * low) for one in counts.values())) for low in lows
    ]
    return Table(
        "clusters by size", ("documents", *(f"{way}, {threshold:g}" for threshold, way in counts)), tuple(rows)
    )


def _columns(found: Count) -> dict[str, Any]:
    return {
        "size": list(found.sizes),
        "clusters": list(found.sizes.values()),
        "identical": [found.identical.get(size, 0) for size in found.sizes],
        "documents": found.documents,
    }


def draw(outcome: Outcome) -> Figure:
    """Draw clusters by size, and what share of the documents is alone, identical or near, beside 1997."""
    figure, (left, right) = plots.panels(outcome)
    markers = ("o", "x", "s", "+")
    for (name, columns), colour, marker in zip(outcome.series.items(), COLOURS, markers, strict=True):
        left.plot(columns["size"], columns["clusters"], marker, ms=6, ls="none", color=colour, label=name)
    left.set(xscale="log", yscale="log", xlabel="documents in a cluster", ylabel="clusters", title="sizes")
    for axis, what in ((left.xaxis, "size"), (left.yaxis, "clusters")):
        most = max((value for columns in outcome.series.values() for value in columns[what]), default=1)
        plots.plain_ticks(axis, [tick for tick in TICKS if tick <= 2 * most])
    plots.legend_below(left, columns=2)
    _draw_shares(right, outcome)
    return figure


def _draw_shares(axes: Axes, outcome: Outcome) -> None:
    bars: dict[str, tuple[float, float]] = {}
    for name, columns in outcome.series.items():
        members = sum(size * n for size, n in zip(columns["size"], columns["clusters"], strict=True))
        same = sum(size * n for size, n in zip(columns["size"], columns["identical"], strict=True))
        bars[name] = same / columns["documents"], (members - same) / columns["documents"]
    if PAPER:
        bars["AltaVista, 1997"] = (
            PAPER["documents in clusters of identical ones only"],
            PAPER["documents in other clusters"],
        )
    names, identical, near = list(bars), [one for one, _ in bars.values()], [one for _, one in bars.values()]
    axes.barh(names, identical, color=plots.BLUE, label="in clusters of identical documents only")
    axes.barh(names, near, left=identical, color=plots.GREEN, label="in other clusters")
    axes.set(xlabel="share of the documents", xlim=(0, 1), title="documents in clusters")
    axes.invert_yaxis()
    plots.legend_below(axes, columns=1)
