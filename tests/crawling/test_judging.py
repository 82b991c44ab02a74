"""Pages are judged one after another: together or alone, in one thread or many, with the same verdicts."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import pytest

import lookalike as la
from lookalike.errors import LockedError, ParameterError
from lookalike.scrapy.judging import InProcess, Judge, Page, Verdict
from support.pages import text as made_text

WORDS = 60


def text(number: int, edits: int = 0) -> str:
    """One of a few texts; each edit replaces a word, and some edits go too far for a near-duplicate."""
    words = made_text(number, WORDS).split()
    for edit in range(edits):
        words[(7 * edit) % len(words)] = f"changed{edit}"
    return " ".join(words)


def pages(seed: int, count: int) -> list[Page]:
    """Pages of few addresses and texts, so that copies, edits, new versions and revisits all occur."""
    rng = Random(seed)
    return [
        Page(f"http://site/{rng.randrange(12)}", text(rng.randrange(6), rng.choice([0, 0, 1, 2, 9])), "site")
        for _ in range(count)
    ]


def one_by_one(path: Path, given: list[Page]) -> list[Verdict]:
    """The slow twin: each page asks the index and is stored before the next."""
    found = []
    with la.Index.create(path, kind="corpus", without=["passages", "containment"], threshold=0.7) as index:
        for page in given:
            seen = index.seen(page.text)
            verdict = Verdict()
            if seen and seen.nearest is not None and seen.nearest.resemblance is not None:
                verdict = Verdict(seen.nearest.id, seen.nearest.resemblance.value, seen.nearest.id == page.url)
            if not verdict.is_duplicate:
                index.add([(page.url, page.text)])
            found.append(verdict)
    return found


def told(verdicts: list[Verdict]) -> list[tuple[bool, bool, float | None]]:
    """What of a verdict is defined: of two pages that are equally near, either may be named."""
    return [(one.is_duplicate, one.is_revisit, one.resemblance) for one in verdicts]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("together", [1, 3, 16])
def test_pages_judged_together_have_the_verdicts_of_pages_judged_alone(tmp_path: Path, seed: int, together: int):
    given = pages(seed, 32)
    archive = InProcess(str(tmp_path / "index"), store=True)
    found = [one for start in range(0, 32, together) for one in archive.judge(given[start : start + together])]
    archive.close()
    assert told(found) == told(one_by_one(tmp_path / "twin", given))
    assert any(one.is_duplicate for one in found)
    with la.Index(tmp_path / "index") as index, la.Index(tmp_path / "twin") as twin:
        assert {one.id for one in index.documents()} == {one.id for one in twin.documents()}


def test_of_copies_that_come_at_once_one_is_new(tmp_path: Path):
    judge = Judge(InProcess(str(tmp_path / "index"), store=True))
    found: list[Verdict] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(judge.verdict(Page(f"http://site/{n}", text(0, n % 3)))))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    judge.close()
    assert sum(not one.is_duplicate for one in found) == 1


class _Held(InProcess):
    """An index whose first call waits until it is let go."""

    def __init__(self, path: str) -> None:
        super().__init__(path, store=True)
        self.entered, self.go = threading.Event(), threading.Event()
        self.calls: list[int] = []

    def judge(self, pages):  # type: ignore[no-untyped-def]
        self.calls.append(len(pages))
        self.entered.set()
        self.go.wait()
        return super().judge(pages)


def test_pages_that_wait_for_a_commit_are_committed_together(tmp_path: Path):
    archive = _Held(str(tmp_path / "index"))
    judge = Judge(archive)
    threads = [threading.Thread(target=judge.verdict, args=(Page(f"http://site/{n}", text(n)),)) for n in range(5)]
    threads[0].start()
    archive.entered.wait()
    for thread in threads[1:]:
        thread.start()
    while len(judge._waiting) < 4:
        threading.Event().wait(0.001)
    archive.go.set()
    for thread in threads:
        thread.join()
    judge.close()
    assert archive.calls == [1, 4]
    with la.Index(tmp_path / "index") as index:
        assert len(index) == 5


def test_a_page_that_was_judged_new_is_durable_with_site_and_time(tmp_path: Path):
    archive = InProcess(str(tmp_path / "index"), store=True)
    archive.judge([Page("http://site/a", text(0), "site")])
    with la.Index(tmp_path / "index") as reader:
        entry = reader.document("http://site/a")
        assert entry is not None
        assert [one.id for one in reader.documents(where={"site": "site"})] == ["http://site/a"]
        assert entry.time is not None
    archive.close()


def test_without_store_nothing_is_written(tmp_path: Path):
    InProcess(str(tmp_path / "index"), store=True).close()
    archive = InProcess(str(tmp_path / "index"), store=False)
    assert archive.judge([Page("a", text(0)), Page("b", text(0))]) == [Verdict(), Verdict()]
    archive.close()
    with la.Index(tmp_path / "index") as index:
        assert len(index) == 0


def test_an_error_reaches_every_page_that_waited(tmp_path: Path):
    archive = InProcess(str(tmp_path / "index"), store=True)
    judge = Judge(archive)
    archive.close()
    for _ in range(2):
        with pytest.raises(ParameterError, match="closed"):
            judge.verdict(Page("a", text(0)))


def test_indexes_that_cannot_be_asked_are_refused(tmp_path: Path):
    la.Index.create(tmp_path / "class", kind="class").close()
    with pytest.raises(ParameterError, match="for a class"):
        InProcess(str(tmp_path / "class"), store=True)
    la.Index.create(tmp_path / "without", kind="corpus", without=["resemblance"]).close()
    with pytest.raises(ParameterError, match="resemblance"):
        InProcess(str(tmp_path / "without"), store=True)
    with la.Index.create(tmp_path / "used", kind="corpus"), pytest.raises(LockedError):
        InProcess(str(tmp_path / "used"), store=True)
    with pytest.raises(OSError, match="missing"):
        InProcess(str(tmp_path / "missing"), store=False)
    # What was refused was closed again.
    la.Index.open(tmp_path / "without", write=True).close()
