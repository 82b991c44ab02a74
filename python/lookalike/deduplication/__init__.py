"""Removing near-duplicates from a corpus: read, decide, write, and measure the result.

``settings`` fills in and checks the parameters, ``reading`` feeds the core, ``result`` is what was decided, ``picking``
reads single rows again, ``outputs`` writes files that appear complete or not at all, ``audit`` measures the result on
the corpus itself, ``expecting`` estimates the cost, ``token_rows`` reads rows that are tokens.
"""

from lookalike.deduplication.expecting import Expected, estimate
from lookalike.deduplication.job import dedup
from lookalike.deduplication.result import Deduplication
from lookalike.deduplication.settings import Settings

__all__ = ["Deduplication", "Expected", "Settings", "dedup", "estimate"]
