"""The hash functions of FORMAT.md, computed the slow way: SplitMix64's finaliser, and Rabin by long division."""

from __future__ import annotations

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
STANDARD = 1 << 64 | 0xE255B237B8BB18FB


def mix64(x: int) -> int:
    """The finaliser of SplitMix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def remainder(value: int, polynomial: int) -> int:
    """The remainder over GF(2), by long division."""
    size = polynomial.bit_length()
    while value.bit_length() >= size:
        value ^= polynomial << (value.bit_length() - size)
    return value


def rabin(data: bytes, polynomial: int = STANDARD) -> int:
    """The fingerprint of a string: a one bit, its bits, 64 zeros."""
    return remainder(int.from_bytes(b"\x01" + data, "big") << 64, polynomial)


def squared(value: int, polynomial: int) -> int:
    """The square over GF(2): a zero between all bits."""
    return remainder(int(bin(value)[2:], 4), polynomial)


def is_irreducible(polynomial: int) -> bool:
    """Rabin's test for degree 64, whose only prime factor is 2."""
    power, half = 2, 0
    for step in range(64):
        power = squared(power, polynomial)
        half = power if step == 31 else half
    left, right = polynomial, half ^ 2
    while right:
        left, right = right, remainder(left, right)
    return power == 2 and left == 1
