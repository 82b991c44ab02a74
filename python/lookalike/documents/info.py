"""``info.csv``, as Dolos and Dodona have it at the root of an export: who wrote what, and when.

Columns: ``filename`` (a path below the root), and if they are there ``full_name``, ``person``, ``label`` or ``labels``,
``created_at`` and ``ignored`` (``true`` marks a template). Other columns are ignored. Each row makes one submission of
the file, folder or archive it names. A file that no row names belongs to the submission in its folder if there is
exactly one, and is a submission of its own otherwise.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from lookalike.documents.reasons import RefusedError

INFO = "info.csv"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table."""

    path: str
    full_name: str | None
    person: str | None
    label: str | None
    time: str | None
    is_template: bool


def parse(data: bytes) -> list[Row]:
    """Read the table. Errors: ``RefusedError`` if it is none, or has no column of file names."""
    text = data.decode("utf-8-sig", "surrogateescape")
    header = text.partition("\n")[0]
    delimiter = next((sign for sign in ",;\t" if "filename" in header.strip().split(sign)), ",")
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        if "filename" not in (reader.fieldnames or ()):
            raise RefusedError("has no column `filename`: it is ignored")
        return [_row(values) for values in reader if values["filename"]]
    except csv.Error as error:
        raise RefusedError(f"is not a CSV table ({error}): it is ignored") from None


def _row(values: dict[str, str]) -> Row:
    def value(*names: str) -> str | None:
        return next((found for name in names if (found := (values.get(name) or "").strip())), None)

    parts = (part for part in values["filename"].strip().split("/") if part not in ("", "."))
    ignored = (value("ignored") or "").lower() == "true"
    full_name = value("full_name")
    person = value("person", "full_name")
    return Row("/".join(parts), full_name, person, value("label", "labels"), value("created_at"), ignored)
