"""Which documents never have a near-duplicate, and could that be told beforehand? A question of Manku 2007, §6 B.

A text is duplicated if another document is identical or resembles it. Partners of drawn texts are found exactly
(`partners.py`). Signals that cost little are then tried: length, how often words are repeated, how many characters are
digits, script, language, and the host where names are URLs. One half of the drawn texts fits the
signal, the other half measures it: how well it ranks them, and how much could be left unsearched if one duplicate in a
hundred may be lost.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lookalike import params
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import CRAWLING, Cell, Claim, Outcome, Table
from lookalike.lab.shared.setting import Integers
from lookalike.lab.shared.versions import text_of
from lookalike.lab.simhash.partners import by_distance, by_resemblance
from lookalike.lab.simhash.simhashed import SHINGLE, Simhashed, read_several
from lookalike.simhashes.texts import LANGUAGES, simhash_batch

#: Broder 1997, §1: of 30 million pages 12.3 were in a cluster at 0.5. Manku 2007 asks and gives no figure.
PAPER = {"documents never duplicated, at 0.5": 17.7 / 30}
THRESHOLDS = (0.5, params.THRESHOLD.default)
#: The distance of the paper, and the duplicates that may be lost.
K, LOSS = 3, 0.01
#: Classes of length, and characters in which the script is looked for.
CLASSES, LETTERS = 8, 300
#: A host is told of if so many of its documents were drawn, and at most so many are.
LEAST, HOSTS = 5, 10
#: Texts of a category that the mean of all stands for, so that a single one does not decide.
PRIOR = 5.0

Mask = NDArray[np.bool_]


class Signal(NamedTuple):
    """What one signal is worth on the half that did not choose it."""

    name: str
    #: The chance that a duplicated text ranks above one that is not; 0.5 says nothing.
    auc: float
    #: Texts that would not be searched, and duplicated texts among them, as shares of all and of the duplicated ones.
    pruned: float
    lost: float
    kinds: int


def host(name: str) -> str | None:
    """Return the host of a name that is a URL."""
    try:
        return urlsplit(name).hostname if "://" in name else None
    except ValueError:
        return None


def script(text: bytes) -> str:
    """Return the script of most letters at the beginning of a text, by the first word of their names."""
    letters = [character for character in text_of(text[: 4 * LETTERS]) if character.isalpha()]
    names = Counter(unicodedata.name(letter, "UNKNOWN").split()[0].lower() for letter in letters)
    return max(names, key=lambda name: (names[name], name)) if names else "none"


def _repetition(text: bytes) -> float:
    words = text_of(text).split()
    return len(set(words)) / len(words) if words else 0.0


def _numbers(text: bytes) -> float:
    shown = text_of(text)
    return sum(character.isdigit() for character in shown) / len(shown) if shown else 0.0


def _languages(texts: Sequence[bytes]) -> list[str]:
    """Return the language of each text, as simhash tells it for a filter."""
    told = ("unknown", *LANGUAGES)
    return [told[number] for number in simhash_batch(list(texts), languages=True).languages]


#: Signals that are numbers, of a text.
NUMBERS: dict[str, Callable[[bytes], float]] = {"distinct words, share": _repetition, "digits, share": _numbers}


def auc(scores: NDArray[np.float64], is_positive: Mask) -> float:
    """Return the chance that a positive scores above a negative, ties counting half; 0.5 if there are not both."""
    positives, negatives = int(is_positive.sum()), int((~is_positive).sum())
    if not positives or not negatives:
        return 0.5
    _, which, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return float((ranks[which][is_positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def try_numbers(name: str, values: NDArray[np.float64], is_dup: Mask, is_train: Mask) -> Signal:
    """Let one half say which end of a number has few duplicates, and where to cut; measure on the other."""
    sign = 1.0 if auc(values[is_train], is_dup[is_train]) >= 0.5 else -1.0
    scores = sign * values
    held = np.sort(scores[is_train & is_dup])
    # Below the cut lies at most LOSS of the duplicated texts of the first half.
    cut = held[int(LOSS * len(held))] if len(held) else np.inf
    return _worth(name, scores, scores < cut, is_dup, ~is_train, 0)


def try_categories(name: str, kinds: Sequence[str], is_dup: Mask, is_train: Mask) -> Signal:
    """Let one half say which categories have no duplicates and need no search; measure on the other."""
    seen: Counter[str] = Counter()
    dups: Counter[str] = Counter()
    for kind, dup, train in zip(kinds, is_dup.tolist(), is_train.tolist(), strict=True):
        if train:
            seen[kind] += 1
            dups[kind] += dup
    mean = float(is_dup[is_train].mean()) if is_train.any() else 0.0
    scores = np.array([(dups[kind] + PRIOR * mean) / (seen[kind] + PRIOR) for kind in kinds])
    pruned = np.array([seen[kind] >= LEAST and not dups[kind] for kind in kinds])
    return _worth(name, scores, pruned, is_dup, ~is_train, len(set(kinds)))


def _worth(name: str, scores: NDArray[np.float64], pruned: Mask, is_dup: Mask, on: Mask, kinds: int) -> Signal:
    lost = (pruned & is_dup & on).sum() / max((is_dup & on).sum(), 1)
    return Signal(name, auc(scores[on], is_dup[on]), float((pruned & on).sum() / max(on.sum(), 1)), float(lost), kinds)


def signals(found: Simhashed, drawn: Integers, is_dup: Mask, seed: int) -> list[Signal]:
    """Try every signal, best first. Halves are drawn."""
    is_train = np.random.default_rng(seed).random(len(drawn)) < 0.5
    texts = [found.texts[i] for i in drawn.tolist()]
    made = [try_numbers("length, words", found.lengths[drawn].astype(np.float64), is_dup, is_train)]
    for name, value in NUMBERS.items():
        made.append(try_numbers(name, np.array([value(text) for text in texts]), is_dup, is_train))
    made.append(try_categories("script", [script(text) for text in texts], is_dup, is_train))
    made.append(try_categories("language", _languages(texts), is_dup, is_train))
    # Copies of a text may stand on several hosts, so here documents count.
    hosts = [(host(name), place) for place, i in enumerate(drawn.tolist()) for name in found.holders[i]]
    if any(name for name, _ in hosts):
        places = np.array([place for _, place in hosts])
        made.append(try_categories("host", [name or "none" for name, _ in hosts], is_dup[places], is_train[places]))
    return sorted(made, key=lambda one: (-one.auc, one.name))


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Count what is never duplicated, and try the signals."""
    found = read_several(corpus)
    drawn = found.draw(seed)
    partners = by_resemblance(found.shingles, drawn, THRESHOLDS[0])
    near = by_distance(found.fingerprints, drawn, K)
    copied = found.copies[drawn] > 1
    kinds = {
        f"at {threshold:g}": copied | np.isin(drawn, partners.drawn[partners.scores >= threshold])
        for threshold in THRESHOLDS
    }
    kinds[f"within {K} bits"] = copied | np.isin(drawn, near.drawn)
    is_dup = kinds[f"at {THRESHOLDS[-1]:g}"]
    tried = signals(found, drawn, is_dup, seed)
    hosts = _by_host(found, drawn, is_dup)
    return Outcome(
        name="never-duplicated",
        title=f"Documents that never have a near-duplicate, among {int(found.copies.sum()):,}",
        sections="§6 B",
        parameters={"thresholds": list(THRESHOLDS), "distance": K, "loss": LOSS, "drawn": len(drawn), "seed": seed},
        corpus=corpus.facts(),
        claims=_claims(found, drawn, kinds, tried, hosts),
        tables=(_shares(found, drawn, kinds), _signals(tried), *([_hosts(hosts)] if hosts else [])),
        notes=(
            *corpus.notes(),
            *found.notes(),
            "never means: not in this corpus; a larger one has partners that this one lacks",
            f"signals are for a resemblance of {THRESHOLDS[-1]:g} (word shingles of {SHINGLE}), learnt on one half of "
            f"{len(drawn):,} texts and measured on the other; an AUC of 0.5 says nothing",
            f"not searched: texts beyond the value beyond which one half has {100 * LOSS:g} % of its duplicates, or of "
            f"categories of {LEAST} or more that have none there",
            *([] if hosts else ["no host is known: names of documents are no URLs"]),
        ),
        series={"lengths": _lengths(found.lengths[drawn], kinds), "signals": _columns(tried)},
        paper=CRAWLING,
    )


