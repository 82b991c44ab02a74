"""Changes of one index by the keeper: all adds that wait while a commit runs are the next commit (group commit).

A thread per index takes what waits, up to ``_BATCH`` bytes, adds it in one transaction, and answers each request with
its own counts. Removals take their turn in between. Requests are answered after the commit, so each is durable. After
an error of the disk the index is opened again, which shows what is in it; requests of that commit fail.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from lookalike.archive.signing import SignedDocument
from lookalike.archive.store import Index
from lookalike.archive.view import View
from lookalike.service import log
from lookalike.service.faults import Fault, FaultError
from lookalike.service.keys import Key, Keys

#: Bytes of records in one commit, unless one request has more.
_BATCH = 16 << 20
#: Seconds to wait for another process that changes the index, such as a keeper that is ending.
WAIT = 10.0
STOPPING = Fault(503, "restarting", "the server stops: repeat the request, which is safe", 1)
#: Outcomes of a document, in the order of an answer.
OUTCOMES = ("added", "replaced", "unchanged")


@dataclass
class Add:
    """A request to add documents."""

    documents: Sequence[SignedDocument]
    key: Key | None = None
    #: The rest of the answer, which stays as the reader made it.
    told: dict[str, Any] = field(default_factory=dict)
    future: Future[dict[str, Any]] = field(default_factory=Future)

    @property
    def bytes(self) -> int:
        """The size of its records."""
        return sum(len(record) for _, _, record in self.documents)


@dataclass
class Call:
    """A change that is a transaction of its own."""

    work: Callable[[Index], dict[str, Any]]
    future: Future[dict[str, Any]] = field(default_factory=Future)


class Committer:
    """The thread that changes one index."""

    def __init__(self, name: str, path: str, keys: Keys, keys_turn: threading.Lock) -> None:
        """Open an index for changes. Errors: ``LockedError``, ``DamagedError``, ``VersionError``, ``OSError``."""
        self._name, self._path, self._keys, self._keys_turn = name, path, keys, keys_turn
        self._index = self._opened()
        self._waiting: deque[Add | Call] = deque()
        self._signal = threading.Condition()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name=f"commit-{name}", daemon=True)
        self._thread.start()

    def _opened(self) -> Index:
        """Open the index. Other writers are told that the supervisor, which started this process, has it."""
        index = Index.open(self._path, write=True, wait=WAIT)
        index._serve(os.getppid())
        return index

    async def do(self, change: Add | Call) -> dict[str, Any]:
        """Make a change, and return its answer when it is durable. Errors: those of the change."""
        with self._signal:
            if self._is_stopping:
                raise FaultError(STOPPING)
            self._waiting.append(change)
            self._signal.notify()
        return await asyncio.wrap_future(change.future)

    def stop(self) -> None:
        """Finish what waits, and close the index."""
        with self._signal:
            self._is_stopping = True
            self._signal.notify()
        self._thread.join()
        self._index.close()

    def _run(self) -> None:
        while True:
            with self._signal:
                while not self._waiting and not self._is_stopping:
                    self._signal.wait()
                if not self._waiting:
                    return
                batch = self._taken()
            self._make(batch)

    def _taken(self) -> list[Add | Call]:
        """Take a call, or as many adds as one commit may hold. REQUIRES: something waits."""
        first = self._waiting.popleft()
        if isinstance(first, Call):
            return [first]
        batch: list[Add | Call] = [first]
        size, keys = first.bytes, {first.key and first.key.name}
        while self._waiting and isinstance(one := self._waiting[0], Add):
            size += one.bytes
            # Of two requests with one key, the second gets the answer of the first.
            if size > _BATCH or (one.key is not None and one.key.name in keys):
                break
            keys.add(one.key and one.key.name)
            batch.append(self._waiting.popleft())
        return batch

    def _make(self, batch: list[Add | Call]) -> None:
        try:
            if isinstance(batch[0], Call):
                answers: list[dict[str, Any] | FaultError] = [batch[0].work(self._index)]
            else:
                answers = self._add([one for one in batch if isinstance(one, Add)])
        except BaseException as error:
            for one in batch:
                _fail(one.future, error)
            self._reopen(error)
            return
        for one, answer in zip(batch, answers, strict=True):
            if isinstance(answer, FaultError):
                _fail(one.future, answer)
            elif not one.future.done():
                one.future.set_result(answer)

    def _add(self, adds: list[Add]) -> list[dict[str, Any] | FaultError]:
        """Add the documents of several requests in one commit; return their answers."""
        answers = self._repeated(adds)
        new = [place for place in range(len(adds)) if place not in answers]
        with self._index._changes().turn:
            view = self._index._changes().view
            counts = outcomes(view, [adds[place].documents for place in new])
            self._index._add_records([one for place in new for one in adds[place].documents])
        made: dict[int, dict[str, Any]] = {}
        for place, found in zip(new, counts, strict=True):
            made[place] = {**{one: found.count(one) for one in OUTCOMES}, **adds[place].told}
        self._keep([(key, made[place]) for place in new if (key := adds[place].key) is not None])
        return [answers[place] if place in answers else made[place] for place in range(len(adds))]

    def _repeated(self, adds: list[Add]) -> dict[int, dict[str, Any] | FaultError]:
        """Return the answers of requests that were answered before, by their keys; by place."""
        found: dict[int, dict[str, Any] | FaultError] = {}
        for place, one in enumerate(adds):
            if one.key is not None:
                try:
                    with self._keys_turn:
                        answer = self._keys.find(one.key)
                except FaultError as error:
                    found[place] = error
                else:
                    found |= {} if answer is None else {place: answer}
        return found

    def _keep(self, answers: list[tuple[Key, dict[str, Any]]]) -> None:
        if answers:
            with self._keys_turn:
                self._keys.put(answers)

    def _reopen(self, error: BaseException) -> None:
        """Open the index again after a change that failed; what a client caused needs none."""
        if isinstance(error, FaultError):
            return
        log.failure("change-failed", error, index=self._name)
        try:
            self._index.close()
            self._index = self._opened()
        except Exception as again:
            # The next change fails too, and tries again.
            log.failure("index-not-opened", again, index=self._name)


def _fail(future: Future[dict[str, Any]], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def outcomes(view: View, requests: Sequence[Sequence[SignedDocument]]) -> list[list[str]]:
    """Return what an add of these documents does with each, as if the requests came one after the other."""
    ids = list(dict.fromkeys(id_ for some in requests for id_, _, _ in some))
    found = zip(ids, view.core.find_ids(ids), strict=True)
    latest = {id_: bytes(view.core.row(number).mark) for id_, number in found if number is not None}
    told: list[list[str]] = []
    for some in requests:
        told.append([])
        for id_, mark, _ in some:
            before = latest.get(id_)
            told[-1].append("added" if before is None else "unchanged" if before == mark else "replaced")
            latest[id_] = mark
    return told
