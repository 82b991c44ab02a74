"""A comparison as CSV tables and as JSON. Each function returns the text of one file.

JSON is plain ASCII and keeps every name as it was, unprintable characters included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lookalike import params
from lookalike._types import counted
from lookalike.comparison.result import Cluster, Common, Entry, Pair, Passage, Remark, Report, Section
from lookalike.rendering.tables import cell, rows

SCHEMA_VERSION = 1
#: Marks a JSON file as a report of lookalike.
KIND = "lookalike report"
PAIR_COLUMNS = (
    "left,right,score,left_coverage,right_coverage,matched_tokens,longest,passages,limited,stands_for,contained,"
    "score_whole,score_reachable,matched_bits,list,left_label,right_label,left_time,right_time,left_old,"
    "right_old,lists,strongest_bits"
)
PASSAGE_COLUMNS = (
    "left,right,left_file,left_start_line,left_end_line,right_file,right_start_line,right_end_line,tokens,shared_by,"
    "same_text,bits,weak"
)
SECTION_COLUMNS = (
    "left,right,left_file,left_start_line,left_end_line,right_file,right_start_line,right_end_line,passages,letters,"
    "same"
)
CLUSTER_COLUMNS = "name,cluster,representative"
#: Order of the numbers of a passage in JSON.
PASSAGE_FIELDS = (
    *("left_file", "left_start", "left_end", "left_start_line", "left_end_line"),
    *("right_file", "right_start", "right_end", "right_start_line", "right_end_line"),
    *("tokens", "shared_by", "exact", "sort", "same_text", "bits", "weak"),
)
#: Order of the numbers of a gap in JSON: the side is 0 for left, 1 for right.
GAP_FIELDS = ("side", "file", "start", "end")
#: Order of the numbers of a section in JSON.
SECTION_FIELDS = (*PASSAGE_FIELDS[:10], "passages", "letters", "same")


def lists(report: Report) -> tuple[tuple[str, tuple[Pair, ...]], ...]:
    """Return the ranked lists of pairs with their names. A pair may stand in the second and in the first or last."""
    first = ("main", report.pairs), ("contained", report.contained)
    return *first, ("shared", report.shared), ("little", report.little)


def pairs_csv(report: Report) -> str:
    """Return all pairs in the order of the lists, each once. ``lists`` has all lists of a pair, ``list`` its first."""
    held = _held(report)
    names = [cell(entry.name) for entry in report.entries]
    about = [(cell(entry.label or ""), cell(entry.time or ""), str(int(entry.old))) for entry in report.entries]
    return rows(
        PAIR_COLUMNS,
        (
            f"{names[pair.left]},{names[pair.right]},{_shares(pair, ',')},"
            f"{pair.matched_tokens},{pair.longest},{len(pair.passages)},{int(pair.limited)},{pair.stands_for},"
            f"{_measures(pair)},{in_lists[0]},"
            + ",".join(f"{left},{right}" for left, right in zip(about[pair.left], about[pair.right], strict=True))
            + f",{'+'.join(in_lists)},{_strongest(pair, '')}"
            for pair, in_lists in held.values()
        ),
    )


def passages_csv(report: Report, most: int = params.MAX_PASSAGES.default) -> str:
    """Return the passages in the order of the pairs, at most ``most`` of them; 0 for all."""
    names = [cell(entry.name) for entry in report.entries]
    files = [[cell(file.name) for file in entry.files] for entry in report.entries]
    return rows(PASSAGE_COLUMNS, _passage_lines(report, names, files, most))


def _passage_lines(report: Report, names: list[str], files: list[list[str]], most: int) -> Iterator[str]:
    for pair in every_pair(report)[: pairs_with_passages(report, most)]:
        ends = f"{names[pair.left]},{names[pair.right]},"
        left_files, right_files = files[pair.left], files[pair.right]
        for passage in pair.passages:
            left, right = passage.left, passage.right
            yield (
                f"{ends}{left_files[left.file]},{left.start_line},{left.end_line},"
                f"{right_files[right.file]},{right.start_line},{right.end_line},{passage.tokens},{passage.shared_by},"
                f"{round(passage.same_text, 6)!r},{round(passage.bits, 3)!r},{int(passage.weak)}"
            )


def sections_csv(report: Report) -> str:
    """Return the sections of prose of all listed pairs, in the order of the pairs."""
    names = [cell(entry.name) for entry in report.entries]
    files = [[cell(file.name) for file in entry.files] for entry in report.entries]
    return rows(
        SECTION_COLUMNS,
        (
            f"{names[pair.left]},{names[pair.right]},"
            f"{files[pair.left][left.file]},{left.start_line},{left.end_line},"
            f"{files[pair.right][right.file]},{right.start_line},{right.end_line},"
            f"{passages},{letters},{round(same, 6)!r}"
            for pair in every_pair(report)
            for left, right, passages, letters, same in pair.sections
        ),
    )


def every_pair(report: Report) -> list[Pair]:
    """Return the pairs of all lists, each once, in their order."""
    return [pair for pair, _ in _held(report).values()]


def _held(report: Report) -> dict[tuple[int, int], tuple[Pair, list[str]]]:
    """Return each pair with the names of the lists that hold it, by its ends, in the order of the lists."""
    found: dict[tuple[int, int], tuple[Pair, list[str]]] = {}
    for name, pairs in lists(report):
        for pair in pairs:
            found.setdefault((pair.left, pair.right), (pair, []))[1].append(name)
    return found


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
    every = every_pair(report)
    room = most
    for i, pair in enumerate(every if most else ()):
        room -= len(pair.passages)
        if room < 0:
            return i
    return len(every)


def cut_lists(report: Report, most_passages: int) -> Iterator[str]:
    """Yield a sentence for each table that is cut, with the option that changes the limit."""
    if report.pair_count > report.listed:
        yield (
            f"pairs: the best {report.listed:,} of {report.pair_count:,} are listed; "
            f"{params.MAX_PAIRS.option} 0 lists all"
        )
    for name, listed, count in (
        ("contained in much larger submissions", report.contained, report.contained_count),
        ("below the cut-off with a shared passage", report.shared, report.shared_count),
        ("too little to say", report.little, report.little_count),
    ):
        if count > (shown := sum(pair.stands_for for pair in listed)):
            yield f"{name}: the best {shown:,} of {count:,} pairs are listed; {params.MAX_PAIRS.option} 0 lists all"
    full, every = pairs_with_passages(report, most_passages), len(every_pair(report))
    if full < every:
        yield (
            f"passages: the tables have those of the first {full:,} of {every:,} pairs, at most "
            f"{counted(most_passages, 'passage')}; {params.MAX_PASSAGES.option} 0 writes all"
        )


def report_json(
    report: Report,
    pages: Mapping[tuple[int, int], str] | None = None,
    left_out: Sequence[str] = (),
    most_passages: int = params.MAX_PASSAGES.default,
) -> str:
    """Return the report as JSON, without texts. ``pages``: pages by the ends of a pair; ``left_out``: cut lists."""
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
        "contained_count": report.contained_count,
        "shared_count": report.shared_count,
        "little_count": report.little_count,
        "below": report.below,
        "aligned": report.aligned,
        "histogram": report.histogram,
        "groups": report.groups,
        "left_out": list(left_out),
        "outliers": [outlier._asdict() for outlier in report.outliers],
        "clusters": [_cluster(cluster) for cluster in report.clusters],
        "common": [_common(common) for common in report.common],
        "undefined": _remarks(report.undefined),
        "skipped": _remarks(report.skipped),
        "warnings": _remarks(report.warnings),
        "passage_fields": PASSAGE_FIELDS,
        "section_fields": SECTION_FIELDS,
        "gap_fields": GAP_FIELDS,
    }
    every = every_pair(report)
    full = {(pair.left, pair.right) for pair in every[: pairs_with_passages(report, most_passages)]}
    page_of = pages or {}
    parts = [f'"entries":[{_lines(json.dumps(_entry(entry)) for entry in report.entries)}]']
    for key, (_, pairs) in zip(("pairs", "contained", "shared", "little"), lists(report), strict=True):
        ends = ((pair, (pair.left, pair.right)) for pair in pairs)
        told = (_pair(pair, page_of.get(end), with_passages=end in full) for pair, end in ends)
        parts.append(f'"{key}":[{_lines(told)}]')
    return json.dumps(head, indent=1)[:-2] + ",\n " + ",\n ".join(parts) + "\n}\n"


def _lines(items: Iterable[str]) -> str:
    joined = ",\n  ".join(items)
    return f"\n  {joined}\n " if joined else ""


def _shares(pair: Pair, comma: str) -> str:
    """Return score and coverages with six decimals."""
    return comma.join(repr(round(share, 6)) for share in (pair.score, pair.left_coverage, pair.right_coverage))


def _measures(pair: Pair) -> str:
    """Return contained, both scores and bits as cells."""
    reachable = "" if pair.score_reachable is None else repr(round(pair.score_reachable, 6))
    return f"{round(pair.contained, 6)!r},{round(pair.score_whole, 6)!r},{reachable},{round(pair.matched_bits, 3)!r}"


def _pair(pair: Pair, page: str | None, *, with_passages: bool) -> str:
    found, gaps = ",".join(map(_passage, pair.passages)), ",".join(str([*gap]) for gap in pair.gaps)
    score, left, right = _shares(pair, " ").split()
    return (
        f'{{"left":{pair.left},"right":{pair.right},"score":{score},"left_coverage":{left},"right_coverage":{right},'
        f'"matched_tokens":{pair.matched_tokens},"longest":{pair.longest},"passage_count":{len(pair.passages)},'
        f'"limited":{json.dumps(pair.limited)},"stands_for":{pair.stands_for},'
        f'"contained":{round(pair.contained, 6)!r},"score_whole":{round(pair.score_whole, 6)!r},'
        f'"score_reachable":{_number(pair.score_reachable)},"matched_bits":{round(pair.matched_bits, 3)!r},'
        f'"strongest_bits":{_strongest(pair, "null")},'
        f'"sections":[{",".join(map(_section, pair.sections))}],'
        f'"page":{json.dumps(page)},"passages":{"[" + found + "]" if with_passages else "null"},'
        f'"gaps":{"[" + gaps + "]" if with_passages else "null"}}}'
    )


def _strongest(pair: Pair, none: str) -> str:
    return none if pair.strongest_bits is None else repr(round(pair.strongest_bits, 3))


def _number(value: float | None) -> str:
    return "null" if value is None else repr(round(value, 6))


def _passage(passage: Passage) -> str:
    return (
        f"[{_regions(passage)},"
        f'{passage.tokens},{passage.shared_by},{json.dumps(passage.exact)},"{passage.sort}",'
        f"{round(passage.same_text, 6)!r},{round(passage.bits, 3)!r},{json.dumps(passage.weak)}]"
    )


def _section(section: Section) -> str:
    return f"[{_regions(section)},{section.passages},{section.letters},{round(section.same, 6)!r}]"


def _regions(piece: Passage | Section) -> str:
    return ",".join(str(number) for region in (piece.left, piece.right) for number in region)


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
        "unreachable_tokens": entry.unreachable_tokens,
        "reachability": entry.reachability,
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
