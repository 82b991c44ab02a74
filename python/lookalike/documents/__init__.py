"""Paths → documents: files, folders, archives and the exports of learning platforms, within limits, nothing silent."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lookalike.documents.files import MAX_BYTES, check_size, read, read_stdin

if TYPE_CHECKING:
    from lookalike.documents.collection import collect
    from lookalike.documents.folders import corpus_files
    from lookalike.documents.intake import Document, Intake, Limits, Skipped, Submission
    from lookalike.documents.layouts import LAYOUTS

__all__ = [
    "LAYOUTS",
    "MAX_BYTES",
    "Document",
    "Intake",
    "Limits",
    "Skipped",
    "Submission",
    "check_size",
    "collect",
    "corpus_files",
    "read",
    "read_stdin",
]
#: Where the rest is. It is loaded when it is asked for: a single file needs none of it, and start-up stays light.
_ELSEWHERE = {"collect": "collection", "corpus_files": "folders", "LAYOUTS": "layouts"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'intake')}"), name)
