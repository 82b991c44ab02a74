"""What a ``MinHashLSH`` keeps its keys in, and the one that is kept in memory.

Insert, query and remove cost one look-up per band.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Protocol

from lookalike import _core

#: Bytes of a hash value.
_WIDTH = 8

Sketches = tuple[_core.Sketch, ...]
Table = dict[bytes, dict[Hashable, None]]


class Cutter:
    """Cuts sketches into bands.

    :param b: the number of bands.
    :param r: hash values of each.
    :param hashfunc: takes the bytes of a band and returns others, or ``None``.
    """

    def __init__(self, b: int, r: int, hashfunc: Callable[[bytes], bytes] | None = None) -> None:
        self.b, self.r = b, r
        self._hashfunc = hashfunc
        self._cuts = [slice(_WIDTH * i * r, _WIDTH * (i + 1) * r) for i in range(b)]

    def cut(self, made: _core.Sketch) -> list[bytes]:
        """Return the bytes of each band of a sketch."""
        return self.cut_values(bytes(made.values))

    def cut_values(self, values: bytes) -> list[bytes]:
        """Return the bytes of each band of hash values."""
        bands = [values[cut] for cut in self._cuts]
        return bands if self._hashfunc is None else [self._hashfunc(band) for band in bands]

    def counts(self, rows: Iterable[Iterable[bytes]]) -> list[dict[bytes, int]]:
        """Return one dictionary per band: how many keys are in each bucket.

        :param rows: the hash values of all sketches of each key.
        """
        tables: list[dict[bytes, int]] = [{} for _ in range(self.b)]
        for sketches in rows:
            for table, bands in zip(tables, zip(*map(self.cut_values, sketches), strict=True), strict=True):
                for band in set(bands):
                    table[band] = table.get(band, 0) + 1
        return tables


class Storage(Protocol):
    """Keys with their sketches, found by bands."""

    #: The seed of all sketches; ``None`` before the first one.
    seed: int | None

    @property
    def keys(self) -> Mapping[Hashable, Sketches]:
        """The sketches of each key in the order of insertion: one, unless duplicates were allowed."""

    def prepare(self) -> None:
        """Keep others from changing anything, before a change is decided on. Errors: ``LockedError``."""

    def add(self, key: Hashable, made: _core.Sketch) -> None:
        """Add a sketch of a key, after those that it has. Errors: ``ValueError`` for a key that cannot be kept."""

    def remove(self, key: Hashable) -> None:
        """Remove a key. REQUIRES: it is there."""

    def found(self, made: _core.Sketch, b: int) -> dict[Hashable, None]:
        """Return the keys that share one of the first b bands: band by band, in the order of insertion."""

    def counts(self) -> list[dict[bytes, int]]:
        """Return one dictionary per band: how many keys are in each bucket."""

    def check_key(self, key: Hashable) -> None:
        """Refuse a key that cannot be kept. Errors: ``ValueError``."""

    def begin(self, size: int) -> None:
        """Collect up to so many changes before they are made durable, until ``end`` is called as often as this."""

    def end(self) -> None:
        """Make all changes durable. Errors: ``OSError``."""

    def flush(self) -> None:
        """Make all changes durable. Errors: ``OSError``."""

    def close(self) -> None:
        """Make all changes durable, and let go of files. Errors: ``OSError``."""


class Memory:
    """Keys in dictionaries."""

    def __init__(self, cutter: Cutter) -> None:
        self._cutter = cutter
        self.seed: int | None = None
        #: Keys by the bytes of a band, one table per band; a bucket keeps the order of insertion.
        self.tables: list[Table] = [{} for _ in range(cutter.b)]
        self.keys: dict[Hashable, Sketches] = {}

    def prepare(self) -> None:
        """Do nothing: nobody else can change it."""

    def add(self, key: Hashable, made: _core.Sketch) -> None:
        """Add a sketch of a key. Errors: ``TypeError`` for a key that cannot be hashed."""
        self.keys[key] = (*self.keys.get(key, ()), made)
        for table, band in zip(self.tables, self._cutter.cut(made), strict=True):
            bucket = table.get(band)
            if bucket is None:
                table[band] = {key: None}
            else:
                bucket[key] = None

    def remove(self, key: Hashable) -> None:
        """Remove a key. REQUIRES: it is there."""
        for made in self.keys.pop(key):
            for table, band in zip(self.tables, self._cutter.cut(made), strict=True):
                bucket = table.get(band, {})
                bucket.pop(key, None)
                if not bucket:
                    table.pop(band, None)

    def found(self, made: _core.Sketch, b: int) -> dict[Hashable, None]:
        """Return the keys that share one of the first b bands."""
        found: dict[Hashable, None] = {}
        for table, band in zip(self.tables[:b], self._cutter.cut(made), strict=False):
            bucket = table.get(band)
            if bucket is not None:
                found.update(bucket)
        return found

    def counts(self) -> list[dict[bytes, int]]:
        """Return how many keys are in each bucket."""
        return [{band: len(bucket) for band, bucket in table.items()} for table in self.tables]

    def check_key(self, key: Hashable) -> None:
        """Do nothing: a dictionary takes every key that can be hashed."""

    def begin(self, size: int) -> None:
        """Do nothing: every change is made at once."""

    def end(self) -> None:
        """Do nothing: every change is made at once."""

    def flush(self) -> None:
        """Do nothing: every change is made at once."""

    def close(self) -> None:
        """Do nothing: there are no files."""
