"""Commands in messages can be pasted into a shell, also where a path has spaces."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.archive import faults
from lookalike.cli.main import cli


def command(told: str, start: str) -> list[str]:
    """Return the words of a command in a message, as a shell reads them."""
    rest = told[told.index(start) :]
    return shlex.split(rest.partition("`")[0].partition("\n")[0])


@pytest.fixture
def index(tmp_path: Path) -> str:
    return str(tmp_path / "old classes")


def test_the_next_step_after_create(index: str):
    done = CliRunner().invoke(cli, ["index", "create", index])
    assert command(done.output, "lookalike index add") == [
        *("lookalike", "index", "add", index),
        *("FOLDER", "--label", "YEAR"),
    ]


def test_an_id_that_is_not_there(index: str):
    la.Index.create(index).close()
    for asked in (["show", index, "nobody"], ["remove", index, "nobody"]):
        done = CliRunner().invoke(cli, ["index", *asked])
        assert done.exit_code == 2
        assert command(done.output, "lookalike index list") == ["lookalike", "index", "list", index]


def test_a_damaged_index(index: str):
    la.Index.create(index).close()
    told = str(faults.damaged(f"{index}/catalog.sqlite", "a reason"))
    assert command(told, "lookalike index repair")[-1] == index
    Path(index, "catalog.sqlite").unlink()
    done = CliRunner().invoke(cli, ["index", "list", index])
    assert done.exit_code != 0
    assert "Traceback" not in done.output


def test_serve_takes_no_index_too():
    done = CliRunner().invoke(cli, ["serve", "--help"])
    assert "[INDEX]..." in done.output
