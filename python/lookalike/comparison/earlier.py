"""Earlier submissions that stand in indexes: they are compared as files of earlier years are, without being read again.

The core finds the documents that share something with a new submission and makes their tokens again from what the index
keeps. They have their ids as names; where a new submission or another index has the same name, the name of their index
stands in front, as that of a folder of an earlier year does.

Cost: linear in the postings of what is asked for, and in the documents that share something with a new submission.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from lookalike import _core, params
from lookalike._types import Progress, bytes_of, text_of
from lookalike.comparison.reading import Question, Read
from lookalike.comparison.stored import FileFacts, read_facts
from lookalike.documents import Submission
from lookalike.documents.intake import distinct
from lookalike.errors import DamagedError, ParameterError, VersionError

if TYPE_CHECKING:
    from lookalike.archive.parameters import Parameters
    from lookalike.archive.store import Index

Path: TypeAlias = str | os.PathLike[str]
#: What ``compare`` takes as indexes.
GivenIndexes: TypeAlias = "Path | Index | Sequence[Path | Index]"
#: Documents that are made again at a time.
BATCH = 256
LOADING = "reading the archive"
#: The entry of an index's thresholds for all languages that it does not name.
OTHERS = "code"
#: What the metadata of a submission without a token say.
EMPTY = "empty"


class Opened(NamedTuple):
    """A state of an index: the name of its folder, its parameters, and its documents."""

    title: str
    parameters: Parameters
    core: _core.Snapshot


class Stored(NamedTuple):
    """A document of an index as a submission of an earlier year."""

    submission: Submission
    reads: list[Read]
    digest: str
    person: int


class Found(NamedTuple):
    """What indexes hold for a comparison."""

    core: _core.Earlier
    stored: list[Stored]
    #: Starter code of the indexes.
    templates: list[Read]
    #: Names of all documents of persons who also have a new submission, those that share nothing included.
    returning: list[str]
    #: Names of all documents without a token.
    empty: list[str]


class Archive:
    """The indexes of a comparison."""

    def __init__(self, opened: Sequence[Opened]) -> None:
        self.opened = opened
        self._clashing: set[str] = set()

    def titles(self, names: Sequence[str]) -> list[set[str]]:
        """Return, for each name of a submission that was handed in, the names of the indexes that have it too."""
        ids = [bytes_of(name) for name in names]
        found: list[set[str]] = [set() for _ in names]
        for title, _, core in self.opened:
            for has, number in zip(found, core.find_ids(ids), strict=True):
                has |= {title} if number is not None else set()
        self._clashing = {name for name, has in zip(names, found, strict=True) if has}
        return found

    def names(self, found: Sequence[tuple[int, str]], taken: Sequence[str]) -> list[str]:
        """Return a name for each document, given by index and id, that neither another nor a taken one has."""
        in_front = set(self._clashing)
        for place, (title, _, core) in enumerate(self.opened):
            others = [name for index, name in found if index != place and self.opened[index].title != title]
            numbers = core.find_ids([bytes_of(name) for name in others])
            in_front |= {name for name, number in zip(others, numbers, strict=True) if number is not None}
        named = [f"{self.opened[index].title}/{name}" if name in in_front else name for index, name in found]
        return distinct([*taken, *named])[len(taken) :]

    def find(
        self,
        handed: Sequence[tuple[Submission, list[Read]]],
        persons: Sequence[str],
        question: Question,
        threads: int,
        tell: Progress,
    ) -> Found:
        """Find the documents that share something with a new submission. Errors: ``DamagedError``, ``OSError``."""
        people = [
            (bytes_of(person), _known_as(one), bool(_files(reads)) or not one.old)
            for (one, reads), person in zip(handed, persons, strict=True)
        ]
        snapshots = [one.core for one in self.opened]
        core = _core.Earlier(snapshots, people, question.thresholds("text"), threads)
        places = core.candidates([_files(reads) for one, reads in handed if not one.old])
        rows = []
        for at in range(0, len(places), BATCH):
            tell(LOADING, at, len(places))
            rows += core.load(places[at : at + BATCH], False)
        tell(LOADING, len(places), len(places))
        new = {person for person, (one, _) in zip(core.handed, handed, strict=True) if not one.old}
        own = {(index, number): (index, text_of(id_)) for index, number, id_ in core.places_of(list(new))}
        empty = {(index, number): (index, name) for index, number, name in self._empty()}
        found = {(row[0], row[1]): (row[0], text_of(row[3].id)) for row in rows} | own | empty
        names = dict(zip(found, self.names([*found.values()], [one.name for one, _ in handed]), strict=True))
        stored = [_stored(names[row[0], row[1]], row) for row in rows]
        templates = [read for row in core.load(core.templates(), True) for read in _stored("", row).reads]
        return Found(core, stored, templates, [names[place] for place in own], [names[place] for place in empty])

    def _empty(self) -> Iterator[tuple[int, int, str]]:
        """Yield index, number and id of the documents without a token. Cost: a pass over the metadata."""
        for index, (_, _, core) in enumerate(self.opened):
            if not core.count_where([(EMPTY, "true")]):
                continue
            for number in filter(core.is_live, range(core.rows)):
                row = core.row(number)
                if not row.flags and json.loads(row.meta or "{}").get(EMPTY) is True:
                    yield index, number, text_of(row.id)


@contextmanager
def opened(given: GivenIndexes, question: Question) -> Iterator[Archive | None]:
    """Open indexes for reading and check that they can be asked this. Errors: as opening, and ``VersionError``."""
    several: list[Any] = (
        [given] if isinstance(given, str | os.PathLike) or not isinstance(given, Sequence) else [*given]
    )
    if not several:
        yield None
        return
    from lookalike.archive.store import Index

    with ExitStack() as stack:
        views, seen = [], set[str]()
        for one in several:
            index = one if isinstance(one, Index) else stack.enter_context(Index(one))
            if index.path in seen:
                raise ParameterError(f"index `{index.path}` is given twice, and would count twice: give it once")
            seen.add(index.path)
            view = stack.enter_context(index.snapshot())
            _check(os.path.basename(index.path), view.parameters, question)
            view.parameters.check_versions(view.name, ["passages"])
            views.append(Opened(os.path.basename(index.path), view.parameters, view.core))
        yield Archive(views)


def _check(title: str, parameters: Parameters, question: Question) -> None:
    """Refuse an index that cannot be asked. Errors: ``ParameterError``, ``VersionError``."""
    if "passages" not in parameters.questions or not parameters.texts:
        missing = "texts" if not parameters.texts else "passages"
        raise ParameterError(
            f"index `{title}` was created without {missing}, which a comparison needs: create one with {missing}"
        )
    asked = {language: question.thresholds(language) for language in parameters.thresholds if language != OTHERS}
    if parameters.language != "text":
        asked[OTHERS] = params.CODE_THRESHOLDS if question.k is question.t is None else question.thresholds(OTHERS)
    pairs = [
        ("language", parameters.language, question.language),
        ("comments", parameters.comments, question.comments),
        *((f"k, t of {language}", parameters.thresholds[language], both) for language, both in asked.items()),
    ]
    if other := [f"{what}: {_told(has)}, not {_told(wanted)}" for what, has, wanted in pairs if has != wanted]:
        raise VersionError(
            f"index `{title}` was made with other parameters than this comparison has ({'; '.join(other)}): compare "
            "with those of the index, or create another one"
        )


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _stored(name: str, row: tuple[int, int, int | None, _core.StoredRow, list[_core.ReadFile], bytes]) -> Stored:
    """Return a document of an index as a submission. Errors: ``DamagedError``."""
    _, _, person, stored, files, facts = row
    try:
        known = read_facts(facts) if facts else None
        meta = json.loads(stored.meta) if stored.meta else {}
    except ValueError:
        raise DamagedError(f"document `{text_of(stored.id)}` is damaged: what is known of it cannot be read") from None
    of_row = [FileFacts(name or text_of(stored.id), ("text",), (), "", ())] * len(files)
    told = known.files if known else of_row
    reads = [
        Read(fact.name, file, fact.languages, fact.notes, None, fact.format, fact.places)
        for fact, file in zip(told, files, strict=True)
    ]
    submission = Submission(name, _text(meta, "person"), _text(meta, "label"), _text(meta, "time"), True, ())
    digest = known.digest if known else bytes(stored.content).hex()
    return Stored(submission, reads, digest, -1 if person is None else person)


def _text(meta: Any, key: str) -> str | None:
    found = meta.get(key) if isinstance(meta, dict) else None
    return found if isinstance(found, str) else None


def _files(reads: Sequence[Read]) -> list[_core.ReadFile]:
    return [read.file for read in reads if read.file is not None]


def _known_as(one: Submission) -> bytes | None:
    return None if one.old or not one.known_as else bytes_of(one.known_as)
