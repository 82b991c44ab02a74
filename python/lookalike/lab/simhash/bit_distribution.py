"""Are fingerprints spread evenly? 128 equal intervals of all 64-bit numbers, and what stands in those that stick out.

Documents are counted here, copies too: the spikes of the paper come from pages that many sites have. A bucket sticks
out if it has more documents than any of 128 would have by chance in a thousand corpora of uniform fingerprints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike.errors import FrontendError
from lookalike.lab.shared import plots, uniformity
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import CRAWLING, Cell, Claim, Outcome, Table
from lookalike.lab.shared.setting import Integers
from lookalike.lab.simhash import survivors, weighing
from lookalike.lab.simhash.simhashed import BITS, Simhashed, Words, beginning, popcount, read
from lookalike.simhashes.texts import simhash

#: §4.2: 128 buckets; "several pages are empty; all of these have simhash value of 0".
PAPER: dict[str, float] = {"buckets": 128, "empty documents with a fingerprint, share": 1.0}
BUCKETS = 128
#: The fingerprints that are looked at: all; one of each group of near-duplicates; by frequency times idf.
ALL, ALONE, RARE = "documents", "without near-duplicates", "words weighed by rarity"
#: Common words that are named.
WORDS = 8
#: The weight of the commonest word where all texts are taken as one.
MOST_WEIGHT = 10_000
#: Buckets that are explained, and characters of the example.
SHOWN, EXCERPT = 8, 60
#: Chance that any bucket of a uniform corpus is taken for a spike.
CHANCE = 0.001
#: Distance within which fingerprints count to a spike's most frequent one.
NEAR = 3


class Spike(NamedTuple):
    """A large bucket, and what it is made of."""

    bucket: int
    documents: int
    #: The most frequent fingerprint in it, the documents that have it, and those within ``NEAR`` bits of it here.
    value: int
    same: int
    near: int
    #: Name and beginning of a document that has it.
    name: str
    excerpt: str
    sticks_out: bool


def bucket_of(fingerprints: Words) -> Integers:
    """Return the bucket of each fingerprint: its upper seven bits."""
    return (fingerprints >> np.uint64(BITS - int(math.log2(BUCKETS)))).astype(np.int64)


def limit(documents: int) -> float:
    """Return how many documents a bucket of a uniform corpus exceeds with a chance of ``CHANCE`` in all buckets."""
    # The tail of the binomial law, added up from the mean outwards in logarithms.
    p, most = 1 / BUCKETS, documents
    logs = (
        math.lgamma(documents + 1) - math.lgamma(i + 1) - math.lgamma(documents - i + 1)
        + i * math.log(p) + (documents - i) * math.log1p(-p)
        for i in range(documents + 1)
    )  # fmt: skip
    above = 1.0
    for i, log in enumerate(logs):
        above -= math.exp(log)
        if i > documents * p and above * BUCKETS < CHANCE:
            return i
    return most


def spikes(found: Simhashed, counts: Integers) -> list[Spike]:
    """Explain the largest buckets, largest first."""
    buckets = bucket_of(found.fingerprints)
    most = limit(int(counts.sum()))
    largest = np.argsort(-counts, kind="stable")[:SHOWN]
    return [
        _spike(found, int(bucket), np.flatnonzero(buckets == bucket), bool(counts[bucket] > most))
        for bucket in largest
        if counts[bucket]
    ]


def _spike(found: Simhashed, bucket: int, members: Integers, sticks_out: bool) -> Spike:
    fingerprints, copies = found.fingerprints[members], found.copies[members]
    values, which = np.unique(fingerprints, return_inverse=True)
    totals = np.bincount(which, weights=copies)
    best = int(np.argmax(totals))
    holders = np.flatnonzero(which == best)
    example = int(members[holders[np.argmax(copies[holders])]])
    near = int(copies[popcount(fingerprints ^ values[best]) <= NEAR].sum())
    text = beginning(found.texts[example], EXCERPT)
    total = int(copies.sum())
    return Spike(bucket, total, int(values[best]), int(totals[best]), near, found.names[example], text, sticks_out)


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Draw Figure 2b on a corpus. Errors: ``FrontendError`` if no document has a fingerprint."""
    found = read(corpus)
    if not len(found):
        raise FrontendError(f"corpus `{corpus.name}` has no text with words, so no fingerprint: give a folder or rows")
    vectors = weighing.read(found.texts)
    weighed, has = weighing.fingerprints(vectors, weighing.rarity)
    kinds = {
        ALL: np.repeat(found.fingerprints, found.copies),
        "distinct texts": found.fingerprints,
        ALONE: found.fingerprints[survivors.without_near_duplicates(found)],
        RARE: weighed[has],
    }
    counts = _counts(kinds[ALL])
    explained = spikes(found, counts)
    documents = int(counts.sum())
    return Outcome(
        name="bit-distribution",
        title=f"Fingerprints of {documents:,} documents in {BUCKETS} equal intervals",
        sections="§4.2, Figure 2b",
        parameters={"buckets": BUCKETS, "limit": limit(documents), "near": NEAR, "seed": seed},
        corpus=corpus.facts(),
        claims=_claims(counts, explained, kinds),
        tables=(_spikes_table(explained), _even(kinds)),
        notes=(
            *corpus.notes(),
            *found.notes(),
            f"a bucket sticks out with more than {limit(documents):,} documents: uniform fingerprints would have one "
            f"such bucket in {1 / CHANCE:,.0f} corpora",
            "chi-square takes fingerprints for independent, which copies and near-duplicates are not",
            _common(vectors),
            "nothing here is drawn at random: the seed decides the synthetic corpus only",
        ),
        series={name: {"bucket": list(range(BUCKETS)), "count": _counts(values)} for name, values in kinds.items()}
        | {"spikes": _columns(explained)},
        paper=CRAWLING,
    )


