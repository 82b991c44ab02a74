"""Damaged inputs: what can be read is read, the rest is reported by place and reason, and the run goes on."""

from __future__ import annotations

import gzip
import io
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.corpora import Problem, Scratch, open_sources, restore
from lookalike.corpora.compression import chunks, compressed
from lookalike.corpora.delimited import Dialect, cuts
from lookalike.errors import LedgerError, MissingExtraError, ParameterError
from support.corpora import dedup, members, page, record, rows, texts
from support.packing import zstd

LINES = [b'{"id":%d,"text":"%d"}\n' % (number, random.Random(number).getrandbits(200)) for number in range(12_000)]
PACK = {".gz": gzip.compress, ".zst": zstd.compress}


def problems(path: Path, **options: str) -> list[Problem]:
    with Scratch() as scratch:
        corpus = open_sources([str(path)], scratch, **options)
        for source in corpus.sources:
            list(source.batches())
        return [*corpus.problems, *(problem for source in corpus.sources for problem in source.problems)]


def found_in(path: Path) -> list[tuple[str | None, bytes | None]]:
    with Scratch() as scratch:
        return rows(open_sources([str(path)], scratch).sources[0])


@pytest.mark.parametrize("suffix", PACK)
def test_a_compressed_file_that_is_cut_gives_what_comes_before_the_cut(tmp_path: Path, suffix: str):
    whole = PACK[suffix](b"".join(LINES))
    source, out = tmp_path / f"in.jsonl{suffix}", tmp_path / "out.jsonl"
    source.write_bytes(whole[: len(whole) // 2])
    _, found = dedup([source], out, tmp_path / "ledger")
    assert [problem.reason for problem in found] == ["damaged: it is cut short"]
    kept = out.read_bytes()
    assert b"".join(LINES).startswith(kept)
    assert len(kept) > 20_000
    assert found[0].place == f"after {len(kept):,} bytes"
    restore(tmp_path / "ledger", out, tmp_path / "back.jsonl")
    assert (tmp_path / "back.jsonl").read_bytes() == kept


@pytest.mark.parametrize("suffix", PACK)
def test_a_compressed_file_that_is_damaged_ends_there(tmp_path: Path, suffix: str):
    parts = [PACK[suffix](b"".join(LINES[i : i + 4000])) for i in (0, 4000, 8000)]
    middle = bytearray(parts[1])
    middle[len(middle) // 2 : len(middle) // 2 + 40] = bytes(40)
    (tmp_path / f"in.jsonl{suffix}").write_bytes(parts[0] + bytes(middle) + parts[2])
    assert len(found_in(tmp_path / f"in.jsonl{suffix}")) >= 4000
    assert problems(tmp_path / f"in.jsonl{suffix}")[0].reason.startswith("damaged: ")


@pytest.mark.parametrize("format", ["gzip", "bzip2", "xz", "zstd"])
def test_what_expands_a_thousandfold_comes_in_pieces_and_is_written_as_it_was(format: str):
    data = bytes(3_000_000) + b"end"
    packed = io.BytesIO()
    stream = compressed(packed, format)
    stream.write(data)
    stream.close()
    assert len(packed.getvalue()) < 10_000
    packed.seek(0)
    pieces = list(chunks(packed, format, 100_000))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) < 200_000


def test_streams_that_follow_one_another_are_one_file(tmp_path: Path):
    (tmp_path / "in.jsonl.gz").write_bytes(members(LINES[:50]) + bytes(100))
    assert len(found_in(tmp_path / "in.jsonl.gz")) == 50
    assert problems(tmp_path / "in.jsonl.gz") == []


def test_what_is_compressed_is_told_by_content_not_by_name(tmp_path: Path):
    (tmp_path / "in.jsonl").write_bytes(gzip.compress(LINES[0]))
    (tmp_path / "in.jsonl.gz").write_bytes(LINES[0])
    assert found_in(tmp_path / "in.jsonl") == found_in(tmp_path / "in.jsonl.gz") == found_in(tmp_path / "in.jsonl")


def test_an_empty_file_of_any_name_has_no_rows(tmp_path: Path):
    for name in ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.warc", "a.warc.gz"):
        (tmp_path / name).touch()
        assert found_in(tmp_path / name) == [], name
        assert problems(tmp_path / name) == [], name


# --- Parquet --------------------------------------------------------------------------------------


def with_bad_group(path: Path, column: int) -> None:
    """Three row groups, the second of which has a page that cannot be read."""
    names = [f"{number:03}" * 10 for number in range(30)]
    pq.write_table(pa.table({"text": names, "other": names[::-1]}), path, row_group_size=10, compression="none")
    meta = pq.ParquetFile(path).metadata.row_group(1).column(column)
    data = bytearray(path.read_bytes())
    start = meta.dictionary_page_offset or meta.data_page_offset
    data[start : start + 12] = b"\xff" * 12
    path.write_bytes(data)


@pytest.mark.parametrize("column", [0, 1], ids=["text", "other"])
def test_a_row_group_that_cannot_be_read_is_counted_and_the_others_are_read(tmp_path: Path, column: int):
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    with_bad_group(source, column)
    _, found = dedup([source], out, tmp_path / "ledger")
    assert [(problem.place, problem.rows) for problem in found] == [("row group 1", 10)]
    assert pq.read_table(out).num_rows == 20
    restored = restore(tmp_path / "ledger", out, tmp_path / "back.parquet")
    assert [problem.place for problem in restored.problems] == ["row group 1"]
    assert pq.read_table(tmp_path / "back.parquet").equals(pq.read_table(out))


def test_only_columns_that_are_needed_are_read_where_nothing_is_copied(tmp_path: Path):
    for column, lost in ((0, True), (1, False)):
        with_bad_group(tmp_path / "in.parquet", column)
        assert [text is None for text in texts_of(tmp_path / "in.parquet")] == [False] * 10 + [lost] * 10 + [False] * 10


def texts_of(path: Path) -> list[bytes | None]:
    with Scratch() as scratch:
        return texts(open_sources([str(path)], scratch).sources[0])


def test_a_row_group_that_cannot_be_copied_after_the_decisions_ends_the_run(tmp_path: Path):
    """It could be read before: the file was damaged meanwhile. Rows may have been removed in favour of its rows."""
    with_bad_group(tmp_path / "in.parquet", 1)
    with pytest.raises(Exception, match=r"row group 1 of `.*` cannot be copied, .*nothing was written"):
        dedup([tmp_path / "in.parquet"], tmp_path / "out.parquet", is_copied=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet"]


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"PAR1" + bytes(50), b"PAR1" + b"\xff" * 100 + b"PAR1", b"no table at all"]
)
def test_a_file_that_is_no_parquet_is_reported_and_the_others_are_read(tmp_path: Path, data: bytes):
    (tmp_path / "bad.parquet").write_bytes(data)
    pq.write_table(pa.table({"text": ["a", "a"]}), tmp_path / "good.parquet")
    _, found = dedup([tmp_path / "bad.parquet", tmp_path / "good.parquet"], tmp_path / "out", tmp_path / "ledger")
    assert [Path(problem.source).name for problem in found] == ["bad.parquet"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["good.parquet"]
    restored = restore(tmp_path / "ledger", tmp_path / "out", tmp_path / "back")
    assert len(restored.problems) == 1
    assert pq.read_table(tmp_path / "back" / "good.parquet")["text"].to_pylist() == ["a", "a"]


def test_parquet_with_random_damage_is_read_or_reported(tmp_path: Path):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"text": [f"{n} text" for n in range(200)]}), path, row_group_size=50)
    whole = path.read_bytes()
    for seed in range(60):
        rng = random.Random(seed)
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.randrange(len(data))] if seed % 3 == 0 else data)
        try:
            assert len(texts_of(path)) in (0, 200) or problems(path), seed
        except ParameterError:
            # The name of the column was hit.
            continue


