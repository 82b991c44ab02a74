"""``lookalike completion``: completion scripts for shells."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell: eval "$(lookalike completion bash)"."""
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(click.get_current_context().find_root().command, {}, "lookalike", "_LOOKALIKE_COMPLETE").source())
