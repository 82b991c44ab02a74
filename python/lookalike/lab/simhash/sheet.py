"""A sheet on which a person says what pairs of texts are: a CSV for spreadsheets, and a page for browsers.

Both hold the same pairs in the same order, which is drawn, so that the distance cannot be guessed from the place. Tags
are true, false or unknown, after Manku 2007, §4.1; `labels.read` reads them back. The page needs nothing but itself:
tags are kept in it until it is asked for the CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from lookalike import params
from lookalike.lab.shared.labels import COLUMNS, TAGS
from lookalike.lab.simhash.simhashed import beginning

#: Characters of each text on the sheet.
SHOWN = 600
EXPLANATION = (
    "true: the two differ slightly, in counters, advertisements, dates or a few words. false: they are different "
    "texts. unknown: it cannot be told, for instance in a language that you do not read."
)
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Tag pairs</title>
<style>
body {{ font: 15px/1.4 system-ui, sans-serif; max-width: 75rem; margin: 1rem auto; padding: 0 1rem; color: #222 }}
section {{ border-top: 1px solid #ccc; padding: .6rem 0 }}
.texts {{ display: grid; grid-template-columns: 1fr 1fr; gap: 1.2rem }}
.texts p {{ margin: .2rem 0; overflow-wrap: anywhere }}
header {{ position: sticky; top: 0; background: #fff; padding: .5rem 0 }}
label {{ margin-right: 1.2rem }}
</style>
<header><b>{count:,} pairs of {corpus}</b> <button id="save">Save the tags as CSV</button> <span id="done"></span>
<br>{explanation}</header>
<form>
{pairs}
</form>
<script>
const rows = document.querySelectorAll("section"), done = document.getElementById("done");
const tag = row => (row.querySelector("input:checked") || {{value: ""}}).value;
const count = () => done.textContent = [...rows].filter(tag).length + " tagged";
const cell = text => '"' + text.replaceAll('"', '""') + '"';
document.querySelector("form").addEventListener("change", count);
document.getElementById("save").addEventListener("click", () => {{
  const lines = [...rows].map(row => [row.dataset.left, row.dataset.right, tag(row)].map(cell).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["{header}\\r\\n" + lines.join("\\r\\n") + "\\r\\n"], {{type: "text/csv"}}));
  link.download = "{file}";
  link.click();
}});
count();
</script>
</html>
"""


class Row(NamedTuple):
    """A pair on the sheet: names and texts."""

    left: str
    right: str
    left_text: bytes
    right_text: bytes


def to_csv(rows: Sequence[Row]) -> str:
    """Return the sheet with an empty column for tags; no cell can be taken for a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow((*COLUMNS, "left_text", "right_text"))
    for row in rows:
        texts = (beginning(text, SHOWN) for text in (row.left_text, row.right_text))
        writer.writerow([_safe(row.left), _safe(row.right), "", *map(_safe, texts)])
    return out.getvalue()


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(params.FORMULA) else cell


def to_html(rows: Sequence[Row], corpus: str, file: str) -> str:
    """Return the same sheet as a page that hands the tags over as the CSV ``file``."""
    pairs = "\n".join(_section(number, row) for number, row in enumerate(rows, 1))
    return _PAGE.format(
        count=len(rows),
        corpus=escape(corpus),
        explanation=escape(EXPLANATION),
        pairs=pairs,
        header=",".join(COLUMNS),
        file=file,
    )


def _section(number: int, row: Row) -> str:
    tags = "".join(f'<label><input type="radio" name="{number}" value="{tag}"> {tag}</label>' for tag in TAGS)
    texts = "".join(
        f"<div><b>{escape(name)}</b><p>{escape(beginning(text, SHOWN))}</p></div>"
        for name, text in ((row.left, row.left_text), (row.right, row.right_text))
    )
    return (
        f'<section data-left="{escape(_safe(row.left))}" data-right="{escape(_safe(row.right))}">'
        f'{number}. {tags}<div class="texts">{texts}</div></section>'
    )


def is_tagged(text: str) -> bool:
    """Tell whether someone has tagged a row of a sheet, so that it must not be written over."""
    return any((row.get("label") or "").strip() for row in csv.DictReader(io.StringIO(text)))
