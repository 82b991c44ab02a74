"""Tables from and to the places that Spark knows: Parquet, JSON Lines, CSV, files of text, and tables by name.

A place is a file, a folder or a pattern on any file system that Spark has, or ``table:NAME``. Outputs are folders of
part files; Spark's own commit makes them complete or leaves no ``_SUCCESS`` in them. No output may be, contain or lie
in an input or another output. Lines of JSON and records of CSV that cannot be parsed are left out, and listed by file.
A file of text is one document, and its path is its id.
"""

from __future__ import annotations

import errno
import functools
import operator
import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from lookalike._types import Problem, counted
from lookalike.corpora.arrays import USUAL_ID
from lookalike.errors import ParameterError
from lookalike.spark import places
from lookalike.spark.keeping import step
from lookalike.spark.places import TABLE
from lookalike.spark.plans import column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

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
#: What Spark calls the compressions that it writes.
_CODECS = {".gz": "gzip", ".bz2": "bzip2"}
#: Suffixes of what only the local engine reads.
_ELSEWHERE = (".tsv", ".warc", ".mbox", ".eml", ".html", ".htm", ".pdf", ".docx", ".ipynb", ".xz", ".zip", ".tar")
#: The column where Spark puts a line that it cannot parse, and the one for the file it is in. No input has such names.
_CORRUPT, _FILE = "lookalike line", "lookalike file"
#: Files with such lines that are listed, and characters of the line that is shown of each.
LISTED, _SHOWN = 100, 60
#: The formats that are read here.
FORMATS = ("parquet", "jsonl", "csv", "text")
#: How CSV is read and written, so that every value comes back as it was. ``_CSV_NULL`` is no value: it tells an empty
#: field, which is null, from "", which is an empty string.
_CSV = {"header": True, "quote": '"', "escape": '"'}
_CSV_NULL = "\ufdd0"
_CSV_IN = {**_CSV, "multiLine": True, "enforceSchema": False, "nullValue": _CSV_NULL, "emptyValue": ""}
_CSV_OUT = {**_CSV, "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False, "emptyValue": '""'}
#: What a byte order mark is in a text, and what Spark puts in place of bytes that are not UTF-8.
_MARK, _REPLACED = "\ufeff", "\ufffd"
#: Lines of JSON that are looked at for several values before all are read.
_FIRST = 20


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
    suffix = _suffix(path)
    if suffix in _ELSEWHERE:
        raise ParameterError(f"`{path}` is of a format that engine spark does not read: use {', '.join(FORMATS)}")
    return _SUFFIXES.get(suffix, "parquet")


def _suffix(path: str) -> str:
    """Return what the name of a place ends in, without a suffix of compression; empty if it is none that is known."""
    name = path.rstrip("/").rpartition("/")[2].lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    found = "." + name.rpartition(".")[2] if "." in name else ""
    return found if found in _SUFFIXES or found in _ELSEWHERE else ""


def _format_inside(spark: SparkSession, paths: list[str]) -> str:
    """Return the format of the files in folders whose names tell none. Errors: ``ParameterError`` if they differ."""
    names = spark.read.text(paths).inputFiles()
    kinds = sorted({format_of(unquote(name), None) for name in names if _suffix(unquote(name))})
    if len(kinds) > 1:
        raise ParameterError(f"the inputs hold files of several formats ({', '.join(kinds)}): name one with --format")
    return kinds[0] if kinds else "parquet"


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
    exact = [places.literal(path) for path in paths]
    if asked is None and not any(_suffix(path) for path in paths):
        kind = _format_inside(spark, exact)
    found = _READERS[kind](spark, exact, text_column)
    return found._replace(problems=[*found.problems, *_passed_over(spark, exact)])


def _passed_over(spark: SparkSession, paths: list[str]) -> list[Problem]:
    """Return a problem for files that Spark does not read because of the folder they are in; only names are read."""
    every = spark.read.text(paths, recursiveFileLookup=True).inputFiles()
    read = spark.read.text(paths)
    missed = sorted(set(every) - set(read.inputFiles()))
    if len(read.columns) > 1:
        # Spark lists the files beside folders that became a column, but does not read them.
        missed = [name for name in every if "=" not in posixpath.basename(posixpath.dirname(name))]
    if not missed:
        return []
    reason = (
        "left out: Spark reads folders inside of a folder only if their names are like `year=2024`, and no files "
        "beside such folders; give the others as inputs of their own"
    )
    return [Problem(readable(missed[0]), "", f"{counted(len(missed), 'file')} below the inputs {reason}")]


def _one_format(paths: Sequence[str], asked: str | None) -> str:
    """Return the format of all places. Errors: ``ParameterError`` if there are several."""
    kinds = sorted({format_of(path, asked) for path in paths})
    if len(kinds) > 1:
        raise ParameterError(f"the inputs have several formats ({', '.join(kinds)}): name one with --format")
    return kinds[0]


def _parquet(spark: SparkSession, paths: list[str], _text: str) -> Input:
    """Read the columns that any of the files has; Spark reads the end of each file for them."""
    try:
        return Input(spark.read.parquet(*paths, mergeSchema=True), "parquet", [])
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error):
            raise
        raise ParameterError(
            f"{_conflict(str(error))} of the Parquet files: write it with one type, or deduplicate the files apart"
        ) from None


