"""Questions about a document: which documents of an index are identical, similar, contained, near, or share passages.

Each answer says what it is worth. ``tests/oracles/query.py`` computes the same answers slowly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import _core, params
from lookalike.archive import asked, certificates, passages, remarks, sharing, where
from lookalike.archive.answers import Answer, Queried, Seen, match_of
from lookalike.archive.asked import AskedFor, Given
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import signer
from lookalike.archive.where import Where
from lookalike.comparison.stored import digest
from lookalike.documents import Submission
from lookalike.errors import FrontendError, ParameterError

if TYPE_CHECKING:
    from lookalike.archive.view import View
    from lookalike.comparison.earlier import Opened

#: The questions that ``seen`` asks.
SEEN = ("identical", "resemblance")
#: Stands for no limit on the documents that are listed.
_ALL = sys.maxsize


@dataclass(frozen=True)
class _Tools:
    """What asks an index: its parameters, and the core's asker, which keeps its tables between questions."""

    parameters: Parameters
    asker: _core.Asker
    #: What an answer of ``seen`` is worth.
    certificate: str


@lru_cache(maxsize=8)
def _tools(parameters: str) -> _Tools:
    """Return what asks indexes with these parameters, as the catalogue stores them."""
    made = Parameters.from_json(parameters)
    if made.bands is not None:
        raise ParameterError("the index holds keys of a MinHashLSH, and no documents: ask it with MinHashLSH.query")
    certificate = certificates.resemblance(made, made.dedup.threshold)
    return _Tools(made, _core.Asker(signer(made), made.keyed is not None), certificate)


if hasattr(os, "register_at_fork"):
    # The threads of an asker do not live in a forked process.
    os.register_at_fork(after_in_child=_tools.cache_clear)


def _asking(view: View, questions: Iterable[str] = ("resemblance",)) -> _Tools:
    """Return what asks an index. Errors: ``VersionError`` if another version made the keys of these questions."""
    tools = _tools(view.state.parameters)
    tools.parameters.check_versions(view.name, questions)
    return tools