def _share(found: Simhashed, drawn: Integers, is_dup: Mask) -> float:
    """Return the share of documents, not of texts, that are not duplicated."""
    copies = found.copies[drawn]
    return float(copies[~is_dup].sum() / copies.sum())


def _claims(
    found: Simhashed,
    drawn: Integers,
    kinds: dict[str, Mask],
    tried: Sequence[Signal],
    hosts: list[tuple[str, int, int]],
) -> tuple[Claim, ...]:
    made = [
        (f"documents never duplicated, {way}", _share(found, drawn, is_dup), "paper: Broder 1997, 30 M pages")
        if way == "at 0.5"
        else (f"documents never duplicated, {way}", _share(found, drawn, is_dup), "")
        for way, is_dup in kinds.items()
    ]
    best, most = tried[0], max(tried, key=lambda one: (one.pruned, one.name))
    made.append(("AUC of the best signal", best.auc, best.name))
    made.append(
        ("texts that need not be searched", most.pruned, f"{most.name}; {100 * most.lost:.1f} % of duplicates lost")
    )
    if hosts:
        alone = sum(not dups for _, _, dups in hosts) / len(hosts)
        made.append(("hosts never duplicated", alone, f"of {len(hosts):,} hosts, at {THRESHOLDS[-1]:g}"))
    return tuple(Claim(name, PAPER.get(name), value, "", note) for name, value, note in made)


