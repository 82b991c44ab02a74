"""For tests of deduplication: corpora with planted near-duplicates, every format they come in, and the truth."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import random
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.cli.main import main
from support.corpora import members, page, record
from support.packing import zstd

WORDS = [f"word{number}" for number in range(2000)]


class Row(NamedTuple):
    id: str
    text: str | None
    stars: float | None
    note: str

    def to_json(self) -> dict[str, Any]:
        return self._asdict()


def edited(text: str, rng: random.Random, words: int = 1) -> str:
    """A text with some words replaced."""
    parts = text.split(" ")
    for at in rng.sample(range(len(parts)), words):
        parts[at] = rng.choice(WORDS)
    return " ".join(parts)


def corpus(families: int = 20, seed: int = 1, words: int = 200) -> list[Row]:
    """Families of an original, an edited copy or two, an identical one, and rows alone, shuffled; some have no text."""
    rng = random.Random(seed)
    texts: list[str | None] = [None, None]
    for number in range(families):
        text = " ".join(rng.choices(WORDS, k=words))
        texts += [text, *(edited(text, rng, 1 + copy) for copy in range(number % 3)), *[text] * (number % 2)]
    rng.shuffle(texts)
    return [
        Row(f"id{at}", text, None if at % 7 == 0 else rng.randrange(1000) / 4, f"note, with “{at}”\n")
        for at, text in enumerate(texts)
    ]


def lines(rows: Iterable[Row]) -> bytes:
    """JSON Lines that no program would write alike: odd spaces, and line ends of both kinds."""
    made = (json.dumps(row.to_json(), ensure_ascii=False) for row in rows)
    return b"".join(
        (f"  {line} \r\n" if at % 2 else line.replace(": ", ":", 1) + "\n").encode() for at, line in enumerate(made)
    )


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist([row.to_json() for row in rows]).replace_schema_metadata({"owner": "tests"})


def records(rows: Iterable[Row]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(Row._fields)
    writer.writerows(rows)
    return out.getvalue().encode()


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    pq.write_table(table(rows), path, row_group_size=17, compression="zstd")


def write_texts(path: Path, rows: Sequence[Row]) -> None:
    path.mkdir()
    for row in rows:
        (path / f"{row.id}.txt").write_text(row.text or "", encoding="utf-8")


def write_warc(path: Path, rows: Sequence[Row]) -> None:
    path.write_bytes(members(record(row.id, page(row.text or "")) for row in rows))


#: How a corpus is written, by the name of its file.
FORMATS: dict[str, Callable[[Path, Sequence[Row]], Any]] = {
    "rows.jsonl": lambda path, rows: path.write_bytes(lines(rows)),
    "rows.jsonl.gz": lambda path, rows: path.write_bytes(gzip.compress(lines(rows))),
    "rows.jsonl.zst": lambda path, rows: path.write_bytes(zstd.compress(lines(rows))),
    "rows.csv": lambda path, rows: path.write_bytes(records(rows)),
    "rows.csv.gz": lambda path, rows: path.write_bytes(gzip.compress(records(rows))),
    "rows.parquet": write_parquet,
    "rows.warc.gz": write_warc,
    "texts": write_texts,
}


def content(path: Path) -> Any:
    """What a file or folder says, however it is compressed and encoded."""
    if path.is_dir():
        return {str(one.relative_to(path)): content(one) for one in sorted(path.rglob("*")) if one.is_file()}
    if path.suffix == ".parquet":
        return pq.read_table(path)
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else zstd.decompress(data) if path.suffix == ".zst" else data


Score = Callable[[str, str], float | None]


def resembling(left: str, right: str) -> float | None:
    return la.resemblance(left, right, shingle=5, unit="word")


def truth(rows: Sequence[Row], threshold: float = 0.8, score: Score = resembling) -> dict[tuple[int, int], float]:
    """All pairs that reach the threshold, by comparing every row with every other."""
    found = {}
    for (left, a), (right, b) in itertools.combinations(enumerate(rows), 2):
        if a.text is not None and b.text is not None:
            value = 1.0 if a.text == b.text else score(a.text, b.text)
            if value is not None and value >= threshold:
                found[left, right] = value
    return found


class Done(NamedTuple):
    code: int
    out: str
    err: str


class _Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def command(
    capfd: pytest.CaptureFixture[str], *arguments: str | Path, stdin: bytes = b"", expected: int | None = 0
) -> Done:
    """Run the command line in this process."""
    before = sys.argv, sys.stdin, signal.getsignal(signal.SIGTERM)
    sys.argv, sys.stdin = ["lookalike", *map(str, arguments)], _Input(stdin)  # type: ignore[assignment]
    capfd.readouterr()
    try:
        main()
    except SystemExit as error:
        code = error.code
    finally:
        sys.argv, sys.stdin = before[:2]
        signal.signal(signal.SIGTERM, before[2])
    done = Done(int(code or 0), *capfd.readouterr())
    assert "Traceback" not in done.err
    assert expected is None or done.code == expected, done
    return done


def cells(path: Path) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))
