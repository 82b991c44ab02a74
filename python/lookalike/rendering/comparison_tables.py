"""A comparison as CSV tables and as JSON. Each function returns the text of one file.

JSON is plain ASCII and keeps every name as it was, unprintable characters included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lookalike import params
from lookalike._types import counted
from lookalike.comparison.result import Cluster, Common, Entry, Pair, Passage, Remark, Report
from lookalike.rendering.tables import cell, rows

SCHEMA_VERSION = 1
#: Marks a JSON file as a report of lookalike.
KIND = "lookalike report"
PAIR_COLUMNS = "left,right,score,left_coverage,right_coverage,matched_tokens,longest,passages,limited,stands_for"
PASSAGE_COLUMNS = (
    "left,right,left_file,left_start_line,left_end_line,right_file,right_start_line,right_end_line,tokens,shared_by,"
    "same_text"
)
CLUSTER_COLUMNS = "name,cluster,representative"
#: Order of the numbers of a passage in JSON.
PASSAGE_FIELDS = (
    *("left_file", "left_start", "left_end", "left_start_line", "left_end_line"),
    *("right_file", "right_start", "right_end", "right_start_line", "right_end_line"),
    *("tokens", "shared_by", "exact", "sort", "same_text"),
)


def pairs_csv(report: Report) -> str:
    """Return the pairs, best first."""
    names = [cell(entry.name) for entry in report.entries]
    return rows(
        PAIR_COLUMNS,
        (
            f"{names[pair.left]},{names[pair.right]},{_shares(pair, ',')},"
            f"{pair.matched_tokens},{pair.longest},{len(pair.passages)},{int(pair.limited)},{pair.stands_for}"
            for pair in report.pairs
        ),
    )


def passages_csv(report: Report, most: int = params.MAX_PASSAGES.default) -> str:
    """Return the passages in the order of the pairs, at most ``most`` of them; 0 for all."""
    names = [cell(entry.name) for entry in report.entries]
    files = [[cell(file.name) for file in entry.files] for entry in report.entries]
    return rows(PASSAGE_COLUMNS, _passage_lines(report, names, files, most))


def _passage_lines(report: Report, names: list[str], files: list[list[str]], most: int) -> Iterator[str]:
    for pair in report.pairs[: pairs_with_passages(report, most)]:
        ends = f"{names[pair.left]},{names[pair.right]},"
        left_files, right_files = files[pair.left], files[pair.right]
        for passage in pair.passages:
            left, right = passage.left, passage.right
            yield (
                f"{ends}{left_files[left.file]},{left.start_line},{left.end_line},"
                f"{right_files[right.file]},{right.start_line},{right.end_line},{passage.tokens},{passage.shared_by},"
                f"{round(passage.same_text, 6)!r}"
            )


def clusters_csv(report: Report) -> str:
    """Return the members of each cluster; clusters count from 1."""
    names = [cell(entry.name) for entry in report.entries]
    return rows(
        CLUSTER_COLUMNS,
        (
            f"{names[member]},{number},{names[cluster.representative]}"
            for number, cluster in enumerate(report.clusters, 1)
            for member in cluster.members
        ),
    )


def pairs_with_passages(report: Report, most: int) -> int:
    """Return how many pairs, from the best, have their passages in tables of at most ``most``; 0 for all."""
    if not most:
        return len(report.pairs)
    room = most
    for i, pair in enumerate(report.pairs):
        room -= len(pair.passages)
        if room < 0:
            return i
    return len(report.pairs)


def cut_lists(report: Report, most_passages: int) -> Iterator[str]:
    """Yield a sentence for each table that is cut, with the option that changes the limit."""
    if report.pair_count > report.listed:
        yield (
            f"pairs: the best {report.listed:,} of {report.pair_count:,} are listed; "
            f"{params.MAX_PAIRS.option} 0 lists all"
        )
    full = pairs_with_passages(report, most_passages)
    if full < len(report.pairs):
        yield (
            f"passages: the tables have those of the first {full:,} of {len(report.pairs):,} pairs, at most "
            f"{counted(most_passages, 'passage')}; {params.MAX_PASSAGES.option} 0 writes all"
        )


def report_json(
    report: Report,
    pages: Sequence[str] = (),
    left_out: Sequence[str] = (),
    most_passages: int = params.MAX_PASSAGES.default,
) -> str:
    """Return the report as JSON, without texts. ``pages``: files of the first pairs; ``left_out``: cut lists."""
    head = {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "version": report.version,
        "parameters": dict(report.parameters),
        "understood": report.understood,
        "promise": report.promise,
        "cut_off": report.cut_off,
        "cluster_threshold": report.cluster_threshold,
        "pair_count": report.pair_count,
        "listed": report.listed,
        "below": report.below,
        "aligned": report.aligned,
        "histogram": report.histogram,
        "groups": report.groups,
        "left_out": list(left_out),
        "clusters": [_cluster(cluster) for cluster in report.clusters],
        "common": [_common(common) for common in report.common],
        "undefined": _remarks(report.undefined),
        "skipped": _remarks(report.skipped),
        "warnings": _remarks(report.warnings),
        "passage_fields": PASSAGE_FIELDS,
    }
    full = pairs_with_passages(report, most_passages)
    pairs = (
        _pair(pair, pages[i] if i < len(pages) else None, with_passages=i < full) for i, pair in enumerate(report.pairs)
    )
    parts = [
        f'"entries":[{_lines(json.dumps(_entry(entry)) for entry in report.entries)}]',
        f'"pairs":[{_lines(pairs)}]',
    ]
    return json.dumps(head, indent=1)[:-2] + ",\n " + ",\n ".join(parts) + "\n}\n"


def _lines(items: Iterable[str]) -> str:
    joined = ",\n  ".join(items)
    return f"\n  {joined}\n " if joined else ""


def _shares(pair: Pair, comma: str) -> str:
    """Return score and coverages with six decimals."""
    return comma.join(repr(round(share, 6)) for share in (pair.score, pair.left_coverage, pair.right_coverage))


def _pair(pair: Pair, page: str | None, *, with_passages: bool) -> str:
    found = ",".join(map(_passage, pair.passages))
    score, left, right = _shares(pair, " ").split()
    return (
        f'{{"left":{pair.left},"right":{pair.right},"score":{score},"left_coverage":{left},"right_coverage":{right},'
        f'"matched_tokens":{pair.matched_tokens},"longest":{pair.longest},"passage_count":{len(pair.passages)},'
        f'"limited":{json.dumps(pair.limited)},"stands_for":{pair.stands_for},'
        f'"page":{json.dumps(page)},"passages":{"[" + found + "]" if with_passages else "null"}}}'
    )


def _passage(passage: Passage) -> str:
    left, right = passage.left, passage.right
    return (
        f"[{left.file},{left.start},{left.end},{left.start_line},{left.end_line},"
        f"{right.file},{right.start},{right.end},{right.start_line},{right.end_line},"
        f'{passage.tokens},{passage.shared_by},{"true" if passage.exact else "false"},"{passage.sort}",'
        f"{round(passage.same_text, 6)!r}]"
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "person": entry.person,
        "label": entry.label,
        "time": entry.time,
        "old": entry.old,
        "digest": entry.digest,
        "tokens": entry.tokens,
        "template_tokens": entry.template_tokens,
        "common_tokens": entry.common_tokens,
        "files": [
            {
                "name": file.name,
                "language": file.language,
                "format": file.format,
                "tokens": file.tokens,
                "notes": file.notes,
            }
            for file in entry.files
        ],
    }


def _cluster(cluster: Cluster) -> dict[str, Any]:
    return {"representative": cluster.representative, "members": cluster.members, "scores": cluster.scores}


def _common(common: Common) -> dict[str, Any]:
    place = common.region
    return {
        "entry": common.entry,
        "file": place.file,
        "start": place.start,
        "end": place.end,
        "start_line": place.start_line,
        "end_line": place.end_line,
        "tokens": common.tokens,
        "holders": common.holders,
    }


def _remarks(remarks: Iterable[Remark]) -> list[dict[str, str]]:
    return [{"name": remark.name, "reason": remark.reason} for remark in remarks]


def is_ours(beginning: bytes) -> bool:
    """Return whether a JSON file is a report of lookalike, from its first bytes."""
    return beginning.startswith(json.dumps({"kind": KIND}, indent=1)[:-2].encode())
