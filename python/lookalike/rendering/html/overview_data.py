"""The data of the overview's scripts: rows of the tables, cards of submissions, clusters. Cost: one pass over each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from lookalike.comparison.result import Entry, Pair, Report
from lookalike.rendering.html.frame import data_block, moment, read_as
from lookalike.rendering.safe import told, visible
from lookalike.rendering.wording import kept, units

#: Most files of a submission on its card; report.json has all.
FILES = 100
#: The two entries of a pair.
Ends = tuple[int, int]


def overview_data(report: Report, names: Sequence[str], labels: Sequence[str], pages: Mapping[Ends, str]) -> str:
    """Return the data of the overview as JSON that is safe inside a script element."""
    hue = {label: i for i, label in enumerate(labels)}
    lists = {
        "pairs": report.pairs,
        "contained": report.contained,
        "shared": report.shared,
        "little": report.little,
    }
    return data_block(
        {
            "digest": inputs_digest(report),
            "cutOff": report.cut_off,
            "pairCount": report.pair_count,
            "clusterAt": report.cluster_threshold,
            "labels": [visible(label) for label in labels],
            "cards": [_card(entry, name, hue) for entry, name in zip(report.entries, names, strict=True)],
            **{name: [_row(pair, pages) for pair in pairs] for name, pairs in lists.items()},
            "groups": report.groups,
            "clusters": [
                [cluster.representative, *(member for member in cluster.members if member != cluster.representative)]
                for cluster in report.clusters
            ],
            "unit": units(file for entry in report.entries for file in entry.files),
            "outliers": {outlier.entry: deviation(outlier.deviation) for outlier in report.outliers},
        }
    )


def inputs_digest(report: Report) -> str:
    """Return the SHA-256 of the names and digests of all submissions: marks and notes are kept under it."""
    told = "\n".join(f"{entry.digest} {entry.name}" for entry in report.entries)
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def deviation(spreads: float) -> str:
    """Return how far a best score is from those of the class."""
    return f"its best score is far above what is usual in this class: {spreads:.1f} spreads above the median"


def seconds(time: str | None) -> float | None:
    """Return a time of submission as seconds since 1970, if it can be read; without a zone it counts as UTC."""
    try:
        read = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def _row(pair: Pair, pages: Mapping[Ends, str]) -> tuple[Any, ...]:
    """Return a pair for ``asPair`` of the script, which names these columns."""
    return (
        pair.left,
        pair.right,
        *(kept(share) for share in (pair.score, pair.left_coverage, pair.right_coverage)),
        pair.matched_tokens,
        pair.longest,
        len(pair.passages),
        pair.stands_for,
        int(pair.limited),
        kept(pair.contained),
        round(pair.matched_bits),
        round(pair.strongest_bits or 0),
        pages.get((pair.left, pair.right), "").removeprefix("pairs/"),
    )


def _card(entry: Entry, name: str, hue: dict[str, int]) -> list[Any]:
    """Return a submission for ``cards`` of the script, which names these columns."""
    files = [
        [visible(file.name), read_as(file), file.tokens, [told(note) for note in file.notes]]
        for file in entry.files[:FILES]
    ]
    return [
        name,
        visible(entry.person or ""),
        hue.get(entry.label, -1) if entry.label is not None else -1,
        moment(entry.time),
        int(entry.old),
        entry.digest,
        [entry.own_tokens, entry.template_tokens, entry.common_tokens],
        files,
        len(entry.files) - len(files),
        seconds(entry.time),
        entry.unreachable_tokens,
    ]
