"""The exceptions a caller may meet; plain ``OSError`` stands for I/O."""

from lookalike._core import DamagedError, FormatError, FrontendError, LockedError, ParameterError, VersionError


class MissingExtraError(ImportError):
    """A command needs packages of an extra that is not installed; the message names the exact install."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs packages that are not installed: run pip install "lookalike[{extra}]"')


class NoSpaceError(OSError):
    """There is no room for an output; what was written of it is removed, and the message tells what is needed."""


class TooManyErrorsError(ValueError):
    """More rows of a corpus could not be read than the caller allowed."""


class LedgerError(ValueError):
    """A ledger is damaged, not one of ours, or not that of these files."""


__all__ = [
    "DamagedError",
    "FormatError",
    "FrontendError",
    "LedgerError",
    "LockedError",
    "MissingExtraError",
    "NoSpaceError",
    "ParameterError",
    "TooManyErrorsError",
    "VersionError",
]
