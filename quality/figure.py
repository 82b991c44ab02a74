"""What scoring a data set gives: figures with what is wanted of them, and lines of detail."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    measure: str
    value: float
    #: What is wanted, if anything: the value itself passes `at_least` and `at_most`, and fails `above` and `below`.
    at_least: float | None = None
    above: float | None = None
    below: float | None = None
    at_most: float | None = None
    #: Bounds of a 95 % interval by bootstrap, and what was drawn.
    interval: tuple[float, float, str] | None = None

    @property
    def wanted(self) -> str:
        """What is wanted, for people."""
        bounds = (("≥", self.at_least), (">", self.above), ("<", self.below), ("≤", self.at_most))
        return " and ".join(f"{sign} {bound:.4g}" for sign, bound in bounds if bound is not None)

    @property
    def spread(self) -> str:
        """The interval, for people; empty where there is none."""
        return f"{self.interval[0]:.3f}–{self.interval[1]:.3f}, {self.interval[2]}" if self.interval else ""

    @property
    def is_met(self) -> bool | None:
        """Whether the value is what is wanted; None where nothing is."""
        if not self.wanted:
            return None
        return (
            (self.at_least is None or self.value >= self.at_least)
            and (self.above is None or self.value > self.above)
            and (self.below is None or self.value < self.below)
            and (self.at_most is None or self.value <= self.at_most)
        )


@dataclass
class Outcome:
    """What a data set gave, and what it cost."""

    figures: list[Figure] = field(default_factory=list)
    #: Markdown beyond the figures, a paragraph or a table each.
    details: list[str] = field(default_factory=list)
    cpu_seconds: float = 0
    #: Most memory the process had at any time.
    peak_mb: float = 0
    #: Why the set could not be scored, if so.
    skipped: str = ""
