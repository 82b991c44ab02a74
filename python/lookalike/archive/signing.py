"""Signs documents: turns submissions and rows into the records that an index stores.

A record holds everything that any question needs of a document, computed in one pass over its text by the core. Memory
is bounded: one batch of about 8 MiB is signed at a time, on all cores. What cannot be read is listed with its reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from lookalike import _core
from lookalike._types import Problem, Progress, bytes_of, unheard
from lookalike.archive.parameters import Parameters
from lookalike.archive.writing import Signed
from lookalike.documents import Limits
from lookalike.engines import local
from lookalike.simhashes.texts import maker

#: Id, mark (content hash of 16 bytes, and a hash of what else is told), record.
SignedDocument: TypeAlias = tuple[bytes, bytes, bytes]
#: Takes ids and marks, and tells for each whether an index has that document already.
Known: TypeAlias = Callable[[list[bytes], list[bytes]], list[bool]]
SIGNING = "signing documents"


@dataclass(frozen=True, slots=True)
class SignedBatch:
    """Some documents, in the order in which they were read."""

    documents: Sequence[SignedDocument | Signed]
    #: What was skipped, and remarks on what was read otherwise than it stands.
    problems: list[Problem]
    #: Documents that were left out because they are known.
    unchanged: int = 0
    #: What the paths were taken for, in words; of the first batch.
    understood: str = ""
    #: Remarks on the times of rows.
    notes: Sequence[Problem] = ()


class Reading(NamedTuple):
    """How a source is read; each field has a meaning for submissions, for rows, or for both."""

    #: Put in front of the ids of submissions, and kept with them.
    label: str | None = None
    by_directory: bool | None = None
    layout: str = "auto"
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    follow_links: bool = False
    limits: Limits = Limits()
    #: Starter code: it is kept in the index and never reported.
    templates: Sequence[str | os.PathLike[str]] = ()
    text_column: str = "text"
    id_column: str | None = None
    #: The column of the time of a row: seconds since 1970, or a date of ISO 8601.
    time_column: str | None = None
    format: str | None = None
    threads: int | None = None


def signer(parameters: Parameters, threads: int | None = None) -> _core.RecordSigner:
    """Return what signs documents for an index with these parameters. Errors: ``ParameterError``.

    It is kept between calls, for its threads take longer to start than a document takes to sign.
    """
    return _signer(parameters.to_json(), local.checked(threads) or local.cores())


@lru_cache(maxsize=8)
def _signer(told: str, threads: int) -> _core.RecordSigner:
    """Return what signs documents with these parameters, as the catalogue stores them."""
    parameters = Parameters.from_json(told)
    asked, dedup, simhash = parameters.questions, parameters.dedup, parameters.simhash
    made = maker(unit=simhash.unit, shingle=simhash.shingle, features=simhash.features, ignore=simhash.ignore)[0]
    return _core.RecordSigner(
        "passages" in asked,
        parameters.thresholds_of("text"),
        dedup.unit,
        dedup.shingle,
        dedup.labelled,
        dedup.bits,
        (dedup.sketch, dedup.size, dedup.filter, parameters.features_only) if "resemblance" in asked else None,
        dedup.modulus if "containment" in asked else None,
        made if "distance" in asked else None,
        parameters.texts,
        threads,
    )


if hasattr(os, "register_at_fork"):
    # The threads of a signer do not live in a forked process.
    os.register_at_fork(after_in_child=_signer.cache_clear)


def sign_batches(
    source: Any,
    parameters: Parameters,
    *,
    known: Known | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> Iterator[SignedBatch]:
    """Yield the documents of a source as records.

    An index of a class takes paths, as ``compare`` does, or a mapping of names to texts. An index of a corpus takes
    paths, tables and iterables of rows, as ``dedup`` does, and iterables of ``(id, text)``.

    :param source: Where the documents come from.
    :param parameters: The parameters of the index.
    :param known: Tells which documents the index has already; they are counted and not signed.
    :param progress: Called with phase, amount done, and total or ``None``.
    :param reading: Fields of ``Reading``.
    :raises ParameterError: A parameter is out of range, or the source is of a type that cannot be read.
    :raises OSError: A path does not exist or cannot be read.

    >>> batches = sign_batches({"ann": "A rose is a rose."}, Parameters.of("class"))
    >>> [(id, len(mark)) for batch in batches for id, mark, record in batch.documents]
    [(b'ann', 24)]
    """
    from lookalike.archive import signing_rows, signing_submissions

    how, tell = Reading(**reading), progress or unheard
    by = signer(parameters, how.threads)
    if parameters.kind == "class":
        return signing_submissions.sign(source, parameters, by, how, known, tell)
    return signing_rows.sign(source, by, how, known, tell)


def encoded(name: str) -> bytes:
    """Return an id as it is stored."""
    return bytes_of(name)


def scalars(row: Mapping[str, Any], without: Sequence[str | None]) -> dict[str, Any]:
    """Return the small values of a row that are kept as metadata: strings, numbers and truth values."""
    return {
        str(key): value
        for key, value in row.items()
        if key not in without and isinstance(value, str | int | float) and len(str(value)) <= _core.MAX_FIELD_BYTES
    }
