"""`dedup --index --add`, day by day, equals one `dedup` of all days: kept rows and clusters, byte for byte."""

from __future__ import annotations

import csv
import gzip
import json
import random
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.errors import ParameterError, VersionError
from oracles.dedup import Asked
from oracles.dedup_days import Archive
from support.children import PATIENCE
from support.days import cut, lines, low_entropy
from support.dedups import Done, command

#: How the small indexes are made: short sketches have crowded keys.
SMALL: dict[str, Any] = {"shingle": 2, "filter": (6, 2, 1), "threshold": 0.6}
#: What is asked of them, and the same of a run over all days.
METHODS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "minhash": ({}, SMALL),
    "exact": ({"method": "exact"}, {"method": "exact"}),
    "simhash": (
        {"method": "simhash", "distance": 6},
        {"method": "simhash", "distance": 6, "shingle": 2, "threshold": 0.6},
    ),
    "unverified": (
        {"method": "simhash", "distance": 4, "no_verify": True},
        {"method": "simhash", "distance": 4, "no_verify": True},
    ),
}


class Found(NamedTuple):
    """The outputs of a day."""

    kept: bytes
    clusters: list[list[str]]


def create(folder: Path, **chosen: Any) -> Path:
    path = folder / "index"
    la.Index.create(path, kind="corpus", **SMALL | chosen).close()
    return path


def a_day(source: Path, index: Path, *, add: bool = True, **chosen: Any) -> Found:
    """Deduplicate a day after an index."""
    out, table = source.with_suffix(".out.jsonl"), source.with_suffix(".csv")
    la.dedup(source, index=index, add=add, out=out, clusters=table, overwrite=True, **chosen)
    return Found(out.read_bytes(), rows_of(table))


def rows_of(table: Path) -> list[list[str]]:
    """The removed rows of a table of clusters, without the numbers of clusters: what days can know."""
    with open(table, encoding="utf-8", newline="") as file:
        return [
            [value for name, value in row.items() if name != "cluster"]
            for row in csv.DictReader(file)
            if row["link"] != "survives"
        ]


def all_days(sources: Sequence[Path], **chosen: Any) -> Found:
    """One deduplication of all days, in order."""
    folder, table = sources[0].parent / "all", sources[0].parent / "all.csv"
    la.dedup(list(sources), out=folder, clusters=table, **chosen)
    kept = b"".join((folder / source.name).read_bytes() for source in sources)
    return Found(kept, rows_of(table))


def written(folder: Path, rng: random.Random, days: Sequence[Sequence[str | None]], bad: float = 0.05) -> list[Path]:
    """Write days to files."""
    sources = []
    for number, day in enumerate(days):
        sources.append(folder / f"day{number}.jsonl")
        sources[-1].write_bytes(lines(rng, day, 1000 * number, bad=bad))
    return sources


def shaken(rng: random.Random, index: Path) -> None:
    """Merge the segments, or move the tail into one, at random."""
    if rng.random() < 0.3:
        with la.Index.open(index, write=True) as opened:
            opened.compact()


@pytest.mark.parametrize("seed", range(54))
@pytest.mark.parametrize("method", METHODS)
def test_days_one_by_one_are_all_days_at_once(method: str, seed: int, tmp_path: Path):
    rng = random.Random(f"{method} {seed}")
    asked, whole = METHODS[method]
    days = [
        [*day, None, "always the same row of every day"] for day in cut(rng, low_entropy(rng, rng.randrange(90)), 4)
    ]
    sources = written(tmp_path, rng, days)
    index = create(tmp_path)
    found = []
    for source in sources:
        found.append(a_day(source, index, **asked))
        shaken(rng, index)
    expected = all_days(sources, **whole)
    assert b"".join(day.kept for day in found) == expected.kept
    assert [row for day in found for row in day.clusters] == expected.clusters
    # A day that is repeated has the same answer, and adds nothing.
    before = la.Index(index).stats()
    again = rng.randrange(len(sources))
    assert a_day(sources[again], index, add=rng.random() < 0.5, **asked) == found[again]
    assert la.Index(index).stats() == before


