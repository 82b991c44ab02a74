"""What all commands share: options from parameters, exit codes, and errors that are spoken in one line."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from lookalike.documents.reasons import RefusedError
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
from lookalike.params import Parameter
from lookalike.rendering.safe import visible

#: Exit codes, the same in every command.
ABOVE, USAGE, REFUSED, DAMAGED, LOCKED, VERSION, IO_ERROR, INTERNAL, INTERRUPTED = 1, 2, 3, 4, 5, 6, 7, 70, 130

Command = TypeVar("Command", bound=Callable[..., Any])


def option(parameter: Parameter, **extra: Any) -> Callable[[Command], Command]:
    """Turn a parameter into a click option: name, type, default and help come from its one definition."""
    names = (*parameter.flags, parameter.option) if len(parameter.name) > 1 else parameter.flags
    if parameter.kind is bool:
        return click.option(
            *names, parameter.name, is_flag=True, default=parameter.default, help=parameter.help, **extra
        )
    kind = click.Choice(parameter.choices) if parameter.choices else parameter.kind
    shown = parameter.default is not None
    return click.option(
        *names,
        parameter.name,
        default=parameter.default,
        show_default=shown,
        multiple=parameter.many,
        help=parameter.help,
        **{"type": kind} | extra,
    )


@contextlib.contextmanager
def spoken_errors() -> Iterator[None]:
    """Turn what a user can cause into one line and an exit code; nobody is shown a traceback."""
    try:
        yield
    except ParameterError as error:
        fail(str(error), USAGE)
    except MissingExtraError as error:
        fail(str(error), USAGE)
    except DamagedError as error:
        fail(str(error), DAMAGED)
    except VersionError as error:
        fail(str(error), VERSION)
    except LockedError as error:
        fail(str(error), LOCKED)
    except (FormatError, FrontendError, LedgerError, RefusedError, TooManyErrorsError) as error:
        fail(str(error), REFUSED)
    except FileNotFoundError as error:
        if error.filename is None:
            fail(error.strerror or str(error), IO_ERROR)
        fail(f"`{error.filename}` does not exist: check the path", USAGE)
    except NoSpaceError as error:
        fail(error.strerror or str(error), IO_ERROR)
    except OSError as error:
        what = "something" if error.filename is None else f"`{error.filename}`"
        # That a file is in the way of a folder only the system says; what may not be replaced, we do.
        if isinstance(error, FileExistsError) and error.strerror != os.strerror(errno.EEXIST):
            fail(f"{what} {error.strerror or error}", USAGE)
        fail(f"{what} cannot be read or written: {error.strerror or error}", IO_ERROR)
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPTED)
    except SystemExit:
        raise
    except BaseException as error:
        # A fault of ours; a panic of the core arrives as an exception that is no Exception.
        fail(f"internal error, please report it with the command: {type(error).__name__}: {error}", INTERNAL)


def fail(message: str, code: int) -> None:
    """Say what went wrong and leave."""
    click.echo(f"lookalike: {visible(message)}", err=True)
    sys.exit(code)


def given(inputs: Sequence[str]) -> list[_Given]:
    """Return inputs as paths: several strings would be texts."""
    return [_Given(one) for one in inputs]


class _Given:
    """An input as it was typed: a path, a pattern, an address, or ``-``."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __fspath__(self) -> str:
        return self._text
