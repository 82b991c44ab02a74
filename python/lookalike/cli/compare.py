"""``lookalike compare``: which submissions share material."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike._types import counted
from lookalike.cli import options
from lookalike.cli.command import Command
from lookalike.cli.shell import ABOVE, REFUSED, fail
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.comparison.result import Report
    from lookalike.rendering.html.folder import Written

COMPARISON = (
    params.LANGUAGE, params.TEMPLATE, params.OLD, params.INDEXES, params.BY_DIRECTORY, params.LAYOUT, params.INCLUDE,
    params.EXCLUDE, params.FOLLOW_LINKS, params.COMMENTS, params.K, params.T, params.MAX_SHARING, params.MIN_SCORE,
    params.MIN_CONTAINED, params.MIN_PASSAGE, params.CLUSTER_THRESHOLD, params.MAX_PAIRS,
)  # fmt: skip
#: Options that only change the folder of the report.
FOLDER = ("top", "max_size", "overwrite", "open_report")


@click.command(
    cls=Command,
    short_help="Find submissions that share material.",
    groups={
        "Input": [*(parameter.name for parameter in COMPARISON[:9]), "strict"],
        "Matching": [parameter.name for parameter in COMPARISON[9:-1]],
        "Report": [
            *("out", "overwrite", "title", "top", "max_pairs", "max_passages", "max_size", "anonymise"),
            *("open_report", "as_json", "quiet"),
        ],
        "Run": ["threads", "fail_above"],
    },
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@options.all_options(COMPARISON)
@options.strict
@options.report_folder("the report, a folder. Default: a new folder named after today's date")
@options.overwrite
@options.option(params.TITLE)
@options.option(params.TOP)
@options.option(params.MAX_PASSAGES)
@options.option(params.MAX_SIZE)
@options.option(params.ANONYMISE)
@options.open_report
@options.as_json
@options.quiet
@options.option(params.DEDUPLICATION["threads"])
@options.option(params.FAIL_ABOVE)
@click.pass_context
def compare(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    out: Path | None,
    overwrite: bool,
    top: int,
    max_passages: int,
    max_size: int | None,
    anonymise: bool,
    open_report: bool,
    as_json: bool,
    fail_above: float | None,
    strict: bool,
    threads: int,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Find submissions that share material.

    A single PATH is a folder of submissions, an archive of such a folder, or an export of Moodle or Canvas. Each
    folder, archive and loose file in it is a submission. Of several PATHs, each file, each archive and each folder that
    holds files is a submission; a folder of folders is a class. The first line of the output says what was understood.

    The best pairs are printed. The report, a folder of HTML, CSV and JSON files, has pairs, the shared passages side by
    side, and clusters, up to the limits below; lists that are cut are told. With --json and without --out, no folder is
    written.

    \b
    Examples:
      lookalike compare submissions/ --template starter/
      lookalike compare ann/ bob/ cyd/
      lookalike compare homework.zip -l java --open
      lookalike compare essays/*.docx --min-score 0.05
      lookalike compare this-year/ --old last-year/ --index archive -o report

    Similarity is not proof of copying: the report shows the passages, and a person decides.
    """
    from lookalike.comparison import job
    from lookalike.rendering.html import folder
    from lookalike.rendering.terminal import comparison as printed
    from lookalike.rendering.terminal.progress import progress

    chosen["min_score"] = _least(fail_above, chosen["min_score"])
    _check(context)
    if out is not None:
        folder.check_out(out, overwrite)
    with progress(counts_bytes=False, quiet=quiet) as tell:
        report = job.compare(list(paths), progress=tell, threads=options.use_threads(threads), **chosen)
    written = None
    if out is not None or not as_json:
        extent = folder.Extent.new(top, max_passages, max_size)
        written = folder.write(report, out or _dated_folder(), extent, anonymise=anonymise, overwrite=overwrite)
    if written is None or as_json:
        click.echo(_as_json(report, written, anonymise, max_passages), nl=False)
    else:
        printed.print_table(written.report, written, quiet=quiet)
    if open_report and written is not None:
        click.launch(written.overview.resolve().as_uri())
    _exit(report, strict, fail_above)


def _exit(report: Report, strict: bool, fail_above: float | None) -> None:
    """Leave with the code of the answer, unless it is 0."""
    if strict and report.skipped:
        fail(f"{counted(len(report.skipped), 'input')} could not be read, and --strict was given", REFUSED)
    if not any(entry.files for entry in report.entries):
        fail("none of the files could be read: the reasons are listed", REFUSED)
    values = [pair.score for pair in report.pairs] + [pair.contained for pair in report.contained]
    if fail_above is not None and any(value >= fail_above for value in values):
        sys.exit(ABOVE)


def _least(fail_above: float | None, min_score: float | None) -> float | None:
    """Return the cut-off with which every pair that decides the exit code is listed. Errors: ``ParameterError``."""
    if fail_above is None:
        return min_score
    if min_score is None:
        usual = [*params.LANGUAGE_CUT_OFFS.values(), params.CODE_CUT_OFF]
        return None if fail_above >= max(usual) else min(fail_above, *usual)
    if fail_above < min_score:
        raise ParameterError(
            f"fail_above `{fail_above:g}` is below min_score `{min_score:g}`: lower min_score, or such pairs are not "
            "listed"
        )
    return min_score


def _check(context: click.Context) -> None:
    """Refuse options that contradict each other. Errors: ``ParameterError``."""
    if context.params["as_json"] and context.params["out"] is None:
        options.refuse_unused(context, FOLDER, "with --json and without --out")
    if context.params["out"] is None:
        options.refuse_unused(context, {"overwrite"}, "without --out")


def _dated_folder() -> Path:
    """Return a folder named after today that does not exist yet."""
    import datetime

    name = f"lookalike-{datetime.date.today().isoformat()}"
    path, number = Path(name), 2
    while path.exists():
        path, number = Path(f"{name}-{number}"), number + 1
    return path


def _as_json(report: Report, written: Written | None, anonymise: bool, most: int) -> str:
    """Return the report as one JSON document. Codes for names are those of the folder, if one was written."""
    from lookalike.rendering import comparison_tables

    if written is not None:
        report = written.report
    elif anonymise:
        from lookalike.rendering.anonymous import Secrets, anonymised

        report, _ = anonymised(report, report.marks, Secrets.new(), texts=False)
    cut = list(comparison_tables.cut_lists(report, most))
    return comparison_tables.report_json(report, left_out=cut, most_passages=most)
