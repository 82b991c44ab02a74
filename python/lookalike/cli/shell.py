"""Exit codes, and errors as one line on stderr."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NoReturn

import click

from lookalike._types import Problem, counted
from lookalike.documents.reasons import RefusedError
from lookalike.engines.writing import WriteError
from lookalike.errors import (
    DamagedError,
    FormatError,
    FrontendError,
    LedgerError,
    LockedError,
    MissingExtraError,
    NoSpaceError,
    ParameterError,
    TooManyErrorsError,
    VersionError,
)
from lookalike.rendering.safe import visible

#: Exit codes, the same in every command.
ABOVE, USAGE, REFUSED, DAMAGED, LOCKED, VERSION, IO_ERROR, INTERNAL, INTERRUPTED = 1, 2, 3, 4, 5, 6, 7, 70, 130

#: Exit codes by the error that leads to them; the first that fits counts.
_CODES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], int], ...] = (
    ((ParameterError, MissingExtraError), USAGE),
    (DamagedError, DAMAGED),
    (VersionError, VERSION),
    (LockedError, LOCKED),
    ((FormatError, FrontendError, LedgerError, RefusedError, TooManyErrorsError), REFUSED),
)


@contextlib.contextmanager
def spoken_errors(worded: Callable[[str], str] = str) -> Iterator[None]:
    """Turn an error that a user can cause into one line and an exit code. Users never see a traceback.

    ``worded`` rewrites a message for the reader. A broken pipe passes through: it is not an error.
    """
    try:
        yield
    except (SystemExit, KeyboardInterrupt, BrokenPipeError, click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except BaseException as error:
        code = next((code for kinds, code in _CODES if isinstance(error, kinds)), None)
        if code is not None:
            fail(worded(str(error)), code)
        if isinstance(error, OSError):
            fail(*_of_system(error, worded))
        # A fault of ours. A panic of the core is a BaseException but not an Exception.
        fail(f"internal error, please report it with the command: {type(error).__name__}: {error}", INTERNAL)


def _of_system(error: OSError, worded: Callable[[str], str]) -> tuple[str, int]:
    """Return the message and the exit code of an error of the operating system."""
    reason = error.strerror or str(error)
    if isinstance(error, NoSpaceError | WriteError):
        return worded(reason), IO_ERROR
    if isinstance(error, FileNotFoundError):
        if error.filename is None:
            return reason, IO_ERROR
        return f"`{error.filename}` does not exist: check the path", USAGE
    what = "something" if error.filename is None else f"`{error.filename}`"
    # The package gives its own reason for an output that exists; the system's reason means a file where a folder goes.
    if isinstance(error, FileExistsError) and error.strerror != os.strerror(errno.EEXIST):
        return f"{what} {worded(reason)}", USAGE
    return f"{what} cannot be read or written: {reason}", IO_ERROR


def fail(message: str, code: int) -> NoReturn:
    """Print why the command failed, and exit."""
    # The code tells the reason also where the message cannot be written, as on a full disk.
    with contextlib.suppress(OSError):
        click.echo(f"lookalike: {visible(message)}", err=True)
    sys.exit(code)


def check_read(problems: Iterable[Problem], *, strict: bool, is_nothing_read: bool) -> None:
    """Exit with 3 if nothing at all could be read, or if an input was refused and ``--strict`` was given."""
    refused = [problem for problem in problems if not problem.is_note]
    if refused and is_nothing_read:
        fail(f"no row could be read; the first reason: {refused[0]}", REFUSED)
    if refused and strict:
        fail(f"{counted(len(refused), 'problem')} while reading, and --strict was given", REFUSED)


def given(inputs: Sequence[str]) -> list[_Given]:
    """Return inputs as paths; the library takes several strings as texts."""
    return [_Given(one) for one in inputs]


class _Given:
    """An input as the user typed it: a path, a pattern, an address, or ``-``."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __fspath__(self) -> str:
        return self._text
