"""Density: fingerprints per k-gram, measured and expected, on random text (the paper's 8 MB) and a corpus (Figure 3).

Pages are read without their tags, as the paper did, and the bytes of files and of text stand beside the paper's. Also
whether the hashes are uniform, and the lower bounds of `bounds.py` over a sweep of windows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike import _core
from lookalike.fingerprints import Fingerprints, select
from lookalike.lab.shared import plots, uniformity
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import Claim, Outcome, Table
from lookalike.lab.shared.setting import K, P, W, density, distinct, fingerprints, positions, random_text
from lookalike.lab.winnowing.bounds import expected, lower_bounds

#: §5.1 and Figure 3, by text and scheme; and §4, how far winnowing lies above the bound.
PAPER = {
    "random winnow": 0.019902,
    "random modulo": 0.020005,
    "corpus winnow": 0.019855,
    "corpus modulo": 0.019974,
    "corpus robust": 0.019829,
    "above the bound": 0.33,
}
#: Figure 3: 500,000 pages as they came and without tags, and what was computed of them.
FIGURE3 = {
    "total bytes": 7_182_692_852,
    "text bytes": 1_940_576_448,
    "hashes computed": 1_940_576_399,
    "winnowing fingerprints": 38_530_846,
    "fingerprints for 0 mod 50": 38_761_128,
}
#: Characters of random text, and of each step of the sweep over windows.
LENGTH, SWEEP_LENGTH = 8 << 20, 1 << 20
SWEEP = (2, 3, 5, 8, 13, 20, 24, 32, 50, 75, 100, 150, 250, 400, 700, 1000)
#: Blocks whose densities give the standard error; fewer where a block would not hold ten windows.
BLOCKS = 256
#: Schemes whose density is worth drawing; that of `every` is 1 by definition and it is not run.
DRAWN = ("safe-modulo", "modulo", "winnow", "robust", "compact", "compact-robust")
#: Left end of the axis of densities; no scheme with a guarantee is below 1/w.
LEAST = 0.9 / W
COLUMNS = ("scheme", "k-grams", "fingerprints", "density", "standard error", "expected")

Rows = tuple[tuple[Any, ...], ...]


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Measure densities on random text and on the corpus."""
    text = random_text(LENGTH, seed)
    rows = {"random": _rows(text), "corpus": _rows(corpus.text)}
    return Outcome(
        name="density",
        title=f"Density of the schemes at k = {K}, w = {W}",
        sections="§3.1, §4 and §5.1 (Figure 3)",
        parameters={"k": K, "w": W, "p": P, "characters": LENGTH, "characters, sweep": SWEEP_LENGTH, "seed": seed},
        corpus=corpus.facts(),
        claims=_claims(rows),
        tables=(
            _figure3(corpus, rows["corpus"]),
            *(Table(f"{name} text", COLUMNS, measured) for name, measured in rows.items()),
            Table(f"lower bounds at k = {K}, w = {W}", ("bound", "density"), tuple(lower_bounds(K, W).items())),
            uniformity.table(_hashes(text, corpus)),
        ),
        notes=(*corpus.notes(), *_slips(rows["random"], text)),
        series={"sweep": _sweep(seed)} | {name: _densities(measured) for name, measured in rows.items()},
    )


def _figure3(corpus: Corpus, rows: Rows) -> Table:
    """Return the paper's counts beside those of the corpus; its text is normalised before it is hashed."""
    found = {scheme: fingerprints for scheme, _, fingerprints, *_ in rows}
    total = corpus.total_bytes
    ours = (total, corpus.text_bytes, found["every"], found["winnow"], found["modulo"])
    counts: list[tuple[Any, ...]] = [(name, FIGURE3[name], number) for name, number in zip(FIGURE3, ours, strict=True)]
    share = FIGURE3["text bytes"] / FIGURE3["total bytes"]
    counts.insert(2, ("text bytes per total byte", share, corpus.text_bytes / total if total else None))
    return Table("Figure 3: bytes, hashes and fingerprints", ("count", "paper, pages", "corpus"), tuple(counts))


