"""Reasons for not reading something that several readers share, and how sizes are written."""

from lookalike.errors import LookalikeError

KIB, MIB, GIB = 2**10, 2**20, 2**30

A_LINK = "a link, and links are not followed"
NOT_REGULAR = "not a regular file"


class RefusedError(LookalikeError):
    """A file, archive member or archive is not read. The message is the reason shown to the user."""


def too_large(most: int) -> RefusedError:
    """Return the error for something larger than a limit."""
    return RefusedError(f"larger than {in_bytes(most)}")


def why(error: OSError) -> str:
    """Return the operating system's reason."""
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def in_bytes(count: int) -> str:
    """Write a number of bytes in the largest unit that fits."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"
