"""The command line: parse, call the library, show. Results go to stdout, everything else to stderr.

Heavy modules are imported inside the command that needs them, so that ``--version`` and completion stay light.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import click

from lookalike._core import __version__
from lookalike.cli.compare import compare
from lookalike.cli.completion import completion
from lookalike.cli.dedup import dedup
from lookalike.cli.demo import demo
from lookalike.cli.design import design
from lookalike.cli.fingerprint import fingerprint
from lookalike.cli.lab import lab
from lookalike.cli.languages import languages
from lookalike.cli.near import near
from lookalike.cli.shell import INTERRUPTED, fail, spoken_errors
from lookalike.cli.simhash import simhash
from lookalike.cli.similarity import similarity


class Commands(click.Group):
    """The commands of the program. A reader that goes away, as `head` does, is not an error in any of them."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, SystemExit) as error:
            # click and rich would leave with 1, which means something else here.
            if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
                raise
            # Python would complain while closing stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="lookalike")
def cli() -> None:
    """Tell which documents are the same, nearly the same, or share passages, and exactly where.

    Results go to stdout (tables for people, --json for programs), messages to stderr.
    Exit codes: 0 done, 1 a pair is above --fail-above, 2 usage, 3 input refused, 4 a table is damaged, 5 it is locked,
    6 it is of another version, 7 I/O error, 70 internal error, 130 interrupted.
    """


for command in (compare, dedup, similarity, simhash, near, fingerprint, design, lab, demo, languages, completion):
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a letter of a name gets its escape, not an error.
            stream.reconfigure(errors="backslashreplace")
    with spoken_errors():
        try:
            code = cli.main(standalone_mode=False)
        except click.exceptions.Abort:
            fail("interrupted", INTERRUPTED)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
    sys.exit(code if isinstance(code, int) else 0)
