"""A labelled data set at hand: its labels, its documents, and what `lookalike.compare` says of cohorts of them."""

from __future__ import annotations

import csv
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import lookalike as la
from lookalike.comparison.result import Pair, Report
from quality.definitions import differences
from quality.figure import Figure
from quality.intervals import Row, average_precision, interval
from quality.listing import EVERYTHING, listed
from quality.metrics import Metrics

Pairs = dict[tuple[str, str], float]
#: Scores at which the tables of cut-offs tell precision and recall.
CUT_OFFS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
#: Why a document was not compared.
LONE = "alone in its cohort"


@dataclass(frozen=True)
class Compared:
    """A report whose submissions are documents of the set."""

    report: Report
    #: Name in the archive of each entry.
    documents: list[str]

    def names(self, pair: Pair) -> tuple[str, str]:
        """Return the two documents of a pair."""
        return self.documents[pair.left], self.documents[pair.right]

    @property
    def scores(self) -> Pairs:
        """Score of each pair that has something in common."""
        return {self.names(pair): pair.score for pair in self.report.pairs}


@dataclass
class Task:
    """A data set's folder: `files.zip` and labels."""

    folder: Path
    metrics: Metrics
    #: Folder where other tools are installed, if they take part.
    rivals: Path | None = None
    #: Markdown a set wants to tell beyond its figures.
    details: list[str] = field(default_factory=list)
    #: Documents, pairs with something in common and passages so far.
    counts: Counter[str] = field(default_factory=Counter)
    #: Why documents were skipped or have no score, and how many.
    remarks: Counter[str] = field(default_factory=Counter)

    @cached_property
    def archive(self) -> zipfile.ZipFile:
        """The documents."""
        return zipfile.ZipFile(self.folder / "files.zip")

    @property
    def documents(self) -> list[str]:
        """Names of all documents."""
        return sorted(name for name in self.archive.namelist() if not name.endswith("/"))

    @property
    def pairs(self) -> Path:
        """Labels of pairs."""
        return self.folder / "pairs.csv"

    @property
    def clusters(self) -> Path:
        """Labels of documents."""
        return self.folder / "clusters.csv"

    def compare(self, documents: Collection[str], old: Collection[str] = ()) -> Compared:
        """Compare documents as one cohort, with the default settings; every pair is kept, whatever its score."""
        with self._unpacked(documents) as new, self._unpacked(old) as earlier:
            total = len(documents) + len(old)
            report = la.compare(
                new.folder, old=earlier.folder if old else (), layout="flat", min_score=0, max_pairs=total * total
            )
        self.counts.update(documents=len(report.entries), pairs=len(report.pairs))
        self.counts["passages"] += sum(len(pair.passages) for pair in report.pairs)
        self.remarks.update(remark.reason for remark in (*report.skipped, *report.undefined))
        names = [(earlier if entry.old else new).documents[entry.name] for entry in report.entries]
        return Compared(report, names)

    def unlike_the_definition(self, cohorts: Iterable[Collection[str]]) -> Figure:
        """Compare cohorts by the product and by its slow definition; the pairs that differ."""
        differing = sum(differences(self.compare(names).report) for names in cohorts)
        return Figure("pairs unlike the definition", differing, at_most=0)

    def cohorts(self, cohort_of: Callable[[str], str], documents: Collection[str] | None = None) -> list[list[str]]:
        """Return the documents of each cohort of two or more; a lone document has nothing to be compared with."""
        cohorts = defaultdict(list)
        for name in self.documents if documents is None else documents:
            cohorts[cohort_of(name)].append(name)
        alone = sum(len(names) == 1 for names in cohorts.values())
        if alone:
            self.remarks[LONE] = alone
        return [names for _, names in sorted(cohorts.items()) if len(names) > 1]

    def compare_by(self, cohort_of: Callable[[str], str]) -> Pairs:
        """Compare the documents of each cohort apart; the scores of all."""
        return {pair: score for names in self.cohorts(cohort_of) for pair, score in self.compare(names).scores.items()}

    def listed_by(
        self, cohort_of: Callable[[str], str], documents: Collection[str] | None = None, options: Sequence[str] = ()
    ) -> Pairs:
        """Run the command with its defaults on each cohort apart; pairs that it does not list have no score."""
        found = {}
        for names in self.cohorts(cohort_of, documents):
            with self._unpacked(names) as class_:
                for left, right, pair in listed(class_.folder, options):
                    found[class_.documents[left], class_.documents[right]] = pair["score"]
        return found

    def as_listed(self, labels: Path, wanted: Listed, scores: Pairs, everything: Pairs) -> Figure:
        """Average precision of what the command lists, with its interval; a table of other cut-offs in the details."""
        kind, group = wanted.kind, wanted.group
        rows = self.metrics.rows(labels, scores, wanted.problem_of, kind, group)
        found = self.average_precision(labels, scores, wanted.at_least, kind=kind, group=group)
        every = self.metrics.rows(labels, everything, wanted.problem_of, kind, group)
        is_implicit = self.metrics.judge(labels, scores, kind=kind, group=group).base_rate is None
        table = cut_offs([row for of_problem in every.values() for row in of_problem], None if is_implicit else 0.0)
        self.details.append(f"{' '.join(filter(None, ('Cut-offs', kind or group)))}, a class per problem:\n\n{table}")
        return replace(found, measure=f"{found.measure}, as listed", interval=interval(rows))

    def listed_figures(self, labels: Path, cohort_of: Callable[[str], str], *wanted: Listed) -> list[Figure]:
        """Run the command on each cohort, with its defaults and with every pair; a figure for each thing wanted."""
        scores, everything = self.listed_by(cohort_of), self.listed_by(cohort_of, options=EVERYTHING)
        return [self.as_listed(labels, one, scores, everything) for one in wanted]

    @contextmanager
    def _unpacked(self, documents: Collection[str]) -> Iterator[_Unpacked]:
        """Lay documents side by side in a folder of their own, for as long as they are compared."""
        with tempfile.TemporaryDirectory() as folder:
            flat = {name.replace("/", "__"): name for name in documents}
            if len(flat) < len(documents):
                raise ValueError(f"names in `{self.folder.name}` are not distinct once laid flat: rename documents")
            for file, name in flat.items():
                (Path(folder) / file).write_bytes(self.archive.read(name))
            yield _Unpacked(folder, flat)

    def summary(self) -> list[str]:
        """Say how much was compared, and what was not."""
        counted = ", ".join(f"{count:,} {what}" for what, count in self.counts.items())
        left_out = [f"{count} × {reason}" for reason, count in sorted(self.remarks.items())]
        told = {"": counted, "Left out: ": "; ".join(left_out)}
        return [f"{before}{what}." for before, what in told.items() if what]

    def average_precision(
        self,
        labels: Path,
        scores: Pairs,
        at_least: float | None = None,
        *,
        kind: str | None = None,
        group: str | None = None,
    ) -> Figure:
        """Average precision of scores, for a kind or group if given."""
        found = self.metrics.judge(labels, scores, kind=kind, group=group)
        return Figure(" ".join(filter(None, ("AP", kind or group))), found.average_precision, at_least)

    def judged(self, scores: Pairs) -> float:
        """Average precision of scores against the labels of documents."""
        return self.metrics.judge(self.clusters, scores).average_precision

    def mean_by_kind(self, scores: Pairs) -> dict[str, float]:
        """Mean score of the labelled pairs of each kind, and a table of it in the details."""
        by_kind = defaultdict(list)
        for row in rows(self.pairs):
            pair = row["a"], row["b"]
            by_kind[row["kind"]].append(scores.get(pair, scores.get(pair[::-1], 0.0)))
        lines = ["| kind | pairs | mean score | lowest | highest |", "|---|---|---|---|---|"]
        for kind, of_kind in sorted(by_kind.items()):
            mean = sum(of_kind) / len(of_kind)
            lines.append(f"| {kind} | {len(of_kind)} | {mean:.3f} | {min(of_kind):.3f} | {max(of_kind):.3f} |")
        self.details.append("\n".join(lines))
        return {kind: sum(of_kind) / len(of_kind) for kind, of_kind in by_kind.items()}


