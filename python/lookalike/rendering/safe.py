"""Makes untrusted text safe to show."""

from __future__ import annotations


def visible(text: str) -> str:
    """Show control and bidi characters as escapes, so that a name cannot move the cursor or reverse the line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
