"""The whole job of `lookalike dedup`, from a file to a file, as a user runs it: a command, by default on one core.

CPU seconds of the command, start-up included, and its peak of memory. The answer is what it wrote of clusters and
pairs. Independent of it, every pair and every member of a cluster is measured exactly, and the documents that have a
partner are found by the exact join of `bench.truth`.
"""

from __future__ import annotations

import csv
import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import duplicates, jobs, measure, rivals, sketches, truth
from bench.definition import Definition
from bench.measure import Effort, Times
from bench.outcome import Answer, Outcome, SkippedError
from bench.truth import Pairs, Verdict
from bench.works import Run
from lookalike import params

THRESHOLD: float = params.DEDUPLICATION["threshold"].default
#: What the rivals' corpus and the larger one of the same documents are called in $BENCH_CACHE.
SHARED, BASE, LARGE = "neardup100k", "base.jsonl", "neardup500k.jsonl"


@dataclass
class Written:
    """What the command took and left."""

    times: Times
    peak: int
    edges: list[dict[str, str]]
    clusters: list[dict[str, str]]
    #: CPU seconds of each thread in the best repetition, the first thread first.
    threads: list[float]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Edges by number."""
        return [(int(edge["left"]), int(edge["right"])) for edge in self.edges]

    @property
    def leaders(self) -> dict[int, int]:
        """The representative of each row that is in a cluster."""
        return {int(row["id"]): int(row["representative"]) for row in self.clusters}


def dedup(row: Definition, run: Run) -> Outcome:
    """Deduplicate a generated corpus."""
    file = duplicates.file(sketches.count_of(row, run), row.options["format"])
    texts = duplicates.read(file)
    return judged(row, repeated(file, run.effort), file.stat().st_size, texts, truth.join(texts, THRESHOLD))


def repeated(file: Path, effort: Effort, threads: int = 1, more: Sequence[str] = ()) -> Written:
    """Repeat the command, after a first time that leaves byte code behind, as an installation does."""
    times, peak, spent = Times(), 0, []
    with tempfile.TemporaryDirectory() as scratch:
        out = [Path(scratch) / name for name in (f"clean{file.suffix}", "clusters.csv", "pairs.csv")]
        order = ["dedup", str(file), "-o", str(out[0]), "--clusters", str(out[1]), "--pairs", str(out[2])]
        order += ["--threads", str(threads), "--overwrite", *more]
        if effort.most > 1:
            jobs.launched(order)
        while not (times.cpu and times.is_enough(effort)):
            used = jobs.launched(order, sample=True)
            times += Times([used["cpu"]], [used["wall"]])
            peak = max(peak, used["peak"])
            spent.append(used["threads"])
        clusters, edges = (jobs.ranked(one) for one in out[1:])
    return Written(times, peak, edges, clusters, min(spent, key=lambda threads: max(threads, default=0.0)))


def judged(row: Definition, done: Written, size: int, texts: Sequence[str], known: Pairs) -> Outcome:
    """Hold what was written against the truth; what may not be is a fault, whatever the digest says."""
    verdict = truth.judge(texts, known, done.pairs, done.leaders, THRESHOLD)
    figures = {"peak MB": done.peak / 1e6, "document recall": verdict.document_recall, "precision": verdict.precision}
    answer = answer_of(done)
    return Outcome(done.times, size, answer, figures, fault_of(verdict, row.options["floor"]), is_job=True)


def answer_of(done: Written) -> Answer:
    """Return what was written, without the columns that name files: they depend on the machine."""
    rows = (*done.clusters, *done.edges)
    return jobs.answer_of([{name: one[name] for name in one if not name.endswith("source")} for one in rows])


def fault_of(verdict: Verdict, floor: float) -> str:
    if verdict.low_edges or verdict.low_members:
        return f"{verdict.low_edges} edges and {verdict.low_members} members are below the threshold: none may be"
    share = verdict.document_recall
    return f"{share:.4f} of the documents with a partner are found: at least {floor} must" if share < floor else ""


def shared_dedup(row: Definition, run: Run) -> Outcome:
    """Deduplicate the rivals' corpus; MB/s count the bytes of its JSON Lines in either format, as for all of them."""
    rivals.script(run, "dedup.py")
    lines = shared_file("jsonl")
    file = shared_file(row.options["format"])
    texts = duplicates.read(lines)
    sha256 = sketches.digest(texts)
    done = repeated(file, effort_of(row))
    outcome = judged(row, done, lines.stat().st_size, texts, shared_truth(texts, sha256))
    if sha256 != row.options["sha256"]:
        outcome.answer = None
    return outcome


