"""The parameters of a job on a cluster and the columns that it reads, checked before anything runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from lookalike.corpora.arrays import USUAL_ID
from lookalike.deduplication import contamination
from lookalike.deduplication.settings import Settings
from lookalike.errors import ParameterError
from lookalike.spark.ranks import WHOLE, kind_of, ordered, prefix_bytes
from lookalike.spark.shipping import filled, plain

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Columns that the ledger adds.
LEDGER = ("lookalike_survivor", "lookalike_score", "lookalike_link", "lookalike_method", "lookalike_order")
#: Types of ids: those whose equal values have the same bytes, unlike fractions (0.0 and −0.0) or collated strings.
_IDS = re.compile(r"(tiny|small|big)?int|string|decimal\(.*\)|date|timestamp(_ntz)?|boolean|binary")
#: What messages call the references.
_AGAINST = "against=…"
#: Memory of a Python worker for rows of a cell, if the caller names none: small beside an executor of 1 GiB.
MEMORY = "256MiB"


@dataclass(frozen=True)
class Limits:
    """The most that one task takes. No limit changes an answer."""

    #: Edges that one task clusters as they are; with more, components come first.
    edges: int = 1_000_000
    #: Edges of one component that one task holds; a larger one is clustered in one pass.
    component: int = 1_000_000
    #: Bytes of the documents of one cell of pairs.
    cell: int = 64 << 20
    #: The least number of cells along one side.
    cells: int = 8
    #: Bytes of the texts of references that one task holds, for ``containment`` with ``against``; of characters as unit
    #: an eighth, because a task holds 48 bytes for each shingle.
    references: int = 32 << 20


@dataclass(frozen=True)
class Plan:
    """A job: its parameters, and where the order of rows comes from."""

    asked: Settings
    #: The parameters that were given, as plain values.
    chosen: dict[str, Any]
    #: The columns of the order and of the ids; and how the order is compared.
    order: str
    id: str
    kind: str
    is_against: bool
    #: Whether references are looked up in rows: ``containment`` with ``against``.
    is_sought: bool
    limits: Limits

    @property
    def prefix(self) -> int:
        """Bytes of a rank before the order."""
        return 1 if self.is_sought else prefix_bytes(self.asked.method, self.asked.keep)

    @property
    def is_named_by_order(self) -> bool:
        """Whether the ids are the order, as ranks hold it."""
        return self.order == self.id and self.kind in ("number", "text")

    def order_in(self, rows: DataFrame) -> Column:
        """Return the order of rows as ranks hold it."""
        return ordered(column(rows, self.order), self.kind)

    @property
    def is_scored_by_sketch(self) -> bool:
        """Whether what is kept of a text scores a pair exactly, so that no text is read again."""
        return self.asked.is_by_features or self.asked.is_by_distance


def planned(
    df: DataFrame, against: DataFrame | None, order: str | None, limits: Limits | None, given: dict[str, Any]
) -> Plan:
    """Check parameters and columns. Errors: ``ParameterError``."""
    check_kind(df)
    if against is not None:
        check_kind(against, "references")
    if order is not None and not isinstance(order, str):
        raise ParameterError(f"order of type {type(order).__name__} is no name of a column: give a string")
    chosen = settings_of(given)
    if order is not None and (against is None or chosen.get("method") != "containment"):
        chosen["order"] = order
    asked = filled(chosen)
    check_offered(asked)
    name = asked.id_column or USUAL_ID
    by = order or name
    kind = _checked(df, asked, by, name, "the rows")
    if against is not None:
        _checked(against, asked, by, name, _AGAINST, is_reference=True)
        _check_types(df, against, by, name)
    is_sought = contamination.is_sought(asked, against)
    return Plan(asked, chosen, by, name, kind, against is not None, is_sought, _limited(limits))


def settings_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that were given, and those that a Python worker needs: it has one core."""
    return {"memory": MEMORY, **plain(given), "threads": 1}


def check_offered(asked: Settings) -> None:
    """Errors: ``ParameterError`` for what cannot be divided."""
    if asked.clustering == "greedy":
        raise ParameterError(
            "clustering `greedy` takes documents one after the other and cannot be divided: use star or components, "
            "or the local engine"
        )
    if asked.search == "join":
        raise ParameterError(
            "recall `1` compares too many rows to be sent around: use a recall below 1, or the local engine"
        )


