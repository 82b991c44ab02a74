"""Parameters of `dedup`."""

from __future__ import annotations

from lookalike._types import Parameter
from lookalike.params.simhashing import SIMHASHING
from lookalike.params.sketching import RECALL, SAMPLED, SKETCH, SKETCHING, THRESHOLD

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
        Parameter(
            "id_column",
            "Name of the column with the row ids. Default: id. A row without one is named by file and line; in an "
            "index its id is the hash of its content, 32 hexadecimal digits.",
        ),
        Parameter(
            "order",
            "Name of a column by which rows are in order, whole numbers or strings, each row with its own. Default: as "
            "the rows stand; with engine spark, the ids.",
        ),
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
UNUSED_BY_LOOKUP = ("modulus", "clustering", "keep", "order", "length_within", "same_language")
