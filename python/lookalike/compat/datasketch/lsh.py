"""``MinHashLSH``: keys whose sets are likely to resemble a given one, by bands of hash values, in memory or on disk.

An index has b bands of r hash values each (Leskovec, Rajaraman and Ullman, *Mining of Massive Datasets*, chapter 3).
Two sets of resemblance s share a band with probability 1 − (1 − s^r)^b. Insert, query and remove cost b look-ups.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

from lookalike import _core
from lookalike.compat.datasketch.minhash import MinHash
from lookalike.compat.datasketch.storage import Cutter, Memory, Sketches, Storage, Table
from lookalike.errors import ParameterError

#: What ``storage_config`` of an index on disk may say.
_ON_DISK = ("type", "path", "basename", "wait")


class MinHashLSH:
    """An index of sketches that finds the keys of likely similar sets.

    >>> rose = MinHash()
    >>> rose.update_batch([b"a", b"rose", b"is"])
    >>> lsh = MinHashLSH(threshold=0.5)
    >>> lsh.insert("Stein", rose)
    >>> lsh.query(rose), lsh.query_with_scores(rose), "Stein" in lsh
    (['Stein'], [('Stein', 1.0)], True)

    On disk it is an index of ``lookalike.archive`` in a folder. The first change takes its lock, until ``close``; other
    processes may ask it meanwhile. A change outside a session is one commit; use a session for many.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     there = {"type": "disk", "path": os.path.join(folder, "roses")}
    ...     with MinHashLSH(threshold=0.5, storage_config=there) as lsh:
    ...         lsh.insert("Stein", rose)
    ...     with MinHashLSH(threshold=0.5, storage_config=there) as lsh:
    ...         print(lsh.query(rose))
    ['Stein']

    :param threshold: the resemblance for which bands are chosen, 0 to 1.
    :param num_perm: hash values of every sketch in the index.
    :param weights: what a false positive and a false negative cost; they add up to 1.
    :param params: (b, r) to use in place of those chosen by ``threshold`` and ``weights``.
    :param storage_config: ``{"type": "dict"}``: in memory, which is the default. ``{"type": "disk", "path": folder}``:
        in a folder, which is opened again if it is one; keys are then str, bytes or int. ``"wait": seconds`` waits for
        another process that changes it.
    :param prepickle: accepted and ignored; keys are never pickled.
    :param hashfunc: takes the bytes of a band and returns shorter ones, to save memory; not on disk.
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
        self._cutter = Cutter(self.b, self.r, hashfunc)
        self._config = dict(storage_config or {})
        self._storage = self._stored(is_made=True)
        self._buffered: list[MinHash] = []
        #: How many changes of a session on disk are one commit.
        self.buffer_size = 50_000

    def _stored(self, *, is_made: bool) -> Storage:
        """Return the place of the keys: memory, or a folder, which is made if there is none and it ``is_made``."""
        if self._config.get("type", "dict") == "dict":
            return Memory(self._cutter)
        if self.hashfunc is not None:
            raise ParameterError("hashfunc has no use on disk, where bands are stored as hashes: leave it out")
        from lookalike.archive.parameters import Bands
        from lookalike.compat.datasketch.disk import Disk

        bands = Bands(self.threshold, self.h, self.b, self.r)
        self._config = {"type": "disk", "path": _folder(self._config), "wait": float(self._config.get("wait", 0.0))}
        return Disk(self._config["path"], bands, self._config["wait"], is_made=is_made)

    @property
    def keys(self) -> Mapping[Hashable, Sketches]:
        """The sketches of each key: one, unless duplicates were allowed."""
        return self._storage.keys

    @property
    def hashtables(self) -> list[Table]:
        """Of an index in memory: keys by the bytes of a band, one table per band."""
        if not isinstance(self._storage, Memory):
            raise AttributeError("an index on disk has no tables in memory: use get_counts, or query")
        return self._storage.tables

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Insert a key with the sketch of its set. Errors: ``ValueError`` for a key that is there, another family."""
        storage = self._storage
        storage.prepare()
        storage.check_key(key)
        self._check_fits(minhash)
        if check_duplication and key in storage.keys:
            raise ParameterError(f"key `{key!r}` is in the index already: remove it first, or use another")
        storage.seed = minhash.seed
        storage.add(key, minhash.made)

    def remove(self, key: Hashable) -> None:
        """Remove a key. Errors: ``ValueError`` if it is not there."""
        self._storage.prepare()
        if key not in self._storage.keys:
            raise ParameterError(f"key `{key!r}` is not in the index: only keys that were inserted can be removed")
        self._storage.remove(key)

    def query(self, minhash: MinHash) -> list[Hashable]:
        """Return the keys that share a band, each once. Errors: ``ValueError`` for a sketch of another family."""
        self._check_fits(minhash)
        return list(self._storage.found(minhash.made, self.b))

    def query_with_scores(self, minhash: MinHash, min_score: float = 0.0) -> list[tuple[Hashable, float]]:
        """Return what ``query`` finds with the estimated resemblance, the best first.

        :param min_score: leave out keys with a lower estimate.
        """
        scored = [(key, self._score(minhash, key)) for key in self.query(minhash)]
        return sorted((one for one in scored if one[1] >= min_score), key=lambda one: -one[1])

    def _score(self, minhash: MinHash, key: Hashable) -> float:
        # Only an empty set shares a band with an empty set, and two empty sets are equal.
        found = [minhash.made.agreement(made) or (1, 1) for made in self._storage.keys[key]]
        return max(common / size for common, size in found)

    def _query_b(self, minhash: MinHash, b: int) -> set[Hashable]:
        """Return the keys that share one of the first b bands."""
        self._check_fits(minhash)
        if b > self.b:
            raise ParameterError(f"b `{b}` is more than the index has: use at most {self.b}")
        return set(self._storage.found(minhash.made, b))

    def add_to_query_buffer(self, minhash: MinHash) -> None:
        """Keep a query for ``collect_query_buffer``."""
        self._check_fits(minhash)
        self._buffered.append(minhash)

    def collect_query_buffer(self) -> list[Hashable]:
        """Return the keys that all buffered queries find, and forget the queries."""
        queries, self._buffered = self._buffered, []
        if not queries:
            return []
        first, *others = [self._storage.found(minhash.made, self.b) for minhash in queries]
        return [key for key in first if all(key in other for other in others)]

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Insert everything of another index. Errors: ``ValueError`` for other bands, or keys that both have."""
        if not isinstance(other, MinHashLSH):
            raise ParameterError(f"a `{type(other).__name__}` cannot be merged into an index: give a MinHashLSH")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ParameterError("the indexes have different num_perm or bands: make both with the same params")
        mine, theirs = self._storage, other._storage
        if None not in (mine.seed, theirs.seed) and mine.seed != theirs.seed:
            raise ParameterError(f"the indexes hold sketches of seeds `{mine.seed}` and `{theirs.seed}`: use one seed")
        mine.prepare()
        if check_overlap and any(key in mine.keys for key in theirs.keys):
            raise ParameterError("the indexes have keys in common: remove them from one, or leave out check_overlap")
        for key in theirs.keys:
            mine.check_key(key)
        mine.seed = theirs.seed if mine.seed is None else mine.seed
        with self.insertion_session(self.buffer_size):
            rows = theirs.keys.items()
            for key, sketches in list(rows) if theirs is mine else rows:
                for made in sketches:
                    mine.add(key, made)

    def insertion_session(self, buffer_size: int = 50_000) -> MinHashLSHInsertionSession:
        """Return a context manager whose ``insert`` inserts.

        :param buffer_size: on disk: how many keys are one commit. The last ones are committed at the end.
        """
        return MinHashLSHInsertionSession(self, buffer_size)

    def deletion_session(self, buffer_size: int = 50_000) -> MinHashLSHDeletionSession:
        """Return a context manager whose ``remove`` removes.

        :param buffer_size: on disk: how many keys are one commit. The last ones are committed at the end.
        """
        return MinHashLSHDeletionSession(self, buffer_size)

    def is_empty(self) -> bool:
        """Return whether nothing is in the index."""
        return not self._storage.keys

    def get_counts(self) -> list[dict[bytes, int]]:
        """Return one dictionary per band: how many keys are in each bucket."""
        return self._storage.counts()

    def get_subset_counts(self, *keys: Hashable) -> list[dict[bytes, int]]:
        """Return the same for these keys alone; unknown keys count nothing."""
        known = self._storage.keys
        chosen = (known[key] for key in dict.fromkeys(keys) if key in known)
        return self._cutter.counts([bytes(made.values) for made in sketches] for sketches in chosen)

    def close(self) -> None:
        """Of an index on disk: commit what waits, close the files and give the lock back; it is not used afterwards."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._storage.keys

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.keys)} keys, {self.b} bands of {self.r} hash values>"

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_storage"}
        if not isinstance(self._storage, Memory):
            self._storage.flush()
            return state
        rows = [(key, [made.to_bytes() for made in sketches]) for key, sketches in self._storage.keys.items()]
        return {**state, "rows": rows, "seed": self._storage.seed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rows, seed = state.pop("rows", ()), state.pop("seed", None)
        self.__dict__.update(state)
        self._storage = self._stored(is_made=False)
        self._storage.seed = seed
        for key, sketches in rows:
            for stored in sketches:
                self._storage.add(key, _core.Sketch(stored))

    def _check_fits(self, minhash: MinHash) -> None:
        if len(minhash) != self.h:
            raise ParameterError(f"the sketch has {len(minhash)} hash values, those of this index have {self.h}")
        seed = self._storage.seed
        if seed is not None and minhash.seed != seed:
            raise ParameterError(f"the sketch has seed `{minhash.seed}`, those of this index have `{seed}`")


class _Session:
    """Something used in a ``with``. Every call takes effect at once; on disk it is durable after the next commit."""

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        lsh.buffer_size = buffer_size
        lsh._storage.begin(buffer_size)
        self._is_open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Commit what waits. Errors: ``OSError``."""
        if self._is_open:
            self._is_open = False
            self.lsh._storage.end()


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
    kind = (storage_config or {}).get("type", "dict")
    if kind not in ("dict", "disk"):
        raise ParameterError(f"storage `{kind}` is not offered: leave it out, or use dict or disk")


def _folder(config: Mapping[str, Any]) -> str:
    """Return the folder of an index on disk. Errors: ``ParameterError`` for none, or for options it does not have."""
    if unknown := [name for name in config if name not in _ON_DISK]:
        raise ParameterError(f"storage option `{unknown[0]}` is not known: use path, and wait if you need it")
    path = config.get("path", config.get("basename"))
    if not path:
        raise ParameterError('storage `disk` needs a folder: give {"type": "disk", "path": folder}')
    return os.path.abspath(os.fsdecode(path))


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
