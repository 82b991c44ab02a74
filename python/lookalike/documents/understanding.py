"""Says in a sentence what the given paths were taken for, and refuses a comparison of fewer than two submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from lookalike._types import counted
from lookalike.documents.archives import has_archive_name
from lookalike.documents.intake import Intake, Skipped
from lookalike.documents.patterns import Pattern
from lookalike.errors import FrontendError, ParameterError

#: What one of several paths may be, with its plural and what that makes it.
KINDS = {
    "folder": ("folder that holds files", "folders that hold files", "a submission"),
    "project": (
        "folder of code folders such as `src`",
        "folders of code folders such as `src`",
        "a submission (give one of them alone to compare what is in it)",
    ),
    "whole folder": ("folder", "folders", "a submission"),
    "file": ("file", "files", "a submission"),
    "archive": ("archive", "archives", "a submission"),
    "files": ("folder with given files", "folders with given files", "a submission"),
    "class": ("folder of folders", "folders of folders", "a class of submissions (-d: a submission)"),
    "flat": ("folder", "folders", "a class: each file in it is a submission"),
    "packed": ("archive", "archives", "a class of submissions"),
}


def of_several(kinds: Iterable[str]) -> str:
    """Return what several paths were taken for, by the names in ``KINDS``."""
    found = Counter(kinds)
    told = []
    for kind, (one, many, role) in KINDS.items():
        if found[kind]:
            told.append(
                f"the {one} is {role}" if found[kind] == 1 else f"each of {counted(found[kind], one, many)} is {role}"
            )
    return "; ".join(told)


def of_root(name: str, paths: Sequence[str], archives: frozenset[str], by: str) -> str:
    """Return how the files below one path form submissions. ``by`` is a layout, or ``info.csv``."""
    if by in ("moodle", "canvas"):
        return f"`{name}` is an export of {by.capitalize()}"
    if by == "info.csv":
        return f"`info.csv` in `{name}` names the submissions"
    if by == "flat":
        return f"each file in `{name}` is a submission"
    tops = {path.partition("/")[0]: "/" in path for path in paths}
    kinds = {"archive" if top in archives else "folder" if is_folder else "file" for top, is_folder in tops.items()}
    file = "file" if kinds == {"file"} else "loose file"
    found = [f"each {file if kind == 'file' else kind}" for kind in ("folder", "archive", "file") if kind in kinds]
    return f"{_and(found)} in `{name}` is a submission"


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def check(intake: Intake, include: Sequence[str], *, alone: bool = False) -> None:
    """Refuse an intake with nothing to compare; one submission is enough if it may be ``alone``.

    Errors: ``ParameterError``; ``FrontendError`` if nothing was read.
    """
    new = [one for one in intake.submissions if not one.old]
    if not new:
        raise _nothing(intake.skipped, include)
    if len(intake.submissions) == 1 and not alone:
        (lone,) = new
        files = len(lone.documents)
        own = f', or layout="flat" to compare its {files:,} files with each other' if files > 1 else ""
        raise ParameterError(
            f"there is only one submission, `{lone.name}`{_and_bare(intake.bare)}: give at least two, or earlier ones "
            f"with old=… or index=…{own}"
        )


def _and_bare(names: Sequence[str]) -> str:
    """Name the folders that would be submissions, but hold no file that is read."""
    if not names:
        return ""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f" (no file that is read is in {', '.join(f'`{name}`' for name in names[:5])}{more})"


def _nothing(skipped: Sequence[Skipped], include: Sequence[str]) -> Exception:
    refused = [row for row in skipped if row.is_submitted]
    if include and not any(_may_match(row.name, include, skipped) for row in refused):
        told = ", ".join(f"`{pattern}`" for pattern in include)
        return ParameterError(f"no file matches include=… {told}: check the pattern, or leave it out")
    if refused:
        more = f"; and {counted(len(refused) - 1, 'more input')}" if len(refused) > 1 else ""
        return FrontendError(f"nothing could be read: `{refused[0].name}`: {refused[0].reason}{more}")
    if skipped:
        told = "; ".join(f"`{row.name}` {row.reason}" for row in skipped[:5])
        return ParameterError(f"every file is left out: {told}. Name files to read with include=…")
    return ParameterError(
        "there are no files to compare: give a folder, an archive or files of at least two submissions"
    )


def _may_match(name: str, include: Sequence[str], skipped: Sequence[Skipped]) -> bool:
    """Return whether something that could not be read is, or may hold, a file that is asked for."""
    paths = (name, name.partition("/")[2])
    if any(path and Pattern(text).matches(path) for text in include for path in paths):
        return True
    # An archive or a folder may hold such a file; but where other files were read and none matches, the pattern is it.
    return not any(row.reason.startswith("not included") for row in skipped) and (
        has_archive_name(name) or not PurePosixPath(name).suffix
    )
