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
    #: Short names on the command line, MOSS's where MOSS has one.
    flags: tuple[str, ...] = ()
    #: Whether it may be given several times.
    many: bool = False

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
#: Kinds of sketches: coordinates first, then samples.
SKETCHES = ("fast", "permutations", "smallest", "modulo", "smallest-modulo", "adaptive")
#: Those with a fixed number of elements, and those from which containment can be told.
COORDINATES = ("fast", "permutations")
CONTAINING = ("modulo", "adaptive")
#: Tokens in a shingle where none is given, by unit.
SHINGLES = {"character": 12, "word": 4, "line": 2}
#: k and t where none is given, by unit: long enough that what is shared was hardly written twice by chance.
THRESHOLDS = {"character": (25, 50), "word": (5, 12), "line": (2, 4)}

#: k and t in a comparison, by language. Tokens of prose are letters, those of code its words and operators. Java and
#: its kin have short statements, C and C++ have long ones that everybody writes.
LANGUAGE_THRESHOLDS = {
    "text": (20, 35),
    "java": (8, 12),
    "csharp": (8, 12),
    "kotlin": (8, 12),
    "scala": (8, 12),
    "c": (12, 16),
    "cpp": (12, 16),
}
#: The same for every language that is not named above.
CODE_THRESHOLDS = (10, 14)

_BY_UNIT = ", ".join(f"{{}} {unit}s".format(k) for unit, (k, _) in THRESHOLDS.items())
_T_BY_UNIT = ", ".join(f"{{}} {unit}s".format(t) for unit, (_, t) in THRESHOLDS.items())

K = Parameter(
    "k",
    f"Noise threshold: matches shorter than k tokens are never reported. Range 1 to {_core.MAX_T}; by unit {_BY_UNIT}; "
    "in comparisons 20 letters of prose, 8 to 12 tokens of code.",
    kind=int,
    flags=("-k",),
)
T = Parameter(
    "t",
    f"Guarantee threshold: every run of t tokens in common is found. Range k to {_core.MAX_T}; by unit {_T_BY_UNIT}; "
    "in comparisons 35 letters of prose, 12 to 16 tokens of code.",
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

LANGUAGE = Parameter(
    "language",
    "Language of the files: auto goes by name and content, file by file; `lookalike languages` lists them.",
    default="auto",
    flags=("-l",),
)
TEMPLATE = Parameter(
    "template",
    "File, folder or archive that was handed out: what stands in it is nobody's own. May be given several times.",
    flags=("-b",),
    many=True,
)
OLD = Parameter(
    "old",
    "Submissions of earlier years: compared with the new ones, never with each other. May be given several times.",
    many=True,
)
BY_DIRECTORY = Parameter(
    "by_directory",
    "One folder is one submission; the default where the root holds folders.",
    kind=bool,
    flags=("-d",),
)
LAYOUT = Parameter(
    "layout",
    "How submissions lie in the folder or archive.",
    default="auto",
    choices=("auto", "flat", "dirs", "moodle", "canvas"),
)
INCLUDE = Parameter("include", "Read only files that match this pattern, such as '*.py'. Repeatable.", many=True)
EXCLUDE = Parameter(
    "exclude",
    "Leave out what matches this pattern, beside version control, dependencies and build output. Repeatable.",
    many=True,
)
FOLLOW_LINKS = Parameter("follow_links", "Follow links, but never out of the folder given.", default=False, kind=bool)
COMMENTS = Parameter("comments", "Compare the words of comments too.", default=False, kind=bool, flags=("-C",))
MAX_SHARING = Parameter(
    "max_sharing",
    "Ignore what more than this many submitters share; by default it only weighs less.",
    kind=int,
    flags=("-m",),
)
MIN_SCORE = Parameter("min_score", "List pairs with at least this score, 0 to 1.", default=0.1, kind=float)
CLUSTER_THRESHOLD = Parameter(
    "cluster_threshold", "Pairs with at least this score form clusters.", default=0.5, kind=float
)
TOP = Parameter("top", "Pages of pairs in the report; 0 for all.", default=250, kind=int, flags=("-n",))
TITLE = Parameter("title", "A title for the report.", flags=("-c",))
ANONYMISE = Parameter(
    "anonymise",
    "Codes in place of names, everywhere; who is who is written beside the report.",
    default=False,
    kind=bool,
)

_SHINGLE_BY_UNIT = ", ".join(f"{width} {unit}s" for unit, width in SHINGLES.items())

#: Everything that decides what the sketch of a text is, and how its estimates are told; by name.
SKETCHING = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "sketch",
            "What is kept of a text: coordinates (fast, permutations), the smallest shingles, one in modulus, or both; "
            "adaptive keeps 50 to 100 of a text of any length.",
            default="fast",
            choices=SKETCHES,
        ),
        Parameter("size", "Elements of a sketch; adaptive and modulo have as many as come.", default=128, kind=int),
        Parameter("modulus", "m of modulo and smallest-modulo: one shingle in m is kept.", default=16, kind=int),
        Parameter("shingle", f"Tokens in a shingle; by unit {_SHINGLE_BY_UNIT}.", kind=int, flags=("-w",)),
        Parameter("unit", "What a token is.", default="word", choices=UNITS),
        Parameter(
            "labelled",
            "Count the occurrences of a shingle apart (Broder's option A) instead of once (option B).",
            default=False,
            kind=bool,
        ),
        Parameter(
            "bits",
            "Bits of a shingle's id, 16 to 64; with fewer than 64 the chance of collisions is part of every interval.",
            default=64,
            kind=int,
        ),
        Parameter("confidence", "How often an interval must hold the truth, 0 to 1.", default=0.95, kind=float),
    )
}
THRESHOLD = Parameter(
    "threshold", "Resemblance from which two documents are near-duplicates, 0 to 1.", default=0.8, kind=float
)
RECALL = Parameter(
    "recall", "Share of the pairs at the threshold that the filter must let pass.", default=0.99, kind=float
)
FALSE_ACCEPT = Parameter(
    "false_accept", "Largest share of pairs of resemblance --at that may pass; by default as few as can be.", kind=float
)
AT = Parameter("at", "The resemblance, below the threshold, at which --false-accept is asked for.", kind=float)
BYTES = Parameter(
    "bytes",
    "Bytes of keys a document may have: 8 for each feature, or super-feature if r > 1. Of tables: of all of them.",
    kind=int,
)
ELEMENTS = Parameter(
    "elements", "Elements of the sketch that features are made of; 128 unless --bytes is given.", kind=int
)
#: Elements of a sketch where nothing else is said.
SKETCH_ELEMENTS = 128
#: Sketches whose coordinates can be grouped into features.
COORDINATES = ("fast", "permutations")
SKETCH = Parameter(
    "sketch",
    "fast: Fast Similarity Sketching, its curve is simulated; permutations: independent ones, the formula is exact.",
    default="fast",
    choices=COORDINATES,
)
FILTER = Parameter("filter", "Look at this filter, k,s,r as in 6,14,2, instead of solving for one.")
DOCUMENTS = Parameter(
    "documents", "Documents of the collection, for what to expect among all their pairs.", default=1_000_000, kind=int
)
TRIALS = Parameter("trials", "Random pairs behind each simulated figure.", default=20_000, kind=int)
ERROR = Parameter("error", "Design a sketch: the estimate may be off by this much, 0 to 0.5.", default=0.05, kind=float)
CONFIDENCE = Parameter(
    "confidence", "Design a sketch: how sure that must be, whatever the resemblance, 0 to 1.", default=0.95, kind=float
)

