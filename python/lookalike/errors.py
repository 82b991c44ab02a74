"""The exceptions a caller may meet; plain ``OSError`` stands for I/O."""

from lookalike._core import FrontendError, ParameterError


class MissingExtraError(ImportError):
    """A command needs packages of an extra that is not installed; the message names the exact install."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs packages that are not installed: run pip install "lookalike[{extra}]"')


__all__ = ["FrontendError", "MissingExtraError", "ParameterError"]
