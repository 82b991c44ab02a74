"""Writes the pairs that ``near`` found as CSV or Parquet; a file appears complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from lookalike.corpora import Staging
from lookalike.corpora.suffixes import check_table
from lookalike.corpora.tables import write_table
from lookalike.rendering.tables import write_rows

if TYPE_CHECKING:
    from lookalike.neighbours.files import NearReport

HEADER = ("left", "right", "distance")


def check(out: str | os.PathLike[str]) -> None:
    """Errors: ``ParameterError`` if the suffix names no format that is written here."""
    check_table("out", os.fspath(out))


def write(report: NearReport, out: str | os.PathLike[str], inputs: Sequence[str], overwrite: bool) -> None:
    """Write the pairs. Errors: ``ParameterError``, ``FileExistsError``, ``OSError``, ``MissingExtraError``."""
    target = os.fspath(out)
    check(target)
    with Staging(overwrite=overwrite, inputs=list(inputs)) as staging:
        write_table(staging.file(target), target, HEADER, _rows(report))
        staging.commit()


def write_csv(file: TextIO, report: NearReport) -> None:
    """Write the pairs as CSV to an open file."""
    write_rows(file, [HEADER, *_rows(report)])


def _rows(report: NearReport) -> Iterable[tuple[str, str, int]]:
    return zip(report.left, report.right, report.distances, strict=True)
