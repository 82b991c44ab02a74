"""A loss of power at any moment: what was acknowledged is there, and the rest is there whole or not at all."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.archives import create, fast_folder, reopen, snapshot_of
from tests.support.power import CALLS, Disk
from tests.support.records import signed

ROOT = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("LOOKALIKE_TORTURE_SEED", "20261117"))
#: States per change.
CUTS = int(os.environ.get("LOOKALIKE_TORTURE_CUTS", "400"))
ACKNOWLEDGED = b"acknowledged"
CHILD = """
import os, sys
from pathlib import Path
from tests.support import archive_fault_child as child
from tests.support.archives import reopen

index = reopen(Path(sys.argv[2]))
class Open:
    def __enter__(self): return index
    def __exit__(self, *_): pass
child.reopen = lambda path: Open()
child.change(sys.argv[1], Path(sys.argv[2]))
os.write(1, b"acknowledged")
index.close()
"""

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not on this machine")


def traced(what: str, path: Path, log: Path) -> str:
    # The end of the list is for machines that do not know all names.
    calls = ",".join(f"?{call}" for call in CALLS)
    command = ["strace", "-f", "-qq", "-y", "-xx", "-s", "20000000", "-o", str(log), "-e", f"trace={calls}"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, sys.executable, "-c", CHILD, what, str(path)], cwd=ROOT, env=environment, capture_output=True
    )
    if done.returncode and b"ptrace" in done.stderr:
        pytest.skip("strace may not trace processes here")
    assert done.returncode == 0, done.stderr.decode()
    return log.read_text()


@pytest.mark.parametrize("what", ["add", "many", "remove", "compact", "purge"])
def test_every_state_that_a_power_cut_leaves_is_before_or_after_the_change(what: str):
    with fast_folder() as place:
        source, path = place / "source", place / "index"
        with create(source) as index:
            for number in range(14):
                index._add_records([signed(f"d{number}", f"some text {number}")])
            index.remove(["d2", "d13"])
        before = snapshot_of(source)
        for journal in source.glob("*-*"):
            if journal.name.startswith("catalog"):
                journal.unlink()
        shutil.copytree(source, path)
        log = traced(what, path, place / "log")
        after = snapshot_of(path)
        steps = sum(not written for _, written in Disk(source_as(path, source)).follow(log))
        assert steps > 5
        draw, disk = random.Random(f"{SEED} {what}"), Disk(source_as(path, source))
        is_sure, tried, seen = False, 0, set()
        for _, written in disk.follow(log):
            is_sure = is_sure or written == ACKNOWLEDGED
            for _ in range(max(1, CUTS // steps)):
                disk.cut(place / "cut", draw)
                found = snapshot_of(place / "cut")
                assert found == after or (found == before and not is_sure), f"{what}, state {tried}, seed {SEED}"
                if tried % 10 == 0:
                    with reopen(place / "cut") as index:
                        assert index.check() == []
                seen.add(found == after)
                shutil.rmtree(place / "cut")
                tried += 1
        assert is_sure
        assert before == after or seen == {False, True}


def source_as(path: Path, source: Path) -> Path:
    """The folder as it was before the change, under the path that the trace has."""
    shutil.rmtree(path)
    shutil.copytree(source, path)
    return path
