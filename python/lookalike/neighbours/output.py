"""Writes the pairs that ``near`` found as CSV or Parquet; a file appears complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from lookalike import _core
from lookalike.corpora import Staging
from lookalike.corpora.arrays import arrow
from lookalike.corpora.suffixes import check_table, split
from lookalike.corpora.tables import text_file

if TYPE_CHECKING:
    from lookalike.neighbours.files import NearReport

HEADER = ("left", "right", "distance")
#: Pairs written at a time.
PAIRS = 1 << 16


def check(out: str | os.PathLike[str]) -> None:
    """Errors: ``ParameterError`` if the suffix names no format that is written here."""
    check_table("out", os.fspath(out))


def write(report: NearReport, out: str | os.PathLike[str], inputs: Sequence[str], overwrite: bool) -> None:
    """Write the pairs. Errors: ``ParameterError``, ``FileExistsError``, ``OSError``, ``MissingExtraError``."""
    target = os.fspath(out)
    check(target)
    with Staging(overwrite=overwrite, inputs=list(inputs)) as staging:
        if split(target)[0] == ".csv":
            with text_file(staging.file(target), target) as file:
                write_csv(file, report)
        else:
            _write_parquet(staging.file(target), report)
        staging.commit()


def write_csv(file: TextIO, report: NearReport) -> None:
    """Write the pairs as CSV to an open file; ids are guarded against formulas."""
    file.write(",".join(HEADER) + "\r\n")
    for first in range(0, len(report.distances), PAIRS):
        part = _core.csv_pairs(report.left, report.right, report.distances, first, first + PAIRS)
        file.write(part.decode())


def _write_parquet(path: str, report: NearReport) -> None:
    pa = arrow("a Parquet file")
    from pyarrow import parquet

    columns = (report.left, report.right, report.distances)
    arrays = [pa.array(one).cast(kind) for one, kind in zip(columns, ("string", "string", "uint8"), strict=True)]
    parquet.write_table(pa.table(dict(zip(HEADER, arrays, strict=True))), path)