#: Tokens in a shingle where none is given, for deduplication: what others use, so that thresholds mean the same.
DEDUP_SHINGLES = {"character": 24, "word": 5, "line": 2}
_DEDUP_SHINGLE_BY_UNIT = ", ".join(f"{width} {unit}s" for unit, width in DEDUP_SHINGLES.items())

#: Everything that may be asked of a deduplication; by name.
DEDUPLICATION = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "method",
            "minhash: texts that resemble each other; exact: identical texts only; containment: texts that are "
            "contained in another.",
            default="minhash",
            choices=("minhash", "exact", "containment"),
        ),
        THRESHOLD,
        SKETCH,
        Parameter("size", "Elements of a sketch; more find more surely and cost memory.", default=128, kind=int),
        Parameter("modulus", "Containment: one shingle in so many is sampled, a power of two.", default=8, kind=int),
        Parameter("shingle", f"Tokens in a shingle; by unit {_DEDUP_SHINGLE_BY_UNIT}.", kind=int, flags=("-w",)),
        SKETCHING["unit"],
        SKETCHING["labelled"],
        Parameter(
            "clustering",
            "star: every row that goes reaches the threshold against the one that stays; components: whatever hangs "
            "together through any chain; greedy: by the most popular elements of a cluster.",
            default="star",
            choices=("star", "components", "greedy"),
        ),
        Parameter("keep", "Which row of a cluster stays: first, longest, or max:COLUMN.", default="first"),
        Parameter("text_column", "The column with the text.", default="text"),
        Parameter("id_column", "The column with the names of rows; by default id, or else file and line."),
        Parameter(
            "format",
            "What the inputs are; by default told by their names and contents.",
            choices=("jsonl", "parquet", "csv", "text", "warc"),
        ),
        Parameter(
            "memory",
            "How much memory the corpus may take; the rest goes to files and gives the same answer.",
            default="4GiB",
        ),
        Parameter("threads", "How many cores to use; 0 for all.", default=0, kind=int),
        Parameter("max_errors", "Stop when more rows than this cannot be read; by default never.", kind=int),
    )
}
#: What a spreadsheet takes for the beginning of a formula.
FORMULA = tuple("=+-@\t\r\n\0＝＋－＠")
#: Rows of the table of pairs; their number is told exactly whatever it is.
MAX_PAIRS = 10_000


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


DISTANCE = Parameter("distance", "The most bits in which fingerprints may differ. Range 0 to 10.", default=3, kind=int)
TABLES = Parameter(
    "tables", "compact (little memory), fast (little time), or how many tables to keep.", default="compact"
)
#: What ``near`` reads.
NEAR = {
    parameter.name: parameter
    for parameter in (
        DISTANCE,
        Parameter("id_column", "The column of ids.", default="id"),
        Parameter("fingerprint_column", "The column of fingerprints.", default="fingerprint"),
    )
}
FINGERPRINTS = Parameter(
    "fingerprints", "How many fingerprints are searched; may be written as 8e9.", default=100_000_000, kind=float
)
#: How a table of fingerprints is held.
HOLDS = ("plain", "compressed", "mapped")
HOLD = Parameter("hold", "In memory plain or compressed, or mapped from its files.", default="plain", choices=HOLDS)


@dataclass(frozen=True)
class Sketching:
    """Everything that decides what the sketch of a text is; only sketches with equal ones can be compared."""

    sketch: str
    size: int
    modulus: int
    shingle: int
    unit: str
    homoglyphs: bool
    labelled: bool
    bits: int


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
    """Fill in what was not given."""

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