def _limited(limits: Limits | None) -> Limits:
    """Return the limits, or the usual ones. Errors: ``ParameterError`` for one below 0, or below 1 where it divides."""
    found = Limits() if limits is None else limits
    if not isinstance(found, Limits):
        raise ParameterError(f"limits of type {type(found).__name__} are none of a cluster: use lookalike.spark.Limits")
    for one in fields(found):
        least, value = 0 if one.name in ("edges", "component") else 1, getattr(found, one.name)
        if not isinstance(value, int) or value < least:
            raise ParameterError(f"limit {one.name} is {value}: use a whole number of {least} or more")
    return found


def check_kind(rows: Any, what: str = "rows") -> None:
    """Errors: ``ParameterError`` for rows that are no DataFrame of Spark, or never end."""
    from pyspark.sql import DataFrame

    if not isinstance(rows, DataFrame):
        raise ParameterError(
            f"{what} of type {type(rows).__name__} are no DataFrame of Spark: make one with spark.createDataFrame, or "
            "use the functions of the package lookalike"
        )
    if rows.isStreaming:
        raise ParameterError("rows of a stream never end: write them to a table first, or use an index for each batch")


def _check_types(df: DataFrame, against: DataFrame, order: str, name: str) -> None:
    """Errors: ``ParameterError`` if order or ids have another type in the references: Spark would convert values."""
    for what, column in (("order", order), ("id", name)):
        own, theirs = (one.schema[column].dataType.simpleString() for one in (df, against))
        if own != theirs and not {own, theirs} <= set(WHOLE):
            raise ParameterError(
                f"{what} column `{column}` is of type {theirs} in {_AGAINST}, and of type {own} in the rows: cast one "
                "of them"
            )


def _checked(df: DataFrame, asked: Settings, order: str, name: str, where: str, *, is_reference: bool = False) -> str:
    """Return how the order is compared. Errors: ``ParameterError`` for a column that is not there or of no use."""
    check_columns(df, (asked.text_column, order, name), where)
    if asked.number_column is not None:
        _check_number(df, asked.number_column, where)
    taken = [one for one in df.columns if one.lower() in LEDGER]
    if taken and not is_reference:
        raise ParameterError(f"column `{taken[0]}` has a name that the ledger needs: rename it")
    check_text(df, asked.text_column)
    by, kind = kind_of(df.schema[order].dataType, order), df.schema[name].dataType.simpleString()
    if not _IDS.fullmatch(kind):
        raise ParameterError(
            f"id column `{name}` is of type {kind}: use one of whole numbers or of strings, or cast it"
        )
    return by


def _check_number(df: DataFrame, name: str, where: str) -> None:
    """Errors: ``ParameterError`` for a column that ``keep`` cannot take numbers from."""
    if name not in df.columns:
        raise ParameterError(f"number column `{name}` is not in {where}: check keep `max:{name}`")
    check_one(df, name, where)
    kind = df.schema[name].dataType.simpleString()
    if kind.startswith(("interval year", "interval month")):
        raise ParameterError(f"number column `{name}` is of type {kind}: cast it to a number")


def check_columns(df: DataFrame, names: Iterable[str], where: str) -> None:
    """Errors: ``ParameterError`` for a column that is not there, or that Spark cannot tell from another one."""
    for name in names:
        if name not in df.columns:
            there = f"there are {', '.join(df.columns[:8])}" if df.columns else "it has no columns"
            raise ParameterError(
                f"column `{name}` is not in {where}; {there}. A cluster needs texts and ids: name their columns with "
                "text_column and id_column"
            )
        check_one(df, name, where)


def check_one(df: DataFrame, name: str, where: str) -> None:
    """Errors: ``ParameterError`` for a column that Spark cannot tell from another one."""
    is_exact = str(df.sparkSession.conf.get("spark.sql.caseSensitive")).lower() == "true"
    alike = [one for one in df.columns if one == name or (not is_exact and one.lower() == name.lower())]
    if len(alike) > 1:
        raise ParameterError(
            f"columns {' and '.join(f'`{one}`' for one in alike)} of {where} are one to Spark: rename one of them, "
            "or set spark.sql.caseSensitive to true"
        )


def check_text(df: DataFrame, name: str) -> None:
    """Errors: ``ParameterError`` if a column of texts has no strings."""
    kind = df.schema[name].dataType.simpleString()
    if kind != "string":
        raise ParameterError(f"text column `{name}` is of type {kind}: use one of strings, or cast it")


def column(df: DataFrame, name: str) -> Column:
    """Return a column by its whole name, whatever characters it has."""
    return df["`" + name.replace("`", "``") + "`"]
