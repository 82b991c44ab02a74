"""``MinHash`` with the names and defaults of datasketch, over fast sketches.

Values differ from datasketch's: the hashes are other ones, so sketches of the two packages must not be mixed, and
what was stored there cannot be read here. Estimates are as good or better: the spread is below that of independent
permutations. The resemblance of a set without elements is undefined, ``nan``, where datasketch says 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from lookalike._core import Column
from lookalike.errors import ParameterError
from lookalike.sketches.estimated import Sketch


class MinHash:
    """A sketch of a set whose elements are given one by one, as bytes."""

    def __init__(self, num_perm: int = 128, seed: int = 1) -> None:
        if seed != 1:
            raise ParameterError(f"seed `{seed}` is not offered: sketches are the same everywhere; use seed 1")
        self.num_perm = num_perm
        self.seed = seed
        self.sketch = Sketch.empty(size=num_perm)

    def update(self, b: bytes) -> None:
        """Add one element."""
        self.sketch.update(b)

    def update_batch(self, b: Iterable[bytes]) -> None:
        """Add many elements at once, which is much faster."""
        self.sketch.update(*b)

    def jaccard(self, other: MinHash) -> float:
        """Return the estimated resemblance, or ``nan`` if a set has no elements."""
        found = self.sketch.jaccard(other.sketch)
        return math.nan if found is None else found

    def merge(self, other: MinHash) -> None:
        """Make this the sketch of the union."""
        self.sketch.merge(other.sketch)

    def count(self) -> float:
        """Return the estimated number of distinct elements."""
        return self.sketch.count()

    def digest(self) -> Column:
        """Return the elements as a column of unsigned 64-bit numbers."""
        return self.sketch.values

    @property
    def hashvalues(self) -> Column:
        """The same as ``digest``."""
        return self.sketch.values

    def is_empty(self) -> bool:
        """Whether nothing was added yet."""
        return self.sketch.is_empty

    def clear(self) -> None:
        """Forget everything."""
        self.sketch = Sketch.empty(size=self.num_perm)

    def copy(self) -> MinHash:
        """Return one that updates of this do not change."""
        twin = type(self)(self.num_perm, self.seed)
        twin.sketch = self.sketch.copy()
        return twin

    @classmethod
    def union(cls, *mhs: MinHash) -> MinHash:
        """Return the sketch of the union of two or more sets."""
        if len(mhs) < 2:
            raise ParameterError(f"union of `{len(mhs)}` sets: give at least two")
        united = mhs[0].copy()
        for other in mhs[1:]:
            united.merge(other)
        return united

    @classmethod
    def bulk(cls, b: Iterable[Iterable[bytes]], num_perm: int = 128, seed: int = 1) -> list[MinHash]:
        """Return the sketches of many sets."""
        return list(cls.generator(b, num_perm, seed))

    @classmethod
    def generator(cls, b: Iterable[Iterable[bytes]], num_perm: int = 128, seed: int = 1) -> Iterator[MinHash]:
        """Yield the sketches of many sets."""
        for elements in b:
            made = cls(num_perm, seed)
            made.update_batch(elements)
            yield made

    def __len__(self) -> int:
        return self.num_perm

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MinHash) and self.sketch == other.sketch

    __hash__ = None  # type: ignore[assignment]


__all__ = ["MinHash"]
