"""``lookalike compare``: which submissions share material."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike.cli.shell import ABOVE, REFUSED, Command, fail, option
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.comparison.result import Report
    from lookalike.rendering.html.folder import Written


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


@click.command()
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
    from lookalike.comparison import job
    from lookalike.rendering.html import folder
    from lookalike.rendering.terminal import comparison as printed
    from lookalike.rendering.terminal.progress import progress

    least = chosen["min_score"]
    if fail_above is not None and not fail_above >= least:
        raise ParameterError(f"fail-above `{fail_above:g}` is below min-score `{least:g}`: such pairs are not listed")
    if out is not None:
        folder.check_out(out, overwrite)
    with progress(counts_bytes=False) as tell:
        report = job.compare(list(paths), progress=tell, title=title, **chosen)
    written = None
    if out is not None or not as_json:
        written = folder.write(report, out or _dated_folder(), top=top, anonymise=anonymise, overwrite=overwrite)
    if written is None or as_json:
        click.echo(_as_json(report, written, anonymise), nl=False)
    else:
        printed.print_table(written.report, written)
    if open_report and written is not None:
        click.launch(written.overview.resolve().as_uri())
    if strict and report.skipped:
        fail(f"--strict was given and inputs were skipped: {len(report.skipped):,}", REFUSED)
    if fail_above is not None and any(pair.score >= fail_above for pair in report.pairs):
        sys.exit(ABOVE)


def _dated_folder() -> Path:
    """Return a folder named after today that does not exist yet."""
    import datetime

    name = f"lookalike-{datetime.date.today().isoformat()}"
    path, number = Path(name), 2
    while path.exists():
        path, number = Path(f"{name}-{number}"), number + 1
    return path


def _as_json(report: Report, written: Written | None, anonymise: bool) -> str:
    """Return the report as one JSON document; names are hidden by the codes of the folder, if one was written."""
    from lookalike.rendering import comparison_tables

    if written is not None:
        report = written.report
    elif anonymise:
        from lookalike.rendering.anonymous import Secrets, anonymised

        report, _ = anonymised(report, report.marks, Secrets.new(), 0)
    return comparison_tables.report_json(report)
