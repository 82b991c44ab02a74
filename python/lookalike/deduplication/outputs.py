"""Writes the outputs of a deduplication: the corpus without near-duplicates, clusters, pairs, and a ledger."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeGuard, cast

from lookalike import _core
from lookalike._core import __version__
from lookalike._types import Progress, unheard
from lookalike.archive.delivering import is_held
from lookalike.corpora import Corpus, Filtering, Ledger, Plan, Scratch, Sink, Staging, Verdict, plan, suffixes
from lookalike.corpora.compression import chunks
from lookalike.corpora.encodings import Removed
from lookalike.corpora.lines import check_rows
from lookalike.corpora.places import Place
from lookalike.corpora.staging import Decision
from lookalike.corpora.tables import write_table
from lookalike.deduplication.contamination import ListedPairs
from lookalike.deduplication.picking import Row, pick
from lookalike.deduplication.placing import Places, told_apart
from lookalike.deduplication.reading import NAMING, WRITING
from lookalike.deduplication.result import LINKS, Deduplication, each_pair
from lookalike.engines.writing import WriteError
from lookalike.errors import ParameterError

Path = str | os.PathLike[str]
#: Pairs written at a time.
PART = 1 << 16


class Stream(Protocol):
    """A binary file that is open for writing."""

    def write(self, data: bytes, /) -> int:
        """Write all of it."""


def is_stream(out: Path | Stream | None) -> TypeGuard[Stream]:
    """Tell whether rows go to an open file instead of a path."""
    return hasattr(out, "write")


@dataclass(frozen=True)
class Outputs:
    """The files to write."""

    out: Path | Stream | None = None
    clusters: Path | None = None
    pairs: Path | None = None
    ledger: Path | None = None
    overwrite: bool = False
    #: Files and folders of an interrupted run that has just been finished: the same run may write them again.
    finished: Sequence[str] = ()

    @property
    def any(self) -> bool:
        """Whether any file is to be written."""
        return any(one is not None for one in (self.out, self.clusters, self.pairs, self.ledger))


class _Lines:
    """The core's filter of lines, which also checks that the second pass reads the same rows as the first."""

    def __init__(self, mask: bytes) -> None:
        self._core = _core.LineFilter(mask)
        self._rows = len(mask)

    def feed(self, data: bytes, last: bool) -> tuple[bytes, list[Removed]]:
        """Return the kept bytes of a chunk, and the removed lines that end in it."""
        kept, removed = self._core.feed(data, last)
        if last:
            check_rows(self._core.rows, self._rows)
        return kept, [Removed(*one) for one in removed]


def check(asked: Outputs, corpus: Corpus | None) -> None:
    """Check that the outputs can be written. Errors: ``ParameterError``, ``FileExistsError``."""
    if asked.out is not None and corpus is None:
        raise ParameterError("`out` works on files, and an object was given: use `select()` of the result")
    tables = {"clusters": asked.clusters, "pairs": asked.pairs}
    if any(one is not None and os.fspath(one) == "-" for one in (*tables.values(), asked.ledger)) or asked.out == "-":
        raise ParameterError("`-` is not a file: use a path, or for out=… an open binary file")
    if asked.ledger is not None and asked.out is None:
        raise ParameterError("ledger=… lists the rows removed from an output: give out=… as well")
    for name, table in tables.items():
        if table is not None:
            suffixes.check_table(name, os.fspath(table))
    if asked.ledger is not None:
        suffixes.check_ledger(os.fspath(asked.ledger))
    with _staging(asked, corpus) as staging:
        targets = [os.fspath(one) for one in (asked.clusters, asked.pairs, asked.ledger) if one is not None]
        if corpus is not None and is_stream(asked.out):
            suffixes.check_stream(corpus, with_ledger=asked.ledger is not None)
        elif corpus is not None and asked.out is not None:
            targets += plan(corpus, cast(Path, asked.out)).targets
        for target in targets:
            staging.check(target)