# --- CSV ------------------------------------------------------------------------------------------


def test_a_quote_that_is_never_closed_costs_only_what_follows_it(tmp_path: Path):
    (tmp_path / "in.csv").write_bytes(b'id,text\n1,a\n2,"b\n3,c\n')
    assert found_in(tmp_path / "in.csv") == [("1", b"a"), (None, None)]
    assert problems(tmp_path / "in.csv")[0].place == "row 1"
    dedup([tmp_path / "in.csv"], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "in.csv").read_bytes()


QUOTED = [b'"q"', b'"a,""b""\r\n"', b'"z"w', b'"' + b"deep\n" * 5 + b'"', b'""""']
FIELDS = st.sampled_from([b"", b"a", b'x"y', b"long" * 5, *QUOTED])
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(
    st.lists(st.tuples(st.lists(FIELDS, min_size=2, max_size=4), ENDS), max_size=8),
    st.integers(1, 7),
    st.sampled_from([10, 2**20]),
)
def test_records_are_the_same_wherever_chunks_are_cut_and_however_long_they_are(parts, size: int, most: int):
    expected = [b",".join(fields) + end for fields, end in parts]
    data = b"".join(expected)
    found, piece = [], b""
    for cut in cuts((data[i : i + size] for i in range(0, len(data), size)), Dialect(b","), 1, most=most):
        found += [one[0] for one in cut.records]
        assert all(len(one[0]) <= most + size for one in cut.records), "no more is ever held"
        if not cut.records:
            piece += cut.data
            if cut.is_end:
                found, piece = [*found, piece], b""
    assert found == expected


