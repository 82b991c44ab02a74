"""The command line: parse, call the library, print. Results go to stdout, everything else to stderr.

Heavy modules are imported inside the command that needs them, so that ``--version`` and completion stay light.
"""

from __future__ import annotations

import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike._core import __version__
from lookalike.dedup_command import dedup
from lookalike.errors import FrontendError, ParameterError
from lookalike.lab import EXPERIMENTS, LABELLED, OUT
from lookalike.near_command import near
from lookalike.shell import ABOVE, INTERRUPTED, REFUSED, Command, fail, option, spoken_errors
from lookalike.simhash_command import simhash

if TYPE_CHECKING:
    from lookalike.designing import Design


def selection_options(command: Command) -> Command:
    """Add the options that decide which fingerprints a text has."""
    chosen = (params.K, params.T, params.SCHEME, params.UNIT, params.HOMOGLYPHS, params.MODULUS, params.COUNT)
    for parameter in reversed(chosen):
        command = option(parameter)(command)
    return command


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


cli.add_command(dedup)
cli.add_command(near)
cli.add_command(simhash)


def comparison_options(command: Command) -> Command:
    """Add the options that decide what is compared, and how."""
    chosen = (
        params.LANGUAGE, params.K, params.T, params.TEMPLATE, params.OLD, params.BY_DIRECTORY, params.LAYOUT,
        params.INCLUDE, params.EXCLUDE, params.FOLLOW_LINKS, params.COMMENTS, params.MAX_SHARING, params.MIN_SCORE,
        params.CLUSTER_THRESHOLD,
    )  # fmt: skip
    for parameter in reversed(chosen):
        command = option(parameter)(command)
    return command


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@comparison_options
@option(params.TOP, type=click.IntRange(min=0))
@option(params.TITLE)
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the report; by default a new dated one.")
@click.option("--overwrite", is_flag=True, help="Replace the report that is in --out.")
@click.option("--open", "open_report", is_flag=True, help="Open the report in the browser.")
@option(params.ANONYMISE)
@click.option("--fail-above", type=click.FloatRange(0, 1), help="Exit with 1 if a pair has at least this score.")
@click.option("--strict", is_flag=True, help="Exit with 3 if anything was skipped.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json; a folder is written only with --out.")
def compare(
    paths: tuple[str, ...],
    top: int,
    title: str | None,
    out: Path | None,
    overwrite: bool,
    open_report: bool,
    anonymise: bool,
    fail_above: float | None,
    strict: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Tell who copied from whom: ranked pairs, the passages they share, clusters, and a report to defend it with.

    PATH is a folder of submissions (a folder in it is one submission, else a file is), an archive of such a folder, an
    export of Moodle or Canvas, several files, or a pattern.

    \b
    Examples:
      lookalike compare submissions/ --template starter/
      lookalike compare homework.zip -l java --open
      lookalike compare essays/*.docx --min-score 0.05
      lookalike compare this-year/ --old last-year/ --anonymise --out report

    Similarity is not proof of copying: the report shows the passages, and a person decides.
    """
    from lookalike.report import comparison as printed
    from lookalike.report import folder

    least = chosen["min_score"]
    if fail_above is not None and not fail_above >= least:
        raise ParameterError(f"fail-above `{fail_above:g}` is below min-score `{least:g}`: such pairs are not listed")
    if out is not None:
        folder.check_out(out, overwrite)
    report = printed.run(list(paths), title, chosen)
    written = None
    if out is not None or not as_json:
        written = printed.write(report, out or printed.dated_folder(), top, anonymise, overwrite)
    if written is None or as_json:
        click.echo(printed.as_json(report, written, anonymise), nl=False)
    else:
        printed.print_table(written.report, written)
    if open_report and written is not None:
        click.launch(written.overview.resolve().as_uri())
    if strict and report.skipped:
        fail(f"--strict was given and inputs were skipped: {len(report.skipped):,}", REFUSED)
    if fail_above is not None and any(pair.score >= fail_above for pair in report.pairs):
        sys.exit(ABOVE)


@cli.command()
def languages() -> None:
    """List the languages that `compare -l` knows, with their files' suffixes."""
    from lookalike.frontends import LANGUAGES

    for name, language in sorted(LANGUAGES.items()):
        click.echo(f"{name:14}{' '.join(sorted(language.suffixes))}")


def sketching_options(command: Command) -> Command:
    """Add the options that decide what a sketch is; without a name all of them are shown."""
    for name, parameter in reversed(params.SKETCHING.items()):
        command = option(replace(parameter, default=None) if name == "sketch" else parameter)(command)
    return command


@cli.command()
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@sketching_options
@option(params.HOMOGLYPHS)
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document instead of a table.")
def similarity(left: str, right: str, sketch: str | None, as_json: bool, **chosen: Any) -> None:
    """Tell how much A and B resemble and contain each other, exactly and by every sketch with its interval.

    A and B are files of any format that `compare` reads, or - for standard input.

    \b
    Examples:
      lookalike similarity draft.txt final.pdf
      lookalike similarity a.txt b.txt --shingle 5 --labelled
      lookalike similarity chapter.txt book.txt --sketch modulo --modulus 64
      cat a.txt | lookalike similarity - b.txt --json
    """
    from lookalike import documents, measuring
    from lookalike.report import similarity as printed

    if left == right == "-":
        raise ParameterError("standard input can be read once: give a file for one of the two")
    a, b = (
        measuring.read("standard input", documents.read_stdin())
        if path == "-"
        else measuring.read(path, documents.read(path))
        for path in (left, right)
    )
    found = measuring.similarity(a, b, (sketch,) if sketch else params.SKETCHES, **chosen)
    if as_json:
        click.echo(printed.as_json(found))
    else:
        printed.print_table(found)


@cli.command()
@click.argument("path")
@selection_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document instead of a table.")
@click.option("-n", "--top", "rows", type=click.IntRange(min=0), default=20, show_default=True, help="Rows; 0 for all.")
def fingerprint(path: str, as_json: bool, rows: int, **chosen: Any) -> None:
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
        printed.fingerprints_table(found, path, rows)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _designed(chosen: dict[str, Any], given: set[str]) -> Design:
    """Solve for a filter, or take the one that was given."""
    from lookalike import designing
    from lookalike.filters import Filter

    goal = ("recall", "false_accept", "at", "bytes", "elements")
    if chosen["filter"] is None:
        return designing.design(sketch=chosen["sketch"], threshold=chosen["threshold"], **{n: chosen[n] for n in goal})
    if others := [name for name in goal if name in given]:
        raise ParameterError(f"{_flag(others[0])} is part of a goal and --filter names a filter: ask for one")
    threshold = chosen["threshold"] if "threshold" in given else None
    return designing.look(Filter.parse(chosen["filter"]), threshold, chosen["sketch"])


#: Options that ask for tables of fingerprints.
TABLED = {"distance", "fingerprints", "tables"}


def _design_tables(chosen: dict[str, Any], given: set[str], as_json: bool) -> None:
    """Print the tables for a Hamming distance."""
    from lookalike.report import table_designs
    from lookalike.tabling import design_tables

    if others := sorted(given - TABLED - {"bytes"}):
        raise ParameterError(f"{_flag(others[0])} belongs to a filter or a sketch, --distance to tables: ask for one")
    tables = chosen["tables"] if "tables" in given else None
    found = design_tables(chosen["distance"], chosen["fingerprints"], tables=tables, bytes=chosen["bytes"])
    click.echo(table_designs.to_json(found), nl=False) if as_json else table_designs.show(found)


def design_options(command: Command) -> Command:
    """Add the options that say what a filter or a sketch is designed for."""
    chosen = (
        params.THRESHOLD, params.RECALL, params.FALSE_ACCEPT, params.AT, params.BYTES, params.ELEMENTS, params.SKETCH,
        params.FILTER, params.ERROR, params.CONFIDENCE, params.DOCUMENTS, params.TRIALS, params.SEED, params.DISTANCE,
        params.FINGERPRINTS, params.TABLES,
    )  # fmt: skip
    for parameter in reversed(chosen):
        command = option(parameter, **({"type": click.IntRange(min=1)} if parameter is params.DOCUMENTS else {}))(
            command
        )
    return command


@cli.command()
@design_options
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the curve into this .png or .svg too.")
@click.option("--overwrite", is_flag=True, help="Replace the file that --plot names.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document instead of a table.")
@click.pass_context
def design(
    context: click.Context, /, documents: int, plot: Path | None, overwrite: bool, as_json: bool, **chosen: Any
) -> None:
    """Find the filter for a goal, with its curve and its cost; with --error or --confidence, the size of a sketch.

    With --distance or --fingerprints, the tables in which all fingerprints within a Hamming distance are found.

    \b
    Examples:
      lookalike design --threshold 0.8 --recall 0.99
      lookalike design --threshold 0.9 --bytes 120 --documents 200000000 --plot curve.png
      lookalike design --filter 6,14,2
      lookalike design --error 0.05 --confidence 0.95 --documents 30000000
      lookalike design --distance 3 --fingerprints 8e9
    """
    from lookalike import sampling
    from lookalike.report import designs as printed

    given = {name for name in chosen if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    if given & TABLED:
        _design_tables(chosen, given, as_json)
        return
    if given & {"error", "confidence"}:
        if others := sorted(given - {"error", "confidence"}) + ["plot"] * bool(plot):
            raise ParameterError(
                f"{_flag(others[0])} belongs to a filter, --error and --confidence to a sketch: ask for one"
            )
        sketch = sampling.design_sketch(chosen["error"], chosen["confidence"], documents)
        click.echo(printed.sketch_json(sketch), nl=False) if as_json else printed.print_sketch(sketch)
        return
    if plot:
        printed.check_plot(plot, overwrite)
    found = _designed(chosen, given)
    measured = printed.measure(found, chosen["trials"], chosen["seed"])
    if plot:
        printed.save_plot(found, measured, plot)
    if as_json:
        click.echo(printed.design_json(found, measured, documents), nl=False)
    else:
        printed.print_design(found, measured, documents)


@cli.command()
@click.option(
    "--out", type=click.Path(path_type=Path), default="lookalike-demo", show_default=True, help="Folder of the report."
)
@click.option("--overwrite", is_flag=True, help="Replace any report that is in --out, not only one of this demo.")
@click.option("--open", "open_report", is_flag=True, help="Open the report in the browser.")
def demo(out: Path, overwrite: bool, open_report: bool) -> None:
    """Tell the story on two texts and a small class that ship with the package, offline, and write its report."""
    from lookalike import demo as story

    page = story.tell(out, overwrite)
    if open_report:
        click.launch(page.resolve().as_uri())


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
        from lookalike.report import text as printed

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
