"""``lookalike lab``: the papers' experiments."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lookalike import params
from lookalike.cli.shell import option
from lookalike.errors import ParameterError
from lookalike.lab import EXPERIMENTS, LABELLED, OUT


@click.group()
def lab() -> None:
    """Repeat the papers' experiments, on your own corpus if you like."""


@lab.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def lab_list(as_json: bool) -> None:
    """List the experiments."""
    if as_json:
        click.echo(json.dumps(EXPERIMENTS, indent=2, ensure_ascii=False))
        return
    width = max(map(len, EXPERIMENTS)) + 2
    for name, summary in EXPERIMENTS.items():
        click.echo(f"{name:{width}}{summary}")


def experiment_command(name: str, summary: str) -> click.Command:
    """Make the subcommand of one experiment."""

    @click.command(name, help=f"{summary}\n\nWrites {name}.png, {name}.svg and {name}.json to --out.")
    @click.option(
        "--corpus", type=click.Path(path_type=Path), help="Folder or file of texts, or rows; made up if not given."
    )
    @option(params.SEED)
    @click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True, help="Where to write.")
    @click.option("--overwrite", is_flag=True, help="Replace what an earlier run wrote to --out.")
    @click.option("--json", "as_json", is_flag=True, help="Print the JSON that is also written to --out.")
    def command(
        corpus: Path | None, seed: int, out: Path, overwrite: bool, as_json: bool, pairs: Path | None = None
    ) -> None:
        from lookalike import lab as laboratory
        from lookalike.rendering.terminal import experiments as printed

        if not overwrite and (out / f"{name}.json").exists():
            raise ParameterError(f"`{out / name}.json` exists: use --overwrite or another --out")
        with printed.patience(f"running {name}"):
            outcome = laboratory.run(name, corpus, seed, out, pairs)
        if as_json:
            click.echo(outcome.data.read_text(encoding="utf-8"), nl=False)
        else:
            printed.outcome_table(outcome)

    if name in LABELLED:
        command.params.insert(0, click.Argument(["pairs"], required=False, type=click.Path(path_type=Path)))
    return command


def add_experiments() -> None:
    """Hang the experiments under `lab`; their names are known without importing them."""
    for name, summary in EXPERIMENTS.items():
        lab.add_command(experiment_command(name, summary))


add_experiments()