def _counts(fingerprints: Words) -> Integers:
    return np.bincount(bucket_of(fingerprints), minlength=BUCKETS)


def mean_distance(fingerprints: Words) -> float:
    """Return the mean distance of two of them, which differ in a bit if it is set in one only; 0 for fewer than two."""
    ones = np.array([np.count_nonzero(fingerprints >> np.uint64(bit) & np.uint64(1)) for bit in range(BITS)])
    zeros, pairs = len(fingerprints) - ones, len(fingerprints) * (len(fingerprints) - 1) / 2
    return float((ones * zeros).sum() / pairs) if pairs else 0.0


def _common(vectors: weighing.Vectors) -> str:
    told = ", ".join(f"{word} ({100 * share:.1f} %)" for word, share in vectors.commonest(WORDS))
    # Shares, because a weight has a limit and a count has none.
    weights = (MOST_WEIGHT * vectors.totals / vectors.totals.max()).tolist()
    whole = simhash(features=list(zip(vectors.words, weights, strict=True)))
    bucket = int(bucket_of(np.array([whole], dtype=np.uint64))[0])
    return (
        f"all texts taken as one fall into bucket {bucket}; their commonest words: {told}. Texts of one language share "
        "these and lean towards that fingerprint, which near-duplicates have no part in"
    )


def _claims(counts: Integers, explained: Sequence[Spike], kinds: dict[str, Words]) -> tuple[Claim, ...]:
    out = [spike for spike in explained if spike.sticks_out]
    held = sum(spike.near for spike in out) / sum(spike.documents for spike in out) if out else None
    largest = float(counts.max() / counts.mean())
    made: list[tuple[str, float, str]] = [
        ("buckets", BUCKETS, "upper 7 bits of the fingerprint"),
        ("empty documents with a fingerprint, share", 0.0, "by definition: without features there is none; paper: 0"),
        ("largest bucket over the mean", largest, "paper: “more or less equally spaced out”, some spikes"),
        ("buckets that stick out", int((counts > limit(int(counts.sum()))).sum()), "paper: some, not counted"),
    ]
    made += [
        (f"mean distance of two, {name}", mean_distance(kinds[name]), "uniform: 32") for name in (ALL, ALONE, RARE)
    ]
    if held is not None:
        made.append(("documents there near one fingerprint, share", held, f"within {NEAR} bits of the most frequent"))
    return tuple(Claim(name, PAPER.get(name), value, "", note) for name, value, note in made)


def _spikes_table(explained: Sequence[Spike]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            str(one.bucket),
            one.documents,
            "yes" if one.sticks_out else "",
            f"{one.value:016x}",
            one.same,
            one.near,
            one.name,
            one.excerpt,
        )
        for one in explained
    ]
    columns = (
        "bucket",
        "documents",
        "sticks out",
        "most frequent",
        "have it",
        f"within {NEAR} bits",
        "example",
        "which begins",
    )
    return Table("the largest buckets, and what they are made of", columns, tuple(rows))


def _even(kinds: dict[str, Words]) -> Table:
    rows = []
    for name, values in kinds.items():
        if not len(values):
            continue
        counts = _counts(values)
        even = len(values) / BUCKETS
        chi_square = float(((counts - even) ** 2).sum() / even)
        p_value = uniformity.p_value(chi_square, BUCKETS - 1)
        rows.append((name, len(values), int(counts.max()), chi_square, p_value, mean_distance(values)))
    degrees = f"chi-square, {BUCKETS - 1} degrees"
    columns = ("fingerprints of", "number", "largest bucket", degrees, "p-value", "mean distance")
    return Table("how even they are", columns, tuple(rows))


def _columns(explained: Sequence[Spike]) -> dict[str, list[Any]]:
    return {name: [getattr(one, name) for one in explained] for name in Spike._fields if name != "value"} | {
        "value": [f"{one.value:016x}" for one in explained]
    }


def draw(outcome: Outcome) -> Figure:
    """Draw the buckets of all documents, and what is left of their unevenness by either control."""
    figure, axes = plots.panels(outcome, 3)
    titles = (
        "Figure 2b; numbers: rows of the table",
        f"one of each group that resembles by {survivors.THRESHOLD}",
        RARE,
    )
    for one, name, colour, title in zip(
        axes, (ALL, ALONE, RARE), (plots.BLUE, plots.GREEN, plots.RED), titles, strict=True
    ):
        columns = outcome.series[name]
        one.bar(columns["bucket"], columns["count"], width=1, color=colour, label=name)
        one.axhline(sum(columns["count"]) / BUCKETS, color=plots.INK, lw=0.8, ls="--", label="even")
        one.set(xlabel="bucket: upper 7 bits", ylabel="fingerprints", xlim=(-1, BUCKETS), title=title)
    axes[0].axhline(outcome.parameters["limit"], color=plots.INK, lw=0.8, ls=":", label="more sticks out")
    _number_spikes(axes[0], outcome.series["spikes"])
    highest = max(one.get_ylim()[1] for one in axes)
    for one in axes:
        one.set_ylim(0, 1.05 * highest)
        plots.legend_below(one)
    return figure


def _number_spikes(axes: Axes, named: Mapping[str, Any]) -> None:
    rows = zip(named["bucket"], named["documents"], named["sticks_out"], strict=True)
    for number, (bucket, count, sticks_out) in enumerate(rows, 1):
        if sticks_out:
            axes.annotate(str(number), (bucket, count), (0, 2), textcoords="offset points", ha="center", fontsize=7)
