"""Reads records of CSV and lines of JSON, and lists by file what Spark could not read or would read wrongly.

Lines and records that cannot be parsed are left out. For both formats there is one more pass over the physical lines.
Of a line of JSON Spark reads the first value, and says nothing of what stands behind it. Of CSV it takes the end of the
first line of a file for that of every record, and says nothing if others end differently: it changes values, or puts
several rows into one value. It does the same behind a quote that is never closed.

A physical line ends in LF. It ends a record if the quotes up to there are even in number. Spark may cut a file into
blocks, which are read apart. A ``Tally`` is the summary of consecutive lines, wherever they are cut: tallies of
batches are joined to one per block, those of blocks to one per file. The pass takes the memory of one batch.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from lookalike import _core
from lookalike._types import Problem, counted
from lookalike.errors import ParameterError
from lookalike.spark import columns
from lookalike.spark.plans import column
from lookalike.spark.shipping import Batches, shipped

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    Flags = npt.NDArray[np.bool_]
    Read = tuple[DataFrame, list[Problem]]

#: The column of lines as they are, the one where Spark puts a line that it cannot parse, and the one for the file it is
#: in. No input has such names.
_LINE = _CORRUPT = "lookalike line"
_FILE = "lookalike file"
#: Files with such lines that are listed, and characters of the line that is shown of each.
LISTED, _SHOWN = 100, 60
#: How CSV is read and written, so that every value comes back as it was. ``_CSV_NULL`` is no value: it tells an empty
#: field, which is null, from "", which is an empty string.
_CSV = {"header": True, "quote": '"', "escape": '"'}
_CSV_NULL = "\ufdd0"
_CSV_IN = {**_CSV, "multiLine": True, "enforceSchema": False, "nullValue": _CSV_NULL, "emptyValue": ""}
CSV_OUT = {**_CSV, "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False, "emptyValue": '""'}
#: What Spark puts in place of bytes that are not UTF-8.
_REPLACED = "\ufffd"
#: Lines of JSON that are looked at for several values before all are read.
_FIRST = 20
#: Spark reads a line in single quotes as JSON otherwise, which no other program does.
_JSON_IN = {"columnNameOfCorruptRecord": _CORRUPT, "allowSingleQuotes": False}
#: What the records of a file may have: ends of several kinds, or a quote that is open at the end of the file.
MIXED, OPEN = "mixed", "open"
#: How the first line of a file ends, which is what Spark takes for the end of every record.
_LF, _CRLF, _CR = 0, 1, 2
#: The columns of a block of a file: its place and its ``Tally``; and those of a file that has a problem.
_BLOCK = (
    "file string, start bigint, lines bigint, first bigint, is_odd boolean, last_odd bigint, ends array<bigint>, "
    "tail bigint"
)
_FOUND = "file string, problem string, line bigint"


def read_csv(spark: SparkSession, paths: list[str]) -> Read:
    """Read records of CSV; all files must have the columns of the first, in its order. Errors: ``ParameterError``."""
    from pyspark.sql.types import StringType, StructField, StructType

    reader = spark.read.options(**_CSV_IN)
    plain = reader.csv(paths)
    if not plain.columns:
        return plain, []
    doubtful = _doubtful(spark, paths)
    marked = StructType([*plain.schema, StructField(_CORRUPT, StringType())])
    found = reader.option("columnNameOfCorruptRecord", _CORRUPT).schema(marked).csv(paths)
    rows, problems = _parsed(found, "has more or fewer fields than the header", replaces=True)
    return rows if any(one.rows for one in problems) else plain, [*doubtful, *problems]


def _doubtful(spark: SparkSession, paths: list[str]) -> list[Problem]:
    """Return the files that end inside a quote, at most ``LISTED``.

    Errors: ``ParameterError`` if the records of a file end in several ways.
    """
    # By problem, so that files with several ends come first.
    listed = ill_cut(spark, paths).orderBy("problem", "file").limit(LISTED).collect()
    if listed and listed[0]["problem"] == MIXED:
        raise ParameterError(
            f"records of `{readable(listed[0]['file'])}` do not all end as its first line does, and Spark would lose "
            "or change rows: write the file with one kind of line end (LF or CR LF), or use --engine local"
        )
    reason = (
        "a quote is never closed, or stands inside of a value: rows behind it may have become part of one value; "
        "check line {:,} and those before it"
    )
    return [Problem(readable(one["file"]), "", reason.format(one["line"])) for one in listed]


def read_json(spark: SparkSession, paths: list[str]) -> Read:
    """Read lines of JSON. Errors: ``ParameterError``."""
    from pyspark.errors import AnalysisException

    _check_lines(spark, paths)
    tails = _tails(spark, paths)
    try:
        found = spark.read.options(**_JSON_IN).json(paths)
        if _CORRUPT not in found.columns:
            return found, tails
        rows, problems = _parsed(found, "is not a JSON object", replaces=False)
        return rows, [*tails, *problems]
    except AnalysisException as error:
        if error.getCondition() == "COLUMN_ALREADY_EXISTS":
            # Spark takes a key with dots for several names.
            quoted = (error.getMessageParameters() or {}).get("columnName", "")
            _refuse_key(spark, paths, quoted.replace("`.`", ".")[1:-1].replace("``", "`"))
        if "QUERY_ONLY_CORRUPT_RECORD_COLUMN" not in str(error):
            raise
        raise ParameterError(
            "no line of the inputs is a JSON object: engine spark reads one object per line; name another format with "
            "--format"
        ) from None


def _refuse_key(spark: SparkSession, paths: list[str], name: str) -> None:
    """Look for the lines because of which Spark has a key twice. Errors: ``ParameterError`` if they are found."""
    from pyspark.sql import functions as sql

    case = "" if spark.conf.get("spark.sql.caseSensitive") == "true" else "(?iu)"
    text = _lines(spark, paths)
    keys = sql.regexp_extract_all(text[_LINE], sql.lit(rf'{case}(?<!\\)"({re.escape(name)})"\s*:'), sql.lit(1))
    lines = text.select(_LINE, keys.alias("keys"))
    spelled = sorted(row["key"] for row in lines.select(sql.explode("keys").alias("key")).distinct().limit(5).collect())
    if len(spelled) > 1:
        names = " and ".join(f"`{one}`" for one in spelled)
        raise ParameterError(
            f"a key of the JSON lines is spelled {names}, which are one column to Spark: "
            "spell it in one way, or keep them apart with --conf spark.sql.caseSensitive=true"
        ) from None
    for row in lines.where("size(keys) > 1").select(sql.substring(_LINE, 1, _SHOWN).alias("line")).head(1):
        raise ParameterError(
            f"a JSON object has the key `{name}` twice, such as in line `{row['line']}`: leave one of them out, or use "
            "--engine local"
        ) from None


def _lines(spark: SparkSession, paths: list[str], **options: str) -> DataFrame:
    """Return the lines of files, under a name that no column of a divided folder has."""
    return spark.read.schema(f"`{_LINE}` string").text(paths, **options)


def _check_lines(spark: SparkSession, paths: list[str]) -> None:
    """Errors: ``ParameterError`` if one of the first lines has several values. Spark reads the first and is silent."""
    from pyspark.sql import functions as sql

    line = sql.col(_LINE)
    is_one = sql.json_array_length(sql.concat(sql.lit("["), line, sql.lit("]"))).isNotNull()
    begins = sql.get_json_object(line, "$").isNotNull()
    if _lines(spark, paths).limit(_FIRST).where(line.rlike(r"\}\s*\{") & begins & ~is_one).head(1):
        raise ParameterError(
            "a line of the inputs has several JSON values, and Spark reads only the first of a line: write each object "
            "on a line of its own"
        )


def _tails(spark: SparkSession, paths: list[str]) -> list[Problem]:
    """Return a problem for each file with lines of which Spark reads only the first value, at most ``LISTED``."""
    from pyspark.sql import functions as sql

    lines = _lines(spark, paths)
    read = lines.select(lines.metadataColumn("_metadata")["file_path"].alias("file"), lines[_LINE].alias("line"))
    found = read.mapInArrow(shipped("lookalike.spark.records.tail_batches"), "file string, line string")
    shown = sql.min(sql.right("line", sql.lit(_SHOWN))).alias("line")
    files = found.groupBy("file").agg(sql.count("*").alias("lines"), shown).orderBy("file").limit(LISTED + 1).collect()
    reason = "of {}, such as one that ends in `{}`, Spark reads the first value only: write each object on its own line"
    listed = [(readable(one["file"]), reason.format(counted(one["lines"], "line"), one["line"])) for one in files]
    if len(listed) > LISTED:
        listed[LISTED] = "other files", "of lines with several values Spark reads the first only"
    return [Problem(file, "", told) for file, told in listed]


def tail_batches(batches: Batches) -> Batches:
    """Yield the lines (file, line) that have something behind their first value."""
    import numpy as np
    import pyarrow as pa

    for batch in batches:
        mask = np.frombuffer(_core.json_tails(columns.buffers(batch["line"])), dtype=bool)
        yield batch.filter(pa.array(mask))


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


class Tally(NamedTuple):
    """The summary of consecutive lines of one file."""

    #: The number of lines, and how the first ends.
    lines: int
    first: int
    #: Whether the number of quotes is odd, and the last line with an odd number of them, counted from 1; 0 for none.
    is_odd: bool
    last_odd: int
    #: Lines behind which the quotes of these lines are even in number, by their ends (LF, CR LF), and those behind
    #: which they are odd. Empty lines and the last of the others are not counted.
    ends: tuple[int, ...]
    #: What the last line that is not empty would add to: a place in ``ends``, -1 for none.
    tail: int

    def joined(self, later: Tally) -> Tally:
        """Return the summary of these lines and of those that follow."""
        # Behind an odd number of quotes, even and odd change places.
        turn = 2 * self.is_odd
        ends = [one + other for one, other in zip(self.ends, later.ends[turn:] + later.ends[:turn], strict=True)]
        if later.tail >= 0 and self.tail >= 0:
            ends[self.tail] += 1
        tail = self.tail if later.tail < 0 else (later.tail + turn) % 4
        last_odd = self.lines + later.last_odd if later.last_odd else self.last_odd
        return Tally(self.lines + later.lines, self.first, self.is_odd != later.is_odd, last_odd, tuple(ends), tail)

    @property
    def problem(self) -> str:
        """Return what is wrong with a file of these lines; empty if nothing is.

        Spark reads the last line whether it ends like the others, in LF or not at all; a CR there becomes a part of its
        last value if the others end in LF. Empty lines do no harm.
        """
        lf, crlf = self.ends[:2]
        if {_LF: crlf + (self.tail == _CRLF), _CRLF: lf, _CR: lf + crlf}[self.first]:
            return MIXED
        return OPEN if self.is_odd else ""


def tally(is_odd: Flags, ends_cr: Flags, has_cr: Flags, is_empty: Flags) -> Tally:
    """Return the summary of at least one line.

    :param is_odd: Whether each line has an odd number of quotes.
    :param ends_cr: Whether it ends in CR, without its LF.
    :param has_cr: Whether it has another CR.
    :param is_empty: Whether it has no byte.
    """
    import numpy as np

    after = np.bitwise_xor.accumulate(is_odd)
    places = (2 * after + ends_cr)[~is_empty]
    odd_lines = np.flatnonzero(is_odd)
    return Tally(
        lines=len(is_odd),
        first=_CR if has_cr[0] else int(ends_cr[0]),
        is_odd=bool(after[-1]),
        last_odd=int(odd_lines[-1]) + 1 if len(odd_lines) else 0,
        ends=tuple(np.bincount(places[:-1], minlength=4).tolist()),
        tail=int(places[-1]) if len(places) else -1,
    )


def ill_cut(spark: SparkSession, paths: list[str]) -> DataFrame:
    """Return the files of CSV that have a problem: ``file``, ``problem``, and ``line``, the last with odd quotes."""
    # The text source takes any line and keeps its CR.
    lines = _lines(spark, paths, lineSep="\n")
    place = lines.metadataColumn("_metadata")
    where = place["file_path"].alias("file"), place["file_block_start"].alias("start")
    flags = (flag.alias(name) for name, flag in _flags(lines[_LINE]).items())
    blocks = lines.select(*where, *flags).mapInArrow(shipped("lookalike.spark.records.tally_batches"), _BLOCK)
    ordered = blocks.repartition("file").sortWithinPartitions("file", "start")
    return ordered.mapInArrow(shipped("lookalike.spark.records.judge_batches"), _FOUND)


def _flags(line: Column) -> dict[str, Column]:
    """Return what is sent of a line, in the order that ``tally`` takes."""
    from pyspark.sql import functions as sql

    def number(mark: str) -> Column:
        # Bytes are counted: a character that is not UTF-8 may swallow the quote behind it.
        return sql.octet_length(line) - sql.octet_length(sql.replace(line, sql.lit(mark), sql.lit("")))

    ends_cr = sql.endswith(line, sql.lit("\r"))
    return {
        "is_odd": number('"') % 2 == 1,
        "ends_cr": ends_cr,
        "has_cr": number("\r") > ends_cr.cast("int"),
        "is_empty": sql.octet_length(line) == 0,
    }


def tally_batches(batches: Batches) -> Batches:
    """Yield a row for each block of a file. The lines of a block come one after the other."""
    runs = (run for batch in batches for run in _runs(batch))
    for place, ones in itertools.groupby(runs, key=operator.itemgetter(0)):
        yield _row(_BLOCK, (*place, *functools.reduce(Tally.joined, (one for _place, one in ones))))


def judge_batches(batches: Batches) -> Batches:
    """Yield a row for each file that has a problem, from rows of blocks that are sorted by file and start."""
    rows = (tuple(row.values()) for batch in batches for row in batch.to_pylist())
    for file, ones in itertools.groupby(rows, key=operator.itemgetter(0)):
        whole = functools.reduce(Tally.joined, (Tally(*one[2:]) for one in ones))
        if whole.problem:
            yield _row(_FOUND, (file, whole.problem, whole.last_odd))


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], Tally]]:
    """Yield the place and the summary of lines that follow each other and are of one block."""
    import numpy as np
    import pyarrow.compute as pc

    if not batch.num_rows:
        return
    places = batch.column(0), batch.column(1)
    differs = (pc.not_equal(one[1:], one[:-1]).to_numpy(zero_copy_only=False) for one in places)
    cuts = (np.flatnonzero(functools.reduce(np.logical_or, differs)) + 1).tolist()
    flags = [one.to_numpy(zero_copy_only=False) for one in batch.columns[2:]]
    for start, end in itertools.pairwise([0, *cuts, batch.num_rows]):
        yield (places[0][start].as_py(), places[1][start].as_py()), tally(*(flag[start:end] for flag in flags))


def _row(schema: str, values: tuple[Any, ...]) -> pa.RecordBatch:
    """Return a batch of one row."""
    import pyarrow as pa

    names = [one.split()[0] for one in schema.split(", ")]
    return pa.RecordBatch.from_pydict({name: [value] for name, value in zip(names, values, strict=True)})
