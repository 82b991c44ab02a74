"""Days of `dedup --index --add` with a kill at any step: every row is delivered exactly once.

The oracle is outside of the index: one `dedup` of all days, in the order in which they were delivered. The driver knows
only what a user knows: which outputs are there. A day whose output is missing is run again, at once or after the next.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.archive.delivering import Pending, is_held
from lookalike.corpora.journal import Renames
from lookalike.corpora.staging import Staging
from lookalike.engines.writing import WriteError
from support.children import PATIENCE
from support.days import cut, lines, low_entropy, unchanged

DAYS = ["monday", "tuesday", "wednesday"]
#: Runs a day, and kills itself before the step with a number: a commit, a rename, a removal of a file or folder. A
#: negative number stands for the moment after the decision, before the first rename.
CHILD = """
import os, shutil, signal, sys
sys.path[:0] = [{here!r}, {tests!r}]
from test_delivered_once import a_day
from lookalike.archive.catalogue import Catalogue
from lookalike.corpora.journal import Renames

left = {left}

def stepwise(owner, name):
    whole = getattr(owner, name)
    def call(*given, **named):
        global left
        if not left or (left < 0 and owner is Renames):
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return whole(*given, **named)
    setattr(owner, name, call)

for owner, name in ((Catalogue, "apply"), (os, "replace"), (os, "rename"), (os, "unlink"), (shutil, "rmtree")):
    stepwise(owner, name)
if left < 0:
    stepwise(Renames, "do")
a_day({day!r}, **{more!r})
"""


def a_day(day: str, **more: Any) -> Any:
    """Deduplicate a day, with its rows, a table and a ledger as outputs."""
    tables = {"clusters": f"out/{day}.csv", "ledger": f"out/{day}.ledger.jsonl"}
    return la.dedup(Path(f"{day}.jsonl"), index="index", add=True, out=f"out/{day}.jsonl", **tables, **more)


def is_killed(day: str, left: int, **more: Any) -> bool:
    """Run a day in a process that is killed; tell whether it was, before it ended by itself."""
    here = Path(__file__).parent
    code = CHILD.format(here=str(here), tests=str(here.parent), left=left, day=day, more=more)
    # What other processes leave in the common folder for temporary files must not count as steps.
    own = {**os.environ, "TMPDIR": str(Path.cwd())}
    done = subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode != 0


def prepared(folder: Path) -> Path:
    """Make three days with many copies of each other's rows, and an index after the first."""
    rng = random.Random(5)
    folder.mkdir()
    (folder / "out").mkdir()
    for number, (day, texts) in enumerate(zip(DAYS, cut(rng, low_entropy(rng, 90), 3), strict=True)):
        (folder / f"{day}.jsonl").write_bytes(lines(rng, texts, 100 * number, bad=0))
    la.Index.create(folder / "index", kind="corpus", shingle=2, filter=(6, 2, 1), threshold=0.6).close()
    os.chdir(folder)
    a_day(DAYS[0])
    return folder


def delivered(days: list[str]) -> list[bytes]:
    return [Path(f"out/{day}.jsonl").read_bytes() for day in days]


def at_once(days: list[str]) -> list[bytes]:
    """The kept rows of one deduplication of all days in this order, by day."""
    shutil.rmtree("whole", ignore_errors=True)
    how: dict[str, Any] = {"shingle": 2, "filter": (6, 2, 1), "threshold": 0.6}
    la.dedup([Path(f"{day}.jsonl") for day in days], out="whole/", **how)
    return [Path(f"whole/{day}.jsonl").read_bytes() for day in days]


def is_complete(day: str) -> bool:
    return all(Path(f"out/{day}{ending}").exists() for ending in (".jsonl", ".csv", ".ledger.jsonl"))


def check_end(days: list[str]) -> None:
    """Every row of the oracle is delivered, once; nothing is left over, and the index knows it."""
    assert delivered(days) == at_once(days)
    with la.Index("index") as index, index.snapshot() as view:
        assert (view.state.run, view.state.outputs) == ("", "")
        assert index.check() == []
    assert not list(Path("out").glob(".lookalike-*/journal"))


