"""Small files that expand to large ones: they stay within the memory, and the limit they meet is the reason told."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.corpora import parquet
from support.memory import measured, needs_peak
from support.packing import zstd

pytestmark = needs_peak
MIB = 2**20


@pytest.mark.parametrize("name", ["text", "other"])
def test_a_value_that_is_repeated_stays_within_the_memory(tmp_path: Path, name: str):
    """One value of 6 MiB in 600 rows: 3.5 GiB in less than a kilobyte; in a column of texts, and in one beside it."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 600, pa.int32()), pa.array(["a" * (6 * MIB)]))
    path = tmp_path / "bomb.parquet"
    table = pa.table({"text": ["a"] * 600} | {name: column})
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=2**30, store_schema=False)
    assert path.stat().st_size < 2500 * 2
    pq.write_table(pa.table({"text": ["a good row"] * 9}), tmp_path / "good.parquet")
    arguments = path, tmp_path / "good.parquet", "-o", tmp_path / "out", "--memory", "256MiB", "--json"
    done, peak = measured("dedup", *arguments)
    assert done.returncode == 0
    assert pq.read_table(tmp_path / "out" / "good.parquet").num_rows == 1
    (problem,) = json.loads(done.stdout)["problems"]
    assert "expands beyond 256 MiB, because values in it are repeated" in problem["reason"]
    assert peak < 512 * MIB


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_compressed_rows_of_a_ledger_are_refused_before_they_expand(codec: str, kind: pa.DataType):
    table = pa.table({"text": pa.array(["a" * MIB] * 3).cast(kind), "id": [1, 2, 3]})
    assert parquet.from_text(parquet.to_text(table)).equals(table)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as stream:
        stream.write_table(table)
    data = sink.getvalue().to_pybytes()
    assert len(data) < 100_000
    before = pa.default_memory_pool().bytes_allocated()
    with pytest.raises(ValueError, match="its rows are compressed, which those of a ledger never are"):
        parquet.from_text(base64.b64encode(data).decode())
    assert pa.default_memory_pool().bytes_allocated() - before < MIB


def test_a_line_of_a_ledger_stays_within_the_memory(tmp_path: Path):
    header = {"ledger": 1, "is_folder": False, "entries": 1, "digest": "", "sources": []}
    for name, line in (("long", b'{"data": "' + b"a" * (300 * MIB)), ("wide", b"[" + b"[]," * (2 * MIB) + b"0]")):
        (tmp_path / name).write_bytes(zstd.compress(json.dumps(header).encode() + b"\n" + line))
        (tmp_path / "clean.jsonl").write_bytes(b"")
        arguments = [tmp_path / "clean.jsonl", "--restore", tmp_path / name, "-o", tmp_path / "out.jsonl"]
        done, peak = measured("dedup", *arguments, "--memory", "64MiB")
        assert done.returncode != 0
        assert re.search(rb"has a line of more than [\d.]+ MiB, which needs more memory than 64 MiB", done.stderr)
        assert peak < 300 * MIB
        assert not (tmp_path / "out.jsonl").exists()