def _staging(asked: Outputs, corpus: Corpus | None, expected_bytes: int = 0) -> Staging:
    inputs = corpus.paths if corpus is not None else ()
    return Staging(
        overwrite=asked.overwrite,
        inputs=inputs,
        expected_bytes=expected_bytes,
        replaceable=asked.finished,
        is_held=is_held,
    )


def write(
    answer: Deduplication,
    corpus: Corpus | None,
    scratch: Scratch,
    asked: Outputs,
    progress: Progress | None,
    settle: Callable[[], Decision | None] | None = None,
) -> None:
    """Write all outputs, and rename them to their names at the end.

    ``settle`` is called before the first is renamed, and returns the decision that the outputs belong to, if any. Rows
    for a stream belong to none: what was written to it can neither be finished nor taken back.

    Errors: ``OSError``, ``ParameterError``, ``RefusedError`` if an input was changed or cannot be copied.
    """
    settle = settle or (lambda: None)
    if not asked.any:
        settle()
        return
    check(asked, corpus)
    tell = progress or unheard
    expected = corpus.size if corpus is not None and asked.out is not None else 0
    found = answer.pair_stream() if asked.pairs is not None else None
    names = _names(answer, asked, found, tell)
    tell(WRITING, 0, expected or None)
    staging = _staging(asked, corpus, expected)
    with _ended_well(staging), ExitStack() as stack:
        stack.enter_context(staging)
        if asked.clusters is not None:
            _table(staging, asked.clusters, _clusters(answer, names))
        if asked.pairs is not None and found is not None:
            _table(staging, asked.pairs, _pairs(answer, found, names))
        if corpus is not None and (asked.out is not None or asked.ledger is not None):
            writing = _Writing(answer, corpus, asked, names, lambda done: tell(WRITING, done, expected or None))
            rows = stack.enter_context(Staging(expected_bytes=expected)) if is_stream(asked.out) else staging
            written = writing.write(scratch, staging, rows, stack)
            if is_stream(asked.out):
                settle()
                # The ledger is there before the first row. Rows that cannot be delivered leave no output behind.
                rows.commit()
                staging.place()
                _copy(written, corpus, asked.out)
                staging.settle()
        if not is_stream(asked.out):
            decision = settle()
            staging.commit() if decision is None else staging.commit_with(decision)


@contextmanager
def _ended_well(staging: Staging) -> Iterator[None]:
    """Ignore an interrupt that comes when all outputs have their names, and only temporary files are left to remove."""
    try:
        yield
    except KeyboardInterrupt:
        if not staging.is_committed:
            raise


def _copy(written: Plan, corpus: Corpus | None, stream: Stream) -> None:
    """Write the rows of all sources to a stream, expanded, each source from a new line on."""
    for name, source in zip(written.names, corpus.sources if corpus is not None else (), strict=True):
        path = os.path.join(written.out, name) if name else written.out
        place = Place(path, path)
        last = b"\n"
        with place.open() as file:
            for piece in chunks(file, place.compression() if source.format == "jsonl" else None):
                _deliver(piece, stream)
                last = piece[-1:]
        if last != b"\n" and len(written.names) > 1:
            _deliver(b"\n", stream)


def _deliver(piece: bytes, stream: Stream) -> None:
    """Write to a stream. Errors: ``WriteError`` with the name of the stream; a closed pipe is told as it is."""
    try:
        stream.write(piece)
    except BrokenPipeError:
        raise
    except OSError as error:
        name = getattr(stream, "name", "out")
        raise WriteError(error.errno, f"`{name}` cannot be written: {error.strerror or error}") from None


def _names(
    answer: Deduplication, asked: Outputs, found: _core.PairStream | ListedPairs | None, tell: Progress
) -> dict[int, Row]:
    """Return the names of all rows that appear in an output."""
    wanted: set[int] = set()
    if asked.clusters is not None:
        wanted.update(answer.gone)
    if asked.clusters is not None or asked.ledger is not None:
        wanted.update(answer.cluster_sizes)
    if found is not None:
        wanted.update(row for row, is_paired in enumerate(found.rows()) if is_paired)
    if not wanted:
        return {}
    total = sum(one.source.size for one in answer.stretches) or None
    archived = answer.archived
    kept = {} if archived is None else {row: Row(one.name, None) for row, one in enumerate(archived.kept)}
    rows = pick(answer.stretches, wanted - kept.keys(), answer.settings, tell=lambda done: tell(NAMING, done, total))
    # Ids of other days are not known, so `1` and `"1"` are told apart by their places only.
    return told_apart(rows) if archived is None else rows | kept


