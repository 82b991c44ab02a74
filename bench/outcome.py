"""What measuring a row gives: times, the answer that was computed, and figures beyond the speed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bench.measure import Times


@dataclass(frozen=True)
class Answer:
    """How many fingerprints (or bytes, or k-grams) there are, and a digest of all of them."""

    count: int
    digest: str

    def __str__(self) -> str:
        return f"{self.count} with digest {self.digest}"


@dataclass
class Outcome:
    """What a work found."""

    times: Times
    #: Bytes of UTF-8 in one repetition, whatever form the documents had: what MB/s count.
    size: int
    #: None where no right answer can be known.
    answer: Answer | None
    #: Figures beyond the speed, by name.
    figures: dict[str, float] = field(default_factory=dict)
    #: What is wrong with the result, where that can be told without knowing the right answer.
    fault: str = ""
    #: A job of a whole command, whose seconds are told beside its MB/s.
    is_job: bool = False

    @property
    def mb_s(self) -> float:
        """Best speed, in 10^6 bytes a second."""
        return self.size / 1e6 / self.times.best


class SkippedError(Exception):
    """The row cannot be measured here; the message says why."""


def answer_of(columns: Iterable[Any], count: int) -> Answer:
    """Digest columns as they lie in memory (little-endian machines), so that order, hashes and positions all count."""
    state = hashlib.sha256()
    for column in columns:
        state.update(memoryview(column).cast("B"))
    return Answer(count, state.hexdigest()[:16])
