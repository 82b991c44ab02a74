"""Tables from and to the places that Spark knows: Parquet, JSON Lines, CSV, files of text, and tables by name.

A place is a file, a folder or a pattern on any file system that Spark has, or ``table:NAME``. Outputs are folders of
part files; Spark's own commit makes them complete or leaves no ``_SUCCESS`` in them. No output may be, contain or lie
in an input or another output. Lines of JSON and records of CSV that cannot be parsed are left out, and listed by file.
A file of text is one document, and its path is its id.
"""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import re
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from lookalike._types import Problem, counted
from lookalike.corpora.arrays import USUAL_ID
from lookalike.engines.writing import writing
from lookalike.errors import ParameterError
from lookalike.spark import places, records
from lookalike.spark.keeping import step
from lookalike.spark.places import TABLE
from lookalike.spark.records import CSV_OUT, readable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
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
#: The formats that are read here.
FORMATS = ("parquet", "jsonl", "csv", "text")
#: What a byte order mark is in a text.
_MARK = "\ufeff"
#: Files with problems that are listed one by one.
LISTED = records.LISTED


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
        raise ParameterError(
            f"`{path}` is of a format that engine spark does not read: use {', '.join(FORMATS)}; --format text takes "
            "files such as HTML as they are"
        )
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


def read(
    spark: SparkSession,
    paths: Sequence[str],
    asked: str | None,
    text_column: str | None = None,
    id_column: str = USUAL_ID,
) -> Input:
    """Return the rows of all places as one table.

    If Spark finds no column, as in an empty file, the rows have two of strings, provided that ``text_column`` is given.

    Errors: ``ParameterError``, and those of Spark.
    """
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
    every = spark.read.text(exact, recursiveFileLookup=True).inputFiles()
    found = _READERS[kind](spark, exact, text_column or "text") if every else _nothing(spark, paths, kind)
    if not found.rows.columns and text_column is not None:
        found = found._replace(rows=_with_nulls(found.rows, (id_column, text_column)))
    return found._replace(problems=[*found.problems, *_passed_over(spark, exact, every)])


def _nothing(spark: SparkSession, paths: Sequence[str], kind: str) -> Input:
    """Return no rows, for folders without files."""
    place = readable(paths[0]) if len(paths) == 1 else "the inputs"
    note = Problem(place, "", "there are no files that Spark reads", is_note=True)
    return Input(spark.range(0).drop("id"), kind, [note])


def _with_nulls(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return rows without columns with some that are null."""
    from pyspark.sql import functions as sql

    return rows.select(*(sql.lit(None).cast("string").alias(name) for name in names))


def _passed_over(spark: SparkSession, paths: list[str], every: list[str]) -> list[Problem]:
    """Return a problem for files that Spark does not read because of the folder they are in; only names are read."""
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
    rows, problems = records.read_csv(spark, paths)
    return Input(rows, "csv", problems)


def _jsonl(spark: SparkSession, paths: list[str], _text: str) -> Input:
    rows, problems = records.read_json(spark, paths)
    return Input(rows, "jsonl", problems)


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
        writer = writer.options(**(CSV_OUT if kind == "csv" else {}), **({"compression": packing} if packing else {}))
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


def check_writable(spark: SparkSession, outputs: Sequence[str]) -> None:
    """Make the folders of outputs and remove them again, before a job is run for them. Only local ones are checked.

    Errors: ``WriteError`` names the output and the reason.
    """
    for one in outputs:
        name = re.sub("^file:(//[^/]*)?", "", one, flags=re.IGNORECASE)
        if places.is_local(one) and (name != one or _is_local_by_default(spark)):
            with writing(one):
                _try_folder(os.path.abspath(name))


def _is_local_by_default(spark: SparkSession) -> bool:
    """Return whether Spark takes a place without a scheme for one on this machine: it then finds this very file."""
    from pyspark.errors import AnalysisException

    try:
        names = spark.read.text(places.escaped(os.path.abspath(__file__))).inputFiles()
    except AnalysisException:
        return False
    return all(name.startswith("file:") for name in names)


def _try_folder(path: str) -> None:
    """Make a folder and those above it that are missing, and remove them. Errors: ``OSError``."""
    if os.path.lexists(path):
        # Spark will empty it, remove it, and make it again.
        for folder in (os.path.dirname(path), *([path] if os.path.isdir(path) else [])):
            os.rmdir(tempfile.mkdtemp(prefix=".lookalike-", dir=folder))
        return
    above, made = os.path.dirname(path), list[str]()
    missing = [path]
    while not os.path.lexists(above):
        missing.append(above)
        above = os.path.dirname(above)
    try:
        for one in reversed(missing):
            os.mkdir(one)
            made.append(one)
    finally:
        for one in reversed(made):
            # Another program may have put something there meanwhile.
            with contextlib.suppress(OSError):
                os.rmdir(one)


def check_overwritten(spark: SparkSession, inputs: Sequence[DataFrame], outputs: Sequence[str]) -> None:
    """Errors: ``ParameterError`` if an output that would be replaced holds files of an input, such as those of a table.

    Only names of files are read.
    """
    read = {_real(readable(name)) for one in inputs for name in one.inputFiles()}
    for out in outputs:
        if out.startswith(TABLE):
            name = out.removeprefix(TABLE)
            files = spark.table(name).inputFiles() if spark.catalog.tableExists(name) else []
            found = next(iter(read & {_real(readable(one)) for one in files}), None)
        else:
            folder = _real(out).rstrip("/")
            found = next((name for name in read if name.startswith(f"{folder}/")), None)
        if found is not None:
            raise ParameterError(
                f"`{out}` cannot be replaced, an input is read from it (`{found}`): choose another place"
            )


def _real(place: str) -> str:
    """Return a place; one on this machine as the path that links lead to."""
    return os.path.realpath(places.local(place)) if places.is_local(place) else place


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
