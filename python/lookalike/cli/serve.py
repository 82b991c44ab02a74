"""``lookalike serve``: indexes and comparisons over HTTP."""

from __future__ import annotations

from typing import Any

import click

from lookalike import params
from lookalike.cli import options
from lookalike.cli.command import Command


@click.command(
    cls=Command,
    short_help="Answer questions about indexes over HTTP.",
    groups={
        "Address and access": ["host", "port", "token_file", "allow_host", "public_url", "moss_port"],
        "Storage": ["data", "retain", "upload_idle", "anonymise"],
        "Limits": [
            "readers",
            "max_body",
            "max_upload",
            "max_kept",
            "max_documents",
            "max_connections",
            "queue",
            "header_seconds",
            "body_seconds",
            "send_seconds",
            "answer_seconds",
            "jobs",
            "job_memory",
        ],
    },
)
@click.argument("indexes", metavar="[INDEX]...", nargs=-1, type=click.Path())
@options.all_options(params.SERVING.values())
def serve(indexes: tuple[str, ...], **chosen: Any) -> None:
    """Serve indexes and comparisons over HTTP until SIGTERM or Ctrl-C.

    Requests name an index by its folder. One process changes indexes, several answer questions. The address is printed
    when the server answers; the access log goes to stderr, one JSON line per request.

    \b
    Examples:
      lookalike serve archive
      lookalike token tokens.jsonl --name lms --scope read,add
      lookalike serve archive news --host 0.0.0.0 --token-file tokens.jsonl
      curl -T essay.txt http://127.0.0.1:8400/v1/indexes/news/documents/essay
    """
    import asyncio

    from lookalike.service.settings import Settings
    from lookalike.service.supervisor import supervise

    settings = Settings.of(indexes, **chosen)
    asyncio.run(supervise(settings, _tell))


def _tell(address: str, *to_open: str) -> None:
    """Print the address, and if nobody can open that one, another."""
    click.echo(f"lookalike serves at {address}")
    for one in to_open:
        click.echo(f"open {one} on this machine; from others, its name or address with this port")
