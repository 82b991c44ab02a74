"""Both engines on the same rows: the full matrix of methods, clusterings and keep rules, skewed corpora, and MLlib.

    python -m bench.engines matrix --rows 100000          # every case, on generated near-duplicates
    python -m bench.engines matrix --corpus texts.zip     # or on the texts of a zip file, or of gzipped JSON Lines
    python -m bench.engines matrix --only minhash         # or only the cases of which the name has this
    python -m bench.engines skew                          # a crowded key, a large cluster, identical texts, a chain
    python -m bench.engines mllib --rows 20000            # beside MinHashLSH of MLlib, on the same cluster
    python -m bench.engines growth --rows 100000          # marginal CPU up to four times the rows, beside one machine
    python -m bench.engines memory --rows 100000          # one job with executors of 1 GiB: the most memory they had
    python -m bench.engines component --rows 40000        # edges of one component above the 512 MiB of an executor
    python -m bench.engines workers --rows 100000         # two workers beside one, each with 0.8 of a core

Every line says whether the bytes are equal, and the CPU seconds of both engines; those of Spark are of all its
processes. Rows go to the cluster and come back in files: the driver takes no more than 16 MiB of results. If one case
is not equal, the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import itertools
import json
import random
import shutil
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import lookalike as la
import lookalike.spark as las
from bench import duplicates
from bench.cluster_costs import Watch, write_rows
from bench.shares import held
from tests.support import engines
from tests.support.cluster import Cluster, missing, session
from tests.support.generated import Row

PARTITIONS = (1, 2, 7, 200)
#: A session as large jobs have it: compiled well, unlike that of the tests.
WARM = {"spark_executor_extraJavaOptions": "-XX:+UseSerialGC", "spark_sql_shuffle_partitions": "8"}
#: What each of two workers has of a core, if they are compared with one, and so many tasks that the last one of a stage
#: is short.
SHARE, TASKS = 0.8, 32
EVEN = {"spark_sql_shuffle_partitions": str(TASKS)}


def rows_of(texts: Sequence[str | None]) -> list[Row]:
    """Rows with ids in order, and numbers with ties."""
    return [
        {"id": place, "text": text, "number": float(place * 7919 % 5), "name": f"{place:09d}"}
        for place, text in enumerate(texts)
    ]


def texts_in(corpus: Path) -> list[str | None]:
    """Texts of a zip file, in the order of their names, or of the column `text` of gzipped JSON Lines."""
    if corpus.suffix == ".zip":
        with zipfile.ZipFile(corpus) as files:
            return [files.read(name).decode(errors="replace") for name in sorted(files.namelist())]
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def skewed() -> Iterator[tuple[str, list[str | None]]]:
    """Corpora that are hard to divide."""
    draw = random.Random(3)
    words = [f"w{number}" for number in range(20_000)]
    common = draw.choices(words, k=100)
    own = lambda count: draw.choices(words, k=count)  # noqa: E731
    held = [" ".join([*common, *own(40)] if draw.random() < 0.3 else own(100)) for _ in range(30_000)]
    yield "one key in 30 % of 30,000", list(held)
    yield "one cluster of 20,000", alike(20_000)
    yield "50,000 identical", [" ".join(own(150))] * 50_000
    chain = own(10_400)
    yield "a chain of 10,000", [" ".join(chain[place : place + 400]) for place in range(10_000)]


def alike(rows: int) -> list[str | None]:
    """Texts of one cluster: each has a word of its own at the end."""
    one = random.Random(4).choices([f"w{number}" for number in range(20_000)], k=149)
    return [" ".join([*one, f"x{place}"]) for place in range(rows)]


def matrix() -> Iterator[tuple[dict[str, Any], bool]]:
    """Every case."""
    choices = (
        ("minhash", "exact", "containment", "simhash"),
        ("star", "components"),
        ("first", "longest", "max:number"),
    )
    for (method, clustering, keep), is_against in itertools.product(itertools.product(*choices), (False, True)):
        if method == "containment" and is_against and (clustering, keep) != ("star", "first"):
            continue
        yield {"method": method, "clustering": clustering, "keep": keep}, is_against


class Run:
    """A cluster, a session, and what they are asked."""

    def __init__(self, spark: Any, watch: Watch, folder: Path) -> None:
        self.spark, self.watch, self.failed = spark, watch, 0
        self.folder, self._files = folder, itertools.count()

    def _place(self) -> Path:
        return self.folder / f"{next(self._files)}.parquet"

    def frame(self, rows: Sequence[Row], partitions: int) -> Any:
        """Rows as a DataFrame that is read from a file."""
        import pyarrow as pa

        return self.table(pa.Table.from_pylist(list(rows), schema=engines.KINDS)).repartition(partitions)

    def table(self, rows: Any) -> Any:
        """An Arrow table as a DataFrame; Spark reads the file in as many parts as it likes."""
        place = self._place()
        write_rows(rows, place)
        return self.spark.read.parquet(str(place))

    def rows_of(self, table: Any) -> list[tuple[Any, ...]]:
        """Rows of a table by way of files."""
        import pyarrow.parquet as pq

        place = self._place()
        table.write.parquet(str(place))
        found = pq.read_table(place)
        shutil.rmtree(place)
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def compare(
        self, name: str, rows: list[Row], references: list[Row] | None, partitions: int, **chosen: Any
    ) -> float:
        """Ask both engines, and print what they took. Returns the CPU seconds of the cluster."""
        began = time.process_time()
        expected = engines.local(rows, references, **chosen)
        alone = time.process_time() - began
        frame = self.frame(rows, partitions)
        against = None if references is None else self.frame(references, 2)

        def asked() -> dict[str, Any]:
            with las.dedup(frame, against=against, **chosen) as answer:
                return engines.cluster(answer, rows_of=self.rows_of)

        is_equal = self.watch.step(name, asked) == expected
        self.failed += not is_equal
        cpu = self.watch.steps[name]["cpu"]
        told = "equal" if is_equal else "NOT EQUAL"
        print(f"{name}: {told}; removed {len(expected['removed']):,}; CPU {cpu:.1f} s, local {alone:.1f} s", flush=True)
        return cpu


def cleaned(frame: Any) -> int:
    """Deduplicate on the cluster, read every kept row, and return how many there are."""
    with las.dedup(frame) as answer:
        answer.kept.write.format("noop").mode("overwrite").save()
        return int(answer.summary["kept"])


def compare_with_mllib(run: Run, count: int) -> None:
    """Ask MLlib for the same pairs, with as many hash functions as the sketch has bands.

    The expected answer is that of one machine: rows kept, and pairs. MLlib counts pairs that hash tables propose.
    """
    import pyarrow.parquet as pq
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer

    place = duplicates.file(count, "parquet")
    table = pq.read_table(place)
    frame = run.table(table)

    def joined(rows: Any) -> int:
        tokens = RegexTokenizer(inputCol="text", outputCol="words").transform(rows)
        shingles = NGram(n=5, inputCol="words", outputCol="shingles").transform(tokens)
        vectors = HashingTF(inputCol="shingles", outputCol="vector", binary=True).transform(shingles).cache()
        model = MinHashLSH(inputCol="vector", outputCol="hashes", numHashTables=18, seed=1).fit(vectors)
        found = model.approxSimilarityJoin(vectors, vectors, 0.2).where("datasetA.id < datasetB.id").count()
        vectors.unpersist()
        return int(found)

    def cost(name: str, work: Callable[[Any], int], expected: int, what: str) -> tuple[int, float]:
        work(run.table(table.slice(0, 2000)))
        found = run.watch.step(name, lambda: work(frame))
        cpu = float(run.watch.steps[name]["cpu"])
        print(f"{name}, {count:,} rows: {found:,} {what}, on one machine {expected:,}; CPU {cpu:.1f} s", flush=True)
        return found, cpu

    alone = la.dedup(place)
    kept, own = cost("lookalike", cleaned, count - len(alone.gone), "rows kept")
    run.failed += kept != count - len(alone.gone)
    _, theirs = cost("MLlib MinHashLSH", joined, sum(1 for _ in alone.pairs()), "pairs")
    print(f"MLlib takes {theirs / own:.1f} times our CPU", flush=True)


def grow(run: Run, rows: int) -> None:
    """Deduplicate a corpus and one four times as large, on the cluster and on one machine."""
    import pyarrow.parquet as pq

    # The smaller corpus once before: what Java compiles by then is in neither measurement.
    cleaned(run.table(pq.read_table(duplicates.file(rows, "parquet"))))
    costs = []
    for count in (rows, 4 * rows):
        place, name = duplicates.file(count, "parquet"), f"{count:,} rows"
        began = time.process_time()
        answer = la.dedup(str(place), out=str(run.folder / f"local-{count}.parquet"))
        alone = time.process_time() - began
        frame = run.table(pq.read_table(place))
        kept = run.watch.step(name, lambda frame=frame: cleaned(frame))
        run.failed += kept != count - len(answer.gone)
        costs.append((run.watch.steps[name]["cpu"], alone))
        print(f"{name}: {kept:,} kept; CPU {costs[-1][0]:.1f} s, local {alone:.1f} s", flush=True)
    more = [(high - low) / (3 * rows) for low, high in zip(*costs, strict=True)]
    print(f"CPU of one more row: {1e6 * more[0]:.0f} µs, local {1e6 * more[1]:.0f} µs: {more[0] / more[1]:.1f} times")


def print_growth(steps: dict[str, Any], rows: int) -> None:
    """Print what one more row costs in each part."""
    low, high = list(steps.values())[-2:]
    for part in high["parts"]:
        cpu = [step["cpu_of_parts"].get(part, 0) for step in (low, high)]
        sent = [step["parts"].get(part, {}).get("shuffled", 0) for step in (low, high)]
        more = [(after - before) / (3 * rows) for before, after in (cpu, sent)]
        print(f"one more row, {part}: {1e6 * more[0]:.0f} µs, {more[1]:,.0f} bytes shuffled")


def print_peaks(run: Run, rows: list[Row], name: str) -> None:
    """Compare both engines, and print the most memory that the processes of the cluster had."""
    run.compare(name, rows, None, 8)
    most = {kind: f"{size / 2**20:,.0f} MiB" for kind, size in run.watch.steps[name]["peaks"].items()}
    print(f"{name}: most memory of an executor {most['executor']}, of a Python worker {most['python']}", flush=True)


def print_parts(steps: dict[str, Any]) -> None:
    """Print what Spark's log tells of each part of the steps."""
    for name, step in steps.items():
        for part, told in step.get("parts", {}).items():
            cpu, sent, spilled = step["cpu_of_parts"].get(part, 0), told["shuffled"] / 1e6, told["spilled"] / 1e6
            print(
                f"{name}, {part}: {told['tasks']:,.0f} tasks, CPU {cpu:.1f} s, of it {told['java']:.1f} s in tasks of "
                f"Java; {sent:,.1f} MB shuffled, {spilled:,.1f} MB spilled"
            )