class Asking:
    """The questions of an index. Every call asks the newest state."""

    def _view(self) -> View:
        raise NotImplementedError

    def _searched(self) -> list[Opened]:
        """Return the indexes that are asked, for a comparison."""
        raise NotImplementedError

    def _unmet(self, conditions: Where) -> str | None:
        """Return why no document meets conditions, in words; ``None`` if one does."""
        return next(iter(_unmet(self._view(), conditions)), None)

    def query(
        self,
        document: Given,
        *,
        question: Iterable[str] = (),
        threshold: float | None = None,
        distance: int | None = None,
        window: int | None = None,
        top: int = params.ASKING["top"].default,
        where: Where | None = None,
        name: str | None = None,
        key: str | os.PathLike[str] | None = None,
        evidence: bool = False,
    ) -> Queried:
        """Ask which documents of the index are like a document.

        :param document: A text, bytes as a file has them, or a ``pathlib.Path`` of a file or folder.
        :param question: Which questions to ask: identical, passages, resemblance, containment, distance. Default: all
            that the index answers.
        :param threshold: Least resemblance and containment. Default: the threshold of the index.
        :param distance: Most bits in which simhashes may differ, 0 to 10.
        :param window: Ask for passages with longer windows than the index has, in k-grams: fewer lookups, and every
            shared run of k + window − 1 tokens is found. The listed documents are those of an index with that window.
        :param top: Most documents to list for each question; 0 for all. All are counted.
        :param where: Only documents with these values in their metadata, such as ``{"label": "2025"}``.
        :param name: The file name of a text, which decides its language.
        :param key: The key file of an index that another institution shared.
        :param evidence: Also compare the document with those that share passages with it, as ``compare`` does.
        :returns: An answer for each question, each with its certificate.
        :raises ParameterError: A parameter is out of range, or the index does not answer a question.
        :raises FrontendError: The document cannot be read.
        :raises DamagedError: A file of the index is damaged.

        >>> import os, tempfile, lookalike as la
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with la.Index.create(os.path.join(folder, "archive"), kind="corpus") as index:
        ...         _ = index.add([("a", "one two three four five six seven"), ("b", "something else entirely")])
        ...         found = index.query("One two three four five six seven!", question=["resemblance"])
        ...         print([(match.id, str(match.resemblance)) for match in found.answers[0].matches])
        [('a', '1.000')]
        """
        view = self._view()
        wanted = _wanted(question, _tools(view.state.parameters).parameters)
        tools = _asking(view, wanted)
        least = _threshold(threshold, tools.parameters)
        bits = _distance(params.DISTANCE.default if distance is None else distance)
        most = _top(top)
        _check_window(window, key)
        given = asked.read(document, name, tools.parameters, tools.asker, window=window)
        given = _prepared(given, view, tools, _secret(key))
        if notes := remarks.of_rows(document, tools.parameters):
            given = replace(given, notes=(*given.notes, *notes))
        found = _queried(view, tools, given, Asks(tuple(wanted), least, bits, window, most, where))
        return _with_evidence(found, self._searched(), tools.parameters, given) if evidence else found

    def seen(
        self,
        document: Given,
        *,
        where: Where | None = None,
        name: str | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> Seen:
        """Tell whether the index has a document like this one, and which is the nearest.

        The answer is yes if a document has the same content, or a resemblance at or above the threshold of the index.

        :param document: A text, bytes as a file has them, or a ``pathlib.Path`` of a file or folder.
        :param where: Only documents with these values in their metadata.
        :param name: The file name of a text, which decides its language.
        :param key: The key file of an index that another institution shared.
        :returns: The verdict, which is true for yes, and the nearest document.
        :raises FrontendError: The document cannot be read.
        :raises DamagedError: A file of the index is damaged.

        >>> import os, tempfile, lookalike as la
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with la.Index.create(os.path.join(folder, "archive"), kind="corpus") as index:
        ...         _ = index.add([("a", "one two three four five six seven")])
        ...         print(bool(index.seen("ONE two three four five six seven")), bool(index.seen("something else")))
        True False
        """
        view = self._view()
        tools = _asking(view)
        _check_resemblance(tools.parameters)
        given = asked.read(document, name, tools.parameters, tools.asker, is_seen=True)
        given = _prepared(given, view, tools, _secret(key))
        least = tools.parameters.dedup.threshold
        found = _seen(view, tools, tools.asker.seen(view.core, given.core, least, _pairs(where)))
        notes = [
            *given.notes,
            *remarks.of_rows(document, tools.parameters),
            *remarks.too_short(given, (), tools.parameters, SEEN),
        ]
        return replace(found, notes=(*notes, *(_unmet(view, where) if found.nearest is None else ())))

    def seen_many(
        self,
        documents: Sequence[str | bytes],
        *,
        where: Where | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> list[Seen]:
        """Tell for each of many texts whether the index has a document like it, on all cores.

        :param documents: Texts as ``str`` or bytes. An index of a class reads them as prose.
        :param where: Only documents with these values in their metadata.
        :param key: The key file of an index that another institution shared.
        :returns: A verdict for each; one that cannot be read has its reason in ``refusal``.
        :raises DamagedError: A file of the index is damaged.

        >>> import os, tempfile, lookalike as la
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with la.Index.create(os.path.join(folder, "archive"), kind="corpus") as index:
        ...         _ = index.add([("a", "one two three four five six seven")])
        ...         print([bool(one) for one in index.seen_many(["one two three four five six seven", "more"])])
        [True, False]
        """
        view = self._view()
        tools = _asking(view)
        _check_resemblance(tools.parameters)
        least = tools.parameters.dedup.threshold
        texts: list[Any] = list(documents)
        if tools.parameters.keyed is not None or key is not None:
            secret, conditions = _secret(key), _pairs(where)
            keyed = [_seen_keyed(view, tools, text, secret, conditions) for text in texts]
            return _with_unmet(view, where, keyed)
        rows = tools.asker.seen_many(view.core, texts, least, _pairs(where), view.starter(tools.asker))
        return _with_unmet(view, where, [_seen_row(view, tools, row, refusal) for row, refusal in rows])


class Asks(NamedTuple):
    """What is asked: questions, least share, most bits, windows of passages, most documents, and conditions."""

    question: tuple[str, ...]
    threshold: float
    distance: int
    window: int | None
    top: int
    where: Where | None


def _queried(view: View, tools: _Tools, given: AskedFor, asks: Asks) -> Queried:
    """Ask all wanted questions of one state of the index."""
    wanted, threshold, bits, window, top, conditions = asks
    asker, core, of = tools.asker, given.core, _pairs(conditions)
    besides = certificates.STARTER if view.starter(asker) is not None else dict.fromkeys(certificates.STARTER, "")
    worth: dict[str, Callable[..., str]] = {
        "identical": lambda *same_hash: certificates.identical(tools.parameters, *same_hash),
        "resemblance": lambda *_: certificates.resemblance(tools.parameters, threshold) + besides["resemblance"],
        "containment": lambda *_: certificates.containment(tools.parameters, threshold, core) + besides["containment"],
        "distance": lambda *_: certificates.distance(bits, core) + besides["distance"],
    }
    files = passages.files_of(tools.parameters, given, window)
    answers = tuple(
        passages.ask(view, tools.parameters, given, files, window, top, of)
        if one == "passages"
        else _answer(view, one, asker.ask(one, view.core, core, top, of, threshold, bits), worth[one])
        for one in wanted
    )
    shingles, _, size, _, _ = core.sizes
    notes = list(given.notes)
    notes += remarks.too_short(given, files, tools.parameters, wanted)
    notes += _unmet(view, conditions)
    told = asks._asdict() | {"question": list(wanted), "top": 0 if top == _ALL else top, "where": dict(of)}
    counts = (sum(file.tokens for file in files), shingles, size)
    made = (given.name, view.name, view.count(), answers, *counts, tuple(notes), _digest(given), told)
    return Queried(*made, documents_asked=view.count(conditions))


def _digest(given: AskedFor) -> str:
    """Return SHA-256 of the files of a document, as ``compare`` computes it."""
    return digest(Submission(given.name, None, None, None, False, given.documents))


def _with_evidence(found: Queried, opened: list[Opened], parameters: Parameters, given: AskedFor) -> Queried:
    """Return answers with a comparison, or with the reason why there is none."""
    from lookalike.archive.evidence import MOST, compared

    answer = found.find("passages")
    if answer is None or not answer.matches:
        return found
    if not parameters.texts:
        return replace(found, notes=(*found.notes, "the index keeps no texts, so none are shown side by side"))
    if answer.documents > MOST:
        why = f"{answer.documents:,} documents share something with it, too many to show texts side by side"
        return replace(found, notes=(*found.notes, why))
    file = passages.files_of(parameters, given, None)[0]
    return replace(found, evidence=compared(opened, parameters, given, file, answer.matches))


def _unmet(view: View, conditions: Where | None) -> list[str]:
    """Return a note on conditions that no document meets."""
    if not conditions or view.count(conditions):
        return []
    found = where.unmet(conditions, (row.meta for _, row in view.rows() if not row.flags))
    return [] if found is None else [found]


def _secret(key: str | os.PathLike[str] | None) -> bytes | None:
    """Return the secret of a key file. Errors: ``ParameterError``, ``OSError``."""
    return None if key is None else sharing.read_secret(key)


def _prepared(given: AskedFor, view: View, tools: _Tools, secret: bytes | None) -> AskedFor:
    """Return a document as the index understands it. Errors: ``ParameterError``, ``VersionError``."""
    core = sharing.keyed(given.core, tools.parameters, secret, view.name)
    starter = view.starter(tools.asker)
    core = core if starter is None else core.beside(starter)
    return given if core is given.core else replace(given, core=core)


def _check_window(window: int | None, key: str | os.PathLike[str] | None) -> None:
    """Errors: ``ParameterError``."""
    if window is None:
        return
    if refusal := params.ASKING["window"].refusal(window):
        raise ParameterError(f"window `{window}` {refusal}")
    if key is not None:
        raise ParameterError("window and key cannot be combined: leave one of them out")


def _seen_keyed(view: View, tools: _Tools, text: Any, secret: bytes | None, conditions: list[tuple[str, str]]) -> Seen:
    """Ask a shared index about one of many texts."""
    try:
        core = tools.asker.text(text, True)
    except FrontendError as error:
        return Seen(False, None, False, "", str(error))
    core = sharing.keyed(core, tools.parameters, secret, view.name)
    found = tools.asker.seen(view.core, core, tools.parameters.dedup.threshold, conditions)
    return _seen_row(view, tools, (found, (*core.sizes[:2], core.is_starter)), None)


def _seen_row(view: View, tools: _Tools, row: Any, refusal: str | None) -> Seen:
    """Return the verdict on one of many texts, with the notes that it has alone."""
    if row is None:
        return Seen(False, None, False, "", refusal)
    found, (shingles, tokens, is_starter) = row
    notes = remarks.without_shingles(shingles, tokens, is_starter, tools.parameters, SEEN)
    return replace(_seen(view, tools, found), notes=tuple(notes))


def _with_unmet(view: View, where: Where | None, found: list[Seen]) -> list[Seen]:
    """Add the note on conditions to the verdicts without a nearest document; it is the same for all."""
    lone = [one.nearest is None and one.refusal is None for one in found]
    notes = tuple(_unmet(view, where)) if any(lone) else ()
    return [
        replace(one, notes=(*one.notes, *notes)) if is_lone else one for one, is_lone in zip(found, lone, strict=True)
    ]


def _answer(view: View, question: str, found: Any, worth: Callable[..., str]) -> Answer:
    matches, documents, distinct, work, same_hash = found
    told = tuple(match_of(question, one, view.prefix(one[0])) for one in matches)
    return Answer(question, told, documents, distinct, worth(*same_hash), tuple(work))


def _seen(view: View, tools: _Tools, found: Any) -> Seen:
    is_seen, nearest, _, _, (other_text, _) = found
    is_identical = nearest is not None and nearest[5]
    worth = certificates.identical(tools.parameters, other_text, 0) if is_identical or other_text else ""
    besides = certificates.STARTER["resemblance"] if view.starter(tools.asker) is not None else ""
    worth = worth if is_identical else "; ".join(filter(None, [tools.certificate + besides, worth]))
    match = None if nearest is None else match_of("resemblance", nearest, view.prefix(nearest[0]))
    return Seen(is_seen, match, is_identical, worth)


def _wanted(asked_for: Iterable[str], parameters: Parameters) -> list[str]:
    """Return the questions to ask, in the order of answers. Errors: ``ParameterError``."""
    given = [asked_for] if isinstance(asked_for, str) else list(asked_for)
    there = ("identical", *parameters.questions)
    for one in given:
        if one not in params.ASKED:
            raise ParameterError(f"question `{one}` is not known: use some of {', '.join(params.ASKED)}")
        if one not in there:
            raise ParameterError(f"question `{one}` was left out when the index was created: use {', '.join(there)}")
    return [one for one in params.ASKED if one in (given or there)]


def _check_resemblance(parameters: Parameters) -> None:
    if "resemblance" not in parameters.questions:
        raise ParameterError("seen needs the question resemblance, which was left out when the index was created")


def _threshold(threshold: float | None, parameters: Parameters) -> float:
    if threshold is None:
        return parameters.dedup.threshold
    if parameters.features_only:
        raise ParameterError("threshold has no effect in an index of features only, whose filter decides: leave it out")
    if not 0 < threshold <= 1:
        raise ParameterError(f"threshold `{threshold}` must be more than 0 and at most 1")
    return float(threshold)


def _distance(distance: int) -> int:
    if refusal := params.DISTANCE.refusal(distance):
        raise ParameterError(f"distance `{distance}` {refusal}")
    return distance


def _top(top: int) -> int:
    if refusal := params.ASKING["top"].refusal(top):
        raise ParameterError(f"top `{top}` {refusal}")
    return top or _ALL


def _pairs(conditions: Where | None) -> list[tuple[str, str]]:
    return where.pairs(conditions)
