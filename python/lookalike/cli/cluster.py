"""Commands on a Spark cluster: ``dedup``, ``near`` and ``simhash`` with ``--engine spark``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from lookalike import params
from lookalike._types import Problem, counted
from lookalike.cli import options
from lookalike.cli.shell import check_read
from lookalike.cli.writing import note
from lookalike.documents.reasons import RefusedError
from lookalike.errors import ParameterError

#: The options of every command that can run on a cluster.
NAMES = (*params.CLUSTER,)
_CONDITION, _REMEDY = "with --engine spark", "leave it out, or use --engine local"
#: Options that mean something on one machine only.
_LOCAL = {"threads", "max_errors"}
_LOCAL_DEDUP = {"index", "add", "wait", "time_column", "report", "dry_run", "max_pairs"}
_LOCAL_NEAR = {"given", "save", "insert", "remove", "threads"}
#: Tables of a deduplication, by the option that names where they go: the ledger first and the kept rows last, so that
#: there are no kept rows without their ledger.
_TABLES = {"ledger": "ledger", "pairs": "pairs", "clusters": "clusters", "out": "kept"}


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
    from lookalike.spark.files import check_new, check_writable
    from lookalike.spark.sessions import session

    with progress(counts_bytes=False, quiet=quiet) as tell:
        tell("starting", 0, None)
        with session(context.params["master"], context.params["conf"], tell) as started:
            if not context.params["overwrite"]:
                check_new(started, outputs)
            check_writable(started, outputs)
            yield started


def _check(inputs: Sequence[str], outputs: Sequence[str], format: str | None = None) -> None:
    from lookalike.spark.files import check_places

    if not outputs:
        raise ParameterError("no output: give --out and a folder")
    check_places(inputs, outputs, format)


def dedup(context: click.Context, inputs: tuple[str, ...], against: tuple[str, ...], chosen: dict[str, Any]) -> None:
    """Deduplicate on a cluster."""
    options.refuse_unused(context, _LOCAL_DEDUP, _CONDITION, _REMEDY)
    from lookalike.rendering.terminal import deduplication as printed

    files = {name: chosen[name] for name in _TABLES}
    quiet, outputs = chosen["quiet"], [one for one in files.values() if one is not None]
    _check([*inputs, *against], outputs, chosen["format"])
    typed = options.given(context)
    asked = {name: context.params[name] for name in (*params.DEDUPLICATION, "order") if name in typed}
    asked.pop("format", None)
    from lookalike.spark.plans import check_offered, settings_of
    from lookalike.spark.shipping import filled

    check_offered(filled(settings_of(asked)))
    with _session(context, outputs, quiet) as started:
        from lookalike.spark import dedup as run
        from lookalike.spark.files import check_overwritten, read, write

        columns = _columns(chosen)
        own = read(started, inputs, chosen["format"], *columns)
        other = read(started, against, chosen["format"], *columns) if against else None
        if chosen["overwrite"]:
            check_overwritten(started, [own.rows, *([] if other is None else [other.rows])], outputs)
        with run(own.rows, against=None if other is None else other.rows, **asked) as answer:
            _check_references(answer.summary)
            for name, path in files.items():
                if path is not None:
                    write(getattr(answer, _TABLES[name]), path, own.format, overwrite=chosen["overwrite"])
            settings, found = answer.settings, answer.summary
    problems = [*([] if other is None else other.problems), *own.problems, *_too_long(found)]
    found |= {"sources": [{"name": one, "format": own.format} for one in (*against, *inputs)]}
    found |= {"problems": [asdict(one) for one in problems]}
    shown = dict(reversed(files.items()))
    click.echo(printed.as_json(found) if chosen["as_json"] else printed.facts(settings, found, shown, quiet=quiet))
    read_rows = _with_text(found["states"]) - _with_text(found.get("reference_states", {}))
    check_read(problems, strict=chosen["strict"], is_nothing_read=not read_rows)


def _columns(chosen: dict[str, Any]) -> tuple[str, str]:
    """Return the columns of texts and ids, which an input without rows has not."""
    from lookalike.corpora.arrays import USUAL_ID

    return str(chosen["text_column"]), str(chosen["id_column"] or USUAL_ID)


def _with_text(states: dict[str, int]) -> int:
    return sum(states.get(name, 0) for name in ("compared", "short"))


def _check_references(told: dict[str, Any]) -> None:
    """Errors: ``RefusedError`` if no row of ``--against`` has a text, so that nothing would be found."""
    states = told.get("reference_states")
    if states is not None and not _with_text(states):
        rows = counted(sum(states.values()), "row")
        raise RefusedError(
            f"no row of --against could be read, so there is nothing to look for: {rows}, none with a text"
        )


def _too_long(told: dict[str, Any]) -> list[Problem]:
    """Return a problem for rows that the core refuses."""
    rows = told["states"].get("bad", 0)
    reason = f"{counted(rows, 'text')} of more than 256 MiB: kept, and not compared"
    return [Problem("", "", reason, rows)] if rows else []


def restore(context: click.Context, inputs: tuple[str, ...], ledger: str, chosen: dict[str, Any]) -> None:
    """Write the rows of an input again from the kept rows and the ledger of a deduplication on a cluster."""
    options.refuse_unused(context, {"memory"}, _CONDITION, _REMEDY)
    out, quiet = chosen["out"], chosen["quiet"]
    # The ledger may have another format than the rows.
    for given in (inputs, [ledger]):
        _check(given, [] if out is None else [out])
    with _session(context, [out], quiet) as started:
        from lookalike.spark.files import check_overwritten, read, write
        from lookalike.spark.tables import restored

        kept, removed = read(started, inputs, None), read(started, [ledger], None)
        if chosen["overwrite"]:
            check_overwritten(started, [kept.rows, removed.rows], [out])
        rows = restored(kept.rows, removed.rows, is_json=removed.format == "jsonl")
        write(rows, out, kept.format, overwrite=chosen["overwrite"])
        counts = kept.rows.count(), removed.rows.count()
    problems = [*kept.problems, *removed.problems]
    if chosen["as_json"]:
        click.echo(_json({"rows": sum(counts), "kept": counts[0], "removed": counts[1], "out": out}, problems))
    note(f"restored {counted(sum(counts), 'row')}, {counts[1]:,} of them from the ledger: {out}", quiet=quiet)
    _tell(problems, quiet=quiet)


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
        from lookalike.spark.files import check_overwritten, read, write, written_format

        columns = str(asked["fingerprint_column"]), str(asked["id_column"])
        stored = read(started, [file], None, *columns)
        queries = None if query is None else read(started, [query], None, *columns)
        if chosen["overwrite"]:
            check_overwritten(started, [one.rows for one in (stored, queries) if one is not None], [str(out)])
        found = find(stored.rows, None if queries is None else queries.rows, **asked)
        write(found.pairs, str(out), stored.format, overwrite=chosen["overwrite"])
        pairs = read(started, [str(out)], written_format(str(out), stored.format)[0]).rows.count()
        is_empty = not stored.rows.head(1)
        problems = [*([] if queries is None else queries.problems), *stored.problems, *_left_out(found.left_out)]
    if chosen["as_json"]:
        click.echo(_json({"distance": asked["distance"], "pairs": pairs, "out": out}, problems))
    note(f"{counted(pairs, 'pair')} within {counted(asked['distance'], 'bit')} in {out}", quiet=quiet)
    _tell(problems, quiet=quiet)
    check_read(problems, strict=chosen["strict"], is_nothing_read=is_empty)


def _left_out(rows: Any) -> list[Problem]:
    """Return rows (id, reason) that could not be searched as problems, at most ``LISTED`` of them one by one."""
    from lookalike.spark.files import LISTED

    found = [Problem("", f"row `{row['id']}`", row["reason"], 1) for row in rows.limit(LISTED).collect()]
    rest = rows.count() - len(found) if len(found) == LISTED else 0
    return [*found, *([Problem("", "", f"{counted(rest, 'other row')} left out", rest)] if rest else [])]


def _json(told: dict[str, Any], problems: Sequence[Problem]) -> str:
    left_out = sum(one.rows for one in problems)
    listed = [asdict(one) for one in problems]
    return json.dumps({**told, "left_out": left_out, "problems": listed}, ensure_ascii=False, indent=1)


def _tell(problems: Sequence[Problem], *, quiet: bool) -> None:
    """Say on stderr what was left out."""
    from lookalike.rendering.terminal.problems import lines

    if rows := sum(one.rows for one in problems):
        note(f"left out: {counted(rows, 'row')}", quiet=quiet)
    for line in lines(problems):
        note(line, quiet=quiet)


def simhash(context: click.Context) -> None:
    """Fingerprint a corpus on a cluster."""
    chosen = context.params
    inputs, out = chosen["inputs"], chosen["out"]
    _check(inputs, [] if out is None else [out], chosen["format"])
    quiet = chosen["quiet"]
    asked = {name: chosen[name] for name in (*params.SIMHASHING, "text_column", "id_column")}
    with _session(context, [str(out)], quiet) as started:
        from lookalike.spark import simhash as make
        from lookalike.spark.files import check_overwritten, read, write, written_format

        own = read(started, inputs, chosen["format"], *_columns(chosen))
        if chosen["overwrite"]:
            check_overwritten(started, [own.rows], [str(out)])
        write(make(own.rows, **asked), str(out), own.format, overwrite=chosen["overwrite"])
        written = read(started, [str(out)], written_format(str(out), own.format)[0]).rows
        # A folder without rows may have no columns.
        counts = written.groupBy("state").count().collect() if "state" in written.columns else []
        states = {row["state"]: row["count"] for row in counts}
    if chosen["as_json"]:
        click.echo(_json({"states": states, "out": out}, own.problems))
    told = ", ".join(f"{count:,} {state.replace('_', ' ')}" for state, count in sorted(states.items()))
    note(f"{counted(sum(states.values()), 'row')} in {out}: {told}", quiet=quiet)
    _tell(own.problems, quiet=quiet)
    check_read(own.problems, strict=chosen["strict"], is_nothing_read=not states)