@dataclass(frozen=True)
class _Unpacked:
    folder: str
    #: Name in the archive by file name.
    documents: dict[str, str]


@dataclass(frozen=True)
class Listed:
    """What is asked of the pairs that the command lists: a kind or group of labels, and the problem of a document."""

    problem_of: Callable[[str], str]
    kind: str | None = None
    group: str | None = None
    at_least: float | None = None


def cut_offs(rows: Sequence[Row], unlisted: float | None) -> str:
    """Lay out what a teacher sees at each cut-off; `unlisted` is the score of pairs below it in the metrics."""
    positives = sum(label for _, label in rows)
    lines = ["| cut-off | pairs listed | precision | recall | AP |", "|---|---|---|---|---|"]
    for cut_off in CUT_OFFS:
        labels = [label for score, label in rows if score and score >= cut_off]
        kept = [(score, label) if score and score >= cut_off else (unlisted, label) for score, label in rows]
        precision = f"{sum(labels) / len(labels):.3f}" if labels else ""
        value = average_precision(kept)[0]
        recall = sum(labels) / max(1, positives)
        lines.append(f"| {cut_off:g} | {len(labels)} | {precision} | {recall:.3f} | {value:.3f} |")
    return "\n".join(lines)


def rows(file: Path) -> list[dict[str, str]]:
    """Rows of a CSV file with a header."""
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def top_folder(name: str) -> str:
    """Return the first folder of a document's name."""
    return name.split("/")[0]
