"""Restores the input of a deduplication from its output and ledger; everything is checked before it appears."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lookalike._types import Problem
from lookalike.corpora.compression import chunks, compressed
from lookalike.corpora.encodings import Removed
from lookalike.corpora.filtering import Tally, copy_file, pieces, spliced, tally_files, tally_of
from lookalike.corpora.ledger import MEMORY, Facts, Reading, unpacked
from lookalike.corpora.parquet import from_text, merge_groups
from lookalike.corpora.places import Place
from lookalike.corpora.sink import Plan, Sink, check_outside, safe
from lookalike.corpora.staging import Staging
from lookalike.corpora.suffixes import check_format
from lookalike.documents.reasons import RefusedError
from lookalike.errors import LedgerError, ParameterError


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of ``restore``: how much was written.

    >>> from lookalike.corpora.restoring import Restored
    >>> Restored(sources=1, rows=2, problems=[]).rows
    2
    """

    sources: int
    rows: int
    #: Sources that the deduplication could not read.
    problems: list[Problem]


def restore(
    ledger: str | os.PathLike[str],
    clean: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    memory: int = MEMORY,
) -> Restored:
    """Write the input of a deduplication again, from its output and its ledger.

    Lines, records, texts and WARC are the same bytes, expanded; Parquet is the same table.

    :param ledger: The ledger that ``dedup`` wrote.
    :param clean: The output that ``dedup`` wrote.
    :param out: The file or folder to write.
    :param overwrite: Replace an output that exists.
    :param memory: Bytes that reading a line of the ledger may take; a longer line is refused.
    :returns: The numbers of sources and rows, and what ``dedup`` could not read either.
    :raises LedgerError: The ledger is damaged, or belongs to other files.
    :raises FileNotFoundError: An input does not exist.
    :raises FileExistsError: The output exists.

    >>> import os, pathlib, tempfile, lookalike as la
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows, clean, gone, again = (os.path.join(folder, f"{n}.jsonl") for n in ("rows", "clean", "gone", "again"))
    ...     _ = pathlib.Path(rows).write_text('{"text": "one two three four five"}\\n' * 2)
    ...     _ = la.dedup(rows, out=clean, ledger=gone)
    ...     restore(gone, clean, again).rows, pathlib.Path(again).read_text() == pathlib.Path(rows).read_text()
    (2, True)
    """
    if os.fspath(out) == "-":
        raise ParameterError("out `-` is not a file: a restored input is checked as a whole, so name a file or folder")
    reading = Reading(os.fspath(ledger), memory)
    path, target = os.fspath(clean), os.fspath(out).rstrip("/" + os.sep)
    check_outside(target, [path])
    try:
        names = [check_name(facts.clean, reading.path) for facts in reading.sources]
        for facts in () if reading.is_folder else reading.sources:
            check_format(target, facts.format)
        inputs = [reading.path, *(os.path.join(path, name) if name else path for name in names)]
        with Staging(overwrite=overwrite, inputs=inputs) as staging:
            restoring = _Restoring(reading, path, Sink(Plan(target, reading.is_folder, names), staging))
            rows = sum(restoring.source(number, facts) for number, facts in enumerate(reading.sources))
            restoring.finish()
            staging.commit()
    except (LedgerError, ParameterError):
        raise
    except RefusedError as error:
        raise LedgerError(str(error)) from None
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise LedgerError(f"`{reading.path}` is damaged: an entry cannot be used ({reason})") from None
    return Restored(len(reading.sources), rows, restoring.problems)


