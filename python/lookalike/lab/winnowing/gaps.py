"""Gaps: the longest run without a fingerprint, and how often 0 mod p misses a copy of length t.

At the density of winnowing p is (w+1)/2, which is whole for odd w only: windows are of 99 k-grams here, where the paper
has 100, so that p is the paper's 50. Overlapping windows are not independent (§3.1.1 warns of it): the miss rate with a
standard error is that of disjoint windows, and the rate of all windows stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike.fingerprints import Fingerprints
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import Claim, Outcome, Table
from lookalike.lab.shared.setting import Integers, K, P, fingerprints, positions, random_text, runs

#: §3.1.1; Figure 3; and the exponents of ten in §5.1 for a run of 29,851 hashes, by itself and in a terabyte.
PAPER = {"miss rate": 0.135, "longest run": 29_983, "odds": -260, "odds in a terabyte": -220}
#: The run whose odds §5.1 gives, and the terabyte.
PAPERS_RUN, TERABYTE = 29_851, 2**40
#: Window length at which p = (w+1)/2, and the shortest copy that fills one.
WINDOW = 2 * P - 1
COPY = WINDOW + K - 1
#: Characters of random text.
LENGTH = 8 << 20
SCHEMES = ("modulo", "safe-modulo", "winnow", "robust", "compact", "compact-robust")

Found = Mapping[str, Mapping[str, Fingerprints]]


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Measure runs without a fingerprint on random text and on the corpus."""
    texts = {"random": random_text(LENGTH, seed), "corpus": corpus.text}
    found = {name: {s: fingerprints(text, s, WINDOW) for s in SCHEMES} for name, text in texts.items()}
    return Outcome(
        name="gaps",
        title=f"Runs without a fingerprint at k = {K}, w = {WINDOW}",
        sections="§3.1.1 and §5.1",
        parameters={"k": K, "w": WINDOW, "p": P, "characters": LENGTH, "seed": seed},
        corpus=corpus.facts(),
        claims=_claims(found),
        tables=(_table(found),),
        notes=(*corpus.notes(), *_notes(found["corpus"]["modulo"])),
        series={name: {scheme: survival(runs(f)) for scheme, f in by.items()} for name, by in found.items()},
    )


def miss_rate(found: Fingerprints) -> tuple[float, float]:
    """Return the share of disjoint windows without a fingerprint, and its binomial standard error."""
    windows = found.kgrams // WINDOW
    picks = np.bincount(positions(found) // WINDOW, minlength=windows)[:windows]
    rate = float(np.mean(picks == 0))
    return rate, math.sqrt(rate * (1 - rate) / windows)


def overlapping_miss_rate(found: Fingerprints) -> float:
    """Return the share of all windows without a fingerprint: a run of n k-grams holds n − w + 1 of them."""
    return float(np.maximum(runs(found) - WINDOW + 1, 0).sum() / (found.kgrams - WINDOW + 1))


def survival(lengths: Integers) -> dict[str, Any]:
    """Return the distinct lengths of runs, and the share of runs at least as long as each."""
    values, counts = np.unique(lengths, return_counts=True)
    return {"length": values, "share": counts[::-1].cumsum()[::-1] / len(lengths)}


def odds(run: int, places: int = 1) -> float:
    """Return log10 of how many runs of this length are expected to start at so many places, if hashes were random."""
    return run * math.log10(1 - 1 / P) + math.log10(places)


def _claims(found: Found) -> tuple[Claim, ...]:
    what = f"copies of {COPY} characters that 0 mod {P} misses"
    rates = {text: miss_rate(by["modulo"]) for text, by in found.items()}
    longest = float(runs(found["corpus"]["modulo"]).max())
    terabyte = odds(PAPERS_RUN, TERABYTE)
    return (
        *(
            Claim(f"{what}, {text}", PAPER.get("miss rate"), r, "of all", f"± {se:.4f}")
            for text, (r, se) in rates.items()
        ),
        Claim(f"longest run, 0 mod {P}, corpus", PAPER.get("longest run"), longest, "k-grams", "paper: Figure 3"),
        Claim(f"odds of a run of {PAPERS_RUN:,}", PAPER.get("odds"), odds(PAPERS_RUN), "log10", "paper: less than"),
        Claim("odds of one in a terabyte", PAPER.get("odds in a terabyte"), terabyte, "log10", "paper: less than"),
    )


def _table(found: Found) -> Table:
    expected = {"modulo": (1 - 1 / P) ** WINDOW}
    columns = ("text", "scheme", "longest run", "windows missed", "standard error", "of all windows", "expected")
    rows = tuple(
        (text, s, int(runs(f).max()), *miss_rate(f), overlapping_miss_rate(f), expected.get(s, 0.0))
        for text, by in found.items()
        for s, f in by.items()
    )
    return Table(f"runs without a fingerprint, and windows of {WINDOW} k-grams without one", columns, rows)


def _notes(corpus: Fingerprints) -> tuple[str, ...]:
    longest = int(runs(corpus).max())
    return (
        f"if hashes were random, a corpus of this length would have 10^{odds(longest, corpus.kgrams):.1f} runs of "
        f"{longest:,} k-grams without one that is 0 mod {P}",
        "§5.1 speaks of “every” substring of a terabyte where “some” is meant, and its < 10^-220 is loose",
        "the standard error takes windows for independent, which those of real text are not",
    )


def draw(outcome: Outcome) -> Figure:
    """Draw the share of runs at least so long, for random text and for the corpus."""
    figure, axes = plots.panels(outcome)
    for panel, text in zip(axes, ("random", "corpus"), strict=True):
        _draw_survival(panel, outcome.series[text])
        panel.set_title(f"{text} text")
    if "longest run" in PAPER:
        axes[1].axvline(PAPER["longest run"], color=plots.RED, ls="--", lw=1, label="paper: longest run, 0 mod 50")
    for panel in axes:
        plots.legend_below(panel)
    return figure


def _draw_survival(axes: Axes, series: Mapping[str, Any]) -> None:
    for scheme in SCHEMES:
        # A run of length 0 has no place on a logarithmic axis and stands at its left end.
        lengths, share = np.maximum(series[scheme]["length"], 0.9), series[scheme]["share"]
        # On most text a robust scheme does as its plain one, whose line shows between the dashes.
        line = "--" if "robust" in scheme else "-"
        axes.step(lengths, share, line, where="pre", color=plots.COLOURS[scheme], label=scheme)
    lengths = np.arange(1, 2000)
    axes.plot(lengths, (1 - 1 / P) ** lengths, ":", color=plots.INK, lw=1, label=f"(1 − 1/{P})^run")
    axes.axvline(WINDOW - 1, color=plots.GREY, lw=1, label=f"guarantee: at most {WINDOW - 1}")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="run without a fingerprint (k-grams)",
        ylabel="share of runs at least as long",
    )
    axes.set_ylim(0.5 * min(curve["share"][-1] for curve in series.values()), 1.5)
