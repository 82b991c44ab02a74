"""Choosing k: how many matches a corpus has at each k, and where the curve turns from coincidence to copying.

The paper reports a sharp threshold (§5.2): a slightly smaller k brings obvious false positives. Here a match is a pair
of documents that share a k-gram. *The knee* is the k at which the logarithm of the number of pairs lies furthest below
the straight line from the last k with the largest number to the last k of the sweep: chance has gone, copies remain.

Where there are programs, MOSS's remark is tested on them: one constant for all identifiers and k + 1 "worked just as
well" as parameterised matching with k (`programs.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike.errors import FrontendError
from lookalike.fingerprints import fingerprint_batch
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import Claim, Outcome, Table
from lookalike.lab.winnowing import matches, programs
from lookalike.lab.winnowing.matches import Matches

#: §5.2, "worked just as well", read as a ratio of matches.
PAPER = {"just as well": 1.0}
#: Values of k: characters of texts, and tokens of programs.
SWEEP = (4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 23, 26, 30, 35, 40, 50, 60, 75, 90, 110, 130)
CODE_SWEEP = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 26, 30, 36, 42, 50, 60)
#: Bytes that are looked at: every k-gram of theirs is held at each step.
MOST_BYTES = 8_000_000
CODE_CURVES = ("identifiers kept, k", "p-match, k", "one constant, k", "one constant, k + 1")

Sample = Sequence[tuple[str, bytes]]
Curve = Mapping[str, Any]


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Sweep k over the documents of the corpus, and over its programs if it has any."""
    drawn = sample(corpus, seed)
    texts = _columns(SWEEP, [_text_matches(drawn, k) for k in SWEEP])
    code = sweep_programs([document for document in drawn if programs.is_program(document[0])])
    return Outcome(
        name="choose-k",
        title="Matches against k",
        sections="§3 and §5.2",
        parameters={"documents": len(drawn), "most bytes": MOST_BYTES, "seed": seed},
        corpus=corpus.facts(),
        claims=tuple(_claims(texts, code)),
        tables=(_table("texts", {"k in characters": texts}), *([_table("programs", code)] if code else [])),
        notes=(*corpus.notes(), *_notes(corpus, drawn, code)),
        series={"texts": texts} | code,
    )