def state_of() -> str:
    with la.Index("index") as index, index.snapshot() as view:
        return "decided" if view.state.outputs else "running" if view.state.run else ""


def test_a_day_that_is_killed_is_delivered_exactly_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    folder = prepared(tmp_path / "days")
    seen, was_killed, left = set(), True, 0
    while was_killed:
        for is_repeated in (True, False):
            with unchanged(folder):
                was_killed = is_killed(DAYS[1], left)
                state = state_of()
                seen.add((state, len(list(Path("out").glob(f"{DAYS[1]}*")))))
                is_decided = state == "decided" or (not state and is_complete(DAYS[1]))
                if is_repeated and was_killed and (state or not is_complete(DAYS[1])):
                    # A user repeats the same command, without --overwrite, until it ends well.
                    a_day(DAYS[1])
                a_day(DAYS[2])
                assert is_complete(DAYS[1]) or not is_decided, left
                days = DAYS
                if not is_complete(DAYS[1]):
                    a_day(DAYS[1])
                    days = [DAYS[0], DAYS[2], DAYS[1]]
                check_end(days)
        left += 1
    assert {("running", 0), ("decided", 0), ("decided", 1), ("decided", 2), ("decided", 3), ("", 3)} <= seen
    assert not {("running", number) for number in (1, 2, 3)} & seen


def test_a_run_that_is_killed_while_it_completes_an_earlier_one(decided: Pending):
    """The third day is killed at each step, also at those of completing the second: nothing is lost or repeated."""
    folder, was_killed, left = Path.cwd(), True, 0
    while was_killed:
        with unchanged(folder):
            was_killed = is_killed(DAYS[2], left)
            if not is_complete(DAYS[2]):
                a_day(DAYS[2])
            assert is_complete(DAYS[1])
            # Whatever was decided and not completed is completed by the next run; this one has only known rows.
            Path("thursday.jsonl").write_bytes(Path(f"{DAYS[0]}.jsonl").read_bytes())
            assert len(a_day("thursday").gone)
            check_end(DAYS)
        left += 1
    assert left > 8


@pytest.fixture
def decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pending:
    """A day that was decided, none of whose outputs has its name."""
    monkeypatch.chdir(tmp_path)
    prepared(tmp_path / "days")
    assert is_killed(DAYS[1], -1)
    with la.Index("index") as index, index.snapshot() as view:
        return Pending.of(view.state.outputs)


def documents() -> tuple[list[str], str]:
    with la.Index("index") as index, index.snapshot() as view:
        return [one.id for one in index.documents()], view.state.outputs


def test_outputs_that_are_gone_are_told_and_nothing_goes_on(decided: Pending):
    for folder in decided.folders:
        shutil.rmtree(folder)
    before = documents()
    with pytest.raises(WriteError, match=r"rows of it are in `index`.*is gone or cannot be read.*--earlier-run lost"):
        a_day(DAYS[2])
    assert not is_complete(DAYS[2])
    assert documents() == before
    # The same day again writes its outputs anew.
    a_day(DAYS[1])
    a_day(DAYS[2])
    check_end(DAYS)


@pytest.mark.parametrize("fate", ["delivered", "lost"])
def test_a_user_says_what_became_of_outputs_that_are_gone(decided: Pending, fate: str):
    for folder in decided.folders:
        shutil.rmtree(folder)
    answer = a_day(DAYS[2], earlier_run=fate)
    if fate == "delivered":
        assert any("stay in `index`" in note for note in answer.notes)
        assert delivered([DAYS[2]]) == at_once(DAYS)[2:]
        return
    assert any("are taken back" in note for note in answer.notes)
    a_day(DAYS[1])
    check_end([DAYS[0], DAYS[2], DAYS[1]])


def test_what_is_said_of_earlier_outputs_has_no_effect_if_they_are_there(decided: Pending):
    answer = a_day(DAYS[2], earlier_run="lost")
    assert any("complete now" in note for note in answer.notes)
    assert any("--earlier-run has no effect" in note for note in answer.notes)
    check_end(DAYS)
    with pytest.raises(la.ParameterError, match="earlier_run `gone` is unknown: use delivered or lost"):
        a_day(DAYS[2], earlier_run="gone")
    with pytest.raises(la.ParameterError, match="earlier_run=… has no effect without add=True"):
        la.dedup(["a"], index="index", earlier_run="lost")


