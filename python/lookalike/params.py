"""Every parameter once: its name, default, range and help. The command line, checks and docs follow from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lookalike import _core


@dataclass(frozen=True)
class Parameter:
    """One knob of the product."""

    name: str
    help: str
    default: Any = None
    kind: type = str
    choices: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """Its long name on the command line."""
        return "--" + self.name.replace("_", "-")


UNITS = ("character", "word", "line")
SCHEMES = ("robust", "winnow", "compact", "compact-robust", "safe-modulo", "modulo", "every", "smallest")
#: Schemes under which every run of t tokens in common shares a fingerprint.
GUARANTEED = ("robust", "winnow", "compact", "compact-robust", "safe-modulo", "every")
#: Schemes whose selection with a larger t is a part of that with a smaller one.
NESTED = ("robust", "winnow", "compact", "compact-robust")
#: k and t where none is given, by unit: long enough that what is shared was hardly written twice by chance.
THRESHOLDS = {"character": (25, 50), "word": (5, 12), "line": (2, 4)}

_BY_UNIT = ", ".join(f"{{}} {unit}s".format(k) for unit, (k, _) in THRESHOLDS.items())
_T_BY_UNIT = ", ".join(f"{{}} {unit}s".format(t) for unit, (_, t) in THRESHOLDS.items())

K = Parameter(
    "k",
    f"Noise threshold: matches shorter than k tokens are never reported. Range 1 to {_core.MAX_T}; by unit {_BY_UNIT}.",
    kind=int,
    flags=("-k",),
)
T = Parameter(
    "t",
    f"Guarantee threshold: every run of t tokens in common is found. Range k to {_core.MAX_T}; by unit {_T_BY_UNIT}.",
    kind=int,
    flags=("-t",),
)
UNIT = Parameter("unit", "What a token is.", default="character", choices=UNITS)
SCHEME = Parameter(
    "scheme",
    "Which k-grams become fingerprints; all but modulo and smallest keep the guarantee.",
    default="robust",
    choices=SCHEMES,
)
HOMOGLYPHS = Parameter(
    "homoglyphs",
    "Take letters that look like Latin ones for them (Cyrillic а for a): for texts that were disguised.",
    default=False,
    kind=bool,
)
MODULUS = Parameter(
    "modulus",
    "p of 0 mod p, for the schemes modulo and safe-modulo; by default chosen for the window.",
    kind=int,
)
COUNT = Parameter("count", "n of the n smallest, for the scheme smallest.", default=128, kind=int)
SEED = Parameter("seed", "Seed of everything random; the same seed gives the same result.", default=1, kind=int)


@dataclass(frozen=True)
class Selection:
    """Everything that decides which fingerprints a text has."""

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
        """What the scheme guarantees, in words."""
        if self.scheme not in GUARANTEED:
            return f"{self.scheme} promises to find no length of copy; nothing below {self.k} {self.unit}s is reported"
        return (
            f"any run of at least {self.t} {self.unit}s that two texts have in common is found, "
            f"whatever surrounds it; nothing shorter than {self.k} {self.unit}s is reported"
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
    """Fill in what was not given. A lone k or t moves the other along where its default would contradict it."""
    unit = UNIT.default if unit is None else unit
    usual_k, usual_t = THRESHOLDS.get(unit, THRESHOLDS["character"])
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
