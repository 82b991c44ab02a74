"""What is decided before a deduplication reads anything: the filter and its recall, and the shares of memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lookalike.deduplication.settings import settings
from lookalike.errors import ParameterError

#: The share of pairs at the threshold that a filter finds, as docs/dedup.md promises it.
PROMISED = 0.995


@pytest.mark.parametrize("sketch", ["fast", "permutations"])
@pytest.mark.parametrize("size", [64, 128, 256])
@pytest.mark.parametrize("threshold", [0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95])
def test_the_filter_finds_what_is_promised_at_the_threshold(threshold: float, size: int, sketch: str):
    """By the formula of Broder 2000: of k features of s elements one is common with chance 1 − (1 − r^s)^k."""
    found = settings(threshold=threshold, size=size, sketch=sketch).filter
    assert found is not None
    assert found.r == 1
    assert 1 - (1 - threshold**found.s) ** found.k >= PROMISED


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("threshold", "x", "number"),
        ("threshold", True, "number"),
        ("threshold", float("nan"), None),
        ("length_within", "0.2", "number"),
        ("size", 12.5, "whole number"),
        ("bits", True, "whole number"),
        ("threads", "2", "whole number"),
    ],
)
def test_what_is_no_number_is_refused(name: str, value: object, what: str | None):
    said = f"^{name} `{value}` " + ("" if what is None else f"is not a {what}$")
    with pytest.raises(ParameterError, match=said):
        settings(**{name: value})


#: Sorts a table of keys under a limit that forbids files, and tells whether it needed one.
LIMITED = """
import resource, sys
import lookalike as la
from lookalike.deduplication import job
def forbid(stage, done, total):
    if stage == job.DECIDING:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
texts = [f"{i} stands alone in row {i} of {i}" for i in range(30_000)]
try:
    la.dedup(texts, memory=sys.argv[1], progress=forbid)
except OSError:
    print("files")
else:
    print("memory")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of files here")
@pytest.mark.parametrize(("memory", "place"), [("16MiB", "files"), ("64MiB", "memory")])
def test_the_table_of_keys_takes_a_quarter_of_the_memory(tmp_path: Path, memory: str, place: str):
    """30,000 rows have keys of 8.6 MB: more than a quarter of 16 MiB, less than a quarter of 64 MiB."""
    found = settings(memory=memory).filter
    assert found is not None
    assert 2**24 // 4 < 30_000 * found.k * 16 < 2**26 // 4
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, memory], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert ran.stdout.split() == [place]
