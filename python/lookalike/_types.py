"""What crosses the package: a parameter, progress of a job, what could not be read, and names as bytes."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

#: Called as a job proceeds: the phase, how much is done, and of how much (``None`` where that is not known).
Progress: TypeAlias = Callable[[str, int, int | None], None]
#: The first byte of a stored name that is not stored as it is; no UTF-8 has it.
_MARK = b"\xff"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was not read, or not as it stands; the job went on."""

    #: The source's name as the user gave it: a file, a folder, a member of an archive.
    source: str
    #: Where in it: a row, a row group, a byte offset; empty for the whole source.
    place: str
    reason: str
    #: How many rows it concerns, where that is known.
    rows: int = 0
    #: Whether it was read and compared all the same: a remark, not an error.
    is_note: bool = False

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.source, self.place) if part)
        return f"{where}: {self.reason}" if where else self.reason


@dataclass(frozen=True)
class Parameter:
    """One parameter of a call or command."""

    name: str
    help: str
    default: Any = None
    kind: type = str
    choices: tuple[str, ...] = ()
    #: Short names on the command line; those of MOSS where it has one.
    flags: tuple[str, ...] = ()
    #: Whether it may be given several times.
    many: bool = False
    #: Whether it names a file or folder.
    is_path: bool = False
    #: Smallest and largest value of a number; where they are missing, the call that takes it checks.
    least: int | None = None
    most: int | None = None

    @property
    def option(self) -> str:
        """Its long name on the command line."""
        return "--" + self.name.replace("_", "-")

    def refusal(self, value: float) -> str | None:
        """Return why a number is out of range, or ``None``."""
        if self.least is None or self.least <= value <= (math.inf if self.most is None else self.most):
            return None
        return f"is out of range: use {self.least} {'or more' if self.most is None else f'to {self.most}'}"


@dataclass(frozen=True)
class Sketching:
    """The parameters of a sketch; only sketches with the same parameters can be compared."""

    sketch: str
    size: int
    modulus: int
    shingle: int
    unit: str
    homoglyphs: bool
    labelled: bool
    bits: int

    @property
    def collision_bound(self) -> float:
        """The greatest probability |s| / 2^(bits − 1) that two shingles of |s| = 64·w bits have one id (1997, §4.1)."""
        return min(1.0, 64 * self.shingle / float(1 << (self.bits - 1)))


@dataclass(frozen=True)
class Simhashing:
    """The parameters of a simhash; only simhashes with the same parameters can be compared."""

    unit: str
    homoglyphs: bool
    shingle: int
    features: str
    #: The language of all texts; ``None`` to detect it for each.
    language: str | None
    ignore: tuple[str, ...]
    #: Whether the language of each text is reported.
    languages: bool
    #: The digest of the table of idf.
    idf: str | None


_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def whole(text: str) -> int:
    """Return the whole number that a text is. Python's ``int`` also takes ``1_0``, spaces and digits of any script.

    Errors: ``ValueError``.

    >>> whole("-12")
    -12
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(text)
    return int(text)


def decimal(text: str) -> float:
    """Return the finite number that a text is. Errors: ``ValueError``.

    >>> decimal("8e9")
    8000000000.0
    """
    if not _DECIMAL.fullmatch(text) or not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun.

    >>> counted(1, "page"), counted(1200, "page"), counted(2, "query", "queries")
    ('1 page', '1,200 pages', '2 queries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def unheard(_phase: str, _done: int, _total: int | None) -> None:
    """Ignore progress: the default where nobody listens."""


def bytes_of(name: str | bytes) -> bytes:
    """Return a name as it is stored, each name as other bytes: UTF-8; bytes of a file name that are none stay.

    Python shows such bytes as surrogates. A name that would not come back, because it has other surrogates or some that
    stand for valid UTF-8, is a byte FF and then all its characters in UTF-8, surrogates as well (FORMAT.md).

    >>> bytes_of("é"), bytes_of("\\udce9"), bytes_of("\\ud800")
    (b'\\xc3\\xa9', b'\\xe9', b'\\xff\\xed\\xa0\\x80')
    """
    if isinstance(name, bytes):
        return name
    try:
        made = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        made = _MARK
    is_plain = not made.startswith(_MARK) and made.decode("utf-8", "surrogateescape") == name
    return made if is_plain else _MARK + name.encode("utf-8", "surrogatepass")


def text_of(name: bytes) -> str:
    """Return a stored name as text; what ``bytes_of`` made comes back as it was."""
    if name.startswith(_MARK):
        with contextlib.suppress(UnicodeDecodeError):
            return name[1:].decode("utf-8", "surrogatepass")
    return name.decode("utf-8", "surrogateescape")
