"""Near-duplicates out of a corpus: read, decide, write; what goes, for whose sake, and what that is worth.

``settings`` holds what is asked, ``reading`` feeds the core, ``result`` is what it decided, ``picking`` brings single
rows back, ``outputs`` writes files that appear whole or not at all, ``audit`` measures the answer on the corpus itself.
"""

from lookalike.deduplication.job import dedup
from lookalike.deduplication.result import Deduplication
from lookalike.deduplication.settings import Settings

__all__ = ["Deduplication", "Settings", "dedup"]
