"""The ledger: the removed rows, why each was removed, and all that is needed to restore them. FORMAT.md defines it.

JSON Lines: a header with count and digest of everything after it, so that a cut or changed ledger is detected, then
the removed rows by source and row. SHA-256 is the fastest available digest where the processor supports it, and fast
enough elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any

from lookalike.corpora.compression import by_content, by_suffix, chunks, compressed
from lookalike.documents.reasons import GIB, RefusedError, in_bytes
from lookalike.errors import LedgerError

VERSION = 1
_READ = 2**20
#: Memory for reading a ledger, if nothing else is said.
MEMORY = 4 * GIB
#: A line may have one in so many bytes of the memory: as text, as its values and as bytes it is there several times.
_LINE_SHARE = 10
#: What a line has beside its strings may have one in so many: an empty list of two bytes takes 64 in memory.
_FRAME_SHARE = 64
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a row was removed."""

    #: The row that was kept for it: number of its source, row number there, and id.
    survivor: tuple[int, int, str | None]
    #: What was measured against it: ``resemblance``, ``containment`` or ``distance``; and its value.
    measure: str
    value: float
    #: How: ``identical``, ``exact``, ``distance``, ``contained`` or ``filter``.
    basis: str
    method: str
    #: For decontamination: both shares, and which of them count.
    shared: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of the ledger."""
        source, row, name = self.survivor
        survivor = {"source": source, "row": row, "id": name}
        found = {"survivor": survivor, self.measure: self.value, "basis": self.basis, "method": self.method}
        return found | dict(self.shared)


@dataclass(slots=True)
class Facts:
    """The header's facts about a source and its output."""

    name: str
    format: str
    rows: int = 0
    #: Of the expanded content; for text files, of all together.
    size: int = 0
    digest: str = ""
    #: Below the folder of outputs; empty if the output is one file or the folder itself.
    clean: str = ""
    clean_size: int = 0
    clean_digest: str = ""
    compression: str | None = None
    #: Rows of each row group, and which of them could not be read.
    groups: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    #: Whether nothing of it could be read, so that it has no output.
    is_lost: bool = False


def new_digest() -> hashlib._Hash:
    """Return the hash used for all digests of a ledger."""
    return hashlib.sha256()


def packed(data: bytes) -> dict[str, str]:
    """Return bytes in the ledger's encoding."""
    try:
        return {"data": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def unpacked(entry: Mapping[str, Any]) -> bytes:
    """Return the bytes of an entry."""
    return entry["data"].encode("utf-8") if "data" in entry else base64.b64decode(entry["base64"], validate=True)


def _line(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        # A name that is no UTF-8.
        return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


class Ledger:
    """A ledger being written. Entries go to a temporary file first, because the header states their number.

    Use it in a ``with``; ``spool`` is a path in the scratch folder.
    """

    def __init__(self, spool: str) -> None:
        self._spool = spool
        self._file = open(spool, "wb")  # noqa: SIM115
        self._digest = new_digest()
        self._entries = 0

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, entry: Mapping[str, Any]) -> None:
        """Write an entry. REQUIRES: entries are ordered by source and row."""
        line = _line(entry)
        self._digest.update(line)
        self._file.write(line)
        self._entries += 1

    def write(
        self, path: str, target: str, header: Mapping[str, Any], sources: list[Facts], *, is_folder: bool
    ) -> None:
        """Write the ledger to ``path``, compressed as the suffix of ``target`` says."""
        self._file.close()
        first = {"ledger": VERSION, **header, "is_folder": is_folder, "entries": self._entries}
        first |= {"digest": self._digest.hexdigest(), "sources": [asdict(facts) for facts in sources]}
        with open(path, "wb") as raw, open(self._spool, "rb") as entries:
            stream = compressed(raw, by_suffix(target)[1])
            stream.write(_line(first))
            shutil.copyfileobj(entries, stream, _READ)
            stream.close()


class Reading:
    """A ledger being read. Errors: ``LedgerError`` for any damage."""

    def __init__(self, path: str, memory: int = MEMORY) -> None:
        self.path = path
        self._memory = memory
        self._digest = new_digest()
        self._lines = self._all()
        self.header = self._parsed(next(self._lines, b""))
        version = self.header.get("ledger")
        if not isinstance(version, int):
            raise LedgerError(f"`{path}` is not a ledger: line 1 is not a ledger header")
        if version > VERSION:
            raise LedgerError(
                f"`{path}` is a ledger of version {version}, this program reads {VERSION}: use a newer one"
            )
        known = set(Facts.__dataclass_fields__)
        try:
            self.sources = [Facts(**{k: v for k, v in one.items() if k in known}) for one in self.header["sources"]]
            self.is_folder = bool(self.header["is_folder"])
        except (KeyError, TypeError, AttributeError):
            raise LedgerError(f"`{path}` is damaged: its header lacks required fields") from None

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield all entries; completeness is checked at the end."""
        count = 0
        for line in self._lines:
            count += 1
            self._digest.update(line)
            yield self._parsed(line)
        if count != self.header.get("entries") or self._digest.hexdigest() != self.header.get("digest"):
            raise LedgerError(f"`{self.path}` is cut short or was changed: its entries do not match its header")

    def _parsed(self, line: bytes) -> dict[str, Any]:
        if len(line) > self._memory // _FRAME_SHARE:
            # What stays if strings are taken out becomes objects, each many times as large.
            self._check(len(_STRING.sub(b"", line)), _FRAME_SHARE)
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise LedgerError(f"`{self.path}` is not a ledger, or is cut short: a line is not a JSON object")
        return value

    def _check(self, size: int, share: int) -> None:
        """Errors: ``LedgerError`` if this much of a line is more than its share of the memory."""
        if size > self._memory // share:
            raise LedgerError(
                f"`{self.path}` has a line of more than {in_bytes(self._memory // share)}, which needs more memory "
                f"than {in_bytes(self._memory)}: use more memory if you trust the ledger"
            )

    def _all(self) -> Iterator[bytes]:
        with open(self.path, "rb") as file:
            format = by_content(file.read(8))
            file.seek(0)
            rest: list[bytes] = []
            held = 0
            try:
                for chunk in chunks(file, format):
                    first, *others = chunk.split(b"\n")
                    rest.append(first)
                    held += len(first)
                    self._check(held, _LINE_SHARE)
                    for other in others:
                        yield b"".join(rest) + b"\n"
                        rest, held = [other], len(other)
            except RefusedError as error:
                raise LedgerError(f"`{self.path}` cannot be read: {error}") from None
            if any(rest):
                yield b"".join(rest)
