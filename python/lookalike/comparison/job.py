"""Compares submissions and finds the material they share, as MOSS does.

The front ends read files, the core makes tokens of them and matches them, and the result is a :class:`Report`. One bad
file never ends a comparison: it is listed with its reason.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from lookalike import _core, documents, params
from lookalike._calls import explained
from lookalike._types import Progress, unheard
from lookalike.comparison import earlier, token_documents
from lookalike.comparison.earlier import Archive, Found, GivenIndexes
from lookalike.comparison.outliers import with_outliers
from lookalike.comparison.persons import persons
from lookalike.comparison.reading import READING, Question, Read, read_all, renamed
from lookalike.comparison.readings import Handed, read_apart
from lookalike.comparison.result import (
    Cluster,
    Common,
    Entry,
    File,
    Gap,
    Marks,
    Pair,
    Passage,
    Region,
    Remark,
    Report,
)
from lookalike.comparison.rows import Row, pairs_elsewhere, returning, rows_of, submitters
from lookalike.comparison.sections import with_sections
from lookalike.comparison.token_documents import Given
from lookalike.documents import Limits, Submission, understanding
from lookalike.engines import local
from lookalike.errors import ParameterError
from lookalike.frontends import FrontEnd, FrontEnds, with_own

_EMPTY = "too short to compare: there is nothing in it"
#: Seconds between two calls of progress, roughly; the comparison can be interrupted between them.
PATIENCE = 0.25
COMPARING = "comparing submissions"


#: What ``compare`` takes, in the words of the command line.
COMPARING_BY = (
    params.TEMPLATE, params.OLD, params.INDEXES, params.LANGUAGE, params.K, params.T, params.BY_DIRECTORY,
    params.LAYOUT, params.INCLUDE, params.EXCLUDE, params.FOLLOW_LINKS, params.COMMENTS, params.MAX_SHARING,
    params.MIN_SCORE, params.MIN_CONTAINED, params.MIN_PASSAGE, params.CLUSTER_THRESHOLD, params.TITLE,
    params.MAX_PAIRS,
)  # fmt: skip


@explained(*COMPARING_BY)
def compare(
    submissions: Given,
    *,
    template: Given = (),
    old: Given = (),
    index: GivenIndexes = (),
    language: str | None = None,
    k: int | None = None,
    t: int | None = None,
    by_directory: bool | None = None,
    layout: str | None = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    follow_links: bool = False,
    comments: bool = False,
    max_sharing: int | None = None,
    min_score: float | None = None,
    min_contained: float | None = None,
    min_passage: int | None = None,
    cluster_threshold: float | None = None,
    title: str | None = None,
    frontends: Sequence[FrontEnd] = (),
    max_pairs: int = params.MAX_PAIRS.default,
    limits: Limits | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Compare submissions and find the material that each pair shares.

    :param submissions: Folders, files, archives or globs, as the command line takes them; or ``Tokens``, one per
        submission, in a list or by name in a mapping.
    :parameters:
    :param frontends: Front ends of your own, which are preferred to the built-in ones.
    :param limits: How much is read at most.
    :param threads: How many cores to use; ``None`` for all.
    :param progress: Called with phase, amount done, and total or ``None``.
    :returns: Ranked pairs with their passages, clusters, and what was skipped; ``write_report`` writes it as pages.
    :raises ParameterError: A parameter is out of range, or there are fewer than two submissions.
    :raises FrontendError: Nothing could be read.
    :raises FileNotFoundError: A path does not exist.
    :raises VersionError: An index was made with other parameters; the message has both.
    :raises DamagedError: An index is damaged.

    >>> from lookalike.tokens import Tokens
    >>> report = compare({"ann": Tokens(range(40)), "bob": Tokens([7, *range(40)]), "eve": Tokens(range(90, 120))})
    >>> [(report.entries[pair.left].name, report.entries[pair.right].name) for pair in report.pairs]
    [('ann', 'bob')]
    """
    if refusal := params.MAX_PAIRS.refusal(max_pairs):
        raise ParameterError(f"max_pairs `{max_pairs}` {refusal}")
    readers = with_own(frontends)
    least = min_score, min_contained, min_passage, cluster_threshold
    question = _question(readers, language, k, t, comments, max_sharing, *least)
    included, excluded = ([one] if isinstance(one, str) else one for one in (include, exclude))
    choice = Choice(by_directory, included, excluded, layout or params.LAYOUT.default, follow_links, limits or Limits())
    inputs = Inputs(submissions, old, template, index)
    return _compared(inputs, choice, question, readers, title, max_pairs, threads, progress)


