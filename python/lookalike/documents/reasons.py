"""Why something is not read: the reasons that more than one reader has, and how they are raised and spelled."""

KIB, MIB, GIB = 2**10, 2**20, 2**30

A_LINK = "a link, and links are not followed"
NOT_REGULAR = "not a regular file"


class RefusedError(Exception):
    """A file, a member or an archive is not read; the message is the reason for the list."""


def too_large(most: int) -> RefusedError:
    """Return the refusal of something that has more bytes than that."""
    return RefusedError(f"larger than {in_bytes(most)}")


def why(error: OSError) -> str:
    """Return the reason that the system gives."""
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def in_bytes(count: int) -> str:
    """Spell a number of bytes in the largest unit that fits."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"
