"""A deduplication hears an interrupt while it compares, and leaves no file behind."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

from lookalike.deduplication import settings
from lookalike.deduplication.reading import open_core
from support.children import PATIENCE

#: Interrupts itself while the core compares: a thread that needs the GIL to send the signal, and that nobody gives it
#: before the core releases it. 3,000 texts that nearly reach the threshold with each other take seconds to compare.
#: Prints how the call into the core ended, by an exception or with an answer.
CHILD = """
import _thread, os, signal, sys
import lookalike as la

signal.signal(signal.SIGINT, signal.default_int_handler)
ended = []

def profile(frame, event, called):
    if event in ("c_return", "c_exception") and called.__name__ == "decide":
        ended.append(event)

def tell(phase, done, total):
    if phase == "comparing":
        sys.setswitchinterval(1000)
        _thread.start_new_thread(os.kill, (os.getpid(), signal.SIGINT))
        sys.setprofile(profile)

common = " ".join(f"c{number}" for number in range(200))
texts = [f"{common} " + " ".join(f"u{row}x{number}" for number in range(30)) for row in range(3000)]
try:
    la.dedup(texts, recall=1, progress=tell)
except KeyboardInterrupt:
    print(*ended)
"""


def test_an_interrupt_is_heard_while_the_core_compares(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={"TMPDIR": str(tmp_path)},
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("c_exception", "")
    assert list(tmp_path.iterdir()) == []


def test_files_of_a_second_decision_are_gone(tmp_path: Path):
    """The same corpus is decided and its pairs are listed twice, with keys that do not fit into memory."""
    rng = random.Random(1)
    asked = settings.settings()
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        core = open_core(asked, folder)
        core.push_texts([" ".join(rng.choices("abcdefgh", k=30)) for _ in range(300)], None)
        small = (*asked.arguments(None)[:6], 100, None, asked.limits)
        for _ in range(2):
            core.decide(small)
            assert list(Path(folder).iterdir()) == []
            pairs = core.pairs(small)
            assert len(list(Path(folder).iterdir())) == 1
            del pairs
            assert list(Path(folder).iterdir()) == []


#: Runs the command, and interrupts it when it loads its first module of the command line.
LOADING = """
import runpy, sys
import lookalike
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "lookalike.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
runpy.run_module("lookalike", run_name="__main__")
"""


def test_an_interrupt_while_modules_are_loaded_exits_130():
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "lookalike: interrupted\n")
