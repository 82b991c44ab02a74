"""The parameters of an index. They are fixed when it is created, stored as JSON, and compared when it is asked.

Defaults are resolved at creation, so that a later version with other defaults still asks an index as it was made.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from lookalike import _core, params
from lookalike.designs.filters import PAPER
from lookalike.errors import DamagedError, ParameterError, VersionError

#: The version of the folder: catalogue, records and segments.
FORMAT = 1
#: The kind of an index that ``MinHashLSH`` keeps.
KEYS = "keys"
#: The question that features alone answer.
_BY_FEATURES = "resemblance"
#: The entry of ``thresholds`` for all languages without one of their own.
OTHER_LANGUAGES = "code"
#: The most k and t that a catalogue may hold; more is damage.
_MOST = 2**31


#: The version of everything that the parameters of an older index do not name.
_UNNAMED = 1
#: What the keys of each question are made by; the other questions compare content hashes only.
_NEEDS = {
    "passages": ("text", "code"),
    "resemblance": ("text", "shingle", "sketch"),
    "containment": ("text", "shingle", "sketch"),
    "distance": ("text", "simhash"),
}
#: What the names of versions mean, where that is not plain.
_MEANING = {"text": "the language text", "code": "every language but text"}


def versions() -> dict[str, int]:
    """Return the versions of everything whose change makes stored keys incomparable."""
    return {
        "index": FORMAT,
        "text": _core.TEXT_VERSION,
        "code": _core.CODE_VERSION,
        "shingle": _core.SHINGLE_VERSION,
        "sketch": _core.SKETCH_VERSION,
        "simhash": _core.SIMHASH_VERSION,
    }


@dataclass(frozen=True)
class Dedup:
    """How shingles, sketches and the keys of the filter are made; the same names as in ``dedup``."""

    unit: str
    shingle: int
    labelled: bool
    bits: int
    sketch: str
    size: int
    #: k, s and r of the filter.
    filter: tuple[int, int, int]
    threshold: float
    modulus: int


@dataclass(frozen=True)
class Simhash:
    """How simhashes are made."""

    unit: str
    shingle: int
    features: str
    ignore: tuple[str, ...]


@dataclass(frozen=True)
class Bands:
    """Of an index of hash values alone, which ``MinHashLSH`` keeps: how they are cut into bands."""

    threshold: float
    num_perm: int
    #: The number of bands, and hash values of each.
    b: int
    r: int


@dataclass(frozen=True)
class Parameters:
    """The parameters of an index.

    >>> made = Parameters.of(kind="corpus", without=["distance"])
    >>> made.thresholds_of("text"), made.questions
    ((50, 149), ('passages', 'resemblance', 'containment'))
    >>> Parameters.from_json(made.to_json()) == made
    True
    """

    #: ``class`` or ``corpus``; ``keys`` for an index of ``MinHashLSH``.
    kind: str
    #: Which of ``params.QUESTIONS`` it answers.
    questions: tuple[str, ...]
    #: Whether texts are kept.
    texts: bool
    comments: bool
    #: The language of all files, or ``auto``.
    language: str
    #: k and t as given for all languages, or ``None``.
    k: int | None
    t: int | None
    #: k and t by language; ``code`` for those that are not listed.
    thresholds: dict[str, tuple[int, int]]
    dedup: Dedup
    simhash: Simhash
    versions: dict[str, int]
    #: Of an index that was made to be shared: the number by which it knows its secret.
    keyed: int | None = None
    #: Of an index of ``MinHashLSH``: its bands.
    bands: Bands | None = None
    #: Whether only the features of the filter are kept of each document, and they decide.
    features_only: bool = False

    @classmethod
    def of(
        cls,
        kind: str = "class",
        *,
        without: Iterable[str] = (),
        no_texts: bool = False,
        comments: bool = False,
        language: str | None = None,
        k: int | None = None,
        t: int | None = None,
        features_only: bool = False,
        **dedup: Any,
    ) -> Parameters:
        """Fill in the parameters that were not given; ``dedup`` are those of ``dedup``. Errors: ``ParameterError``."""
        if kind not in params.INDEXING["kind"].choices:
            raise ParameterError(f"kind `{kind}` is not known: use class or corpus")
        left_out = _left_out(without)
        if features_only:
            left_out, no_texts = _left_out_of_features(left_out), True
            dedup["filter"] = dedup.get("filter") or PAPER
        chosen = "text" if kind == "corpus" else language or "auto"
        if kind == "corpus" and language not in (None, "auto", "text"):
            raise ParameterError(
                f"language `{language}` has no effect with kind corpus, whose rows are text: leave it out"
            )
        if kind == "corpus" and comments:
            raise ParameterError("comments has no effect with kind corpus, whose rows are text: leave it out")
        sketches, simhash = _deduplication(dedup)
        questions = tuple(one for one in params.QUESTIONS if one not in left_out)
        thresholds = _thresholds(kind, k, t)
        made = cls(kind, questions, not no_texts, comments, chosen, k, t, thresholds, sketches, simhash, versions())
        return replace(made, features_only=features_only)

    @classmethod
    def of_bands(cls, bands: Bands) -> Parameters:
        """Return the parameters of an index of ``MinHashLSH``, which answers no question about texts."""
        plain = cls.of("corpus", without=params.QUESTIONS, no_texts=True)
        return replace(plain, kind=KEYS, bands=bands, versions={"index": FORMAT})

    def thresholds_of(self, language: str) -> tuple[int, int]:
        """Return k and t of a language."""
        return self.thresholds.get(language) or self.thresholds[OTHER_LANGUAGES]

    def to_json(self) -> str:
        """Return the parameters as JSON, the same text for the same parameters."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Parameters:
        """Read parameters. Errors: ``ValueError`` if they are not those of an index."""
        given = _exact(json.loads(text), {field.name for field in fields(cls)})
        dedup = _exact(given["dedup"], {field.name for field in fields(Dedup)})
        simhash = _exact(given["simhash"], {field.name for field in fields(Simhash)})
        thresholds = {str(name): _pair(pair) for name, pair in dict(given["thresholds"]).items()}
        made = given | {
            "questions": tuple(given["questions"]),
            "thresholds": thresholds,
            "dedup": Dedup(**dedup | {"filter": tuple(int(one) for one in dedup["filter"])}),
            "simhash": Simhash(**simhash | {"ignore": tuple(simhash["ignore"])}),
            "bands": _bands(given["bands"]),
            "versions": _versions(given["versions"], given["kind"]),
        }
        if OTHER_LANGUAGES not in thresholds or not set(made["questions"]) <= set(params.QUESTIONS):
            raise ValueError("parameters of an index")
        return cls(**made)

    def outdated(self, questions: Iterable[str] | None = None) -> list[str]:
        """Return what another version made of the keys that some questions need, or all that the index answers."""
        asked = self.questions if questions is None else questions
        needed = {"index", *(which for question in asked for which in _NEEDS.get(question, ()))}
        if self.kind == "corpus":
            needed.discard("code")
        return [which for which, number in versions().items() if which in needed and self.versions[which] != number]

    def check_versions(self, name: str, questions: Iterable[str] | None = None) -> None:
        """Refuse an index that another version made what these questions need of. Errors: ``VersionError``."""
        current = versions()
        other = [
            f"{which} {self.versions[which]} (this version makes {current[which]}"
            + (f"; {_MEANING[which]})" if which in _MEANING else ")")
            for which in self.outdated(questions)
        ]
        if other:
            raise VersionError(
                f"index `{name}` was made with {', '.join(other)}: run `lookalike index upgrade {shlex.quote(name)}`, "
                "or use the version of lookalike that made it"
            )

    def differences(self, other: Parameters) -> list[str]:
        """Return the parameters in which two indexes differ, as ``name: this and other``."""
        mine, theirs = _flat(asdict(self)), _flat(asdict(other))
        return [
            f"{name}: {mine.get(name)} and {theirs.get(name)}"
            for name in sorted({*mine, *theirs})
            if mine.get(name) != theirs.get(name)
        ]


