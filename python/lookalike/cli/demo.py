"""``lookalike demo``: the tool shown on material that ships with the package."""

from __future__ import annotations

from pathlib import Path

import click

from lookalike.cli import options
from lookalike.cli.command import Command


@click.command(cls=Command, short_help="See all of it on small examples; needs no files and no network.")
@options.report_folder("the report", default="lookalike-demo", show_default=True)
@options.overwrite
@options.open_report
def demo(out: Path, overwrite: bool, open_report: bool) -> None:
    """Show what lookalike finds in two texts, a small class and a small corpus that ship with the package.

    The story is printed, and the report of the class is written to the folder --out. A second run replaces the report
    of the first one. No network is used.

    \b
    Examples:
      lookalike demo
      lookalike demo -o /tmp/demo --open
    """
    from lookalike.demo import story

    page = story.tell(out, overwrite)
    if open_report:
        click.launch(page.resolve().as_uri())