class Inputs(NamedTuple):
    """The documents of a comparison as they were given."""

    submissions: Given
    old: Given
    templates: Given
    indexes: GivenIndexes = ()


class Choice(NamedTuple):
    """The files that are read, and how they form submissions."""

    by_directory: bool | None
    include: Sequence[str]
    exclude: Sequence[str]
    layout: str
    follow_links: bool
    limits: Limits


def _compared(
    inputs: Inputs,
    choice: Choice,
    question: Question,
    readers: FrontEnds,
    title: str | None,
    max_pairs: int,
    threads: int | None,
    progress: Progress | None,
) -> Report:
    """Read and match everything. Errors: as ``compare``."""
    tell = progress or unheard
    cores = local.checked(threads) or local.cores()
    with earlier.opened(inputs.indexes, question) as archive:
        intake = _collected(inputs, choice, tell, archive)
        understanding.check(intake, choice.include, alone=archive is not None)
        read = read_all(intake, question, readers, threads, tell)
        intake, reads = renamed(intake, read, None if archive is None else archive.titles)
        found = None
        if archive is not None:
            handed = list(zip(intake.submissions, reads[0], strict=True))
            found = archive.find(handed, persons(intake.submissions), question, cores, tell)
        templates = len(intake.templates) + (len(found.templates) if found else 0)
        asked = asdict(question) | {"layout": choice.layout, "templates": templates}
        del asked["k"], asked["t"]
        if title:
            asked["title"] = title
        if archive is not None:
            asked["indexes"] = [one.title for one in archive.opened]
        return _Comparison(intake, reads, question, max_pairs, found).run(asked, cores, tell)


def compared_with(
    archive: Archive, intake: documents.Intake, reads: list[list[Read]], question: Question, title: str
) -> Report:
    """Compare submissions that have been read with the documents of open indexes. Errors: ``DamagedError``."""
    handed = list(zip(intake.submissions, reads, strict=True))
    found = archive.find(handed, persons(intake.submissions), question, local.cores(), unheard)
    asked = asdict(question) | {"indexes": [one.title for one in archive.opened], "title": title}
    del asked["k"], asked["t"]
    return _Comparison(intake, (reads, []), question, 0, found).run(asked, local.cores(), unheard)


def _collected(inputs: Inputs, choice: Choice, tell: Progress, archive: Archive | None) -> documents.Intake:
    """Read files, and add the documents that were given as tokens."""
    (paths, own), (old, own_old), (templates, own_templates) = (token_documents.split(given) for given in inputs[:3])
    intake = documents.collect(
        paths,
        by_directory=choice.by_directory,
        include=choice.include,
        exclude=choice.exclude,
        old=old,
        templates=templates,
        layout=choice.layout,
        follow_links=choice.follow_links,
        limits=choice.limits,
        progress=lambda done: tell(READING, done, None),
        taken=None if archive is None else archive.titles,
    )
    return token_documents.added(intake, own, own_old, own_templates)


