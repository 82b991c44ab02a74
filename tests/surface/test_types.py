"""A user's program under a strict type checker: right calls pass, and a misspelt keyword is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from pathlib import Path

import lookalike as la

report: la.Report = la.compare([Path("a"), Path("b")], min_score=0.2, title="class")
la.write_report(report, "out", top=10)
found: la.Deduplication = la.dedup(["a", "b"], threshold=0.9, method="minhash", ignore=["numbers"])
expected: la.Expected = la.estimate("rows.jsonl", memory="1GiB")
back: la.Restored = la.restore("gone.jsonl", "clean.jsonl", "again.jsonl")
share: float | None = la.resemblance("a", Path("b"), shingle=2, labelled=True)
inside: float | None = la.containment(la.Tokens([1, 2, 3]), [1, 2, 3, 4], shingle=2)
made: la.Sketch = la.sketch("a", size=64, sketch="modulo", modulus=4)
empty: la.Sketch = la.Sketch.empty("fast", 64, unit="line")
table: la.SketchTable = la.sketch_batch(["a"], bits=32, threads=1)
sampled: la.Sketch = la.mod_sketch("a", modulus=2)
bits: int | None = la.simhash("a", shingle=2, ignore=["numbers"])
prints: la.SimhashTable = la.simhash_batch(["a"], language=None)
written: la.SimhashReport = la.simhash_corpus("rows.jsonl", "prints.csv", unit="word")
pairs: la.NearReport = la.near("prints.csv", [1, 2], distance=2, save="table")
best: la.Design = la.design(threshold=0.8, recall=0.9)
tables: la.TableDesigns = la.design(distance=3, fingerprints=1e6)
alike: la.Similarity = la.similarity("a", "b", sketches=["fast"], confidence=0.9)
marks: la.Fingerprints = la.fingerprint(["x", "y"], k=1, t=1)
apart: int = la.hamming(1, 2)


class Notes:
    languages = (la.Language("notes", suffixes=(".notes",)),)

    def read(self, data: bytes, language: str, comments: bool) -> la.Readable:
        return la.Readable.of_tokens(la.Tokens(data.decode().split()), language)


front_end: la.FrontEnd = Notes()
la.compare("songs", frontends=[Notes()])
"""

MISSPELT = [
    'la.compare("a", min_scores=0.2)',
    'la.dedup("a", treshold=0.9)',
    'la.estimate("a", memories="1GiB")',
    'la.similarity("a", "b", shingles=2)',
    'la.sketch("a", kind="fast")',
    'la.sketch_batch(["a"], thread=1)',
    'la.mod_sketch("a", modulo=2)',
    'la.Sketch.empty(kind="fast")',
    'la.measure("a", "b", width=2)',
    'la.resemblance("a", "b", labeled=True)',
    'la.containment("a", "b", w=2)',
    'la.distance("a", "b", units="word")',
    'la.simhash("a", lang="en")',
    'la.simhash_batch(["a"], feature="paper")',
    'la.simhash_corpus("a", "b.csv", column="text")',
    'la.near("a", saved="b")',
    "la.design(thresholds=0.8)",
    "la.design_sketch(errors=0.1)",
    "la.design_tables(distances=3)",
    'la.fingerprint("a", window=3)',
]


def check(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    # Outside the clone, so that its configuration does not apply.
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir", str(folder / "cache")]
    return subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("program")


def test_a_users_program_passes_the_type_checker(folder: Path):
    done = check(PROGRAM, folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_misspelt_keywords_fail_the_type_checker(folder: Path):
    done = check("import lookalike as la\n" + "\n".join(MISSPELT) + "\n", folder)
    assert done.returncode == 1
    wrong = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line}
    assert wrong == set(range(2, len(MISSPELT) + 2)), done.stdout
