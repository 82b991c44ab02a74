"""The lab: the papers' experiments on your own corpus, each with its plot and its data.

Only names live here. Numpy, matplotlib and the experiments are imported when one is run, so listing them costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import params
from lookalike.engines.writing import writing
from lookalike.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from lookalike.lab.shared.outcome import Outcome

#: Experiments by folder: the name of each, which is also its module, and what it shows.
FOLDERS = {
    "winnowing": {
        "density": "Fingerprints per k-gram of every scheme against theory and the lower bounds (§3.1, §4, Figure 3).",
        "gaps": "Longest run without a fingerprint, and how often 0 mod p misses a copy of length t (§3.1.1, §5.1).",
        "rank-frequency": "How often k-grams and fingerprints occur, by rank: the power law of Figure 4 (§5.1).",
        "low-entropy": "Zeros, abba and sensor data: where plain winnowing fails and the robust rule does not (§5.1).",
        "choose-k": "Matches against k on your corpus, and the knee; identifiers in code kept or folded (§5.2).",
        "rolling": "Time of the rolling hash against hashing every k-gram from scratch (§5.1).",
    },
    "resemblance": {
        "filter-curve": "Pairs that pass a filter, by resemblance: formula and sketch (Broder 2000, Figures 1 and 2).",
        "estimator": "Bias and spread of every sketch against the exact resemblance (Broder 1997, Theorem 1, §4.2).",
        "shingle-size": "Resemblance against w, for edited and for permuted texts (Broder 1997, §2).",
        "census": "Identical and near-identical documents, clusters and their sizes (Broder 1997, §1, on AltaVista).",
        "evaluate": "Precision, recall and average precision on pairs that you labelled, by unit, width and threshold.",
    },
    "simhash": {
        "simhash-pr": "Precision and recall within k bits, with a sheet of pairs to tag (Manku 2007, §4.1, Figure 1).",
        "simhash-features": "What features and weights do to distances, precision and recall (Manku 2007, §6 E).",
        "never-duplicated": "Documents and hosts without near-duplicates, and what marks them (Manku 2007, §6 B).",
        "signatures": "Simhash, minhash features, I-Match and bucket checksums on one corpus (Manku 2007, §5.4).",
        "bit-distribution": "Fingerprints in 128 equal intervals, and what causes the spikes (Manku 2007, Figure 2b).",
        "leading-bit": "Leading bit in which successive fingerprints differ: do they cluster? (Manku 2007, Figure 2a).",
        "table-designs": "Rows, lookups and memory of designs for 3 bits, here and at billions (Manku 2007, §3.1).",
        "compression": "Bits per fingerprint of three codecs, the entropy and the paper's half (Manku 2007, §3.2).",
    },
}
EXPERIMENTS = {name: summary for folder in FOLDERS.values() for name, summary in folder.items()}
#: The experiments that take labelled pairs.
LABELLED = ("evaluate", "simhash-pr")
#: The experiments whose ids of shingles may have fewer bits.
NARROWED = ("census",)
#: The sheet of pairs to tag that `simhash-pr` writes and takes.
SHEET = "simhash-pr-sheet.csv"

#: Where the files of an experiment go, unless told otherwise.
OUT = Path("lab")


def run(
    name: str,
    corpus: Path | None = None,
    seed: int = params.SEED.default,
    out: Path = OUT,
    pairs: Path | None = None,
    bits: int | None = None,
) -> Outcome:
    """Run one experiment and write NAME.png, NAME.svg and NAME.json to ``out``.

    Without a corpus a synthetic one is made from the seed, and the outcome says so. ``pairs`` are labelled ones, for
    ``evaluate`` and ``simhash-pr``: CSV with the columns left, right and label, which name documents of the corpus.
    ``bits`` of a shingle's id are for ``census``. A sheet that someone has tagged is never written over.
    """
    if name not in EXPERIMENTS:
        raise ParameterError(f"experiment `{name}` is not known: use one of {', '.join(EXPERIMENTS)}")
    if seed < 0:
        raise ParameterError(f"seed `{seed}` must be 0 or more")
    if pairs is not None and (name not in LABELLED or corpus is None):
        takers = " or ".join(f"`{one}`" for one in LABELLED)
        raise ParameterError(f"pairs `{pairs}` name documents of a corpus: use them with {takers} and corpus=…")
    if bits is not None and name not in NARROWED:
        raise ParameterError(f"bits has no effect on `{name}`: leave it out, or use `{NARROWED[0]}`")
    if name == "simhash-pr" and pairs is None:
        _check_sheet(out / SHEET)
    experiment, plots, texts = (_import(module) for module in (module_of(name), "shared.plots", "shared.corpus"))
    given: tuple[Any, ...] = tuple(one for one in (pairs, bits) if one is not None)
    outcome: Outcome = experiment.measure(texts.load(corpus, seed), seed, *given).in_folder(out)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        plots.save(experiment.draw, outcome)
        outcome.data.write_text(outcome.to_json(), encoding="utf-8")
        for sheet, text in outcome.sheets.items():
            (out / sheet).write_text(text, encoding="utf-8", newline="")
    return outcome


def module_of(name: str) -> str:
    """Return the module of an experiment, below this package."""
    folder = next(folder for folder, experiments in FOLDERS.items() if name in experiments)
    return f"{folder}.{name.replace('-', '_')}"


def _check_sheet(path: Path) -> None:
    """Errors: ``ParameterError`` if there is a sheet that someone has tagged: that is work, and no output of ours."""
    if path.exists() and _import("simhash.sheet").is_tagged(path.read_text(encoding="utf-8-sig", errors="replace")):
        raise ParameterError(
            f"`{path}` has tags, and is not replaced: give it as the pairs, move it, or use another out=…"
        )


def _import(module: str) -> Any:
    try:
        return import_module(f"lookalike.lab.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("numpy", "matplotlib"):
            raise MissingExtraError("the lab", "lab") from error
        raise
