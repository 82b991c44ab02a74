"""Rows for people (a table that grows as rows end), for programs (JSON) and for the record (CSV)."""

from __future__ import annotations

import csv
import datetime
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lookalike as la
from bench import measure
from bench.runner import Figure, Row

RECORD = Path(__file__).parent / "record"
#: How figures are told that are not a multiple of another row.
TOLD = {
    "memory pass": ("{:.2f} % of the memory pass", 100),
    "extra MB": ("{:.0f} MB beyond the text", 1),
    "growth": ("{:.2f} × CPU for twice the text", 1),
    "balance": ("{:.2f} × one thread ÷ busiest of two", 1),
    "calling thread": ("{:.2f} of it on the calling thread", 1),
    "class growth": ("{:.2f} × CPU for ten times the class", 1),
    "known copies": ("{:.1f} % of the known copies come first", 100),
    "RMSE": ("{:.4f} RMSE against the exact resemblance", 1),
    "near bits": ("{:.2f} of 64 bits from a document of resemblance 0.9", 1),
    "other bits": ("{:.2f} of 64 bits from the next document", 1),
    "RMSE of theory": ("{:.2f} × RMSE of independent coordinates", 1),
    "document recall": ("{:.2f} % of documents with a partner found", 100),
    "precision": ("{:.2f} % of edges and members at the threshold", 100),
    "their recall": ("{:.2f} % of documents with a partner found", 100),
    "their precision": ("{:.2f} % of those found have one at 0.6", 100),
    "corpus growth": ("{:.2f} × CPU for five times the documents", 1),
    "doubling": ("{:.2f} × CPU for twice the documents", 1),
    "way": ("{:.2f} × all of one ÷ first + busiest of two", 1),
    "peak MB": ("{:.0f} MB at the peak", 1),
    "seconds": ("{:.2f} s of CPU for the whole job", 1),
    "queries/s": ("{:,.0f} queries a second", 1),
    "µs": ("{:.2f} µs a query", 1),
    "build s": ("{:.2f} s of CPU to build", 1),
    "bytes each": ("{:.1f} bytes a fingerprint, without ids", 1),
    "ns of one access": ("{:.0f} ns one random access to memory", 1),
    "p99 candidates": ("{:,.0f} rows compared, 99th percentile", 1),
    "s": ("{:.2f} s of CPU", 1),
    "ns a fingerprint": ("{:.0f} ns a fingerprint", 1),
}
LINE = "{:<36} {:>9} {:>9}  {:<44} {:<9} {:<7} {}"
HEADER = LINE.format("row", "MB/s", "median", "figure", "wanted", "met", "answer")


def told(figure: Figure) -> str:
    words, factor = TOLD.get(figure.name, ("{:.2f} × " + figure.name.replace("{", "(").replace("}", ")"), 1))
    return words.format(factor * figure.value)


def wanted(figure: Figure) -> str:
    factor = TOLD.get(figure.name, ("", 1))[1]
    percent = " %" if factor == 100 else ""
    if figure.at_least is not None:
        return f"≥ {factor * figure.at_least:g}{percent}"
    return f"≤ {factor * figure.at_most:g}{percent}" if figure.at_most is not None else ""


def met(figure: Figure) -> str:
    return {True: "met", False: "missed", None: ""}[figure.is_met]


def lines(row: Row) -> Iterable[str]:
    """One line for the row, one more for each further figure."""
    if row.outcome is None:
        yield f"{row.name:<36} skipped: {row.note}"
        return
    times = row.outcome.times
    speed = f"{row.outcome.mb_s:.1f}{'~' if times.is_noisy else ' '}"
    median = f"{row.outcome.size / 1e6 / times.median:.1f} "
    answer = row.answer.upper() if row.answer == "wrong" else row.answer
    first, *rest = row.figures or [Figure("", 0)]
    text = told(first) if first.name else ""
    yield LINE.format(row.name, speed, median, text, wanted(first), met(first), answer).rstrip()
    for figure in rest:
        yield LINE.format("", "", "", told(figure), wanted(figure), met(figure), "").rstrip()
    if row.note:
        yield f"{'':<36} {row.note}"


def summary(rows: list[Row]) -> str:
    """The last lines: how many answers were right, which wishes were missed."""
    wrong = [row.name for row in rows if row.answer == "wrong"]
    missed = [f"{row.name} ({told(figure)})" for row in rows for figure in row.figures if figure.is_met is False]
    kept = sum(figure.is_met is True for row in rows for figure in row.figures)
    count = {answer: sum(row.answer == answer for row in rows) for answer in ("right", "skipped")}
    found = [f"{count['right']} right answers, {len(wrong)} wrong, {count['skipped']} rows skipped; {kept} wishes met"]
    found += [f"wrong answer: {name}" for name in wrong]
    found += [f"missed: {name}" for name in missed]
    return "\n".join(found)


def as_data(row: Row) -> dict[str, Any]:
    """A row for programs."""
    found: dict[str, Any] = {"row": row.name, "answer": row.answer, "note": row.note}
    if row.outcome is None:
        return found
    times = row.outcome.times
    found |= {"bytes": row.outcome.size, "mb_s": row.outcome.mb_s, "repetitions": len(times.cpu)}
    found |= {"best_cpu_s": times.best, "median_cpu_s": times.median, "is_noisy": times.is_noisy}
    figures = [
        {"name": f.name, "value": f.value, "at_least": f.at_least, "at_most": f.at_most, "is_met": f.is_met}
        for f in row.figures
    ]
    return found | {"figures": figures}


def write_json(rows: list[Row], file: Path) -> None:
    about = {"version": la.__version__, "machine": measure.machine(), "load": measure.load_average()}
    file.write_text(json.dumps(about | {"rows": [as_data(row) for row in rows]}, indent=1) + "\n", "utf-8")


def write_record(rows: list[Row], folder: Path = RECORD) -> Path:
    """One line a figure; neither the machine's name nor a path is in it."""
    file = folder / f"{datetime.date.today().isoformat()}-{measure.machine()}.csv"
    folder.mkdir(exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["row", "bytes", "mb_s", "mb_s_median", "noisy", "answer", "figure", "value", "wanted", "met"])
        table.writerows(line for row in rows if row.outcome for line in record_lines(row))
    return file


def record_lines(row: Row) -> Iterable[list[Any]]:
    data = as_data(row)
    median = data["bytes"] / 1e6 / data["median_cpu_s"]
    about = [row.name, data["bytes"], f"{data['mb_s']:.1f}", f"{median:.1f}", int(data["is_noisy"]), row.answer]
    for figure in row.figures:
        yield [*about, figure.name, f"{figure.value:.4g}", wanted(figure), met(figure)]
    if not row.figures:
        yield [*about, "", "", "", ""]
