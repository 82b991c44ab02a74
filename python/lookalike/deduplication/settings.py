"""Fills in and checks the parameters of a deduplication."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from lookalike import _core, params
from lookalike._types import decimal
from lookalike.engines import local
from lookalike.errors import ParameterError
from lookalike.simhashes.texts import maker

if TYPE_CHECKING:
    from lookalike.designs.filters import Filter

_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "kb": 10**3, "mb": 10**6, "gb": 10**9}
#: Least and most memory that can be asked for.
MIN_MEMORY, MAX_MEMORY = 2**24, 2**50
#: Largest modulus; a thinner sample of a text is empty.
MAX_MODULUS = 2**20
#: Highest threshold a filter is designed for; any filter finds identical sets.
_HIGHEST = 0.999


@dataclass(frozen=True)
class Settings:
    """The parameters of a deduplication."""

    method: str
    threshold: float
    recall: float
    sketch: str
    size: int
    #: Which documents method minhash proposes; ``None`` if no filter is used.
    filter: Filter | None
    modulus: int
    contains: bool
    contained: bool
    shingle: int
    unit: str
    labelled: bool
    bits: int
    clustering: str
    keep: str
    distance: int
    no_verify: bool
    length_within: float | None
    same_language: bool
    features: str
    ignore: tuple[str, ...]
    text_column: str
    id_column: str | None
    #: The column by which rows are in order, if it is not the order in which they stand.
    order: str | None
    format: str | None
    memory: int
    threads: int
    max_errors: int | None
    max_pairs: int

    @property
    def number_column(self) -> str | None:
        """The column whose largest value decides which row is kept, if ``keep`` names one."""
        return self.keep.removeprefix("max:") if self.keep.startswith("max:") else None

    @property
    def sought(self) -> tuple[bool, bool]:
        """Whether rows that contain a reference count, and whether rows that are contained in one do."""
        is_either = self.contains == self.contained
        return is_either or self.contains, is_either or self.contained

    @property
    def kept_sketch(self) -> str:
        """The kind of sketch kept of each document."""
        return {"exact": "none", "containment": "modulo", "simhash": "simhash"}.get(self.method, self.sketch)

    @property
    def simhash(self) -> _core.SimhashMaker | None:
        """The maker of fingerprints, for method simhash. Errors: ``ParameterError``."""
        if self.method != "simhash":
            return None
        return maker(unit=self.unit, features=self.features, ignore=self.ignore, languages=self.same_language)[0]

    @property
    def nearness(self) -> tuple[int, float | None, bool, bool] | None:
        """For method simhash: distance, length limit, same language, and whether candidates are verified."""
        if self.method != "simhash":
            return None
        return self.distance, self.length_within, self.same_language, not self.no_verify

    @property
    def search(self) -> str:
        """How pairs are proposed, in the words of the core."""
        if self.is_by_features:
            return "features"
        return "join" if self.method == "minhash" and self.recall == 1 else self.method

    def arguments(self, references: int | None) -> tuple[Any, ...]:
        """Return what the core is told to decide a corpus, or to find its pairs; so many rows are ``references``."""
        return (
            self.search,
            (0, 0, 0) if self.filter is None else (self.filter.k, self.filter.s, self.filter.r),
            self.threshold,
            self.clustering,
            "max" if self.number_column else self.keep,
            references,
            self.memory // 4,
            self.nearness,
            self.limits,
        )

    @property
    def measure(self) -> str:
        """The name of what is measured between two rows."""
        if self.is_by_features:
            return "features"
        return "distance" if self.is_by_distance else "containment" if self.method == "containment" else "resemblance"

    @property
    def is_by_distance(self) -> bool:
        """Whether a score is 1 − distance/64 and not a resemblance."""
        return self.method == "simhash" and self.no_verify

    @property
    def is_by_features(self) -> bool:
        """Whether only features are kept, and a score is the share of them that two documents share."""
        return self.method == "minhash" and self.no_verify

    @property
    def least_score(self) -> float:
        """The least score of a pair that links two documents."""
        return 1 - self.distance / 64 if self.is_by_distance else self.threshold

    @property
    def over_ids(self) -> str:
        """Words that limit a claim to shingle ids of fewer than 64 bits, which different shingles may share."""
        return f" over {self.bits}-bit shingle ids" if self.bits < 64 and self.method != "exact" else ""

    @property
    def limits(self) -> tuple[float | None, bool]:
        """The limits on length and language, for the methods that do not have them in ``nearness``."""
        return (None, False) if self.method == "simhash" else (self.length_within, self.same_language)

    @property
    def shown(self) -> dict[str, Any]:
        """The parameters as ledgers and reports show them: only those that change the answer."""
        machine = {"memory", "threads", "max_errors", "max_pairs"} | set(
            () if self.method == "simhash" else params.SIMHASH_ONLY
        )
        machine |= set() if self.method == "containment" else {"contains", "contained"}
        machine |= set() if self.order is not None else {"order"}
        told = {name: value for name, value in asdict(self).items() if name not in machine}
        return told | {"filter": None if self.filter is None else [self.filter.k, self.filter.s, self.filter.r]}


def settings(**given: Any) -> Settings:
    """Fill in the parameters that were not given. Errors: ``ParameterError``."""
    unknown = given.keys() - params.DEDUPLICATION.keys()
    if unknown:
        raise ParameterError(f"parameter `{min(unknown)}` is not known: use one of {', '.join(params.DEDUPLICATION)}")
    chosen = {name: one.default for name, one in params.DEDUPLICATION.items()}
    chosen |= {name: value for name, value in given.items() if value is not None}
    for name, one in params.DEDUPLICATION.items():
        if one.choices and chosen[name] is not None and chosen[name] not in one.choices:
            raise ParameterError(f"{name} `{chosen[name]}` is not known: use one of {', '.join(one.choices)}")
    _check_numbers(chosen)
    if chosen["shingle"] is None:
        chosen["shingle"] = params.SHINGLES[chosen["unit"]]
    _check(chosen)
    chosen |= _filtering(chosen)
    made = Settings(**chosen | {"memory": parse_memory(chosen["memory"]), "ignore": params.patterns(chosen["ignore"])})
    # A maker that cannot be built is refused before anything is read.
    _ = made.simhash
    return made


def _check_numbers(chosen: dict[str, Any]) -> None:
    """Errors: ``ParameterError`` for anything but a number where one is needed. Truth values are no numbers here."""
    for name, one in params.DEDUPLICATION.items():
        value, kind = chosen[name], {int: Integral, float: Real}.get(one.kind)
        if value is not None and kind is not None and (isinstance(value, bool) or not isinstance(value, kind)):
            raise ParameterError(f"{name} `{value}` is not a {'whole ' if one.kind is int else ''}number")


def _filtering(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return filter and size. Errors: ``ParameterError`` if they contradict each other or other parameters."""
    asked, size = chosen["filter"], chosen["size"]
    if asked is None:
        size = params.SKETCH_ELEMENTS if size is None else size
        is_filtered = chosen["method"] == "minhash" and chosen["recall"] < 1
        return {"size": size, "filter": _designed(chosen, size) if is_filtered else None}
    from lookalike.designs.filters import Filter

    if chosen["method"] != "minhash":
        raise ParameterError(
            f"filter has no effect with method `{chosen['method']}`: leave it out, or use method `minhash`"
        )
    if chosen["clustering"] == "greedy":
        raise ParameterError("clustering `greedy` compares sketches and uses no filter: leave out filter, or use star")
    if chosen["recall"] != params.RECALL.default:
        raise ParameterError(f"recall `{chosen['recall']:g}` contradicts filter `{asked}`, which has its own: give one")
    found = Filter.of(asked)
    if size not in (None, found.elements):
        needed = f"{found.k}·{found.s} = {found.elements} elements"
        raise ParameterError(f"size `{size}` contradicts filter `{asked}`, which takes {needed}: leave out size")
    if found.keys > _core.MAX_KEYS:
        many = f"{found.keys:,} groups of {found.r} features per document"
        raise ParameterError(f"filter `{asked}` makes {many}: use k and r with at most {_core.MAX_KEYS:,}")
    return {"size": found.elements, "filter": found}


