"""Classes of two years that share blocks, texts and persons, for comparisons with files and with an index."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from support.answers import PHRASES
from support.packing import zip_bytes
from support.submissions import SUFFIXES, prose, renamed, statements, wrapped

Files = dict[str, str | bytes]


@dataclass
class Years:
    """Files of this year, of last year and of starter code, and how they are compared."""

    new: Files
    old: Files
    starter: Files
    #: What an index is created with, and a comparison asked with.
    reading: dict[str, object] = field(default_factory=dict)
    asking: dict[str, object] = field(default_factory=dict)


def years(seed: int) -> Years:
    """Draw a class of this year and one of last year."""
    draw = random.Random(seed)
    language = draw.choice([*SUFFIXES, "text", "notebook", "mixed"])
    made = _Maker(draw, seed, language)
    new, old = made.year("n", draw.randint(1, 5)), made.year("o", draw.randint(1, 7))
    for name in draw.sample(sorted(new), min(len(new), draw.randint(0, 2))):
        # The same folder in both years is one person; the same lone file is not.
        old[name] = made.file(name)
    if draw.random() < 0.4:
        short = draw.choice(["a b c", "x = 1\n", "ab"])
        new["short.txt"], old["brief.txt"], old["other/brief.txt"] = short, f"{short} ", short.upper()
    if draw.random() < 0.2:
        old |= {"broken/essay.docx": b"PK\x03\x04 no archive", "empty.txt": "", "blank/none.txt": " \n"}
    if draw.random() < 0.3:
        _twice(draw, made, new, old)
    if draw.random() < 0.2:
        # What cannot be read of last year has the name of a submission of this year.
        name = draw.choice(sorted(new)).partition("/")[0].partition(".")[0]
        old[f"{name}/work.docx"] = b"PK\x03\x04 no archive"
        new.setdefault(f"{name}/more.txt", prose(seed, 30))
    if seed % 10 == 3:
        same = made.text("java", 50)
        old |= {f"same{i:02}.java": same for i in range(36)} | {f"row{i:02}/A.java": same for i in range(2)}
        new |= {f"twin{i}.java": same for i in range(draw.choice([1, 3, 34]))}
    starter = {"given" + made.suffix(): made.text(made.pick(), 7)} if draw.random() < 0.4 else {}
    if draw.random() < 0.25:
        new["info.csv"] = _info(draw, new)
        old["info.csv"] = _info(draw, old)
    return Years(new, old, starter, _reading(draw), _asking(draw))


def _twice(draw: random.Random, made: _Maker, new: Files, old: Files) -> None:
    """Add submissions of one name: a folder and an archive, in one year or both."""
    for files in draw.choice([(old,), (new,), (old, new)]):
        for _ in range(draw.randint(1, 2)):
            name = draw.choice([*sorted({one.partition("/")[0] for one in (*new, *old) if "/" in one}), "twice"])
            files[f"{name}/own.txt"] = made.text("text", draw.randint(0, 9))
            files[f"{name}.zip"] = zip_bytes(("own.txt", made.text("text", draw.randint(0, 9)).encode()))


def _reading(draw: random.Random) -> dict[str, object]:
    usual: dict[str, object] = {}
    return draw.choice([usual, usual, usual, {"comments": True}, {"k": 5}, {"k": 6, "t": 9}, {"language": "text"}])


def _asking(draw: random.Random) -> dict[str, object]:
    least = draw.choice([{}, {"min_score": 0.0}, {"min_score": 0.0}, {"min_score": 0.1}])
    return {
        **least,
        "max_sharing": draw.choice([None, None, None, 2, 4]),
        "min_contained": draw.choice([None, 0.0, 0.3]),
        "min_passage": draw.choice([None, 15, 0]),
        "max_pairs": draw.choice([10_000, 10_000, 3]),
    }


def _info(draw: random.Random, files: Files) -> str:
    """Name the persons of a year; some have several submissions, and some were there in the other year."""
    tops = sorted({name.partition("/")[0] for name in files} - {"info.csv"})
    known = draw.choices(["Ann", "Bob", "Cyd", "Dov", "Eve", "Fay"], k=6)
    rows = [
        f"{top},{draw.choice([known[i] if i < 6 else top, top])},{draw.choice(['', 'red'])},2024-01-0{i % 9 + 1}"
        for i, top in enumerate(tops)
    ]
    return "filename,full_name,labels,created_at\n" + "\n".join(rows) + "\n"


class _Maker:
    """Writes files of blocks that others have too."""

    def __init__(self, draw: random.Random, seed: int, language: str) -> None:
        self.draw, self.seed, self.language = draw, seed * 1000, language

    def pick(self) -> str:
        return self.draw.choice([*SUFFIXES]) if self.language in ("mixed", "notebook") else self.language

    def suffix(self) -> str:
        return SUFFIXES[self.pick()]

    def year(self, letter: str, count: int) -> Files:
        files: Files = {}
        for i in range(count):
            named = f"{letter}{i}" if self.draw.random() < 0.7 else f"{'zamk'[i % 4]}{letter}{i}"
            for _ in range(self.draw.randint(1, 2)):
                language = "notebook" if self.language == "notebook" and self.draw.random() < 0.7 else self.pick()
                suffix = ".ipynb" if language == "notebook" else SUFFIXES[language]
                place = (
                    f"{named}/f{self.draw.randint(0, 2)}{suffix}" if self.draw.random() < 0.6 else f"{named}{suffix}"
                )
                files[place] = self.file(place)
        return files

    def file(self, name: str) -> str:
        languages = {suffix: language for language, suffix in SUFFIXES.items()}
        suffix = name[name.rindex(".") :]
        if suffix == ".ipynb":
            return self.notebook()
        return self.text(languages.get(suffix, "text"), self.draw.randint(0, 9))

    def text(self, language: str, own: int) -> str:
        """Write a text or program of some of five blocks and of something of its own."""
        draw, seed = self.draw, self.seed
        taken = draw.sample(range(5), draw.randint(0, 3))
        if language == "text":
            pieces = [prose(seed + n, 25) for n in taken] + [prose(seed + 50 + own, draw.randint(3, 40))]
            return " ".join(pieces)
        lines = [line for n in taken for line in statements(seed + n, language, 5)]
        lines += statements(seed + 50 + own, language, draw.randint(1, 8))
        end = "" if language == "python" else ";"
        said = [f'\nx = "{one}"{end}' for one in draw.sample(PHRASES, draw.randint(0, 2))]
        made = wrapped(lines, language) + "".join(said) + ("\n// said" if language == "c" else "\n")
        return renamed(made) if draw.random() < 0.3 else made

    def notebook(self) -> str:
        cells = [
            {"cell_type": kind, "metadata": {}, "source": self.text(kind_language, self.draw.randint(0, 3))}
            for kind, kind_language in self.draw.choices([("code", "python"), ("markdown", "text")], k=3)
        ]
        return json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4})
