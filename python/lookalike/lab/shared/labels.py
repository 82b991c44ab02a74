"""Pairs with a verdict on each: read from CSV, or planted where there is none. What cannot be used is told by row."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.errors import FrontendError, ParameterError
from lookalike.lab.shared import versions
from lookalike.lab.shared.corpus import Corpus

COLUMNS = ("left", "right", "label")
YES, NO = frozenset({"1", "1.0", "true", "yes", "y", "t"}), frozenset({"0", "0.0", "false", "no", "n", "f"})
#: What a person says who cannot tell.
UNKNOWN = frozenset({"unknown", "?", "u"})
#: The same on a sheet to tag, in full.
TAGS = ("true", "false", "unknown")
#: Planted pairs of each verdict; shares of words that are changed in versions, and in pairs labelled different.
PLANTED, CHANGED, REWRITTEN = 150, (0.002, 0.08), (0.08, 0.5)


@dataclass(frozen=True)
class Labelled:
    """Two texts, and whether a person takes them for the same."""

    left: bytes
    right: bytes
    is_same: bool


@dataclass(frozen=True)
class Labels:
    """The pairs that can be used, and why others cannot."""

    pairs: tuple[Labelled, ...]
    origin: str
    left_out: tuple[str, ...] = ()
    #: Pairs of which the person could not tell.
    unknown: int = 0

    @property
    def positives(self) -> int:
        """Pairs that are the same."""
        return sum(pair.is_same for pair in self.pairs)


def read(path: Path, corpus: Corpus) -> Labels:
    """Read the columns left, right and label, which name documents of the corpus.

    Errors: ``OSError``; ``ParameterError`` without a column; ``FrontendError`` without pairs of both verdicts.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.DictReader(file)
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise ParameterError(f"`{path.name}` has no column `{missing[0]}`: give the columns {', '.join(COLUMNS)}")
        documents = dict(zip(corpus.names, corpus.documents, strict=True))
        pairs, left_out, unknown = [], [], 0
        for row in rows:
            found = _labelled(row, documents, corpus.name)
            if isinstance(found, str):
                left_out.append(f"line {rows.line_num}: {found}")
            elif found is None:
                unknown += 1
            else:
                pairs.append(found)
    labels = Labels(tuple(pairs), f"the pairs of {path.name}", tuple(left_out), unknown)
    if not 0 < labels.positives < len(pairs):
        because = f"; {len(left_out)} rows could not be used, the first for this: {left_out[0]}" if left_out else ""
        raise FrontendError(
            f"`{path.name}` has {labels.positives} pairs labelled 1 and {len(pairs) - labels.positives} labelled 0"
            f"{because}: an evaluation needs both"
        )
    return labels


def _labelled(row: dict[str, str | None], documents: dict[str, bytes], corpus: str) -> Labelled | str | None:
    """Return the pair of a row, ``None`` if the person could not tell, or why there is no pair."""
    texts = []
    for name in (row["left"], row["right"]):
        text = documents.get(_name(name or "", documents, corpus))
        if text is None:
            return f"no document `{name or ''}` in the corpus"
        texts.append(text)
    label = (row["label"] or "").strip().lower()
    if label in UNKNOWN:
        return None
    if not label:
        return "has no label yet"
    if label not in YES | NO:
        return f"label `{label}` is neither 1 nor 0"
    return Labelled(texts[0], texts[1], label in YES)


def _name(given: str, documents: dict[str, bytes], corpus: str) -> str:
    """Return a document's name. A path to it may be given, and the quote that keeps spreadsheets from formulas."""
    below = given.replace("\\", "/").rpartition(f"{corpus}/")[2].removeprefix("./")
    return next((name for name in (given, given.removeprefix("'"), below) if name in documents), given)


def plant(corpus: Corpus, seed: int) -> Labels:
    """Make labels for want of them: versions are the same, others are not. Errors: ``FrontendError``."""
    rng = np.random.default_rng(seed)
    distinct = sorted(set(corpus.documents), key=corpus.documents.index)
    if len(distinct) < 2:
        raise FrontendError(f"corpus `{corpus.name}` has one text: an evaluation needs several, or labelled pairs")
    pairs = []
    for number in range(PLANTED):
        left, right = (distinct[i] for i in rng.choice(len(distinct), 2, replace=False))
        text = versions.text_of(left)
        same, other = (versions.edited(text, rng.uniform(*shares), rng).encode() for shares in (CHANGED, REWRITTEN))
        pairs += [Labelled(left, same, True), Labelled(left, right if number % 2 else other, False)]
    told = f"at most {100 * CHANGED[1]:g} % of words replaced is the same, more or another document is not"
    return Labels(tuple(pairs), f"planted for want of labels: {told}")