def _question(
    readers: FrontEnds,
    language: str | None,
    k: int | None,
    t: int | None,
    comments: bool,
    max_sharing: int | None,
    min_score: float | None,
    min_contained: float | None,
    min_passage: int | None,
    cluster_threshold: float | None,
) -> Question:
    """Fill in and check the parameters. Errors: ``ParameterError``."""
    language = readers.resolve(params.LANGUAGE.default if language is None else language)
    if k is not None or t is not None:
        checked_k = k if k is not None else 1
        _core.Fingerprinter(checked_k, t if t is not None else max(checked_k, 1), "robust", "word", False, 1, 1)
    for whole, number in ((params.MAX_SHARING, max_sharing), (params.MIN_PASSAGE, min_passage)):
        if number is not None and (refusal := whole.refusal(number)):
            raise ParameterError(f"{whole.name} `{number}` {refusal}")
    threshold = params.CLUSTER_THRESHOLD.default if cluster_threshold is None else cluster_threshold
    inside = params.MIN_CONTAINED.default if min_contained is None else min_contained
    least = (params.MIN_SCORE, min_score), (params.MIN_CONTAINED, inside), (params.CLUSTER_THRESHOLD, threshold)
    for parameter, value in least:
        if value is not None and not 0 <= value <= 1:
            raise ParameterError(f"{parameter.name} `{value}` is not a score: use 0 to 1")
    return Question(language, k, t, comments, max_sharing, min_score, inside, min_passage, threshold)


