"""Indexes of tiny documents for tests, and everything that one of them holds."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.store import Index
from lookalike.archive.view import View
from tests.support.fast import FAST

#: Sizes so small that segments and merges happen all the time.
TINY = Policy(tail_documents=4, tail_bytes=1 << 20, fan_in=3, tier_bytes=9_000, memory=1 << 20, reserve=0)
PARAMETERS = Parameters.of("corpus")
#: Documents by id in the order of arrival: content and record.
Model = dict[bytes, tuple[bytes, bytes]]


@contextlib.contextmanager
def fast_folder() -> Iterator[Path]:
    """A temporary folder, in memory if possible."""
    path = Path(tempfile.mkdtemp(prefix="lookalike-test-", dir=FAST))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def create(path: Path, policy: Policy = TINY) -> Index:
    return Index._create(path, PARAMETERS, policy)


def reopen(path: Path, policy: Policy = TINY) -> Index:
    return Index._open(path, policy, write=True)


def put(model: Model, documents: Sequence[tuple[bytes, bytes, bytes]]) -> None:
    """What an add does: other content moves a document to the end, equal content leaves it where it is."""
    for id_, content, record in documents:
        if id_ in model and model[id_][0] == content:
            continue
        model.pop(id_, None)
        model[id_] = content, record


def answers(view: View, ids: Sequence[bytes], contents: Sequence[bytes]) -> dict[str, Any]:
    """Everything that a view holds, in a form that does not depend on how it is stored."""
    core = view.core
    rows = list(view.every_row())
    name = {number: bytes(row.id) for number, row in rows}
    found = core.find_ids(list(ids))
    shadows = core.find_shadows(list(ids))
    return {
        "documents": [(bytes(row.id), bytes(row.content), bytes(row.meta), row.flags, row.leader) for _, row in rows],
        "records": list(view.records()),
        "ids": [None if number is None else name[number] for number in found],
        "shadows": [[name[number] for number in some] for some in shadows],
        "contents": [[name[number] for number in some] for some in core.find_contents([one[:16] for one in contents])],
        "live": (core.live, len(view)),
        "order": list(name) == sorted(name),
    }


def snapshot_of(path: Path) -> list[tuple[bytes, bytes]]:
    """Ids and records of the documents of an index, read by a fresh handle."""
    with Index(path) as index, index.snapshot() as view:
        ids = [bytes(row.id) for _, row in view.rows()]
        return list(zip(ids, view.records(), strict=True))


def listed(model: Model) -> list[tuple[bytes, bytes]]:
    return [(id_, record) for id_, (_, record) in model.items()]
