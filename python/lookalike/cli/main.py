"""The command line: parses arguments, calls the library, prints. Results go to stdout, progress and errors to stderr.

Heavy modules are imported inside the command that needs them, so that ``--version`` and completion start fast.
"""

from __future__ import annotations

import io
import sys
from typing import Any

import click

from lookalike._core import __version__
from lookalike.cli import index_care
from lookalike.cli.compare import compare
from lookalike.cli.completion import completion
from lookalike.cli.dedup import dedup
from lookalike.cli.demo import demo
from lookalike.cli.design import design
from lookalike.cli.fingerprint import fingerprint
from lookalike.cli.index import index
from lookalike.cli.lab import lab
from lookalike.cli.languages import languages
from lookalike.cli.near import near
from lookalike.cli.query import query
from lookalike.cli.seen import seen
from lookalike.cli.serve import serve
from lookalike.cli.shell import INTERRUPTED, fail, spoken_errors
from lookalike.cli.simhash import simhash
from lookalike.cli.similarity import similarity
from lookalike.cli.streams import close_stdout
from lookalike.cli.token import token


class Commands(click.Group):
    """The commands of the program. A reader that closes the pipe, as `head` does, is not an error in any of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a reader needs them."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, SystemExit) as error:
            # click and rich would exit with 1, which means something else here.
            if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
                raise
            close_stdout()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="lookalike")
def cli() -> None:
    """Find documents that are the same, nearly the same, or share passages, and show where.

    Results go to stdout (tables for people, --json for programs). Progress and errors go to stderr.

    \b
    Start with:
      lookalike demo
      lookalike compare submissions/ --template starter/
      lookalike dedup corpus.jsonl -o clean.jsonl

    \b
    Exit codes:
      0    done
      1    a pair reaches --fail-above
      2    wrong usage
      3    an input was refused
      4    a table or index is damaged
      5    a table or index is locked by another process
      6    a table or index has another version or parameters
      7    no space, or reading or writing failed
      70   a fault of lookalike itself
      130  interrupted
    """


index_care.add_to(index)
for command in (
    demo,
    compare,
    dedup,
    index,
    query,
    seen,
    serve,
    token,
    similarity,
    simhash,
    near,
    fingerprint,
    design,
    lab,
    languages,
    completion,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A letter that the terminal cannot show is printed as an escape, not as an error.
            stream.reconfigure(errors="backslashreplace")
    with spoken_errors():
        try:
            code = cli.main(standalone_mode=False)
        except (click.exceptions.Abort, KeyboardInterrupt):
            fail("interrupted", INTERRUPTED)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
    sys.exit(code if isinstance(code, int) else 0)