def _conflict(said: str) -> str:
    """Return what Spark says of two schemas that it cannot merge: the column, and its types."""
    from pyspark.sql.types import DataType, StructType

    kinds = [DataType.fromDDL(text) for text in re.findall(r'^"(STRUCT<.*>)"', said, re.MULTILINE)]
    for name, one, other in _differing(*(kind for kind in kinds[:2] if isinstance(kind, StructType))):
        return f"column `{name}` has type {one.simpleString()} in some and {other.simpleString()} in others"
    return "a column has one type in some and another in others"


def _differing(one: StructType, other: StructType) -> Iterator[tuple[str, DataType, DataType]]:
    """Yield the columns that two schemas have with different types; of structs, the columns inside."""
    from pyspark.sql.types import StructType

    types = {field.name.lower(): field.dataType for field in one}
    for name, kind in ((field.name, field.dataType) for field in other):
        its = types.get(name.lower(), kind)
        if isinstance(its, StructType) and isinstance(kind, StructType):
            yield from ((f"{name}.{inside}", *both) for inside, *both in _differing(its, kind))
        elif its != kind:
            yield name, its, kind


def _csv(spark: SparkSession, paths: list[str], _text: str) -> Input:
    """Read records of CSV; all files must have the columns of the first, in its order."""
    from pyspark.sql.types import StringType, StructField, StructType

    reader = spark.read.options(**_CSV_IN)
    plain = reader.csv(paths)
    if not plain.columns:
        return Input(plain, "csv", [])
    marked = StructType([*plain.schema, StructField(_CORRUPT, StringType())])
    found = reader.option("columnNameOfCorruptRecord", _CORRUPT).schema(marked).csv(paths)
    rows, problems = _parsed(found, "has more or fewer fields than the header", replaces=True)
    return Input(rows if any(one.rows for one in problems) else plain, "csv", problems)


def _jsonl(spark: SparkSession, paths: list[str], _text: str) -> Input:
    from pyspark.errors import AnalysisException

    _check_lines(spark, paths)
    found = spark.read.option("columnNameOfCorruptRecord", _CORRUPT).json(paths)
    if _CORRUPT not in found.columns:
        return Input(found, "jsonl", [])
    try:
        rows, problems = _parsed(found, "is not a JSON object", replaces=False)
    except AnalysisException as error:
        if "QUERY_ONLY_CORRUPT_RECORD_COLUMN" not in str(error):
            raise
        raise ParameterError(
            "no line of the inputs is a JSON object: engine spark reads one object per line; name another format with "
            "--format"
        ) from None
    return Input(rows, "jsonl", problems)


def _check_lines(spark: SparkSession, paths: list[str]) -> None:
    """Errors: ``ParameterError`` if one of the first lines has several values. Spark reads the first and is silent."""
    from pyspark.sql import functions as sql

    line = sql.col("value")
    is_one = sql.json_array_length(sql.concat(sql.lit("["), line, sql.lit("]"))).isNotNull()
    begins = sql.get_json_object(line, "$").isNotNull()
    if spark.read.text(paths).limit(_FIRST).where(line.rlike(r"\}\s*\{") & begins & ~is_one).head(1):
        raise ParameterError(
            "a line of the inputs has several JSON values, and Spark reads only the first of a line: write each object "
            "on a line of its own"
        )


