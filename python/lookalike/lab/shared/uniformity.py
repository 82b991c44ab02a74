"""Are the hashes uniform? Pearson's chi-square on their upper bits (§5.1, "a uniform distribution of hash values")."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.lab.shared.outcome import Table

Hashes = NDArray[np.unsignedinteger[Any]]

#: Upper bits that name a cell, and the fewest hashes expected in one: below five the chi-square would not hold.
CELL_BITS, LEAST_IN_CELL = 12, 8


def p_value(chi_square: float, degrees: int) -> float:
    """Return the chance of so large a chi-square, by its cube root, which is nearly normal (Wilson, Hilferty 1931)."""
    spread = 2 / (9 * degrees)
    z = ((chi_square / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(z / math.sqrt(2)) / 2


def examine(hashes: Hashes) -> tuple[int, float, float]:
    """Return the number of cells, chi-square and its p-value."""
    bits = min(CELL_BITS, max(1, int(math.log2(max(len(hashes), 1) / LEAST_IN_CELL))))
    cells = np.bincount((hashes >> (8 * hashes.itemsize - bits)).astype(np.int64), minlength=1 << bits)
    even = len(hashes) / len(cells)
    chi_square = float(((cells - even) ** 2).sum() / even)
    return len(cells), chi_square, p_value(chi_square, len(cells) - 1)


def table(samples: Mapping[str, Hashes]) -> Table:
    """Test several samples of hashes."""
    rows = tuple((name, len(hashes), *examine(hashes)) for name, hashes in samples.items())
    return Table("uniformity of the hashes", ("hashes", "number", "cells", "chi-square", "p-value"), rows)