def parsed(text: str | bytes, path: str) -> Parameters:
    """Read parameters that stand in a file. Errors: ``DamagedError``, which names it."""
    try:
        return Parameters.from_json(text)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedError(f"`{path}` is damaged: its parameters cannot be read; restore it from a backup") from None


def _left_out(without: Iterable[str]) -> set[str]:
    if isinstance(without, str):
        without = [one.strip() for one in without.split(",") if one.strip()]
    left_out = set(without)
    if unknown := left_out - set(params.QUESTIONS):
        raise ParameterError(f"without `{min(unknown)}` is no question: use some of {', '.join(params.QUESTIONS)}")
    return left_out


def _left_out_of_features(left_out: set[str]) -> set[str]:
    """Return the questions that an index of features alone does not answer. Errors: ``ParameterError``."""
    if _BY_FEATURES in left_out:
        raise ParameterError("features_only answers resemblance alone, and without leaves it out: give one of them")
    return {one for one in params.QUESTIONS if one != _BY_FEATURES}


def _deduplication(given: dict[str, Any]) -> tuple[Dedup, Simhash]:
    """Return how sketches and simhashes are made; refuses what only decides a run of ``dedup``."""
    from lookalike.deduplication.settings import settings

    allowed = {field.name for field in fields(Dedup)} | {"recall", "features", "ignore"}
    if unknown := given.keys() - allowed:
        raise ParameterError(f"parameter `{min(unknown)}` is not one of an index: leave it out")
    simhash = Simhash(
        given.get("unit") or params.SKETCHING["unit"].default,
        params.SIMHASHING["shingle"].default,
        given.pop("features", None) or params.SIMHASHING["features"].default,
        tuple(given.pop("ignore", None) or ()),
    )
    chosen = settings(**given)
    if chosen.filter is None:
        raise ParameterError("recall `1` needs no filter, and an index needs one: leave it out, or use 0.9999")
    made: dict[str, Any] = {field.name: getattr(chosen, field.name) for field in fields(Dedup)}
    made["filter"] = chosen.filter.k, chosen.filter.s, chosen.filter.r
    return Dedup(**made), simhash


