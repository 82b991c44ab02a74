"""Makes untrusted text safe to show."""

from __future__ import annotations


def told(text: str) -> str:
    """Return a sentence of ours for a page: visible, and values that stand in backquotes in quotation marks.

    >>> told("`a.py` is binary")
    '“a.py” is binary'
    """
    pieces = visible(text).split("`")
    last = pieces.pop() if len(pieces) % 2 == 0 else ""
    shown = "".join(f"“{piece}”" if place % 2 else piece for place, piece in enumerate(pieces))
    return f"{shown}`{last}" if last or text.count("`") % 2 else shown


def visible(text: str) -> str:
    """Show control and bidi characters as escapes, so that a name cannot move the cursor or reverse the line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