def test_the_answer_is_that_of_the_slow_program(tmp_path: Path):
    """Not only the same as one run: also what the definition says, row by row."""
    rng = random.Random(3)
    index = create(tmp_path)
    archive = Archive(Asked(0.6, (6, 2, 1), shingle=2, size=12))
    for number, day in enumerate(cut(rng, low_entropy(rng, 150), 5)):
        first = len(archive.texts)
        expected = archive.day(day)
        answer = la.dedup(
            [{"id": f"{first + row}", "text": text} for row, text in enumerate(day)], index=index, add=True
        )
        kept = [int(one.name) for one in answer.archived.kept]
        survivors = [kept[one] if one < len(kept) else first + one - len(kept) for one in answer.survivors[len(kept) :]]
        assert survivors == [one.survivor for one in expected], number
        assert list(answer.resemblances[len(kept) :]) == pytest.approx([one.score for one in expected], abs=1e-6)


@pytest.mark.parametrize("method", ["minhash", "simhash"])
def test_keys_with_more_holders_than_are_compared(method: str, tmp_path: Path):
    """Every second row is a copy of any age; of more than 128 texts with a key or fingerprint not all are compared."""
    rng = random.Random(7)
    made: list[list[str]] = []
    for row in range(420):
        if row % 2 == 0 and method == "minhash":
            made.append([*(f"c{word}" for word in range(100)), *(f"u{row}x{word}" for word in range(6))])
        elif row % 2 == 0:
            made.append(rng.sample([f"w{word}" for word in range(24)], 24))
        else:
            copy = list(made[rng.randrange(row) & ~1])
            copy[5], copy[6] = copy[6], copy[5]
            made.append([*made[rng.randrange(row) & ~1], "more"] if method == "minhash" else copy)
    texts: list[str | None] = [" ".join(words) for words in made]
    threshold = 0.985 if method == "minhash" else 0.6
    index = create(tmp_path, threshold=threshold, filter=(16, 2, 1))
    sources = written(tmp_path, rng, [texts[:150], texts[150:170], texts[170:330], texts[330:]], bad=0)
    asked = {} if method == "minhash" else {"method": "simhash", "distance": 0}
    found = [a_day(source, index, **asked) for source in sources]
    whole = {"shingle": 2, "threshold": threshold} | ({"filter": (16, 2, 1)} if method == "minhash" else asked)
    expected = all_days(sources, **whole)
    assert b"".join(day.kept for day in found) == expected.kept
    assert [row for day in found for row in day.clusters] == expected.clusters
    kept = {json.loads(line)["text"] for line in expected.kept.splitlines()}
    assert 0 < len(kept & set(texts[1::2])) < 150, "some copies are too old to be found"


def test_a_shadow_is_no_document_and_a_row_with_its_text_follows_its_leader(tmp_path: Path):
    index = create(tmp_path)
    text = " ".join(f"w{number}" for number in range(40))
    near = text.replace("w7", "x")
    first = la.dedup([{"id": "a", "text": text}, {"id": "b", "text": near}], index=index, add=True)
    assert first.archived.to_json() | {"run": ""} == {
        "path": str(index),
        "run": "",
        "leaders": 0,
        "added": 1,
        "shadows": 1,
        "renamed": 0,
    }
    second = la.dedup([{"id": "c", "text": near}], index=index)
    assert [one.name for one in second.archived.kept] == ["a"]
    assert second.removed["exact"] == 1
    assert second.resemblances[1] == first.resemblances[1] < 1
    # Where the leader is gone, the text is new, also if another document has its id now.
    with la.Index.open(index, write=True) as opened:
        opened.remove("a")
        assert not la.dedup([{"id": "c", "text": near}], index=opened).gone
        opened.add([("a", "another text altogether")])
        assert not la.dedup([{"id": "c", "text": near}], index=opened).gone


def test_an_id_never_replaces_a_document(tmp_path: Path):
    """Rows of one id with other texts, within a day and on another one: all are kept, all stay in the index."""
    index = create(tmp_path)
    days = [["one text of the day", "another of it"], ["a third on the next"]]
    for day in days:
        answer = la.dedup([{"id": "same", "text": text} for text in day], index=index, add=True)
        assert not answer.gone
    with la.Index(index) as opened:
        ids = [entry.id for entry in opened.documents()]
    assert len(ids) == 3
    assert ids[0] == "same"
    assert all(one.startswith("same~") for one in ids[1:])
    repeated = la.dedup([{"id": "x", "text": text} for day in days for text in day], index=index)
    assert [one.name for one in repeated.archived.kept] == ["same"] * 3
    assert len(repeated.gone) == 3


