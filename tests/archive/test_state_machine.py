"""After any sequence of changes, reopenings and crashes, an index says what a fresh one of the same documents says.

A crash is a copy of the folder, taken at one of the steps of a commit: that is what a process leaves behind that is
killed there (the page cache survives it). The copy is opened like any index, and the run goes on with it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lookalike.archive.catalogue import Catalogue
from lookalike.archive.folder import Folder
from lookalike.archive.store import Index
from tests.support.archives import FAST, Model, answers, create, fresh, put, reopen
from tests.support.records import content_of, signed

IDS = [f"d{number}" for number in range(9)]
TEXTS = ["", "a", "a b", "a b c d", "b c d e f g", "a a a a a a a a"]
DOCUMENTS = st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(TEXTS)), min_size=1, max_size=7)
ALL_IDS = [id_.encode() for id_ in IDS]
ALL_CONTENTS = [content_of(text) for text in TEXTS]
#: Runs in `make test`, and in `make torture`.
RUNS = int(os.environ.get("LOOKALIKE_TORTURE_RUNS", "500"))


class Photographer:
    """Copies a folder at each step of a commit: before and after each transaction, rename, sync and unlink."""

    def __init__(self, folder: Path, place: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._place, self.copies = folder, place, list[Path]()
        self._wrap(patch, Catalogue, "apply")
        self._wrap(patch, Catalogue, "erase")
        self._wrap(patch, Folder, "unlink")
        self._wrap(patch, Folder, "sync")
        self._wrap(patch, os, "rename")

    def _wrap(self, patch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def photographed(*arguments: Any, **more: Any) -> Any:
            self._take()
            result = real(*arguments, **more)
            self._take()
            return result

        patch.setattr(owner, name, photographed)

    def _take(self) -> None:
        copy = self._place / f"copy-{len(self.copies)}"
        shutil.copytree(self._folder, copy)
        self.copies.append(copy)


class Machine(RuleBasedStateMachine):
    """An index, and a dictionary that does the same."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="lookalike-machine-", dir=FAST))
        self.path = self.place / "index"
        self.index = create(self.path)
        self.model: Model = {}
        self.views: list[tuple[Any, Model]] = []
        self.steps = self.moves = 0

    # --- changes -----------------------------------------------------------------------------------------------------

    @rule(documents=DOCUMENTS)
    def add(self, documents: list[tuple[str, str]]) -> None:
        signed_ones = [signed(id_, text) for id_, text in documents]
        before = dict(self.model)
        put(self.model, signed_ones)
        done = self.index._add_records(signed_ones)
        assert done.added + done.replaced + done.unchanged == len(documents)
        assert done.added == len(self.model.keys() - before.keys())

    @rule(ids=st.lists(st.sampled_from(IDS), max_size=5))
    def remove(self, ids: list[str]) -> None:
        there = {id_.encode() for id_ in ids} & self.model.keys()
        assert self.index.remove(ids) == len(there)
        self.model = {id_: kept for id_, kept in self.model.items() if id_ not in there}

    @rule()
    def compact(self) -> None:
        self.index.compact()
        state = self.index.snapshot().state
        assert len(state.segments) <= 1
        assert not state.removed
        assert not state.arrivals

    @rule(ids=st.lists(st.sampled_from(IDS), min_size=1, max_size=2))
    def purge(self, ids: list[str]) -> None:
        self.index.remove(ids, purge=True)
        for id_ in ids:
            self.model.pop(id_.encode(), None)
        assert not self.index.snapshot().state.removed

    # --- reading -----------------------------------------------------------------------------------------------------

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = reopen(self.path)

    @precondition(lambda self: len(self.views) < 3)
    @rule(fresh_handle=st.booleans())
    def keep_a_snapshot(self, fresh_handle: bool) -> None:
        if fresh_handle:
            with Index(self.path) as reader:
                view = reader.snapshot()
        else:
            view = self.index.snapshot()
        self.views.append((view, dict(self.model)))

    @precondition(lambda self: self.views)
    @rule()
    def look_at_a_snapshot(self) -> None:
        view, model = self.views.pop()
        self._compare(view, model)

    # --- crashes -----------------------------------------------------------------------------------------------------

    @rule(documents=DOCUMENTS, what=st.sampled_from(["add", "remove", "compact"]), data=st.data())
    def crash(self, documents: list[tuple[str, str]], what: str, data: st.DataObject) -> None:
        before = dict(self.model)
        with pytest.MonkeyPatch.context() as patch:
            photographer = Photographer(self.path, self.place, patch)
            if what == "add":
                self.add(documents)
            elif what == "remove":
                self.remove([id_ for id_, _ in documents])
            else:
                self.compact()
        # The folder is unchanged if nothing was to be done.
        if photographer.copies:
            left = data.draw(st.sampled_from(photographer.copies))
            self._go_on_with(left, before)
        for copy in photographer.copies:
            shutil.rmtree(copy, ignore_errors=True)

    def _go_on_with(self, left: Path, before: Model) -> None:
        self.index.close()
        self.moves += 1
        self.path = left.rename(self.place / f"index-{self.moves}")
        self.index = reopen(self.path)
        found = [bytes(row.id) for _, row in self.index.snapshot().rows()]
        records = list(self.index.snapshot().records())
        states = [before, self.model]
        matching = [one for one in states if (found, records) == (list(one), [record for _, record in one.values()])]
        assert matching, "neither the state before the change nor the one after it"
        self.model = dict(matching[0])
        self._compare(self.index.snapshot(), self.model)

    # --- comparing ---------------------------------------------------------------------------------------------------

    @invariant()
    def as_many(self) -> None:
        self.steps += 1
        assert len(self.index) == len(self.model)
        if self.steps % 10 == 0:
            self._compare(self.index.snapshot(), self.model)

    def _compare(self, view: Any, model: Model) -> None:
        assert answers(view, ALL_IDS, ALL_CONTENTS) == fresh(model, ALL_IDS, ALL_CONTENTS)

    def teardown(self) -> None:
        try:
            self._compare(self.index.snapshot(), self.model)
            for view, model in self.views:
                self._compare(view, model)
            assert self.index.check() == []
            self.index.close()
            assert sorted(os.listdir(self.path)) == sorted(_files(self.path))
        finally:
            shutil.rmtree(self.place, ignore_errors=True)


def _files(path: Path) -> list[str]:
    """The files of an index that nobody uses: nothing else is left of what was begun."""
    with Index(path) as index:
        return ["catalog.sqlite", "lock", *(one.name for one in index.snapshot().state.segments)]


Machine.TestCase.settings = settings(
    max_examples=RUNS,
    stateful_step_count=50,
    deadline=None,
    database=None,
    derandomize="LOOKALIKE_TORTURE_RUNS" not in os.environ,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestMachine = Machine.TestCase
