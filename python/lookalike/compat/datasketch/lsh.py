"""``MinHashLSH``: keys whose sets are likely to resemble a given one, by bands of hash values held in dictionaries.

An index has b bands of r hash values each (Leskovec, Rajaraman and Ullman, *Mining of Massive Datasets*, chapter 3).
Two sets of resemblance s share a band with probability 1 − (1 − s^r)^b. Insert, query and remove cost b look-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

from lookalike import _core
from lookalike.compat.datasketch.minhash import MinHash
from lookalike.errors import ParameterError

#: Bytes of a hash value.
_WIDTH = 8


class MinHashLSH:
    """An index of sketches that finds the keys of likely similar sets.

    >>> rose = MinHash()
    >>> rose.update_batch([b"a", b"rose", b"is"])
    >>> lsh = MinHashLSH(threshold=0.5)
    >>> lsh.insert("Stein", rose)
    >>> lsh.query(rose), lsh.query_with_scores(rose), "Stein" in lsh
    (['Stein'], [('Stein', 1.0)], True)

    :param threshold: the resemblance for which bands are chosen, 0 to 1.
    :param num_perm: hash values of every sketch in the index.
    :param weights: what a false positive and a false negative cost; they add up to 1.
    :param params: (b, r) to use in place of those chosen by ``threshold`` and ``weights``.
    :param storage_config: only ``{"type": "dict"}``: the index lives in memory; pickle keeps it.
    :param prepickle: accepted and ignored; keys are never pickled.
    :param hashfunc: takes the bytes of a band and returns shorter ones, to save memory.
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: Mapping[str, Any] | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:
        _check(threshold, num_perm, weights, storage_config)
        self.threshold = threshold
        self.h = num_perm
        self.b, self.r = _bands(threshold, num_perm, weights, params)
        self.hashfunc = hashfunc
        self.hashranges = [(i * self.r, (i + 1) * self.r) for i in range(self.b)]
        self._cuts = [slice(_WIDTH * start, _WIDTH * end) for start, end in self.hashranges]
        #: Keys by the bytes of a band, one table per band; a bucket keeps the order of insertion.
        self.hashtables: list[dict[bytes, dict[Hashable, None]]] = [{} for _ in range(self.b)]
        #: The sketches of each key: one, unless duplicates were allowed.
        self.keys: dict[Hashable, tuple[_core.Sketch, ...]] = {}
        self._seed: int | None = None
        self._buffered: list[MinHash] = []
        #: Accepted and ignored: nothing here is buffered on its way to a server.
        self.buffer_size = 50_000

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Insert a key with the sketch of its set. Errors: ``ValueError`` for a key that is there, another family."""
        self._check_fits(minhash)
        if check_duplication and key in self.keys:
            raise ParameterError(f"key `{key!r}` is in the index already: remove it first, or use another")
        self._seed = minhash.seed
        self._add(key, minhash.made)

    def _add(self, key: Hashable, made: _core.Sketch) -> None:
        self.keys[key] = (*self.keys.get(key, ()), made)
        for table, band in zip(self.hashtables, self._cut(made), strict=True):
            bucket = table.get(band)
            if bucket is None:
                table[band] = {key: None}
            else:
                bucket[key] = None

    def _cut(self, made: _core.Sketch) -> list[bytes]:
        """Return the bytes of each band of a sketch."""
        values = bytes(made.values)
        bands = [values[cut] for cut in self._cuts]
        return bands if self.hashfunc is None else [self.hashfunc(band) for band in bands]

    def remove(self, key: Hashable) -> None:
        """Remove a key. Errors: ``ValueError`` if it is not there."""
        if key not in self.keys:
            raise ParameterError(f"key `{key!r}` is not in the index: only keys that were inserted can be removed")
        for made in self.keys.pop(key):
            for table, band in zip(self.hashtables, self._cut(made), strict=True):
                bucket = table.get(band, {})
                bucket.pop(key, None)
                if not bucket:
                    table.pop(band, None)

    def query(self, minhash: MinHash) -> list[Hashable]:
        """Return the keys that share a band, each once. Errors: ``ValueError`` for a sketch of another family."""
        self._check_fits(minhash)
        return list(self._found(minhash.made, self.b))

    def query_with_scores(self, minhash: MinHash, min_score: float = 0.0) -> list[tuple[Hashable, float]]:
        """Return what ``query`` finds with the estimated resemblance, the best first.

        :param min_score: leave out keys with a lower estimate.
        """
        scored = [(key, self._score(minhash, key)) for key in self.query(minhash)]
        return sorted((one for one in scored if one[1] >= min_score), key=lambda one: -one[1])

    def _score(self, minhash: MinHash, key: Hashable) -> float:
        # Only an empty set shares a band with an empty set, and two empty sets are equal.
        found = [minhash.made.agreement(made) or (1, 1) for made in self.keys[key]]
        return max(common / size for common, size in found)

    def _query_b(self, minhash: MinHash, b: int) -> set[Hashable]:
        """Return the keys that share one of the first b bands."""
        self._check_fits(minhash)
        if b > self.b:
            raise ParameterError(f"b `{b}` is more than the index has: use at most {self.b}")
        return set(self._found(minhash.made, b))

    def _found(self, made: _core.Sketch, b: int) -> dict[Hashable, None]:
        found: dict[Hashable, None] = {}
        for table, band in zip(self.hashtables[:b], self._cut(made), strict=False):
            bucket = table.get(band)
            if bucket is not None:
                found.update(bucket)
        return found

    def add_to_query_buffer(self, minhash: MinHash) -> None:
        """Keep a query for ``collect_query_buffer``."""
        self._check_fits(minhash)
        self._buffered.append(minhash)

    def collect_query_buffer(self) -> list[Hashable]:
        """Return the keys that all buffered queries find, and forget the queries."""
        queries, self._buffered = self._buffered, []
        if not queries:
            return []
        first, *others = [self._found(minhash.made, self.b) for minhash in queries]
        return [key for key in first if all(key in other for other in others)]

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Insert everything of another index. Errors: ``ValueError`` for other bands, or keys that both have."""
        if not isinstance(other, MinHashLSH):
            raise ParameterError(f"a `{type(other).__name__}` cannot be merged into an index: give a MinHashLSH")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ParameterError("the indexes have different num_perm or bands: make both with the same params")
        if None not in (self._seed, other._seed) and self._seed != other._seed:
            raise ParameterError(f"the indexes hold sketches of seeds `{self._seed}` and `{other._seed}`: use one seed")
        if check_overlap and not self.keys.keys().isdisjoint(other.keys):
            raise ParameterError("the indexes have keys in common: remove them from one, or leave out check_overlap")
        self._seed = other._seed if self._seed is None else self._seed
        for key, sketches in list(other.keys.items()):
            for made in sketches:
                self._add(key, made)

    def insertion_session(self, buffer_size: int = 50_000) -> MinHashLSHInsertionSession:
        """Return a context manager whose ``insert`` inserts; ``buffer_size`` is accepted and ignored."""
        return MinHashLSHInsertionSession(self, buffer_size)

    def deletion_session(self, buffer_size: int = 50_000) -> MinHashLSHDeletionSession:
        """Return a context manager whose ``remove`` removes; ``buffer_size`` is accepted and ignored."""
        return MinHashLSHDeletionSession(self, buffer_size)

    def is_empty(self) -> bool:
        """Return whether nothing is in the index."""
        return not self.keys

    def get_counts(self) -> list[dict[bytes, int]]:
        """Return one dictionary per band: how many keys are in each bucket."""
        return [{band: len(bucket) for band, bucket in table.items()} for table in self.hashtables]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[bytes, int]]:
        """Return the same for these keys alone; unknown keys count nothing."""
        part = MinHashLSH(num_perm=self.h, params=(self.b, self.r), hashfunc=self.hashfunc)
        for key in dict.fromkeys(keys):
            for made in self.keys.get(key, ()):
                part._add(key, made)
        return part.get_counts()

    def __contains__(self, key: Hashable) -> bool:
        return key in self.keys

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.keys)} keys, {self.b} bands of {self.r} hash values>"

    def __getstate__(self) -> dict[str, Any]:
        rows = [(key, [made.to_bytes() for made in sketches]) for key, sketches in self.keys.items()]
        return {**self.__dict__, "hashtables": None, "keys": rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.hashtables = [{} for _ in range(self.b)]
        self.keys = {}
        for key, sketches in state["keys"]:
            for stored in sketches:
                self._add(key, _core.Sketch(stored))

    def _check_fits(self, minhash: MinHash) -> None:
        if len(minhash) != self.h:
            raise ParameterError(f"the sketch has {len(minhash)} hash values, those of this index have {self.h}")
        if self._seed is not None and minhash.seed != self._seed:
            raise ParameterError(f"the sketch has seed `{minhash.seed}`, those of this index have `{self._seed}`")


class _Session:
    """Something used in a ``with``; every call takes effect at once."""

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        lsh.buffer_size = buffer_size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: there is nothing left to do."""


class MinHashLSHInsertionSession(_Session):
    """Inserts many keys."""

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Insert a key, as ``MinHashLSH.insert`` does."""
        self.lsh.insert(key, minhash, check_duplication)


class MinHashLSHDeletionSession(_Session):
    """Removes many keys."""

    def remove(self, key: Hashable) -> None:
        """Remove a key, as ``MinHashLSH.remove`` does."""
        self.lsh.remove(key)


def _check(threshold: float, num_perm: int, weights: Iterable[float], storage_config: Mapping[str, Any] | None) -> None:
    if not 0 <= threshold <= 1:
        raise ParameterError(f"threshold `{threshold}` is out of range: use 0 to 1")
    if num_perm < 2:
        raise ParameterError(f"num_perm `{num_perm}` is too small for bands: use at least 2")
    costs = tuple(weights)
    if len(costs) != 2 or any(not 0 <= cost <= 1 for cost in costs) or abs(sum(costs) - 1) > 1e-6:
        raise ParameterError(f"weights `{costs}` are not two shares that add up to 1: use such as (0.5, 0.5)")
    if storage_config is not None and storage_config.get("type", "dict") != "dict":
        raise ParameterError(f"storage `{storage_config.get('type')}` is not offered: leave it out, or use dict")


def _bands(
    threshold: float, num_perm: int, weights: tuple[float, float], params: tuple[int, int] | None
) -> tuple[int, int]:
    b, r = best_bands(threshold, num_perm, *weights) if params is None else params
    if b < 2:
        raise ParameterError(f"`{b}` band is too few: use a lower threshold, a greater num_perm, or params with b > 1")
    if r < 1 or b * r > num_perm:
        raise ParameterError(f"params `({b}, {r})` do not fit: b · r must be at most num_perm, which is {num_perm}")
    return b, r


@lru_cache(maxsize=256)
def best_bands(threshold: float, num_perm: int, false_positive: float, false_negative: float) -> tuple[int, int]:
    """Return the (b, r) with the least cost: a false positive or negative weighs as given, all resemblances alike.

    The integral of (1 − s^r)^b from 0 to x is I_b = (x·(1 − x^r)^b + b·r·I_{b−1}) / (1 + b·r), by parts, and I_0 = x.
    """
    best = (float("inf"), 0, 0)
    for r in range(1, num_perm + 1):
        missed, all_missed = threshold, 1.0
        for b in range(1, num_perm // r + 1):
            missed = (threshold * (1 - threshold**r) ** b + b * r * missed) / (1 + b * r)
            all_missed = b * r * all_missed / (1 + b * r)
            cost = false_positive * (threshold - missed) + false_negative * (all_missed - missed)
            best = min(best, (cost, b, r))
    return best[1], best[2]
