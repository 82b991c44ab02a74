"""Finds files of different persons with the same content that were read as different languages.

Tokens of different languages never match, so such a pair is not compared: `loans.py` and a copy that was handed in as
`loans.txt` are a program and a text. A note names such files. Two contents are the same if their texts are, apart from
line ends and blanks at the beginning and end of the file. Cost: linear in the texts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lookalike import params
from lookalike.comparison.result import Remark
from lookalike.frontends.languages import family


class Handed(NamedTuple):
    """A file that was read."""

    place: str
    person: object
    is_old: bool
    languages: tuple[str, ...]
    text: str
    tokens: int

    @property
    def families(self) -> tuple[str, ...]:
        """The families of its languages: files with the same ones are compared with each other."""
        return tuple(map(family, self.languages))


def read_apart(files: Iterable[Handed], templates: Iterable[str]) -> Iterator[Remark]:
    """Yield a note for each file with the content of another person's file that was read as another language.

    Files that are starter code, or too short to be evidence, are left out. Of the files with one content, those are
    named that were not read as the files of most persons were.
    """
    handed_out = set(map(_content, templates))
    same: defaultdict[str, list[Handed]] = defaultdict(list)
    for file in files:
        if file.tokens >= params.MIN_EVIDENCE:
            same[_content(file.text)].append(file)
    for content, group in same.items():
        if content not in handed_out:
            yield from _told(group)


def _content(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _told(group: Sequence[Handed]) -> Iterator[Remark]:
    readers = Counter(families for families, _ in {(file.families, file.person) for file in group})
    usual = min(readers, key=lambda families: (-readers[families], families == ("text",), families), default=())
    for file in group:
        others = [other for other in group if _is_missed(file, other)]
        if file.families != usual and others:
            yield Remark(file.place, _reason(file, others))


def _is_missed(file: Handed, other: Handed) -> bool:
    """Whether two files would be compared if both were read as one language."""
    return file.families != other.families and file.person != other.person and not (file.is_old and other.is_old)


def _reason(file: Handed, others: Sequence[Handed]) -> str:
    first, more = others[0], f" and {len(others) - 1:,} more" if len(others) > 1 else ""
    return (
        f"read as {_named(file)}, so it was not compared with `{first.place}`{more}, which has the same content and "
        f"was read as {_named(first)}: give both the same suffix, or choose one language for all files"
    )


def _named(file: Handed) -> str:
    return " and ".join(file.languages)
