"""``MinHash``: a sketch of a set whose elements are added one by one.

A sketch is one of our ``fast`` sketches (Dahlgaard, Knudsen and Thorup 2017; FORMAT.md), so a batch of n elements costs
O(n + t log t) for t coordinates, not O(n·t). Elements added one by one wait in a list until somebody asks, and are
then added as one batch.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import index
from typing import Any, Self, TypeAlias

from lookalike import _core
from lookalike._core import Column
from lookalike.errors import ParameterError
from lookalike.sketches.estimated import Sketch

#: A seed has 32 bits, as in datasketch.
MAX_SEED = 2**32 - 1
#: The seed whose elements are hashed as they are.
PLAIN_SEED = 1
#: What a coordinate holds before anything was added.
EMPTY = 2**64 - 1
#: Elements that wait to be added, at most.
MOST_PENDING = 1024
#: Names of permutation schemes that are accepted; there is only one here.
SCHEMES = ("fast", "affine32", "affine64")
#: Where fields stand in a stored sketch, by FORMAT.md: version, flags, bytes of an element, shingles, elements.
_VERSION, _FLAGS, _EACH, _SHINGLES, _ELEMENTS, _CHECKSUM = 4, 8, 10, 28, 52, 8
#: The version of stored sketches whose elements have 8 bytes each, as hash values have.
_WIDE = 1

HashFunction: TypeAlias = Callable[[Any], int]
Permutations: TypeAlias = tuple[Sequence[int], Sequence[int]]


class MinHash:
    """A sketch of a set, from which resemblance and number of elements are estimated.

    >>> a, b = MinHash(num_perm=256), MinHash(num_perm=256)
    >>> a.update_batch([b"to", b"be", b"or", b"not"])
    >>> b.update_batch([b"not", b"or", b"be", b"to"])
    >>> a.jaccard(b), len(a), a == b
    (1.0, 256, True)

    :param num_perm: coordinates of the sketch; ignored if ``hashvalues`` are given.
    :param seed: 0 to 2^32 − 1; sketches of different seeds cannot be compared.
    :param gpu_mode: accepted; ``always`` raises ``RuntimeError``, because nothing here runs on a GPU.
    :param hashfunc: takes an element and returns an integer of at most 64 bits; by default the bytes are hashed.
    :param hashobj: accepted and ignored, as in datasketch.
    :param hashvalues: the values of another ``MinHash`` of this package to start from.
    :param permutations: those of another ``MinHash``; only their number is checked, because the seed decides them.
    :param scheme: accepted; there is one scheme here.
    """

    __slots__ = ("_pending", "_sketch", "hashfunc", "num_perm", "seed")

    def __init__(
        self,
        num_perm: int = 128,
        seed: int = PLAIN_SEED,
        gpu_mode: str = "disable",
        hashfunc: HashFunction | None = None,
        hashobj: object = None,
        hashvalues: Iterable[int] | None = None,
        permutations: Permutations | None = None,
        scheme: str | None = None,
    ) -> None:
        _check_modes(gpu_mode, scheme)
        if hashfunc is not None and not callable(hashfunc):
            raise ParameterError(f"hashfunc `{hashfunc}` cannot be called: give a function that returns an integer")
        self.hashfunc = hashfunc
        values = None if hashvalues is None else list(hashvalues)
        self._begin(seed, from_values(values) if values is not None else empty(num_perm))
        if permutations is not None and {len(part) for part in permutations} != {self.num_perm}:
            raise ParameterError(f"permutations are not {self.num_perm} pairs, which is the number of hash values")

    def _begin(self, seed: int, sketch: _core.Sketch) -> None:
        """Take a seed and a sketch as the state."""
        if not 0 <= seed <= MAX_SEED:
            raise ParameterError(f"seed `{seed}` is out of range: use 0 to {MAX_SEED}")
        self.seed = seed
        self._sketch = sketch
        self._pending: list[bytes] = []
        self.num_perm = len(sketch.values)

    @property
    def scheme(self) -> str:
        """The name of the one scheme."""
        return SCHEMES[0]

    @property
    def made(self) -> _core.Sketch:
        """The sketch of everything added so far."""
        if self._pending:
            self._sketch = self._sketch.updated(self._pending)
            self._pending = []
        return self._sketch

    @property
    def sketch(self) -> Sketch:
        """The same as a ``lookalike.Sketch``, whose estimates have intervals."""
        return Sketch(self.made)

    @property
    def hashvalues(self) -> Any:
        """The coordinates, read-only: an array of numpy if it is installed, else a column of 64-bit numbers."""
        try:
            import numpy
        except ImportError:
            return self.made.values
        return numpy.asarray(self.made.values)

    @property
    def permutations(self) -> Permutations:
        """Something to pass on as ``permutations=``: the seed and the number of each permutation."""
        return [self.seed] * self.num_perm, range(self.num_perm)

    def update(self, b: Any) -> None:
        """Add one element: bytes, or whatever ``hashfunc`` takes."""
        self._pending.append(self._element(b))
        if len(self._pending) >= MOST_PENDING:
            _ = self.made

    def update_batch(self, b: Iterable[Any]) -> None:
        """Add many elements."""
        self._sketch = self.made.updated([self._element(one) for one in b])

    def _element(self, b: Any) -> bytes:
        """Return the bytes that are sketched for an element. Errors: ``TypeError`` for what has no bytes."""
        if self.hashfunc is not None:
            element = hashed(self.hashfunc(b))
        else:
            element = b if type(b) is bytes else bytes(memoryview(b))
        return element if self.seed == PLAIN_SEED else self.seed.to_bytes(8, "little") + element

    def jaccard(self, other: MinHash) -> float:
        """Estimate the resemblance, 0 to 1; of two empty sets it is 1. Errors: ``ValueError`` for another family."""
        self._check_same(other)
        found = self.made.agreement(other.made)
        return float(self.is_empty() and other.is_empty()) if found is None else found[0] / found[1]

    def merge(self, other: MinHash) -> None:
        """Make this the sketch of the union. Errors: ``ValueError`` for another family."""
        self._check_same(other)
        self._sketch = self.made.merged(other.made)

    def _check_same(self, other: MinHash) -> None:
        if self.seed != other.seed:
            raise ParameterError(f"seeds `{self.seed}` and `{other.seed}` differ: use sketches of the same seed")
        if self.num_perm != other.num_perm:
            raise ParameterError(
                f"sketches of `{self.num_perm}` and `{other.num_perm}` hash values: use the same num_perm for both"
            )

    def count(self) -> float:
        """Return the number of distinct elements, estimated unless they all came in one batch."""
        return self.made.count()

    def digest(self) -> Column:
        """Return the hash values; later updates do not change them."""
        return self.made.values

    def is_empty(self) -> bool:
        """Return whether nothing was added yet."""
        return self.made.is_empty

    def clear(self) -> None:
        """Forget everything."""
        self._begin(self.seed, empty(self.num_perm))

    def copy(self) -> Self:
        """Return one that updates of this one do not change."""
        return self._like(self.made)

    def _like(self, sketch: _core.Sketch) -> Self:
        """Return another one of the same seed and hash function."""
        twin = type(self).__new__(type(self))
        twin.hashfunc = self.hashfunc
        twin._begin(self.seed, sketch)
        return twin

    @classmethod
    def union(cls, *mhs: MinHash) -> Self:
        """Return the sketch of the union of two or more sets. Errors: ``ValueError`` for fewer, another family."""
        if len(mhs) < 2:
            raise ParameterError(f"union of `{len(mhs)}` sets: give at least two")
        united = cls.__new__(cls)
        united.hashfunc = mhs[0].hashfunc
        united._begin(mhs[0].seed, mhs[0].made)
        for other in mhs[1:]:
            united.merge(other)
        return united

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> list[Self]:
        """Return the sketches of many sets; the keywords are those of the constructor."""
        return list(cls.generator(b, **minhash_kwargs))

    @classmethod
    def generator(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> Iterator[Self]:
        """Yield the sketches of many sets; the keywords are those of the constructor."""
        first = cls(**minhash_kwargs)
        for elements in b:
            made = first.copy()
            made.update_batch(elements)
            yield made

    def __len__(self) -> int:
        return self.num_perm

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, MinHash):
            return False
        return self.seed == other.seed and bytes(self.hashvalues) == bytes(other.hashvalues)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.num_perm} hash values, seed {self.seed}>"

    def __getstate__(self) -> tuple[bytes, int, HashFunction | None]:
        return self.made.to_bytes(), self.seed, self.hashfunc

    def __setstate__(self, state: tuple[bytes, int, HashFunction | None]) -> None:
        stored, seed, self.hashfunc = state
        self._begin(seed, _core.Sketch(stored))


@lru_cache(maxsize=64)
def empty(num_perm: int) -> _core.Sketch:
    """Return the sketch of no elements. Errors: ``ParameterError`` for a size that no sketch has."""
    if not 1 <= num_perm <= _core.MAX_SKETCH:
        raise ParameterError(f"num_perm `{num_perm}` is out of range: use 1 to {_core.MAX_SKETCH}")
    return Sketch.empty(size=num_perm)._made


def from_values(values: Sequence[int]) -> _core.Sketch:
    """Return the sketch with these hash values. Errors: ``ValueError`` for values that no sketch has."""
    if values and not 0 <= min(values) <= max(values) <= EMPTY:
        raise ParameterError("hashvalues must be from 0 to 2^64 − 1: give the hashvalues of another MinHash")
    return from_raw(struct.pack(f"<{len(values)}Q", *values))


def from_raw(raw: bytes) -> _core.Sketch:
    """Return the sketch with these hash values, little-endian; how many elements it has is left to an estimate."""
    nothing = empty(len(raw) // 8)
    if raw == b"\xff" * len(raw):
        return nothing
    header = bytearray(nothing.to_bytes()[:_ELEMENTS])
    header[_VERSION], header[_FLAGS], header[_EACH] = _WIDE, 0, 0
    header[_SHINGLES : _SHINGLES + 8] = EMPTY.to_bytes(8, "little")
    content = bytes(header) + raw
    return _core.Sketch(content + _core.xxh3(content).to_bytes(_CHECKSUM, "little"))


def hashed(value: int) -> bytes:
    """Return what a hash function returned, as bytes. Errors: ``TypeError``, ``ParameterError``."""
    number = index(value)
    if not 0 <= number <= EMPTY:
        raise ParameterError(f"hashfunc returned `{number}`: it must return an integer from 0 to 2^64 − 1")
    return number.to_bytes(8, "little")


def _check_modes(gpu_mode: str, scheme: str | None) -> None:
    if gpu_mode not in ("disable", "detect", "always"):
        raise ParameterError(f"gpu_mode `{gpu_mode}` is unknown: use disable or detect")
    if gpu_mode == "always":
        raise RuntimeError("gpu_mode `always` needs a GPU, and nothing here runs on one: use disable or detect")
    if scheme is not None and scheme not in SCHEMES:
        raise ParameterError(f"scheme `{scheme}` is not offered: leave it out, or use one of {', '.join(SCHEMES)}")
