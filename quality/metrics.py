"""The metrics of others, taken from their folder at run time: what is scored here is scored as everybody scores it."""

from __future__ import annotations

import csv
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from quality.intervals import Row

PAIRS, SPANS, CLUSTERS = "eval_pairs.py", "eval_spans.py", "eval_clusters.py"
Scores = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Judgement:
    """Scored pairs against labels."""

    average_precision: float
    #: F at the threshold that is best for it.
    best_f: float
    precision: float
    recall: float
    threshold: float | None
    positives: int
    #: Share of positives among the labelled pairs, the average precision of blind guesses; None without negatives.
    base_rate: float | None


@dataclass(frozen=True)
class Alignment:
    """Detected passages against true ones, as PAN measures them."""

    pairs: int
    passages: int
    detected: int
    plagdet: float
    recall: float
    precision: float
    granularity: float


class Metrics:
    """The scripts of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pairs: Any = _module(folder / PAIRS)

    def judge(
        self, labels: Path, scores: Scores, *, kind: str | None = None, group: str | None = None, beta: float = 1.0
    ) -> Judgement:
        """Judge scored pairs; `kind` and `group` select labels as the script does."""
        truth, is_implicit, _ = self._pairs.load_labels(str(labels), kind, group)
        keyed = {self._pairs.key(*pair): score for pair, score in scores.items()}
        rows = self._pairs.scored(truth, is_implicit, keyed, group)
        positives = sum(truth.values())
        best_f, precision, recall, threshold = self._pairs.best(rows, positives, beta)
        return Judgement(
            self._pairs.average_precision(rows, positives),
            best_f,
            precision,
            recall,
            threshold,
            positives,
            None if is_implicit else positives / len(truth),
        )

    def rows(
        self, labels: Path, scores: Scores, problem_of: Callable[[str], str], kind: str | None, group: str | None
    ) -> dict[str, list[Row]]:
        """Return the scored pairs as the script judges them, by the problem of their first document."""
        truth, is_implicit, _ = self._pairs.load_labels(str(labels), kind, group)
        keyed = {self._pairs.key(*pair): score for pair, score in scores.items()}
        parts: dict[str, tuple[dict[Any, int], dict[Any, float]]] = defaultdict(lambda: ({}, {}))
        for pair, label in truth.items():
            parts[problem_of(pair[0])][0][pair] = label
        for pair, score in keyed.items():
            parts[problem_of(pair[0])][1][pair] = score
        return {name: self._pairs.scored(known, is_implicit, found, group) for name, (known, found) in parts.items()}

    def rand_index(self, labels: Path, clusters: Mapping[str, object]) -> float:
        """Adjusted Rand index of a clustering, by document, against labels."""
        with labels.open(newline="", encoding="utf-8") as lines:
            known = {row["doc"]: row["cluster"] for row in csv.DictReader(lines)}
        found = {document: ("found", clusters[document]) for document in known if document in clusters}
        alone = {document: ("alone", document) for document in known if document not in clusters}
        script: Any = _module(self.folder / CLUSTERS)
        index: float = script.ari(known, found | alone)[0]
        return index

    def align(
        self, labels: Path, detections: Iterable[tuple[object, ...]], kinds: Iterable[str]
    ) -> dict[str, Alignment]:
        """Judge detected passages, for each kind of copy or all ("").

        A row has a, b, and offset and length on both sides.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "detections.csv"
            with file.open("w", newline="", encoding="utf-8") as out:
                csv.writer(out).writerows(detections)
            return {kind: self._align(labels, file, kind) for kind in kinds}

    def _align(self, labels: Path, detections: Path, kind: str) -> Alignment:
        inputs = [labels / "spans.csv", labels / "pairs.csv", detections]
        command = [sys.executable, *map(str, [self.folder / SPANS, *inputs]), *(["--kind", kind] if kind else [])]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return Alignment(
            *(int(_told("pairs|true passages|detected", told)[i]) for i in range(3)),
            *(float(_told("plagdet|recall|precision|granularity", told)[i]) for i in range(4)),
        )


def _told(names: str, text: str) -> list[str]:
    """Numbers behind the names, in order of appearance."""
    return re.findall(rf"\b(?:{names}) ([\d.]+)", text)


def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"quality_{file.stem}", file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise FileNotFoundError(
            f"no metrics at `{file}`: give the folder that holds {PAIRS}, {SPANS} and {CLUSTERS} as EVAL=DIR"
        )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