def _table(staging: Staging, target: Path, rows: Iterator[list[Any]]) -> None:
    name = os.fspath(target)
    write_table(staging.file(name), name, next(rows), rows)


def _clusters(answer: Deduplication, names: dict[int, Row]) -> Iterator[list[Any]]:
    """Yield the rows of all clusters; with an index the removed rows only, without a number of the cluster.

    Whether a kept row has a cluster, and its number, would depend on later days.
    """
    measures, values = _measures(answer)
    is_daily = answer.archived is not None
    numbered = [] if is_daily else ["cluster"]
    yield ["id", *numbered, "representative", *measures, "link", *_columns("", "representative_")]
    places = Places(answer.stretches, () if answer.archived is None else answer.archived.kept)
    numbers = {survivor: number for number, survivor in enumerate(sorted(answer.cluster_sizes), 1)}
    rows = answer.gone if is_daily else sorted([*numbers, *answer.gone])
    found = values([(row, answer.survivors[row]) for row in rows], [answer.resemblances[row] for row in rows])
    for row, measured in zip(rows, found, strict=True):
        survivor = answer.survivors[row]
        link = LINKS[answer.links[row]]
        number = [] if is_daily else [numbers[survivor]]
        where = *places[row], *places[survivor]
        yield [names[row].name, *number, names[survivor].name, *measured, link, *where]


def _pairs(answer: Deduplication, found: _core.PairStream | ListedPairs, names: dict[int, Row]) -> Iterator[list[Any]]:
    """Yield the table of pairs, a part at a time; a note tells if not all are listed."""
    measures, values = _measures(answer)
    yield ["left", "right", *measures, "link", *_columns("left_", "right_")]
    places = Places(answer.stretches)
    most = answer.settings.max_pairs or len(found)
    if most < len(found):
        answer.notes.append(
            f"--pairs lists the first {most:,} of {len(found):,} pairs, by row: use --max-pairs 0 for all"
        )
    if isinstance(found, ListedPairs) and (others := found.contamination.repeated):
        answer.notes.append(
            f"references found that have the text of an earlier one: {others:,}; "
            "--pairs lists only the first of each text"
        )
    pairs = islice(each_pair(found), most)
    while part := list(islice(pairs, PART)):
        measured = values([(pair.left, pair.right) for pair in part], [pair.resemblance for pair in part])
        for pair, one in zip(part, measured, strict=True):
            where = *places[pair.left], *places[pair.right]
            yield [names[pair.left].name, names[pair.right].name, *one, pair.link, *where]


def _columns(*sides: str) -> list[str]:
    """Return the columns that say where the rows of a line come from."""
    return [side + name for side in sides for name in ("source", "row")]


Measured = Callable[[list[tuple[int, int]], list[float]], Iterable[list[Any]]]


def _measures(answer: Deduplication) -> tuple[list[str], Measured]:
    """Return the columns and values that measure pairs, named by what was measured; for simhash also the distance."""

    def resemblances(_pairs: list[tuple[int, int]], scores: list[float]) -> Iterable[list[Any]]:
        return ([f"{score:.4f}"] for score in scores)

    def distances(pairs: list[tuple[int, int]], _scores: list[float]) -> Iterable[list[Any]]:
        return ([bits] for bits in answer.distances(pairs))

    def both(pairs: list[tuple[int, int]], scores: list[float]) -> Iterable[list[Any]]:
        return ([*one, *two] for one, two in zip(resemblances(pairs, scores), distances(pairs, scores), strict=True))

    def contained(pairs: list[tuple[int, int]], _scores: list[float]) -> Iterable[list[Any]]:
        return map(partial(_shares, answer), pairs)

    def features(_pairs: list[tuple[int, int]], scores: list[float]) -> Iterable[list[Any]]:
        return ([_equal(answer, score)] for score in scores)

    if answer.contamination is not None:
        return ["contains", "contained", "side"], contained
    if answer.settings.is_by_features:
        return ["features"], features
    if answer.settings.is_by_distance:
        return ["distance"], distances
    if answer.settings.method == "simhash":
        return ["resemblance", "distance"], both
    return [answer.settings.measure], resemblances


