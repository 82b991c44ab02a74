"""Signs submissions: what one person handed in, read as ``compare`` reads it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lookalike import _core, documents
from lookalike._types import Problem, Progress
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import SIGNING, Known, Reading, SignedBatch, SignedDocument, encoded, signer
from lookalike.comparison.persons import submitter_key
from lookalike.comparison.reading import Question, Read, read_one
from lookalike.comparison.stored import facts
from lookalike.documents import Document, Submission
from lookalike.documents.intake import distinct
from lookalike.engines import confined, local
from lookalike.errors import ParameterError
from lookalike.frontends import installed

#: Submissions a thread takes at a time.
_BATCH = 8
#: The flag of starter code in a record.
TEMPLATE = 2


def question(parameters: Parameters) -> Question:
    """Return how files are read: as ``compare`` does with the parameters of the index."""
    return Question(parameters.language, parameters.k, parameters.t, parameters.comments, None, None, 0.0, None, 0.0)


def sign(
    source: Any, parameters: Parameters, by: _core.RecordSigner, how: Reading, known: Known | None, tell: Progress
) -> Iterator[SignedBatch]:
    """Yield submissions as records. Errors: as ``sign_batches``."""
    intake = _collected(source, how, tell)
    asked, readers = question(parameters), installed()
    named = distinct(f"template/{one.name}" for one in intake.templates)
    templates = [_template(one, name) for one, name in zip(intake.templates, named, strict=True)]
    all_of_them = [*((one, 0) for one in intake.submissions), *((one, TEMPLATE) for one in templates)]
    batches = [all_of_them[at : at + _BATCH] for at in range(0, len(all_of_them), _BATCH)]
    skipped = [Problem(row.name, "", row.reason, 0, not row.is_submitted) for row in intake.skipped]
    skipped += [Problem(name, "", "no file in it is read", 0) for name in intake.bare]
    skipped += [Problem(name, "", "starter code without any text", 0, True) for name in intake.hollow]
    yield SignedBatch([], skipped, understood=intake.understood)

    def work(batch: Sequence[tuple[Submission, int]]) -> SignedBatch:
        made: list[SignedDocument] = []
        problems: list[Problem] = []
        for one, flags in batch:
            reads = [read_one(document, asked, readers) for document in one.documents]
            problems += _problems(one, reads)
            if any(read.file is not None for read in reads):
                made.append(_signed(one, reads, flags, by, how))
        return _unknown(made, problems, known)

    done = 0
    for batch in local.map_batches(work, batches, how.threads, stop=confined.stop):
        done += _BATCH
        tell(SIGNING, min(done, len(all_of_them)), len(all_of_them))
        yield batch
    confined.close()


def _collected(source: Any, how: Reading, tell: Progress) -> documents.Intake:
    """Read the files. Errors: ``ParameterError`` for what is neither paths nor a mapping."""
    if isinstance(source, Mapping):
        named = [(str(name), text) for name, text in source.items()]
        found = tuple(Submission(name, None, None, None, False, (Document(name, _data(text)),)) for name, text in named)
        return documents.Intake(found, (), ())
    given = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(given, list | tuple) or not all(isinstance(one, str | os.PathLike) for one in given):
        raise ParameterError(
            f"an index of a class takes paths or a mapping of names to texts, not {type(source).__name__}: "
            "create the index for a corpus, or give paths"
        )
    return documents.collect(
        given,
        by_directory=how.by_directory,
        include=how.include,
        exclude=how.exclude,
        templates=how.templates,
        layout=how.layout,
        follow_links=how.follow_links,
        limits=how.limits,
        progress=lambda done: tell(SIGNING, done, None),
    )


def _data(text: str | bytes) -> bytes:
    return text.encode("utf-8", "replace") if isinstance(text, str) else bytes(text)


def _template(document: Document, name: str) -> Submission:
    """Return starter code as a submission of its own, whose id no person's has."""
    return Submission(name, None, None, None, False, (document,))


def sign_one(
    one: Submission, parameters: Parameters, fields: Mapping[str, Any]
) -> tuple[SignedDocument | None, list[Problem], list[tuple[str, str]]]:
    """Sign one submission, with further fields of metadata; nothing if no file of it can be read.

    Also returned: problems, and the files that were read, each with its language.
    """
    asked, readers = question(parameters), installed()
    reads = [read_one(document, asked, readers) for document in one.documents]
    is_read = any(read.file is not None for read in reads)
    made = _signed(one, reads, 0, signer(parameters), Reading(), fields) if is_read else None
    names = [read.name for read in reads if read.file is not None]
    return made, _problems(one, reads), list(zip(names, languages(reads), strict=True))


def _signed(
    one: Submission,
    reads: Sequence[Read],
    flags: int,
    by: _core.RecordSigner,
    how: Reading,
    fields: Mapping[str, Any] | None = None,
) -> SignedDocument:
    label = how.label or one.label
    id = f"{how.label}/{one.name}" if how.label else one.name
    files = [(encoded(read.name), read.file) for read in reads if read.file is not None]
    meta = {
        "title": one.name,
        "person": one.person,
        "label": label,
        "time": one.time,
        "files": [read.name for read in reads if read.file is not None],
        "languages": languages(reads),
        "fields": fields or None,
        # A comparison lists such a submission, and finds it by this: it shares nothing with another one.
        "empty": True if not any(file.tokens for _, file in files) else None,
    }
    told = json.dumps({key: value for key, value in meta.items() if value is not None}, separators=(",", ":"))
    named = replace(one, name=id)
    known_as = None if one.known_as is None else encoded(one.known_as)
    kept = facts(one, reads)
    return by.submission(files, kept, encoded(id), told.encode(), submitter_key(named), known_as, one.time, flags)


def languages(reads: Sequence[Read]) -> list[str]:
    """Return the language that each file was read as; several languages of one file are joined by `+`."""
    return ["+".join(dict.fromkeys(read.languages)) for read in reads if read.file is not None]


def _problems(one: Submission, reads: Sequence[Read]) -> list[Problem]:
    # A submission of one file has its name.
    places = ["" if read.name == one.name else read.name for read in reads]
    read_at = list(zip(reads, places, strict=True))
    found = [Problem(one.name, place, read.refusal, 1) for read, place in read_at if read.refusal is not None]
    found += [Problem(one.name, place, note, 0, True) for read, place in read_at for note in read.notes]
    return found


def _unknown(made: list[SignedDocument], problems: list[Problem], known: Known | None) -> SignedBatch:
    if known is None or not made:
        return SignedBatch(made, problems)
    are_known = known([id for id, _, _ in made], [mark for _, mark, _ in made])
    left = [one for one, is_known in zip(made, are_known, strict=True) if not is_known]
    return SignedBatch(left, problems, len(made) - len(left))