def _parsed(found: DataFrame, reason: str, *, replaces: bool) -> tuple[DataFrame, list[Problem]]:
    """Return the rows that were parsed, and the others as problems: one per file, at most ``LISTED``.

    With ``replaces``, files with characters that Spark put in place of bytes are noted in the same pass.
    """
    from pyspark.sql import functions as sql

    bad, source = found[_CORRUPT], found.metadataColumn("_metadata")["file_path"]
    rows = found.select(source.alias(_FILE), bad, (bad.isNull() & _is_replaced(found)).alias("replaced"))
    line = sql.min(sql.substring(_CORRUPT, 1, _SHOWN))
    counts = (sql.count(_CORRUPT).alias("bad"), line.alias("line"), sql.count_if("replaced").alias("replaced"))
    files = rows.groupBy(_FILE).agg(*counts).where("bad > 0 or replaced > 0" if replaces else "bad > 0").cache()
    listed = files.orderBy(_FILE).limit(LISTED).collect()
    every = files.agg(sql.sum("bad")).head()
    files.unpersist()
    problems = [
        Problem(
            readable(one[_FILE]), "", f"{counted(one['bad'], 'line')} left out; `{one['line']}` {reason}", one["bad"]
        )
        for one in listed
        if one["bad"]
    ]
    if rest := ((every and every[0]) or 0) - sum(one.rows for one in problems):
        problems.append(Problem("other files", "", f"{counted(rest, 'line')} left out", rest))
    notes = [_note(readable(one[_FILE]), one["replaced"]) for one in listed if replaces and one["replaced"]]
    return found.where(bad.isNull()).drop(_CORRUPT), [*problems, *notes]


def _is_replaced(found: DataFrame) -> Column:
    """Return whether a value of a row has the character for bytes that are not UTF-8.

    Every column is looked at, so Spark reads them all: it refuses to read the column of bad lines alone.
    """
    from pyspark.sql import functions as sql

    every = (column(found, name).cast("string") for name in found.columns if name != _CORRUPT)
    return functools.reduce(operator.or_, (one.contains(_REPLACED) for one in every), sql.lit(False))


def _note(file: str, rows: int) -> Problem:
    reason = f"{counted(rows, 'row')} with the character U+FFFD: Spark puts it in place of bytes that are not UTF-8"
    return Problem(file, "", reason, is_note=True)


def readable(address: str) -> str:
    """Return a file as people write it: Spark encodes characters of its name, and says ``file:`` for local ones.

    >>> readable("file:///data/a%20b%25.jsonl"), readable("hdfs://host/a%5B1%5D")
    ('/data/a b%.jsonl', 'hdfs://host/a[1]')
    """
    return re.sub("^file:(//)?", "", unquote(address))


def _text(spark: SparkSession, paths: list[str], text: str) -> Input:
    """Read files as documents. Their part files would lose where one ends, so outputs are JSON Lines."""
    from pyspark.sql import functions as sql

    found = spark.read.text(paths, wholetext=True)
    # The same as `readable`; Spark's own decoding takes + for a blank.
    address = sql.replace(sql.col("_metadata.file_path"), sql.lit("+"), sql.lit("%2B"))
    name = sql.regexp_replace(sql.url_decode(address), "^file:(//)?", "")
    value = sql.regexp_replace(sql.make_valid_utf8(found["value"]), f"^{_MARK}", "")
    return Input(found.select(name.alias(USUAL_ID), value.alias(text)), "jsonl", _empty(spark, found, paths))


def _empty(spark: SparkSession, found: DataFrame, paths: list[str]) -> list[Problem]:
    """Return a problem for files without a byte, which Spark does not read; only their names and lengths are read."""
    names = {readable(name) for name in found.inputFiles()}
    listed = spark.read.format("binaryFile").load(paths).select("path")
    if listed.count() == len(names):
        return []
    empty = sorted(names - {readable(row["path"].replace("%", "%25")) for row in listed.collect()})
    reason = f"{counted(len(empty), 'empty file')} left out: Spark does not read them"
    return [Problem(empty[0], "", reason, len(empty))] if empty else []