def _thresholds(kind: str, k: int | None, t: int | None) -> dict[str, tuple[int, int]]:
    """Return k and t by language: a lone k or t moves the other along where its default would contradict it."""
    usual = {**params.LANGUAGE_THRESHOLDS, OTHER_LANGUAGES: params.CODE_THRESHOLDS}
    if kind == "corpus":
        usual = {"text": params.CORPUS_THRESHOLDS, OTHER_LANGUAGES: params.CORPUS_THRESHOLDS}
    if k is not None and k < 1:
        raise ParameterError(f"k `{k}` is too small: use 1 or more")
    if k is not None and t is not None and t < k:
        raise ParameterError(f"t `{t}` is smaller than k `{k}`: use t ≥ {k}")
    if t is not None and t < 1:
        raise ParameterError(f"t `{t}` is too small: use 1 or more")
    made = {}
    for language, (usual_k, usual_t) in usual.items():
        own = k if k is not None else min(usual_k, t) if t is not None else usual_k
        made[language] = own, t if t is not None else max(usual_t, own)
    return made


def _exact(given: Any, names: set[str]) -> dict[str, Any]:
    if not isinstance(given, dict) or given.keys() != names:
        raise ValueError("parameters of an index")
    return given


def _versions(given: Any, kind: Any) -> dict[str, int]:
    """Return the versions that parameters name, and those that older ones do not."""
    made = {str(which): number for which, number in dict(given).items()}
    if not all(type(number) is int for number in made.values()):
        raise ValueError("parameters of an index")
    return made if kind == KEYS else {**dict.fromkeys(versions(), _UNNAMED), **made}


def _bands(given: Any) -> Bands | None:
    if given is None:
        return None
    made = Bands(**_exact(given, {field.name for field in fields(Bands)}))
    counts = (made.num_perm, made.b, made.r)
    if not all(type(one) is int and 0 < one < _MOST for one in counts) or made.b * made.r > made.num_perm:
        raise ValueError("parameters of an index")
    return made


def _pair(pair: Any) -> tuple[int, int]:
    k, t = pair
    if not (isinstance(k, int) and isinstance(t, int) and 1 <= k <= t < _MOST):
        raise ValueError("parameters of an index")
    return k, t


def _flat(given: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found