# --- WARC -----------------------------------------------------------------------------------------

PAGES = [record(f"http://x/{n}", page(f"page {n} says something that no other page says, for long")) for n in range(5)]
PARTS = [gzip.compress(one, mtime=0) for one in PAGES]
DAMAGED = {
    "cut.warc": b"".join(PAGES)[:-200],
    "cut.warc.gz": b"".join(PARTS)[:-50],
    "garbage.warc": PAGES[0] + b"what is this\r\n\r\n" + b"".join(PAGES[1:]),
    "long.warc": PAGES[0] + PAGES[1].replace(b"Content-Length: ", b"Content-Length: 9", 1) + b"".join(PAGES[2:]),
    "short.warc": PAGES[0] + PAGES[1].replace(b"Content-Length: 2", b"Content-Length: ", 1) + b"".join(PAGES[2:]),
    "none.warc": PAGES[0] + PAGES[1].replace(b"Content-Length: ", b"Content-Size: ", 1) + b"".join(PAGES[2:]),
    "huge.warc": PAGES[0]
    + PAGES[1].replace(b"Content-Length: ", b"Content-Length: 99999999999", 1)
    + b"".join(PAGES[2:]),
    "bad.warc.gz": PARTS[0] + PARTS[1][:60] + bytes(30) + PARTS[1][90:] + b"".join(PARTS[2:]),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_after_a_damaged_record_reading_goes_on_at_the_next(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_bytes(DAMAGED[name])
    _, found = dedup([path], tmp_path / f"out-{name}", tmp_path / "ledger")
    assert found
    intact = 4 if name.startswith("cut") else 3
    read_names = [one for one, text in found_in(path) if text is not None]
    assert {f"http://x/{n}" for n in ([0, 1, 2, 3] if intact == 4 else [0, 2, 3, 4])} <= set(read_names)
    assert (tmp_path / f"out-{name}").read_bytes() == DAMAGED[name], "nothing is lost"


def test_a_damaged_crawl_comes_back_byte_for_byte(tmp_path: Path):
    data = DAMAGED["bad.warc.gz"] + PARTS[0] + b"junk"
    (tmp_path / "in.warc.gz").write_bytes(data)
    facts, _ = dedup([tmp_path / "in.warc.gz"], tmp_path / "out.warc.gz", tmp_path / "ledger")
    assert facts[0].clean_size < len(data)
    restore(tmp_path / "ledger", tmp_path / "out.warc.gz", tmp_path / "back.warc.gz")
    assert (tmp_path / "back.warc.gz").read_bytes() == data


# --- what is not there ----------------------------------------------------------------------------


def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path):
    pq.write_table(pa.table({"id": [1], "content": ["a"]}), tmp_path / "in.parquet")
    (tmp_path / "in.csv").write_text("id,content\n1,a\n")
    for name in ("in.parquet", "in.csv"):
        with pytest.raises(ParameterError, match=r"`text` is not in `.*`: it has `id`, `content`; name one"):
            problems(tmp_path / name)
        assert problems(tmp_path / name, text_column="content") == []


@pytest.mark.parametrize(
    ("module", "name"), [("pyarrow", "in.parquet"), ("fastwarc", "in.warc"), ("fsspec.core", "s3://bucket/in.jsonl")]
)
def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str):
    monkeypatch.setitem(sys.modules, module, None)
    path = name if "://" in name else str(tmp_path / name)
    (tmp_path / Path(name).name).write_bytes(b"PAR1")
    with Scratch() as scratch, pytest.raises(MissingExtraError, match=r'run pip install "lookalike\[data\]"'):
        open_sources([path], scratch)


