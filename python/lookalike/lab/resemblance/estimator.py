"""Are the estimates right? Bias and spread of every sketch against the exact resemblance, with the interval of theory.

Pairs come from three places: near-duplicates that the corpus has, pairs drawn at random, and documents of the corpus
beside versions of them with more and more words replaced, so that there are pairs of every resemblance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike import params
from lookalike.deduplication import dedup
from lookalike.errors import FrontendError
from lookalike.fingerprints import Text
from lookalike.lab.shared import plots, versions
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import RESEMBLANCE, Claim, Outcome, Table
from lookalike.sketches import exact as exactly
from lookalike.sketches.estimated import Sketch, sketch

#: Theorem 1: the estimate is unbiased.
PAPER = {"bias": 0.0}
#: Elements of a sketch, one shingle in so many for MOD_m, and how often an interval must hold the truth.
SIZE, MODULUS, CONFIDENCE = 128, 8, 0.95
#: Resemblance from which the corpus's own pairs are looked for.
LOW = 0.2
#: Pairs of each origin, and bytes of documents among which they are looked for.
FOUND, RANDOM, EDITED, MOST_BYTES = 300, 100, 600, 4_000_000
#: Characters of a document that versions are made of.
MOST_CHARACTERS = 20_000
#: Left ends of the bins of resemblance; the last one is for identical texts.
BINS = tuple(i / 10 for i in range(10))
COLOURS = (plots.BLUE, plots.RED, plots.GREEN, "#cc79a7", "#e69f00", "#56b4e9")


class Pair(NamedTuple):
    """Two texts, and why they are looked at."""

    left: Text
    right: Text
    origin: str


class Point(NamedTuple):
    """One estimate beside the truth."""

    truth: float
    error: float
    #: The standard deviation of the binomial law, and without replacement that of the hypergeometric one.
    spread: float
    is_covered: bool


class Known(NamedTuple):
    """A pair, its exact resemblance, and the distinct shingles of both together."""

    pair: Pair
    truth: float
    union: int


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Estimate every pair by every sketch."""
    drawn = draw_pairs(corpus, seed)
    pairs = measured(drawn)
    if not pairs:
        raise FrontendError(f"corpus `{corpus.name}` has no text as long as a shingle: give longer texts")
    kinds = {kind: estimate(kind, pairs) for kind in params.SKETCHES}
    origins = {origin: sum(one.pair.origin == origin for one in pairs) for origin in ("found", "random", "edited")}
    said = ", ".join(f"{count} {origin}" for origin, count in origins.items())
    return Outcome(
        name="estimator",
        title=f"Estimates of {len(pairs)} pairs, {SIZE} elements",
        sections="§3 and §4.2 (Theorem 1)",
        parameters={
            "size": SIZE,
            "modulus": MODULUS,
            "confidence": CONFIDENCE,
            "low": LOW,
            "pairs": origins,
            "seed": seed,
            "unit": params.SKETCHING["unit"].default,
            "shingle": params.SHINGLES["word"],
        },
        corpus=corpus.facts(),
        claims=tuple(_claim(kind, points) for kind, (points, _) in kinds.items()),
        tables=(_summary(kinds), _by_bin({kind: points for kind, (points, _) in kinds.items()})),
        notes=(
            *corpus.notes(),
            f"pairs: {said}; found ones resemble by {LOW:g} or more and are not identical, edited ones "
            "are documents of the corpus beside versions with some words replaced",
            f"pairs left out because a text is shorter than a shingle: {len(drawn) - len(pairs)}",
            "pairs that share a document share its luck: the standard error takes them for independent",
            "theory is the binomial law for coordinates (fast is below it), the hypergeometric one for samples",
        ),
        series={kind: _columns(points) for kind, (points, _) in kinds.items()},
        paper=RESEMBLANCE,
    )


def estimate(kind: str, pairs: Sequence[Known]) -> tuple[list[Point], int]:
    """Return the estimates of one kind, and how many were undefined."""
    made: dict[int, Sketch] = {}

    def of(text: Text) -> Sketch:
        if id(text) not in made:
            made[id(text)] = sketch(text, SIZE, kind, modulus=MODULUS)
        return made[id(text)]

    points, undefined = [], 0
    for pair, truth, union in pairs:
        found = of(pair.left).resemblance(of(pair.right), CONFIDENCE)
        if found is None:
            undefined += 1
            continue
        left_to_draw = 1.0 if kind in params.COORDINATES else (union - found.sample) / max(union - 1, 1)
        spread = math.sqrt(truth * (1 - truth) / found.sample * max(left_to_draw, 0.0))
        points.append(Point(truth, found.value - truth, spread, found.low <= truth <= found.high))
    return points, undefined


