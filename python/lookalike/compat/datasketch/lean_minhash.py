"""``LeanMinHash``: a ``MinHash`` without a hash function, which is not updated any more and can be hashed.

``serialize`` writes into a buffer of the caller: seed (8 bytes), the negated number of hash values (4), a mark (1),
then 8 bytes per hash value. The mark tells these buffers from those of datasketch, whose hash values differ.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable
from typing import Any, NoReturn

from lookalike.compat.datasketch.minhash import HashFunction, MinHash, _check_modes, from_raw, from_values
from lookalike.errors import FormatError, ParameterError

#: The byte after the number of hash values.
MARK = ord("L")
_HEADER = "qib"
_CUT = "the bytes of a LeanMinHash are cut off: give all that serialize wrote"


class LeanMinHash(MinHash):
    """A ``MinHash`` that takes no more elements.

    >>> minhash = MinHash(num_perm=4)
    >>> minhash.update(b"a rose")
    >>> lean = LeanMinHash(minhash)
    >>> buffer = bytearray(lean.bytesize())
    >>> lean.serialize(buffer)
    >>> LeanMinHash.deserialize(buffer) == lean, lean.jaccard(minhash)
    (True, 1.0)

    :param minhash: the one to make lean; or give ``seed`` and ``hashvalues``.
    """

    __slots__ = ()

    def __init__(
        self,
        minhash: MinHash | None = None,
        seed: int | None = None,
        hashvalues: Iterable[int] | None = None,
        scheme: str | None = None,
    ) -> None:
        _check_modes("disable", scheme)
        self.hashfunc: HashFunction | None = None
        if minhash is not None:
            self._begin(minhash.seed, minhash.made)
        elif seed is not None and hashvalues is not None:
            self._begin(seed, from_values(list(hashvalues)))
        else:
            raise ParameterError("a LeanMinHash is made of a minhash, or of seed and hashvalues: give one or both")

    def update(self, b: Any) -> NoReturn:
        """Refuse: it is frozen. Errors: ``TypeError``."""
        raise TypeError("a LeanMinHash takes no more elements: update the MinHash, then make it lean")

    def update_batch(self, b: Iterable[Any]) -> NoReturn:
        """Refuse: it is frozen. Errors: ``TypeError``."""
        self.update(b)

    def bytesize(self, byteorder: str = "@") -> int:
        """Return how many bytes ``serialize`` writes; ``byteorder`` is one of those of ``struct``."""
        return struct.calcsize(_layout(byteorder, self.num_perm))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Write into a buffer that can be changed. Errors: ``ValueError`` if it is too short."""
        if memoryview(buf).nbytes < self.bytesize(byteorder):
            raise ParameterError(f"the buffer is too short: give one of {self.bytesize(byteorder)} bytes, or more")
        struct.pack_into(
            _layout(byteorder, self.num_perm), buf, 0, self.seed, -self.num_perm, MARK, *self.hashvalues.tolist()
        )

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """Read one that ``serialize`` wrote. Errors: ``FormatError``, a ``ValueError``, for other bytes."""
        try:
            seed, count, mark = struct.unpack_from(byteorder + _HEADER, buf)
        except struct.error:
            raise FormatError(_CUT) from None
        if mark != MARK or count >= 0:
            raise FormatError("the bytes are not a LeanMinHash of this package: give what serialize wrote")
        data, end = memoryview(buf).cast("B"), struct.calcsize(_layout(byteorder, -count))
        if len(data) < end:
            raise FormatError(_CUT)
        values = array("Q", bytes(data[end + 8 * count : end]))
        if _is_big(byteorder):
            values.byteswap()
        lean = cls.__new__(cls)
        lean.hashfunc = None
        lean._begin(seed, from_raw(values.tobytes()))
        return lean

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.seed, bytes(self.hashvalues)))


def _layout(byteorder: str, count: int) -> str:
    return f"{byteorder}{_HEADER}{count}Q"


def _is_big(byteorder: str) -> bool:
    return byteorder in ">!" or (byteorder in "@=" and sys.byteorder == "big")
