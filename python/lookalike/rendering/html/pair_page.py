"""The page of one pair: both texts with every shared passage, and the parameters of the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lookalike.comparison.result import Pair, Report
from lookalike.rendering.html.explanations import among, explained, leaves_out
from lookalike.rendering.html.frame import page, parameters, part, title
from lookalike.rendering.html.overview_data import inputs_digest
from lookalike.rendering.html.passage_list import order, passage_list
from lookalike.rendering.html.sides import MAP, MarksOf, View, make_side
from lookalike.rendering.wording import units


class PairPages:
    """Makes the pages of a report's pairs, with what all of them have in common."""

    def __init__(
        self,
        report: Report,
        names: Sequence[str],
        marks: MarksOf,
        *,
        is_alone: bool = False,
        is_asked: bool = False,
        exports: bool = True,
    ) -> None:
        """Take the report, the names to show, and what colours its files.

        ``is_alone``: there is no overview; ``is_asked``: each pair is a document that an archive was asked about and
        one of the archive, so there is no class; ``exports``: the overview exports marks and notes.
        """
        self._report, self._names, self._marks, self._is_asked = report, names, marks, is_asked
        self._shared = {
            "report": report,
            "title": title(report),
            "digest": inputs_digest(report),
            "map_height": MAP,
            "is_alone": is_alone,
            "among": among(is_asked),
            "exports": exports,
            "parameters": "; ".join(f"{name}: {value}" for name, value in parameters(report)),
        }
        self._for_a_passage = {(pair.left, pair.right) for pair in report.shared}

    def page(self, pair: Pair, rank: str, before: str = "", after: str = "") -> str:
        """Return the page of a pair. ``rank``: its place in its list; ``before`` and ``after``: pages to turn to."""
        return page("pair", previous=before, next=after, **self._shared, **self._values(pair, rank, painted=True))

    def fragment(self, pair: Pair, rank: str, before: str = "", after: str = "") -> str:
        """Return the body of the page; its texts are painted in the browser where they are short enough."""
        values = self._values(pair, rank, painted=False)
        return part("pair_body", previous=before, next=after, **self._shared, **values)

    def _values(self, pair: Pair, rank: str, *, painted: bool) -> dict[str, Any]:
        """Return what the template needs of one pair."""
        ends, entries = (pair.left, pair.right), self._report.entries
        sides = [
            make_side(entries[end], end, self._names[end], pair, View(letter, self._marks, painted))
            for end, letter in zip(ends, "lr", strict=True)
        ]
        unit = units(file for end in ends for file in entries[end].files)
        return {
            "pair": pair,
            "rank": rank,
            "unit": unit,
            "leaves_out": leaves_out(pair),
            "sides": sides,
            "explained": [*explained(pair, entries, unit, is_asked=self._is_asked), *self._listed_for(pair)],
            "passages": passage_list(self._report, pair, is_asked=self._is_asked),
            "order": order(self._report, pair),
        }

    def _listed_for(self, pair: Pair) -> Iterator[str]:
        """Yield why a pair below the cut-off is listed, with the figure of its list."""
        if (pair.left, pair.right) in self._for_a_passage:
            yield (
                "This pair is below the cut-off, and listed for a shared passage. Its strongest one has "
                f"{round(pair.strongest_bits or 0):,} bits, as the list of shared passages says: only runs of the "
                "guaranteed length count, so this can be less than below; neighbouring ones of prose count together."
            )
