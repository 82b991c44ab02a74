"""Asks an archive whether pages were seen, and stores those that are new. Pages are judged strictly one after another.

Pages that wait while an earlier commit runs are judged together: one look at the index, comparisons among themselves,
and one commit. Each has the verdict it would have alone (``tests/crawling/test_judging.py``). A page that was judged
new is durable. Cost: some milliseconds for a commit, 0.1 ms for a page, and comparisons of at most as many pages as
Scrapy has threads.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lookalike import params
from lookalike.archive.answers import Seen
from lookalike.archive.store import Index
from lookalike.errors import ParameterError
from lookalike.service.client import Client
from lookalike.sketches.exact import resemblance

#: Questions that a crawl does not ask; an index that is created for one saves their space.
UNASKED = ("passages", "containment")
#: Longest address that is an id; of a longer one the beginning is kept, with a hash of all of it.
LONGEST = 800
#: Seconds to wait for a server, and how often a request is sent again: a crawl goes on without it.
PATIENCE, RETRIES = 30.0, 2
#: Seconds to wait for another process that changes the index, such as a crawl that is ending.
WAIT = 1.0


class Page(NamedTuple):
    """A page of a crawl."""

    #: Its id in the archive.
    url: str
    text: str
    site: str = ""


def id_of(url: str) -> str:
    """Return the id of the page at an address.

    >>> id_of("http://site/a"), len(id_of("http://site/" + "a" * 5000))
    ('http://site/a', 833)
    """
    return url if len(url) <= LONGEST else f"{url[:LONGEST]}#{hashlib.sha256(url.encode()).hexdigest()[:32]}"


class Verdict(NamedTuple):
    """What an archive says of a page."""

    #: Address of the most similar page that was seen before.
    nearest: str | None = None
    resemblance: float | None = None
    #: Whether the archive has only an earlier version of this very page.
    is_revisit: bool = False
    #: Why the page could not be compared; it then counts as new.
    refusal: str | None = None

    @property
    def is_duplicate(self) -> bool:
        """Whether it is a near-duplicate of another page."""
        return self.nearest is not None and not self.is_revisit


class Archive(Protocol):
    """What judges pages and stores those that are new."""

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """Return a verdict for each page, in order; those that are new are stored."""

    def close(self) -> None:
        """Give files and locks back."""


class Judge:
    """Hands pages to an archive: one call at a time, with all pages that wait.

    Its threads wait for one another here, so ``verdict`` must not be called by the thread of the crawl.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        #: Held by the thread that asks the archive.
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: list[tuple[Page, Future[Verdict]]] = []

    def verdict(self, page: Page) -> Verdict:
        """Return the verdict on a page; raises what the archive raises."""
        verdict: Future[Verdict] = Future()
        with self._lock:
            self._waiting.append((page, verdict))
        with self._turn:
            if not verdict.done():
                self._judge_waiting()
        return verdict.result()

    def _judge_waiting(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        try:
            found = self._archive.judge([page for page, _ in waiting])
        except BaseException as error:
            for _, verdict in waiting:
                verdict.set_exception(error)
            return
        for (_, verdict), one in zip(waiting, found, strict=True):
            verdict.set_result(one)

    def close(self) -> None:
        """Close the archive, after the pages that are being judged."""
        with self._turn:
            self._archive.close()


class InProcess:
    """An index that this process opens, for changes if pages are stored."""

    def __init__(self, path: str, *, store: bool) -> None:
        """Open the index, or create it. Errors: ``LookalikeError``, ``OSError``."""
        self._store = store
        self._index = _opened(path, store)
        try:
            parameters = self._index.parameters
            if parameters.kind != "corpus":
                raise ParameterError(
                    f"index `{path}` is for a class: give one for a corpus, or a path that is not used"
                )
            # Refuses an index that cannot be asked.
            self._index.seen_many([])
        except BaseException:
            self._index.close()
            raise
        self._dedup = parameters.dedup

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """Return a verdict for each page, in order; those that are new are stored, in one commit as a rule."""
        verdicts: list[Verdict] = []
        while len(verdicts) < len(pages):
            verdicts += self._judge_some(pages[len(verdicts) :])
        return verdicts

    def _judge_some(self, pages: Sequence[Page]) -> list[Verdict]:
        """Judge pages up to the first whose verdict depends on a version that a page before it replaces."""
        verdicts: list[Verdict] = []
        new: dict[str, Page] = {}
        for page, seen in zip(pages, self._index.seen_many([page.text for page in pages]), strict=True):
            found = _verdict(page, seen)
            if page.url in new or found.nearest in new:
                break
            if self._store:
                found = self._nearer(found, page, new.values())
            verdicts.append(found)
            if self._store and not found.is_duplicate and found.refusal is None:
                new[page.url] = page
        if new:
            self._index.add(map(_row, new.values()), id_column="id", time_column="time", threads=1)
        return verdicts

    def _nearer(self, found: Verdict, page: Page, earlier: Iterable[Page]) -> Verdict:
        """Return the verdict on a page, also compared with pages that are stored just before it."""
        for other in earlier:
            score = self._resemblance(page.text, other.text)
            if score >= self._dedup.threshold and score > (found.resemblance or 0):
                found = Verdict(other.url, score)
        return found

    def _resemblance(self, text: str, other: str) -> float:
        if text == other:
            return 1.0
        how: dict[str, Any] = {name: getattr(self._dedup, name) for name in ("shingle", "unit", "labelled")}
        return resemblance(text, other, **how) or 0.0

    def close(self) -> None:
        """Close the index."""
        self._index.close()


class Served:
    """An index of a server. Other clients may add between a question and the add that follows it."""

    def __init__(self, url: str, token: str | None, name: str, *, store: bool) -> None:
        """Check that the server has the index. Errors: ``LookalikeError``."""
        self._client = Client(url, token, timeout=PATIENCE, retries=RETRIES)
        self._name, self._store = name, store
        kinds = {one["name"]: one["kind"] for one in self._client.indexes()}
        if name not in kinds:
            known = ", ".join(kinds) or "none that this token may see"
            raise ParameterError(f"the server has no index `{name}`: it has {known}")
        if kinds[name] != "corpus":
            raise ParameterError(f"index `{name}` of the server is for a class: give one for a corpus")

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """Return a verdict for each page; each is stored before the next is asked about."""
        return [self._judged(page) for page in pages]

    def _judged(self, page: Page) -> Verdict:
        told = self._client.seen(self._name, page.text)
        nearest = told["nearest"] if told["seen"] else None
        if nearest is None:
            verdict = Verdict(refusal=told.get("refusal"))
        else:
            score = nearest.get("resemblance") or {}
            verdict = Verdict(nearest["id"], score.get("value"), nearest["id"] == page.url)
        if self._store and not verdict.is_duplicate and verdict.refusal is None:
            metadata = {"site": page.site} if page.site else None
            self._client.put(self._name, page.url, page.text, metadata=metadata, time=int(time.time()))
        return verdict

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _opened(path: str, store: bool) -> Index:
    if not store:
        return Index(path)
    folder = Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        return Index.open(path, write=True, wait=WAIT)
    return Index.create(path, kind="corpus", without=UNASKED, threshold=params.CRAWL_THRESHOLD)


def _verdict(page: Page, seen: Seen) -> Verdict:
    """Return what an index says of a page as a verdict."""
    if seen.nearest is None or not seen:
        return Verdict(refusal=seen.refusal)
    score = seen.nearest.resemblance
    return Verdict(seen.nearest.id, None if score is None else score.value, seen.nearest.id == page.url)


def _row(page: Page) -> dict[str, Any]:
    return {"id": page.url, "text": page.text, "site": page.site, "time": int(time.time())}
