"""Defines every parameter once: name, default, range and help. The command line, checks and docs use this."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lookalike import _core
from lookalike._types import Parameter as Parameter
from lookalike._types import Simhashing as Simhashing
from lookalike._types import Sketching as Sketching

UNITS = ("character", "word", "line")
#: The unit of tokens that the caller made; no text is read by it.
TOKEN = "token"
SCHEMES = ("robust", "winnow", "compact", "compact-robust", "safe-modulo", "modulo", "every", "smallest")
#: Schemes for which every common run of t tokens shares a fingerprint.
GUARANTEED = ("robust", "winnow", "compact", "compact-robust", "safe-modulo", "every")
#: Schemes whose selection with a larger t is a subset of that with a smaller t.
NESTED = ("robust", "winnow", "compact", "compact-robust")
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
#: Default k and t by unit: long enough that a common run is hardly a coincidence.
THRESHOLDS = {"character": (25, 50), "word": (5, 12), "line": (2, 4)}
#: The same for tokens that the caller made.
TOKEN_THRESHOLDS = THRESHOLDS["word"]

#: Default k and t in a comparison, by language. Tokens of prose are letters, those of code its words and operators.
#: Java and similar languages have short statements; C and C++ have long ones that everybody writes. Only runs of t
#: tokens count in a score, so t is the longest that keeps the average precision on labelled data (docs/quality.md).
LANGUAGE_THRESHOLDS = {
    "text": (16, 22),
    **dict.fromkeys(("java", "csharp", "kotlin", "scala"), (8, 11)),
    **dict.fromkeys(("c", "cpp"), (12, 16)),
}
#: The same for all other languages.
CODE_THRESHOLDS = (10, 14)
#: Default cut-off of scores in a comparison, by language, and for all other languages. Programs written to one task
#: resemble each other; essays do not. docs/compare.md has precision and recall on labelled data.
LANGUAGE_CUT_OFFS = {"text": 0.05}
CODE_CUT_OFF = 0.25

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

LANGUAGE = Parameter(
    "language",
    "Language of the files; auto detects it for each file. `lookalike languages` lists the names.",
    default="auto",
    flags=("-l",),
)
TEMPLATE = Parameter(
    "template",
    "Starter code that was handed out (file, folder or archive); matches with it are ignored. Repeatable.",
    flags=("-b",),
    many=True,
    is_path=True,
)
OLD = Parameter(
    "old",
    "Submissions of earlier years; compared with the new ones, not with each other. Repeatable.",
    many=True,
    is_path=True,
)
BY_DIRECTORY = Parameter(
    "by_directory",
    "Each folder is one submission. Default if the given folder contains folders.",
    kind=bool,
    flags=("-d",),
)
LAYOUT = Parameter(
    "layout",
    "How submissions are arranged in the folder or archive.",
    default="auto",
    choices=("auto", "flat", "dirs", "moodle", "canvas"),
)
INCLUDE = Parameter("include", "Read only files that match this pattern, such as '*.py'. Repeatable.", many=True)
EXCLUDE = Parameter(
    "exclude",
    "Skip files that match this pattern, besides version control, dependencies and build output. Repeatable.",
    many=True,
)
FOLLOW_LINKS = Parameter("follow_links", "Follow links that stay inside the folder.", default=False, kind=bool)
COMMENTS = Parameter("comments", "Also compare the words in comments.", default=False, kind=bool, flags=("-C",))
MAX_SHARING = Parameter(
    "max_sharing",
    "Ignore material that more than this many submitters share. Default: such material only has less weight.",
    kind=int,
    flags=("-m",),
    least=2,
    most=2**32 - 1,
)
MIN_SCORE = Parameter(
    "min_score",
    f"List pairs with at least this score, 0 to 1. Default: {CODE_CUT_OFF} for code, {LANGUAGE_CUT_OFFS['text']} for "
    "prose, by what most files are.",
    kind=float,
    least=0,
    most=1,
)
CLUSTER_THRESHOLD = Parameter(
    "cluster_threshold", "Pairs with at least this score form clusters.", default=0.5, kind=float, least=0, most=1
)
# fmt: off
TOP = Parameter("top", "Number of pairs with a page of their own, 0 for all. The others open in pairs/more.html.",
                default=250, kind=int, flags=("-n", "--max-pages"), least=0)
FAIL_ABOVE = Parameter("fail_above", "Exit with code 1 if a pair has at least this score.", kind=float, least=0, most=1)
MAX_PAIRS = Parameter("max_pairs", "Most pairs that are listed, best first; 0 for all. All are counted.",
                      default=10_000, kind=int, flags=("--max-rows",), least=0, most=2**32 - 1)
MAX_PASSAGES = Parameter("max_passages", "Most passages in the tables; 0 for all.", default=100_000, kind=int, least=0)
MAX_SIZE = Parameter("max_size", "Most bytes of all pages of pairs; 0 for no limit. Default: 40000000, and no limit "
                     "with --top 0.", kind=int, least=0)
# fmt: on
#: The default of the last one for any other --top.
PAGE_BYTES = 40_000_000
TITLE = Parameter("title", "Title of the report.", flags=("-c",))
ANONYMISE = Parameter(
    "anonymise",
    "Replace all names by codes. The list of codes and names is written next to the report.",
    default=False,
    kind=bool,
)

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

#: Named patterns for ``ignore``.
PATTERNS = tuple(name for name, _ in _core.simhash_patterns())
#: The parameters of a simhash, by name.
SIMHASHING = {
    parameter.name: parameter
    for parameter in (
        SKETCHING["unit"],
        Parameter("shingle", "Tokens in a feature.", default=1, kind=int, flags=("-w",)),
        HOMOGLYPHS,
        Parameter(
            "features",
            "words: every token or shingle; paper: word stems without stop words, and pairs of them.",
            default="words",
            choices=("words", "paper"),
        ),
        Parameter("language", "Features paper: language of all texts, such as en. Default: detected for each text."),
        Parameter("idf", "Features paper: table of feature weights made by lookalike.idf_table.", is_path=True),
        Parameter(
            "ignore",
            f"Ignore text that matches this regular expression, or one of {', '.join(PATTERNS)}. Repeatable.",
            default=(),
            many=True,
        ),
        Parameter("languages", "Add a column with the detected language of each text.", default=False, kind=bool),
    )
}

#: The parameters of a deduplication, by name.
DEDUPLICATION = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "method",
            "minhash: similar texts; exact: identical texts only; containment: texts contained in another text; "
            "simhash: similar texts whose 64-bit fingerprints differ in few bits.",
            default="minhash",
            choices=("minhash", "exact", "containment", "simhash"),
        ),
        THRESHOLD,
        Parameter(
            "recall",
            "Method minhash: share of the pairs at the threshold that the filter proposes; 1 for no filter: all pairs, "
            "by an exact join.",
            default=RECALL.default,
            kind=float,
        ),
        SKETCH,
        Parameter("size", "Elements in a sketch. Default: 128, or k·s of --filter.", kind=int),
        Parameter(
            "filter", "Method minhash: pairs share r of k features of s elements, as k,s,r (6,14,2). Default: the best."
        ),
        Parameter(
            "modulus", "Method containment: sample one shingle in so many; a power of two.", default=SAMPLED, kind=int
        ),
        Parameter(
            "contains",
            "Method containment with --against: rows that contain a row of it. Default: these and --contained.",
            default=False,
            kind=bool,
        ),
        Parameter(
            "contained",
            "Method containment with --against: rows that are contained in a row of it.",
            default=False,
            kind=bool,
        ),
        SKETCHING["shingle"],
        SKETCHING["unit"],
        SKETCHING["labelled"],
        SKETCHING["bits"],
        Parameter(
            "clustering",
            "star: every removed row reaches the threshold with the row kept for it; components: rows linked by a "
            "chain of similar pairs; greedy: by the most common elements of a cluster.",
            default="star",
            choices=("star", "components", "greedy"),
        ),
        Parameter("keep", "Which row of a cluster to keep: first, longest, or max:COLUMN.", default="first"),
        Parameter(
            "distance", "Method simhash: fingerprints may differ in this many bits, 0 to 10.", default=3, kind=int
        ),
        Parameter(
            "no_verify",
            "Do not verify. Method simhash: accept all pairs within --distance. Method minhash: keep only features, "
            "and accept all pairs that pass --filter.",
            default=False,
            kind=bool,
        ),
        Parameter(
            "length_within",
            "Largest difference of lengths in tokens, as a share of the longer one. Default: no limit.",
            kind=float,
        ),
        Parameter(
            "same_language",
            "Pair only texts in the same language, where the language is clear; identical texts are always paired.",
            default=False,
            kind=bool,
        ),
        SIMHASHING["features"],
        SIMHASHING["ignore"],
        Parameter("text_column", "Name of the column with the text.", default="text"),
        Parameter("id_column", "Name of the column with the row ids. Default: id, or file and line if there is none."),
        Parameter(
            "format",
            "Format of the inputs. Default: detected from names and contents.",
            choices=("jsonl", "parquet", "csv", "warc", "mbox", "documents", "text"),
        ),
        Parameter("memory", "Memory limit. Larger corpora use temporary files, with the same result.", default="4GiB"),
        Parameter("threads", "Number of threads; 0 for one per core.", default=0, kind=int),
        Parameter("max_errors", "Stop if more rows than this cannot be read. Default: no limit.", kind=int),
        Parameter("max_pairs", "Most pairs that --pairs lists; 0 for all.", default=10_000_000, kind=int),
    )
}
#: Parameters of a deduplication that only the method simhash uses.
SIMHASH_ONLY = ("distance", "features", "ignore")
#: Those that change nothing where every shingle is looked up in references and a row goes for the sake of one of them.
UNUSED_BY_LOOKUP = ("modulus", "clustering", "keep", "length_within", "same_language")
#: Characters with which a spreadsheet formula begins.
FORMULA = tuple("=+-@\t\r\n\0＝＋－＠")


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


DISTANCE = Parameter(
    "distance", "Largest number of bits that may differ, 0 to 10.", default=3, kind=int, least=0, most=10
)
TABLES = Parameter("tables", "compact (least memory), fast (least time), or the number of tables.", default="compact")
PREFIX = Parameter("prefix", "Fewest leading bits that every table compares exactly (the paper's p_min).", kind=int)
#: The parameters of ``near``.
NEAR = {
    parameter.name: parameter
    for parameter in (
        DISTANCE,
        Parameter("id_column", "Name of the column with the ids.", default="id"),
        Parameter("fingerprint_column", "Name of the column with the fingerprints.", default="fingerprint"),
        Parameter(
            "length_within",
            "Largest difference of the values in the column length, as a share of the larger one. Default: no limit.",
            kind=float,
        ),
        Parameter(
            "same_language",
            "Pair only rows that have the same known language in the column language.",
            default=False,
            kind=bool,
        ),
    )
}
FINGERPRINTS = Parameter(
    "fingerprints", "Number of stored fingerprints; may be written as 8e9.", default=100_000_000, kind=float
)
#: Where a table of fingerprints is kept.
HOLDS = ("plain", "compressed", "mapped")
HOLD = Parameter(
    "hold", "Hold the table in memory (plain, compressed) or in its files (mapped).", default="plain", choices=HOLDS
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


def simhashing(
    unit: str | None = None,
    homoglyphs: bool | None = None,
    shingle: int | None = None,
    features: str | None = None,
    language: str | None = None,
    ignore: Iterable[str] | None = None,
    languages: bool | None = None,
    idf: str | None = None,
) -> Simhashing:
    """Fill in missing parameters. Errors: ``ParameterError`` if they contradict each other."""
    given = {"unit": unit, "homoglyphs": homoglyphs, "shingle": shingle, "features": features, "languages": languages}
    chosen: dict[str, Any] = {name: SIMHASHING[name].default if one is None else one for name, one in given.items()}
    if isinstance(ignore, str):
        raise _core.ParameterError(f"ignore `{ignore}` is one pattern where several go: give a list of patterns")
    if chosen["features"] == "paper" and (chosen["unit"], chosen["shingle"]) != ("word", 1):
        raise _core.ParameterError("features `paper` are words and pairs of them: leave out unit and shingle")
    if chosen["features"] != "paper" and (language is not None or idf is not None):
        name = "language" if language is not None else "idf"
        raise _core.ParameterError(f"{name} means nothing to features `{chosen['features']}`: use features `paper`")
    return Simhashing(**chosen, language=language, ignore=tuple(ignore or ()), idf=idf)
