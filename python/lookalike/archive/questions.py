"""Questions about a document: which documents of an index are identical, similar, contained, near, or share passages.

Each answer says what it is worth. ``tests/oracles/query.py`` computes the same answers slowly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lookalike import _core, params
from lookalike.archive import asked, certificates, passages, sharing, where
from lookalike.archive.answers import Answer, Queried, Seen, match_of
from lookalike.archive.asked import AskedFor, Given
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import signer
from lookalike.archive.where import Where
from lookalike.errors import FrontendError, ParameterError

if TYPE_CHECKING:
    from lookalike.archive.view import View

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
    return _Tools(made, _core.Asker(signer(made)), certificate)


if hasattr(os, "register_at_fork"):
    # The threads of an asker do not live in a forked process.
    os.register_at_fork(after_in_child=_tools.cache_clear)


def _asking(view: View) -> _Tools:
    """Return what asks an index. Errors: ``VersionError`` if its keys were made by another version."""
    tools = _tools(view.state.parameters)
    tools.parameters.check_versions(view.name)
    return tools


class Asking:
    """The questions of an index. Every call asks the newest state."""

    def _view(self) -> View:
        raise NotImplementedError

    def query(
        self,
        document: Given,
        *,
        question: Iterable[str] = (),
        threshold: float | None = None,
        distance: int | None = None,
        top: int = params.ASKING["top"].default,
        where: Where | None = None,
        name: str | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> Queried:
        """Ask which documents of the index are like a document.

        :param document: A text, bytes as a file has them, or a ``pathlib.Path`` of a file or folder.
        :param question: Which questions to ask: identical, passages, resemblance, containment, distance. Default: all
            that the index answers.
        :param threshold: Least resemblance and containment. Default: the threshold of the index.
        :param distance: Most bits in which simhashes may differ, 0 to 10.
        :param top: Most documents to list for each question; 0 for all. All are counted.
        :param where: Only documents with these values in their metadata, such as ``{"label": "2025"}``.
        :param name: The file name of a text, which decides its language.
        :param key: The key file of an index that another institution shared.
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
        tools = _asking(view)
        wanted = _wanted(question, tools.parameters)
        least = _threshold(threshold, tools.parameters)
        bits = _distance(params.DISTANCE.default if distance is None else distance)
        most = _top(top)
        given = _keyed(asked.read(document, name, tools.parameters, tools.asker), tools, _secret(key), view.name)
        return _queried(view, tools, given, wanted, least, bits, most, where)

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
        given = _keyed(given, tools, _secret(key), view.name)
        least = tools.parameters.dedup.threshold
        return _seen(view, tools, tools.asker.seen(view.core, given.core, least, _pairs(where)))

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
            return [_seen_keyed(view, tools, text, secret, conditions) for text in texts]
        found = tools.asker.seen_many(view.core, texts, least, _pairs(where))
        return [
            Seen(False, None, False, "", refusal) if seen is None else _seen(view, tools, seen)
            for seen, refusal in found
        ]


def _queried(
    view: View,
    tools: _Tools,
    given: AskedFor,
    wanted: Sequence[str],
    threshold: float,
    bits: int,
    top: int,
    conditions: Where | None,
) -> Queried:
    """Ask all wanted questions of one state of the index."""
    asker, core, of = tools.asker, given.core, _pairs(conditions)
    ask: dict[str, Callable[[], Any]] = {
        "identical": lambda: asker.identical(view.core, core, top, of),
        "resemblance": lambda: asker.resemblance(view.core, core, threshold, top, of),
        "containment": lambda: asker.containment(view.core, core, threshold, top, of),
        "distance": lambda: asker.distance(view.core, core, bits, top, of),
    }
    worth: dict[str, Callable[[], str]] = {
        "identical": lambda: certificates.IDENTICAL,
        "resemblance": lambda: certificates.resemblance(tools.parameters, threshold),
        "containment": lambda: certificates.containment(tools.parameters, threshold, core),
        "distance": lambda: certificates.distance(bits, core),
    }
    answers = tuple(
        passages.ask(view, tools.parameters, given, top, of)
        if one == "passages"
        else _answer(view, one, ask[one](), worth[one]())
        for one in wanted
    )
    shingles, tokens, size, _, _ = core.sizes
    return Queried(given.name, view.name, len(view), answers, tokens, shingles, size, given.notes)


def _secret(key: str | os.PathLike[str] | None) -> bytes | None:
    """Return the secret of a key file. Errors: ``ParameterError``, ``OSError``."""
    return None if key is None else sharing.read_secret(key)


def _keyed(given: AskedFor, tools: _Tools, secret: bytes | None, name: str) -> AskedFor:
    """Return a document as the index understands it. Errors: ``ParameterError``, ``VersionError``."""
    return replace(given, core=sharing.keyed(given.core, tools.parameters, secret, name))


def _seen_keyed(view: View, tools: _Tools, text: Any, secret: bytes | None, conditions: list[tuple[str, str]]) -> Seen:
    """Ask a shared index about one of many texts."""
    try:
        core = tools.asker.text(text, True)
    except FrontendError as error:
        return Seen(False, None, False, "", str(error))
    core = sharing.keyed(core, tools.parameters, secret, view.name)
    return _seen(view, tools, tools.asker.seen(view.core, core, tools.parameters.dedup.threshold, conditions))


def _answer(view: View, question: str, found: Any, certificate: str) -> Answer:
    matches, documents, distinct, work = found
    told = tuple(match_of(question, one, view.prefix(one[0])) for one in matches)
    return Answer(question, told, documents, distinct, certificate, tuple(work))


def _seen(view: View, tools: _Tools, found: Any) -> Seen:
    is_seen, nearest, _, _ = found
    if nearest is None:
        return Seen(is_seen, None, False, tools.certificate)
    match = match_of("resemblance", nearest, view.prefix(nearest[0]))
    is_identical = nearest[5]
    return Seen(is_seen, match, is_identical, certificates.IDENTICAL if is_identical else tools.certificate)


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
