"""Disguised copies: real programs rewritten by seventeen attacks, ours beside other tools in the same run.

Each cell is the median score of source and rewritten program, and the share of rewritten programs whose source comes
first among all their pairs. `lookalike compare` runs with its defaults, except that it lists every pair. Its score
weighs rare material more and renamed tokens less, so renaming alone costs a tenth; its coverage, the mean of both
sides, is on the scale of the other tools. JPlag is given by its average and its maximum similarity, with normalisation
(norm) and match merging (merge) or without.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

from bench.rivals import cache
from lookalike import params
from quality.disguised import Class, Found, rewriter, table
from quality.figure import Figure
from quality.task import Task, rows

COHORT = "programs of one problem and the rewritten ones of one attack"
FILE = "conplag/files.zip"
#: Problems a language, programs of a problem at most, and how many of them are rewritten by each attack.
PROBLEMS, PROGRAMS, REWRITTEN = 3, 24, 5
#: Wanted: sources that come first, and rows whose median is not below JPlag's with normalisation.
FIRST, ABOVE = 0.95, 0.80
JPLAG = "JPlag norm average"


def place(data: Path) -> Path:
    """Return the folder of all sets: programs come from several."""
    return data


def measure(task: Task) -> list[Figure]:
    """Tell first ranks over all attacks, and rows in which our median is at least JPlag's."""
    figures: list[Figure] = []
    firsts, compared = Counter[str](), Counter[str]()
    for language, classes in classes_of(task).items():
        for class_ in classes:
            class_.rewrite(REWRITTEN)
        found, absent = table(classes, task.rivals)
        task.details.append(laid_out(language, classes, found))
        task.details += [f"Not in the table of {language}: {tool}, {why}." for tool, why in sorted(absent.items())]
        for attack, tools in found.items():
            mine = tools["lookalike"]
            listed = sum(score >= params.CODE_CUT_OFF for score in mine.scores)
            firsts.update(first=mine.first, all=len(mine.scores), listed=listed)
            if JPLAG in tools:
                theirs = tools[JPLAG].median
                medians = {"score": mine.median, "coverage": tools["lookalike coverage"].median}
                compared.update(rows=1, **{what: median >= theirs for what, median in medians.items()})
                if min(medians.values()) < theirs:
                    told = ", ".join(f"{what} {median:.3f}" for what, median in medians.items() if median < theirs)
                    task.details.append(f"Median below JPlag's {theirs:.3f}: {language}, {attack}: {told}.")
            if mine.share_first < FIRST:
                task.details.append(f"Source first in {mine.share_first:.0%} only: {language}, {attack}.")
    every = max(1, firsts["all"])
    figures.append(Figure("sources that come first", firsts["first"] / every, at_least=FIRST))
    figures.append(Figure("sources listed at the default cut-off", firsts["listed"] / every))
    for what in ("score", "coverage") if compared["rows"] else ():
        share = compared[what] / compared["rows"]
        figures.append(Figure(f"rows with a median {what} ≥ JPlag's with normalisation", share, at_least=ABOVE))
    return figures


def classes_of(task: Task) -> dict[str, list[Class]]:
    """Return the classes of each language; a language without its data is told."""
    found = {"java": _java(task.folder / "conplag"), "cpp": _cpp(task.folder / "vkcup15_sample"), "python": _python()}
    for language, classes in found.items():
        if not classes:
            task.remarks[f"no programs in {language} in the data given"] += 1
    return {language: classes for language, classes in found.items() if classes}


def _largest(language: str, by_problem: dict[str, dict[str, str]]) -> list[Class]:
    chosen = sorted(by_problem.items(), key=lambda item: (-len(item[1]), item[0]))[:PROBLEMS]
    return [Class(language, dict(sorted(programs.items())[:PROGRAMS])) for _, programs in chosen]


def _java(folder: Path) -> list[Class]:
    """Submissions to the largest problems of ConPlag as they were handed in, one of each group of copies."""
    task = Task(folder, None)  # type: ignore[arg-type]
    labelled = [row for row in rows(task.pairs) if row["kind"] == "raw"]
    leader: dict[str, str] = {}

    def lead(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for row in labelled:
        a, b = (lead(Path(row[side]).stem) for side in "ab")
        if row["label"] == "1":
            leader[a] = b
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in labelled:
        for side in "ab":
            name = Path(row[side]).stem
            if lead(name) == name:
                found[row["group"]][name] = task.archive.read(row[side]).decode("utf-8", "replace")
    return _largest("java", found)


def _cpp(folder: Path) -> list[Class]:
    """C++ programs of the largest tests of VK Cup, one of each group of copies."""
    if not (folder / "files.zip").is_file():
        return []
    task = Task(folder, None)  # type: ignore[arg-type]
    found: dict[str, dict[str, str]] = defaultdict(dict)
    taken = set()
    for row in rows(task.clusters):
        if row["doc"].endswith(".cpp") and (row["group"], row["cluster"]) not in taken:
            taken.add((row["group"], row["cluster"]))
            text = task.archive.read(row["doc"]).decode("utf-8", "replace")
            found[row["group"]][Path(row["doc"]).stem] = text
    return _largest("cpp", found)


def _python() -> list[Class]:
    """The class of the benchmark, without its known copies: functions of Python's library, bundled by chance."""
    folder, gold = cache() / "class300", cache() / "class300.gold.json"
    if not (folder.is_dir() and gold.is_file()):
        return []
    copies = {Path(name).stem for pair in json.loads(gold.read_text("utf-8")) for name in pair[:2]}
    names = sorted(path for path in folder.glob("*.py") if path.stem not in copies)
    size = PROGRAMS * 2
    return [
        Class("python", {path.stem: path.read_text("utf-8") for path in names[start : start + size]})
        for start in range(0, min(len(names), 2 * size), size)
    ]


def laid_out(language: str, classes: list[Class], found: dict[str, dict[str, Found]]) -> str:
    """Lay out one language as a table: a line an attack."""
    tools = list(dict.fromkeys(tool for of_attack in found.values() for tool in of_attack))
    programs = sum(len(class_.programs) for class_ in classes)
    lines = [
        f"**{language}**: {programs} programs of {len(classes)} problems.",
        "",
        f"| attack | n | {' | '.join(tools)} |",
        f"|---|---|{'---|' * len(tools)}",
    ]
    for attack in rewriter().ATTACKS:
        of_attack = found.get(attack)
        if not of_attack:
            lines.append(f"| {attack} | 0 |{' |' * len(tools)}")
            continue
        cells = [cell(of_attack[tool]) if tool in of_attack else "" for tool in tools]
        lines.append(f"| {attack} | {len(of_attack['lookalike'].scores)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(found: Found) -> str:
    return f"{found.median:.2f} · {found.share_first:.0%}"
