"""Classes of real programs with disguised copies among them: who is found to be the source?

A class holds the programs of one problem, known copies left out. For each attack a few of them are rewritten by
`tests/support/obfuscate` and join the class, as a copier would. The rank of the source is taken among all pairs of the
rewritten program: with the other programs and with the other rewritten ones.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import ModuleType

from quality.definitions import TESTS
from quality.listing import EVERYTHING, listed
from quality.rivals import SUFFIX, TOOLS, AbsentError, Pairs

SEED = 5


def rewriter() -> ModuleType:
    """Return `tests/support/obfuscate`."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    return importlib.import_module("support.obfuscate")


@dataclass
class Class:
    """Programs of one problem by name, and rewritten ones by attack: name of the source to text."""

    language: str
    programs: dict[str, str]
    rewritten: dict[str, dict[str, str]] = field(default_factory=dict)

    def rewrite(self, most: int) -> None:
        """Rewrite up to so many programs by each attack, in an order that the seed decides."""
        obfuscate = rewriter()
        names = sorted(self.programs)
        Random(SEED).shuffle(names)
        for attack in obfuscate.ATTACKS:
            made: dict[str, str] = {}
            for name in names:
                if len(made) == most:
                    break
                text = obfuscate.rewritten(self.programs[name], self.language, attack, SEED)
                if text is not None:
                    made[name] = text
            self.rewritten[attack] = made

    def write(self, folder: Path, attacks: Iterable[str]) -> None:
        """Write the programs and the rewritten ones of some attacks side by side."""
        suffix = SUFFIX[self.language]
        for name, text in self.programs.items():
            (folder / f"{name}.{suffix}").write_text(text, "utf-8")
        for attack in attacks:
            for name, text in self.rewritten[attack].items():
                (folder / self.disguised(name, attack)).write_text(text, "utf-8")

    def file(self, name: str) -> str:
        """File of a program."""
        return f"{name}.{SUFFIX[self.language]}"

    def disguised(self, name: str, attack: str) -> str:
        """File of a rewritten program."""
        return f"{name}~{list(self.rewritten).index(attack)}.{SUFFIX[self.language]}"


@dataclass
class Found:
    """What a tool says of the rewritten programs of an attack."""

    scores: list[float] = field(default_factory=list)
    first: int = 0

    def add(self, class_: Class, attack: str, pairs: Pairs) -> None:
        """Take the pairs of a class; a score of 0 is never first, and equal scores are first together."""
        best: dict[str, float] = defaultdict(float)
        own = {class_.disguised(name, attack) for name in class_.rewritten[attack]}
        present = own | {class_.file(name) for name in class_.programs}
        for pair, score in pairs.items():
            if pair <= present:
                for file in pair & own:
                    best[file] = max(best[file], score)
        for name in class_.rewritten[attack]:
            file = class_.disguised(name, attack)
            score = pairs.get(frozenset((file, class_.file(name))), 0.0)
            self.scores.append(score)
            self.first += score > 0 and score >= best[file]

    @property
    def median(self) -> float:
        """Median score of source and rewritten program."""
        return statistics.median(self.scores)

    @property
    def share_first(self) -> float:
        """Share of rewritten programs whose source comes first."""
        return self.first / len(self.scores)


def ours(class_: Class, attack: str, folder: Path) -> dict[str, Pairs]:
    """Run the command on a class with its rewritten programs; the score, and what stands beside it."""
    class_.write(folder, [attack])
    found = listed(str(folder), EVERYTHING)
    told: dict[str, Pairs] = {"lookalike": {frozenset((a, b)): pair["score"] for a, b, pair in found}}
    told["lookalike coverage"] = {
        frozenset((a, b)): (pair["left_coverage"] + pair["right_coverage"]) / 2 for a, b, pair in found
    }
    given = {frozenset((a, b)): pair["contained"] for a, b, pair in found if pair.get("contained")}
    if given:
        told["lookalike contained"] = given
    return told


def table(classes: Iterable[Class], rivals: Path | None) -> tuple[dict[str, dict[str, Found]], dict[str, str]]:
    """Return what each tool finds by attack, and why tools are absent."""
    found: dict[str, dict[str, Found]] = defaultdict(lambda: defaultdict(Found))
    absent = {} if rivals is not None else dict.fromkeys(TOOLS, "no RIVALS=DIR given")
    for class_ in classes:
        for attack, made in class_.rewritten.items():
            with tempfile.TemporaryDirectory() as folder:
                for tool, pairs in ours(class_, attack, Path(folder)).items() if made else ():
                    found[attack][tool].add(class_, attack, pairs)
        for tool, pairs in _of_rivals(class_, rivals, absent).items():
            for attack, made in class_.rewritten.items():
                if made:
                    found[attack][tool].add(class_, attack, pairs)
    return found, absent


def _of_rivals(class_: Class, rivals: Path | None, absent: dict[str, str]) -> Mapping[str, Pairs]:
    """Run the other tools once on a class with everything rewritten: their scores do not depend on the class."""
    found: dict[str, Pairs] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "class"
        folder.mkdir()
        class_.write(folder, class_.rewritten)
        for name, tool in TOOLS.items():
            if rivals is None or f"{name} {class_.language}" in absent:
                continue
            try:
                found |= tool(folder, class_.language, rivals)
            except AbsentError as reason:
                absent[f"{name} {class_.language}"] = str(reason)
    return found
