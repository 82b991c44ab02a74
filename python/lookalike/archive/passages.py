"""The question of passages: which documents of an index share runs of tokens with a document, and where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike import _core
from lookalike._types import text_of
from lookalike.archive.answers import Answer, CommonPart, Match, Shared, Stretch
from lookalike.archive.asked import AskedFor
from lookalike.archive.view import meta_of

if TYPE_CHECKING:
    from lookalike.archive.parameters import Parameters
    from lookalike.archive.view import View


def files_of(parameters: Parameters, given: AskedFor, window: int | None) -> list[_core.ReadFile]:
    """Return the files of a document; a row of a corpus is one."""
    if parameters.kind == "corpus":
        k, t = parameters.thresholds_of("text")
        whole = ("text", 0, len(given.text), None, None, k, t if window is None else k + window - 1)
        return [_core.ReadFile(given.text, [whole], False)]
    return [read.file for read in given.reads if read.file is not None]


def ask(
    view: View,
    parameters: Parameters,
    given: AskedFor,
    files: list[_core.ReadFile],
    window: int | None,
    top: int,
    conditions: list[tuple[str, str]],
) -> Answer:
    """Find the documents that share passages with one of these files. Errors: ``DamagedError``."""
    keyed = given.core if parameters.keyed is not None else None
    rows = parameters.thresholds_of("text")
    found = _core.shared_passages(view.core, files, rows, window or 0, top, conditions, keyed)
    matched, common, (documents, candidates, is_limited), work = found
    matches = tuple(
        Match(
            view.prefix(number) + text_of(row.id),
            meta_of(row.meta),
            copies,
            fingerprints=shared,
            passages=tuple(map(_shared, passages)),
            content=bytes(row.content).hex(),
        )
        for number, row, copies, shared, passages in matched
    )
    told = tuple(CommonPart(Stretch(*place), count) for place, count in common)
    worth = certificate(parameters, _lengths(parameters, given, window), documents, candidates, is_limited=is_limited)
    return Answer("passages", matches, documents, documents, worth, tuple(work), told)


def _shared(row: tuple[tuple[int, ...], tuple[int, ...], int, bool, bool]) -> Shared:
    asked, stored, *rest = row
    return Shared(Stretch(*asked), Stretch(*stored), *rest)  # type: ignore[arg-type]


def _lengths(parameters: Parameters, given: AskedFor, window: int | None) -> list[int]:
    """Return the lengths of runs that are found for sure, by the languages of the document."""
    languages = {language for read in given.reads for language in read.languages} or {"text"}
    both = map(parameters.thresholds_of, languages)
    return sorted({t if window is None else k + window - 1 for k, t in both})


def certificate(
    parameters: Parameters, lengths: list[int], documents: int, candidates: int, *, is_limited: bool
) -> str:
    """Return what the answer is worth."""
    runs = " or ".join(f"{length:,}" for length in lengths)
    found = f"complete: every document that shares a run of {runs} tokens is among the {documents:,} counted"
    if not parameters.texts:
        return f"{found}; the texts are not kept, so no passage is shown"
    found += "; passages are equal token by token; starter code of the index is left out"
    if documents > candidates:
        found += f"; {documents - candidates:,} documents share only what very many have, which is told once"
    if is_limited:
        found += (
            "; only those that share most fingerprints were compared, so one that is not listed may share more tokens"
        )
    return found
