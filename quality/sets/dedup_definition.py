"""`dedup` on real corpora against its definition (`tests/oracles/dedup.py`) and against brute force.

Five corpora: news of Reuters, licence texts, editions from OCR, and the documents of two Debian packages as the
benchmark keeps them. The oracle computes kept rows, clusters, scores and pairs from the definition. Brute force is
the exact prefix join of `bench.truth`: what it finds and `dedup` does not is what the filter and the rule for crowded
keys cost.
"""

from __future__ import annotations

import gzip
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import lookalike as la
from bench import rivals, truth
from lookalike.deduplication.result import Deduplication
from quality.deduplicating import THRESHOLD
from quality.figure import Figure
from quality.task import Task

COHORT = "each corpus"
FILE = "reuters21578/docs.jsonl.gz"
#: Packages of which the benchmark's corpus has documents, and the largest part of one that is read.
PACKAGES, MOST = ("git-doc", "postgresql-doc-15"), 6_000
#: Rows listed by number.
LISTED = 20


def place(data: Path) -> Path:
    """Return the folder of all sets: the corpora lie in several."""
    return data


def corpora(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the corpora that are there."""
    with gzip.open(data / FILE, "rt", encoding="utf-8") as lines:
        yield "reuters21578", [json.loads(line)["text"] for line in lines]
    for name in ("license_variants", "textreuse_samples"):
        if (archive := data / name / "files.zip").is_file():
            files = zipfile.ZipFile(archive)
            names = sorted(one for one in files.namelist() if not one.endswith("/"))
            yield name, [files.read(one).decode("utf-8", "replace") for one in names]
    if (base := rivals.cache() / "base.jsonl").is_file():
        with base.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        for package in PACKAGES:
            if own := [row["text"] for row in rows if row["src"] == package][:MOST]:
                yield package, own


def measure(task: Task) -> list[Figure]:
    """Differences from the definition, and the share of all pairs that is found."""
    figures = []
    for name, texts in corpora(task.folder):
        answer = la.dedup(texts, threshold=THRESHOLD)
        pairs = {(one.left, one.right) for one in answer.pairs()}
        task.counts["documents"] += len(texts)
        task.counts["pairs"] += len(pairs)
        known = {pair for pair, score in truth.join(texts, THRESHOLD).items() if score >= THRESHOLD}
        known = {pair for pair in known if is_distinct(texts, pair)}
        near = {pair for pair in pairs if texts[pair[0]] != texts[pair[1]]}
        found = len(known & near) / len(known) if known else 1.0
        kept = sorted(set(la.dedup(texts, threshold=THRESHOLD, recall=1).gone) - set(answer.gone))
        task.details.append(
            f"{name}: {len(texts):,} rows, {len(answer.gone):,} removed, {len(known):,} pairs of distinct texts, "
            f"{len(answer.capped):,} crowded keys; rows that brute force removes and `dedup` keeps: "
            + (", ".join(map(str, kept[:LISTED])) or "none")
        )
        figures += [
            Figure(f"{name}: differences from the definition", differences(texts, answer), at_most=0),
            Figure(f"{name}: pairs ≥ {THRESHOLD:g} found", found, at_least=0.995),
            Figure(f"{name}: pairs below {THRESHOLD:g}", len(near - known), at_most=0),
        ]
    return figures


def is_distinct(texts: list[str], pair: tuple[int, int]) -> bool:
    """Return whether a pair is of two texts that stand at their first rows, as `--pairs` lists them."""
    firsts = FIRSTS.setdefault(id(texts), {text: row for row, text in reversed(list(enumerate(texts)))})
    return texts[pair[0]] != texts[pair[1]] and all(firsts[texts[row]] == row for row in pair)


#: The first row of each text, by corpus.
FIRSTS: dict[int, dict[str, int]] = {}


def differences(texts: list[str], answer: Deduplication) -> int:
    """Count rows and pairs that differ from what the definition says."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    from oracles import dedup as oracle

    chosen = answer.settings
    found = (chosen.filter.k, chosen.filter.s, chosen.filter.r) if chosen.filter else None
    asked = oracle.Asked(chosen.threshold, found, shingle=chosen.shingle, size=chosen.size)
    expected = oracle.dedup(texts, list(range(len(texts))), asked)
    rows = sum(
        one != other or abs(value - score) > 1e-6
        for one, other, value, score in zip(
            answer.survivors, expected.survivors, answer.resemblances, expected.scores, strict=True
        )
    )
    pairs = {(one.left, one.right) for one in answer.pairs() if one.link != "identical"}
    return rows + len(pairs ^ expected.pairs.keys())
