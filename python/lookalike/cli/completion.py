"""``lookalike completion``: completion scripts for shells."""

from __future__ import annotations

import click

from lookalike.cli.command import Command


@click.command(cls=Command, short_help="Print the completion script for your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands, options and file names with the Tab key.

    Run the line for your shell once, then open a new shell.

    \b
    bash:
      echo 'eval "$(lookalike completion bash)"' >> ~/.bashrc
    \b
    zsh:
      echo 'eval "$(lookalike completion zsh)"' >> ~/.zshrc
    \b
    fish:
      lookalike completion fish > ~/.config/fish/completions/lookalike.fish
    """
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(click.get_current_context().find_root().command, {}, "lookalike", "_LOOKALIKE_COMPLETE").source())
