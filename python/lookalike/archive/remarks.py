"""Notes on a document that was asked about: it is too short for a question, or is a file of rows read as one text."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lookalike import _core
from lookalike._types import counted
from lookalike.archive.asked import AskedFor, Given
from lookalike.archive.parameters import Parameters

#: Ends of names of files that have rows, without those of compression.
_STARTER = "the document is starter code of the index, which is never reported"
OF_ROWS = (".jsonl", ".ndjson", ".parquet", ".csv", ".tsv")


def has_rows(path: str) -> bool:
    """Tell whether the name of a file is one of a file of rows.

    >>> has_rows("monday.jsonl.gz"), has_rows("essay.txt")
    (True, False)
    """
    return path.lower().removesuffix(".gz").removesuffix(".zst").endswith(OF_ROWS)


def of_rows(given: Given, parameters: Parameters) -> list[str]:
    """Return a note if a document is a file of rows, which is read as one text."""
    if not isinstance(given, os.PathLike) or not has_rows(os.fspath(given)):
        return []
    name = os.path.basename(os.fspath(given))
    each = f": to ask about each of its rows, use lookalike dedup {name} --index INDEX"
    return [f"{name} has rows and was read as one document{each if parameters.kind == 'corpus' else ''}"]


def without_shingles(
    shingles: int, tokens: int, is_starter: bool, parameters: Parameters, asked: Sequence[str]
) -> list[str]:
    """Return a note if a text has no shingle for the questions that need some; ``seen`` asks no other."""
    if is_starter:
        return [_STARTER]
    empty = [one for one in asked if one in ("resemblance", "containment")]
    return [] if shingles or not empty else [_told([_reason(tokens, parameters, empty)], empty, asked)]


def too_short(
    given: AskedFor, files: Sequence[_core.ReadFile], parameters: Parameters, asked: Sequence[str]
) -> list[str]:
    """Return a note if a document is too short for some of the questions that are asked."""
    if given.core.is_starter:
        return [_STARTER]
    shingles, tokens, _, _, _ = given.core.sizes
    reasons, empty = [], list[str]()
    if not shingles and (found := [one for one in asked if one in ("resemblance", "containment")]):
        reasons.append(_reason(tokens, parameters, found))
        empty += found
    if given.core.simhash is None and "distance" in asked:
        reasons.append("it has no feature to make a simhash of")
        empty.append("distance")
    if "passages" in asked and (short := _short(given, files, parameters)):
        reasons.append(short)
        empty.append("passages")
    return [_told(reasons, empty, asked)] if empty else []


def _reason(tokens: int, parameters: Parameters, found: Sequence[str]) -> str:
    """Return why a text has no shingle."""
    needed = f"{' and '.join(found)} {'needs' if len(found) == 1 else 'need'} {parameters.dedup.shingle:,}"
    return f"it has {counted(tokens, parameters.dedup.unit)}, and {needed}"


def _told(reasons: Sequence[str], empty: Sequence[str], asked: Sequence[str]) -> str:
    """Return the note on questions that a document is too short for."""
    left = [one for one in asked if one not in empty]
    still = f"still compared: {', '.join(left)}" if left else "nothing else was asked"
    named = ", ".join(one for one in asked if one in empty)
    return f"the document is too short for {named}: {'; '.join(reasons)}; {still}"


def _short(given: AskedFor, files: Sequence[_core.ReadFile], parameters: Parameters) -> str:
    """Return why no passage can be found, or nothing."""
    languages = [read.languages for read in given.reads if read.file is not None] or [("text",)] * len(files)
    for file, named in zip(files, languages, strict=True):
        least = min(parameters.thresholds_of(language)[0] for language in named or ("text",))
        if file.tokens >= least:
            return ""
    longest = max((file.tokens for file in files), default=0)
    least = min(parameters.thresholds_of(one)[0] for named in languages for one in named or ("text",))
    unit = "letter" if {one for named in languages for one in named} <= {"text"} else "token"
    return f"it has {counted(longest, unit)}, and passages have at least {least:,}"
