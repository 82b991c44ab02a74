"""Documents of an index of each kind for tests, signed as an add signs them, and what to ask about them.

A class has starter code, a corpus has rows that dedup removed (shadows); both have labels. Signing is done once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from lookalike import _core
from lookalike.archive.parameters import Parameters
from lookalike.archive.questions import Asking
from lookalike.archive.signing import sign_batches
from lookalike.archive.state import State
from lookalike.archive.view import View
from lookalike.archive.writing import Signed
from tests.support.archives import fast_folder
from tests.support.submissions import prose, statements, wrapped, write

LABELS = ("2024", "2025")
#: Rows that dedup removed, and the documents that were kept for them.
LEADERS = {"s0": "d0", "s1": "d3"}
#: Least resemblance and containment that is asked for, and most bits of distance: low, so that most documents answer.
THRESHOLD, DISTANCE = 0.2, 10


@dataclass(frozen=True)
class Stored:
    """A document or shadow of an index, and what an add is given for it. ``leader``: the document a shadow follows."""

    id: bytes
    mark: bytes
    record: bytes
    leader: bytes | None = None

    @property
    def signed(self) -> Signed:
        """What an add takes: a shadow has no id."""
        return (self.id if self.leader is None else None), self.mark, self.record


@dataclass
class Kind:
    """Documents by id and number of their text, and documents to ask about with their file names."""

    parameters: Parameters
    documents: dict[tuple[str, int], Stored]
    asked: list[tuple[str, str]]
    #: Labels by id, where there is one.
    labels: dict[str, str]
    #: Files to compare with an index of a class.
    files: dict[str, str | bytes] = field(default_factory=dict)

    @cached_property
    def told(self) -> str:
        """The parameters as the catalogue stores them."""
        return self.parameters.to_json()

    @cached_property
    def ids(self) -> list[str]:
        """All ids of documents."""
        return sorted({id_ for id_, _ in self.documents})

    @cached_property
    def contents(self) -> list[bytes]:
        """All content hashes of documents."""
        return sorted({one.mark[:16] for one in self.documents.values()})


@cache
def corpus() -> Kind:
    """Rows of prose in which some have passages, shingles or everything in common."""
    blocks = [prose(seed, 14) for seed in range(4)]
    texts = [
        "?!",
        "one two three",
        blocks[0] + blocks[1] + blocks[2],
        blocks[0] + blocks[1] + blocks[2] + "more",
        blocks[1],
        "so so so so so so so so so so so so so so",
        blocks[3],
    ]
    parameters = Parameters.of("corpus", k=8, t=12, filter=(8, 2, 1), modulus=2, threshold=0.3)
    documents = {}
    for number, text in enumerate(texts):
        rows = [{"id": f"d{at}", "text": text, "label": LABELS[at % 2]} for at in range(8)]
        made = {one.id.decode(): one for one in _signed(rows, parameters)}
        documents |= {(id_, number): one for id_, one in made.items()}
        documents |= {(shadow, number): _shadow(shadow, made[leader]) for shadow, leader in LEADERS.items()}
    asked = [(text, "") for text in [*texts, blocks[2] + blocks[3], prose(9, 20)]]
    return Kind(parameters, documents, asked, {f"d{at}": LABELS[at % 2] for at in range(8)})


def _shadow(id_: str, kept: Stored) -> Stored:
    """Return a row with the text of a document, as dedup adds it after it was removed for that document."""
    record = _core.shadowed(_core.readdressed(kept.record, id_.encode(), b""), b"{}", (kept.id, 1.0, 1))
    return Stored(id_.encode(), kept.mark, record, kept.id)


@cache
def school() -> Kind:
    """Programs and prose of two years, with starter code."""
    blocks = [statements(seed, "python", 6) for seed in range(4)]
    programs = [wrapped([line for at in some for line in blocks[at]], "python") for some in ([0], [0, 1], [1, 2], [3])]
    texts = [
        "x = 1\n",
        *programs,
        prose(1, 40),
        programs[1] + '\nsaid = "a literal of many words that two may share"\n',
    ]
    parameters = Parameters.of("class", filter=(8, 2, 1), modulus=2, threshold=0.3)
    documents = {}
    with fast_folder() as place:
        for (number, text), label in itertools.product(enumerate(texts), LABELS):
            root = place / f"{number}-{label}"
            handed = write(root / "class", dict.fromkeys(("a.py", "b.py", "c.txt", "d/e.py"), text))
            starter = write(root / "starter", {"given.py": text})
            made = _signed([handed], parameters, label=label, templates=[starter])
            documents |= {(one.id.decode(), number): one for one in made}
    asked = [(text, "q.py") for text in [*texts, programs[0] + programs[2]]] + [(texts[5], "q.txt")]
    labels = {id_: id_.partition("/")[0] for id_, _ in documents}
    return Kind(parameters, documents, asked, labels, {"new.py": programs[1], "e/f.py": programs[2], "g.txt": texts[5]})


def _signed(source: Any, parameters: Parameters, **reading: Any) -> list[Stored]:
    batches = list(sign_batches(source, parameters, threads=1, **reading))
    assert not [problem for batch in batches for problem in batch.problems if not problem.is_note]
    return [Stored(*one) for batch in batches for one in batch.documents]


class AskedView(Asking):
    """Asks one state of an index."""

    def __init__(self, view: View) -> None:
        self.view = view

    def _view(self) -> View:
        return self.view


def fresh_view(kind: Kind, records: list[bytes]) -> View:
    """Return a fresh index of these documents: one segment in memory, nothing removed."""
    segment = _core.Segment.of_records(records, kind.told.encode())
    parts: list[tuple[_core.Segment, bytes | None]] = [(segment, None)] if records else []
    state = State("", kind.told, arrivals=tuple(range(1, len(records) + 1)))
    arrival: Callable[[int, int], int] = lambda _piece, row: row + 1  # noqa: E731
    return View("fresh", state, kind.parameters, _core.Snapshot(parts), parts, arrival)


def asked_about(view: View, text: str, name: str) -> list[Any]:
    """Ask every question about a document; return what does not depend on how the index is stored."""
    asking, how = AskedView(view), {"top": 0, "threshold": THRESHOLD, "distance": DISTANCE, "name": name or None}
    found = asking.query(text, **how)  # type: ignore[arg-type]
    filtered = asking.query(text, where={"label": LABELS[0]}, **{**how, "top": 2})  # type: ignore[arg-type]
    return [found.documents, found.answers, filtered.answers, asking.seen(text, name=name or None)]


def segment_file(kind: Kind, folder: Path, documents: Sequence[Stored]) -> Path:
    """Write documents as a segment file of another index with the same parameters."""
    path = folder / "elsewhere.lat"
    path.unlink(missing_ok=True)
    told = b'{"parameters":%b}' % kind.told.encode()
    _core.write_segment(path, [one.record for one in documents], told, 1 << 20)
    return path
