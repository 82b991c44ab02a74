"""Runs one change of an index, as the command line would: errors become one line and an exit code."""

from __future__ import annotations

import sys
from pathlib import Path

from lookalike.cli.shell import spoken_errors
from tests.support.archives import reopen
from tests.support.records import signed

#: Changes by name. `add` goes to the tail, `many` makes a segment and merges.
ADDED = {"add": [("new", "a b")], "many": [(f"n{number}", f"text {number}") for number in range(6)]}


def change(what: str, path: Path) -> None:
    with reopen(path) as index:
        if what in ADDED:
            index._add_records([signed(id_, text) for id_, text in ADDED[what]])
        elif what == "compact":
            index.compact()
        else:
            index.remove(["d1", "d9"], purge=what == "purge")


def main() -> None:
    what, path, *files = sys.argv[1:]
    if files:
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, (int(files[0]), int(files[0])))
    with spoken_errors():
        change(what, Path(path))


if __name__ == "__main__":
    main()
