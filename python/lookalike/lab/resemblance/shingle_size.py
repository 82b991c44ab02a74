"""How long should a shingle be? Resemblance against w for texts whose words were replaced, and for permuted ones.

A larger w is more sensitive to permutations, and over-sensitive to small alterations: one changed token spoils w
shingles (Broder 1997, §2). With w = 1 every permutation of the words is the same text; with w = 2 some still are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean, median

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike.errors import FrontendError
from lookalike.lab.shared import plots, versions
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import RESEMBLANCE, Cell, Claim, Outcome, Table
from lookalike.sketches.exact import resemblance

#: §2: the rose by option and w, and the permutation that w = 2 does not see.
PAPER = {
    "rose, labelled, w = 1": 0.7,
    "rose, labelled, w = 2": 0.5,
    "rose, labelled, w = 3": 0.3,
    "rose, as sets, w = 1": 0.6,
    "rose, as sets, w = 2": 0.5,
    "rose, as sets, w = 3": 0.4285,
    "a c a b a, labelled, w = 2": 1.0,
}
ROSES = "a rose is a rose is a rose", "a rose is a flower which is a rose"
PERMUTED = "a c a b a", "a b a c a"
WIDTHS = tuple(range(1, 13))
#: Shares of words that are replaced.
SHARES = (0.01, 0.05, 0.2)
#: Documents that are drawn, and the words each must have and may give.
DOCUMENTS, FEWEST, MOST = 60, 2 * WIDTHS[-1], 2000
LOOKS = ((plots.BLUE, "o"), (plots.GREEN, "s"), (plots.GREY, "D"), (plots.RED, "^"), ("#cc79a7", "v"))

Make = Callable[[str, np.random.Generator], str]


def ways() -> dict[str, Make]:
    """Return what is done to a text, by name."""

    def replaced(share: float) -> Make:
        return lambda text, rng: versions.edited(text, share, rng)

    made = {_replaced(share): replaced(share) for share in SHARES}
    return made | {
        "sentences shuffled": lambda text, rng: " ".join(versions.shuffled(versions.sentences(text), rng)),
        "words shuffled": lambda text, rng: " ".join(versions.shuffled(text.split(), rng)),
    }


def _replaced(share: float) -> str:
    return f"{100 * share:g} % of words replaced"


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Compare each text drawn with its versions at every w."""
    rng = np.random.default_rng(seed)
    texts = draw_texts(corpus, rng)
    made = {name: [(text, make(text, rng)) for text in texts] for name, make in ways().items()}
    curves = {name: [_mean(pairs, width) for width in WIDTHS] for name, pairs in made.items()}
    theory = {_replaced(share): [versions.expected(share, width) for width in WIDTHS] for share in SHARES}
    counts = [len(versions.sentences(text)) for text in texts]
    return Outcome(
        name="shingle-size",
        title=f"Resemblance against w; {len(texts)} texts",
        sections="§2",
        parameters={
            "widths": list(WIDTHS),
            "shares": list(SHARES),
            "unit": "word",
            "documents": len(texts),
            "seed": seed,
        },
        corpus=corpus.facts(),
        claims=tuple(Claim(name, PAPER.get(name), value, "", note) for name, value, note in examples()),
        tables=(_table(curves), _permutations()),
        notes=(
            *corpus.notes(),
            f"{len(texts)} of {len(corpus.documents)} documents were drawn by the seed, at most {MOST:,} words of each",
            f"half of them have {median(counts):g} sentences or more",
            "where each word is replaced with probability p, a shingle survives with (1 − p)^w = q and r = q/(2 − q)",
            "sentences in another order cost only the shingles across their ends; words in another order nearly all",
        ),
        series={"width": {"w": list(WIDTHS)}, "mean": curves, "theory": theory},
        paper=RESEMBLANCE,
    )


def draw_texts(corpus: Corpus, rng: np.random.Generator) -> list[str]:
    """Return the beginnings of documents that have enough words. Errors: ``FrontendError`` if none has."""
    texts: list[str] = []
    for i in rng.permutation(len(corpus.documents)):
        text = versions.text_of(corpus.documents[i])
        if len(text.split()) >= FEWEST:
            texts.append(_beginning(text))
        if len(texts) == DOCUMENTS:
            break
    if not texts:
        raise FrontendError(f"corpus `{corpus.name}` has no text of {FEWEST} words: give longer texts")
    return texts


def _beginning(text: str) -> str:
    """Return about the first words, with their line breaks."""
    return text if len(text.split()) <= MOST else text[: len(" ".join(text.split()[:MOST]))]


def _mean(pairs: list[tuple[str, str]], width: int) -> float:
    found = (resemblance(*pair, shingle=width) for pair in pairs)
    return fmean(value for value in found if value is not None)


def examples() -> list[tuple[str, float, str]]:
    """Return the paper's examples: name, resemblance, what to note."""
    found = []
    for labelled, option in ((True, "labelled"), (False, "as sets")):
        for width in (1, 2, 3):
            value = resemblance(*ROSES, shingle=width, labelled=labelled)
            found.append((f"rose, {option}, w = {width}", value or 0.0, f"option {'A' if labelled else 'B'}"))
    same = resemblance(*PERMUTED, shingle=2, labelled=True)
    return [*found, ("a c a b a, labelled, w = 2", same or 0.0, "against a b a c a: another text, and not seen")]


def _table(curves: Mapping[str, list[float]]) -> Table:
    rows = tuple(zip(map(str, WIDTHS), *curves.values(), strict=True))
    return Table("mean resemblance of a text and its version", ("w", *curves), rows)


def _permutations() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for width in range(1, 6):
        both = (resemblance(*PERMUTED, shingle=width, labelled=labelled) for labelled in (True, False))
        rows.append((str(width), *both))
    return Table("a c a b a against a b a c a", ("w", "labelled", "as sets"), tuple(rows))


def draw(outcome: Outcome) -> Figure:
    """Draw what alterations cost on the left, what permutations cost on the right."""
    figure, (left, right) = plots.panels(outcome)
    widths, curves = outcome.series["width"]["w"], outcome.series["mean"]
    looks = dict(zip(curves, LOOKS, strict=True))
    theory = outcome.series["theory"]
    for name, curve in curves.items():
        axes = left if name in theory else right
        colour, marker = looks[name]
        axes.plot(widths, curve, marker=marker, ms=4, lw=1, color=colour, label=name)
    for name, curve in theory.items():
        left.plot(widths, curve, "--", lw=0.8, color=looks[name][0])
    left.plot([], [], "--", lw=0.8, color=plots.INK, label="theory, q/(2 − q)")
    for axes, title in ((left, "alterations"), (right, "permutations")):
        _finish(axes, title)
    return figure


def _finish(axes: Axes, title: str) -> None:
    axes.set(xlabel="w (words)", ylabel="mean resemblance", title=title, ylim=(-0.02, 1.02), xticks=WIDTHS)
    plots.legend_below(axes, columns=2)