def _by_host(found: Simhashed, drawn: Integers, is_dup: Mask) -> list[tuple[str, int, int]]:
    """Return each host with its documents of drawn texts and how many are duplicated, the largest first."""
    documents: Counter[str] = Counter()
    dups: Counter[str] = Counter()
    for i, dup in zip(drawn.tolist(), is_dup.tolist(), strict=True):
        for name in filter(None, map(host, found.holders[i])):
            documents[name] += 1
            dups[name] += dup
    return sorted(((name, count, dups[name]) for name, count in documents.items()), key=lambda one: (-one[1], one[0]))


def _edges(lengths: Integers) -> list[int]:
    """Return limits of classes of length with about as many texts each."""
    return sorted({int(value) for value in np.quantile(lengths, np.linspace(0, 1, CLASSES + 1)[:-1], method="lower")})


def _lengths(lengths: Integers, kinds: dict[str, Mask]) -> dict[str, Any]:
    edges = _edges(lengths)
    which = np.searchsorted(edges, lengths, side="right") - 1
    counts = np.bincount(which, minlength=len(edges))
    shares = {
        way: (np.bincount(which[~is_dup], minlength=len(edges)) / np.maximum(counts, 1)).tolist()
        for way, is_dup in kinds.items()
    }
    return {"from": edges, "texts": counts, "never": shares}


def _shares(found: Simhashed, drawn: Integers, kinds: dict[str, Mask]) -> Table:
    columns = _lengths(found.lengths[drawn], kinds)
    ends = [str(edge - 1) for edge in columns["from"][1:]] + ["…"]
    rows: list[tuple[Cell, ...]] = [
        (f"{low} to {end}", int(count), *(columns["never"][way][i] for way in kinds))
        for i, (low, end, count) in enumerate(zip(columns["from"], ends, columns["texts"], strict=True))
    ]
    rows.append(("all", len(drawn), *(float((~is_dup).mean()) for is_dup in kinds.values())))
    return Table("share of texts never duplicated, by length in words", ("words", "texts", *kinds), tuple(rows))


def _signals(tried: Sequence[Signal]) -> Table:
    rows: list[tuple[Cell, ...]] = [(one.name, one.auc, one.pruned, one.lost, one.kinds or None) for one in tried]
    return Table(
        "signals, on the other half", ("signal", "AUC", "not searched", "duplicates lost", "categories"), tuple(rows)
    )


def _hosts(hosts: Sequence[tuple[str, int, int]]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, count, dups, 1 - dups / count) for name, count, dups in hosts[:HOSTS] if count >= LEAST
    ]
    return Table("the largest hosts", ("host", "documents", "duplicated", "never duplicated, share"), tuple(rows))


def _columns(tried: Sequence[Signal]) -> dict[str, list[Any]]:
    return {name: [getattr(one, name) for one in tried] for name in Signal._fields}


def draw(outcome: Outcome) -> Figure:
    """Draw what is never duplicated by length, and what each signal is worth."""
    figure, (left, right) = plots.panels(outcome)
    lengths, tried = outcome.series["lengths"], outcome.series["signals"]
    x = range(len(lengths["from"]))
    for (way, shares), colour, line in zip(
        lengths["never"].items(), (plots.BLUE, plots.GREEN, plots.RED), ("o-", "s-", "^--"), strict=True
    ):
        left.plot(x, shares, line, ms=4, lw=1, color=colour, label=f"resemblance {way}" if "at" in way else way)
    if PAPER:
        (value,) = PAPER.values()
        left.axhline(value, color=plots.INK, ls=":", label="Broder 1997: all pages, at 0.5")
    left.set_xticks(list(x), [f"{edge:,}" for edge in lengths["from"]])
    left.set(
        xlabel="words, from", ylabel="share never duplicated", ylim=(0, 1.03), title="by length, classes of equal size"
    )
    height = np.arange(len(tried["name"]))
    right.barh(height - 0.2, tried["auc"], 0.36, color=plots.BLUE, label="AUC: 0.5 says nothing, 1 all")
    right.barh(height + 0.2, tried["pruned"], 0.36, color=plots.GREEN, label="share that need not be searched")
    right.plot(tried["lost"], height + 0.2, "x", color=plots.RED, mew=2, label="share of duplicates lost by that")
    right.axvline(0.5, color=plots.GREY, ls=":")
    right.set_yticks(height, tried["name"])
    right.invert_yaxis()
    right.set(xlabel="share", xlim=(-0.02, 1.02), title="signals, on texts that did not choose them")
    plots.legend_below(left, columns=2)
    plots.legend_below(right, columns=1)
    return figure
