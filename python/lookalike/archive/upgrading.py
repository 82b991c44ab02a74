"""Brings an index up to date: documents whose keys another version made are read again from their stored texts."""

from __future__ import annotations

from lookalike._types import Progress
from lookalike.archive.parameters import versions
from lookalike.archive.writing import Writer
from lookalike.errors import ParameterError, VersionError


def upgrade(writer: Writer, name: str, _progress: Progress) -> int:
    """Upgrade an index; return how many documents were read again. Errors: ``ParameterError``, ``VersionError``."""
    parameters = writer.view.parameters
    current = versions()
    if all(current.get(which) == number for which, number in parameters.versions.items()):
        return 0
    if not parameters.texts:
        raise ParameterError(
            f"index `{name}` keeps no texts, so it cannot be upgraded: add its documents to a new index"
        )
    raise VersionError(
        f"index `{name}` was made with {parameters.versions}, and this version cannot upgrade it: export its documents "
        f"with `lookalike index export {name} FILE` and add them to a new index"
    )