def shared_file(ending: str) -> Path:
    found = rivals.cache() / f"{SHARED}.{ending}"
    if not found.exists():
        raise SkippedError(f"`{found.name}` is not in $BENCH_CACHE; the rivals' own script makes it")
    return found


def effort_of(row: Definition) -> Effort:
    """A whole corpus is repeated as often as its row says: seconds each time."""
    times = row.options["repeats"]
    return Effort(0, times, times)


def shared_truth(texts: Sequence[str], sha256: str) -> Pairs:
    """The exact pairs of the rivals' corpus in our own tokens: kept beside it, since finding them takes a minute."""
    code = hashlib.sha256(Path(truth.__file__).read_bytes()).hexdigest()
    place = rivals.cache() / f"{SHARED}.words{truth.SHINGLE}-{THRESHOLD}-{sha256[:8]}-{code[:8]}.csv"
    if not place.exists():
        partial = place.with_suffix(".partial")
        with partial.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows((*pair, score) for pair, score in truth.join(texts, THRESHOLD).items())
        partial.replace(place)
    with place.open(encoding="utf-8", newline="") as table:
        return {(int(left), int(right)): float(score) for left, right, score in csv.reader(table)}


def rival_dedup(row: Definition, run: Run) -> Outcome:
    """Run one implementation of the rivals' whole job; recall and precision are their own script's."""
    program = rivals.script(run, "dedup.py")
    size = shared_file("jsonl").stat().st_size
    found = rivals.figures_of(rivals.called(program, "--impl", row.options["impl"], "--reps", row.options["repeats"]))
    figures = {"peak MB": found["peak_rss_mb"], "their recall": found["doc_recall"]}
    figures["their precision"] = found["doc_prec"]
    return Outcome(rivals.times_of(found), size, None, figures, is_job=True)


def dedup_growth(row: Definition, run: Run) -> Outcome:
    """Deduplicate a generated corpus and one of a fifth of it; `corpus growth` is the factor of CPU time."""
    count = sketches.count_of(row, run)
    small, large = (duplicates.file(number, row.options["format"]) for number in (count // 5, count))
    return grown(small, large, run.effort)


def grown(small: Path, large: Path, effort: Effort) -> Outcome:
    before, after = repeated(small, effort), repeated(large, effort)
    figures = {"peak MB": after.peak / 1e6, "corpus growth": after.times.best / before.times.best}
    answer = answer_of(after)
    return Outcome(after.times, large.stat().st_size, answer, figures, is_job=True)


def shared_growth(row: Definition, run: Run) -> Outcome:
    """Deduplicate five times as many documents, made from those of the rivals by more edits."""
    rivals.script(run, "dedup.py")
    base, large = rivals.cache() / BASE, rivals.cache() / LARGE
    if not base.exists():
        raise SkippedError(f"`{BASE}` is not in $BENCH_CACHE; the rivals' own script makes it")
    if not large.exists():
        duplicates.write(duplicates.enlarged(base, row.options["documents"]), large)
    outcome = grown(shared_file("jsonl"), large, effort_of(row))
    with large.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != row.options["sha256"]:
            outcome.answer = None
    return outcome


def dedup_threads(row: Definition, run: Run) -> Outcome:
    """Compare the busiest thread of one with the busiest of two; both must give the same answer."""
    if len(measure.USABLE) < 2:
        raise SkippedError("two cores are needed, and this process may use one")
    file = duplicates.file(sketches.count_of(row, run), row.options["format"])
    alone = repeated(file, run.effort)
    if not alone.threads:
        raise SkippedError("the CPU time of a thread is read from /proc, which this system does not have")
    with measure.pinned(measure.USABLE[:2]):
        both = repeated(file, run.effort, threads=2)
    figures = balance(alone.threads, both.threads)
    answer, other = (answer_of(one) for one in (alone, both))
    fault = "" if answer == other else "another answer with 2 threads than with one"
    return Outcome(alone.times, file.stat().st_size, answer, figures, fault, is_job=True)


def balance(alone: Sequence[float], both: Sequence[float]) -> dict[str, float]:
    """Tell what two threads win: of the busiest, and of the way through the first thread and the busiest other."""
    first, *others = both
    return {"balance": max(alone) / max(both), "way": sum(alone) / (first + max(others, default=0.0))}