def _equal(answer: Deduplication, score: float) -> int:
    """Return the number of equal features."""
    found = answer.settings.filter
    return 0 if found is None else round(score * found.k)


def _measured(answer: Deduplication, row: int) -> float | int:
    """Return what was measured between a row and the row kept for it: a share, the bits of a distance, or features."""
    score = answer.resemblances[row]
    if answer.settings.is_by_features:
        return _equal(answer, score)
    return round((1 - score) * 64) if answer.settings.is_by_distance else round(score, 6)


def _shared(answer: Deduplication, row: int) -> dict[str, Any]:
    """Return what the ledger says of a row that contains a reference, or is contained in one."""
    found = None if answer.contamination is None else answer.contamination.of_row(row)
    if found is None:
        return {}
    return {"contains": round(found.contains, 6), "contained": round(found.contained, 6), "side": found.side}


def _shares(answer: Deduplication, pair: tuple[int, int]) -> list[Any]:
    """Return what a reference and a row share; nothing for a row that is a reference itself."""
    assert answer.contamination is not None
    found = answer.contamination.of_pair(*pair) or answer.contamination.of_row(pair[0])
    return ["", "", ""] if found is None else [f"{found.contains:.4f}", f"{found.contained:.4f}", found.side]


@dataclass(frozen=True)
class _Writing:
    """Writes the corpus without the removed rows, and their ledger."""

    answer: Deduplication
    corpus: Corpus
    asked: Outputs
    names: dict[int, Row]
    tell: Callable[[int], None]

    def write(self, scratch: Scratch, staging: Staging, rows: Staging, stack: ExitStack) -> Plan:
        """Write them to where the staging has them; return where they will be."""
        # Rows for a stream are complete in the scratch folder before the first of them is written.
        # A name that ends in a dot has no suffix, and what it names is not compressed.
        out = scratch.path(".") if is_stream(self.asked.out) else self.asked.out
        planned = plan(self.corpus, cast(Path, out or ""))
        book = stack.enter_context(Ledger(scratch.path())) if self.asked.ledger is not None else None
        sink = Sink(planned, rows)
        filtering = Filtering(self.corpus, sink, ledger=book, verdict=self._verdict(), make=_Lines, tell=self.tell)
        own = self.answer.stretches[len(self.answer.stretches) - len(self.corpus.sources) :]
        facts = filtering.write([self.answer.mask(one) for one in own])
        self.answer.problems.extend(filtering.problems)
        if book is not None and self.asked.ledger is not None:
            target = os.fspath(self.asked.ledger)
            header = {"program": f"lookalike {__version__}", "parameters": self.answer.settings.shown}
            book.write(staging.file(target, is_first=True), target, header, facts, is_folder=planned.is_folder)
        return planned

    def _verdict(self) -> Callable[[int, int], Verdict]:
        """Return a function from source and row to the reason of removal; sources of ``against`` are negative."""
        answer, names = self.answer, self.names
        firsts = [one.first for one in answer.stretches]
        others = len(firsts) - len(self.corpus.sources)

        def verdict(number: int, row: int) -> Verdict:
            whole = firsts[others + number] + row
            survivor = answer.survivors[whole]
            # Several sources may begin at this row; all but the last of them are empty.
            place = bisect_right(firsts, survivor) - 1
            name = names[survivor].name if survivor in names else None
            found = (place - others, survivor - firsts[place], name)
            value, link = _measured(answer, whole), LINKS[answer.links[whole]]
            shared = _shared(answer, whole)
            return Verdict(found, answer.settings.measure, value, link, answer.settings.method, shared)

        return verdict