def _designed(chosen: dict[str, Any], size: int) -> Filter:
    """Return the best filter for the threshold, the recall and the size of the sketch. Errors: ``ParameterError``."""
    from lookalike.designs.solve import design

    threshold = min(chosen["threshold"], _HIGHEST)
    try:
        return design(threshold, chosen["recall"], elements=size, sketch=chosen["sketch"]).filter
    except ParameterError:
        raise ParameterError(
            f"size `{size}` is too small to find nearly all pairs at threshold `{chosen['threshold']:g}`: "
            "use a larger size, a higher threshold, or recall 1, which needs no filter"
        ) from None


def _check(chosen: dict[str, Any]) -> None:
    if not 0 < chosen["threshold"] <= 1:
        raise ParameterError(f"threshold `{chosen['threshold']}` must be more than 0 and at most 1")
    _check_recall(chosen)
    keep = str(chosen["keep"])
    if keep not in ("first", "longest") and not (keep.startswith("max:") and keep[4:]):
        raise ParameterError(f"keep `{keep}` is not known: use first, longest, or max:COLUMN")
    if chosen["size"] is not None and not 1 <= chosen["size"] <= _core.MAX_SKETCH:
        raise ParameterError(f"size `{chosen['size']}` must be 1 to {_core.MAX_SKETCH}")
    local.checked(chosen["threads"])
    if not 1 <= chosen["modulus"] <= MAX_MODULUS or chosen["modulus"] & (chosen["modulus"] - 1):
        raise ParameterError(f"modulus `{chosen['modulus']}` must be a power of two, at most {MAX_MODULUS}")
    _check_simhash(chosen)
    _check_unverified(chosen)
    if chosen["max_errors"] is not None and chosen["max_errors"] < 0:
        raise ParameterError(f"max_errors `{chosen['max_errors']}` must be 0 or more")
    if chosen["max_pairs"] < 0:
        raise ParameterError(f"max_pairs `{chosen['max_pairs']}` must be 0 or more")


