"""Build the fuzz targets with coverage and AddressSanitizer, replay their corpora, then fuzz each for a while.

libFuzzer does the work; the stable compiler is asked for the instrumentation that `cargo fuzz` takes from nightly.
With ``--executions N`` each target runs in rounds until it has executed N inputs since it was last built. The counts
are kept after every round, so a run that was stopped continues where it was. Exits 1 when a target fails; skips with a
reason where the machine cannot build libFuzzer (no C++ compiler, not Linux).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "target" / "fuzz"
TARGETS = ("decoder", "text", "schemes", "code", "matching", "rows", "near", "table", "segment", "stored")
TRIPLE = "x86_64-unknown-linux-gnu"
SEED = 2003
#: Seconds of one round with ``--executions``: at most this much is lost when the run is stopped.
ROUND = 30
#: Bytes of the longest input, for targets whose cost depends on it: error recovery of a parser, definitions
#: that compare everything with everything, three front ends per text. What goes wrong there does so in a few lines.
MOST_BYTES_OF = {"code": 256, "decoder": 512, "matching": 512, "schemes": 1024, "text": 512}
#: A file of tables with two blocks of keys is longer than others.
MOST_BYTES_OF["table"] = 4096
#: A segment has twelve tables.
MOST_BYTES_OF["segment"] = 8192
#: Bytes of the longest input of all others.
MOST_BYTES = 2048
FLAGS = [
    "--cfg=fuzzing",
    "-Zsanitizer=address",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions=yes",
    "-Coverflow-checks=yes",
]


def obstacle() -> str | None:
    """Say why fuzzing cannot be done here, if it cannot."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return f"the sanitizers are set up for Linux on x86-64, this is {platform.system()} on {platform.machine()}"
    if not (shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")):
        return "libFuzzer is C++ and there is no C++ compiler"
    return None


def build() -> None:
    """Build all targets; host tools such as build scripts stay uninstrumented because a target triple is named."""
    environment = os.environ | {
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": " ".join(FLAGS),
        "CARGO_TARGET_DIR": str(BUILD),
    }
    command = ["cargo", "build", "--quiet", "--profile", "fuzzing", "-p", "lookalike-fuzz", "--target", TRIPLE]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def fuzz(target: str, seconds: int, seed: int = SEED) -> tuple[bool, int]:
    """Replay the seeds of a target, then mutate; return whether nothing was found, and the number of inputs."""
    corpus = BUILD / "corpus" / target
    artifacts = ROOT / "fuzz" / "artifacts" / target
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    command = [
        str(binary(target)),
        str(corpus),
        str(ROOT / "fuzz" / "corpus" / target),
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-artifact_prefix={artifacts}/",
        f"-max_len={MOST_BYTES_OF.get(target, MOST_BYTES)}",
        # Parsers and pools keep memory from one input to the next, which looks like a leak: the search for leaks after
        # such inputs took more than half of the time. It is still made when the program ends.
        "-detect_leaks=0",
        "-timeout=10",
        "-rss_limit_mb=1024",
        "-print_final_stats=1",
        "-verbosity=0",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    runs = int(next((line.split()[-1] for line in done.stdout.splitlines() if "number_of_executed_units" in line), "0"))
    outcome = "failed" if done.returncode else "no failure"
    print(f"fuzz {target}: {runs:,} inputs in {seconds} s, {outcome}", flush=True)
    if done.returncode:
        print(done.stdout[-4000:])
    return done.returncode == 0, runs


def binary(target: str) -> Path:
    """Return the built program of a target."""
    return BUILD / TRIPLE / "fuzzing" / target


def fuzz_until(target: str, executions: int) -> bool:
    """Fuzz a target in rounds until this build of it has executed so many inputs; whether nothing was found."""
    count_file = BUILD / "executions" / f"{target}.json"
    build = hashlib.sha256(binary(target).read_bytes()).hexdigest()
    known = json.loads(count_file.read_text()) if count_file.exists() else {}
    count, rounds = (known["count"], known["rounds"]) if known.get("build") == build else (0, 0)
    while count < executions:
        is_sound, runs = fuzz(target, ROUND, SEED + rounds)
        if not is_sound:
            return False
        count, rounds = count + runs, rounds + 1
        count_file.parent.mkdir(parents=True, exist_ok=True)
        count_file.write_text(json.dumps({"build": build, "count": count, "rounds": rounds}))
    print(f"fuzz {target}: {count:,} inputs in all, no failure", flush=True)
    return True


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="how long to fuzz each target")
    parser.add_argument("--executions", type=int, help="fuzz each target until it has executed this many inputs")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    options = parser.parse_args()
    if why := obstacle():
        print(f"fuzz: skipped: {why}")
        return 0
    print("fuzz: building the instrumented core (a minute the first time)", flush=True)
    build()
    # A target runs on one core.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        if options.executions is not None:
            return 0 if all(pool.map(lambda target: fuzz_until(target, options.executions), options.targets)) else 1
        return (
            0 if all(is_sound for is_sound, _ in pool.map(lambda t: fuzz(t, options.seconds), options.targets)) else 1
        )


if __name__ == "__main__":
    sys.exit(main())
