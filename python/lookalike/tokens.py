"""Documents as tokens that the caller made: numbers or strings, with their places in a text if there is one.

A front end of one's own makes tokens, and everything behind it works on them: fingerprints, sketches, simhashes,
measures, comparisons and deduplication. A string becomes the 64-bit value XXH3-64, seed 0, of its UTF-8 as given; a
number is its own value. FORMAT.md defines both. So the words of a canonical text are the same tokens as that text has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from lookalike import _core
from lookalike._core import Column
from lookalike.errors import ParameterError

#: Start and end of a token in its text.
Span: TypeAlias = tuple[int, int]
#: Tokens as they may be given: whole numbers from 0 to 2^64 − 1, or strings.
Values: TypeAlias = Iterable[int] | Iterable[str]


class Tokens:
    """A document as a sequence of tokens.

    :param values: Whole numbers from 0 to 2^64 − 1, or strings: a list, an array or a column, not a mixture.
    :param spans: Where each token stands in ``text``, as pairs of start and end. Starts ascend.
    :param text: The text that people read. Without it, comparisons show the tokens themselves.
    :raises ParameterError: A value is no token, or spans and tokens do not fit each other.

    >>> import lookalike as la
    >>> a = Tokens(["push", "push", "add", "ret"], spans=[(0, 4), (5, 9), (10, 13), (14, 17)], text="push push add ret")
    >>> b = Tokens(["push", "add", "ret"])
    >>> la.containment(b, a, shingle=2)
    1.0
    >>> la.fingerprint(a, k=2, t=2).spans
    [(0, 9), (5, 13), (10, 17)]
    """

    __slots__ = ("shown", "spans", "text", "values")

    def __init__(self, values: Values, spans: Iterable[Span] | None = None, text: str | None = None) -> None:
        items = _listed(values)
        #: The 64-bit values that are compared.
        self.values: Column = _core.token_values(items)
        #: The strings that were given; ``None`` for numbers.
        self.shown: tuple[str, ...] | None = tuple(items) if items and isinstance(items[0], str) else None
        #: Where each token stands in ``text``; ``None`` if that was not said.
        self.spans: tuple[Span, ...] | None = None if spans is None else tuple((int(a), int(b)) for a, b in spans)
        #: The text that people read; ``None`` if there is none.
        self.text = text
        self._check()

    def _check(self) -> None:
        """Errors: ``ParameterError`` if spans do not fit the tokens or the text."""
        if self.spans is None:
            if self.text is not None:
                raise ParameterError("a text of tokens needs spans: give the start and end of each token")
            return
        if len(self.spans) != len(self.values):
            raise ParameterError(f"`{len(self.spans)}` spans for `{len(self.values)}` tokens: give one per token")
        most = None if self.text is None else len(self.text)
        before = 0
        for number, (start, end) in enumerate(self.spans):
            if start < before or end < start or (most is not None and end > most):
                raise ParameterError(f"span `({start}, {end})` of token `{number}` is out of order or out of the text")
            before = start

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokens):
            return NotImplemented
        return (self.values, self.spans, self.text) == (other.values, other.spans, other.text)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Tokens: {len(self):,}{'' if self.text is None else f' of a text of {len(self.text):,} characters'}>"

    def laid_out(self) -> tuple[str, Sequence[Span]]:
        """Return the text that people read and the place of each token; without a text, the tokens one per line."""
        if self.text is not None and self.spans is not None:
            return self.text, self.spans
        shown = self.shown if self.shown is not None else [str(value) for value in self.values]
        spans, at = [], 0
        for token in shown:
            spans.append((at, at + len(token)))
            at += len(token) + 1
        return "\n".join(shown) + "\n" if shown else "", spans


def _listed(values: Any) -> Sequence[Any]:
    """Return tokens as the core takes them: a column or buffer of unsigned 64-bit numbers as it is, else a list."""
    if isinstance(values, str | bytes | bytearray | memoryview):
        raise ParameterError("tokens are a sequence of numbers or strings: a text or bytes is no such sequence")
    if isinstance(values, Column | list):
        return values
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def is_sequence(document: object) -> bool:
    """Whether a document is a plain sequence of tokens: a list, a tuple, an array or a column."""
    return isinstance(document, list | tuple | Column) or any(
        hasattr(document, method) for method in ("to_pylist", "tolist", "to_list")
    )
