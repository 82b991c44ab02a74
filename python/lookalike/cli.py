"""The command line: parse, call the library, print. Results go to stdout, everything else to stderr.

Heavy modules are imported inside the command that needs them, so that ``--version`` and completion stay light.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from lookalike import params
from lookalike._core import __version__
from lookalike.errors import FrontendError, MissingExtraError, ParameterError
from lookalike.lab import EXPERIMENTS, OUT
from lookalike.params import Parameter
from lookalike.report.safe import visible

#: Exit codes, the same in every command.
USAGE, REFUSED, IO_ERROR, INTERNAL, INTERRUPTED = 2, 3, 7, 70, 130

Command = TypeVar("Command", bound=Callable[..., Any])


def option(parameter: Parameter, **extra: Any) -> Callable[[Command], Command]:
    """Turn a parameter into a click option: name, type, default and help come from its one definition."""
    if parameter.kind is bool:
        return click.option(parameter.option, parameter.name, is_flag=True, help=parameter.help, **extra)
    kind = click.Choice(parameter.choices) if parameter.choices else parameter.kind
    names = parameter.flags or (parameter.option,)
    shown = parameter.default is not None
    return click.option(
        *names, parameter.name, type=kind, default=parameter.default, show_default=shown, help=parameter.help, **extra
    )


def selection_options(command: Command) -> Command:
    """Add the options that decide which fingerprints a text has."""
    chosen = (params.K, params.T, params.SCHEME, params.UNIT, params.HOMOGLYPHS, params.MODULUS, params.COUNT)
    for parameter in reversed(chosen):
        command = option(parameter)(command)
    return command


@contextlib.contextmanager
def spoken_errors() -> Iterator[None]:
    """Turn what a user can cause into one line and an exit code; nobody is shown a traceback."""
    try:
        yield
    except ParameterError as error:
        fail(str(error), USAGE)
    except MissingExtraError as error:
        fail(str(error), USAGE)
    except FrontendError as error:
        fail(str(error), REFUSED)
    except BrokenPipeError:
        # The reader went away, as `head` does: not an error, but Python would complain while closing stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except FileNotFoundError as error:
        fail(f"`{error.filename}` does not exist: check the path", USAGE)
    except OSError as error:
        fail(f"`{error.filename or 'input'}` cannot be read or written: {error.strerror or error}", IO_ERROR)
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPTED)
    except SystemExit:
        raise
    except BaseException as error:
        # A fault of ours; a panic of the core arrives as an exception that is no Exception.
        fail(f"internal error, please report it with the command: {type(error).__name__}: {error}", INTERNAL)


def fail(message: str, code: int) -> None:
    """Say what went wrong and leave."""
    click.echo(f"lookalike: {visible(message)}", err=True)
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="lookalike")
def cli() -> None:
    """Tell which documents are the same, nearly the same, or share passages, and exactly where.

    Results go to stdout (tables for people, --json for programs), messages to stderr.
    Exit codes: 0 done, 2 usage, 3 input refused, 7 I/O error, 70 internal error, 130 interrupted.
    """


@cli.command()
@click.argument("path")
@selection_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document instead of a table.")
@click.option("-n", "--top", type=click.IntRange(min=0), default=20, show_default=True, help="Rows; 0 for all.")
def fingerprint(path: str, as_json: bool, top: int, **chosen: Any) -> None:
    """Show what the engine selects from PATH (- for standard input).

    \b
    Examples:
      lookalike fingerprint essay.txt
      lookalike fingerprint essay.txt --unit word -k 5 -t 12
      cat essay.txt | lookalike fingerprint - --scheme compact --json
    """
    from lookalike import documents, fingerprinting
    from lookalike.report import text as printed

    data = documents.read_stdin() if path == "-" else documents.read(path)
    try:
        found = fingerprinting.fingerprint(data, **chosen)
    except FrontendError as error:
        raise FrontendError(f"`{path}`: {error}") from None
    if as_json:
        for piece in printed.fingerprints_json(found, path):
            click.echo(piece, nl=False)
    else:
        printed.fingerprints_table(found, path, top)


@cli.command()
def demo() -> None:
    """Show the engine at work on two small embedded texts, offline."""
    from lookalike import demo as story

    story.tell()


@cli.group()
def lab() -> None:
    """Repeat the papers' experiments, on your own corpus if you like."""


@lab.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def lab_list(as_json: bool) -> None:
    """List the experiments."""
    if as_json:
        click.echo(json.dumps(EXPERIMENTS, indent=2, ensure_ascii=False))
        return
    for name, summary in EXPERIMENTS.items():
        click.echo(f"{name:16}{summary}")


def experiment_command(name: str, summary: str) -> click.Command:
    """Make the subcommand of one experiment."""

    @click.command(name, help=f"{summary}\n\nWrites {name}.png, {name}.svg and {name}.json to --out.")
    @click.option(
        "--corpus", type=click.Path(path_type=Path), help="Folder or file of texts; a synthetic one if not given."
    )
    @option(params.SEED)
    @click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True, help="Where to write.")
    @click.option("--overwrite", is_flag=True, help="Replace what an earlier run wrote to --out.")
    @click.option("--json", "as_json", is_flag=True, help="Print the JSON that is also written to --out.")
    def command(corpus: Path | None, seed: int, out: Path, overwrite: bool, as_json: bool) -> None:
        from lookalike import lab as laboratory
        from lookalike.report import text as printed

        if not overwrite and (out / f"{name}.json").exists():
            raise ParameterError(f"`{out / name}.json` exists: use --overwrite or another --out")
        with printed.patience(f"running {name}"):
            outcome = laboratory.run(name, corpus, seed, out)
        if as_json:
            click.echo(outcome.data.read_text(encoding="utf-8"), nl=False)
        else:
            printed.outcome_table(outcome)

    return command


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell: eval "$(lookalike completion bash)"."""
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(cli, {}, "lookalike", "_LOOKALIKE_COMPLETE").source())


def add_experiments() -> None:
    """Hang the experiments under `lab`; their names are known without importing them."""
    for name, summary in EXPERIMENTS.items():
        lab.add_command(experiment_command(name, summary))


add_experiments()


def main() -> None:
    """Run the command line."""
    with spoken_errors():
        try:
            code = cli.main(standalone_mode=False)
        except click.exceptions.Abort:
            fail("interrupted", INTERRUPTED)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
    sys.exit(code if isinstance(code, int) else 0)
