"""Rows that are ``Tokens``: a source of a deduplication, and the same rows back with fewer of them.

Each token is written as its value, a decimal number, which is one word to the core. So documents have the same exact
resemblance and containment as their tokens have. Cost: about 20 bytes per token while a batch is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from lookalike._types import Problem
from lookalike.corpora.batches import CHUNK_BYTES, Texts
from lookalike.corpora.lines import check_rows
from lookalike.deduplication.settings import Settings
from lookalike.errors import ParameterError
from lookalike.tokens import Tokens

#: Bytes of a token and the space behind it, at most.
TOKEN_BYTES = 21


def are_tokens(given: Any) -> TypeGuard[Sequence[Tokens]]:
    """Whether rows are ``Tokens``. Errors: ``ParameterError`` if only some of them are."""
    if not isinstance(given, list | tuple) or not any(isinstance(one, Tokens) for one in given):
        return False
    if not all(isinstance(one, Tokens) for one in given):
        raise ParameterError("some rows are Tokens and others are not: give Tokens for all of them")
    return True


@dataclass(slots=True)
class TokenSource:
    """Documents given as tokens."""

    given: Sequence[Tokens]
    name: str = "tokens"
    format: str = "arrow"
    problems: list[Problem] = field(default_factory=list)
    size: int = 0
    done: int = 0

    @classmethod
    def opened(cls, given: Sequence[Tokens], asked: Settings) -> TokenSource:
        """Return rows as a source. Errors: ``ParameterError`` if something was chosen that only texts have."""
        chosen = {"unit": asked.unit != "word", "features": asked.features != "words"}
        chosen |= {"ignore": bool(asked.ignore), "same_language": asked.same_language}
        for name in (name for name, is_chosen in chosen.items() if is_chosen):
            raise ParameterError(f"{name} makes tokens of a text, and tokens were given: leave it out")
        return cls(given, size=sum(TOKEN_BYTES * len(one) for one in given))

    def batches(self) -> Iterator[Texts]:
        """Yield the rows."""
        batch: list[tuple[str | None, bytes | str | None]] = []
        waiting = self.done = 0
        for tokens in self.given:
            batch.append((None, " ".join(map(str, tokens.values))))
            waiting += TOKEN_BYTES * len(tokens)
            if waiting >= CHUNK_BYTES:
                self.done += waiting
                yield Texts(batch)
                batch, waiting = [], 0
        self.done += waiting
        if batch:
            yield Texts(batch)

    def select(self, mask: bytes) -> Any:
        """Return the rows that the mask keeps: a tuple for a tuple, else a list."""
        check_rows(len(self.given), len(mask))
        kept = [row for row, keep in zip(self.given, mask, strict=True) if keep]
        return tuple(kept) if isinstance(self.given, tuple) else kept
