"""The archive: what an ingest costs and takes on disk, how fast questions are answered, beside what people use instead.

Documents are those of `bench.stored_texts`. The answer is which document `seen` names for each question. Independent
of it, what is named must resemble the question, and nothing may be named for a new text. Times are CPU times on one
core; the questions of a row are asked one by one.
"""

from __future__ import annotations

import hashlib
import resource
import shutil
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import lookalike as la
from bench import archive_rivals, measure, stored_texts
from bench.definition import Definition
from bench.measure import Times
from bench.outcome import Answer, Outcome, SkippedError
from bench.works import Run

#: Rows above this many documents take many minutes, so they are run when asked for by name.
LARGE = 200_000
#: Texts whose parts are timed one after the other: the same share of a large corpus.
SAMPLE = 20_000
#: Bytes in the unit of `ru_maxrss`.
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


def counts(row: Definition, run: Run) -> tuple[int, int, int]:
    """Documents, questions, and bytes of a document. Errors: too many for a run in which nobody asked for the row."""
    prefix = "quick_" if run.quick else ""
    documents, questions = (row.options[f"{prefix}{name}"] for name in ("documents", "questions"))
    if documents > LARGE and not run.is_named:
        raise SkippedError(f"{documents:,} documents take many minutes; name the row with --only")
    return documents, questions, row.options["bytes"]


def named(texts: Iterator[str], first: int = 0) -> Iterator[tuple[str, str]]:
    """Give each text its number as its id."""
    return ((str(number), text) for number, text in enumerate(texts, start=first))


