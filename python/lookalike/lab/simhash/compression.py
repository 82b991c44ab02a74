"""How far do sorted fingerprints compress? Three codecs, the entropy, and the paper's "half", here and at 8 billion.

After Manku 2007, §3.2. A table of fingerprints is sorted, so each fingerprint can be stored relative to the one before.
The codecs: the paper's block code (XOR with the predecessor, the position of its highest bit by a Huffman code), packed
differences, which the files of `HammingTable` use, and Elias–Fano, which it uses in memory.

Measured: bits per fingerprint, CPU time to decode all of them, and CPU time to find those that share 32 bits with a
query. The fingerprints are those of the corpus, as many uniform ones, a million uniform ones, and a slice of 8 billion.
A slice is exact for uniform fingerprints: the first million of 8 billion sorted ones are uniform below a bound, and
every codec works locally. Computed: the entropy, and what the corpus would need at 8 billion.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike import _core
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import CRAWLING, Cell, Claim, Outcome, Table
from lookalike.lab.shared.setting import distinct
from lookalike.lab.simhash.simhashed import BITS, Words, read_several

#: §3.2: tables "can be shrunk to approximately half their sizes".
PAPER: dict[str, float] = {"share of the plain size at 8 billion, XOR–Huffman": 0.5}
#: The name of each codec for people, and for the core.
CODECS = {"XOR–Huffman": "xor-huffman", "packed differences": "packed", "Elias–Fano": "elias-fano"}
#: Fingerprints of the paper's crawl.
CRAWL = 8_000_000_000
#: Uniform fingerprints that are measured beside the corpus, and those in the slice of the crawl.
UNIFORM = 1_000_000
#: Queries, and the bits that they share with what they find.
QUERIES, PREFIX = 2_000, 32
#: CPU time that a measurement takes at least, in seconds: short ones are repeated.
PATIENCE = 0.2
COLOURS = (plots.RED, plots.BLUE, plots.GREEN)


class Measured(NamedTuple):
    """The result of one codec on some fingerprints."""

    fingerprints: str
    codec: str
    #: Bits of a fingerprint, with everything that is needed to find it.
    bits: float
    #: Bits above the entropy of as many uniform fingerprints.
    above: float
    #: Fingerprints decoded per second of CPU time, in millions.
    decoded: float
    #: Microseconds of CPU time per query.
    query: float


@dataclass(frozen=True)
class Kind:
    """Fingerprints to encode."""

    name: str
    #: Distinct and ascending.
    values: Words
    #: How many there are in the table from which they come.
    size: int

    @property
    def entropy(self) -> float:
        """Bits of a fingerprint that no code can do without, if fingerprints are uniform."""
        return entropy(self.size)


def entropy(size: int) -> float:
    """Return the entropy of a set of so many uniform fingerprints, in bits of each: log2 of their number of sets."""
    return BITS - math.log2(size) + math.log2(math.e)


def code_entropy(values: Words) -> float:
    """Return the bits of a fingerprint in the paper's code without its losses: no blocks, no keys, no whole bits."""
    steps = values[1:] ^ values[:-1]
    # Exact: a conversion to floating point could round up to the next power of two.
    below = np.array([int(step).bit_length() - 1 for step in steps.tolist()], dtype=np.int64)
    shares = np.bincount(below) / len(below)
    shares = shares[shares > 0]
    return float(below.mean() - (shares * np.log2(shares)).sum())


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Encode the fingerprints of the corpus, uniform ones, and a slice of the paper's crawl."""
    found = read_several(corpus)
    kinds = _kinds(distinct(found.fingerprints), np.random.default_rng(seed))
    results = [one for kind in kinds for one in measured(kind, seed)]
    here, even, _, crawl = ({one.codec: one for one in results if one.fingerprints == kind.name} for kind in kinds)
    size = len(kinds[0].values)
    return Outcome(
        name="compression",
        title=f"Sorted fingerprints in fewer bits: {size:,} of the corpus, and 8 billion",
        sections="§3.2",
        parameters={
            "codecs": list(CODECS),
            "uniform": UNIFORM,
            "crawl": CRAWL,
            "queries": QUERIES,
            "prefix": PREFIX,
            "seed": seed,
        },
        corpus=corpus.facts(),
        claims=_claims(crawl),
        tables=(_results(results), _entropies(kinds), _extrapolated(crawl, here, even)),
        notes=(
            *corpus.notes(),
            *found.notes(),
            f"equal fingerprints are stored once: {len(found.fingerprints):,} texts have {size:,} distinct ones",
            "bits include everything that is needed to find a fingerprint: blocks, keys, directories and counts",
            f"the slice holds {UNIFORM:,} uniform fingerprints as dense as 8 billion are, so its bits are those of "
            "8 billion; its decoding may be faster, because it fits a cache better",
            "the corpus at 8 billion is an estimate: the bits of 8 billion uniform fingerprints, and the difference "
            "that the corpus makes here to as many uniform ones",
            "fingerprints of a real corpus cluster, so they may need fewer bits than the entropy of uniform ones",
            "CPU time is that of this machine and of one thread; a query finds the fingerprints that share its first "
            f"{PREFIX} bits",
        ),
        series={"measured": {name: [getattr(one, name) for one in results] for name in Measured._fields}}
        | {"sizes": _sizes(crawl)},
        paper=CRAWLING,
    )


