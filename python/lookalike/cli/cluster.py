"""Commands on a Spark cluster: ``dedup``, ``near`` and ``simhash`` with ``--engine spark``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import click

from lookalike import params
from lookalike._types import counted
from lookalike.cli import options
from lookalike.cli.shell import REFUSED, fail
from lookalike.cli.writing import note
from lookalike.errors import ParameterError

#: The options of every command that can run on a cluster.
NAMES = (*params.CLUSTER,)
_CONDITION, _REMEDY = "with --engine spark", "leave it out, or use --engine local"
#: Options that mean something on one machine only.
_LOCAL = {"threads", "max_errors"}
_LOCAL_DEDUP = {"index", "add", "wait", "time_column", "report", "restore", "dry_run", "max_pairs"}
_LOCAL_NEAR = {"given", "save", "insert", "remove", "threads"}
#: Tables of a deduplication, by the option that names where they go.
_TABLES = {"out": "kept", "clusters": "clusters", "pairs": "pairs", "ledger": "ledger"}


def is_asked(context: click.Context, chosen: dict[str, Any]) -> bool:
    """Return whether the cluster is to run a command, and take its options out of the chosen ones.

    Errors: ``ParameterError`` for options of the other engine.
    """
    for name in NAMES:
        del chosen[name]
    if context.params["engine"] == "local":
        options.refuse_unused(context, {"master", "conf"}, "without --engine spark")
        return False
    options.refuse_unused(context, _LOCAL, _CONDITION, _REMEDY)
    return True


@contextlib.contextmanager
def _session(context: click.Context, outputs: Sequence[str], quiet: bool) -> Iterator[Any]:
    """Run a session for a command whose outputs are new. Errors: ``FileExistsError``, and those of the session."""
    from lookalike.rendering.terminal.progress import progress
    from lookalike.spark.files import check_new
    from lookalike.spark.sessions import session

    with progress(counts_bytes=False, quiet=quiet) as tell:
        tell("starting", 0, None)
        with session(context.params["master"], context.params["conf"], tell) as started:
            if not context.params["overwrite"]:
                check_new(started, outputs)
            yield started


def _check(inputs: Sequence[str], outputs: Sequence[str], format: str | None = None) -> None:
    from lookalike.spark.files import check_places

    if not outputs:
        raise ParameterError("no output: give --out and a folder")
    check_places(inputs, outputs, format)


def dedup(context: click.Context, inputs: tuple[str, ...], against: tuple[str, ...], chosen: dict[str, Any]) -> None:
    """Deduplicate on a cluster."""
    options.refuse_unused(context, _LOCAL_DEDUP, _CONDITION, _REMEDY)
    from lookalike.rendering.terminal import cluster as printed

    files = {name: chosen[name] for name in _TABLES}
    quiet, outputs = chosen["quiet"], [one for one in files.values() if one is not None]
    _check([*inputs, *against], outputs, chosen["format"])
    typed = options.given(context)
    asked = {name: context.params[name] for name in (*params.DEDUPLICATION, "order") if name in typed}
    asked.pop("format", None)
    with _session(context, outputs, quiet) as started:
        from lookalike.spark import dedup as run
        from lookalike.spark.files import read, write

        text = str(chosen["text_column"])
        own = read(started, inputs, chosen["format"], text)
        other = read(started, against, chosen["format"], text) if against else None
        with run(own.rows, against=None if other is None else other.rows, **asked) as answer:
            for name, path in files.items():
                if path is not None:
                    write(getattr(answer, _TABLES[name]), path, own.format, overwrite=chosen["overwrite"])
            summary, told = answer.summary, answer.notes
    bad = own.bad + (other.bad if other is not None else 0)
    if chosen["as_json"]:
        click.echo(json.dumps({**summary, "unparsed": bad, "notes": told}, ensure_ascii=False, indent=2, default=str))
    else:
        click.echo(printed.deduplicated(summary, bad, files, told, quiet=quiet))
    _refuse(bad, summary["rows"], chosen["strict"])


def near(context: click.Context) -> None:
    """Search fingerprints on a cluster."""
    chosen = context.params
    file, query, out = chosen["file"], chosen["query"], chosen["out"]
    options.refuse_unused(context, _LOCAL_NEAR, _CONDITION, _REMEDY)
    inputs = [file] if query is None else [file, query]
    _check(inputs, [] if out is None else [out])
    quiet = chosen["quiet"]
    asked = {name: context.params[name] for name in params.NEAR}
    with _session(context, [str(out)], quiet) as started:
        from lookalike.spark import near as find
        from lookalike.spark.files import read, write

        stored = read(started, [file], None)
        queries = None if query is None else read(started, [query], None)
        found = find(stored.rows, None if queries is None else queries.rows, **asked)
        write(found.pairs, str(out), stored.format, overwrite=chosen["overwrite"])
        pairs = read(started, [str(out)], stored.format).rows.count()
        rows = stored.rows.limit(1).count()
        bad = found.left_out.count() + stored.bad + (0 if queries is None else queries.bad)
    if chosen["as_json"]:
        click.echo(json.dumps({"distance": asked["distance"], "pairs": pairs, "left_out": bad, "out": out}))
    note(f"{counted(pairs, 'pair')} within {counted(asked['distance'], 'bit')} in {out}", quiet=quiet)
    if bad:
        note(f"left out: {counted(bad, 'row')} without an id or a fingerprint", quiet=quiet)
    _refuse(bad, rows, chosen["strict"])


def simhash(context: click.Context) -> None:
    """Fingerprint a corpus on a cluster."""
    chosen = context.params
    inputs, out = chosen["inputs"], chosen["out"]
    _check(inputs, [] if out is None else [out], chosen["format"])
    quiet = chosen["quiet"]
    asked = {name: chosen[name] for name in (*params.SIMHASHING, "text_column", "id_column")}
    with _session(context, [str(out)], quiet) as started:
        from lookalike.spark import simhash as make
        from lookalike.spark.files import read, write

        own = read(started, inputs, chosen["format"], str(chosen["text_column"]))
        write(make(own.rows, **asked), str(out), own.format, overwrite=chosen["overwrite"])
        written = read(started, [str(out)], own.format).rows
        # A folder without rows may have no columns.
        counts = written.groupBy("state").count().collect() if "state" in written.columns else []
        states = {row["state"]: row["count"] for row in counts}
    if chosen["as_json"]:
        click.echo(json.dumps({"states": states, "unparsed": own.bad, "out": out}))
    told = ", ".join(f"{count:,} {state.replace('_', ' ')}" for state, count in sorted(states.items()))
    note(f"{counted(sum(states.values()), 'row')} in {out}: {told}", quiet=quiet)
    if own.bad:
        note(f"left out: {counted(own.bad, 'line')} that cannot be parsed", quiet=quiet)
    _refuse(own.bad, sum(states.values()), chosen["strict"])


def _refuse(bad: int, read: int, strict: bool) -> None:
    """Exit with 3 if nothing could be read, or if rows could not and ``--strict`` was given."""
    if bad and not read:
        fail(f"no row could be read; {counted(bad, 'row')} cannot be parsed", REFUSED)
    if bad and strict:
        fail(f"{counted(bad, 'row')} could not be read, and --strict was given", REFUSED)