def test_rows_keep_their_fields_and_names(tmp_path: Path):
    index = create(tmp_path)
    source = tmp_path / "day.jsonl"
    source.write_text('{"id": 7, "text": "the text of a row", "year": 2025}\n{"text": "a row without an id"}\n')
    la.dedup(source, index=index, add=True)
    with la.Index(index) as opened:
        found = list(opened.documents(where={"year": "2025"}))
        assert [entry.id for entry in found] == ["7"]
    other = tmp_path / "other.jsonl"
    other.write_text('{"text": "a row without an id"}\n{"id": "z", "text": "the text of a row"}\n')
    (first, second) = a_day(other, index, add=False).clusters
    assert first[1] == f"{source}:2"
    assert first[-2:] == [str(source), "1"]
    assert second[:2] == ["z", "7"]
    assert second[-2:] == [str(source), "0"]


def test_without_add_nothing_is_added(tmp_path: Path):
    index = create(tmp_path)
    texts = ["the first text of this day"] * 2 + ["a second one"]
    assert la.dedup(texts, index=index).select() == texts[1:]
    assert la.dedup(texts, index=index).archived.added is None
    assert len(la.Index(index)) == 0


def test_the_same_file_under_another_name_is_another_day(tmp_path: Path):
    index = create(tmp_path)
    first, second = tmp_path / "monday.jsonl", tmp_path / "tuesday.jsonl"
    for path in (first, second):
        path.write_text('{"id": "a", "text": "the only text"}\n')
    assert a_day(first, index).kept == first.read_bytes()
    assert a_day(second, index).kept == b""
    assert a_day(first, index).kept == first.read_bytes()


def test_a_run_from_another_folder_is_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    index, day = create(tmp_path), tmp_path / "monday.jsonl"
    day.write_text('{"id": "a", "text": "the only text"}\n')
    assert a_day(day, index).kept == day.read_bytes()
    monkeypatch.chdir(tmp_path)
    for spelled in (Path("monday.jsonl"), Path("./monday.jsonl"), Path("..") / tmp_path.name / "monday.jsonl"):
        assert a_day(spelled, index).kept == day.read_bytes()


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ({"clustering": "components"}, "clustering `components`"),
        ({"clustering": "greedy"}, "clustering `greedy`"),
        ({"keep": "longest"}, "keep `longest`"),
        ({"keep": "max:stars"}, "keep `max:stars`"),
        ({"method": "containment"}, "method `containment`"),
        ({"recall": 1}, "recall `1`"),
        ({"no_verify": True, "filter": (6, 2, 1)}, "no_verify"),
        ({"length_within": 0.2}, "length_within"),
        ({"same_language": True}, "same_language"),
        ({"against": ["a text"]}, "against"),
        ({"pairs": "pairs.csv"}, "pairs"),
        ({"report": "report"}, "report"),
    ],
)
def test_what_days_cannot_answer_is_refused_by_name(chosen: dict[str, Any], named: str, tmp_path: Path):
    index = create(tmp_path)
    with pytest.raises(ParameterError, match=f"{named}.*index"):
        la.dedup(["a text"], index=index, **chosen)
    with pytest.raises(ParameterError, match="index"):
        la.dedup(["a text"], add=True)