@contextmanager
def room() -> Iterator[Path]:
    """A folder for an index, which is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="lookalike-archive-") as folder:
        yield Path(folder)


def cpu_of(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def parts_of(texts: list[str]) -> float:
    """CPU seconds of fingerprinting, sketching, simhashing and compressing texts, one after the other."""
    works: list[Callable[[], Any]] = [
        lambda: la.fingerprint_batch(texts, k=50, t=149, threads=1),
        lambda: la.sketch_batch(texts, threads=1),
        lambda: la.simhash_batch(texts, threads=1),
        lambda: [zlib.compress(text.encode(), 1) for text in texts],
    ]
    return sum(map(cpu_of, works))


def archive(row: Definition, run: Run) -> Outcome:
    """Add documents in ten batches, open the index, and ask."""
    documents, asked, size = counts(row, run)
    sample = list(stored_texts.documents(min(documents, SAMPLE), size))
    parts = parts_of(sample) / sum(map(len, sample))
    questions = list(stored_texts.questions(documents, asked, size))
    with room() as folder:
        path = folder / "index"
        spent, total = ingest(path, documents, size)
        figures = {"of the parts": sum(spent) / (parts * total), "last tenth of the first": spent[-1] / spent[0]}
        figures |= space(path, total)
        figures["open ms"] = min(cpu_of(lambda: la.Index(path).close()) for _ in range(3)) * 1e3
        with la.Index(path) as index:
            found, each = ask(index, questions)
            figures |= {"seen p50 µs": each[len(each) // 2] * 1e6, "seen p99 µs": each[len(each) * 99 // 100] * 1e6}
            every = sorted(cpu_of(lambda: index.query(text)) for text in questions[: max(1, asked // 4)])  # noqa: B023
            figures |= {
                "query p50 ms": every[len(every) // 2] * 1e3,
                "query p99 ms": every[len(every) * 99 // 100] * 1e3,
            }
    fault = missed(found, documents, questions, size)
    return Outcome(Times(spent, spent), total // 10, answer_of(found), figures, fault)


def ingest(path: Path, documents: int, size: int) -> tuple[list[float], int]:
    """Fill a new index; CPU seconds of each tenth, texts not counted, and bytes of all texts."""
    spent, total = [], 0
    texts = stored_texts.documents(documents, size)
    with la.Index.create(path, kind="corpus") as index:
        for first in range(0, documents, max(1, documents // 10)):
            batch = list(islice(named(texts, first), max(1, documents // 10)))
            total += sum(len(text) for _, text in batch)
            spent.append(cpu_of(lambda: index.add(batch, threads=1)))  # noqa: B023
    return spent, total


def space(path: Path, total: int) -> dict[str, float]:
    """Bytes of each kind of key on disk, and of the whole folder as a share of the texts."""
    from lookalike import _core

    rows, taken = dict[str, int](), dict[str, int]()
    for file in path.glob("seg-*.lat"):
        for name, count, size in _core.Segment.open(str(file)).sizes():
            rows[name], taken[name] = rows.get(name, 0) + count, taken.get(name, 0) + size
    whole = sum(file.stat().st_size for file in path.iterdir())
    found = {f"bytes a {one}": taken[many] / rows[many] for one, many in KINDS.items() if rows.get(many)}
    return found | {"postings of the text": taken.get("postings", 0) / total, "folder of the text": whole / total}


#: Questions that an index of passages need not answer.
LEFT_OUT = ("resemblance", "containment", "distance")
#: Tables whose bytes a row are told.
KINDS = {
    "posting": "postings",
    "feature": "features",
    "sketch": "sketches",
    "simhash": "simhashes",
    "sample": "samples",
}


def ask(index: Any, questions: Sequence[str]) -> tuple[list[str | None], list[float]]:
    """Ask whether each text was seen; the nearest document where it was, and CPU seconds in ascending order."""
    found, each = [], []
    # The first question loads what all others use.
    index.seen(questions[0])
    for text in questions:
        start = time.process_time()
        answer = index.seen(text)
        each.append(time.process_time() - start)
        found.append(answer.nearest.id if answer.is_seen else None)
    return found, sorted(each)


def missed(found: Sequence[str | None], documents: int, questions: Sequence[str], size: int) -> str:
    """Check that what is named for an edit resembles it, and that nothing is named for a new text."""
    threshold = la.params.DEDUPLICATION["threshold"].default if hasattr(la, "params") else 0.8
    for number, (name, text) in enumerate(zip(found, questions, strict=True)):
        if number % 2 and name is not None:
            return f"question {number} is new, and document {name} is named for it"
        if name is not None and (la.resemblance(stored_texts.document(int(name), size), text) or 0) < threshold:
            return f"document {name} is named for question {number} and resembles it too little"
    return ""


def answer_of(found: Sequence[str | None]) -> Answer:
    told = "\n".join("" if name is None else name for name in found)
    return Answer(sum(name is not None for name in found), hashlib.sha256(told.encode()).hexdigest()[:16])


def rival_seen(row: Definition, run: Run) -> Outcome:
    """Ask datasketch over Redis the same questions; the sketch of a question counts, as it does for ours."""
    if run.rivals is None or run.quick:
        raise SkippedError("no folder of rivals was given; use make bench RIVALS=DIR")
    documents, asked, size = counts(row, run)
    texts, questions = (
        list(stored_texts.documents(documents, size)),
        list(stored_texts.questions(documents, asked, size)),
    )
    try:
        done = archive_rivals.seen_by_datasketch(texts, questions, row.options["threshold"])
    except LookupError as reason:
        raise SkippedError(str(reason)) from reason
    spent = done["ask"] + done["sketch"]
    recall = statistics.mean(bool(found) for found in done["found"][::2])
    figures = {"queries/s": asked / spent, "recall": recall, "build s": done["build"]}
    return Outcome(Times([spent], [spent]), sum(map(len, questions)), None, figures)


def seen(row: Definition, run: Run) -> Outcome:
    """Ask an index of as many documents, as many questions in one call."""
    documents, asked, size = counts(row, run)
    questions = list(stored_texts.questions(documents, asked, size))
    with room() as folder:
        ingest(folder / "index", documents, size)
        with la.Index(folder / "index") as index:
            times, answers = measure.repeat(lambda: questions, lambda given: index.seen_many(given), run.effort)
    found = [one.nearest.id if one.is_seen else None for one in answers]
    recall = statistics.mean(name is not None for name in found[::2])
    figures = {"queries/s": asked / times.best, "recall": recall}
    return Outcome(
        times, sum(map(len, questions)), answer_of(found), figures, missed(found, documents, questions, size)
    )


def passages(row: Definition, run: Run) -> Outcome:
    """Ask for the document that shares most fingerprints, of the index and of postings in SQLite.

    The index also verifies each passage on the texts and says where it stands; SQLite only counts keys.
    """
    documents, asked, size = counts(row, run)
    texts, questions = (
        list(stored_texts.documents(documents, size)),
        list(stored_texts.questions(documents, asked, size)),
    )
    keys = [[_prints(text).hashes.tolist() for text in some] for some in (texts, questions)]
    with room() as folder:
        with la.Index.create(folder / "index", kind="corpus", without=LEFT_OUT) as index:
            index.add(named(iter(texts)), threads=1)

            def ask_all(given: list[str]) -> list[Any]:
                return [index.query(text, question=["passages"]).find("passages") for text in given]

            times, answers = measure.repeat(lambda: questions, ask_all, run.effort)
        built, spent, theirs = archive_rivals.passages_by_sqlite(*keys, folder / "postings.sqlite")
    found = [answer.matches[0].id if answer.matches else None for answer in answers]
    figures = {"queries/s": asked / times.best, "SQLite": spent / times.best, "SQLite build s": built}
    wrong = sum(name != (None if other is None else str(other)) for name, other in zip(found, theirs, strict=True))
    return Outcome(times, sum(map(len, questions)), answer_of(found), figures | {"other answers": float(wrong)})


def _prints(text: str) -> Any:
    return la.fingerprint(text, k=50, t=149)


def day(row: Definition, run: Run) -> Outcome:
    """Deduplicate a day of one percent against an index of everything before; beside deduplicating everything."""
    documents, _, size = counts(row, run)
    new = max(1, documents // 100)
    texts = list(stored_texts.documents(documents + new, size))
    with room() as folder:
        path = folder / "index"
        with la.Index.create(path, kind="corpus"):
            pass
        rows = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
        la.dedup(rows[:documents], index=path, add=True, threads=1)
        whole = min(cpu_of(lambda: la.dedup(rows, threads=1)) for _ in range(2))
        kept: list[Any] = []
        copies = [shutil.copytree(path, folder / f"copy{number}") for number in range(3)]
        spent = [cpu_of(lambda: kept.append(la.dedup(rows[documents:], index=one, threads=1))) for one in copies]  # noqa: B023
    left = {row["id"] for row in kept[0].select()}
    gone = [row["id"] for row in rows[documents:] if row["id"] not in left]
    figures = {"of everything": min(spent) / whole}
    return Outcome(Times(spent, spent), sum(map(len, texts[documents:])), answer_of(gone), figures, is_job=True)


def growth(row: Definition, run: Run) -> Outcome:
    """Add many short documents; memory stays bounded, and the last tenth is not much slower than the first."""
    documents, asked, size = counts(row, run)
    with room() as folder:
        spent, total = ingest(folder / "index", documents, size)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT
        questions = list(stored_texts.questions(documents, asked, size))
        with la.Index(folder / "index") as index:
            found, each = ask(index, questions)
    figures = {
        "first of the last tenth": spent[0] / spent[-1],
        "peak GiB": peak / 2**30,
        "seen p50 µs": each[len(each) // 2] * 1e6,
    }
    return Outcome(
        Times(spent, spent), total // 10, answer_of(found), figures, missed(found, documents, questions, size)
    )
