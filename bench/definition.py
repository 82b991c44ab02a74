"""Rows as data: what is measured on which text, the answer it must give, and what is wanted of its speed."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.outcome import Answer

FOLDER = Path(__file__).parent / "definitions"


@dataclass(frozen=True)
class Definition:
    """One row of the benchmark, as its file states it."""

    name: str
    #: Which function measures it: a name of `bench.runner.WORKS`.
    work: str
    corpus: str = ""
    #: Size of the text in MiB, and that with --quick.
    mib: float = 0
    quick_mib: float = 0.25
    #: Documents are handed over as `str` or as `bytes`.
    form: str = "str"
    #: Parameters of the fingerprints.
    select: dict[str, Any] = field(default_factory=dict)
    #: What only this row's work needs.
    options: dict[str, Any] = field(default_factory=dict)
    #: Names of rows: this row's MB/s is told as a multiple of theirs.
    against: tuple[str, ...] = ()
    #: Rows by the name of a figure: this row's is told as a multiple of theirs, as `FIGURE of ROW`.
    relative: dict[str, str] = field(default_factory=dict)
    #: What is wanted of figures, by name: a row of `against`, or a figure the work itself reports.
    at_least: dict[str, float] = field(default_factory=dict)
    at_most: dict[str, float] = field(default_factory=dict)
    #: The right answer by size, `full` and `quick`.
    expect: dict[str, Answer] = field(default_factory=dict)
    #: The file it stands in.
    file: Path = Path()


def load(folder: Path) -> dict[str, Definition]:
    """Read all rows, in the order of the files. Errors: a name given twice, a reference to no row."""
    rows: dict[str, Definition] = {}
    for file in sorted(folder.glob("*.toml")):
        for table in tomllib.loads(file.read_text("utf-8"))["row"]:
            row = parse(table, file)
            if row.name in rows:
                raise ValueError(f"row `{row.name}` of `{file.name}` exists already: give it another name")
            rows[row.name] = row
    for row in rows.values():
        check_references(row, rows)
    return rows


def parse(table: dict[str, Any], file: Path) -> Definition:
    expect = {size: Answer(**answer) for size, answer in table.pop("expect", {}).items()}
    return Definition(**table | {"against": tuple(table.get("against", ())), "expect": expect, "file": file})


def check_references(row: Definition, rows: dict[str, Definition]) -> None:
    for name in (*row.against, *row.relative.values()):
        if name not in rows:
            raise ValueError(f"row `{row.name}` is measured against `{name}`, which is no row: use the name of one")


def with_references(names: list[str], rows: dict[str, Definition]) -> list[Definition]:
    """The rows named, each after those it is measured against."""
    ordered: dict[str, Definition] = {}

    def visit(name: str) -> None:
        if name not in ordered:
            for reference in (*rows[name].against, *rows[name].relative.values()):
                visit(reference)
            ordered[name] = rows[name]

    for name in names:
        visit(name)
    return list(ordered.values())


def bless(row: Definition, size: str, answer: Answer) -> None:
    """Write an answer into the row's file, where its `expect` line stands."""
    line = rf'(name = "{re.escape(row.name)}"\n(?:(?!\[\[row\]\]).*\n)*?expect\.{size} = ).*'
    stated = f'{{ count = {answer.count}, digest = "{answer.digest}" }}'
    text, changed = re.subn(line, lambda found: found[1] + stated, row.file.read_text("utf-8"))
    if not changed:
        raise ValueError(f"row `{row.name}` of `{row.file.name}` has no line `expect.{size}`: add one")
    row.file.write_text(text, "utf-8")
