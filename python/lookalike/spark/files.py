"""Tables from and to the places that Spark knows: Parquet, JSON Lines, CSV, files of text, and tables by name.

A place is a file, a folder or a pattern on any file system that Spark has, or ``table:NAME``. Outputs are folders of
part files; Spark's own commit makes them complete or leaves no ``_SUCCESS`` in them. Lines of JSON and records of CSV
that cannot be parsed are left out, and listed by file. A file of text is one document, and its path is its id.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from lookalike._types import Problem, counted
from lookalike.corpora.arrays import USUAL_ID
from lookalike.errors import ParameterError
from lookalike.spark.keeping import step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Formats by the suffix of a name, after a suffix of compression.
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".txt": "text",
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".snappy", ".lz4")
#: Suffixes of what only the local engine reads.
_ELSEWHERE = (".tsv", ".warc", ".mbox", ".eml", ".html", ".htm", ".pdf", ".docx", ".ipynb", ".xz", ".zip", ".tar")
#: What a table by name begins with.
TABLE = "table:"
#: The column where Spark puts a line that it cannot parse, and the one for the file it is in.
_CORRUPT, _FILE = "_corrupt_record", "lookalike file"
#: Files with such lines that are listed, and characters of the line that is shown of each.
LISTED, _SHOWN = 100, 60
#: The formats that are read here.
FORMATS = ("parquet", "jsonl", "csv", "text")


class Input(NamedTuple):
    """Rows, the format that outputs get, and what could not be read."""

    rows: DataFrame
    format: str
    problems: list[Problem]


def format_of(path: str, asked: str | None) -> str:
    """Return the format of a place: the one asked for, or by its name; a folder without a suffix is Parquet.

    Errors: ``ParameterError`` for a format that Spark does not read here.

    >>> format_of("corpus/*.jsonl.gz", None), format_of("hdfs://a/corpus", None), format_of("table:corpus", None)
    ('jsonl', 'parquet', 'parquet')
    """
    if asked is not None:
        if asked not in FORMATS:
            raise ParameterError(f"format `{asked}` is not read by engine spark: use {', '.join(FORMATS)}")
        return asked
    name = path.rstrip("/").rpartition("/")[2]
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    if suffix in _ELSEWHERE:
        raise ParameterError(f"`{path}` is of a format that engine spark does not read: use {', '.join(FORMATS)}")
    return _SUFFIXES.get(suffix, "parquet")


def read(spark: SparkSession, paths: Sequence[str], asked: str | None, text_column: str = "text") -> Input:
    """Return the rows of all places as one table. Errors: ``ParameterError``, and those of Spark."""
    kind = _one_format(paths, asked)
    tables = [path.removeprefix(TABLE) for path in paths if path.startswith(TABLE)]
    if tables:
        if len(tables) < len(paths):
            raise ParameterError("tables and files cannot be combined: give one kind of input")
        rows = spark.table(tables[0])
        for name in tables[1:]:
            rows = rows.unionByName(spark.table(name))
        return Input(rows, "parquet", [])
    return _READERS[kind](spark, list(paths), text_column)


def _one_format(paths: Sequence[str], asked: str | None) -> str:
    """Return the format of all places. Errors: ``ParameterError`` if there are several."""
    kinds = sorted({format_of(path, asked) for path in paths})
    if len(kinds) > 1:
        raise ParameterError(f"the inputs have several formats ({', '.join(kinds)}): name one with --format")
    return kinds[0]


def _parquet(spark: SparkSession, paths: list[str], _text: str) -> Input:
    return Input(spark.read.parquet(*paths), "parquet", [])


def _csv(spark: SparkSession, paths: list[str], _text: str) -> Input:
    """Read records of CSV; all files must have the columns of the first, in its order."""
    reader = spark.read.options(header=True, multiLine=True, quote='"', escape='"', enforceSchema=False)
    plain = reader.csv(paths)
    marked = reader.option("columnNameOfCorruptRecord", _CORRUPT).schema(plain.schema.add(_CORRUPT, "string"))
    rows, problems = _parsed(marked.csv(paths), "has more or fewer fields than the header")
    return Input(rows if problems else plain, "csv", problems)


def _jsonl(spark: SparkSession, paths: list[str], _text: str) -> Input:
    found = spark.read.option("columnNameOfCorruptRecord", _CORRUPT).json(paths)
    rows, problems = _parsed(found, "is not a JSON object") if _CORRUPT in found.columns else (found, [])
    return Input(rows, "jsonl", problems)


def _parsed(found: DataFrame, reason: str) -> tuple[DataFrame, list[Problem]]:
    """Return the rows that were parsed, and the others as problems: one per file, at most ``LISTED``."""
    from pyspark.sql import functions as sql

    source = found.metadataColumn("_metadata")["file_path"]
    # Spark refuses to read the column of bad lines alone, unless it is kept.
    bad = found.withColumn(_FILE, source).where(found[_CORRUPT].isNotNull()).cache()
    start = sql.min(sql.substring(_CORRUPT, 1, _SHOWN))
    files = bad.groupBy(_FILE).agg(sql.count("*"), start).orderBy(_FILE).limit(LISTED).collect()
    problems = [
        Problem(file, "", f"{counted(rows, 'line')} left out; `{line}` {reason}", rows) for file, rows, line in files
    ]
    if rest := bad.count() - sum(one.rows for one in problems):
        problems.append(Problem("other files", "", f"{counted(rest, 'line')} left out", rest))
    bad.unpersist()
    return found.where(found[_CORRUPT].isNull()).drop(_CORRUPT), problems


def _text(spark: SparkSession, paths: list[str], text: str) -> Input:
    """Read files as documents. Their part files would lose where one ends, so outputs are JSON Lines."""
    from pyspark.sql import functions as sql

    found = spark.read.text(paths, wholetext=True)
    return Input(found.select(sql.col("_metadata.file_path").alias(USUAL_ID), found["value"].alias(text)), "jsonl", [])


_READERS = {"parquet": _parquet, "jsonl": _jsonl, "csv": _csv, "text": _text}


def write(rows: DataFrame, out: str, format: str, *, overwrite: bool) -> None:
    """Write rows as a folder of part files, or as a table. Errors: those of Spark; an output that exists is one."""
    writer = rows.write.mode("overwrite" if overwrite else "error")
    with step(rows, "write"):
        if out.startswith(TABLE):
            writer.saveAsTable(out.removeprefix(TABLE))
        elif format == "csv":
            writer.options(header=True, quote='"', escape='"').csv(out)
        else:
            writer.format("json" if format == "jsonl" else format).save(out)


def check_new(spark: SparkSession, outputs: Sequence[str]) -> None:
    """Errors: ``FileExistsError`` for an output that is there, before a job is run for it."""
    from pyspark.errors import AnalysisException

    for one in outputs:
        if one.startswith(TABLE):
            is_there = spark.catalog.tableExists(one.removeprefix(TABLE))
        else:
            try:
                # Only the names of files are read.
                spark.read.text(one)
                is_there = True
            except AnalysisException as error:
                is_there = error.getCondition() != "PATH_NOT_FOUND"
        if is_there:
            raise FileExistsError(errno.EEXIST, "exists already: choose another, or use --overwrite", one)


def check_places(inputs: Sequence[str], outputs: Sequence[str], asked: str | None) -> None:
    """Check places before Spark starts.

    Errors: ``ParameterError`` for standard input and output, an output that is an input or named twice, and a format
    that is not read here.
    """
    if "-" in inputs:
        raise ParameterError("engine spark reads no standard input: give files, folders or tables")
    _one_format(inputs, asked)
    if "-" in outputs:
        raise ParameterError("engine spark writes folders, not standard output: give a folder with --out")
    bare = [one.rstrip("/") for one in outputs]
    taken = {one.rstrip("/") for one in inputs}
    for number, one in enumerate(bare):
        if one in taken or one in bare[:number]:
            raise ParameterError(f"`{one}` cannot be written, it is read or written already: choose another folder")