@pytest.mark.parametrize(
    ("chosen", "theirs", "ours"),
    [
        ({"threshold": 0.9}, "threshold 0.6", "threshold 0.9"),
        ({"shingle": 3}, "shingle 2", "shingle 3"),
        ({"unit": "character"}, "unit word", "unit character"),
        ({"filter": (6, 14, 2)}, "filter 6,2,1", "filter 6,14,2"),
        ({"labelled": True}, "labelled False", "labelled True"),
        ({"bits": 32}, "bits 64", "bits 32"),
        ({"sketch": "permutations"}, "sketch fast", "sketch permutations"),
        ({"size": 64}, "size 12", "size 64"),
        ({"recall": 0.9}, "filter 6,2,1", "filter"),
        ({"method": "simhash", "features": "paper"}, "features words", "features paper"),
    ],
)
def test_other_parameters_are_refused_with_both_sides(chosen: dict[str, Any], theirs: str, ours: str, tmp_path: Path):
    index = create(tmp_path)
    with pytest.raises(VersionError) as refused:
        la.dedup(["a text"], index=index, **chosen)
    made, asked = str(refused.value).split(", and ")
    assert theirs in made
    assert ours in asked
    # The same values as the index has are no other ones.
    same = {"threshold": 0.6, "shingle": 2, "filter": "6,2,1", "size": 12, "unit": "word"}
    assert la.dedup(["a text"], index=index, **same).settings.size == 12


def test_an_index_without_what_a_method_needs_is_refused(tmp_path: Path):
    la.Index.create(tmp_path / "class").close()
    la.Index.create(tmp_path / "bare", kind="corpus", without=["resemblance", "containment"], no_texts=True).close()
    with pytest.raises(VersionError, match="made for a class"):
        la.dedup(["a text"], index=tmp_path / "class")
    with pytest.raises(VersionError, match="without resemblance"):
        la.dedup(["a text"], index=tmp_path / "bare")
    with pytest.raises(VersionError, match="without resemblance"):
        la.dedup(["a text"], index=tmp_path / "bare", method="simhash")
    for chosen in ({"method": "exact"}, {"method": "simhash", "no_verify": True}):
        assert la.dedup(["a text", "a text"], index=tmp_path / "bare", **chosen).select() == ["a text"]


@pytest.mark.parametrize("suffix", ["jsonl.gz", "parquet", "csv"])
def test_every_format_and_the_way_back(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Rows of other formats are added and found; a ledger undoes a day, also what was removed for the index."""
    monkeypatch.chdir(tmp_path)
    create(tmp_path)
    words = [f"w{number}" for number in range(300)]
    rng = random.Random(2)
    texts = [" ".join(rng.choices(words, k=40)) for _ in range(6)]
    for name, rows in {"one": texts[:4], "two": [texts[0], f"{texts[1]} more", texts[5], texts[5]]}.items():
        path = Path(f"{name}.{suffix}")
        if suffix == "jsonl.gz":
            path.write_bytes(gzip.compress(b"".join(json.dumps({"text": text}).encode() + b"\n" for text in rows)))
        elif suffix == "csv":
            path.write_text("text\n" + "".join(f"{text}\n" for text in rows))
        else:
            pq.write_table(pa.table({"text": rows}), path)
    la.dedup(Path(f"one.{suffix}"), index="index", add=True, out=f"one.out.{suffix}")
    files = {"out": f"two.out.{suffix}", "ledger": "two.jsonl", "clusters": "clusters.csv"}
    answer = la.dedup(Path(f"two.{suffix}"), index="index", add=True, **files)
    assert answer.removed["identical"] == 2
    assert (answer.removed["exact"], answer.removed_for_index) == (1, 2)
    assert [row[1] for row in rows_of(Path("clusters.csv"))][:2] == [f"one.{suffix}:1", f"one.{suffix}:2"]
    assert la.restore("two.jsonl", f"two.out.{suffix}", f"again.{suffix}").rows == 4
    again = la.dedup(Path(f"again.{suffix}"))
    assert again.rows == 4
    assert len(la.dedup(Path(f"one.out.{suffix}"), index="index").gone) == 4


Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *arguments: str) -> Done:
    return command(capsys, "dedup", *arguments, expected=None)


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an index and a day."""
    monkeypatch.chdir(tmp_path)
    create(tmp_path)
    rows = ["the text of the first row", "the text of the second row here", "the text of the first row"]
    with open("today.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": f"r{number}", "text": text}) + "\n" for number, text in enumerate(rows))
    return tmp_path