def print_workers(count: int) -> int:
    """Print how much sooner two workers are done with ``3 * count`` more documents than one, by part.

    Each worker has ``SHARE`` of a core, so that the driver has the same room beside one and beside two. What an
    executor does once, such as compiling, is in the corpus of ``count`` documents and in the larger one, and falls out.
    """
    import pyarrow.parquet as pq

    sizes, kept = (count, 4 * count), dict[int, list[int]]()
    places = [duplicates.file(size, "parquet") for size in sizes]
    more: dict[int, dict[str, float]] = {}
    for workers in (1, 2):
        with running(Cluster(workers=workers, cores=1), "1g", SHARE, **EVEN) as run:
            frames = [run.table(pq.read_table(place)).repartition(TASKS) for place in places]
            run.watch.warm_up("", lambda frame=frames[0]: cleaned(frame))
            kept[workers] = [
                run.watch.step(str(size), lambda frame=frame: cleaned(frame))
                for size, frame in zip(sizes, frames, strict=True)
            ]
        # Spark's log is added to the steps when the session has ended.
        low, high = (run.watch.steps[str(size)] for size in sizes)
        more[workers] = {part: told["stages"] - low["parts"][part]["stages"] for part, told in high["parts"].items()}
        more[workers] |= {"all stages": sum(more[workers].values()), "the whole job": high["seconds"] - low["seconds"]}
    for part, one in more[1].items():
        two = more[2][part]
        print(f"{part}: {one:.1f} s more on one worker, {two:.1f} s on two: {one / two:.2f} times as fast", flush=True)
    return int(kept[1] != kept[2])


