"""The answer of a deduplication on a cluster: tables that stay there, and a summary."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lookalike.deduplication.settings import Settings
from lookalike.spark.keeping import Kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class SparkDeduplication:
    """Which rows are removed, which row is kept for each, and how similar they are.

    Tables are DataFrames, in no order. ``close()``, or the end of a ``with``, lets go of what the executors hold for
    them; a table that is read later is computed again.
    """

    settings: Settings
    #: The rows of the input that are kept, all columns as they were.
    kept: DataFrame
    #: ``id``, ``survivor`` (the id of the row kept for it), ``score``, ``link``. What a link is: docs/dedup.md.
    removed: DataFrame
    #: All rows of clusters: ``id``, ``representative``, ``score``, ``link``.
    clusters: DataFrame
    #: ``left``, ``right``, ``score``, ``link``: every pair at or above the threshold that the method proposes.
    pairs: DataFrame
    #: The removed rows with all their columns, ``survivor``, ``score``, ``link``, and the method.
    ledger: DataFrame
    #: Counts and notes, by the names of ``Deduplication.to_json``, without what belongs to files.
    summary: dict[str, Any]
    _held: Kept = field(repr=False, default_factory=Kept)

    @property
    def notes(self) -> list[str]:
        """Further remarks, in sentences."""
        notes: list[str] = self.summary["notes"]
        return notes

    def close(self) -> None:
        """Release what the executors keep for the tables."""
        self._held.close()

    def __enter__(self) -> SparkDeduplication:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
