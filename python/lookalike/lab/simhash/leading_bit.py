"""Do fingerprints cluster? The leading bit in which successive ones differ, beside what uniform ones would show.

Sorted fingerprints are the leaves of a tree of their bits, and each place where it branches is one pair of neighbours:
the two leaves beside the fork. So n uniform fingerprints are expected to have 2^j · (1 − 2(1 − 2^−(j+1))^n +
(1 − 2^−j)^n) pairs of neighbours that agree in exactly their first j bits: as often has a node both children.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lookalike.errors import FrontendError
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import CRAWLING, Cell, Claim, Outcome, Table
from lookalike.lab.shared.setting import Integers
from lookalike.lab.simhash import survivors, weighing
from lookalike.lab.simhash.partners import resemblances
from lookalike.lab.simhash.simhashed import BITS, Simhashed, Words, popcount, read, sample

#: §4.2: of random fingerprints, "the y-value would diminish by half for every increment/decrement of the x-value".
PAPER = {"ratio of successive bits, right half": 0.5}
#: The fingerprints that are looked at: all; one of each group of near-duplicates; by frequency times idf.
ALL, ALONE, RARE = "all texts", "without near-duplicates", "words weighed by rarity"
#: The plot shows expectations above this.
LEAST = 0.3
#: Pairs of neighbours at one bit that are compared exactly.
EACH = 50
#: How many bits below the peak uniform fingerprints have hardly a pair left: 2^−6 of the peak.
TAIL = 6


def leading_bits(fingerprints: Words) -> tuple[Integers, Integers]:
    """Return the order of the distinct fingerprints, and the leading bit in which each differs from the one before."""
    ascending, first = np.unique(fingerprints, return_index=True)
    apart = ascending[1:] ^ ascending[:-1]
    # A float of 64 bits may round up to the next power of two, so both halves are asked.
    high, low = apart >> np.uint64(32), apart & np.uint64(0xFFFFFFFF)
    bits = np.where(high > 0, np.frexp(high.astype(np.float64))[1] + 31, np.frexp(low.astype(np.float64))[1] - 1)
    return first.astype(np.int64), bits.astype(np.int64)


def histogram(bits: Integers) -> Integers:
    """Count pairs by leading bit, 0 the least significant."""
    return np.bincount(bits, minlength=BITS)


def expected(fingerprints: int) -> NDArray[np.float64]:
    """Return how many pairs of neighbours uniform fingerprints are expected to have at each bit."""
    depth = np.arange(BITS - 1, -1, -1, dtype=np.float64)
    node, child = 2.0**-depth, 2.0 ** -(depth + 1)
    # log1p and expm1, because the chances are tiny at the low bits: 1 − 2a + b there would be noise.
    with np.errstate(divide="ignore"):
        absent, both_absent = np.expm1(fingerprints * np.log1p(-child)), np.expm1(fingerprints * np.log1p(-node))
    chance = both_absent - 2 * absent
    few = fingerprints * child < 1e-4
    chance[few] = fingerprints * (fingerprints - 1.0) * child[few] ** 2
    return np.asarray(chance / node)


def ratio(counts: Sequence[float]) -> float | None:
    """Return by what a count is multiplied from one to the next, on the whole; ``None`` if there is nothing to tell."""
    before = float(sum(counts[:-1]))
    return float(sum(counts[1:])) / before if before else None


class Kind(NamedTuple):
    """The pairs of successive fingerprints of some texts by leading bit, and what uniform fingerprints would have."""

    pairs: Integers
    uniform: NDArray[np.float64]

    @classmethod
    def of(cls, fingerprints: Words) -> Kind:
        """Count them. The expectation is for as many as are distinct."""
        order, bits = leading_bits(fingerprints)
        return cls(histogram(bits), expected(len(order)))

    def below(self, bit: int) -> tuple[float, float]:
        """Return the shares of pairs below a bit, here and if uniform."""
        return tuple(float(counts[:bit].sum() / max(counts.sum(), 1)) for counts in self)  # type: ignore[return-value]


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Draw Figure 2a on a corpus, on what is left of it without near-duplicates, and with common words played down."""
    found = read(corpus)
    order, bits = leading_bits(found.fingerprints)
    if not len(bits):
        raise FrontendError(
            f"corpus `{corpus.name}` has {'one text' if len(found) else 'no text'} with words: "
            "successive fingerprints need several; give a folder or rows"
        )
    kinds = {
        ALL: Kind.of(found.fingerprints),
        ALONE: Kind.of(found.fingerprints[survivors.without_near_duplicates(found)]),
        RARE: Kind.of(_weighed(found)),
    }
    peak = int(np.argmax(kinds[ALL].uniform))
    tail = max(peak - TAIL, 0)
    near = _near(found, order, bits, seed)
    return Outcome(
        name="leading-bit",
        title=f"Leading bit of the XOR of {len(order):,} successive fingerprints",
        sections="§4.2, Figure 2a",
        parameters={"peak": peak, "tail": tail, "threshold": survivors.THRESHOLD, "each": EACH, "seed": seed},
        corpus=corpus.facts(),
        claims=_claims(kinds, peak, tail),
        tables=(_table(kinds, near),),
        notes=(
            *corpus.notes(),
            *found.notes(),
            f"texts whose fingerprint another one has too, so that they differ in no bit: {len(found) - len(order):,}",
            f"left half: bits below {peak}, where uniform fingerprints have most pairs; tail: bits below {tail}",
            "right half: there the tree of bits is full in any large corpus, so that halving proves little",
            _explained(kinds, near, tail),
            "what goes when words are weighed by rarity is no clustering of near-duplicates: common words, which all "
            "texts of a language share, vote alike on the same bits",
            "the paper: 8 billion pages, which it calls 2^34; 2^33 is nearer, so that its peak is at one bit more",
        ),
        series={
            name: {"bit": list(range(BITS)), "pairs": one.pairs, "uniform": one.uniform} for name, one in kinds.items()
        }
        | {"near": near},
        paper=CRAWLING,
    )


