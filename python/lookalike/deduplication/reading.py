"""The first pass: feeds every batch of every source to the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lookalike import _core
from lookalike._types import Problem, counted
from lookalike.corpora import Corpus, Scratch, ids, open_sources
from lookalike.corpora.arrays import USUAL_ID
from lookalike.corpora.batches import RECORD_BYTES, Batch, Columns, Lines, Source, as_bytes
from lookalike.deduplication.settings import Settings
from lookalike.errors import TooManyErrorsError

READING, DECIDING, NAMING, WRITING = "reading", "comparing", "naming", "writing"


@dataclass(frozen=True, slots=True)
class Stretch:
    """The rows of one source within the corpus."""

    source: Source
    first: int
    rows: int


def open_files(paths: Sequence[str], settings: Settings, scratch: Scratch, *, is_copied: bool = False) -> Corpus:
    """Open the inputs as sources; with ``is_copied`` rows will be copied to an output. Errors: as ``open_sources``."""
    return open_sources(
        paths,
        scratch,
        text_column=settings.text_column,
        id_column=settings.id_column,
        number_column=settings.number_column,
        format=settings.format,
        memory=settings.memory,
        is_copied=is_copied,
    )


def open_core(settings: Settings, folder: str, *, sketch: str | None = None) -> _core.Corpus:
    """Return an empty corpus in the core; ``sketch`` is kept of a text, or what the method needs.

    Errors: ``ParameterError``.
    """
    return _core.Corpus(
        sketch or settings.kept_sketch,
        settings.size,
        settings.modulus,
        settings.shingle,
        settings.unit,
        settings.labelled,
        settings.text_column,
        settings.id_column or USUAL_ID,
        settings.number_column,
        RECORD_BYTES,
        settings.memory // 2,
        settings.threads,
        folder,
        settings.simhash,
        not settings.no_verify,
        settings.bits,
        (settings.filter.k, settings.filter.s) if settings.is_by_features and settings.filter else None,
        settings.limits[0] is not None,
        settings.limits[1],
    )


def read(
    core: _core.Corpus,
    seen: _core.SeenIds,
    sources: Iterable[Source],
    settings: Settings,
    tell: Callable[[int], None],
) -> list[Stretch]:
    """Feed the sources to the core, in order, and ids to ``seen``. Errors: ``TooManyErrorsError``, ``OSError``."""
    stretches: list[Stretch] = []
    before = 0
    lost: list[Problem] = []
    for source in sources:
        first = len(core)
        for batch in source.batches():
            push(core, batch, seen)
            tell(before + source.done)
            check_errors(core, [*lost, *source.problems], settings)
        lost += source.problems
        check_errors(core, lost, settings)
        stretches.append(Stretch(source, first, len(core) - first))
        before += source.size
        tell(before)
    return stretches


def push(core: _core.Corpus, batch: Batch, seen: _core.SeenIds | None = None) -> int:
    """Feed one batch, and its ids if they are wanted; return its bytes."""
    if isinstance(batch, Lines):
        keys = core.push_lines(batch.data, batch.last)
        if seen is not None:
            seen.push_keys(keys)
        return len(batch.data)
    if seen is not None:
        ids.take(seen, batch)
    if isinstance(batch, Columns):
        validity = None if batch.validity is None else as_bytes(batch.validity)
        data = as_bytes(batch.data)
        core.push_columns(
            validity, as_bytes(batch.offsets), data, batch.width, batch.rows, batch.is_text, batch.numbers
        )
        return data.nbytes
    core.push_texts([text for _, text in batch.rows], batch.numbers)
    return sum(len(text) for _, text in batch.rows if text is not None)


def check_errors(core: _core.Corpus, found: Sequence[Problem], settings: Settings) -> None:
    """Errors: ``TooManyErrorsError`` if more rows than allowed could not be read."""
    if settings.max_errors is None:
        return
    found = [problem for problem in found if not problem.is_note]
    bad = core.states[3] + sum(max(problem.rows, 1) for problem in found)
    if bad > settings.max_errors:
        first = [f"{problem.source}, {problem.place}: {problem.reason}" for problem in found[:1]]
        first += [f"row {row:,}: {reason}" for row, reason in core.problems[:1]]
        raise TooManyErrorsError(
            f"{counted(bad, 'row')} could not be read, more than max_errors `{settings.max_errors}` allows; "
            f"the first is {first[0]}"
        )
