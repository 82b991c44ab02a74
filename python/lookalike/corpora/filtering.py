"""The second pass: writes each source without the rows that a mask removes, and these rows to the ledger."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from lookalike._types import Problem
from lookalike.corpora.compression import compressed
from lookalike.corpora.delimited import CsvSource
from lookalike.corpora.encodings import Removed
from lookalike.corpora.ledger import Facts, Ledger, Verdict, new_digest, packed
from lookalike.corpora.lines import Filter, LineFilter, LineSource, check_rows, reason_of
from lookalike.corpora.mailboxes import MailboxSource
from lookalike.corpora.parquet import ParquetSource, filter_groups, to_text
from lookalike.corpora.places import Place, is_address
from lookalike.corpora.sink import Plan, Sink
from lookalike.corpora.sources import Corpus, FileSource
from lookalike.corpora.suffixes import check_suffix
from lookalike.corpora.texts import TextSource
from lookalike.corpora.warc import WarcSource
from lookalike.documents.intake import in_order
from lookalike.documents.reasons import RefusedError

if TYPE_CHECKING:
    import pyarrow as pa

#: Names of text files in one entry of the ledger.
_NAMES = 1000
_READ = 2**20


def plan(corpus: Corpus, out: str | os.PathLike[str]) -> Plan:
    """Name the outputs.

    Errors: ``FileExistsError`` if they would be inside an input folder, ``ParameterError`` for a suffix of another
    format.
    """
    sources = corpus.sources
    whole = len(sources) == 1 and isinstance(sources[0], TextSource)
    made = Plan.new(out, _titles(sources), many=corpus.many, whole=whole, inputs=corpus.paths)
    if not made.is_folder:
        check_suffix(made.out, corpus)
    return made


def _titles(sources: Sequence[FileSource]) -> list[str]:
    """Return what outputs are called: files of one name keep as much of their folders as tells them apart."""
    titles = [source.title for source in sources]
    count = Counter(title.casefold() for title in titles)
    for title in (title for title, number in count.items() if number > 1):
        own = [at for at, one in enumerate(titles) if one.casefold() == title]
        paths = [_parts(sources[at]) for at in own]
        depths = range(title.count("/") + 2, max(map(len, paths)) + 1)
        tails = ([tuple(path[-depth:]) for path in paths] for depth in depths)
        chosen = next((tail for tail in tails if len(set(tail)) == len(own)), None)
        for at, tail in zip(own, chosen, strict=True) if chosen else ():
            titles[at] = "/".join(tail)
    return titles


def _parts(source: FileSource) -> list[str]:
    """Return the folders and the name of a source, as the user gave them and, for local ones, those above."""
    local = not is_address(source.name)
    return [part for part in (os.path.abspath(source.name) if local else source.name).split("/") if part]


class Filtering:
    """Writes the outputs of a corpus. REQUIRES: all its sources were read to the end before."""

    def __init__(
        self,
        corpus: Corpus,
        sink: Sink,
        *,
        ledger: Ledger | None = None,
        verdict: Callable[[int, int], Verdict] | None = None,
        make: Callable[[bytes], Filter] = LineFilter,
        tell: Callable[[int], None] = lambda done: None,
    ) -> None:
        self._corpus = corpus
        self._sink = sink
        self._ledger = ledger
        self._verdict = verdict
        #: Creates the filter that removes lines.
        self._make = make
        #: Called with the number of input bytes done.
        self._tell = tell
        self._before = 0
        #: Sources that could not be copied; they were reported as not compared before.
        self.problems: list[Problem] = []

    def write(self, masks: Sequence[bytes]) -> list[Facts]:
        """Write all outputs; a mask has one byte per row, 0 for removed rows. Without a ledger there are no digests.

        Errors: ``ValueError`` if a mask does not fit, ``RefusedError`` if rows that were read cannot be copied,
        ``OSError``.
        """
        return [self._write(number, source, masks[number]) for number, source in enumerate(self._corpus.sources)]

    def _write(self, number: int, source: FileSource, mask: bytes) -> Facts:
        facts = Facts(source.name, source.format, len(mask), clean=self._sink.plan.names[number])
        if isinstance(source, ParquetSource):
            self._write_parquet(number, source, mask, facts)
        elif isinstance(source, TextSource):
            self._write_texts(number, source, mask, facts)
        else:
            self._write_bytes(number, source, mask, facts)
        self._before += source.size
        self._tell(self._before)
        return facts

    def _tell_of(self, source: FileSource) -> None:
        self._tell(self._before + source.done)

    def _entry(self, number: int, row: int) -> dict[str, Any]:
        verdict = {} if self._verdict is None else self._verdict(number, row).to_json()
        return {"source": number, "row": row, **verdict}

    def _write_bytes(
        self, number: int, source: LineSource | CsvSource | WarcSource | MailboxSource, mask: bytes, facts: Facts
    ) -> None:
        facts.compression = self._sink.plan.compression(source.compression, source.format)
        tally, clean = Tally(self._ledger is not None), Tally(self._ledger is not None)
        with open(self._sink.file(number), "wb") as raw:
            stream = compressed(raw, facts.compression)
            parts = source.kept(mask, self._make) if isinstance(source, LineSource) else source.kept(mask)
            for data, removed in parts:
                tally.add(spliced(data, clean.size, removed))
                clean.add((data,))
                stream.write(data)
                self._tell_of(source)
                for row, at, gone in removed:
                    if self._ledger is not None:
                        self._ledger.add(self._entry(number, row) | {"at": at} | packed(gone))
            stream.close()
        facts.size, facts.digest = tally.result
        facts.clean_size, facts.clean_digest = clean.result

    def _write_parquet(self, number: int, source: ParquetSource, mask: bytes, facts: Facts) -> None:
        if not source.is_readable:
            facts.is_lost = True
            return
        path = self._sink.file(number)

        def take(group: int, rows: list[int], table: pa.Table) -> None:
            if self._ledger is not None:
                verdicts = None if self._verdict is None else [self._verdict(number, row).to_json() for row in rows]
                entry = {"source": number, "row": rows[0], "group": group, "rows": rows, "verdicts": verdicts}
                self._ledger.add(entry | {"arrow": to_text(table)})

        facts.groups = filter_groups(source, mask, path, take, lambda: self._tell_of(source))
        facts.unread = sorted(source.unread)
        if self._ledger is not None:
            facts.size = source.place.size()
            facts.clean_size, facts.clean_digest = tally_of(pieces(Place(path, path)))

    def _write_texts(self, number: int, source: TextSource, mask: bytes, facts: Facts) -> None:
        check_rows(len(source.places), len(mask))
        self._sink.folder(number)
        whole: dict[str, tuple[int, str]] = {}
        gone: set[str] = set()
        refused = {problem.place for problem in source.problems}
        source.done = 0
        for row, (name, place) in enumerate(zip(source.names, source.places, strict=True)):
            if mask[row]:
                if (place.below or place.name) in refused and (reason := _why_not(place)):
                    reason = f"{reason}; it is not in the output"
                    self.problems.append(Problem(source.name, place.below or place.name, reason, 1))
                else:
                    with open(self._sink.file(number, name), "wb") as copy:
                        whole[name] = copy_file(place, copy)
            else:
                gone.add(name)
                if self._ledger is not None:
                    data = b"".join(pieces(place))
                    whole[name] = tally_of((data,))
                    self._ledger.add(self._entry(number, row) | {"file": name} | packed(data))
            source.done += whole[name][0] if name in whole else 0
            self._tell_of(source)
        kept = {name: one for name, one in whole.items() if name not in gone}
        if self._ledger is not None:
            names = list(kept)
            for start in range(0, len(names), _NAMES):
                self._ledger.add({"source": number, "kept": names[start : start + _NAMES]})
            facts.size, facts.digest = tally_files(whole).result
            facts.clean_size, facts.clean_digest = tally_files(kept).result


def _why_not(place: Place) -> str | None:
    """Return the reason a file cannot be copied, or ``None``."""
    try:
        place.open().close()
    except (OSError, RefusedError) as error:
        return reason_of(error)
    return None


class Tally:
    """Counts and digests bytes; without ``digests`` it only counts."""

    def __init__(self, digests: bool) -> None:
        self.size = 0
        self._digest = new_digest() if digests else None

    def add(self, parts: Iterable[bytes]) -> None:
        """Add bytes."""
        for part in parts:
            self.size += len(part)
            if self._digest is not None:
                self._digest.update(part)

    @property
    def result(self) -> tuple[int, str]:
        """The size and the digest."""
        return self.size, self._digest.hexdigest() if self._digest is not None else ""


def tally_of(parts: Iterable[bytes]) -> tuple[int, str]:
    """Return the size and the digest of bytes."""
    tally = Tally(True)
    tally.add(parts)
    return tally.result


def tally_files(files: Mapping[str, tuple[int, str]]) -> Tally:
    """Return the tally of several files, by name; their order does not matter."""
    tally = Tally(True)
    tally.add(f"{digest} {in_order(name).hex()}\n".encode() for name, (_, digest) in sorted(files.items()))
    tally.size = sum(size for size, _ in files.values())
    return tally


def spliced(data: bytes, start: int, removed: Iterable[Removed]) -> Iterator[bytes]:
    """Yield the bytes after offset ``start``, with the rows that were removed from them."""
    done = 0
    for _, at, gone in removed:
        yield data[done : at - start]
        yield gone
        done = at - start
    yield data[done:] if done else data


def pieces(place: Place) -> Iterator[bytes]:
    """Yield the content of a file unchanged."""
    with place.open() as file:
        while piece := file.read(_READ):
            yield piece


def copy_file(place: Place, copy: BinaryIO) -> tuple[int, str]:
    """Copy a file, and return its size and digest. Errors: ``OSError``, ``RefusedError``."""
    tally = Tally(True)
    for piece in pieces(place):
        tally.add((piece,))
        copy.write(piece)
    return tally.result