# --- any damage at all ----------------------------------------------------------------------------

TABLE = b'id,text\n1,"a ""b"" c"\n2,d\n' * 20
WHOLE = {
    "in.jsonl": b"".join(LINES[:20] * 2),
    "in.csv": TABLE,
    "in.warc": b"".join(PAGES * 2),
    "in.warc.gz": b"".join(PARTS * 2),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whatever_the_damage_the_input_comes_back(tmp_path: Path, name: str):
    for seed in range(25):
        rng = random.Random(seed)
        data = bytearray(WHOLE[name])
        # The header of the table is left alone: without its columns there is nothing to do.
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(8, len(data))
            data[at : at + rng.randint(0, 9)] = rng.choice(
                [b"", b'"', b"\n", b"\r", b"\xff", b"WARC/1.0\r\n", bytes(5)]
            )
        (tmp_path / name).write_bytes(data)
        dedup([tmp_path / name], tmp_path / f"out-{name}", tmp_path / "ledger", overwrite=True)
        restore(tmp_path / "ledger", tmp_path / f"out-{name}", tmp_path / f"back-{name}", overwrite=True)
        assert (tmp_path / f"back-{name}").read_bytes() == data, seed


def test_a_ledger_with_any_damage_gives_the_input_or_one_sentence(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_bytes(b"".join(LINES[:5] * 2))
    pq.write_table(pa.table({"text": ["a", "b", "a", "c"]}), tmp_path / "in" / "b.parquet", row_group_size=3)
    dedup([tmp_path / "in"], tmp_path / "out", tmp_path / "ledger")
    whole = (tmp_path / "ledger").read_bytes()
    refusals = []
    for seed in range(150):
        rng = random.Random(seed)
        data = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.choice(b'0123456789abc"{}[],:-.\\')
        (tmp_path / "ledger").write_bytes(data)
        back = tmp_path / f"back{seed}"
        try:
            restore(tmp_path / "ledger", tmp_path / "out", back)
        except (LedgerError, OSError) as error:
            refusals.append((seed, str(error), back.exists()))
            continue
        found = {path.suffix: path for path in back.iterdir()}
        assert found[".jsonl"].read_bytes() == (tmp_path / "in" / "a.jsonl").read_bytes(), seed
        assert pq.read_table(found[".parquet"]).equals(pq.read_table(tmp_path / "in" / "b.parquet")), seed
    assert len(refusals) > 100
    assert not [one for one in refusals if "\n" in one[1] or one[2]]
