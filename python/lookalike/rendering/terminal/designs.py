"""Prints a design: the curve as a table and a small plot, then facts; or everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from lookalike._types import counted
from lookalike.designs import sketch_size
from lookalike.designs.curves import MOST_ELEMENTS, ROWS, Curve, curve, usual_trials
from lookalike.designs.filters import Filter
from lookalike.designs.sketch_size import SketchDesign
from lookalike.designs.solve import Design
from lookalike.errors import MissingExtraError, ParameterError
from lookalike.rendering.terminal.experiments import number
from lookalike.rendering.terminal.progress import SLOW_SECONDS, waiting

#: Width and height of the plot in the terminal.
COLUMNS, LINES = 60, 8
#: A character cell, filled by eighths.
BLOCKS = " ▁▂▃▄▅▆▇█"
#: Resemblances for which false pairs are predicted, too: most pairs of a corpus resemble each other very little.
UNLIKE = (0.1, 0.3)
#: Resemblances that Broder 2000 names, shown for its filter.
PAPER_ROWS = (0.77, 0.975)
#: Resemblances in the table of a sketch.
SAMPLED = (0.5, 0.8, 0.9)
#: §4.2: "100 samples seems reasonable".
PAPER_SIZE = 100


def measure(design: Design, trials: int | None, seed: int, *, quiet: bool = False) -> Curve:
    """Return the curve of the sketch, with the threshold among its rows if someone chose it; ``None``: usual trials."""
    trials = usual_trials(design.filter) if trials is None else trials
    rho = (*ROWS, *PAPER_ROWS) if design.filter.notes else ROWS
    if round(design.threshold, 4) == design.threshold:
        rho = (*rho, design.threshold)
    if design.sketch != "fast" or trials is None:
        return curve(design.filter, design.sketch, rho, None)
    with waiting(f"simulating {counted(trials, 'pair')} of each size", quiet=quiet, after=SLOW_SECONDS):
        return curve(design.filter, design.sketch, rho, trials, seed)


def print_design(design: Design, measured: Curve, documents: int) -> None:
    """Print table, plot and facts."""
    console = Console(highlight=False)
    console.print(Line(title(design), style="bold"), soft_wrap=True)
    console.print(curve_table(measured))
    console.print(Line("\n".join(plot(design.filter, design.threshold))), soft_wrap=True)
    for fact in (*facts(design, documents), *worth(measured)):
        console.print(Line(fact), soft_wrap=True)
    for note in design.filter.notes:
        console.print(Line(f"note: {note}"), soft_wrap=True)


def title(design: Design) -> str:
    """Return the filter in words."""
    k, s, r = design.filter.k, design.filter.s, design.filter.r
    return (
        f"filter {design.filter}: {counted(k, 'feature')} of {counted(s, 'element')}; accepts a pair if at least {r} "
        f"{'is' if r == 1 else 'are'} equal"
    )


def curve_table(measured: Curve) -> Table:
    """Return the curve as a table. A missing value is impossible for documents with so few shingles."""
    headings = [f"fast, {size.union:,}" for size in measured.simulated]
    table = Table("resemblance", "formula", *headings, box=None, header_style="bold")
    for column in table.columns:
        column.justify = "right"
    for rho, formula, simulated in measured.rows():
        table.add_row(f"{rho:g}", share(formula), *(share(value) for value in simulated))
    return table


def share(value: float | None) -> str:
    """Return a probability with enough digits near 0 and near 1."""
    if value is None:
        return "–"
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    if value > 0.9995:
        return f"1 − {1 - value:.2g}"
    return f"{value:.4g}" if value < 0.1 else f"{value:.6f}"


def plot(found: Filter, threshold: float) -> list[str]:
    """Draw the curve as columns of blocks over resemblance 0 to 1, with the threshold marked below."""
    heights = [round(8 * LINES * found.accept((i + 0.5) / COLUMNS)) for i in range(COLUMNS)]
    rows = []
    for line in reversed(range(LINES)):
        label = {LINES - 1: "1", LINES // 2: "½"}.get(line, " ")
        rows.append(f"{label} │" + "".join(BLOCKS[min(max(height - 8 * line, 0), 8)] for height in heights))
    mark = min(int(threshold * COLUMNS), COLUMNS - 1)
    axis = "".join("┴" if i == mark else "─" for i in range(COLUMNS))
    labels = f"{threshold:.3g}".rjust(mark + 1)
    labels = f"0{labels[1:]}" if labels.startswith("  ") else labels
    return [*rows, f"0 └{axis}", f"   {labels}{'1'.rjust(COLUMNS - len(labels))}"]


def facts(design: Design, documents: int) -> list[str]:
    """Return lines about recall, errors and cost at the threshold."""
    found, rho = design.filter, design.threshold
    asked = f"; goal {design.goal.recall:g}" if design.goal else ""
    false, missed = found.false_mass(rho), found.missed_mass(rho)
    pairs = "".join(f", {number(pairs)} if all have {x:g}" for x, pairs in _unlike(design, documents).items())
    lines = [
        f"expected recall at {rho:g}: {share(design.recall)} (by the formula{asked}); half at {found.half:.6f}",
        f"the curve is steepest at the threshold for s = 1/ln(1/ρ₀) = {found.best_s(rho):.4g}; "
        f"with s = {found.s} it is steepest at {found.steepest:.6f}",
        f"best r ≈ k·ρ₀^s = {found.best_r(rho):.4g}; r = {found.r} is used",
        f"total error {share(false + missed)}: {share(false)} accepted below the threshold, {share(missed)} missed "
        "above it, for uniform resemblance",
        f"false pairs among {counted(documents, 'document')}: {number(found.false_pairs(documents, rho))} of "
        f"{number(documents * (documents - 1) // 2)} for uniform resemblance below the threshold{pairs}",
    ]
    keys = "" if found.r == 1 else f", {found.keys_bytes:,} as {counted(found.keys, 'super-feature')}"
    lines.append(f"bytes per document: {found.features_bytes:,}{keys}; elements in the sketch: {found.elements:,}")
    return lines


def _unlike(design: Design, documents: int) -> dict[float, float]:
    """Return the expected false pairs if all pairs had one resemblance, for those below the threshold."""
    below = (x for x in UNLIKE if x < design.threshold)
    return {x: design.filter.false_pairs(documents, design.threshold, x) for x in below}


def worth(measured: Curve) -> list[str]:
    """Return what the columns show, and their error."""
    if not measured.simulated:
        exact = "the formula is exact for independent permutations"
        if measured.sketch != "fast":
            return [exact]
        return [
            f"{exact}; for sketch fast it was not simulated, because the filter has more than {MOST_ELEMENTS:,} "
            "elements: --trials does so with as many pairs as you say"
        ]
    trials = measured.simulated[0].trials
    return [
        f"fast, N: {counted(trials, 'simulated pair')} of documents with N shingles together, standard error up to "
        f"{0.5 / trials**0.5:.2g}; – means that such documents cannot have this resemblance"
    ]


def design_json(design: Design, measured: Curve, documents: int) -> str:
    """Return everything as one JSON document."""
    found, rho = design.filter, design.threshold
    unlike = {f"{x:g}": pairs for x, pairs in _unlike(design, documents).items()}
    tree = {
        "filter": asdict(found),
        "threshold": rho,
        "goal": asdict(design.goal) if design.goal else None,
        "sketch": design.sketch,
        "recall": design.recall,
        "half": found.half,
        "best_s": found.best_s(rho),
        "steepest": found.steepest,
        "best_r": found.best_r(rho),
        "total_error": {"false": found.false_mass(rho), "missed": found.missed_mass(rho)},
        "documents": documents,
        "false_pairs": {"uniform": found.false_pairs(documents, rho)} | unlike,
        "elements": found.elements,
        "features_bytes": found.features_bytes,
        "keys_bytes": found.keys_bytes,
        "curve": {"rho": measured.rho, "formula": measured.formula, "simulated": [*map(asdict, measured.simulated)]},
        "notes": found.notes,
    }
    return _printed(tree)


def print_sketch(found: SketchDesign) -> None:
    """Print the size of a sketch and its errors."""
    console = Console(highlight=False)
    console.print(Line(f"sketch of {counted(found.size, 'element')}, {found.bytes:,} bytes per document", style="bold"))
    table = Table("resemblance", f"within ±{found.error:g}", box=None, header_style="bold")
    for rho, chance in sorted({found.worst_at: found.worst, **{x: found.within(x) for x in SAMPLED}}.items()):
        table.add_row(f"{rho:.4g}" + (" (worst)" if rho == found.worst_at else ""), share(chance))
    console.print(table)
    for fact in _sketch_facts(found):
        console.print(Line(fact), soft_wrap=True)


def _sketch_facts(found: SketchDesign) -> Iterable[str]:
    one, any_ = share(found.unlike_as_alike), share(found.any_unlike_as_alike)
    yield f"probability that a pair below 50 % is estimated above 90 %: at most {one}"
    yield f"the same for any of the M²/2 pairs of {counted(found.documents, 'document')}: at most {any_}"
    worst, _ = sketch_size.worst_within(PAPER_SIZE, found.error)
    yield (
        f"with the {PAPER_SIZE} elements of Broder 1997: within ±{found.error:g} with probability {share(worst)} at "
        f"worst; any pair below 50 % above 90 %: at most {share(sketch_size.any_mistaken(PAPER_SIZE, found.documents))}"
    )
    yield (
        f"collisions of 64-bit ids change the resemblance of documents with 1,000 shingles by less than "
        f"{sketch_size.collision_error(1000):.2g} (99.9 %)"
    )


def sketch_json(found: SketchDesign) -> str:
    """Return it as one JSON document."""
    chances = {"unlike_as_alike": found.unlike_as_alike, "any_unlike_as_alike": found.any_unlike_as_alike}
    return _printed(asdict(found) | {"bytes": found.bytes, "within": {x: found.within(x) for x in SAMPLED}} | chances)


def _printed(tree: dict[str, Any]) -> str:
    return json.dumps(tree, indent=1, allow_nan=False) + "\n"


def check_plot(path: Path, overwrite: bool) -> None:
    """Refuse a plot that cannot be written, before any work. Errors: ``ParameterError``."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise ParameterError(f"plot `{path}` has no suffix of a picture: use a name that ends in .png or .svg")
    if path.exists() and not overwrite:
        raise ParameterError(f"plot `{path}` exists: use another name, or overwrite=True to replace it")
    _drawing()


def save_plot(design: Design, measured: Curve, path: Path) -> None:
    """Draw the curve on both scales."""
    filter_curve, plots = _drawing()
    plots.write(lambda: filter_curve.draw_curve(measured, design.threshold), path)


def _drawing() -> tuple[Any, Any]:
    try:
        from lookalike.lab.resemblance import filter_curve
        from lookalike.lab.shared import plots
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("numpy", "matplotlib"):
            raise MissingExtraError("--plot", "lab") from error
        raise
    return filter_curve, plots
