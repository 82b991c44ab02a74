"""``Simhash`` and ``SimhashIndex`` of the package ``simhash``, by name and contract, over our fingerprints and tables.

Replace ``from simhash import …`` by ``from lookalike.compat.simhash import …``. Values differ, so do not mix
fingerprints of the two packages. The index finds every fingerprint within k bits (Manku, Jain and Das Sarma 2007); up
to k = 10 it looks into tables, beyond that it compares with all of them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeAlias

from lookalike import _core
from lookalike.errors import ParameterError
from lookalike.neighbours.table import HammingTable

#: Bits of a fingerprint of ours; those of other widths are made here.
WIDTH = 64
#: What counts as part of a word: letters, digits, and Chinese characters.
LETTERS = r"[\w\u4e00-\u9fcc]+"
#: Characters of a feature of a text.
SLIDE = 4
#: The greatest weight that our fingerprints know; greater ones are scaled down.
MOST_WEIGHT = 32_767.0

Feature: TypeAlias = str | tuple[str, float]
HashFunction: TypeAlias = Callable[[bytes], bytes | int]


class Simhash:
    """A fingerprint in which similar texts differ in few bits.

    >>> Simhash("How are you? I am fine. Thanks.").distance(Simhash("how are you, I am FINE: thanks"))
    0
    >>> Simhash(["a", "rose"]) == Simhash({"a": 1, "rose": 1}), Simhash(0b101).distance(Simhash(0b110))
    (True, 2)

    :param value: a text, features (strings, pairs with a weight, or a mapping to weights), a number, or a ``Simhash``.
    :param f: bits, a multiple of 8.
    :param reg: a regular expression for what is kept of a text.
    :param hashfunc: takes the UTF-8 of a feature and returns bytes or an integer of at least f bits.
    :param log: accepted and ignored.
    """

    def __init__(
        self,
        value: str | int | Iterable[Feature] | Mapping[str, float] | Simhash,
        f: int = WIDTH,
        reg: str | re.Pattern[str] = LETTERS,
        hashfunc: HashFunction | None = None,
        log: object = None,
    ) -> None:
        if f <= 0 or f % 8:
            raise ParameterError(f"f `{f}` is not a width of fingerprints: use a multiple of 8")
        self.f = f
        self.reg = reg
        self.hashfunc = hashfunc
        self.value = 0
        if isinstance(value, str):
            self.build_by_text(value)
        elif isinstance(value, Simhash):
            self._take(value.value)
        elif isinstance(value, int):
            self._take(value)
        elif isinstance(value, Iterable):
            self.build_by_features(value)
        else:
            raise TypeError(f"a `{type(value).__name__}` has no fingerprint: give a text, features or a number")

    def _take(self, value: int) -> None:
        if not 0 <= value < 1 << self.f:
            raise ParameterError(f"value `{value}` does not fit into f = {self.f} bits: use a greater f")
        self.value = value

    def build_by_text(self, content: str) -> None:
        """Take the fingerprint of a text: features are runs of four characters, each as heavy as it is frequent."""
        letters = "".join(re.findall(self.reg, content.lower()))
        runs = (letters[i : i + SLIDE] for i in range(max(len(letters) - SLIDE + 1, 1)))
        self.build_by_features(Counter(runs))

    def build_by_features(self, features: Iterable[Feature] | Mapping[str, float]) -> None:
        """Take the fingerprint of features: strings, pairs of a string and its weight, or a mapping."""
        pairs: Iterable[Feature] = features.items() if isinstance(features, Mapping) else features
        weighed = [(one, 1.0) if isinstance(one, str) else (one[0], float(one[1])) for one in pairs]
        if self.f == WIDTH and self.hashfunc is None:
            self.value = _core.simhash_features(_scaled(weighed)) or 0
        else:
            self.value = votes(((self._digest(name), weight) for name, weight in weighed), self.f // 8)

    def _digest(self, feature: str) -> bytes:
        """Return f bits of hash."""
        count, data = self.f // 8, feature.encode("utf-8")
        if self.hashfunc is None:
            return hashlib.shake_256(data).digest(count)
        found = self.hashfunc(data)
        digest = (found % (1 << self.f)).to_bytes(count, "big") if isinstance(found, int) else found[-count:]
        if len(digest) < count:
            raise ParameterError(f"hashfunc returned {len(digest)} bytes: f = {self.f} bits need {count}")
        return digest

    def distance(self, another: Simhash) -> int:
        """Count the bits that differ. Errors: ``ValueError`` for another width."""
        _check_width(self.f, another)
        return (self.value ^ another.value).bit_count()

    def __eq__(self, other: object) -> bool:
        return self.value == other.value if isinstance(other, Simhash) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Simhash(0x{self.value:0{self.f // 4}x}, f={self.f})"


class SimhashIndex:
    """Names of fingerprints; finds all within k bits of one.

    >>> index = SimhashIndex([("a", Simhash(0b0000)), ("b", Simhash(0b0011)), ("c", Simhash(0b1111))], k=2)
    >>> index.get_near_dups(Simhash(0b0111))
    ['b', 'c']

    :param objs: pairs of a name and a ``Simhash``.
    :param f: bits of all fingerprints.
    :param k: in how many bits an answer may differ.
    :param log: accepted and ignored.
    """

    def __init__(
        self, objs: Iterable[tuple[Hashable, Simhash]] = (), f: int = WIDTH, k: int = 2, log: object = None
    ) -> None:
        if k < 0:
            raise ParameterError(f"k `{k}` is out of range: use 0 or more")
        self.f = f
        self.k = k
        #: Names by the whole fingerprint, by its last 64 bits, which are what the table holds.
        self._held: dict[int, dict[int, dict[Hashable, None]]] = {}
        self._table: HammingTable | None = None
        for name, simhash in objs:
            self._hold(name, simhash)
        if k <= _core.MAX_DISTANCE:
            self._table = HammingTable.build(list(self._held), [0] * len(self._held), distance=k)

    def _hold(self, name: Hashable, simhash: Simhash) -> bool:
        """Take a name; return whether the last 64 bits of its fingerprint are new."""
        _check_width(self.f, simhash)
        end = _end(simhash.value)
        is_new = end not in self._held
        self._held.setdefault(end, {}).setdefault(simhash.value, {})[name] = None
        return is_new

    def add(self, obj_id: Hashable, simhash: Simhash) -> None:
        """Add a name with its fingerprint; a pair that is there is not added again. Errors: ``ValueError``."""
        if self._hold(obj_id, simhash) and self._table is not None:
            self._table.insert([_end(simhash.value)], [0])

    def delete(self, obj_id: Hashable, simhash: Simhash) -> None:
        """Delete a name with its fingerprint; a pair that is not there is ignored. Errors: ``ValueError``."""
        _check_width(self.f, simhash)
        end = _end(simhash.value)
        same_end = self._held.get(end, {})
        same_end.get(simhash.value, {}).pop(obj_id, None)
        if not same_end.get(simhash.value, True):
            del same_end[simhash.value]
        if end in self._held and not same_end:
            del self._held[end]
            if self._table is not None:
                self._table.remove([end], [0])

    def get_near_dups(self, simhash: Simhash) -> list[Hashable]:
        """Return the names of all fingerprints within k bits, the nearest first, each once. Errors: ``ValueError``."""
        _check_width(self.f, simhash)
        ends = self._held if self._table is None else self._table.query(_end(simhash.value)).fingerprints.tolist()
        near = [
            ((value ^ simhash.value).bit_count(), names) for end in ends for value, names in self._held[end].items()
        ]
        found: dict[Hashable, None] = {}
        for _, names in sorted((one for one in near if one[0] <= self.k), key=lambda one: one[0]):
            found.update(names)
        return list(found)

    def bucket_size(self) -> int:
        """Return the number of distinct fingerprints."""
        return sum(map(len, self._held.values()))

    def __repr__(self) -> str:
        return f"<SimhashIndex of {self.bucket_size()} fingerprints, f = {self.f}, k = {self.k}>"

    def __getstate__(self) -> dict[str, Any]:
        return {"f": self.f, "k": self.k, "held": self._held}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(f=state["f"], k=state["k"])  # type: ignore[misc]
        self._held = state["held"]
        if self._table is not None:
            self._table.insert(list(self._held), [0] * len(self._held))


def votes(digests: Iterable[tuple[bytes, float]], count: int) -> int:
    """Return the fingerprint of weighed hashes of ``count`` bytes: each bit is 1 if the weights for it prevail.

    Weights are summed by the value of each byte first, so that a feature costs one addition per byte.
    """
    sums: list[dict[int, float]] = [{} for _ in range(count)]
    total = 0.0
    for digest, weight in digests:
        total += weight
        for held, byte in zip(sums, digest, strict=True):
            held[byte] = held.get(byte, 0.0) + weight
    value = 0
    for held in sums:
        for bit in range(7, -1, -1):
            value = value << 1 | (2 * sum(weight for byte, weight in held.items() if byte >> bit & 1) > total)
    return value


def _scaled(weighed: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return features with weights that our fingerprints know; only their ratios matter."""
    most = max((abs(weight) for _, weight in weighed), default=0.0)
    if most <= MOST_WEIGHT:
        return weighed
    return [(name, weight / most * MOST_WEIGHT) for name, weight in weighed]


def _end(value: int) -> int:
    return value % (1 << WIDTH)


def _check_width(f: int, simhash: Simhash) -> None:
    if simhash.f != f:
        raise ParameterError(f"fingerprints of {f} and {simhash.f} bits cannot be compared: use the same f")


__all__ = ["Simhash", "SimhashIndex"]