def _check_recall(chosen: dict[str, Any]) -> None:
    recall = chosen["recall"]
    if not 0 < recall <= 1:
        raise ParameterError(f"recall `{recall}` must be more than 0 and at most 1")
    if recall == params.RECALL.default:
        return
    if chosen["method"] != "minhash":
        other = "use modulus `1` to miss nothing" if chosen["method"] == "containment" else "it misses nothing"
        raise ParameterError(f"recall has no effect with method `{chosen['method']}`: leave it out; {other}")
    if recall == 1 and chosen["clustering"] == "greedy":
        raise ParameterError(
            "clustering `greedy` finds clusters by their sketches, so recall `1` cannot be had: use star"
        )


def _check_simhash(chosen: dict[str, Any]) -> None:
    if not 0 <= chosen["distance"] <= _core.MAX_DISTANCE:
        raise ParameterError(f"distance `{chosen['distance']}` must be 0 to {_core.MAX_DISTANCE}")
    share = chosen["length_within"]
    if share is not None and not 0 <= share <= 1:
        raise ParameterError(f"length_within `{share}` must be 0 to 1, such as 0.2")
    if chosen["method"] != "simhash":
        given = [
            name for name in params.SIMHASH_ONLY if chosen[name] != params.DEDUPLICATION[name].default and chosen[name]
        ]
        if given:
            raise ParameterError(
                f"{given[0]} has no effect with method `{chosen['method']}`: leave it out, or use method `simhash`"
            )
    elif chosen["clustering"] == "greedy":
        raise ParameterError("clustering `greedy` needs sketches, which method `simhash` does not make: use star")


def _check_unverified(chosen: dict[str, Any]) -> None:
    """Check ``no_verify``. Errors: ``ParameterError``."""
    if not chosen["no_verify"] or chosen["method"] == "simhash":
        return
    if chosen["method"] != "minhash":
        raise ParameterError(
            f"no_verify has no effect with method `{chosen['method']}`: leave it out, or use method minhash or simhash"
        )
    if chosen["filter"] is None:
        raise ParameterError(
            "no_verify leaves the decision to the filter, and none was given: give filter, such as 6,14,2, "
            "whose curve `lookalike design --filter 6,14,2` shows"
        )


def told_numbers(rows: int, numbered: int, column: str, there: str = "") -> list[str]:
    """Return a note on rows without the number that decides which is kept; ``there`` names the columns there are.

    Errors: ``ParameterError`` if no row has one.
    """
    if rows and not numbered:
        raise ParameterError(f"number column `{column}` holds no number in any row: name a column of numbers{there}")
    if rows == numbered:
        return []
    return [f"rows whose `{column}` is missing or not a number: {rows - numbered:,} of {rows:,}; they come last"]


def parse_memory(memory: str | int) -> int:
    """Return an amount of memory, such as 512MiB, in bytes. Errors: ``ParameterError``."""
    text = str(memory).strip().lower().replace(" ", "")
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        total = int(decimal(number) * _UNITS[text[len(number) :]])
    except (ValueError, KeyError, OverflowError):
        raise ParameterError(
            f"memory `{memory}` is not an amount of memory: use bytes or a unit, such as 512MiB"
        ) from None
    if total > MAX_MEMORY:
        raise ParameterError(f"memory `{memory}` is too much: use at most {MAX_MEMORY >> 40}TiB")
    if total < MIN_MEMORY:
        raise ParameterError(f"memory `{memory}` is too little: use at least {MIN_MEMORY >> 20}MiB")
    return total
