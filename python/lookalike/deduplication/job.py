"""Runs a deduplication: reads sources, decides which rows to remove, and writes outputs, complete or not at all."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import _core, params
from lookalike._calls import explained, given
from lookalike._types import Problem, Progress, counted, unheard
from lookalike.corpora import Corpus, Scratch, open_object
from lookalike.corpora.arrays import Wanted, listed
from lookalike.corpora.batches import Source, mended_note
from lookalike.corpora.lines import LineSource
from lookalike.deduplication import contamination
from lookalike.deduplication.archives import Archive, IndexUse
from lookalike.deduplication.ordering import places
from lookalike.deduplication.outputs import Outputs, Stream, check, write
from lookalike.deduplication.reading import DECIDING, READING, Stretch, open_core, open_files, read
from lookalike.deduplication.repeating import repeated_ids
from lookalike.deduplication.result import Deduplication
from lookalike.deduplication.settings import Settings, settings, told_numbers
from lookalike.deduplication.token_rows import TokenSource, are_tokens
from lookalike.designs.filters import Filter
from lookalike.documents.reasons import RefusedError
from lookalike.errors import ParameterError
from lookalike.params import Parameter

if TYPE_CHECKING:
    from lookalike.archive.store import Index

#: Where the rows come from and where results go: what ``dedup`` takes beside ``params.DEDUPLICATION``.
FILES = (
    Parameter("against", "A corpus to compare with: its rows stay, and only rows similar to one of them are removed."),
    Parameter("index", "Remove also rows that this index has, identical or similar: a folder, or an open ``Index``."),
    Parameter("add", "Add the kept rows to the index, so that the next run removes what is similar to them."),
    params.WAIT,
    params.TIME_COLUMN,
    params.EARLIER_RUN,
    Parameter("out", "Write the corpus without near-duplicates to this file, or folder for several inputs."),
    Parameter("clusters", "Write all rows of clusters to this CSV file."),
    Parameter("pairs", "Write every pair at or above the threshold that the method proposes to this CSV file."),
    Parameter("ledger", "Write the removed rows to this file, so that ``restore`` can undo the run."),
    Parameter("report", "Write an HTML report with a sampled exact audit to this new folder."),
    Parameter("overwrite", "Replace outputs that exist."),
    Parameter("progress", "Called with phase, amount done, and total or ``None``."),
)


@explained(*FILES, *params.DEDUPLICATION.values())
def dedup(
    source: Any,
    *,
    against: Any = None,
    index: str | os.PathLike[str] | Index | None = None,
    add: bool = False,
    wait: float = params.WAIT.default,
    time_column: str | None = None,
    earlier_run: str | None = None,
    out: str | os.PathLike[str] | Stream | None = None,
    clusters: str | os.PathLike[str] | None = None,
    pairs: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    method: str | None = None,
    threshold: float | None = None,
    recall: float | None = None,
    sketch: str | None = None,
    size: int | None = None,
    filter: Filter | tuple[int, int, int] | str | None = None,
    modulus: int | None = None,
    contains: bool | None = None,
    contained: bool | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    bits: int | None = None,
    clustering: str | None = None,
    keep: str | None = None,
    distance: int | None = None,
    no_verify: bool | None = None,
    length_within: float | None = None,
    same_language: bool | None = None,
    features: str | None = None,
    ignore: Iterable[str] | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    order: str | None = None,
    format: str | None = None,
    memory: str | int | None = None,
    threads: int | None = None,
    max_errors: int | None = None,
    max_pairs: int | None = None,
) -> Deduplication:
    """Find the near-duplicates of a corpus, and write the corpus without them if ``out`` is given.

    :param source: A path or several (files, folders, globs, ``-``), an Arrow table, or an iterable of texts or rows.
    :parameters:
    :returns: Which rows are removed, which row is kept for each, and how similar they are.
    :raises ParameterError: A parameter is out of range, or means nothing to the method; ``OSError`` if a file fails.
    :raises TooManyErrorsError: More rows than ``max_errors`` were not read; ``RefusedError`` if all of ``against``.
    :raises VersionError: The index was made with other parameters; ``LockedError`` if another process changes it.

    >>> dedup(["one two three four five six", "One, two, three, four, five, six!", "Boat to let."]).select()
    ['one two three four five six', 'Boat to let.']
    """
    use, files = IndexUse(index, add, wait, time_column, earlier_run), Outputs(out, clusters, pairs, ledger, overwrite)
    return _decided(source, against, use, files, report, progress, given(params.DEDUPLICATION, locals()))


def _decided(
    source: Any,
    against: Any,
    archived: IndexUse,
    asked: Outputs,
    report: str | os.PathLike[str] | None,
    progress: Progress | None,
    chosen: dict[str, Any],
) -> Deduplication:
    """Decide a corpus and write its outputs. Errors: as ``dedup``."""
    archived.check(chosen, {"against": against, "pairs": asked.pairs, "report": report})
    pages = _pages(report, asked.overwrite, chosen)
    done: Deduplication | None = None
    try:
        with archived.opened() as archive:
            if archive is not None:
                asked = replace(asked, finished=archive.finished)
            with opened(source, against=against, outputs=asked, progress=progress, archive=archive, **chosen) as found:
                answer, corpus, scratch = found
                # The index has the rows before the outputs have their names: a repeated run gives the same outputs.
                settle = partial(archive.settle, answer, progress) if archive is not None else None
                write(answer, corpus, scratch, asked, progress, settle)
                pages(answer, progress)
                if archive is not None:
                    archive.finish()
                done = answer
    except KeyboardInterrupt:
        # After the last step there is nothing to interrupt: all outputs have their names.
        if done is None:
            raise
    return done


def _pages(
    report: str | os.PathLike[str] | None, overwrite: bool, chosen: dict[str, Any]
) -> Callable[[Deduplication, Progress | None], object]:
    """Check that the folder of the report is free, and return its writer. Errors: ``ParameterError``, ``OSError``."""
    if report is None:
        return lambda answer, progress: None
    # Rendering is loaded only here, because a deduplication without a report needs no templates.
    from lookalike.rendering.html import dedup_pages, folder

    out = Path(report)
    folder.check_out(out, overwrite)
    if chosen.get("no_verify"):
        raise ParameterError("report=… and no_verify cannot be combined: without verification no resemblance is known")
    return lambda answer, progress: dedup_pages.write(answer, out, overwrite=overwrite, progress=progress)


@contextmanager
def opened(
    source: Any,
    *,
    against: Any = None,
    outputs: Outputs = Outputs(),  # noqa: B008
    progress: Progress | None = None,
    archive: Archive | None = None,
    **chosen: Any,
) -> Iterator[tuple[Deduplication, Corpus | None, Scratch]]:
    """Decide a corpus, and keep what is needed to read its rows again until the end of the ``with``.

    Checks that ``outputs`` can be written before anything is read. ``chosen`` are parameters of ``dedup``.
    """
    asked = settings(**chosen) if archive is None else archive.settings(chosen)
    is_sought = contamination.is_sought(asked, against)
    tell = progress or unheard
    with Scratch() as scratch:
        before, problems, others = ([], [], None) if against is None else _sources(against, asked, scratch)
        is_kept = archive is not None and archive.is_added
        sources, found, corpus = _sources(source, asked, scratch, is_copied=outputs.out is not None, is_kept=is_kept)
        check(outputs, corpus)
        offset = sum(one.size for one in before)
        total = offset + sum(one.size for one in sources) or None
        core = open_core(asked, scratch.folder, sketch="shingles" if is_sought else None)
        seen = _core.SeenIds()
        references = read(core, seen, before, asked, lambda done: tell(READING, done, total))
        start, their_states = len(core), core.states
        if against is not None:
            _check_references(core, references, problems, asked, is_files=others is not None)
        if is_sought:
            contamination.seal(core, asked)
        own = read(core, seen, sources, asked, lambda done: tell(READING, offset + done, total))
        own_states = [every - theirs for every, theirs in zip(core.states, their_states, strict=True)]
        check_column(own_states, sources, asked.text_column)
        stretches, notes = [*references, *own], _unnumbered(core, start, sources, asked.number_column)
        every = [*problems, *found, *_problems(stretches), *_bad(core, stretches)]
        repeated = repeated_ids(seen, stretches, asked)
        del seen
        if asked.order is not None:
            parts = [(given, found) for given, found in ((against, references), (source, own)) if found]
            core.set_places(_places(parts, asked, scratch))
        tell(DECIDING, 0, None)
        if archive is not None:
            yield archive.decided(core, asked, own, every, notes, repeated), corpus, scratch
            return
        if is_sought:
            outcome, contaminated = contamination.decided(core, asked)
        else:
            outcome, contaminated = core.decide(asked.arguments(start if against is not None else None)), None
        of = (asked, stretches, start, core, outcome, against is not None)
        answer = Deduplication(*of, every, notes, contaminated, tuple(their_states), repeated)
        yield answer, corpus, scratch


def _sources(
    given: Any, asked: Settings, scratch: Scratch, *, is_copied: bool = False, is_kept: bool = False
) -> tuple[list[Source], list[Problem], Corpus | None]:
    """Open files, or an object with rows. Errors: as ``dedup``.

    ``is_copied``: rows will be copied to an output; ``is_kept``: their other columns are kept as metadata of an index.
    """
    if are_tokens(given):
        return [TokenSource.opened(given, asked)], [], None
    paths = _paths(given)
    if paths is None:
        columns = asked.text_column, asked.id_column, asked.number_column
        return [open_object(given, *columns, with_others=is_kept)], [], None
    corpus = open_files(paths, asked, scratch, is_copied=is_copied or is_kept)
    return list(corpus.sources), list(corpus.problems), corpus


def _places(parts: Sequence[tuple[Any, Sequence[Stretch]]], asked: Settings, scratch: Scratch) -> array[int]:
    """Return the place of each row by the order column; the inputs are opened again. Errors: as ``dedup``."""
    again = replace(asked, id_column=asked.order)
    stretches = []
    for rows, known in parts:
        if "-" in (_paths(rows) or []):
            raise ParameterError("order=… reads a column again, and stdin can be read once: give a file")
        opened_again = _sources(rows, again, scratch)[0]
        stretches.append([replace(one, source=new) for one, new in zip(known, opened_again, strict=True)])
    return places(stretches, asked)


def _unnumbered(core: _core.Corpus, first: int, sources: Sequence[Source], column: str | None) -> list[str]:
    """Return a note on rows without a number, from ``first`` on. Errors: ``ParameterError`` if no row has one."""
    rows, numbered = core.numbered(first) if column is not None else (0, 0)
    there = ""
    if rows and not numbered:
        names = next((names for one in sources if isinstance(one, LineSource) and (names := one.columns())), [])
        there = f"; there are {listed(names)}" if names and column not in names else ""
    return told_numbers(rows, numbered, str(column), there)


def _paths(given: Any) -> list[str] | None:
    """Return the given paths, or ``None`` for an object. A single ``str`` is a path; several are texts."""
    if isinstance(given, str | os.PathLike):
        return [os.fspath(given)]
    if isinstance(given, list | tuple) and given and all(isinstance(one, os.PathLike) for one in given):
        return [os.fspath(one) for one in given]
    return None


def check_column(states: Sequence[int], sources: Sequence[Source], text_column: str) -> None:
    """Errors: ``ParameterError`` if no row has the text column. Lines need not all have the same columns."""
    compared, short, missing = states[:3]
    lines = [source for source in sources if isinstance(source, LineSource)]
    if compared or short or not missing or len(lines) < len(sources):
        return
    names = next((names for source in lines if (names := source.columns())), [])
    if text_column not in names:
        Wanted(text_column).among(names, lines[0].name)


def _check_references(
    core: _core.Corpus, stretches: Sequence[Stretch], found: Sequence[Problem], asked: Settings, *, is_files: bool
) -> None:
    """Check that there is something to look for. REQUIRES: the core holds the rows of ``against`` only.

    Errors: ``ParameterError`` if no row has the text column, ``RefusedError`` if no row of the files has a text.
    """
    check_column(core.states, [one.source for one in stretches], asked.text_column)
    if not is_files or any(core.states[:2]):
        return
    told = [problem for problem in (*found, *_problems(stretches), *_bad(core, stretches)) if not problem.is_note]
    why = str(told[0]) if told else f"{counted(len(core), 'row')}, none with a text"
    raise RefusedError(f"no row of against=… could be read, so there is nothing to look for: {why}")


def _problems(stretches: Sequence[Stretch]) -> list[Problem]:
    return [problem for stretch in stretches for problem in stretch.source.problems]


def _bad(core: _core.Corpus, stretches: Sequence[Stretch]) -> list[Problem]:
    """List the rows that the core could not read, or not as they stand; one line counts those beyond its limit."""

    def line(row: int) -> tuple[str, int]:
        own = next((one for one in stretches if one.first <= row < one.first + one.rows), stretches[-1])
        return own.source.name, row - own.first + 1

    problems = []
    for row, reason in core.problems:
        source, number = line(row)
        problems.append(Problem(source, f"line {number}", reason, 1))
    if rest := core.states[3] - len(problems):
        problems.append(Problem("", "", f"{counted(rest, 'more row')} could not be read", rest))
    mended, first = core.mended
    return [*problems, mended_note(*line(first), mended)] if mended else problems
