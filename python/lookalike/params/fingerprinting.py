"""Parameters of fingerprints: units, schemes, thresholds, and the selection they make."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike import _core
from lookalike._types import Parameter
from lookalike.params.comparison import CODE_THRESHOLDS, LANGUAGE_THRESHOLDS

UNITS = ("character", "word", "line")
#: The unit of tokens that the caller made; no text is read by it.
TOKEN = "token"
SCHEMES = ("robust", "winnow", "compact", "compact-robust", "safe-modulo", "modulo", "every", "smallest")
#: Schemes for which every common run of t tokens shares a fingerprint.
GUARANTEED = ("robust", "winnow", "compact", "compact-robust", "safe-modulo", "every")
#: Schemes whose selection with a larger t is a subset of that with a smaller t.
NESTED = ("robust", "winnow", "compact", "compact-robust")
#: Default k and t by unit: long enough that a common run is hardly a coincidence.
THRESHOLDS = {"character": (25, 50), "word": (5, 12), "line": (2, 4)}
#: The same for tokens that the caller made.
TOKEN_THRESHOLDS = THRESHOLDS["word"]
_BY_UNIT = ", ".join(f"{k} {unit}s" for unit, (k, _) in THRESHOLDS.items())
_T_BY_UNIT = ", ".join(f"{t} {unit}s" for unit, (_, t) in THRESHOLDS.items())
_IN_COMPARE = [
    f"in `compare` {prose} letters of prose, {min(code)} to {max(code)} tokens of code"
    for prose, *code in zip(*LANGUAGE_THRESHOLDS.values(), CODE_THRESHOLDS, strict=True)
]

K = Parameter(
    "k",
    f"Noise threshold: matches shorter than k tokens are never reported. Range 1 to {_core.MAX_T}. Default by unit: "
    f"{_BY_UNIT}; {_IN_COMPARE[0]}.",
    kind=int,
    flags=("-k",),
)
T = Parameter(
    "t",
    f"Guarantee threshold: every shared run of t tokens is found. Range k to {_core.MAX_T}. Default by unit: "
    f"{_T_BY_UNIT}; {_IN_COMPARE[1]}.",
    kind=int,
    flags=("-t",),
)
UNIT = Parameter("unit", "The unit that counts as one token.", default="character", choices=UNITS)
SCHEME = Parameter(
    "scheme",
    "How fingerprints are selected from the k-grams. All schemes except modulo and smallest keep the guarantee.",
    default="robust",
    choices=SCHEMES,
)
HOMOGLYPHS = Parameter(
    "homoglyphs",
    "Treat look-alike letters (Cyrillic а) as Latin.",
    default=False,
    kind=bool,
)
MODULUS = Parameter(
    "modulus",
    "Schemes modulo and safe-modulo: select hashes that are 0 mod this number. Default: fits the window.",
    kind=int,
)
#: How many rows `fingerprint` prints.
PRINTED = {"rows": Parameter("rows", "Rows to print; 0 for all.", default=20, kind=int, least=0)}
COUNT = Parameter("count", "Scheme smallest: how many of the smallest hashes to select.", default=128, kind=int)
SEED = Parameter("seed", "Random seed; the same seed gives the same result.", default=1, kind=int)


@dataclass(frozen=True)
class Selection:
    """The parameters that decide which fingerprints a text has."""

    k: int
    t: int
    scheme: str
    unit: str
    homoglyphs: bool
    modulus: int
    count: int

    @property
    def window(self) -> int:
        """Length of a window in k-grams: w = t − k + 1."""
        return self.t - self.k + 1

    @property
    def promise(self) -> str:
        """The guarantee of the scheme, as a sentence."""
        if self.scheme not in GUARANTEED:
            return f"scheme {self.scheme} guarantees no length; matches below {self.k} {self.unit}s are not reported"
        return (
            f"any run of at least {self.t} {self.unit}s that two texts share is found, whatever surrounds it; "
            f"matches shorter than {self.k} {self.unit}s are not reported"
        )


def selection(
    k: int | None = None,
    t: int | None = None,
    scheme: str | None = None,
    unit: str | None = None,
    homoglyphs: bool | None = None,
    modulus: int | None = None,
    count: int | None = None,
) -> Selection:
    """Fill in the defaults. A lone k or t moves the other along if its default would contradict it."""
    unit = UNIT.default if unit is None else unit
    usual_k, usual_t = TOKEN_THRESHOLDS if unit == TOKEN else THRESHOLDS.get(unit, THRESHOLDS["character"])
    chosen_k = k if k is not None else min(usual_k, t) if t is not None and t >= 1 else usual_k
    chosen_t = t if t is not None else max(usual_t, chosen_k)
    scheme = SCHEME.default if scheme is None else scheme
    window = max(chosen_t - chosen_k + 1, 1) if chosen_k <= chosen_t <= _core.MAX_T else 1
    return Selection(
        k=chosen_k,
        t=chosen_t,
        scheme=scheme,
        unit=unit,
        homoglyphs=HOMOGLYPHS.default if homoglyphs is None else homoglyphs,
        modulus=_core.modulus_for(scheme, window) if modulus is None else modulus,
        count=COUNT.default if count is None else count,
    )
