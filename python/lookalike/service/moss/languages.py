"""Languages of MOSS → ours. The front ends know all of its names, some as aliases: `cc` is `cpp`, `ascii` is `text`."""

from __future__ import annotations

from lookalike import frontends
from lookalike.errors import ParameterError


def ours(name: str) -> str | None:
    """Return our name of a language that a client of MOSS names, or ``None`` if there is none.

    >>> ours("cc"), ours("ascii"), ours("klingon")
    ('cpp', 'text', None)
    """
    try:
        return frontends.resolve(name)
    except ParameterError:
        return None
