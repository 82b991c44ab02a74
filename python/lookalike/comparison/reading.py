"""Reads the documents of a comparison as tokens; one that cannot be read is returned with its reason.

Files are read in batches on all cores. Cost: linear in their bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lookalike import _core, documents, frontends, params
from lookalike._types import Progress
from lookalike.comparison import token_documents
from lookalike.comparison.token_documents import TokenDocument
from lookalike.documents import Document
from lookalike.engines import confined, local
from lookalike.errors import FrontendError
from lookalike.fingerprints import Reading
from lookalike.frontends import FrontEnds, Readable, disguise

if TYPE_CHECKING:
    from lookalike.documents.collection import Taken

#: Files a thread takes at a time.
BATCH_FILES = 16
READING = "reading files"


@dataclass(frozen=True)
class Question:
    """The parameters of a comparison."""

    language: str
    k: int | None
    t: int | None
    comments: bool
    max_sharing: int | None
    min_score: float | None
    min_contained: float
    min_passage: int | None
    cluster_threshold: float

    def thresholds(self, language: str) -> tuple[int, int]:
        """Return k and t of a language; a lone k or t moves the other along where its default would contradict it."""
        usual_k, usual_t = params.LANGUAGE_THRESHOLDS.get(language, params.CODE_THRESHOLDS)
        k = self.k if self.k is not None else min(usual_k, self.t) if self.t is not None else usual_k
        return k, self.t if self.t is not None else max(usual_t, k)

    def passages(self, languages: Iterable[str]) -> dict[str, int]:
        """Return the least worth of strong passages of each language; nothing if there is no list of them."""
        if self.min_passage == 0:
            return {}
        usual = {language: params.LANGUAGE_PASSAGES.get(language, params.CODE_PASSAGE) for language in languages}
        return usual if self.min_passage is None else dict.fromkeys(usual, self.min_passage)

    def cut_off(self, languages: Iterable[str]) -> float:
        """Return the least score of listed pairs: by what most files are, the lower one on a tie."""
        if self.min_score is not None:
            return self.min_score
        counts = Counter(params.LANGUAGE_CUT_OFFS.get(language, params.CODE_CUT_OFF) for language in languages)
        return min(counts, key=lambda score: (-counts[score], score), default=params.CODE_CUT_OFF)


class Read(NamedTuple):
    """A document as tokens, or the reason why it could not be read."""

    name: str
    file: _core.ReadFile | None
    languages: tuple[str, ...]
    notes: tuple[str, ...]
    refusal: str | None
    format: str = ""
    places: tuple[tuple[int, str], ...] = ()


def read_all(
    intake: documents.Intake, question: Question, readers: FrontEnds, threads: int | None, tell: Progress
) -> tuple[list[list[Read]], list[Read]]:
    """Read the documents of all submissions, then the templates."""
    groups = [submission.documents for submission in intake.submissions] + [intake.templates]
    flat = [document for group in groups for document in group]
    batches = [flat[i : i + BATCH_FILES] for i in range(0, len(flat), BATCH_FILES)]
    found: list[Read] = []

    def read(batch: list[Document]) -> list[Read]:
        return [read_one(document, question, readers) for document in batch]

    for part in local.map_batches(read, batches, threads, stop=confined.stop):
        found += part
        tell(READING, len(found), len(flat))
    confined.close()
    parts = iter(found)
    reads = [[next(parts) for _ in group] for group in groups]
    return reads[:-1], reads[-1]


def renamed(
    intake: documents.Intake, reads: tuple[list[list[Read]], list[Read]], taken: Taken | None
) -> tuple[documents.Intake, tuple[list[list[Read]], list[Read]]]:
    """Name submissions as if the old ones that cannot be read were not there, as they are in no index."""
    rows = list(zip(intake.submissions, reads[0], strict=True))
    unread = [place for place, (one, found) in enumerate(rows) if one.old and all(read.file is None for read in found)]
    # Documents that were given as tokens have names of their own.
    if not unread or len(intake.order) != len(rows):
        return intake, reads
    named = documents.renamed(intake, unread, taken)
    by_place = dict(zip(intake.order, reads[0], strict=True))
    return named, ([by_place[place] for place in named.order], reads[1])


def _readable(document: Document, question: Question, readers: FrontEnds) -> Readable:
    if isinstance(document, TokenDocument):
        return Readable.of_tokens(document.tokens, token_documents.LANGUAGE)
    return frontends.read(document.name, document.data, question.language, comments=question.comments, among=readers)


def read_one(document: Document, question: Question, readers: FrontEnds) -> Read:
    """Read one document as tokens. One that cannot be read is returned with its reason, not raised."""
    try:
        if confined.is_given_up():
            raise FrontendError(confined.GIVEN_UP)
        readable = _readable(document, question, readers)
        parts = [
            (part.language, part.start, part.end, part.lexed, part.values, *question.thresholds(part.language))
            for part in readable.parts
        ]
        file = _core.ReadFile(readable.text, parts, question.comments)
    except FrontendError as error:
        return Read(document.name, None, (), (), str(error))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # One bad file never ends a run, not even by a fault of a parser. A panic of the core is not an Exception.
        fault = f"internal error, please report it with the file: {type(error).__name__}: {error}"
        return Read(document.name, None, (), (), fault)
    languages = tuple(dict.fromkeys(part.language for part in readable.parts))
    disguised = () if readable.text.isascii() else disguise.signs(file.text)
    notes = (*readable.notes, *_notes(file), *disguised)
    return Read(document.name, file, languages, notes, None, readable.format, readable.places)


def _notes(file: _core.ReadFile) -> Iterator[str]:
    """Yield remarks on how a file was read."""
    reading = Reading(*file.reading)
    if reading.guessed or reading.replaced:
        yield f"read as {reading}"
    yield from file.degraded
