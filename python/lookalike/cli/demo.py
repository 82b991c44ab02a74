"""``lookalike demo``: the tool shown on material that ships with the package."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path), default="lookalike-demo", show_default=True, help="Folder of the report."
)
@click.option("--overwrite", is_flag=True, help="Replace any report that is in --out, not only one of this demo.")
@click.option("--open", "open_report", is_flag=True, help="Open the report in the browser.")
def demo(out: Path, overwrite: bool, open_report: bool) -> None:
    """Tell the story on two texts and a small class that ship with the package, offline, and write its report."""
    from lookalike.demo import story

    page = story.tell(out, overwrite)
    if open_report:
        click.launch(page.resolve().as_uri())
