"""Rows of fingerprints on Spark: an id, and the 64 bits as a signed number, whatever their column holds.

A column of fingerprints may hold whole numbers, decimals (as Spark reads unsigned numbers of Parquet) or texts as the
local engine reads them (``print_text.rs``). Spark has no unsigned numbers, so here a fingerprint is a ``long`` with the
same bits. All of it is Spark's own code: nothing goes through Python. Cost: one pass, and one more for texts, which
finds out whether 16 digits are hexadecimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.corpora.arrays import listed
from lookalike.errors import ParameterError
from lookalike.neighbours.limits import LENGTH
from lookalike.spark.plans import check_one, column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: The columns of a row that can be searched.
ID, FINGERPRINT = "id", "fingerprint"
#: One more than the largest signed, and than the largest unsigned number of 64 bits.
_HALF, _WHOLE = 1 << 63, 1 << 64
#: What is said of a row that cannot be searched.
NO_ID, NO_FINGERPRINT = "has no id", "has no fingerprint"
NO_LENGTH = "is not a whole number of tokens"
NOT_ONE = "is not a fingerprint: use 0 to 2^64 − 1, or 0x and hexadecimal digits, or 16 of them"
#: Real numbers below it are written without an exponent by Arrow.
_LARGEST_REAL = 10.0**10
#: Sixteen digits that can only be hexadecimal: decimal numbers have no leading zeros.
_HEXADECIMAL = "^(0[0-9a-fA-F]{15}|(?=.*[a-fA-F])[0-9a-fA-F]{16})$"


class Prints(NamedTuple):
    """Rows with an id and a fingerprint, and those that have none with the reason."""

    rows: DataFrame
    left_out: DataFrame


def prints(df: DataFrame, id_column: str, fingerprint_column: str, others: Sequence[str] = ()) -> Prints:
    """Return the rows of a table of fingerprints, with further columns. Errors: ``ParameterError``."""
    from pyspark.sql import functions as sql

    for name in (id_column, fingerprint_column, *others):
        check_column(df, name)
    name, given = column(df, id_column).cast("string"), column(df, fingerprint_column)
    bits = _bits(df, fingerprint_column)
    reason = (
        sql.when(name.isNull(), NO_ID)
        .when(given.isNull() | (given.cast("string") == ""), NO_FINGERPRINT)
        .when(bits.isNull(), sql.concat(sql.lit("`"), given.cast("string"), sql.lit(f"` {NOT_ONE}")))
    )
    kept = {one: column(df, one) for one in others}
    if LENGTH in kept:
        written = sql.coalesce(kept[LENGTH].cast("string"), sql.lit(""))
        kept[LENGTH] = _length(df)
        told = sql.concat(sql.lit("length `"), written, sql.lit(f"` {NO_LENGTH}"))
        reason = reason.when(kept[LENGTH].isNull(), told)
    others_kept = (one.alias(name) for name, one in kept.items())
    made = df.select(name.alias(ID), bits.alias(FINGERPRINT), reason.alias("reason"), *others_kept)
    rows = made.where(sql.col("reason").isNull()).drop("reason")
    return Prints(rows, made.where(sql.col("reason").isNotNull()).select(ID, "reason"))


def check_column(df: DataFrame, name: str) -> None:
    """Errors: ``ParameterError`` if there is no such column, which names those there are, or several to Spark."""
    if name not in df.columns:
        raise ParameterError(f"there is no column `{name}`: the table has {listed(df.columns)}")
    check_one(df, name, "the table")


def _length(df: DataFrame) -> Column:
    """Return lengths as numbers; null where a value is no whole number as the local engine reads it."""
    from pyspark.sql import functions as sql
    from pyspark.sql import types

    given = column(df, LENGTH)
    written = given.cast("string")
    if isinstance(df.schema[LENGTH].dataType, types.DoubleType | types.FloatType):
        whole = given.try_cast("bigint")
        is_whole = (given == whole.cast("double")) & ~written.startswith("-") & (given < _LARGEST_REAL)
        written = sql.when(is_whole, whole.cast("string")).otherwise(written)
    return sql.when(written.rlike(r"^(0|[1-9][0-9]*)\z"), written.try_cast("bigint"))


def _bits(df: DataFrame, name: str) -> Column:
    """Return a column as signed numbers of 64 bits; null where a value is none. Errors: ``ParameterError``."""
    from pyspark.sql import types

    kind = df.schema[name].dataType
    if isinstance(kind, types.LongType | types.IntegerType | types.ShortType | types.ByteType):
        return column(df, name).cast("long")
    if isinstance(kind, types.DecimalType) and kind.scale == 0:
        return _wrapped(column(df, name).cast("decimal(38,0)"))
    if isinstance(kind, types.StringType):
        return _parsed(df, name)
    raise ParameterError(f"column `{name}` holds {kind.simpleString()}: fingerprints are whole numbers or texts")


def _wrapped(number: Any) -> Column:
    """Return a number of −2^63 to 2^64 − 1 as the signed number with the same bits; null beyond."""
    from pyspark.sql import functions as sql

    least, half, whole = (sql.lit(str(one)).cast("decimal(38,0)") for one in (-_HALF, _HALF, _WHOLE))
    signed = sql.when(number >= half, number - whole).otherwise(number)
    return sql.when((number >= least) & (number < whole), signed.cast("long"))


def _parsed(df: DataFrame, name: str) -> Column:
    """Return fingerprints that are written as texts. One look at the column tells how 16 digits are meant."""
    from pyspark.sql import functions as sql

    text = sql.regexp_replace(column(df, name), r"(?U)^\s+|\s+$", "")
    has_letters = df.where(text.rlike(_HEXADECIMAL)).limit(1).count() == 1
    of_hexadecimal = "^[0-9a-fA-F]{16}$" if has_letters else _HEXADECIMAL
    return (
        sql.when(text.rlike("^0[xX][0-9a-fA-F]{1,16}$"), sql.conv(sql.substring(text, 3, 16), 16, -10).cast("long"))
        .when(text.rlike(of_hexadecimal), sql.conv(text, 16, -10).cast("long"))
        .when(text.rlike("^-?[0-9]+$"), _wrapped(text.try_cast("decimal(38,0)")))
    )
