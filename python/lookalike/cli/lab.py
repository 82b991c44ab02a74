"""``lookalike lab``: the papers' experiments."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lookalike import params
from lookalike.cli import options
from lookalike.cli.command import Command
from lookalike.errors import ParameterError
from lookalike.lab import EXPERIMENTS, LABELLED, NARROWED, OUT


@click.group(short_help="Repeat the experiments of the papers.")
def lab() -> None:
    """Repeat the experiments of the papers, on your own corpus or on made-up texts.

    Each experiment prints the paper's figures beside ours, and writes its plot and its data to the folder --out.

    \b
    Examples:
      lookalike lab list
      lookalike lab density --corpus essays/
      lookalike lab simhash-pr --corpus rows.jsonl -o results
    """


@lab.command("list", cls=Command, short_help="List the experiments.")
@options.as_json
def lab_list(as_json: bool) -> None:
    """List the experiments, one per line.

    \b
    Examples:
      lookalike lab list
      lookalike lab list --json
    """
    if as_json:
        click.echo(json.dumps(EXPERIMENTS, indent=2, ensure_ascii=False))
        return
    width = max(map(len, EXPERIMENTS)) + 2
    for name, summary in EXPERIMENTS.items():
        click.echo(f"{name:{width}}{summary}")


def _help(name: str, summary: str) -> str:
    labelled = "\n\nPAIRS is a CSV file with the columns left, right and label." if name in LABELLED else ""
    return (
        f"{summary}\n\nPrints the paper's figures beside ours, and writes {name}.png, {name}.svg and {name}.json to "
        f"the folder --out.{labelled}\n\n\b\nExamples:\n  lookalike lab {name}\n  lookalike lab {name} --corpus essays/"
    )


def experiment_command(name: str, summary: str) -> click.Command:
    """Make the subcommand of one experiment."""

    @click.command(name, cls=Command, help=_help(name, summary), short_help=summary)
    @click.option(
        "--corpus",
        type=click.Path(path_type=Path),
        help="Folder or file with texts or rows. Default: made-up texts, the same for the same --seed.",
    )
    @options.option(params.SEED)
    @options.report_folder("the plot and the data", default=OUT, show_default=True)
    @options.overwrite
    @options.as_json
    @options.quiet
    def command(
        corpus: Path | None,
        seed: int,
        out: Path,
        overwrite: bool,
        as_json: bool,
        quiet: bool,
        pairs: Path | None = None,
        bits: int | None = None,
    ) -> None:
        from lookalike import lab as laboratory
        from lookalike.rendering.terminal import experiments as printed
        from lookalike.rendering.terminal.progress import waiting

        if not overwrite and (out / f"{name}.json").exists():
            raise ParameterError(f"`{out / name}.json` exists: use another --out, or --overwrite to replace it")
        with waiting(f"running {name}", quiet=quiet):
            outcome = laboratory.run(name, corpus, seed, out, pairs, bits)
        if as_json:
            click.echo(outcome.data.read_text(encoding="utf-8"), nl=False)
        else:
            printed.outcome_table(outcome, quiet=quiet)

    if name in NARROWED:
        command = options.option(params.SKETCHING["bits"])(command)
    if name in LABELLED:
        command.params.insert(0, click.Argument(["pairs"], required=False, type=click.Path(path_type=Path)))
    return command


def add_experiments() -> None:
    """Add a subcommand for each experiment. Their names are known without importing them."""
    for name, summary in EXPERIMENTS.items():
        lab.add_command(experiment_command(name, summary))


add_experiments()
