"""The archive: what an ingest costs and takes on disk, how fast questions are answered, beside what people use instead.

Documents are those of `bench.stored_texts`. The answer is which document `seen` names for each question. Independent
of it, what is named must resemble the question, and nothing may be named for a new text. Times are CPU times on one
core; the questions of a row are asked one by one. Cold times are wall times, for a disk is waited for: the files of the
index are dropped from the system's memory before each question (Linux only).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import statistics
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import lookalike as la
from bench import archive_rivals, measure
from bench.definition import Definition
from bench.measure import Times
from bench.outcome import Answer, Outcome, SkippedError
from bench.stored_texts import Texts
from bench.works import Run

#: Rows above this many documents take many minutes, so they are run when asked for by name.
LARGE = 200_000
#: Texts whose parts are timed one after the other: the same share of a large corpus.
SAMPLE = 20_000
#: Questions that are asked cold, and seconds between two looks at the memory in use.
COLD, LOOK = 50, 0.05


def counts(row: Definition, run: Run) -> tuple[int, int, Texts]:
    """Documents, questions, and their texts. Errors: too many for a run in which nobody asked for the row."""
    prefix = "quick_" if run.quick else ""
    documents, questions = (row.options[f"{prefix}{name}"] for name in ("documents", "questions"))
    if documents > LARGE and not run.is_named:
        raise SkippedError(f"{documents:,} documents take many minutes; name the row with --only")
    return documents, questions, Texts(row.options["bytes"], row.options.get("own", Texts.own))


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
    documents, asked, texts = counts(row, run)
    sample = list(texts.documents(min(documents, SAMPLE)))
    parts = parts_of(sample) / sum(map(len, sample))
    questions = list(texts.questions(documents, asked))
    with room() as folder:
        path = folder / "index"
        spent, total = ingest(path, documents, texts, row.options.get("thresholds"))
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
        figures |= cold(path, questions[-COLD:])
    fault = missed(found, texts, questions)
    return Outcome(Times(spent, spent), total // 10, answer_of(found), figures, fault)


def cold(path: Path, questions: Sequence[str]) -> dict[str, float]:
    """Ask an index whose files are not in memory: milliseconds of the wall clock in the middle, opening included."""
    if not hasattr(os, "posix_fadvise"):
        return {}
    asks: dict[str, Callable[[Any, str], Any]] = {
        "seen": lambda index, text: index.seen(text),
        "query": lambda index, text: index.query(text),
    }
    taken: dict[str, list[float]] = {name: [] for name in asks}
    for text in questions:
        for name, one in asks.items():
            forget(path)
            start = time.perf_counter()
            with la.Index(path) as index:
                one(index, text)
            taken[name].append(time.perf_counter() - start)
    return {f"{name} cold p50 ms": statistics.median(each) * 1e3 for name, each in taken.items()}


def forget(path: Path) -> None:
    """Drop the files of a folder from the system's memory. What was not written yet stays, so it is written first."""
    for file in path.iterdir():
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def ingest(
    path: Path, documents: int, texts: Texts, thresholds: tuple[int, int] | None = None
) -> tuple[list[float], int]:
    """Fill a new index; CPU seconds of each tenth, texts not counted, and bytes of all texts."""
    spent, total, made = list[float](), 0, texts.documents(documents)
    chosen = dict(zip("kt", thresholds, strict=True)) if thresholds else {}
    with la.Index.create(path, kind="corpus", **chosen) as index:
        for first in range(0, documents, max(1, documents // 10)):
            batch = list(islice(named(made, first), max(1, documents // 10)))
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


def missed(found: Sequence[str | None], texts: Texts, questions: Sequence[str]) -> str:
    """Check that what is named for an edit resembles it, and that nothing is named for a new text."""
    threshold = la.params.DEDUPLICATION["threshold"].default if hasattr(la, "params") else 0.8
    for number, (name, text) in enumerate(zip(found, questions, strict=True)):
        if number % 2 and name is not None:
            return f"question {number} is new, and document {name} is named for it"
        if name is not None and (la.resemblance(texts.document(int(name)), text) or 0) < threshold:
            return f"document {name} is named for question {number} and resembles it too little"
    return ""


def answer_of(found: Sequence[str | None]) -> Answer:
    told = "\n".join("" if name is None else name for name in found)
    return Answer(sum(name is not None for name in found), hashlib.sha256(told.encode()).hexdigest()[:16])


def rival_seen(row: Definition, run: Run) -> Outcome:
    """Ask datasketch over Redis the same questions; the sketch of a question counts, as it does for ours."""
    if run.rivals is None or run.quick:
        raise SkippedError("no folder of rivals was given; use make bench RIVALS=DIR")
    documents, asked, texts = counts(row, run)
    questions = list(texts.questions(documents, asked))
    try:
        stored = list(texts.documents(documents))
        done = archive_rivals.seen_by_datasketch(stored, questions, row.options["threshold"])
    except LookupError as reason:
        raise SkippedError(str(reason)) from reason
    spent = done["ask"] + done["sketch"]
    recall = statistics.mean(bool(found) for found in done["found"][::2])
    figures = {"queries/s": asked / spent, "recall": recall, "build s": done["build"]}
    return Outcome(Times([spent], [spent]), sum(map(len, questions)), None, figures)


def seen(row: Definition, run: Run) -> Outcome:
    """Ask an index of as many documents, as many questions in one call."""
    documents, asked, texts = counts(row, run)
    questions = list(texts.questions(documents, asked))
    with room() as folder:
        ingest(folder / "index", documents, texts)
        with la.Index(folder / "index") as index:
            times, answers = measure.repeat(lambda: questions, lambda given: index.seen_many(given), run.effort)
    found = [one.nearest.id if one.is_seen else None for one in answers]
    recall = statistics.mean(name is not None for name in found[::2])
    figures = {"queries/s": asked / times.best, "recall": recall}
    return Outcome(times, sum(map(len, questions)), answer_of(found), figures, missed(found, texts, questions))


def passages(row: Definition, run: Run) -> Outcome:
    """Ask for shared passages, of the index and of postings in SQLite, which answers the same (`SqlitePassages`).

    Both fingerprint the question, find the documents that share most, read their texts and place each passage on both
    sides. `other answers` counts questions for which another document comes first, or which share one letter in a
    hundred more or less; passages of the index do not overlap by a letter, those of SQLite may.
    """
    documents, asked, texts = counts(row, run)
    stored, questions = list(texts.documents(documents)), list(texts.questions(documents, asked))
    top = la.params.ASKING["top"].default
    with room() as folder:
        with la.Index.create(folder / "index", kind="corpus", without=LEFT_OUT) as index:
            index.add(named(iter(stored)), threads=1)

            def ask_all(given: list[str]) -> list[Any]:
                return [index.query(text, question=["passages"]).find("passages") for text in given]

            times, answers = measure.repeat(lambda: questions, ask_all, run.effort)
        rival = archive_rivals.SqlitePassages(folder / "postings.sqlite", _prints, top)
        built = cpu_of(lambda: rival.add(stored))
        theirs_times, theirs = measure.repeat(
            lambda: questions, lambda given: [rival.ask(text) for text in given], run.effort
        )
        rival.close()
    found = [answer.matches[0].id if answer.matches else None for answer in answers]
    wrong = sum(not _are_alike(answer, other) for answer, other in zip(answers, theirs, strict=True))
    figures = {"queries/s": asked / times.best, "SQLite": theirs_times.best / times.best, "SQLite build s": built}
    return Outcome(times, sum(map(len, questions)), answer_of(found), figures | {"other answers": float(wrong)})


def _are_alike(answer: Any, other: Sequence[tuple[int, list[tuple[int, int, int]]]]) -> bool:
    """Whether both name the same document first, and share as many letters with it."""
    if not answer.matches or not other:
        return not answer.matches and not other
    (first, *_), ((number, passages), *_) = answer.matches, other
    ours, theirs = sum(one.tokens for one in first.passages), sum(length for _, _, length in passages)
    return first.id == str(number) and abs(ours - theirs) <= max(ours, theirs) / 100


def _prints(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Letters and fingerprints of a text."""
    made = la.fingerprint(text, k=50, t=149)
    return la.canonical(text), list(zip(made.hashes.tolist(), made.positions.tolist(), strict=True))


def day(row: Definition, run: Run) -> Outcome:
    """Deduplicate a day of one percent against an index of everything before; beside deduplicating everything."""
    documents, _, made = counts(row, run)
    new = max(1, documents // 100)
    texts = list(made.documents(documents + new))
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
    documents, asked, texts = counts(row, run)
    with room() as folder:
        with watched() as peak:
            spent, total = ingest(folder / "index", documents, texts)
        questions = list(texts.questions(documents, asked))
        with la.Index(folder / "index") as index:
            found, each = ask(index, questions)
    figures = {"first of the last tenth": spent[0] / spent[-1], "seen p50 µs": each[len(each) // 2] * 1e6}
    figures |= {"peak GiB": peak[0] / 2**30} if peak[0] else {}
    return Outcome(Times(spent, spent), total // 10, answer_of(found), figures, missed(found, texts, questions))


@contextmanager
def watched() -> Iterator[list[int]]:
    """Look at the memory of this process again and again; its peak in bytes is the one item, 0 where it cannot be told.

    Counted is anonymous memory, the texts of a tenth included. Pages of mapped files are not: the system drops them
    when it needs room.
    """
    status, peak, is_over = Path("/proc/self/status"), [0], threading.Event()

    def look() -> None:
        while not is_over.wait(LOOK):
            lines = status.read_text().splitlines()
            peak[0] = max(peak[0], *(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")))

    watcher = threading.Thread(target=look, daemon=True)
    if status.exists():
        watcher.start()
    try:
        yield peak
    finally:
        is_over.set()
        if status.exists():
            watcher.join()
