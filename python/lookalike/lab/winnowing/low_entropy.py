"""Low entropy: strings with few distinct k-grams, where plain winnowing takes nearly all and 0 mod p all or nothing.

Zeros, `abba…`, data like the paper's sensors (zeros with the odd other character), random text beside them, and what
the robust rule saves on the corpus.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import Claim, Outcome, Table
from lookalike.lab.shared.setting import ALPHABET, K, P, W, density, fingerprints, random_text, runs

#: §5.1: on 0000… from asymptotically 1 to 1/w; Figure 3 and what it became with the robust rule.
PAPER = {"zeros winnow": 1.0, "zeros robust": 0.01, "corpus winnow": 0.019855, "corpus robust": 0.019829}
#: Characters of each text, and the share of other characters among the sensors' zeros.
LENGTH, ODD = 1 << 20, 1 / 200
#: Left end of the plot's axis; what is below stands there.
LEAST = 0.001
SCHEMES = ("modulo", "winnow", "robust", "compact", "compact-robust")


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Fingerprint every text by every scheme."""
    found = {
        (text, scheme): fingerprints(data, scheme)
        for text, data in (texts(seed) | {"corpus": corpus.text}).items()
        for scheme in SCHEMES
    }
    densities = {key: density(f) for key, f in found.items()}
    rows = tuple((*key, densities[key], int(runs(f).max())) for key, f in found.items())
    whole, none = all_or_nothing()
    return Outcome(
        name="low-entropy",
        title=f"Low-entropy text at k = {K}, w = {W}",
        sections="§5.1 (Definition 3)",
        parameters={"k": K, "w": W, "p": P, "characters": LENGTH, "odd characters": ODD, "seed": seed},
        corpus=corpus.facts(),
        claims=_claims(densities),
        tables=(Table("density and longest run", ("text", "scheme", "density", "longest run"), rows),),
        notes=(
            *corpus.notes(),
            f"of {len(ALPHABET)} repeated characters 0 mod {P} selects {whole} wholly and {none} not at all",
        ),
        series={"density": {f"{text} {scheme}": value for (text, scheme), value in densities.items()}},
    )


def texts(seed: int) -> dict[str, bytes]:
    """Make the texts by name, the dullest first."""
    rng = np.random.default_rng(seed)
    sensor = np.full(LENGTH, ord("0"), dtype=np.uint8)
    odd = rng.random(LENGTH) < ODD
    sensor[odd] = rng.choice(ALPHABET, odd.sum())
    return {
        "zeros": b"0" * LENGTH,
        "abba": b"abba" * (LENGTH // 4),
        "sensor": sensor.tobytes(),
        "random": random_text(LENGTH, seed),
    }


def all_or_nothing() -> tuple[int, int]:
    """Count the single characters whose repetition 0 mod p selects wholly, and not at all."""
    found = [fingerprints(bytes([character]) * (K + W), "modulo") for character in ALPHABET]
    return sum(len(f) == f.kgrams for f in found), sum(len(f) == 0 for f in found)


def _claims(densities: dict[tuple[str, str], float]) -> tuple[Claim, ...]:
    wanted = [(text, scheme) for text in ("zeros", "abba", "sensor", "corpus") for scheme in ("winnow", "robust")]
    notes = {"zeros": "paper: asymptotically 1, then 1/w", "corpus": "paper: 500,000 pages"}
    return tuple(
        Claim(
            f"density, {text} {scheme}",
            PAPER.get(f"{text} {scheme}"),
            densities[text, scheme],
            note=notes.get(text, ""),
        )
        for text, scheme in wanted
    )


def draw(outcome: Outcome) -> Figure:
    """Draw densities by text and scheme on a logarithmic axis, with the paper's values and those that theory names."""
    figure, (axes,) = plots.panels(outcome, 1)
    names = ("zeros", "abba", "sensor", "random", "corpus")
    for i, scheme in enumerate(SCHEMES):
        keys, heights = [f"{name} {scheme}" for name in names], [y + 0.16 * (i - 2) for y in range(len(names))]
        values = [outcome.series["density"][key] for key in keys]
        plots.dots(axes, values, heights, LEAST, marker="o", color=plots.COLOURS[scheme], label=scheme)
        printed = [(PAPER[key], y) for key, y in zip(keys, heights, strict=True) if key in PAPER]
        plots.crosses(axes, printed, "paper" if scheme == "robust" else None)
    axes.axvline(1 / W, color=plots.INK, ls=":", label="1/w")
    axes.axvline(2 / (W + 1), color=plots.GREY, lw=1, label="2/(w+1)")
    axes.set(xscale="log", xlim=(0.9 * LEAST, 3), xlabel=f"fingerprints per k-gram (below {LEAST:g} drawn there)")
    axes.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6))
    plots.legend_below(axes, columns=4)
    return figure
