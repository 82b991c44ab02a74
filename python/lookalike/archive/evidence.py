"""Compares a document that was asked about with the documents of an index, as ``compare --index`` does.

The result has both texts and every passage of each listed document, with its score, for a page that shows them side by
side. Cost: that of ``compare --index`` for one submission, linear in the documents that share something with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lookalike.archive.asked import AskedFor
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing_submissions import question
from lookalike.comparison.reading import Question, Read, read_one
from lookalike.documents import Intake, Submission
from lookalike.frontends import installed

if TYPE_CHECKING:
    from lookalike import _core
    from lookalike.archive.answers import Match
    from lookalike.comparison.earlier import Opened
    from lookalike.comparison.result import Pair, Report

#: Documents that share something with the asked one, above which they are not compared: it would take too long.
MOST = 5_000


@dataclass(frozen=True)
class Evidence:
    """A comparison of the asked document with those of the index, and the pair of each listed one by its id."""

    report: Report = field(repr=False)
    pairs: Mapping[str, Pair] = field(repr=False)


def compared(
    opened: Sequence[Opened], parameters: Parameters, given: AskedFor, file: _core.ReadFile, matches: Sequence[Match]
) -> Evidence:
    """Compare the document with all that share something with it. Errors: ``DamagedError``.

    ``file``: the file of a row of a corpus. REQUIRES: the index keeps texts and answers passages.
    """
    from lookalike.comparison import job
    from lookalike.comparison.earlier import Archive

    asked = _question(parameters)
    one = Submission(given.name, None, None, None, False, given.documents)
    archive = Archive(opened)
    archive.titles([one.name])
    reads = [_reads(parameters, given, asked, file)]
    report = job.compared_with(archive, Intake((one,), (), ()), reads, asked, f"{one.name} against the archive")
    places = {entry.name: place for place, entry in enumerate(report.entries) if entry.old}
    own = next(place for place, entry in enumerate(report.entries) if not entry.old)
    pairs = {
        left + right - own: pair
        for several in (report.little, report.shared, report.contained, report.pairs)
        for pair in several
        for left, right in [(pair.left, pair.right)]
    }
    found = {match.id: places.get(name) for match in matches for name in _names(match.id, opened) if name in places}
    return Evidence(report, {id_: pairs[place] for id_, place in found.items() if place in pairs})


def _question(parameters: Parameters) -> Question:
    """Return how ``compare`` asks this index: every pair that shares something is listed."""
    asked = question(parameters)
    k, t = parameters.thresholds_of("text") if parameters.kind == "corpus" else (asked.k, asked.t)
    return Question(asked.language, k, t, asked.comments, None, 0.0, asked.min_contained, None, 1.0)


def _reads(parameters: Parameters, given: AskedFor, asked: Question, file: _core.ReadFile) -> list[Read]:
    if parameters.kind == "corpus":
        return [Read(given.name, file, ("text",), given.notes, None, "", ())]
    return [read_one(one, asked, installed()) for one in given.documents]


def _names(id_: str, opened: Sequence[Opened]) -> list[str]:
    """Return the names that a document of an index may have in a comparison."""
    names = [id_, *(f"{one.title}/{id_}" for one in opened)]
    # Of several indexes that are asked as one, ids begin with the name of theirs.
    return [*names, *(id_.removeprefix(f"{one.title}/") for one in opened if id_.startswith(f"{one.title}/"))]