def standard_error(found: Fingerprints) -> float:
    """Return the standard error of the density, from its spread over equal blocks of the text."""
    blocks = max(2, min(BLOCKS, found.kgrams // (10 * W)))
    counts = np.bincount(positions(found) * blocks // found.kgrams, minlength=blocks)
    return float(counts.std(ddof=1) * math.sqrt(blocks) / found.kgrams)


def _rows(text: bytes) -> Rows:
    made = [(scheme, fingerprints(text, scheme)) for scheme in (*DRAWN, "smallest")]
    kgrams = made[0][1].kgrams
    every = ("every", kgrams, kgrams, 1.0, 0.0, 1.0)
    return every, *(
        (scheme, kgrams, len(found), density(found), standard_error(found), expected(scheme, W, kgrams))
        for scheme, found in made
    )


def _densities(rows: Rows) -> dict[str, float]:
    return {row[0]: row[3] for row in rows}


def _claims(rows: Mapping[str, Rows]) -> tuple[Claim, ...]:
    ours = {f"{text} {scheme}": d for text, measured in rows.items() for scheme, d in _densities(measured).items()}
    sources = {
        "random winnow": "paper: 8 MB of random text",
        "random modulo": "paper: 8 MB of random text, 0 mod 50",
        "corpus winnow": "paper: Figure 3, 500,000 pages",
        "corpus modulo": "paper: Figure 3, 0 mod 50",
        "corpus robust": "paper: Figure 3 run again",
    }
    above = ours["random winnow"] * (W + 1) / 1.5 - 1
    claims = [Claim(f"density, {name}", PAPER.get(name), ours[name], "", source) for name, source in sources.items()]
    within = Claim("winnowing above 1.5/(w+1)", PAPER.get("above the bound"), above, "", "paper: within 33 %")
    return (*claims, within)


def _hashes(text: bytes, corpus: Corpus) -> dict[str, uniformity.Hashes]:
    """Collect hashes to test: of random text, and the distinct ones of the corpus, where k-grams repeat."""
    keys = np.asarray(_core.kgram_keys(text, K, False))
    found, theirs = fingerprints(text, "winnow"), fingerprints(corpus.text, "winnow")
    return {
        "order keys of all k-grams": keys,
        "identities of all k-grams": np.asarray(fingerprints(text, "every").hashes),
        "identities of fingerprints": np.asarray(found.hashes),
        "order keys of fingerprints (minima, so skewed: §5.2)": keys[positions(found)],
        "identities of distinct fingerprints of the corpus": distinct(np.asarray(theirs.hashes)),
    }


def _sweep(seed: int) -> dict[str, Any]:
    text = random_text(SWEEP_LENGTH, seed)
    schemes = ("safe-modulo", "winnow", "compact")
    return {"w": SWEEP} | {scheme: [density(fingerprints(text, scheme, w)) for w in SWEEP] for scheme in schemes}


def _slips(rows: Rows, text: bytes) -> list[str]:
    """Say what in the paper's figures is not as it should be."""
    error = next(row[4] for row in rows if row[0] == "winnow")
    hashes = _core.kgram_keys(text[: 10 * W + K], K, False).tolist()
    early = len(_core.figure5(hashes, W)) - len(select(hashes, W))
    notes = [
        f"Figure 5's loop also records minima of partial first windows, here {early} more than Definition 1 selects "
        "and Figure 2(f) shows; its (r-1)%w is −1 in C, and INT_MAX is no largest 64-bit hash; we follow Definition 1",
        "Figure 2 is said to reproduce Figure 1, but has 74 where Figure 1 has 72; only 72 is 0 mod 4",
        "the paper conjectures that no local algorithm beats 2/(w+1); compact does, because it looks at the text of a "
        "window and not only at its hashes; it gains from w = (k − 4)/2 on",
    ]
    if printed := PAPER.get("random winnow"):
        far = f"{(printed - 2 / (W + 1)) / error:.1f} standard errors above 2/(w+1)"
        notes.insert(0, f"the paper's {printed} on random text is {far}: a slip of the pen or an uneven hash")
    return notes


def draw(outcome: Outcome) -> Figure:
    """Draw measured against expected densities, and the sweep over windows with its bounds."""
    figure, (left, right) = plots.panels(outcome)
    _draw_schemes(left, outcome)
    _draw_sweep(right, outcome.series["sweep"])
    return figure


def _draw_schemes(axes: Axes, outcome: Outcome) -> None:
    known = [(value, y) for y, scheme in enumerate(DRAWN) if (value := expected(scheme, W, LENGTH)) is not None]
    axes.plot(*np.transpose(known), "|", ms=24, color=plots.GREY, label="expected")
    bound = lower_bounds(K, W)["forward schemes, 2024"]
    axes.axvline(bound, ls=":", color=plots.INK, label="lower bound, forward schemes")
    for offset, text, marker, colour in ((-0.17, "random", "o", plots.INK), (0.17, "corpus", "s", plots.BLUE)):
        values, heights = [outcome.series[text][s] for s in DRAWN], [y + offset for y in range(len(DRAWN))]
        plots.dots(axes, values, heights, LEAST, marker=marker, ms=5, color=colour, label=f"{text} text")
        names = [f"{text} {scheme}" for scheme in DRAWN]
        printed = [(PAPER[name], y) for name, y in zip(names, heights, strict=True) if name in PAPER]
        plots.crosses(axes, printed, f"paper, {text} text")
    axes.set(xscale="log", xlabel="fingerprints per k-gram", yticks=range(len(DRAWN)), yticklabels=DRAWN)
    axes.set(xlim=(0.95 * LEAST, 1.5 * max(values)), ylim=(len(DRAWN) - 0.4, -0.6))
    plots.plain_ticks(axes.xaxis, (0.01, 0.015, 0.02, 0.03, 0.06, 0.1, 0.3, 1))
    plots.legend_below(axes)


def _draw_sweep(axes: Axes, sweep: Mapping[str, Any]) -> None:
    """Draw densities times w + 1, so that winnowing is level at 2."""
    measured, w = np.array(sweep["w"]), np.arange(SWEEP[0], SWEEP[-1] + 1)
    for scheme in ("safe-modulo", "winnow", "compact"):
        times = np.array(sweep[scheme]) * (measured + 1)
        axes.plot(measured, times, "o", ms=4, color=plots.COLOURS[scheme], label=f"{scheme}, measured")
    axes.plot(w, (1 + np.log(w)) / w * (w + 1), color=plots.COLOURS["safe-modulo"], lw=0.8, label="(1 + ln w)/w")
    axes.axhline(2, color=plots.COLOURS["winnow"], lw=0.8, label="2/(w+1)")
    for name, line in zip(lower_bounds(K, W), ("-.", "--", ":", "-"), strict=True):
        axes.plot(w, [lower_bounds(K, int(x))[name] * (x + 1) for x in w], ls=line, color=plots.INK, lw=0.9, label=name)
    axes.set(xscale="log", xlabel="window w (k-grams)", title=f"random text, k = {K}")
    axes.set(yscale="log", ylabel="density × (w + 1)")
    plots.plain_ticks(axes.yaxis, (1, 1.5, 2, 3, 4, 6, 8))
    plots.legend_below(axes, columns=2)