class _Restoring:
    """The sources of a ledger, one after the other."""

    def __init__(self, reading: Reading, clean: str, sink: Sink) -> None:
        self._reading = reading
        self._clean = clean
        self._sink = sink
        self._entries = reading.entries()
        self._waiting = next(self._entries, None)
        self.problems: list[Problem] = []

    def source(self, number: int, facts: Facts) -> int:
        """Write a source again, and return its rows."""
        if facts.is_lost:
            self.problems.append(Problem(facts.name, "", "could not be read when the ledger was written"))
            return 0
        path = os.path.join(self._clean, facts.clean) if facts.clean else self._clean
        if facts.format == "parquet":
            return self._parquet(number, facts, Place(path, path))
        if facts.format == "text":
            self._texts(number, facts, path)
        else:
            self._bytes(number, facts, Place(path, path))
        return facts.rows

    def finish(self) -> None:
        """Errors: ``LedgerError`` if entries are left over or contradict the header."""
        if self._waiting is not None:
            raise LedgerError(f"`{self._reading.path}` is damaged: it has entries that belong to no source")

    def _own(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield the entries of a source."""
        while self._waiting is not None and self._waiting["source"] == number:
            entry = self._waiting
            self._waiting = next(self._entries, None)
            yield entry

    def _bytes(self, number: int, facts: Facts, clean: Place) -> None:
        """Insert rows at their original places. The output may have been recompressed."""
        whole, kept = Tally(True), Tally(True)
        is_packed = facts.format != "warc" or facts.compression is not None
        packing = clean.compression() if is_packed else None
        own = (Removed(entry["row"], entry["at"], unpacked(entry)) for entry in self._own(number))
        one = next(own, None)

        def due(end: int | None) -> Iterator[Removed]:
            nonlocal one
            while one is not None and (end is None or one.at < end):
                yield one
                one = next(own, None)

        with open(self._sink.file(number), "wb") as raw, clean.open() as file:
            stream = compressed(raw, self._sink.plan.compression(packing, facts.format))
            for data in itertools.chain(chunks(file, packing), [b""]):
                for part in spliced(data, kept.size, due(kept.size + len(data) if data else None)):
                    whole.add((part,))
                    stream.write(part)
                kept.add((data,))
            stream.close()
        self._check(facts, clean.name, kept, whole)

    def _texts(self, number: int, facts: Facts, folder: str) -> None:
        self._sink.folder(number)
        whole: dict[str, tuple[int, str]] = {}
        kept: dict[str, tuple[int, str]] = {}
        for entry in self._own(number):
            names = entry["kept"] if "kept" in entry else [entry["file"]]
            for name in names:
                check_name(name, self._reading.path)
                with open(self._sink.file(number, name), "wb") as copy:
                    if "kept" in entry:
                        path = os.path.join(folder, name)
                        whole[name] = kept[name] = copy_file(Place(name, path), copy)
                    else:
                        data = unpacked(entry)
                        copy.write(data)
                        whole[name] = tally_of((data,))
        self._check(facts, folder, tally_files(kept), tally_files(whole))

    def _parquet(self, number: int, facts: Facts, clean: Place) -> int:
        if tally_of(pieces(clean)) != (facts.clean_size, facts.clean_digest):
            raise self._foreign(clean.name)
        removed = ((entry["rows"], from_text(entry["arrow"])) for entry in self._own(number))
        rows = merge_groups(clean, self._sink.file(number), facts.groups, set(facts.unread), removed)
        for group in facts.unread:
            reason = "could not be read when the ledger was written"
            self.problems.append(Problem(facts.name, f"row group {group}", reason, facts.groups[group]))
        return rows

    def _check(self, facts: Facts, name: str, kept: Tally, whole: Tally) -> None:
        """Errors: ``LedgerError`` if the digests of output or restored input differ from the ledger."""
        if kept.result != (facts.clean_size, facts.clean_digest):
            raise self._foreign(name)
        if whole.result != (facts.size, facts.digest):
            raise LedgerError(f"`{self._reading.path}` was changed: its rows do not restore `{facts.name}`")

    def _foreign(self, name: str) -> LedgerError:
        return LedgerError(
            f"`{name}` is not what the run of ledger `{self._reading.path}` wrote, or was changed since: "
            "give the output of that run"
        )


def check_name(name: str, ledger: str) -> str:
    """Return a name. Errors: ``LedgerError`` if it points outside its folder."""
    if name and safe(name) != name:
        raise LedgerError(f"`{ledger}` cannot be trusted: it names `{name}`, which is outside the folder")
    return name
