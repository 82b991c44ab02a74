"""Parameters of simhashes and of searches by Hamming distance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lookalike import _core
from lookalike._types import Parameter, Simhashing
from lookalike.params.fingerprinting import HOMOGLYPHS
from lookalike.params.sketching import SKETCHING

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


def patterns(ignore: Iterable[str]) -> tuple[str, ...]:
    """Return patterns of tokens to ignore. Errors: ``ParameterError`` for one string: its letters are no patterns."""
    if isinstance(ignore, str):
        raise _core.ParameterError(f"ignore `{ignore}` is one pattern where several go: give a list of patterns")
    return tuple(ignore)


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
    ignored = patterns(ignore or ())
    if chosen["features"] == "paper" and (chosen["unit"], chosen["shingle"]) != ("word", 1):
        raise _core.ParameterError("features `paper` are words and pairs of them: leave out unit and shingle")
    if chosen["features"] != "paper" and (language is not None or idf is not None):
        name = "language" if language is not None else "idf"
        raise _core.ParameterError(f"{name} means nothing to features `{chosen['features']}`: use features `paper`")
    return Simhashing(**chosen, language=language, ignore=ignored, idf=idf)