class _Comparison:
    """A comparison whose files have been read."""

    def __init__(
        self,
        intake: documents.Intake,
        reads: tuple[list[list[Read]], list[Read]],
        question: Question,
        max_pairs: int,
        found: Found | None,
    ) -> None:
        self.intake, self.question, self.max_pairs, self.found = intake, question, max_pairs or 2**32 - 1, found
        self.rows = rows_of(intake.submissions, reads[0], found)
        self.templates = [*reads[1], *(found.templates if found else ())]
        new = (read for row in self.rows if not row.submission.old for read in row.kept)
        self.cut_off = question.cut_off(read.languages[0] for read in new if read.languages)

    def run(self, asked: dict[str, Any], threads: int, tell: Progress) -> Report:
        """Match all submissions and return the report."""
        cohort = self._cohort(threads)
        self._match(cohort, tell)
        (pair_count, contained_count, little_count, shared_count), below, histogram, aligned, limited = cohort.totals()
        entries = self._entries(cohort)
        met = self._languages()
        report = Report(
            version=_core.__version__,
            parameters=asked
            | {
                "min_score": self.cut_off,
                "min_passage": self.question.passages(met),
                "thresholds": self._thresholds(met),
            },
            understood=self.intake.understood,
            promise=self._promise(met),
            entries=entries,
            pairs=_pairs(cohort, 0),
            pair_count=pair_count,
            contained=_pairs(cohort, 1),
            contained_count=contained_count,
            little=_pairs(cohort, 2),
            little_count=little_count,
            shared=_pairs(cohort, 3),
            shared_count=shared_count,
            below=below + (pairs_elsewhere(self.rows, self.found) if self.found else 0),
            aligned=aligned,
            histogram=tuple(histogram),
            cut_off=self.cut_off,
            clusters=_clusters(cohort),
            cluster_threshold=self.question.cluster_threshold,
            common=_common(cohort),
            groups=tuple(map(tuple, cohort.groups())),
            submitters=submitters(self.rows, self.found),
            elsewhere=self.found.core.documents - len(self.found.stored) if self.found else 0,
            elsewhere_empty=len(self.found.empty) if self.found else 0,
            undefined=tuple(self._undefined(cohort, entries)),
            skipped=tuple(self._skipped()),
            warnings=tuple(self._warnings(cohort, entries, limited)),
            marks=Marks(cohort.marks, [len(entry.files) for entry in entries]),
        )
        return with_outliers(with_sections(report))

    def _languages(self) -> list[str]:
        return sorted({language for row in self.rows for read in row.kept for language in read.languages})

    def _thresholds(self, languages: list[str]) -> dict[str, list[int]]:
        return {language: list(self.question.thresholds(language)) for language in languages}

    def _match(self, cohort: _core.Cohort, tell: Progress) -> None:
        """Compare all submissions and make passages, a few at a time; how many does not change the result."""
        total, done, rows = len(self.rows), 0, local.cores()
        more = True
        while more:
            tell(COMPARING, done, total)
            began = time.monotonic()
            more = cohort.advance(rows)
            done = min(done + rows, total)
            rows = rows * 2 if time.monotonic() - began < PATIENCE else max(rows // 2, local.cores())
        tell(COMPARING, total, total)

    def _cohort(self, threads: int) -> _core.Cohort:
        names = sorted({row.submission.name for row in self.rows})
        ranks = {name: place for place, name in enumerate(names)}
        rows = [(row.person, row.submission.old, ranks[row.submission.name], _files(row.kept)) for row in self.rows]
        asked, templates = self.question, _files(self.templates)
        passages = asked.passages(self._languages())
        least = self.cut_off, asked.min_contained, params.MIN_EVIDENCE, params.MIN_BITS, passages
        limits = asked.max_sharing, least, asked.cluster_threshold, self.max_pairs, threads
        counted = submitters(self.rows, self.found)
        return _core.Cohort(rows, templates, *limits, counted, self.found.core if self.found else None)

    def _entries(self, cohort: _core.Cohort) -> tuple[Entry, ...]:
        rows = zip(self.rows, cohort.counts(), cohort.reachability(), strict=True)
        return tuple(_entry(*row) for row in rows)

    def _promise(self, languages: list[str]) -> str:
        """State the guarantee, for the languages that were read."""
        told, shortest = ([self._counted(language, which) for language in languages] for which in (1, 0))
        if not told:
            return "no file was read, so nothing is guaranteed"
        besides = "" if languages == ["text"] else ", except equal string literals"
        return (
            f"every pair with a score of {self.cut_off:g} or more is listed, with any run of at least {_or(told)} that "
            f"the two share, whatever surrounds it; nothing shorter than {_or(shortest)} is shown{besides}"
        )

    def _counted(self, language: str, which: int) -> str:
        count = self.question.thresholds(language)[which]
        if language == token_documents.LANGUAGE:
            return f"{count} tokens"
        return f"{count} {'letters' if language == 'text' else 'tokens'} of {language}"

    def _undefined(self, cohort: _core.Cohort, entries: tuple[Entry, ...]) -> Iterator[Remark]:
        """Yield the submissions without a score, by name: also those of an index that were not loaded, being empty."""
        found = [*self._unscored(cohort, entries)]
        found += [Remark(name, _EMPTY) for name in (self.found.empty if self.found else ())]
        yield from sorted(found, key=lambda one: one.name)
        for name in self.intake.bare:
            yield Remark(name, "no file that is read")

    def _unscored(self, cohort: _core.Cohort, entries: tuple[Entry, ...]) -> Iterator[Remark]:
        short = set(cohort.too_short())
        for i, entry in enumerate(entries):
            if not entry.files:
                yield Remark(entry.name, "no file of it could be read")
            elif not entry.tokens:
                yield Remark(entry.name, _EMPTY)
            elif i in short:
                yield Remark(entry.name, "too short to compare: only an identical submission would be recognised")
            elif not entry.own_tokens:
                yield Remark(entry.name, f"{self._foreign(entry)}: nothing of its own is left, so it has no score")

    def _foreign(self, entry: Entry) -> str:
        """Say what a submission without tokens of its own consists of."""
        common = f"shared by more than {self.question.max_sharing} submitters"
        if not entry.template_tokens:
            return common
        return f"template, and {common}" if entry.common_tokens else "template only"

    def _skipped(self) -> Iterator[Remark]:
        for skipped in self.intake.skipped:
            yield Remark(skipped.name, skipped.reason, skipped.is_submitted)
        for row in self.rows:
            for read in row.reads:
                if read.refusal:
                    yield Remark(_place(row.submission, read), read.refusal)
        for read in self.templates:
            if read.refusal:
                yield Remark(f"template {read.name}", read.refusal, False)

    def _read_apart(self) -> Iterator[Remark]:
        """Yield notes on files with one content that were read as different languages."""
        handed = (
            Handed(
                _place(row.submission, read),
                row.person,
                row.submission.old,
                read.languages,
                read.file.text,
                read.file.tokens,
            )
            for row in self.rows
            for read in row.kept
            if read.file is not None
        )
        return read_apart(handed, (read.file.text for read in self.templates if read.file is not None))

    def _warnings(self, cohort: _core.Cohort, entries: tuple[Entry, ...], limited: int) -> Iterator[Remark]:
        # What hides a copy comes first: a terminal shows only some.
        yield from self._read_apart()
        # Notes on documents of an index were told when they were added.
        for row in self.rows:
            for read in () if row.is_stored else row.kept:
                for note in read.notes:
                    yield Remark(_place(row.submission, read), note)
        for name in returning(self.rows, self.found):
            yield Remark(
                name, "its name is that of a new submission: taken for the same person, and not paired with it"
            )
        for name in self.intake.hollow:
            yield Remark(f"template {name}", "the template holds nothing, so nothing is left out for it", False)
        for members in cohort.groups():
            reason = f"first of {len(members):,} identical submissions: one row stands for all their pairs"
            yield Remark(entries[members[0]].name, reason)
        if limited:
            yield Remark("pairs", f"reached a limit of work, so that their scores may be too low: {limited:,}", False)


def _files(reads: list[Read]) -> list[_core.ReadFile]:
    return [read.file for read in reads if read.file is not None]


def _place(submission: Submission, read: Read) -> str:
    """Return the path of a file; a submission of one file is named after it."""
    is_file = f"/{submission.name}".endswith(f"/{read.name}")
    return submission.name if is_file else f"{submission.name}/{read.name}"


def _or(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _entry(row: Row, counts: tuple[int, int, int, int], reachability: tuple[int, str]) -> Entry:
    files = tuple(
        File(
            read.name,
            "+".join(read.languages),
            read.file.text,
            read.file.tokens,
            read.notes,
            read.format,
            read.places,
        )
        for read in row.kept
        if read.file is not None
    )
    tokens, template, common, _ = counts
    submission = row.submission
    return Entry(
        submission.name,
        files,
        tokens,
        template,
        common,
        row.digest,
        submission.person,
        submission.label,
        submission.time,
        submission.old,
        *reachability,
    )


def _pairs(cohort: _core.Cohort, which: int) -> tuple[Pair, ...]:
    rows = zip(cohort.pairs(which), cohort.passages(which), cohort.gaps(which), strict=True)
    return tuple(
        Pair(
            *row[:7],
            passages=tuple(map(_passage, passages)),
            limited=row[8],
            stands_for=row[7],
            contained=contained,
            score_whole=whole,
            score_reachable=reachable,
            matched_bits=bits,
            strongest_bits=strongest,
            gaps=tuple(Gap(*gap) for gap in gaps),
        )
        for (row, (contained, bits, _, strongest), (whole, reachable)), passages, gaps in rows
    )


def _passage(row: tuple[Any, ...]) -> Passage:
    left, right, *rest = row
    return Passage(Region(*left), Region(*right), *rest)


def _clusters(cohort: _core.Cohort) -> tuple[Cluster, ...]:
    return tuple(
        Cluster(first, (first, *(other for other, _ in members)), (1.0, *(score for _, score in members)))
        for first, members in cohort.clusters()
    )


def _common(cohort: _core.Cohort) -> tuple[Common, ...]:
    return tuple(
        Common(entry, Region(*region), tokens, tuple(holders)) for entry, region, tokens, holders in cohort.common()
    )
