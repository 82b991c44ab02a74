"""Small files that expand to large ones: they stay within the memory, and the limit they meet is the reason told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.children import PATIENCE
from support.packing import zstd

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell a peak")
MIB = 2**20
MEASURED = """
import re, sys
from lookalike.cli.main import main
sys.argv[1:] = {arguments!r}
try:
    main()
finally:
    print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
"""


def measured(*arguments: str | Path) -> tuple[subprocess.CompletedProcess[bytes], int]:
    """Run a command, and return what became of it and the most memory it had, in bytes."""
    code = MEASURED.format(arguments=[str(one) for one in arguments])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENCE, check=False)
    assert b"Traceback" not in done.stderr
    return done, int(done.stderr.split()[-1]) * 1024


def test_a_value_that_is_repeated_stays_within_the_memory(tmp_path: Path):
    """One value of 6 MiB in 600 rows: 3.5 GiB in less than a kilobyte."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 600, pa.int32()), pa.array(["a" * (6 * MIB)]))
    path = tmp_path / "bomb.parquet"
    pq.write_table(
        pa.table({"text": column}), path, compression="zstd", dictionary_pagesize_limit=2**30, store_schema=False
    )
    assert path.stat().st_size < 2500 * 2
    done, peak = measured("dedup", path, "-o", tmp_path / "out.parquet", "--memory", "256MiB", "--json")
    assert done.returncode == 0
    (problem,) = json.loads(done.stdout)["problems"]
    assert "expands beyond 256 MiB, because values in it are repeated" in problem["reason"]
    assert peak < 512 * MIB


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
