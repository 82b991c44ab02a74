"""Reads and writes the rows of a corpus: JSON Lines, Parquet, CSV, text files, WARC, Arrow objects.

A deduplication makes two passes. The first reads the batches of each source, and the core decides which rows to
remove. The second writes each source again without them, in its own format and under its own name, and writes the
removed rows to a ledger, from which the input can be restored. A row that cannot be read is never removed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike._types import Problem
    from lookalike.corpora.batches import Batch, Columns, Lines, Source, Texts
    from lookalike.corpora.encodings import Removed
    from lookalike.corpora.filtering import Filtering, plan
    from lookalike.corpora.ledger import Ledger, Verdict
    from lookalike.corpora.lines import LineFilter
    from lookalike.corpora.objects import ObjectSource, open_object
    from lookalike.corpora.restoring import Restored, restore
    from lookalike.corpora.scratch import Scratch
    from lookalike.corpora.sink import Plan, Sink
    from lookalike.corpora.sources import Corpus, open_sources
    from lookalike.corpora.staging import Staging

#: Module of each name; modules are loaded on first use, so that start-up stays fast.
_WHERE = {
    "batches": ("Batch", "Columns", "Lines", "Problem", "Source", "Texts"),
    "encodings": ("Removed",),
    "filtering": ("Filtering", "plan"),
    "ledger": ("Ledger", "Verdict"),
    "lines": ("LineFilter",),
    "objects": ("ObjectSource", "open_object"),
    "restoring": ("Restored", "restore"),
    "scratch": ("Scratch",),
    "sink": ("Plan", "Sink"),
    "sources": ("Corpus", "open_sources"),
    "staging": ("Staging",),
}
__all__ = [
    "Batch",
    "Columns",
    "Corpus",
    "Filtering",
    "Ledger",
    "LineFilter",
    "Lines",
    "ObjectSource",
    "Plan",
    "Problem",
    "Removed",
    "Restored",
    "Scratch",
    "Sink",
    "Source",
    "Staging",
    "Texts",
    "Verdict",
    "open_object",
    "open_sources",
    "plan",
    "restore",
]


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _WHERE.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(import_module(f"{__name__}.{module}"), name)