def draw_pairs(corpus: Corpus, seed: int) -> list[Pair]:
    """Return pairs of every origin, in an order that the seed decides."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(corpus.documents))
    sizes = np.array([len(one) for one in corpus.documents])[order].cumsum()
    drawn = [corpus.documents[i] for i in sorted(order[: max(int((sizes <= MOST_BYTES).sum()), 1)])]
    close = [(one.left, one.right) for one in dedup(drawn, threshold=LOW).pairs() if one.link != "identical"]
    chosen = [close[i] for i in sorted(rng.permutation(len(close))[:FOUND])]
    pairs = [Pair(drawn[left], drawn[right], "found") for left, right in chosen]
    if len(drawn) > 1:
        some = (rng.choice(len(drawn), 2, replace=False) for _ in range(RANDOM))
        pairs += [Pair(drawn[left], drawn[right], "random") for left, right in some]
    return pairs + _edited(drawn, rng)


def _edited(drawn: Sequence[bytes], rng: np.random.Generator) -> list[Pair]:
    """Pair documents with versions of them; shares of changed words are such that resemblance is about uniform."""
    pairs = []
    chosen = rng.integers(len(drawn), size=EDITED).tolist()
    texts = {i: versions.text_of(drawn[i])[:MOST_CHARACTERS] for i in set(chosen)}
    for text in (texts[i] for i in chosen):
        wanted = rng.random()
        share = 1 - (2 * wanted / (1 + wanted)) ** (1 / params.SHINGLES["word"])
        pairs.append(Pair(text, versions.edited(text, share, rng), "edited"))
    return pairs


def measured(pairs: Sequence[Pair]) -> list[Known]:
    """Return the pairs whose resemblance is defined, with it and the size of their union."""
    exact = ((pair, exactly.measure(pair.left, pair.right)) for pair in pairs)
    return [
        Known(pair, found.resemblance, found.left + found.right - found.common)
        for pair, found in exact
        if found.resemblance is not None
    ]


def bins(points: Sequence[Point]) -> list[list[Point]]:
    """Divide points by their true resemblance."""
    which = [max(i for i, low in enumerate(BINS) if low <= point.truth) for point in points]
    return [[point for point, at in zip(points, which, strict=True) if at == i] for i in range(len(BINS))]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _rms(values: Sequence[float]) -> float:
    return math.sqrt(_mean([value * value for value in values]))


def _standard_error(points: Sequence[Point]) -> float:
    """The standard error of the mean error, if theory is right."""
    return _rms([point.spread for point in points]) / math.sqrt(len(points))


def _claim(kind: str, points: Sequence[Point]) -> Claim:
    bias = _mean([point.error for point in points]) if points else 0.0
    note = f"± {_standard_error(points):.4f}; paper: unbiased" if points else "every estimate was undefined"
    return Claim(f"bias, {kind}", PAPER.get("bias"), bias, "", note)


def _summary(kinds: dict[str, tuple[list[Point], int]]) -> Table:
    rows = tuple(
        (kind, len(points), undefined)
        + (
            (
                _mean([point.error for point in points]),
                _rms([point.error for point in points]),
                _rms([point.spread for point in points]),
                _mean([float(point.is_covered) for point in points]),
            )
            if points
            else (None, None, None, None)
        )
        for kind, (points, undefined) in kinds.items()
    )
    columns = ("sketch", "pairs", "undefined", "bias", "spread", "theory", f"in the {100 * CONFIDENCE:g} % interval")
    return Table("all pairs; spread is the root of the mean squared error", columns, rows)


def _by_bin(kinds: dict[str, list[Point]]) -> Table:
    cells = {kind: bins(points) for kind, points in kinds.items()}
    rows = []
    for i, low in enumerate(BINS):
        counts = max(len(held[i]) for held in cells.values())
        spreads = [_rms([point.error for point in held[i]]) if held[i] else None for held in cells.values()]
        rows.append((f"{low:g} to {low + 0.1:g}", counts, *spreads))
    return Table("spread by resemblance", ("resemblance", "pairs", *kinds), tuple(rows))


def _columns(points: Sequence[Point]) -> dict[str, Any]:
    held = [part for part in bins(points) if part]
    return {
        "resemblance": [_mean([point.truth for point in part]) for part in held],
        "pairs": [len(part) for part in held],
        "bias": [_mean([point.error for point in part]) for part in held],
        "standard error": [_standard_error(part) for part in held],
        "spread": [_rms([point.error for point in part]) for part in held],
        "theory": [_rms([point.spread for point in part]) for part in held],
        "covered": [_mean([float(point.is_covered) for point in part]) for part in held],
    }


def draw(outcome: Outcome) -> Figure:
    """Draw bias with the interval of theory, and spread beside theory, by resemblance."""
    figure, (left, right) = plots.panels(outcome)
    for i, (kind, colour) in enumerate(zip(params.SKETCHES, COLOURS, strict=True)):
        columns = outcome.series[kind]
        x, widths = columns["resemblance"], [1.96 * error for error in columns["standard error"]]
        # Side by side, so that no bar hides another.
        beside = [value + 0.01 * (i - 2.5) for value in x]
        left.errorbar(beside, columns["bias"], widths, fmt="o-", ms=3, lw=0.8, capsize=2, color=colour, label=kind)
        right.plot(x, columns["spread"], "o-", ms=3, lw=0.8, color=colour, label=kind)
    _draw_theory(right, outcome.parameters["size"])
    left.axhline(0, color=plots.INK, lw=0.8)
    left.set(xlabel="resemblance", ylabel="mean error; bars: 95 % by theory", title="bias", xlim=(-0.03, 1.03))
    right.set(xlabel="resemblance", ylabel="root of the mean squared error", title="spread", xlim=(-0.03, 1.03))
    for axes in (left, right):
        plots.legend_below(axes)
    return figure


def _draw_theory(axes: Axes, size: int) -> None:
    x = np.linspace(0, 1, 201)
    axes.plot(x, np.sqrt(x * (1 - x) / size), "--", color=plots.INK, lw=1, label=f"binomial law, {size} elements")
