"""After any sequence of changes, reopenings and crashes, an index answers as a fresh one of the documents left in it.

Every question is asked: identical, passages, resemblance, containment, distance and seen, with and without conditions;
of a class also ``compare --index``. A crash is a copy of the folder, taken at one of the steps of a commit: that is
what a process leaves behind that is killed there (the page cache survives it). The run goes on with the copy.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import lookalike as la
from lookalike.archive.catalogue import Catalogue
from lookalike.archive.folder import Folder
from lookalike.archive.results import Added
from lookalike.archive.store import Index
from lookalike.archive.view import View
from lookalike.rendering.comparison_tables import pairs_csv, passages_csv
from tests.support.archives import TINY, answers
from tests.support.fast import FAST
from tests.support.kinds import LABELS, Kind, Stored, asked_about, corpus, fresh_view, school, segment_file
from tests.support.submissions import write

#: Runs of each kind in `make test`, and in `make torture`.
RUNS = int(os.environ.get("LOOKALIKE_TORTURE_RUNS", "500")) // 2
#: Documents that are asked about in the middle of a run; at its end all are.
ASKED = 2
#: About one run of a class in so many compares files with the index at its end.
COMPARED = 8
#: Ids and texts are numbers below these.
IDS, TEXTS = 10, 7
DOCUMENTS = st.lists(st.tuples(st.integers(0, IDS - 1), st.integers(0, TEXTS - 1)), min_size=1, max_size=7)
Drawn = list[tuple[int, int]]
#: What an index holds, in the order of arrival.
Model = list[Stored]


def put(model: Model, documents: list[Stored]) -> tuple[Model, int]:
    """What one add does: a document that differs from the one with its id replaces it, and the shadows of that go.

    Return the new state, and how many documents were not there before.
    """
    stored = {one.id: one.mark for one in model if one.leader is None}
    latest, new = dict(stored), Model()
    for one in documents:
        if one.leader is None and latest.get(one.id) == one.mark:
            continue
        if one.leader is None:
            latest[one.id] = one.mark
            new = [other for other in new if other.leader is not None or other.id != one.id]
        new.append(one)
    replaced = {one.id for one in new if one.leader is None} & stored.keys()
    return without(model, replaced) + new, len(latest.keys() - stored.keys())


def possible(model: Model, documents: list[Stored]) -> list[Stored]:
    """What dedup may add in one call: shadows after the document that they follow, which nothing later replaces."""
    latest = {one.id: one.mark for one in model if one.leader is None}
    settled = dict.fromkeys(latest, -1)
    for place, one in enumerate(documents):
        if one.leader is None and latest.get(one.id) != one.mark:
            latest[one.id], settled[one.id] = one.mark, place
    never = len(documents)
    return [one for place, one in enumerate(documents) if one.leader is None or settled.get(one.leader, never) < place]


def without(model: Model, gone: set[bytes]) -> Model:
    """The state without documents with these ids, and without shadows that follow them."""
    return [one for one in model if (one.id if one.leader is None else one.leader) not in gone]


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

    kind: Kind

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="lookalike-machine-", dir=FAST))
        self.path = self.place / "0" / "index"
        self.path.parent.mkdir()
        self.index = Index._create(self.path, self.kind.parameters, TINY)
        self.model: Model = []
        self.views: list[tuple[View, Model]] = []
        self.steps = self.moves = self.turns = 0

    def _drawn(self, drawn: Drawn) -> list[Stored]:
        return [self.kind.documents[self.kind.ids[id_], text] for id_, text in drawn]

    def _removed(self, ids: set[bytes]) -> None:
        """Remove documents and shadows with these ids, and shadows that follow one of them."""
        self.model = [one for one in without(self.model, ids) if one.id not in ids]

    def _count(self) -> int:
        return sum(one.leader is None for one in self.model)

    # --- changes -----------------------------------------------------------------------------------------------------

    @rule(drawn=DOCUMENTS)
    def add(self, drawn: Drawn) -> None:
        documents = possible(self.model, self._drawn(drawn))
        self._put(documents, self.index._add_records([one.signed for one in documents]))

    @rule(drawn=DOCUMENTS)
    def adopt(self, drawn: Drawn) -> None:
        """Shadows of a segment are left out."""
        documents = self._drawn(drawn)
        done = self.index.adopt(segment_file(self.kind, self.place, documents))
        self._put([one for one in documents if one.leader is None], done)

    def _put(self, documents: list[Stored], done: Added) -> None:
        self.model, added = put(self.model, documents)
        assert done.added == added
        assert done.added + done.replaced + done.unchanged == sum(one.leader is None for one in documents)

    @rule(drawn=DOCUMENTS)
    def remove(self, drawn: Drawn) -> None:
        ids = {self.kind.ids[id_] for id_, _ in drawn}
        named = {id_.encode() for id_ in ids}
        assert self.index.remove(ids) == sum(one.id in named for one in self.model)
        self._removed(named)

    @rule(label=st.sampled_from(LABELS))
    def remove_where(self, label: str) -> None:
        there = {one.id for one in self.model if one.leader is None and self.kind.labels[one.id.decode()] == label}
        assert self.index.remove(where={"label": label}) == len(there)
        self.model = without(self.model, there)

    @rule()
    def compact(self) -> None:
        self.index.compact()
        state = self.index.snapshot().state
        assert len(state.segments) <= 1
        assert not state.removed
        assert not state.arrivals

    @rule(drawn=DOCUMENTS)
    def purge(self, drawn: Drawn) -> None:
        ids = [self.kind.ids[id_] for id_, _ in drawn[:2]]
        self.index.remove(ids, purge=True)
        self._removed({id_.encode() for id_ in ids})
        assert not self.index.snapshot().state.removed

    # --- reading -----------------------------------------------------------------------------------------------------

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = Index._open(self.path, TINY, write=True)

    @precondition(lambda self: len(self.views) < 3)
    @rule(fresh_handle=st.booleans())
    def keep_a_snapshot(self, fresh_handle: bool) -> None:
        if fresh_handle:
            with Index(self.path) as reader:
                view = reader.snapshot()
        else:
            view = self.index.snapshot()
        self.views.append((view, list(self.model)))

    @precondition(lambda self: self.views)
    @rule()
    def look_at_a_snapshot(self) -> None:
        self._compare(*self.views.pop())

    # --- crashes -----------------------------------------------------------------------------------------------------

    @rule(drawn=DOCUMENTS, what=st.sampled_from(["add", "adopt", "remove", "compact", "purge"]), data=st.data())
    def crash(self, drawn: Drawn, what: str, data: st.DataObject) -> None:
        before = list(self.model)
        with pytest.MonkeyPatch.context() as patch:
            photographer = Photographer(self.path, self.place, patch)
            if what == "compact":
                self.compact()
            else:
                getattr(self, what)(drawn)
        # The folder is unchanged if nothing was to be done.
        if photographer.copies:
            left = data.draw(st.sampled_from(photographer.copies))
            self._go_on_with(left, before)
        for copy in photographer.copies:
            shutil.rmtree(copy, ignore_errors=True)

    def _go_on_with(self, left: Path, before: Model) -> None:
        self.index.close()
        self.moves += 1
        self.path = self.place / str(self.moves) / "index"
        self.path.parent.mkdir()
        left.rename(self.path)
        self.index = Index._open(self.path, TINY, write=True)
        found = list(self.index.snapshot().records())
        matching = [one for one in (before, self.model) if found == list(self._fresh(one).records())]
        assert matching, "neither the state before the change nor the one after it"
        self.model = matching[0]
        self._compare(self.index.snapshot(), self.model)

    # --- comparing ---------------------------------------------------------------------------------------------------

    @invariant()
    def as_many(self) -> None:
        self.steps += 1
        assert len(self.index) == self._count()
        if self.steps % 10 == 0:
            self._compare(self.index.snapshot(), self.model)

    def _fresh(self, model: Model) -> View:
        return fresh_view(self.kind, [one.record for one in model])

    def _compare(self, view: View, model: Model, most: int = ASKED) -> None:
        """Compare everything that is stored, and the answers about some documents, each time about others."""
        fresh = self._fresh(model)
        ids, contents = [id_.encode() for id_ in self.kind.ids], self.kind.contents
        assert answers(view, ids, contents) == answers(fresh, ids, contents)
        for _ in range(min(most, len(self.kind.asked))):
            self.turns += 1
            asked = self.kind.asked[self.turns % len(self.kind.asked)]
            assert asked_about(view, *asked) == asked_about(fresh, *asked), asked

    def _compare_files(self) -> None:
        """Compare files with the index, and with a fresh one of the same documents."""
        new = write(self.place / "new", self.kind.files)
        again = self.place / "fresh" / "index"
        again.parent.mkdir()
        with Index._create(again, self.kind.parameters, TINY) as fresh:
            fresh._add_records([one.signed for one in self.model])
        reports = [la.compare(new, index=path, min_score=0.0) for path in (self.path, again)]
        told = [(pairs_csv(one), passages_csv(one), one.submitters, one.undefined, one.common) for one in reports]
        assert told[0] == told[1]

    def teardown(self) -> None:
        try:
            self._compare(self.index.snapshot(), self.model, len(self.kind.asked))
            for view, model in self.views:
                self._compare(view, model)
            assert self.index.check() == []
            self.index.close()
            assert sorted(os.listdir(self.path)) == sorted(_files(self.path))
            # What decides must be the same when a run is repeated.
            if self.kind.files and self.turns % COMPARED == 0:
                self._compare_files()
        finally:
            shutil.rmtree(self.place, ignore_errors=True)


def _files(path: Path) -> list[str]:
    """The files of an index that nobody uses: nothing else is left of what was begun."""
    with Index(path) as index:
        return ["catalog.sqlite", "lock", *(one.name for one in index.snapshot().state.segments)]


class CorpusMachine(Machine):
    """Rows of a corpus, some of them removed by dedup."""

    kind = corpus()


class ClassMachine(Machine):
    """Submissions of a class, and starter code."""

    kind = school()


for machine in (CorpusMachine, ClassMachine):
    machine.TestCase.settings = settings(
        max_examples=RUNS,
        stateful_step_count=50,
        deadline=None,
        database=None,
        # A failing run is told as it is: making it shorter takes minutes.
        phases=[Phase.generate],
        derandomize="LOOKALIKE_TORTURE_RUNS" not in os.environ,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
TestCorpus = CorpusMachine.TestCase
TestClass = ClassMachine.TestCase
