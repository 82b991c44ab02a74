"""Submissions that are given as ``Tokens``: one document each, which takes part in a comparison as a file does."""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from lookalike.documents import Document, Intake, Submission
from lookalike.documents.intake import distinct
from lookalike.tokens import Tokens

Path: TypeAlias = str | os.PathLike[str]
#: What ``compare`` takes: paths and tokens, or tokens by name.
Given: TypeAlias = Path | Tokens | Sequence[Path | Tokens] | Sequence[Tokens] | Sequence[Path] | Mapping[str, Tokens]
#: The language of such documents in a report.
LANGUAGE = "tokens"


@dataclass(frozen=True, slots=True)
class TokenDocument(Document):
    """A document that is tokens; its data, of which the digest is made, are their values and the text."""

    tokens: Tokens


def split(given: Given) -> tuple[list[Path], list[TokenDocument]]:
    """Return the paths and the documents that are tokens; without names these are numbered."""
    if isinstance(given, Mapping):
        return [], [_document(name, tokens) for name, tokens in given.items()]
    several = [given] if isinstance(given, str | os.PathLike | Tokens) else list(given)
    paths = [one for one in several if not isinstance(one, Tokens)]
    own = [one for one in several if isinstance(one, Tokens)]
    return paths, [_document(f"tokens {number}", tokens) for number, tokens in enumerate(own, 1)]


def added(
    intake: Intake, own: Sequence[TokenDocument], old: Sequence[TokenDocument], templates: Sequence[TokenDocument]
) -> Intake:
    """Return an intake with further submissions, each of one document that is tokens."""
    taken = [one.name for one in intake.submissions]
    named = distinct([*taken, *(one.name for one in (*own, *old))])[len(taken) :]
    more = [
        Submission(name, None, None, None, place >= len(own), (one,))
        for place, (name, one) in enumerate(zip(named, (*own, *old), strict=True))
    ]
    return replace(intake, submissions=(*intake.submissions, *more), templates=(*intake.templates, *templates))


def _document(name: str, tokens: Tokens) -> TokenDocument:
    values = array("Q", tokens.values)
    if sys.byteorder == "big":
        values.byteswap()
    return TokenDocument(name, values.tobytes() + (tokens.text or "").encode("utf-8", "surrogatepass"), tokens)
