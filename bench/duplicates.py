"""Corpora of near-duplicates, made by seeded code: originals, and edits of some of them, in an order of chance.

Small ones are made of the texts of `bench.corpora` and are the same bytes on every machine; the large one is made of
the rivals' own documents, as many as they have, and edits of them for the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from bench import corpora
from bench.classes import version
from bench.corpora import ENGLISH, SEED, pick

#: Share of words that an edit touches, each as likely as it occurs here: as in the corpus of the rivals.
RATES = (0.0,) + (0.01,) * 6 + (0.05,) * 6 + (0.1,) * 4 + (0.2,) * 3
#: Share of originals in a small corpus, and how many of them are edited at all, in percent.
ORIGINALS, EDITED = 70, 18
#: Documents have 1 to 4 KB, as those of the rivals.
SHORTEST, LONGEST = 1000, 4000


def edited(text: str, rng: Random, words: Sequence[str]) -> str:
    """Replace, insert and delete words; what stands between them stays."""
    parts = text.split(" ")
    rate = RATES[int(rng.random() * len(RATES))]
    for _ in range(round(rate * len(parts))):
        at, how = int(rng.random() * len(parts)), rng.random()
        if how < 0.6:
            parts[at] = pick(rng, words)
        elif how < 0.8:
            parts[at] += " " + pick(rng, words)
        else:
            parts[at] = ""
    return " ".join(parts)


def shuffled(count: int, rng: Random) -> list[int]:
    return [item for _, item in sorted((rng.random(), item) for item in range(count))]


def mixed(made: Sequence[str], sources: int, count: int, seed: int) -> Iterator[str]:
    """Yield `count` documents: each of those made once, and edits of the first `sources` of them."""
    rng = Random(seed)
    words = corpora.vocabulary(ENGLISH).words
    for item in shuffled(count, rng):
        if item < len(made):
            yield made[item]
        else:
            yield edited(made[int(rng.random() * sources)], rng, words)


def originals(count: int) -> list[str]:
    """Make documents that differ, of paragraphs that others have too."""
    made = corpora.prose((ENGLISH,), count * LONGEST * 2, SHORTEST, LONGEST)
    return [document.decode() for document in islice(made, count)]


def paired(count: int) -> list[str]:
    """Make documents, and in the same order an edit of each."""
    rng, words = Random(SEED + count), corpora.vocabulary(ENGLISH).words
    made = originals(count // 2)
    return made + [edited(text, rng, words) for text in made]


def generated(count: int) -> Iterator[str]:
    """Yield a small corpus, a pure function of its size."""
    made = originals(max(1, count * ORIGINALS // 100))
    return mixed(made, max(1, len(made) * EDITED // 100), count, SEED + count)


def enlarged(base: Path, count: int) -> Iterator[str]:
    """Yield every document of a file of JSON Lines once, and edits of all of them for the rest."""
    with base.open(encoding="utf-8") as lines:
        made = [json.loads(line)["text"] for line in lines]
    return mixed(made, len(made), count, SEED)


def write(texts: Iterator[str], place: Path) -> None:
    """Write documents with their numbers as ids, by the file's ending; it appears whole or not at all."""
    partial = place.with_name(f"{place.name}.{os.getpid()}")
    rows = ({"id": number, "text": text} for number, text in enumerate(texts))
    (write_parquet if place.suffix == ".parquet" else write_lines)(rows, partial)
    partial.replace(place)


def write_lines(rows: Iterator[dict[str, Any]], file: Path) -> None:
    with file.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_parquet(rows: Iterator[dict[str, Any]], file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(list(rows)), file)


@cache
def own_version() -> str:
    """Digest of this code, as that of the folder is one of the code below it."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]


def file(count: int, ending: str) -> Path:
    """The file of a small corpus under the system's temporary ones, made when first asked for."""
    folder = Path(tempfile.gettempdir()) / f"lookalike-bench-{version()}"
    place = folder / f"duplicates-{own_version()}-{count}.{ending}"
    if not place.exists():
        folder.mkdir(exist_ok=True)
        write(generated(count), place)
    return place


def read(file: Path) -> list[str]:
    """Read the texts back, in the order of the file."""
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        texts: list[str] = pq.read_table(file, columns=["text"]).column("text").to_pylist()
        return texts
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]