@contextlib.contextmanager
def running(cluster: Cluster, memory: str, share: float | None = None, **further: str) -> Iterator[Run]:
    """A session on a cluster, whose steps are told at the end; workers may be held to a share of a core."""
    try:
        workers = [worker.pid for worker in cluster.workers]
        with contextlib.nullcontext() if share is None else held(workers, share):
            watch = Watch(cluster)
            settings = watch.settings() | WARM | {"spark_executor_memory": memory} | further
            with session(cluster.url, cluster.folder / "driver", **settings) as spark:
                yield Run(spark, watch, cluster.folder)
            watch.complete({})
            print_parts(watch.steps)
            # Groups can be removed when their processes have ended.
            cluster.stop()
    finally:
        cluster.stop()


def main() -> int:
    """Run what was asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("matrix", "skew", "mllib", "growth", "memory", "component", "workers"))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    if reason := missing():
        print(f"bench.engines: skipped: {reason}")
        return 0
    if asked.what == "workers":
        return print_workers(asked.rows)
    with running(Cluster(), "512m" if asked.what == "component" else "1g") as run:
        _asked(run, asked)
    if asked.what == "growth":
        print_growth(run.watch.steps, asked.rows)
    return 1 if run.failed else 0


def _asked(run: Run, asked: argparse.Namespace) -> None:
    if asked.what == "mllib":
        return compare_with_mllib(run, asked.rows)
    if asked.what == "growth":
        return grow(run, asked.rows)
    if asked.what == "memory":
        rows = rows_of(duplicates.read(duplicates.file(asked.rows, "parquet")))
        return print_peaks(run, rows, f"{asked.rows:,} rows")
    if asked.what == "component":
        return print_peaks(run, rows_of(alike(asked.rows)), f"a component of {asked.rows:,} rows")
    if asked.what == "skew":
        for name, texts in skewed():
            if asked.only in name:
                run.compare(name, rows_of(texts), None, 7)
        return None
    texts = texts_in(asked.corpus) if asked.corpus else duplicates.read(duplicates.file(asked.rows, "parquet"))
    rows = rows_of(texts)
    for place, (chosen, is_against) in enumerate(matrix()):
        # Each value of every choice meets each number of partitions.
        partitions = PARTITIONS[(place // 2 + place) % len(PARTITIONS)]
        name = f"{' '.join(chosen.values())}{' against' if is_against else ''}, {partitions} partitions"
        if asked.only in name:
            run.compare(name, rows, rows[::10] if is_against else None, partitions, **chosen)
    return None


if __name__ == "__main__":
    sys.exit(main())
