"""What theory says about density: expected values on independent uniform hashes, and lower bounds for any scheme.

All bounds hold for schemes that find every shared run of t = w + k − 1 tokens. Sources: Schleimer, Wilkerson, Aiken
2003, §3.1 and §4; for forward schemes Kille, Groot Koerkamp et al., Bioinformatics 2024.
"""

from __future__ import annotations

import math

from lookalike import _core, params


def expected(scheme: str, w: int, kgrams: int) -> float | None:
    """Return the expected density of a scheme with its default p or n; None where we know no closed form (compact)."""
    p = _core.modulus_for(scheme, w)
    formulas = {
        "every": 1.0,
        "modulo": 1 / p,
        "safe-modulo": 1 / p + (1 - 1 / p) ** w,
        "winnow": 2 / (w + 1),
        "robust": 2 / (w + 1),
        "smallest": min(params.COUNT.default, kgrams) / kgrams,
    }
    return formulas.get(scheme)


def lower_bounds(k: int, w: int) -> dict[str, float]:
    """Return the lower bounds by name, for k-grams in windows of w."""
    return {
        "one a window: 1/w": 1 / w,
        "Theorem 1: 1.5/(w+1)": 1.5 / (w + 1),
        "Observation 1: (1.5 + 1/2w)/(w+1)": (1.5 + 1 / (2 * w)) / (w + 1),
        "forward schemes, 2024": forward_bound(k, w),
    }


def forward_bound(k: int, w: int) -> float:
    """Return ⌈(w+k)/w⌉/(w+k), or the same at the next k′ ≡ 1 (mod w) if that is larger.

    Unlike the paper's own bounds it also holds for schemes that look at the text of a window, not only at its hashes.
    """
    return max(math.ceil((w + length) / w) / (w + length) for length in (k, k + (1 - k) % w))
