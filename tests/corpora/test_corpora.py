"""Rows in, rows out: every format gives its rows, loses those that it should, and gets them back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.corpora import LineFilter, Removed, Scratch, open_sources, restore
from lookalike.corpora.batches import Lines
from lookalike.corpora.filtering import spliced
from lookalike.corpora.lines import LineSource
from lookalike.deduplication.outputs import _Lines
from lookalike.deduplication.picking import rows_of
from lookalike.deduplication.reading import Stretch
from lookalike.deduplication.settings import settings
from lookalike.frontends.html import MAX_DEPTH
from support.corpora import dedup, members, page, record, rows, texts, tree
from support.packing import zstd


def line(text: object, name: object = None, end: bytes = b"\n") -> bytes:
    return json.dumps({"id": name, "text": text}, ensure_ascii=False).encode() + end


#: Equal texts, blank lines, carriage returns, what is no JSON, no object, no text, and no line feed at the end.
HARD = b"".join(
    [
        line("a", "1"),
        b"\n",
        line("b", "2", b"\r\n"),
        line("a", "3"),
        b"{bad\n",
        b"\xff\xfe\n",
        b"[1]\n",
        line(None, "4"),
        line("b", "5", b"\r\n"),
        b"  \r\n",
        line("żółw 🐢", "6"),
        line("żółw 🐢", "7"),
        line("a", "8", b""),
    ]
)
PACKED = {
    "": (lambda data: data, lambda data: data),
    ".gz": (lambda data: gzip.compress(data, mtime=0), gzip.decompress),
    ".zst": (zstd.compress, zstd.decompress),
}


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("data", [HARD, b"", b"\n", b"\n\n\n", line("a") * 5, line("a", end=b"")], ids=len)
def test_lines_come_back_byte_for_byte(tmp_path: Path, data: bytes, suffix: str):
    pack, unpack = PACKED[suffix]
    source = tmp_path / f"in.jsonl{suffix}"
    source.write_bytes(pack(data))
    dedup([source], tmp_path / f"out.jsonl{suffix}", tmp_path / "ledger.jsonl")
    restore(tmp_path / "ledger.jsonl", tmp_path / f"out.jsonl{suffix}", tmp_path / f"back.jsonl{suffix}")
    assert unpack((tmp_path / f"back.jsonl{suffix}").read_bytes()) == data


def test_only_lines_with_a_text_that_was_there_before_go(tmp_path: Path):
    (tmp_path / "in.jsonl").write_bytes(HARD)
    dedup([tmp_path / "in.jsonl"], tmp_path / "out.jsonl")
    kept = (tmp_path / "out.jsonl").read_bytes()
    lines = HARD.splitlines(keepends=True)
    assert kept == b"".join(one for number, one in enumerate(lines) if number not in (3, 8, 11, 12))


def oracle(data: bytes, mask: bytes) -> tuple[bytes, list[Removed]]:
    lines = data.split(b"\n")
    parts = [one + b"\n" for one in lines[:-1]] + [lines[-1]] * bool(lines[-1])
    kept, removed = b"", []
    for row, (keep, part) in enumerate(zip(mask, parts, strict=True)):
        if keep:
            kept += part
        else:
            removed.append(Removed(row, len(kept), part))
    return kept, removed


#: All that take lines out must do it alike.
FILTERS = [LineFilter, _Lines]


@pytest.mark.parametrize("make", FILTERS)
@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"", b"xyz"]), max_size=30).map(b"".join), st.data())
def test_a_filter_of_lines_matches_the_naive_one_wherever_it_is_cut(make, data: bytes, draw: st.DataObject):
    count = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    mask = bytes(draw.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    at = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=4)))
    chunks = [data[i:j] for i, j in zip([0, *at], [*at, len(data)], strict=True)]
    lines = make(mask)
    kept, removed, original = b"", [], b""
    for number, chunk in enumerate(chunks):
        some, gone = lines.feed(chunk, number == len(chunks) - 1)
        original += b"".join(spliced(some, len(kept), gone))
        kept += some
        removed += gone
    assert (kept, removed) == oracle(data, mask)
    assert original == data


@pytest.mark.parametrize("make", FILTERS)
@pytest.mark.parametrize("mask", [b"\1", b"\1\1\1"])
def test_a_file_that_changed_between_the_passes_is_refused(make, mask: bytes):
    with pytest.raises(ValueError, match="the input changed"):
        make(mask).feed(b"a\nb\n", True)


def table() -> pa.Table:
    return pa.table(
        {
            "id": pa.array([1, 2, 3, 4, 5, 6, 7, 8], pa.int32()),
            "text": ["a", None, "b", "a", "a", "b", "c", "é"],
            "tags": [["x"], [], None, ["y", "z"], ["x"], [], None, ["w"]],
            "kind": pa.array(list("xyxyxyxy")).dictionary_encode(),
            "at": pa.array(range(8), pa.timestamp("us", "UTC")),
            "raw": pa.array([b"\xff", None] * 4, pa.large_binary()),
        }
    ).replace_schema_metadata({"owner": "tests"})


def groups(path: Path) -> list[int]:
    meta = pq.ParquetFile(path).metadata
    return [meta.row_group(group).num_rows for group in range(meta.num_row_groups)]


@pytest.mark.parametrize("codec", ["zstd", "snappy", "none", "gzip"])
def test_a_table_comes_back_with_its_schema_metadata_codec_and_row_groups(tmp_path: Path, codec: str):
    source, out, back = tmp_path / "in.parquet", tmp_path / "out.parquet", tmp_path / "back.parquet"
    pq.write_table(table(), source, row_group_size=3, compression=codec)
    dedup([source], out, tmp_path / "ledger.jsonl.gz")
    assert pq.read_table(out)["id"].to_pylist() == [1, 2, 3, 7, 8]
    assert groups(out) == [3, 2], "a row group without rows is none"
    restore(tmp_path / "ledger.jsonl.gz", out, back)
    assert pq.read_table(back).equals(pq.read_table(source), check_metadata=True)
    assert groups(back) == groups(source) == [3, 3, 2]
    for path in (out, back):
        column = pq.ParquetFile(path).metadata.row_group(0).column(1)
        assert column.compression == codec.upper().replace("NONE", "UNCOMPRESSED")
        assert pq.ParquetFile(path).schema_arrow.metadata == {b"owner": b"tests"}


def test_a_table_that_loses_all_but_one_row_and_one_without_rows_come_back(tmp_path: Path):
    same = pa.table({"text": ["a"] * 10})
    for name, one in (("same", same), ("none", same[:0])):
        source = tmp_path / f"{name}.parquet"
        pq.write_table(one, source, row_group_size=4)
        dedup([source], tmp_path / f"{name}-out.parquet", tmp_path / f"{name}.ledger")
        restore(tmp_path / f"{name}.ledger", tmp_path / f"{name}-out.parquet", tmp_path / f"{name}-back.parquet")
        assert pq.read_table(tmp_path / f"{name}-back.parquet").equals(one)
    assert groups(tmp_path / "same-back.parquet") == [4, 4, 2]


def source_of(path: Path, **options: str):
    with Scratch() as scratch:
        return open_sources([str(path)], scratch, **options).sources[0]


TEXT_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.large_binary(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.string_view(),
]


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
def test_texts_of_every_string_type_are_read(tmp_path: Path, kind: pa.DataType):
    values = ["a", None, "", "żółw"]
    pq.write_table(pa.table({"text": pa.array(values).cast(kind)}), tmp_path / "in.parquet")
    assert texts(source_of(tmp_path / "in.parquet")) == [None if one is None else one.encode() for one in values]


def test_ids_are_those_of_the_column_asked_for(tmp_path: Path):
    pq.write_table(table(), tmp_path / "in.parquet")
    assert [name for name, _ in rows(source_of(tmp_path / "in.parquet"))][:2] == ["1", "2"]
    assert rows(source_of(tmp_path / "in.parquet", id_column="kind"))[1] == ("y", None)


CSV = (
    b'\xef\xbb\xbfid,text,n\r\n1,a,1\r\n2,"say ""hi"", or\r\nnot",2\r\n\r\n3,a,"x"\r\n4,5" disk,4\r\n'
    b'5,"say ""hi"", or\r\nnot",5\r\n6\r\n7,,7\n8,a,8'
)


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize(
    "data", [CSV, b"", b"id,text\n", b"id,text", CSV.replace(b"\r\n", b"\n"), CSV + b"\r\n"], ids=len
)
def test_records_come_back_byte_for_byte(tmp_path: Path, data: bytes, suffix: str):
    pack, unpack = PACKED[suffix]
    (tmp_path / f"in.csv{suffix}").write_bytes(pack(data))
    dedup([tmp_path / f"in.csv{suffix}"], tmp_path / f"out.csv{suffix}", tmp_path / "ledger")
    restore(tmp_path / "ledger", tmp_path / f"out.csv{suffix}", tmp_path / f"back.csv{suffix}")
    assert unpack((tmp_path / f"back.csv{suffix}").read_bytes()) == data


def test_records_are_cut_where_quotes_allow_it(tmp_path: Path):
    (tmp_path / "in.csv").write_bytes(CSV)
    source = source_of(tmp_path / "in.csv")
    hi = b'say "hi", or\r\nnot'
    assert rows(source) == [
        ("1", b"a"), ("2", hi), (None, None), ("3", b"a"), ("4", b'5" disk'), ("5", hi), (None, None), ("7", b""),
        ("8", b"a"),
    ]  # fmt: skip
    assert [problem.place for problem in source.problems] == ["row 6"]
    dedup([tmp_path / "in.csv"], tmp_path / "out.csv")
    kept = (tmp_path / "out.csv").read_bytes()
    assert kept == CSV.replace(b'3,a,"x"\r\n', b"").replace(b'5,"say ""hi"", or\r\nnot",5\r\n', b"").replace(
        b"8,a,8", b""
    )


@pytest.mark.parametrize(("name", "delimiter"), [("in.tsv", "\t"), ("in.csv", ";"), ("in.csv", "|")])
def test_the_delimiter_is_that_of_the_header(tmp_path: Path, name: str, delimiter: str):
    (tmp_path / name).write_text(f"id{delimiter}text\n1{delimiter}a,b\n")
    assert rows(source_of(tmp_path / name)) == [("1", b"a,b")]


def test_text_files_come_back_below_their_folders(tmp_path: Path):
    content = {
        "a.txt": b"same",
        "b/c/d.txt": b"same",
        "b/ż 🐢.txt": b"other",
        "e.txt": b"same",
        "f.bin": bytes(99),
        "g": b"",
    }
    for name, data in content.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    _, problems = dedup([tmp_path / "in"], tmp_path / "out", tmp_path / "ledger")
    assert [problem.place for problem in problems] == ["f.bin"]
    assert sorted(tree(tmp_path / "out")) == ["a.txt", "b/ż 🐢.txt", "f.bin", "g"]
    restore(tmp_path / "ledger", tmp_path / "out", tmp_path / "back")
    assert tree(tmp_path / "back") == content


PAGES = [
    record("info", b"software: tests", type="warcinfo", content_type="application/warc-fields"),
    record("http://x/1", page("the first page has a text of its own that goes on for a while")),
    record("http://x/2", page("the second page has a text of its own that goes on for a while")),
    record("http://x/3", page("the first page has a text of its own that goes on for a while")),
    record("http://x/4", b"\x89PNG", content_type="image/png"),
    record("http://x/5", b"an extracted text", type="conversion", content_type="text/plain"),
]


@pytest.mark.parametrize(
    ("name", "pack", "unpack"),
    [
        ("in.warc", lambda parts: b"".join(parts), lambda data: data),
        ("in.warc.gz", members, lambda data: data),
        ("in.warc.gz", lambda parts: gzip.compress(b"".join(parts)), gzip.decompress),
        ("in.warc.zst", lambda parts: zstd.compress(b"".join(parts)), zstd.decompress),
    ],
    ids=["plain", "gzip by record", "gzip as a whole", "zstd as a whole"],
)
def test_records_of_warc_go_and_come_back_as_they_are(tmp_path: Path, name: str, pack, unpack):
    (tmp_path / name).write_bytes(pack(PAGES))
    facts, problems = dedup([tmp_path / name], tmp_path / f"out-{name}", tmp_path / "ledger")
    assert (facts[0].rows, problems) == (6, [])
    assert unpack((tmp_path / f"out-{name}").read_bytes()) == unpack(pack(PAGES[:3] + PAGES[4:]))
    restore(tmp_path / "ledger", tmp_path / f"out-{name}", tmp_path / f"back-{name}")
    assert unpack((tmp_path / f"back-{name}").read_bytes()) == unpack(pack(PAGES))


def test_a_page_is_its_main_text_and_its_address(tmp_path: Path):
    (tmp_path / "in.warc").write_bytes(b"".join(PAGES))
    with Scratch() as scratch:
        found = rows(open_sources([str(tmp_path / "in.warc")], scratch).sources[0])
    assert found[1] == ("http://x/1", b"the first page has a text of its own that goes on for a while")
    assert found[4] == ("http://x/4", None)
    assert found[5] == ("http://x/5", b"an extracted text")


def test_a_page_that_nests_too_deep_has_its_tags_cut_out(tmp_path: Path):
    # Parsing takes 42 s where 30,000 elements are open.
    deep = f"{'<div>' * (MAX_DEPTH + 1)}the text of the page"
    (tmp_path / "in.warc").write_bytes(record("http://x/1", page(deep)))
    with Scratch() as scratch:
        ((_, text),) = rows(open_sources([str(tmp_path / "in.warc")], scratch).sources[0])
    assert text == b"menu\nthe text of the page"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from(["id", "text", "x"]), JSON), st.booleans(), st.binary(max_size=3))
def test_the_name_of_a_row_is_what_a_full_parser_finds(row: dict[str, object], ascii: bool, damage: bytes):
    data = json.dumps(row, ensure_ascii=ascii).encode("utf-8", "surrogatepass") + damage.replace(b"\n", b"")
    found = rows_of(Stretch(Lined(data), 0, 1), [0], settings(), texts=False)
    whole = rows_of(Stretch(Lined(data), 0, 1), [0], settings(), texts=True)
    assert [name for _, name, _ in found] == [name for _, name, _ in whole]


class Lined(LineSource):
    """A file that is at hand."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def pieces(self) -> Iterator[Lines]:
        yield Lines(self._data, True)