_READERS = {"parquet": _parquet, "jsonl": _jsonl, "csv": _csv, "text": _text}


def written_format(out: str, format: str) -> tuple[str, str | None]:
    """Return the format of an output and its compression: by its suffix, else the format of the input.

    Errors: ``ParameterError`` for a suffix that Spark does not write.

    >>> written_format("pairs.csv.gz", "parquet"), written_format("clean", "jsonl")
    (('csv', 'gzip'), ('jsonl', None))
    """
    if out.startswith(TABLE):
        return format, None
    packing = next((one for one in _COMPRESSED if out.lower().endswith(one)), None)
    suffix = _suffix(out)
    kind = _SUFFIXES.get(suffix, "") if suffix else format
    if kind not in ("parquet", "jsonl", "csv") or (packing and (packing not in _CODECS or kind == "parquet")):
        raise ParameterError(
            f"`{out}` has a suffix that engine spark does not write: use none, .parquet, .csv or .jsonl, the last two "
            "also with .gz or .bz2"
        )
    return kind, None if packing is None else _CODECS[packing]


def write(rows: DataFrame, out: str, format: str, *, overwrite: bool) -> None:
    """Write rows as a folder of part files, or as a table. Errors: those of Spark; an output that exists is one."""
    writer = rows.write.mode("overwrite" if overwrite else "error")
    with step(rows, "write"):
        if out.startswith(TABLE):
            writer.saveAsTable(out.removeprefix(TABLE))
            return
        kind, packing = written_format(out, format)
        writer = writer.options(**(_CSV_OUT if kind == "csv" else {}), **({"compression": packing} if packing else {}))
        writer.format("json" if kind == "jsonl" else kind).save(out)


def check_new(spark: SparkSession, outputs: Sequence[str]) -> None:
    """Errors: ``FileExistsError`` for an output that is there, before a job is run for it."""
    from pyspark.errors import AnalysisException

    for one in outputs:
        if one.startswith(TABLE):
            is_there = spark.catalog.tableExists(one.removeprefix(TABLE))
        else:
            try:
                # Only the names of files are read.
                spark.read.text(places.escaped(one))
                is_there = True
            except AnalysisException as error:
                is_there = error.getCondition() != "PATH_NOT_FOUND"
        if is_there:
            raise FileExistsError(errno.EEXIST, "exists already: choose another, or use --overwrite", one)


def check_overwritten(spark: SparkSession, inputs: Sequence[DataFrame], outputs: Sequence[str]) -> None:
    """Errors: ``ParameterError`` if an output that would be replaced holds files of an input, such as those of a table.

    Only names of files are read.
    """
    read = {readable(name) for one in inputs for name in one.inputFiles()}
    for out in outputs:
        if out.startswith(TABLE):
            name = out.removeprefix(TABLE)
            held = set(map(readable, spark.table(name).inputFiles())) if spark.catalog.tableExists(name) else set()
            found = next(iter(read & held), None)
        else:
            folder = os.path.realpath(readable(out)) if places.is_local(out) else readable(out).rstrip("/")
            found = next((name for name in read if name.startswith(f"{folder}/")), None)
        if found is not None:
            raise ParameterError(
                f"`{out}` cannot be replaced, an input is read from it (`{found}`): choose another place"
            )


def check_places(inputs: Sequence[str], outputs: Sequence[str], asked: str | None) -> None:
    """Check places before Spark starts.

    Errors: ``ParameterError`` for standard input and output, an output that is, contains or lies in an input or another
    output, files that Spark passes over, and a format that is not read here.
    """
    if "-" in inputs:
        raise ParameterError("engine spark reads no standard input: give files, folders or tables")
    _one_format(inputs, asked)
    if "-" in outputs:
        raise ParameterError("engine spark writes folders, not standard output: give a folder with --out")
    for one in inputs:
        places.check_name(one)
    places.check_apart(inputs, outputs)
    for one in outputs:
        written_format(one, FORMATS[0])
