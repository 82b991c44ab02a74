"""Paths → documents: files, folders, archives and exports of learning platforms, within limits; skips are listed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lookalike.documents.files import MAX_BYTES, check_size, read, read_stdin

if TYPE_CHECKING:
    from lookalike.documents.collection import collect, renamed
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
    "renamed",
]
#: Modules of the other names, loaded on first use: a single file needs none of them, and start-up stays fast.
_ELSEWHERE = {"collect": "collection", "renamed": "collection", "corpus_files": "folders", "LAYOUTS": "layouts"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'intake')}"), name)
