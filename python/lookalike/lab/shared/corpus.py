"""A path → the texts of an experiment, with a word on everything that was left out or mended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lookalike.corpora.sources import by_name
from lookalike.deduplication.job import opened
from lookalike.deduplication.picking import pick
from lookalike.documents import corpus_files, read
from lookalike.errors import FrontendError
from lookalike.fingerprints import canonical, fingerprint_batch
from lookalike.frontends import extract
from lookalike.lab.shared import synthetic

#: Below this many characters no experiment says anything.
LEAST_CHARACTERS = 1000
#: Names shown in a note; the JSON has them all.
NAMES_SHOWN = 3


@dataclass(frozen=True)
class Corpus:
    """Texts to experiment on."""

    name: str
    description: str
    #: Name of each document below the corpus folder.
    names: tuple[str, ...]
    documents: tuple[bytes, ...] = field(repr=False)
    #: Characters in all documents after normalisation.
    characters: int
    left_out: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    #: Bytes of the files that were read, before their text was extracted; ``None`` where texts were no files.
    total_bytes: int | None = None

    @cached_property
    def text(self) -> bytes:
        """All documents as one UTF-8 text: the paper concatenated its pages (Figure 3: hashes = bytes − 49).

        Between two documents stands a line break, which normalisation drops, so that their letters cannot combine.
        """
        return b"\n".join(_utf8(document) for document in self.documents)

    @property
    def text_bytes(self) -> int:
        """Bytes of all documents, as readable text."""
        return sum(map(len, self.documents))

    def facts(self) -> dict[str, Any]:
        """Return what an outcome says about its corpus."""
        return {
            "name": self.name,
            "description": self.description,
            "documents": len(self.documents),
            "total_bytes": self.total_bytes,
            "bytes": self.text_bytes,
            "characters": self.characters,
            "left_out": list(self.left_out),
            "mended": list(self.mended),
        }

    def notes(self) -> tuple[str, ...]:
        """Return what a reader of any outcome on this corpus must know."""
        lists = (("left out", self.left_out), ("read with a guess or replacements", self.mended))
        return (f"corpus: {self.description}", *(summary(what, names) for what, names in lists if names))


def load(path: Path | None, seed: int) -> Corpus:
    """Read a folder, a file, or the rows of JSON Lines, Parquet, CSV, WARC; without one, make the synthetic corpus."""
    if path is None:
        made = synthetic.make(seed)
        description = f"{synthetic.DESCRIPTION} (seed {seed})"
        return _corpus("synthetic", description, list(made), list(made.values()), [])
    # A path that does not exist is the caller's mistake; a file that cannot be read is one line of the outcome.
    path.stat()
    left_out: list[str] = []
    is_rows = path.is_file() and by_name(path.name) is not None
    sizes: list[int] = []
    texts = dict(_read_rows(path, left_out) if is_rows else _read(path, left_out, sizes))
    description = f"the {'rows' if is_rows else 'files'} of {path.name}"
    found = _corpus(path.name, description, list(texts), list(texts.values()), left_out)
    return found if is_rows else replace(found, total_bytes=sum(sizes))


def _read(root: Path, left_out: list[str], sizes: list[int]) -> Iterator[tuple[str, bytes]]:
    """Yield names and readable texts of files, as every command reads them: pages without tags, and so on."""
    for file, obstacle in corpus_files(root):
        name = file.name if file == root else file.relative_to(root).as_posix()
        if obstacle:
            left_out.append(f"{name}: {obstacle}")
            continue
        try:
            data = read(file)
            text = extract(name, data).text
            sizes.append(len(data))
            yield name, text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        except (OSError, FrontendError) as error:
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
            left_out.append(f"{name}: {reason}")


def _read_rows(path: Path, left_out: list[str]) -> Iterator[tuple[str, bytes]]:
    with opened(path, method="exact") as (answer, _, _):
        left_out += [f"{problem.place}: {problem.reason}" for problem in answer.problems if problem.rows != 1]
        rows = pick(answer.stretches, range(answer.rows), answer.settings, texts=True)
    seen: dict[str, int] = {}
    for name, text, _ in rows.values():
        # Rows may have one id; a corpus has names.
        seen[name] = seen.get(name, 0) + 1
        unique = name if seen[name] == 1 else f"{name} ({seen[name]})"
        if text is None:
            left_out.append(f"{unique}: has no text that can be read")
        else:
            yield unique, text.encode("utf-8", "replace")


def _corpus(name: str, description: str, names: list[str], texts: list[bytes], left_out: list[str]) -> Corpus:
    """Let the front end read each text once: it says which are no texts and how long the others are."""
    found = fingerprint_batch(texts, k=1, t=1, scheme="smallest", count=1)
    refused = {note.index for note in found.notes if note.refused}
    left_out = left_out + [f"{names[note.index]}: {note.message}" for note in found.notes if note.refused]
    mended = [f"{names[note.index]}: {note.message}" for note in found.notes if not note.refused]
    kept = [i for i in range(len(names)) if i not in refused]
    characters = sum(found.tokens.tolist())
    if characters < LEAST_CHARACTERS:
        because = f" ({summary('left out', left_out)})" if left_out else ""
        raise FrontendError(
            f"corpus `{name}` has {characters} characters of text{because}: "
            f"an experiment needs {LEAST_CHARACTERS}; give a folder or file with more text"
        )
    documents_ = tuple(texts[i] for i in kept)
    return Corpus(
        name, description, tuple(names[i] for i in kept), documents_, characters, tuple(left_out), tuple(mended)
    )


def _utf8(document: bytes) -> bytes:
    """Return a document as it is where it is plain UTF-8, and normalised, which is as good here, where it is not."""
    try:
        is_plain = b"\0" not in document and bool(document.decode())
    except UnicodeDecodeError:
        is_plain = False
    return document if is_plain else canonical(document).encode()


def summary(what: str, names: tuple[str, ...] | list[str]) -> str:
    """Return the first few of a list that the JSON has in full."""
    more = f" and {len(names) - NAMES_SHOWN} more, listed in the JSON" if len(names) > NAMES_SHOWN else ""
    return f"{what}: {' · '.join(names[:NAMES_SHOWN])}{more}"
