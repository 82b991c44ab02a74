"""Whether a passage is the same code on both sides, by a tokeniser that is not ours: the Java lexer of Pygments.

All names count as the same token, and all literals as another; keywords, operators and punctuation count as they
stand, layout and comments do not. A passage agrees by the longest common subsequence of its two sides over the longer.
O(a · b / 64) a passage. Source: H. Hyyrö, Bit-parallel LCS-length computation revisited, 2004.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Literal, Name, String

from lookalike.comparison.result import Pair, Region, Report


class Lexed:
    """Files of a report as tokens of Pygments, each read once."""

    def __init__(self, report: Report) -> None:
        """Read files of this report."""
        self.report = report
        self._files: dict[tuple[int, int], tuple[list[int], list[str]]] = {}

    def agreement(self, pair: Pair, left: Region, right: Region) -> float:
        """Return the share of tokens that the sides of a passage have in common and in order."""
        return share(self._within(pair.left, left), self._within(pair.right, right))

    def _within(self, entry: int, region: Region) -> list[str]:
        place = entry, region.file
        if place not in self._files:
            self._files[place] = tokens(self.report.entries[entry].files[region.file].text)
        starts, kinds = self._files[place]
        return kinds[bisect_left(starts, region.start) : bisect_left(starts, region.end)]


def tokens(text: str) -> tuple[list[int], list[str]]:
    """Return where the tokens of a Java program begin, and what each is with names and literals folded."""
    starts, kinds, string_end = [], [], -1
    # A comment of one line ends with the line for Pygments, at the end of the file too.
    for start, kind, value in get_lexer_by_name("java").get_tokens_unprocessed(f"{text}\n"):
        # A string comes in parts: its quotes, its text, its escapes.
        is_part = kind in String and start == string_end
        string_end = start + len(value) if kind in String else -1
        if value.strip() and kind not in Comment and not is_part:
            starts.append(start)
            kinds.append(next((str(one) for one in (Name, Literal) if kind in one), value.strip()))
    return starts, kinds


def share(left: Sequence[str], right: Sequence[str]) -> float:
    """Return the longest common subsequence over the longer side; 1 for two empty ones."""
    longer = max(len(left), len(right))
    return common(left, right) / longer if longer else 1.0


def common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence: a bit is 0 where a row of the table rises."""
    places: defaultdict[str, int] = defaultdict(int)
    for at, token in enumerate(left):
        places[token] |= 1 << at
    every = (1 << len(left)) - 1
    rises = every
    for token in right:
        met = rises & places[token]
        rises = ((rises + met) | (rises - met)) & every
    return len(left) - rises.bit_count()


def shares(report: Report, pairs: Iterable[Pair]) -> list[float]:
    """Return the agreement of every passage of some pairs."""
    lexed = Lexed(report)
    return [lexed.agreement(pair, one.left, one.right) for pair in pairs for one in pair.passages]
