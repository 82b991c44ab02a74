"""What an experiment found: plain data that is printed, drawn and written as JSON, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lookalike._core import TEXT_VERSION, __version__


@dataclass(frozen=True)
class Paper:
    """Where an experiment comes from."""

    title: str
    doi: str


WINNOWING = Paper(
    "Schleimer, Wilkerson, Aiken 2003, Winnowing: Local Algorithms for Document Fingerprinting",
    "10.1145/872757.872770",
)
RESEMBLANCE = Paper("Broder 1997, On the Resemblance and Containment of Documents", "10.1109/SEQUEN.1997.666900")
FILTERING = Paper("Broder 2000, Identifying and Filtering Near-Duplicate Documents", "10.1007/3-540-45123-4_1")
CRAWLING = Paper("Manku, Jain, Das Sarma 2007, Detecting Near-Duplicates for Web Crawling", "10.1145/1242572.1242592")

Cell = str | float | None


@dataclass(frozen=True)
class Claim:
    """One figure of the paper beside ours."""

    name: str
    #: None where the paper prints no figure, or where its figures were taken out.
    paper: float | None
    ours: float
    unit: str = ""
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.paper is None else self.ours - self.paper


@dataclass(frozen=True)
class Table:
    """A small table for people; every row has one cell a column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Outcome:
    """Everything an experiment has to say. The same corpus, seed and versions give the same JSON, byte for byte."""

    name: str
    title: str
    #: The sections of the paper it repeats.
    sections: str
    parameters: Mapping[str, Any]
    corpus: Mapping[str, Any]
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    #: What the plot draws, as columns by name, for whoever wants to draw it anew.
    series: Mapping[str, Mapping[str, Any]] = field(repr=False)
    folder: Path = Path()
    paper: Paper = WINNOWING
    #: Text files for a person to work on, by name; they are written beside the JSON and are no part of it.
    sheets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def citation(self) -> str:
        """The paper and its sections."""
        return f"{self.paper.title}, {self.sections}, doi:{self.paper.doi}"

    @property
    def figure(self) -> Path:
        """The plot as PNG; an SVG of the same name lies beside it."""
        return self.folder / f"{self.name}.png"

    @property
    def data(self) -> Path:
        """Everything as JSON."""
        return self.folder / f"{self.name}.json"

    def in_folder(self, folder: Path) -> Outcome:
        """Say where the files belong."""
        return replace(self, folder=folder)

    def to_json(self) -> str:
        """Return all but the folder as JSON: no clock, no host and no path outside the corpus."""
        tree = {
            "name": self.name,
            "title": self.title,
            "citation": self.citation,
            "versions": {"lookalike": __version__, "text": TEXT_VERSION},
            "parameters": self.parameters,
            "corpus": self.corpus,
            "claims": [vars(claim) | {"difference": claim.difference} for claim in self.claims],
            "tables": [vars(table) for table in self.tables],
            "notes": self.notes,
            "series": self.series,
        }
        # Numpy's numbers and columns know how to become Python's.
        return json.dumps(tree, indent=1, allow_nan=False, default=lambda value: value.tolist()) + "\n"
