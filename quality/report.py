"""Outcomes for people: lines as sets are done, and `docs/quality.md`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from bench import measure
from quality import runner
from quality.figure import Figure, Outcome

FILE = Path(__file__).parents[1] / "docs" / "quality.md"
INTRODUCTION = """# Quality on labelled data

Answers of `lookalike.compare` and `lookalike.dedup` on public data sets, with default settings. Where a set uses
another setting, the measure names it. Where a protocol picks a threshold, it picks only the decision threshold. This
page is written by `make quality DATA=DIR`, which takes the data and the metrics from outside: neither is part of this
repository. Every miss is marked.

- **As listed** means: the command `lookalike compare FOLDER` with its defaults, a folder for each problem as a teacher
  has it, and score 0 for every pair that is neither in its list of pairs nor in that of shared passages. The two other
  lists, contained pairs and pairs that share too little to say, do not count. All other measures see every pair
  whatever its score.
- **AP** is average precision, with tied scores taken together. **ARI** is the adjusted Rand index.
- The **interval** is by bootstrap, 1,000 draws with a fixed seed. Whole problems are drawn where a set has at least
  eight, otherwise pairs: the column says which. Pairs of one class are not independent, so intervals over pairs are too
  narrow.
- A **cohort** is what is compared in one run. Scores of `compare` depend on how rare material is in it.
- **Resemblance** is exact, in sets of five words unless the measure says otherwise.
- An **edge** is a pair that `dedup` reports. A **member** is a removed document; its cluster's representative is kept.
  Every edge and every member is measured again with `la.resemblance`.
"""
MET = {True: "met", False: "**missed**", None: ""}


def line(name: str, figure: Figure) -> str:
    """One figure on the terminal."""
    met = {True: "met", False: "MISSED", None: ""}[figure.is_met]
    return f"{name:<18} {figure.measure:<52} {told(figure):>8}  {figure.wanted:<10} {met:<6} {figure.spread}".rstrip()


def lines(name: str, outcome: Outcome) -> Iterator[str]:
    """A set on the terminal."""
    if outcome.skipped:
        yield f"{name:<18} skipped: {outcome.skipped}"
        return
    for figure in outcome.figures:
        yield line(name, figure)
    yield f"{name:<18} {cost(outcome)}"


def told(figure: Figure) -> str:
    """Give a value as short as it says all."""
    is_count = isinstance(figure.value, int) or (figure.value == int(figure.value) and figure.value > 1)
    return f"{figure.value:.0f}" if is_count else f"{figure.value:.4f}"


def cost(outcome: Outcome) -> str:
    return f"{outcome.cpu_seconds:.1f} s of CPU time, {outcome.peak_mb:.0f} MB at most"


def page(outcomes: Mapping[str, Outcome]) -> str:
    """Everything, as Markdown."""
    table = [
        "| set | measure | wanted | ours | | 95 % interval | cohort | command |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, outcome in outcomes.items():
        command = f"`make quality DATA=DIR ONLY={name}`"
        for figure in outcome.figures:
            cells = (
                name,
                figure.measure,
                figure.wanted,
                told(figure),
                MET[figure.is_met],
                figure.spread,
                runner.definition(name).COHORT,
                command,
            )
            table.append(f"| {' | '.join(cells)} |")
    parts = [INTRODUCTION, "\n".join(table) + "\n", f"CPU time and memory were measured on `{measure.machine()}`.\n"]
    return "\n".join(parts + [section(name, outcome) for name, outcome in outcomes.items()])


def section(name: str, outcome: Outcome) -> str:
    """What there is to say of one set."""
    module = runner.definition(name)
    about = (module.__doc__ or "").strip()
    limits = getattr(module, "LIMITS", "")
    body = [f"Skipped: {outcome.skipped}."] if outcome.skipped else [cost(outcome) + ".", *outcome.details, limits]
    return "\n\n".join(filter(None, [f"## {name}", about, *body])) + "\n"
