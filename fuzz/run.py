"""Build the fuzz targets with coverage and AddressSanitizer, replay their corpora, then fuzz each for a while.

libFuzzer does the work; the stable compiler is asked for the instrumentation that `cargo fuzz` takes from nightly.
Exits 1 when a target fails; skips with a reason where the machine cannot build libFuzzer (no C++ compiler, not Linux).
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "target" / "fuzz"
TARGETS = ("decoder", "text", "schemes", "code", "matching", "rows", "near")
TRIPLE = "x86_64-unknown-linux-gnu"
SEED = 2003
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


def fuzz(target: str, seconds: int) -> bool:
    """Replay the seeds of a target, then mutate; whether nothing was found."""
    corpus = BUILD / "corpus" / target
    artifacts = ROOT / "fuzz" / "artifacts" / target
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    command = [
        str(BUILD / TRIPLE / "fuzzing" / target),
        str(corpus),
        str(ROOT / "fuzz" / "corpus" / target),
        f"-max_total_time={seconds}",
        f"-seed={SEED}",
        f"-artifact_prefix={artifacts}/",
        "-max_len=2048",
        "-timeout=10",
        "-rss_limit_mb=1024",
        "-print_final_stats=1",
        "-verbosity=0",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    runs = next((line.split()[-1] for line in done.stdout.splitlines() if "number_of_executed_units" in line), "0")
    print(
        f"fuzz {target}: {int(runs):,} inputs in {seconds} s, {'failed' if done.returncode else 'no failure'}",
        flush=True,
    )
    if done.returncode:
        print(done.stdout[-4000:])
    return done.returncode == 0


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="how long to fuzz each target")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    options = parser.parse_args()
    if why := obstacle():
        print(f"fuzz: skipped: {why}")
        return 0
    print("fuzz: building the instrumented core (a minute the first time)", flush=True)
    build()
    # A target runs on one core.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda target: fuzz(target, options.seconds), options.targets))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