def test_a_name_that_was_taken_meanwhile_is_told_and_not_replaced(decided: Pending):
    Path(f"out/{DAYS[1]}.csv").write_bytes(b"somebody's")
    with pytest.raises(WriteError, match=rf"{DAYS[1]}.csv` cannot be written: exists already: move it away"):
        a_day(DAYS[2])
    assert Path(f"out/{DAYS[1]}.csv").read_bytes() == b"somebody's"
    Path(f"out/{DAYS[1]}.csv").unlink()
    a_day(DAYS[2])
    check_end(DAYS)


def test_a_folder_that_is_elsewhere_is_waited_for(decided: Pending):
    """A disk that is not mounted: after it is back, the next run completes the outputs."""
    Path("out").rename("elsewhere")
    Path("out").mkdir()
    with pytest.raises(WriteError, match="is gone or cannot be read"):
        a_day(DAYS[2])
    Path("out").rmdir()
    Path("elsewhere").rename("out")
    a_day(DAYS[2])
    check_end(DAYS)


def test_a_folder_that_cannot_be_written_is_told(decided: Pending, monkeypatch: pytest.MonkeyPatch):
    whole = os.replace

    def refused(source: str, target: str) -> None:
        if DAYS[1] in str(target):
            raise PermissionError(13, "Permission denied", source, None, target)
        whole(source, target)

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(WriteError, match=rf"{DAYS[1]}[^`]*` cannot be written: Permission denied. Mend that, or run"):
        a_day(DAYS[2])
    monkeypatch.setattr(os, "replace", whole)
    a_day(DAYS[2])
    check_end(DAYS)


def test_a_moved_index_completes_its_outputs(decided: Pending):
    Path("index").rename("moved")
    for folder in decided.folders:
        known = Renames.read(folder)
        assert known is not None
        assert is_held(known.holder or {}, folder), "an index that cannot be read may need them"
    Path("moved").rename("index")
    a_day(DAYS[2])
    check_end(DAYS)


def test_other_commands_leave_decided_outputs_alone(decided: Pending):
    """Whatever writes to the same folder removes the hidden folders of killed processes, but not these."""
    la.dedup(Path(f"{DAYS[0]}.jsonl"), out="out/other.jsonl")
    with Staging() as staging:
        staging.check("out/another.csv")
    assert all(map(os.path.isdir, decided.folders))
    answer = la.dedup(Path(f"{DAYS[2]}.jsonl"), index="index")
    assert any("its rows are considered as kept" in note for note in answer.notes)
    a_day(DAYS[2])
    check_end(DAYS)


def test_a_backup_and_a_repair_keep_what_was_decided(decided: Pending):
    with la.Index("index") as index:
        index.backup("copy")
    with la.Index("copy") as index, index.snapshot() as view:
        assert Pending.of(view.state.outputs) == decided
    a_day(DAYS[2])
    check_end(DAYS)


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told | {"holder": None},
        lambda told: told | {"holder": {"index": "index", "uuid": "0" * 32}},
        lambda told: told | {"moves": dict.fromkeys(told["moves"], "/tmp/elsewhere")},
        lambda told: told | {"moves": {draft: f"{target}/../../../x" for draft, target in told["moves"].items()}},
        lambda told: told | {"moves": {"/etc/hostname": next(iter(told["moves"].values()))}},
        lambda told: told | {"moves": 5},
        lambda told: [],
    ],
)
def test_renames_that_this_index_did_not_decide_are_not_done(decided: Pending, change: Any):
    """The folder of an index may come from a stranger; see the head of `delivering.py`."""
    for folder in decided.folders:
        journal = Path(folder) / "journal"
        journal.write_text(json.dumps(change(json.loads(journal.read_text()))))
    with pytest.raises(WriteError, match="is gone or cannot be read"):
        a_day(DAYS[2])
    assert not list(Path("out").glob(f"{DAYS[1]}*"))