def test_the_command(day: Path, capsys: Capture):
    code, out, _ = run(capsys, "today.jsonl", "--index", "index", "--add", "-o", "new.jsonl")
    assert code == 0
    assert "3 rows read, 2 kept, 1 removed" in out
    assert "removed for a document of the index: 0" in out
    assert "added to index: 2 rows" in out
    (day / "today.jsonl").rename(day / "tomorrow.jsonl")
    code, out, _ = run(capsys, "tomorrow.jsonl", "--index", "index", "-o", "newer.jsonl", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["kept"] == 0
    assert told["references"] == 2
    assert told["index"] == {**told["index"], "path": "index", "leaders": 2, "added": None, "removed": 3}
    assert (day / "newer.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    ("typed", "code", "told"),
    [
        (("--clustering", "components"), 2, "--clustering `components`"),
        (("--keep", "longest"), 2, "--keep `longest`"),
        (("--against", "today.jsonl"), 2, "--against"),
        (("--dry-run",), 2, "--dry-run"),
        (("--threshold", "0.9"), 6, "threshold 0.6"),
        (("--index", "nowhere"), 2, "nowhere"),
    ],
)
def test_exit_codes(typed: tuple[str, ...], code: int, told: str, day: Path, capsys: Capture):
    got, _, err = run(capsys, "today.jsonl", "--index", "index", *typed, "-o", "new.jsonl")
    assert (got, told in err) == (code, True), err
    assert not (day / "new.jsonl").exists()


def test_a_locked_index_is_told(day: Path, capsys: Capture):
    with la.Index.open(day / "index", write=True):
        code, _, err = run(capsys, "today.jsonl", "--index", "index", "--add", "-o", "new.jsonl")
        assert code == 5, err
        assert not (day / "new.jsonl").exists()
        code, _, _ = run(capsys, "today.jsonl", "--index", "index", "-o", "new.jsonl")
        assert code == 0


def test_a_damaged_index_is_told(day: Path, capsys: Capture):
    run(capsys, "today.jsonl", "--index", "index", "--add", "-o", "new.jsonl")
    with la.Index.open(day / "index", write=True) as opened:
        opened.compact()
    (segment,) = (day / "index").glob("seg-*.lat")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    (day / "today.jsonl").rename(day / "tomorrow.jsonl")
    code, _, err = run(capsys, "tomorrow.jsonl", "--index", "index", "-o", "newer.jsonl")
    # Either the byte is not needed, and the answer is right, or the damage is told.
    assert code == 4 or (day / "newer.jsonl").read_bytes() == b"", err


def test_wait_and_time_column(day: Path, capsys: Capture):
    """`--wait` waits for the lock, `--time-column` keeps times; both have no effect without `--add`."""
    rows = [{"id": "a", "text": "the text of a row", "when": "2024-01-01"}, {"id": "b", "text": "another", "when": "?"}]
    (day / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    typed = ("rows.jsonl", "--index", "index", "-o", "new.jsonl")
    for option in (("--wait", "1"), ("--time-column", "when")):
        code, _, err = run(capsys, *typed, *option)
        assert (code, f"{option[0]} has no effect without --add" in err) == (2, True), err
    with pytest.raises(ParameterError, match="wait=… has no effect without add=True"):
        la.dedup(["a text"], index="index", wait=1)
    with la.Index.open(day / "index", write=True):
        code, _, err = run(capsys, *typed, "--add", "--wait", "0.01")
        assert code == 5, err
    code, out, err = run(capsys, *typed, "--add", "--wait", "600", "--time-column", "when")
    assert code == 0, err
    assert "time not read in 1 row" in out + err
    with la.Index("index") as index:
        assert [(one.id, one.time) for one in index.documents()] == [("a", 1704067200), ("b", None)]
    code, _, err = run(capsys, "today.jsonl", "--index", "index", "--add", "--time-column", "none", "-o", "other.jsonl")
    assert (code, "time column `none` is not in `today.jsonl`" in err) == (2, True), err
    assert not (day / "other.jsonl").exists()


def test_a_run_waits_for_the_process_that_changes_the_index(day: Path):
    """The lock is given back while the run waits for it."""
    ready, opened = threading.Event(), la.Index.open(day / "index", write=True)

    def give_back() -> None:
        ready.wait(PATIENCE)
        opened.close()

    helper = threading.Thread(target=give_back)
    helper.start()
    ready.set()
    answer = la.dedup(day / "today.jsonl", index=day / "index", add=True, wait=PATIENCE)
    helper.join()
    assert answer.archived.added is not None
    assert len(la.Index(day / "index")) == 2
