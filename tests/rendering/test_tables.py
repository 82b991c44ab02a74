"""The one CSV writer: no cell is a formula to a spreadsheet, in any width of its signs."""

from __future__ import annotations

import csv
import io

import pytest

from lookalike.rendering.tables import cell, guarded, rows, write_rows

SIGNS = list("=+-@＝＋－＠\t\r\n\0")


@pytest.mark.parametrize("sign", SIGNS)
def test_what_begins_like_a_formula_gets_an_apostrophe(sign: str):
    for text in (f"{sign}cmd|' /C calc'!A0", f"{sign}1+1", sign):
        assert guarded(text) == "'" + text
        assert cell(text).lstrip('"').startswith("'")
        written = io.StringIO(newline="")
        write_rows(written, [["name", text]])
        assert next(csv.reader(io.StringIO(written.getvalue(), newline="")))[1] == "'" + text


@pytest.mark.parametrize("text", ["", "name", "a=b", "1", "-1", "+2.5", "-0.25", "x＝1", "ａ"])
def test_what_is_no_formula_stays_as_it_is(text: str):
    assert guarded(text) == cell(text) == text


@pytest.mark.parametrize("text", ["-1e5", "+1.", "-", "--1", "-1,5", "－1", "-1\n"])
def test_what_is_no_plain_number_is_guarded(text: str):
    assert guarded(text) == "'" + text


def test_cells_are_quoted_where_they_must_be():
    assert cell('a,"b"') == '"a,""b"""'
    assert rows("a,b", ["1,2", "3,4"]) == "a,b\r\n1,2\r\n3,4\r\n"


def test_numbers_are_written_as_they_are():
    written = io.StringIO(newline="")
    write_rows(written, [[-1, 0.5, None]])
    assert written.getvalue() == "-1,0.5,\r\n"
