"""Places that Spark reads and writes, compared by name: what an output may not be, because it would delete an input.

Only names are compared, before Spark starts. Links of this machine are followed. Cost: the product of inputs and
outputs.
"""

from __future__ import annotations

import glob
import os
import posixpath
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from lookalike.errors import ParameterError

#: What a table by name begins with.
TABLE = "table:"
#: A scheme, a host and a path; and the characters of a pattern.
_ADDRESS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?)?(.*)", re.DOTALL)
_SPECIAL = re.compile(r"[\\*?\[\]{}]")


def check_apart(inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Errors: ``ParameterError`` for an output that is, contains or lies in an input or another output."""
    taken = [(one, place) for one in inputs for place in _read_places(one)]
    for one in outputs:
        place = _place(one)
        for other, its in taken:
            if reason := _overlap(place, its):
                raise ParameterError(f"`{one}` cannot be written, {reason.format(other)}: choose another place")
        taken.append((one, place._replace(names=tuple(map(glob.escape, place.names)))))


def literal(path: str) -> str:
    """Return a place as Spark takes it: the name of a local file is not a pattern, whatever characters it has."""
    return escaped(path) if _SPECIAL.search(path) and os.path.exists(local(path)) else path


def escaped(path: str) -> str:
    """Return a name as a pattern that only it meets."""
    return _SPECIAL.sub(r"\\\g<0>", path)


def check_name(path: str) -> None:
    """Errors: ``ParameterError`` for a local file that Spark passes over or cannot open because of its name."""
    name = os.path.basename(path)
    if not os.path.isfile(local(path)):
        return
    if ":" in name:
        raise ParameterError(f"`{path}` has a colon in its name, and Spark cannot open it: rename the file")
    if name[0] in "_.":
        raise ParameterError(f"Spark passes over files whose names begin with `{name[0]}`: rename `{path}`")


class _Place(NamedTuple):
    """A place that can be compared: its file system, with "" for what only Spark knows, and the names down to it."""

    scheme: str
    host: str
    names: tuple[str, ...]


def _split(path: str) -> tuple[str, str, str]:
    """Return the scheme, the host and the path of a place; ``s3a`` and ``s3`` are one."""
    found = _ADDRESS.fullmatch(path)
    assert found, "any text is a path"
    scheme, host, rest = found.groups("")
    return re.sub("^s3[an]$", "s3", scheme.lower()), host, rest


def local(path: str) -> str:
    """Return a place as a path of this machine, which need not be there."""
    scheme, _host, rest = _split(path)
    return rest if scheme == "file" else path


def is_local(path: str) -> bool:
    """Return whether a place names no other file system; Spark may take one for it all the same."""
    return _split(path)[0] in ("", "file")


def _place(path: str, pattern: str = "") -> _Place:
    """Return a place, and the names of a pattern below it."""
    if path.startswith(TABLE):
        name = path.removeprefix(TABLE).replace("`", "").lower()
        return _Place(TABLE, "", (TABLE, re.sub(r"^(spark_catalog\.)?(default\.)?", "", name)))
    scheme, host, rest = _split(path)
    whole = os.path.realpath(rest) if scheme in ("", "file") else posixpath.normpath("/" + rest)
    return _Place(scheme, "" if scheme == "file" else host, tuple(filter(None, f"{whole}/{pattern}".split("/"))))


def _read_places(path: str) -> list[_Place]:
    """Return what an input reads; names may be patterns, as those of ``fnmatch``."""
    if path.startswith(TABLE) or not _SPECIAL.search(path) or os.path.exists(local(path)):
        place = _place(path)
        return [place._replace(names=tuple(map(glob.escape, place.names)))]
    return [_pattern(one) for one in _alternatives(path)]


def _pattern(path: str) -> _Place:
    """Return the place of a pattern: its folders before the first special character, and the names after them."""
    special = _SPECIAL.search(path)
    cut = path.rfind("/", 0, special.start() if special else len(path)) + 1
    # Spark has [^a] and \\*, and fnmatch has [!a] and [*] for them.
    below = re.sub(r"\\(.)", r"[\1]", path[cut:].replace("[^", "[!"))
    place = _place(path[:cut])
    return place._replace(names=(*map(glob.escape, place.names), *filter(None, below.split("/"))))


def _alternatives(path: str) -> list[str]:
    """Return the patterns that one with braces stands for.

    >>> _alternatives("a/{b,c{d,e}}/*")
    ['a/b/*', 'a/cd/*', 'a/ce/*']
    """
    found = re.search(r"(?<!\\)\{([^{}]*)\}", path)
    if not found:
        return [path]
    head, tail = path[: found.start()], path[found.end() :]
    return list(dict.fromkeys(whole for one in found[1].split(",") for whole in _alternatives(head + one + tail)))


def _overlap(out: _Place, other: _Place) -> str:
    """Return why one place cannot be written beside another; nothing if it can.

    A scheme or a host that is not named may be any: what Spark takes for it is not known before it starts.
    """
    systems = zip(out[:2], other[:2], strict=True)
    if any(one and its and one != its for one, its in systems):
        return ""
    if not all(fnmatchcase(one, its) for one, its in zip(out.names, other.names, strict=False)):
        return ""
    if len(out.names) < len(other.names):
        return "it is above `{}`, which would be deleted"
    if len(out.names) > len(other.names):
        return "it is in `{}`, and a later run would read both"
    return "it is read or written already"
