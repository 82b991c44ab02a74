"""What a row does: each work measures one definition and says what it computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import lookalike as la
from bench import corpora, measure
from bench.definition import Definition
from bench.measure import Effort
from bench.outcome import Answer, Outcome, answer_of
from lookalike import _core

Text = str | bytes


@dataclass(frozen=True)
class Run:
    """What holds for all rows of a run."""

    quick: bool = False
    #: Where the scripts of other tools are, if they are to be run.
    rivals: Path | None = None
    #: Rows were asked for by name, so those may run that take many minutes.
    is_named: bool = False

    @property
    def effort(self) -> Effort:
        """How long each row is repeated."""
        return measure.ONCE if self.quick else Effort()

    @property
    def size(self) -> str:
        """Under which name the definitions give this run's answers."""
        return "quick" if self.quick else "full"

    def bytes_of(self, row: Definition) -> int:
        """Size of a row's text."""
        return int((row.quick_mib if self.quick else row.mib) * corpora.MIB)


@lru_cache(maxsize=3)
def documents(corpus: str, size: int) -> list[bytes]:
    """Make a corpus; a row shares it with the row before as a rule, and keeping more would only take memory."""
    return list(corpora.CORPORA[corpus](size))


def texts(row: Definition, size: int) -> list[Text]:
    """Hand out documents as the row wants them, as objects nobody has used yet."""
    made = documents(row.corpus, size)
    return [document.decode() for document in made] if row.form == "str" else list(made)


def in_bytes(row: Definition, size: int) -> int:
    return sum(map(len, documents(row.corpus, size)))


def table_answer(table: la.FingerprintTable) -> Answer:
    return answer_of([table.hashes, table.positions, table.offsets], len(table.hashes))


def batch(row: Definition, run: Run) -> Outcome:
    """Documents to fingerprints, all the way through Python, on one thread."""
    size = run.bytes_of(row)
    fingerprint = partial(la.fingerprint_batch, threads=1, **row.select)
    times, table = measure.repeat(lambda: texts(row, size), fingerprint, run.effort)
    return Outcome(times, in_bytes(row, size), table_answer(table))


def one(row: Definition, run: Run) -> Outcome:
    """One large document."""
    return one_of(row, run.bytes_of(row), run.effort)


def one_of(row: Definition, size: int, effort: Effort) -> Outcome:
    fingerprint = partial(la.fingerprint, **row.select)
    times, made = measure.repeat(lambda: texts(row, size)[0], fingerprint, effort)
    return Outcome(times, in_bytes(row, size), answer_of([made.hashes, made.positions], len(made)))


def linear(row: Definition, run: Run) -> Outcome:
    """Measure a text and its half; `growth` is the factor of CPU time for exactly twice the bytes."""
    size = run.bytes_of(row)
    half, whole = (one_of(row, part, run.effort) for part in (size // 2, size))
    whole.figures["growth"] = 2 * (whole.times.best / whole.size) / (half.times.best / half.size)
    return whole


def read_pass(one_pass: Callable[[bytes], int]) -> Callable[[Definition, Run], Outcome]:
    """Make the work that passes over one text and gets a number."""

    def work(row: Definition, run: Run) -> Outcome:
        (text,) = documents(row.corpus, run.bytes_of(row))
        times, value = measure.repeat(lambda: text, one_pass, run.effort)
        return Outcome(times, len(text), Answer(len(text), f"{value:016x}"))

    return work


def figure5(row: Definition, run: Run) -> Outcome:
    """Run the paper's own loop as plain scalar code, document by document."""
    size = run.bytes_of(row)
    k, w = row.select["k"], row.select["t"] - row.select["k"] + 1

    def select(given: list[bytes]) -> list[la.Column]:
        return [_core.figure5_text(text, k, w) for text in given]

    times, found = measure.repeat(lambda: documents(row.corpus, size), select, run.effort)
    return Outcome(times, in_bytes(row, size), answer_of(found, sum(map(len, found))))


def rolling(row: Definition, run: Run) -> Outcome:
    """Hash all k-grams of a text, rolled or each from scratch: the same sum either way."""
    (text,) = documents(row.corpus, run.bytes_of(row))
    k, from_scratch = row.select["k"], row.options["from_scratch"]
    times, total = measure.repeat(lambda: text, lambda given: _core.rolling_pass(given, k, from_scratch), run.effort)
    return Outcome(times, len(text), Answer(len(text) - k + 1, f"{total:016x}"))
