"""Holds what several steps read: on the disks and in the memory of the executors, until the caller lets it go.

What an executor held is computed again if the executor is lost. Every step is a pure function of rows, so it is the
same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Kept:
    """DataFrames that are held."""

    def __init__(self) -> None:
        self._held: list[DataFrame] = []

    def hold(self, df: DataFrame) -> DataFrame:
        """Hold a DataFrame from its first use on."""
        from pyspark import StorageLevel

        held = df.persist(StorageLevel.MEMORY_AND_DISK)
        self._held.append(held)
        return held

    def release(self, df: DataFrame) -> None:
        """Let a DataFrame go, if it is held."""
        rest = [one for one in self._held if one is not df]
        if len(rest) < len(self._held):
            df.unpersist()
        self._held = rest

    def close(self) -> None:
        """Let all go."""
        for one in self._held:
            one.unpersist()
        self._held = []
