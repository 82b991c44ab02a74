"""The pairs that ``near`` found, as CSV or Parquet; a file appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from lookalike.corpora import Staging
from lookalike.corpora.arrays import arrow
from lookalike.errors import ParameterError
from lookalike.rendering.tables import write_rows

if TYPE_CHECKING:
    from lookalike.neighbours.files import NearReport

HEADER = ("left", "right", "distance")
PARQUET = (".parquet", ".pq")


def check(out: str | os.PathLike[str]) -> None:
    """Errors: ``ParameterError`` if the suffix names no format that is written here."""
    if not os.fspath(out).lower().endswith((".csv", *PARQUET)):
        raise ParameterError(f"output `{os.fspath(out)}` has no known format: use .csv or .parquet")


def write(report: NearReport, out: str | os.PathLike[str], inputs: Sequence[str], overwrite: bool) -> None:
    """Write the pairs. Errors: ``ParameterError``, ``FileExistsError``, ``OSError``, ``MissingExtraError``."""
    target = os.fspath(out)
    check(target)
    with Staging(overwrite=overwrite, inputs=list(inputs)) as staging:
        staged = staging.file(target)
        if target.lower().endswith(PARQUET):
            _write_parquet(report, staged)
        else:
            with open(staged, "w", encoding="utf-8", newline="") as file:
                write_csv(file, report)
        staging.commit()


def write_csv(file: TextIO, report: NearReport) -> None:
    """Write the pairs as CSV to an open file."""
    write_rows(file, [HEADER, *zip(report.left, report.right, report.distances, strict=True)])


def _write_parquet(report: NearReport, path: str) -> None:
    pa = arrow("Parquet")
    from pyarrow import parquet

    columns = [pa.array(report.left), pa.array(report.right), pa.array(report.distances, pa.uint8())]
    parquet.write_table(pa.table(columns, names=list(HEADER)), path)
