"""Where kept rows are written: files with the names of the inputs below one folder, or one file."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.corpora.compression import by_suffix
from lookalike.corpora.staging import Staging
from lookalike.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Plan:
    """The names of the outputs."""

    out: str
    #: Whether ``out`` is a folder; else it is the only output.
    is_folder: bool
    #: Path below the folder for each source; empty where it is ``out`` itself.
    names: Sequence[str]

    @classmethod
    def new(
        cls,
        out: str | os.PathLike[str],
        names: Sequence[str],
        *,
        many: bool,
        whole: bool = False,
        inputs: Sequence[str] = (),
    ) -> Plan:
        """Name the outputs of sources with such names. ``whole``: the only source is itself a folder of files.

        Errors: ``ParameterError``, ``FileExistsError`` if an output would be inside an input.
        """
        path = os.fspath(out)
        if not path or "://" in path:
            raise ParameterError(f"output `{path}` is not a local path: name a file or a folder")
        check_outside(path, inputs)
        is_folder = many or whole or len(names) != 1 or path.endswith(("/", os.sep)) or os.path.isdir(path)
        if is_folder and os.path.lexists(path) and not os.path.isdir(path):
            raise FileExistsError(errno.EEXIST, "is a file, but a folder is needed: name another", path)
        is_named = is_folder and not (whole and len(names) == 1)
        chosen = distinct([safe(name) for name in names]) if is_named else [""]
        return cls(path.rstrip("/" + os.sep) or path, is_folder, chosen)

    @property
    def targets(self) -> list[str]:
        """Files that must not exist yet; folders are checked when they are written."""
        if not self.is_folder:
            return [self.out]
        paths = [os.path.join(self.out, name) for name in self.names if name]
        return [path for path in paths if not os.path.isdir(path)]

    def compression(self, usual: str | None, format: str) -> str | None:
        """Return how an output is compressed: like its input, unless the suffix of a single output says otherwise.

        WARC records are compressed one by one and copied unchanged.
        """
        name = os.path.basename(self.out)
        if self.is_folder or "." not in name or format == "warc":
            return usual
        return by_suffix(name)[1]


class Sink:
    """The outputs of a plan, being written. REQUIRES: the caller commits or aborts the staging."""

    def __init__(self, plan: Plan, staging: Staging) -> None:
        self.plan = plan
        self._staging = staging
        #: The staging folder of a new output folder.
        self._folder = staging.folder(plan.out) if plan.is_folder and not os.path.lexists(plan.out) else None

    def file(self, number: int, below: str = "") -> str:
        """Return the path for the output of a source, or for a file ``below`` it if it is a folder."""
        name = "/".join(part for part in (self.plan.names[number], below) if part)
        if self._folder is None:
            return self._staging.file(os.path.join(self.plan.out, name) if name else self.plan.out)
        path = os.path.join(self._folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def folder(self, number: int) -> None:
        """Create the folder of a source, even if it stays empty."""
        if self._folder is not None:
            os.makedirs(os.path.join(self._folder, self.plan.names[number]), exist_ok=True)


def check_outside(out: str, inputs: Sequence[str]) -> None:
    """Errors: ``FileExistsError`` if an output would be inside an input folder."""
    real = os.path.realpath(out)
    for path in inputs:
        folder = os.path.realpath(path)
        if os.path.isdir(folder) and os.path.commonpath([real, folder]) == folder:
            raise FileExistsError(errno.EEXIST, f"is inside the input `{path}`: name another", out)


def safe(name: str) -> str:
    """Return a relative name that cannot leave the folder."""
    return "/".join(part for part in name.replace(os.sep, "/").split("/") if part not in ("", ".", "..")) or "unnamed"


def distinct(names: Sequence[str]) -> list[str]:
    """Make names unique, ignoring case: a repeated name gets a number in front of its suffixes."""
    taken: set[str] = set()
    last: dict[str, int] = {}
    result = []
    for name in names:
        folder, _, file = name.rpartition("/")
        at = file.find(".", 1)
        stem, suffix = (file, "") if at < 0 else (file[:at], file[at:])
        chosen = name
        while chosen.casefold() in taken:
            number = last[name] = last.get(name, 1) + 1
            chosen = f"{folder}/{stem}-{number}{suffix}" if folder else f"{stem}-{number}{suffix}"
        taken.add(chosen.casefold())
        result.append(chosen)
    return result