def _kinds(stored: Words, rng: np.random.Generator) -> list[Kind]:
    def uniform(size: int, below: int = 1 << BITS) -> Words:
        return distinct(rng.integers(below, size=size, dtype=np.uint64))

    several = uniform(UNIFORM)
    return [
        Kind("corpus", stored, len(stored)),
        Kind(f"{len(stored):,} uniform", uniform(len(stored)), len(stored)),
        Kind(f"{UNIFORM:,} uniform", several, len(several)),
        Kind("slice of 8 billion", uniform(UNIFORM, (UNIFORM << BITS) // CRAWL), CRAWL),
    ]


def measured(kind: Kind, seed: int) -> list[Measured]:
    """Measure all codecs on some fingerprints. All of them must give back what they took and find the same."""
    rng = np.random.default_rng(seed)
    queries = rng.choice(kind.values, min(QUERIES, len(kind.values)), replace=False)
    made, counts = [], set()
    for name, codec in CODECS.items():
        column = _core.EncodedColumn(codec, kind.values.data)
        assert np.array_equal(np.asarray(column.decode()), kind.values), f"{codec} does not give back what it took"
        counts.add(column.count(queries.data, PREFIX))
        decoding = _seconds(column.decode_pass)
        asking = _seconds(partial(_ask, column, queries))
        bits = column.nbytes * 8 / len(kind.values)
        rate = len(kind.values) / decoding / 1e6
        made.append(Measured(kind.name, name, bits, bits - kind.entropy, rate, asking / len(queries) * 1e6))
    assert len(counts) == 1, f"codecs differ in what they find: {counts}"
    return made


def _ask(column: _core.EncodedColumn, queries: Words, times: int) -> None:
    for _ in range(times):
        column.count(queries.data, PREFIX)


def _seconds(work: Callable[[int], object]) -> float:
    """Return the CPU time of one run, from so many that they take a while."""
    times = 1
    while True:
        start = time.process_time()
        work(times)
        spent = time.process_time() - start
        if spent >= PATIENCE:
            return spent / times
        times *= 2


def _claims(crawl: Mapping[str, Measured]) -> tuple[Claim, ...]:
    shares = {codec: one.bits / BITS for codec, one in crawl.items()} | {"entropy": entropy(CRAWL) / BITS}
    notes = {
        "XOR–Huffman": "the paper's “half”; blocks of 1 KiB, keys and counts included",
        "entropy": "no code of uniform fingerprints can be smaller",
    }
    named = [(f"share of the plain size at 8 billion, {codec}", codec, share) for codec, share in shares.items()]
    return tuple(Claim(name, PAPER.get(name), share, "", notes.get(codec, "")) for name, codec, share in named)


def _results(results: Sequence[Measured]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.fingerprints, one.codec, one.bits, one.above, 100 * one.bits / BITS, one.decoded, one.query)
        for one in results
    ]
    columns = ("fingerprints", "codec", "bits each", "above entropy", "% of plain", "decoded, M/s", "µs per query")
    return Table("codecs here, CPU time of one thread", columns, tuple(rows))


def _entropies(kinds: Sequence[Kind]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.name, len(one.values), one.entropy, code_entropy(one.values) if len(one.values) > 1 else None)
        for one in kinds
    ]
    columns = ("fingerprints", "encoded", "entropy if uniform", "XOR code without losses")
    return Table("bits that are needed at least", columns, tuple(rows))


