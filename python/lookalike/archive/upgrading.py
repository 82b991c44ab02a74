"""Brings an index up to date: documents whose keys another version made are read again from their stored texts.

One segment after the other is written anew, in chunks, so that memory does not grow with the index; each is one commit.
Rows that ``dedup`` removed have no text. They stay as they are if their own keys, features and simhashes, are up to
date; otherwise they go, because nothing can make these keys again, and the result tells how many and why.

A new segment says which versions made it. So an upgrade that was cut off goes on with the segments that are left: the
index itself says that it is up to date only after the last of them, and until then questions are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from lookalike import _core
from lookalike._types import Progress, text_of
from lookalike.archive.adopting import parameters_of
from lookalike.archive.parameters import Parameters, versions
from lookalike.archive.results import Upgraded
from lookalike.archive.signing import signer
from lookalike.archive.state import is_marked
from lookalike.archive.view import SHADOW
from lookalike.archive.writing import Writer
from lookalike.engines import local
from lookalike.errors import DamagedError, ParameterError, VersionError
from lookalike.frontends import lexed
from lookalike.frontends.languages import CORE, LEXED_LANGUAGES

UPGRADING = "reading documents again"
#: Documents that are held at a time, and those that a thread takes.
_CHUNK, _BATCH = 512, 8
#: The questions for which a shadow has keys.
_SHADOWED = frozenset(("resemblance", "distance"))
_TEXT, _LEXED = "text", frozenset(language.name for language in LEXED_LANGUAGES)


def upgrade(writer: Writer, name: str, progress: Progress) -> Upgraded:
    """Upgrade an index. Errors: ``ParameterError``, ``VersionError``, ``DamagedError``, ``OSError``."""
    parameters, done = writer.view.parameters, Upgraded()
    if parameters.bands is not None or not parameters.outdated():
        return done
    _check(parameters, name)
    current = replace(parameters, versions=versions())
    with writer.turn:
        # New documents become a segment like the others.
        writer.flush()
        for row, (segment, removed) in zip(writer.state.segments, list(writer.view.parts), strict=True):
            of_segment = parameters_of(segment, name)
            if of_segment.versions != current.versions:
                made = _Again(segment, removed, current, name, writer.policy.memory, done)
                made.leave_out_shadows(of_segment.outdated(_SHADOWED & set(current.questions)))
                writer.rewrite(row, current.to_json(), made.live, partial(made.run, progress))
        writer.set_parameters(current.to_json())
        writer.merge(progress)
    return done


def _check(parameters: Parameters, name: str) -> None:
    """Refuse what cannot be upgraded. Errors: ``ParameterError``, ``VersionError``."""
    if not parameters.texts:
        raise ParameterError(
            f"index `{name}` keeps no texts, so it cannot be upgraded: add its documents to a new index"
        )
    newer = [which for which, number in versions().items() if parameters.versions[which] > number]
    if newer:
        raise VersionError(
            f"index `{name}` was made by a newer version of lookalike (a later {', '.join(newer)}): use that version"
        )


class _Again:
    """Reads the documents of one segment again."""

    def __init__(
        self,
        segment: _core.Segment,
        removed: bytes | None,
        parameters: Parameters,
        name: str,
        memory: int,
        done: Upgraded,
    ) -> None:
        self._segment, self._parameters, self._name = segment, parameters, name
        self._memory, self._done, self._signer = memory, done, signer(parameters)
        rows = [at for at in range(segment.rows) if not is_marked(removed, at)]
        self._shadows = {at for at in rows if segment.row(at).flags & SHADOW}
        self._documents = set(rows) - self._shadows

    @property
    def live(self) -> int:
        """Number of records that are made."""
        return len(self._documents) + len(self._shadows)

    def leave_out_shadows(self, outdated: Sequence[str]) -> None:
        """Leave shadows out if another version made their keys, and note how many, and which part of them."""
        if outdated and self._shadows:
            self._done.shadows += len(self._shadows)
            self._done.shadows_because = sorted({*self._done.shadows_because, *outdated})
            self._shadows = set()

    def run(self, progress: Progress, folder: str) -> Iterator[list[bytes]]:
        """Yield the new records of the rows, in chunks; ``folder`` is for temporary files."""
        reader, first = self._segment.read_all(self._memory, folder), 0
        while found := reader.next(_CHUNK):
            rows = dict(enumerate(found, first))
            first += len(found)
            documents = [at for at in rows if at in self._documents]
            rows |= zip(documents, self._signed([rows[at] for at in documents]), strict=True)
            yield [record for at, record in rows.items() if at in self._documents or at in self._shadows]
            self._done.documents += len(documents)
            progress(UPGRADING, self._done.documents, None)

    def _signed(self, records: Sequence[bytes]) -> list[bytes]:
        if self._parameters.kind == "corpus":
            made = self._signer.again(records)
            return [self._checked(record, old) for record, old in zip(made, records, strict=True)]
        batches = [records[at : at + _BATCH] for at in range(0, len(records), _BATCH)]
        done = local.map_batches(self._submissions, batches, None)
        return [record for batch in done for record in batch]

    def _submissions(self, records: Sequence[bytes]) -> list[bytes]:
        return [self._submission(record) for record in records]

    def _submission(self, record: bytes) -> bytes:
        found = _core.kept_files(record)
        if found is None:
            return self._checked(None, record)
        files, facts = found
        read = [(name, self._file(text, stretches, record)) for name, text, stretches in files]
        return self._signer.submission_again(record, read, facts)

    def _file(self, text: str, stretches: Sequence[tuple[str, int, int]], record: bytes) -> _core.ReadFile:
        """Read a file again by the stretches of languages that were found in it."""
        comments = self._parameters.comments
        parts = []
        for language, start, end in stretches:
            tokens = None
            if language in _LEXED:
                tokens, _ = lexed.tokenise(text[start:end], language, comments, start)
            elif language != _TEXT and language not in CORE:
                raise self._refusal(record, f"this version does not read the language {language}")
            parts.append((language, start, end, tokens, None, *self._parameters.thresholds_of(language)))
        return _core.ReadFile(text, parts, comments)

    def _checked(self, made: bytes | None, record: bytes) -> bytes:
        if made is None:
            raise self._refusal(record, "its stored text is not the one that it was made of")
        return made

    def _refusal(self, record: bytes, reason: str) -> DamagedError:
        row = _core.Segment.of_records([record], b"{}").row(0)
        return DamagedError(
            f"document `{text_of(row.id)}` of index `{self._name}` cannot be read again, for {reason}: remove it, "
            "upgrade, and add it again; what was upgraded before it stays so"
        )