def _weighed(found: Simhashed) -> Words:
    fingerprints, has = weighing.fingerprints(weighing.read(found.texts), weighing.rarity)
    return fingerprints[has]


def _claims(kinds: dict[str, Kind], peak: int, tail: int) -> tuple[Claim, ...]:
    counts, uniform = kinds[ALL]
    made = []
    for name, half, paper in (
        ("right", slice(peak, None), ""),
        ("left", slice(peak, None, -1), "; paper: “does not drop off rapidly”"),
    ):
        have, would = ratio(counts[half].tolist()), ratio(uniform[half].tolist())
        if have is not None and would is not None:
            made.append((f"ratio of successive bits, {name} half", have, f"uniform, as many: {would:.3f}{paper}"))
    for name, kind in kinds.items():
        here, would = kind.below(tail)
        made.append((f"share of pairs in the tail, {name}", here, f"uniform: {would:.4f}; bits below {tail}"))
    return tuple(Claim(name, PAPER.get(name), value, "", note) for name, value, note in made)


def _near(found: Simhashed, order: Integers, bits: Integers, seed: int) -> dict[str, list[Any]]:
    """Compare some neighbours at each bit: how far their fingerprints are apart, and how many are near-duplicates."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {"bit": [], "compared": [], "near": [], "distance": []}
    for bit in range(BITS):
        places = np.flatnonzero(bits == bit)
        places = places[sample(rng, len(places), EACH)]
        if not len(places):
            continue
        pairs = list(zip(order[places].tolist(), order[places + 1].tolist(), strict=True))
        scores = [_resemblance(found, *pair) for pair in pairs]
        apart = popcount(found.fingerprints[order[places]] ^ found.fingerprints[order[places + 1]])
        columns["bit"].append(bit)
        columns["compared"].append(len(scores))
        columns["near"].append(sum(score >= survivors.THRESHOLD for score in scores) / len(scores))
        columns["distance"].append(float(apart.mean()))
    return columns


def _resemblance(found: Simhashed, left: int, right: int) -> float:
    """Return the resemblance of two texts, 0 if one has no shingle."""
    if not len(found.shingles[left]) or not len(found.shingles[right]):
        return 0.0
    return float(resemblances(found.shingles, left, np.array([right]))[0])


def _explained(kinds: dict[str, Kind], near: dict[str, list[Any]], tail: int) -> str:
    counts = kinds[ALL].pairs
    held = [(int(counts[bit]), share) for bit, share in zip(near["bit"], near["near"], strict=True) if bit < tail]
    pairs = sum(count for count, _ in held)
    if not pairs:
        return "the tail is empty: nothing clusters here"
    share = sum(count * part for count, part in held) / pairs
    left, rare = kinds[ALONE].pairs[:tail].sum(), kinds[RARE].pairs[:tail].sum()
    return (
        f"of the {pairs:,} pairs in the tail {100 * share:.0f} % resemble each other by {survivors.THRESHOLD} or more, "
        f"judged by at most {EACH} at each bit; without near-duplicates {left:,} pairs are left there, with words "
        f"weighed by rarity {rare:,}"
    )


def _table(kinds: dict[str, Kind], near: dict[str, list[Any]]) -> Table:
    known = {bit: (share, apart) for bit, share, apart in zip(near["bit"], near["near"], near["distance"], strict=True)}
    rows: list[tuple[Cell, ...]] = [
        (
            str(bit),
            *(int(kind.pairs[bit]) for kind in kinds.values()),
            float(f"{kinds[ALL].uniform[bit]:.3g}"),
            *known.get(bit, (None, None)),
        )
        for bit in range(BITS - 1, -1, -1)
        if any(kind.pairs[bit] for kind in kinds.values())
    ]
    columns = ("bit", *kinds, "if uniform", "near-duplicates", "mean distance")
    return Table("pairs of successive fingerprints by leading bit, 63 the most significant", columns, tuple(rows))


def draw(outcome: Outcome) -> Figure:
    """Draw the histograms with the expectation, and what share of the neighbours are near-duplicates."""
    figure, (left, right) = plots.panels(outcome)
    for name, colour, line in ((ALL, plots.BLUE, "o-"), (ALONE, plots.GREEN, "s-"), (RARE, plots.RED, "^-")):
        columns = outcome.series[name]
        shown = [(bit, count) for bit, count in zip(columns["bit"], columns["pairs"], strict=True) if count]
        if shown:
            left.plot(*zip(*shown, strict=True), line, ms=3, lw=0.8, color=colour, label=name)
    columns = outcome.series[ALL]
    uniform = [(bit, count) for bit, count in zip(columns["bit"], columns["uniform"], strict=True) if count > LEAST]
    left.plot(*zip(*uniform, strict=True), "--", lw=1.2, color=plots.INK, label="uniform, as many")
    left.set(yscale="log", xlabel="leading bit of the XOR, 0 the least significant", ylabel="pairs of neighbours")
    left.set_title("Figure 2a: the paper expects halving on both sides")
    near = outcome.series["near"]
    right.bar(near["bit"], near["near"], color=plots.BLUE, label=f"resemble by {survivors.THRESHOLD} or more")
    right.set(xlabel="leading bit of the XOR", ylabel="share of the neighbours compared", ylim=(0, 1.03))
    right.set_title("which neighbours are near-duplicates")
    for axes in (left, right):
        axes.axvline(outcome.parameters["tail"], color=plots.GREY, ls=":", label="tail: to the left")
        axes.set_xlim(-1, BITS)
        plots.legend_below(axes, columns=2)
    return figure