def sample(corpus: Corpus, seed: int) -> Sample:
    """Draw as many documents as fit, and return them in their own order. Errors: fewer than two that may be drawn."""
    sizes = np.array([len(document) for document in corpus.documents])
    shuffled = np.random.default_rng(seed).permutation(np.flatnonzero(sizes <= MOST_BYTES // 2))
    fitting = shuffled[sizes[shuffled].cumsum() <= MOST_BYTES][: matches.MOST_DOCUMENTS]
    if len(fitting) < 2:
        raise FrontendError(
            f"corpus `{corpus.name}` has {len(fitting)} documents of at most {MOST_BYTES // 2:,} bytes: "
            "matches need two; give a folder of texts"
        )
    return [(corpus.names[i], corpus.documents[i]) for i in sorted(fitting)]


def knee(ks: Sequence[int], pairs: Sequence[int]) -> int | None:
    """Return the knee by the rule at the head of this file; None where the curve never bends that way."""
    x, y = np.array(ks), np.log10(np.maximum(pairs, 1))
    start = _last_largest(pairs)
    if start >= len(x) - 2:
        return None
    chord = y[start] + (y[-1] - y[start]) * (x - x[start]) / (x[-1] - x[start])
    below = (chord - y)[start:]
    return int(x[start + below.argmax()]) if below.max() > 0 else None


def _last_largest(pairs: Sequence[int]) -> int:
    return len(pairs) - 1 - int(np.argmax(pairs[::-1]))


def sweep_programs(drawn: Sample) -> dict[str, Curve]:
    """Count matches of programs under each way to write identifiers; nothing for fewer than two programs."""
    if len(drawn) < 2:
        return {}
    read = programs.read(drawn)
    ways = ((programs.kept, 0), (programs.parameterised, 0), (programs.folded, 0), (programs.folded, 1))
    return {
        name: _columns(CODE_SWEEP, [matches.count(*read.kgrams(k + more, way)) for k in CODE_SWEEP])
        for name, (way, more) in zip(CODE_CURVES, ways, strict=True)
    }


def _text_matches(drawn: Sample, k: int) -> Matches:
    found = fingerprint_batch([data for _, data in drawn], k=k, t=k, scheme="every")
    kgrams = np.diff(np.asarray(found.offsets)).astype(np.int64)
    return matches.count(np.asarray(found.hashes), np.arange(len(drawn)).repeat(kgrams))


def _columns(ks: Sequence[int], found: Sequence[Matches]) -> Curve:
    pairs, kgrams = [m.pairs for m in found], [m.kgrams for m in found]
    return {"k": ks, "pairs": pairs, "k-grams": kgrams, "knee": knee(ks, pairs)}


def _table(title: str, curves: Mapping[str, Curve]) -> Table:
    columns = [f"{what}: {name}" for what in ("pairs", "shared k-grams") for name in curves]
    values = [curve[what] for what in ("pairs", "k-grams") for curve in curves.values()]
    ks = next(iter(curves.values()))["k"]
    return Table(title, ("k", *columns), tuple(zip(ks, *values, strict=True)))


def _claims(texts: Curve, code: Mapping[str, Curve]) -> list[Claim]:
    """State the knees, and compare the two ways at the knee of parameterised matching, where k would be chosen."""
    curves = {"texts": (texts, "characters")} | ({"programs": (code["p-match, k"], "tokens")} if code else {})
    note = "paper: a sharp threshold, without a figure"
    claims = [
        Claim(f"knee, {name}", None, curve["knee"], unit, note)
        for name, (curve, unit) in curves.items()
        if curve["knee"]
    ]
    if code:
        exact, constant = code["p-match, k"], code["one constant, k + 1"]
        at = CODE_SWEEP.index(exact["knee"] or CODE_SWEEP[-1])
        note = f"at k = {CODE_SWEEP[at]} tokens; paper: “worked just as well”"
        for what in ("pairs", "k-grams"):
            ratio = constant[what][at] / max(exact[what][at], 1)
            claims.append(
                Claim(f"{what}, one constant and k + 1 ÷ p-match", PAPER.get("just as well"), ratio, "", note)
            )
    return claims


def _notes(corpus: Corpus, drawn: Sample, code: Mapping[str, Curve]) -> list[str]:
    notes = ["the knee is where log10 of the pairs lies furthest below the line from their maximum to the last k"]
    if not code:
        notes.append("no two programs in the corpus, so identifiers were not looked at")
    if len(drawn) < len(corpus.documents):
        drawn_of = f"{len(drawn)} of {len(corpus.documents)} documents"
        notes.append(f"{drawn_of} were drawn by the seed; pairs are counted among them")
    return notes


def draw(outcome: Outcome) -> Figure:
    """Draw matches against k with the knee, for texts and, if there are any, for programs."""
    code = {name: outcome.series[name] for name in CODE_CURVES if name in outcome.series}
    figure, axes = plots.panels(outcome, 2 if code else 1)
    _draw_texts(axes[0], outcome.series["texts"])
    if code:
        _draw_programs(axes[1], code)
    for panel in axes:
        panel.set(yscale="symlog", ylim=(0, 3 * panel.get_ylim()[1]))
        plots.legend_below(panel, columns=2)
    return figure


def _draw_texts(axes: Axes, texts: Curve) -> None:
    axes.plot(texts["k"], texts["pairs"], "o-", ms=4, color=plots.BLUE, label="pairs of documents that share a k-gram")
    axes.plot(texts["k"], texts["k-grams"], "s-", ms=3, lw=1, color=plots.GREY, label="k-grams that are shared")
    _draw_knee(axes, texts)
    axes.set(xlabel="k (characters)", ylabel="matches", title="texts")


def _draw_programs(axes: Axes, code: Mapping[str, Curve]) -> None:
    looks = ((plots.GREY, "-"), (plots.BLUE, "o-"), (plots.GREEN, ":"), (plots.RED, "x--"))
    for (name, curve), (colour, line) in zip(code.items(), looks, strict=True):
        axes.plot(curve["k"], curve["pairs"], line, ms=5, color=colour, label=name)
    _draw_knee(axes, code["p-match, k"])
    axes.set(xlabel="k (tokens)", ylabel="pairs of programs that share a k-gram", title="programs")


def _draw_knee(axes: Axes, curve: Curve) -> None:
    """Mark the knee, and the line that it lies furthest below."""
    if curve["knee"] is None:
        return
    start = _last_largest(curve["pairs"])
    ends = [curve["k"][start], curve["k"][-1]]
    axes.plot(ends, [curve["pairs"][start], max(curve["pairs"][-1], 1)], "--", lw=0.7, color=plots.BLUE, label="chord")
    axes.axvline(curve["knee"], color=plots.INK, ls=":", label=f"knee: k = {curve['knee']}")
