"""Parameters of sketches, filters and resemblance."""

from __future__ import annotations

from typing import Any

from lookalike._types import Parameter, Sketching
from lookalike.params.fingerprinting import HOMOGLYPHS, UNIT, UNITS

#: Kinds of sketches: coordinates first, then samples.
SKETCHES = ("fast", "permutations", "smallest", "modulo", "smallest-modulo", "adaptive")
#: Kinds with a fixed number of elements, and kinds that can estimate containment.
COORDINATES = ("fast", "permutations")
CONTAINING = ("modulo", "adaptive")
#: Tokens per shingle where none is given, by unit. Other tools use the same, so thresholds mean the same.
SHINGLES = {"character": 24, "word": 5, "line": 2}
#: Default modulus: one shingle in so many is sampled.
SAMPLED = 8
#: Most equal features a designed filter asks for: without limits, and where bytes or false accepts are limited.
MAX_R, MAX_R_LIMITED = 1, 2
_SHINGLE_BY_UNIT = ", ".join(f"{width} {unit}s" for unit, width in SHINGLES.items())
#: The parameters of a sketch and of the estimates made from it, by name.
SKETCHING = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "sketch",
            "Kind of sketch: coordinates (fast, permutations), the smallest shingles (smallest), one shingle in "
            "--modulus (modulo), both (smallest-modulo), or 50 to 100 shingles of any text (adaptive).",
            default="fast",
            choices=SKETCHES,
        ),
        Parameter("size", "Elements in a sketch; modulo and adaptive have no fixed size.", default=128, kind=int),
        Parameter(
            "modulus", "Sketches modulo and smallest-modulo: keep one shingle in so many.", default=SAMPLED, kind=int
        ),
        Parameter("shingle", f"Tokens in a shingle. Default by unit: {_SHINGLE_BY_UNIT}.", kind=int, flags=("-w",)),
        Parameter("unit", UNIT.help, default="word", choices=UNITS),
        Parameter(
            "labelled",
            "Count every occurrence of a shingle (Broder's option A). Default: count it once (option B).",
            default=False,
            kind=bool,
        ),
        Parameter("bits", "Bits per shingle id, 16 to 64; intervals allow for collisions.", default=64, kind=int),
        Parameter(
            "confidence", "Probability that an interval contains the true value, 0 to 1.", default=0.95, kind=float
        ),
    )
}
THRESHOLD = Parameter("threshold", "Smallest resemblance of near-duplicates, 0 to 1.", default=0.8, kind=float)
RECALL = Parameter(
    "recall", "Share of the pairs at the threshold that the filter must accept.", default=0.995, kind=float
)
FALSE_ACCEPT = Parameter(
    "false_accept", "Largest share of pairs with resemblance --at that may be accepted. Default: no limit.", kind=float
)
AT = Parameter("at", "The resemblance below the threshold to which --false-accept applies.", kind=float)
BYTES = Parameter(
    "bytes",
    "Filter: most bytes of keys per document, 8 for each feature or super-feature. Tables: most bytes of all tables.",
    kind=int,
)
ELEMENTS = Parameter("elements", "Number of elements in the sketch. Default: 128 unless --bytes is given.", kind=int)
#: Elements of a sketch by default.
SKETCH_ELEMENTS = 128
SKETCH = Parameter(
    "sketch",
    "fast: Fast Similarity Sketching, curve by simulation; permutations: independent permutations, curve by formula.",
    default="fast",
    choices=COORDINATES,
)
FILTER = Parameter("filter", "Evaluate this filter, given as k,s,r (for example 6,14,2), instead of searching for one.")
DOCUMENTS = Parameter(
    "documents", "Size of the collection, to predict the number of false pairs.", default=1_000_000, kind=int, least=1
)
TRIALS = Parameter("trials", "Random pairs per simulated value; default for small filters.", default=20_000, kind=int)
ERROR = Parameter("error", "Largest error of the estimated resemblance, 0 to 0.5.", default=0.05, kind=float)
CONFIDENCE = Parameter(
    "confidence", "Probability that the error stays within --error, 0 to 1.", default=0.95, kind=float
)


def sketching(
    sketch: str | None = None,
    size: int | None = None,
    modulus: int | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    homoglyphs: bool | None = None,
    labelled: bool | None = None,
    bits: int | None = None,
) -> Sketching:
    """Fill in missing parameters."""

    def chosen(name: str, value: Any) -> Any:
        return SKETCHING[name].default if value is None else value

    unit = chosen("unit", unit)
    return Sketching(
        sketch=chosen("sketch", sketch),
        size=chosen("size", size),
        modulus=chosen("modulus", modulus),
        shingle=SHINGLES.get(unit, SHINGLES["word"]) if shingle is None else shingle,
        unit=unit,
        homoglyphs=HOMOGLYPHS.default if homoglyphs is None else homoglyphs,
        labelled=chosen("labelled", labelled),
        bits=chosen("bits", bits),
    )