def _extrapolated(crawl: Mapping[str, Measured], here: Mapping[str, Measured], even: Mapping[str, Measured]) -> Table:
    """Compare 8 billion uniform fingerprints with 8 billion that cluster like the corpus."""
    rows: list[tuple[Cell, ...]] = []
    for codec, one in crawl.items():
        bits = max(one.bits + here[codec].bits - even[codec].bits, 0.0)
        rows.append((codec, one.bits, 100 * one.bits / BITS, _gigabytes(one.bits), bits, _gigabytes(bits)))
    least = entropy(CRAWL)
    rows.append(("entropy if uniform", least, 100 * least / BITS, _gigabytes(least), None, None))
    rows.append(("plain", float(BITS), 100.0, _gigabytes(BITS), float(BITS), _gigabytes(BITS)))
    columns = ("codec", "bits, uniform", "% of plain", "GB", "bits, like the corpus", "GB")
    return Table("one table of 8 billion fingerprints", columns, tuple(rows))


def _gigabytes(bits: float) -> float:
    return bits / 8 * CRAWL / 1e9


def _sizes(crawl: Mapping[str, Measured]) -> dict[str, Any]:
    """Bits against the number of fingerprints: the entropy and what each codec needs above it."""
    sizes = [10**power for power in range(3, 12)]
    least = [entropy(size) for size in sizes]
    return {
        "sizes": sizes,
        "entropy": least,
        "codecs": {codec: [one.above + bits for bits in least] for codec, one in crawl.items()},
    }


def draw(outcome: Outcome) -> Figure:
    """Draw bits of each codec, bits against size with the paper's half, and decoding speed."""
    figure, (left, middle, right) = plots.panels(outcome, 3)
    found = outcome.series["measured"]
    _bars(left, found, "bits")
    left.set(xlabel="bits per fingerprint, plain 64", title="size")
    _draw_sizes(middle, outcome.series["sizes"])
    _bars(right, found, "decoded")
    right.set(xlabel="million fingerprints per second of CPU time", title="decoding")
    for axes in (left, middle, right):
        plots.legend_below(axes, columns=2)
    return figure


def _bars(axes: Axes, found: Mapping[str, Any], column: str) -> None:
    kinds = list(dict.fromkeys(found["fingerprints"]))
    height = np.arange(len(kinds))
    for i, (codec, colour) in enumerate(zip(CODECS, COLOURS, strict=True)):
        values = [value for value, name in zip(found[column], found["codec"], strict=True) if name == codec]
        axes.barh(height + 0.26 * (i - 1), values, 0.24, color=colour, label=codec)
    axes.set_yticks(height, kinds)
    axes.invert_yaxis()


def _draw_sizes(axes: Axes, sizes: Mapping[str, Any]) -> None:
    for (codec, bits), colour in zip(sizes["codecs"].items(), COLOURS, strict=True):
        axes.plot(sizes["sizes"], bits, "-", lw=1.2, color=colour, label=codec)
    axes.plot(sizes["sizes"], sizes["entropy"], "--", lw=1.2, color=plots.INK, label="entropy if uniform")
    printed = [(float(CRAWL), BITS * share) for share in PAPER.values()]
    plots.crosses(axes, printed, "paper: half at 8 billion")
    axes.set(xscale="log", xlabel="fingerprints, uniform", ylabel="bits per fingerprint", title="size of the table")
