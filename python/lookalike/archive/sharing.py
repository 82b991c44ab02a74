"""Indexes for another institution: keyed hashes of everything that is asked, and nothing that can be read.

``crates/index/src/share.rs`` says what stays visible. The secret is a file of 32 hexadecimal digits that only its owner
can read; partners hand it to each other. An index knows its secret by one number, so that a wrong one is refused
instead of finding nothing.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from lookalike import _core
from lookalike._types import Progress
from lookalike.archive.parameters import Parameters
from lookalike.archive.view import SHADOW, View
from lookalike.archive.writing import Signed
from lookalike.errors import ParameterError, VersionError

SHARING = "sharing documents"
#: Bytes of a secret.
SECRET_BYTES = 16
#: Documents that are changed at a time.
_BATCH = 4096
#: Distances are computed from bits that no key may change.
_LEFT_OUT = "distance"


def shared_parameters(parameters: Parameters, secret: bytes) -> Parameters:
    """Return the parameters of an index to be shared. Errors: ``ParameterError`` if it was shared before."""
    if parameters.keyed is not None:
        raise ParameterError("the index was made to be shared, and its keys cannot be keyed again: share the original")
    questions = tuple(one for one in parameters.questions if one != _LEFT_OUT)
    return replace(parameters, texts=False, questions=questions, keyed=_core.share_check(secret))


def shared_documents(view: View, secret: bytes, progress: Progress) -> Iterator[Sequence[Signed]]:
    """Yield batches of documents as they may leave the house, in the order of arrival; without what dedup removed."""
    records, done = _kept(view), 0
    while batch := list(islice(records, _BATCH)):
        yield _core.share_records(batch, secret)
        done += len(batch)
        progress(SHARING, done, len(view))


def _kept(view: View) -> Iterator[bytes]:
    """Yield the records of documents that are no shadows."""
    rows = (row.flags for _, row in view.every_row())
    return (record for record, flags in zip(view.records(), rows, strict=True) if not flags & SHADOW)


def read_secret(path: str | os.PathLike[str], *, is_made: bool = False) -> bytes:
    """Return the secret in a file; ``is_made``: make the file if there is none.

    Errors: ``ParameterError`` if it holds something else, ``OSError``.
    """
    if is_made and not os.path.lexists(path):
        _write_secret(path)
    with open(path, "rb") as file:
        told = file.read(1024).strip()
    try:
        secret = bytes.fromhex(told.decode("ascii"))
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise ParameterError(
            f"`{os.fspath(path)}` holds no secret: it must have {2 * SECRET_BYTES} hexadecimal digits, as "
            "`index export --share` writes them to a new file"
        )
    return secret


def _write_secret(path: str | os.PathLike[str]) -> None:
    """Write a new secret, which only the owner can read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_hex(SECRET_BYTES) + "\n")


def keyed(asked: _core.AskedDocument, parameters: Parameters, secret: bytes | None, name: str) -> _core.AskedDocument:
    """Return a question as the index understands it. Errors: ``ParameterError``, ``VersionError`` for another key."""
    if parameters.keyed is None:
        if secret is not None:
            raise ParameterError(f"index `{name}` was not made to be shared, so it has no key: leave the key out")
        return asked
    if secret is None:
        raise ParameterError(f"index `{name}` was made to be shared: give its key file")
    if _core.share_check(secret) != parameters.keyed:
        raise VersionError(f"index `{name}` was made with another key: ask for the key file that belongs to it")
    return asked.shared(secret)
