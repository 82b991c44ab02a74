"""Figures on the pages of the documentation equal those in the code: thresholds, cut-offs and limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lookalike import _core, params
from lookalike.documents import Limits
from lookalike.engines.confined import LIMITS

DOCS = Path(__file__).parents[2] / "docs"
#: Names of languages on the page, by those of `--language`.
TITLES = {"Java": "java", "C#": "csharp", "Kotlin": "kotlin", "Scala": "scala", "C": "c", "C++": "cpp"}
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "MB": 10**6, "bytes": 1, "s": 1}


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def rows(text: str) -> dict[str, str]:
    """The rows of all tables: first cell to the rest."""
    found = re.findall(r"^\| (.+?) \| (.+) \|$", text, re.MULTILINE)
    return {re.sub(r" \(.*\)$", "", name): rest for name, rest in found}


def sizes(text: str) -> list[int]:
    """Every size in a text, in bytes or seconds; a number without a unit as it is."""
    found = re.findall(r"(\d[\d,]*)(?: (KiB|MiB|GiB|MB|bytes|s)\b)?", text)
    return [int(number.replace(",", "")) * UNITS.get(unit, 1) for number, unit in found]


def thresholds(cell: str) -> dict[str, tuple[int, int]]:
    """k and t of each language that a cell names, "" for all others."""
    stated = {}
    for part in cell.split("; "):
        names, k, t = re.fullmatch(r"(.*?) ?(\d+), (\d+)", part).groups()
        stated.update(dict.fromkeys(filter(None, names.split(", ")) if names else [""], (int(k), int(t))))
    return stated


def test_k_and_t_of_each_language_are_those_of_the_code():
    table = rows(page("compare.md").split("## What is compared")[1].split("##")[0])
    with_grammar, lexed, prose = (row.rsplit(" | ", 1)[1] for name, row in table.items() if name != "files")
    stated = thresholds(with_grammar)
    assert stated.pop("") == params.CODE_THRESHOLDS
    told = {TITLES[title]: pair for title, pair in stated.items()}
    assert {"text": thresholds(prose)[""], **told} == params.LANGUAGE_THRESHOLDS
    assert thresholds(lexed) == {"": params.CODE_THRESHOLDS}


def test_every_cut_off_is_that_of_the_code():
    text = page("compare.md")
    programs, essays = re.search(r"pairs from (\S+) on are listed .* from (\S+) on in a class of essays", text).groups()
    assert (float(programs), float(essays)) == (params.CODE_CUT_OFF, params.LANGUAGE_CUT_OFFS["text"])
    for name, row in rows(text.split("**The cut-off.**")[1].split("**The cluster threshold**")[0]).items():
        if name != "labelled set" and not name.startswith("-"):
            usual = params.LANGUAGE_CUT_OFFS["text"] if "essays" in name else params.CODE_CUT_OFF
            assert float(row.split(" | ")[0]) == usual, name
    assert f"score at least {params.CLUSTER_THRESHOLD.default}" in text


@pytest.mark.parametrize("name", ["compare.md", "limits.md"])
def test_the_lists_are_as_long_as_the_code_makes_them(name: str):
    text = page(name)
    for parameter, most in (
        (params.MAX_PAIRS, params.MAX_PAIRS.default),
        (params.MAX_PASSAGES, params.MAX_PASSAGES.default),
    ):
        stated = re.search(rf"([\d,]+) \w+ \([^)]*`--{parameter.name.replace('_', '-')}`\)", text).group(1)
        assert int(stated.replace(",", "")) == most, parameter.name
    assert sizes(re.search(r"(\d+ MB)[^.;]*`--max-size`", text).group(1)) == [params.PAGE_BYTES]


def test_every_limit_of_compare_is_that_of_the_code():
    table, limits = rows(page("limits.md")), Limits()
    expected = {
        "one file": [limits.file_bytes],
        "all files together": [limits.total_bytes],
        "files and folders": [limits.files],
        "members of an archive and of archives inside it": [limits.archive_entries],
        "expanded size of an archive": [limits.archive_bytes, limits.archive_ratio],
        "archives inside an archive": [limits.archive_depth, limits.nested_bytes],
        "length of a path": [limits.path_bytes],
        "memory": [LIMITS.memory_bytes],
        "processor time": [LIMITS.cpu_seconds],
        "the text or member it returns": [LIMITS.output_bytes],
        "k, t": [_core.MAX_T],
        "pairs that `dedup --pairs` lists": [params.DEDUPLICATION["max_pairs"].default],
        "Hamming distance": [params.DISTANCE.most],
    }
    assert {name: sizes(table[name].split(" | ")[0]) for name in expected} == expected
