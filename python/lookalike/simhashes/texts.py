"""Simhash: one 64-bit fingerprint per document; near-duplicates differ in few bits.

After Charikar 2002 and Manku, Jain, Das Sarma 2007, §2. A document without features has no fingerprint: ``None``. A 0
in its place would be near every other 0. Cost: linear in the document.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from lookalike import _core, params
from lookalike._calls import explained
from lookalike._core import Column
from lookalike._types import counted
from lookalike.corpora.batching import Given, batches
from lookalike.corpora.staging import Staging
from lookalike.engines import local
from lookalike.errors import ParameterError
from lookalike.fingerprints import Document, Note, as_array, check_tokens, load, noted
from lookalike.params import SIMHASHING, Simhashing
from lookalike.tokens import Tokens

#: Languages that can be detected, by ISO 639-1 code.
LANGUAGES = tuple(_core.simhash_languages())
#: A table of idf lists the features of at least this many texts.
MIN_DOCUMENTS = 2
_ONE_OF_TWO = "simhash takes a document, or features with their weights: give one of the two"
#: Features that the caller made, each with its weight.
Features: TypeAlias = Mapping[str, float] | Iterable[tuple[str, float]]
#: Parameters that decide the fingerprint of a text, but for ``features``, which every call explains itself.
MAKING = tuple(one for name, one in SIMHASHING.items() if name != "features")


class IdfTable:
    """The weights of features by how rare they are in a corpus; fixed once and stored with a version.

    ``idf_table`` makes one, ``IdfTable.load`` reads a stored one.

    >>> from lookalike.simhashes.texts import idf_table
    >>> idf_table(["red rose", "red house"], language="en")
    <IdfTable of 1 feature in 2 documents>
    """

    def __init__(self, made: _core.IdfTable) -> None:
        self.core = made

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IdfTable:
        """Read a stored table. Errors: ``OSError``, ``FormatError`` if it is damaged or of another version."""
        with open(path, "rb") as file:
            return cls(_core.IdfTable(file.read()))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the table; the file appears complete or not at all. Errors: ``OSError``, ``FileExistsError``."""
        with Staging(overwrite=overwrite) as staging:
            with open(staging.file(os.fspath(path)), "wb") as file:
                file.write(self.core.to_bytes())
            staging.commit()

    @property
    def documents(self) -> int:
        """Documents in the corpus."""
        return self.core.documents

    @property
    def digest(self) -> str:
        """The last bytes of the stored form, which identify the table."""
        return self.core.to_bytes()[-8:].hex()

    def __len__(self) -> int:
        return len(self.core)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdfTable) and self.core == other.core

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<IdfTable of {counted(len(self), 'feature')} in {counted(self.documents, 'document')}>"


def idf_table(
    texts: Iterable[Given],
    *,
    min_documents: int = MIN_DOCUMENTS,
    language: str | None = None,
    homoglyphs: bool | None = None,
    ignore: Iterable[str] | None = None,
) -> IdfTable:
    """Weigh each of the paper's features by how few texts of a corpus have it.

    Make the table once, on a corpus like the ones to come, and use it for all. Fingerprints made with different tables
    cannot be compared.

    :param texts: Texts as ``str`` or bytes.
    :param min_documents: Features of fewer texts are not listed, and weigh as if one text had them.
    :param language: The language of all texts, such as ``en``; by default detected for each.
    :param homoglyphs: Treat look-alike letters (Cyrillic а) as Latin.
    :param ignore: Patterns to drop before hashing, as in ``simhash``.
    :returns: The table.
    :raises ParameterError: A parameter is out of range.

    >>> len(idf_table(["red rose", "red house"], language="en"))
    1
    """
    s = params.simhashing(features="paper", language=language, homoglyphs=homoglyphs, ignore=ignore)
    return IdfTable(_made(s, None).idf(list(batches(texts)), min_documents))


@dataclass(frozen=True)
class SimhashTable:
    """The fingerprints of many texts, in columns that ``numpy.asarray`` does not copy.

    >>> from lookalike.simhashes.texts import simhash, simhash_batch
    >>> table = simhash_batch(["a rose is a rose", "?!"])
    >>> table[0] == simhash("a rose is a rose"), table[1]
    (True, None)
    """

    #: 0 for texts without a fingerprint.
    fingerprints: Column
    #: One byte per text: 1 if it has a fingerprint, 0 if not.
    valid: bytes
    #: Tokens of each text.
    lengths: Column
    #: One byte per text: 0 if the language is unknown or was not asked for, else 1 + its index in ``LANGUAGES``.
    languages: bytes
    simhashing: Simhashing
    #: Texts whose encoding was guessed, that were repaired, or that could not be read.
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.valid)

    def __getitem__(self, at: int) -> int | None:
        """Return the fingerprint of a text; ``None`` if it has none."""
        return self.fingerprints[at] if self.valid[at] else None

    def __repr__(self) -> str:
        made = f"{counted(len(self), 'text')}, {sum(self.valid):,} with a fingerprint"
        return f"<SimhashTable of {made}, features {self.simhashing.features}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the fingerprints as ``numpy.asarray`` asks for them, 0 for a text without one."""
        return as_array(self.fingerprints, dtype, copy)


@explained(*MAKING)
def simhash(
    document: Document | None = None,
    *,
    features: str | Features | None = None,
    unit: str | None = None,
    shingle: int | None = None,
    homoglyphs: bool | None = None,
    language: str | None = None,
    idf: IdfTable | os.PathLike[str] | str | None = None,
    ignore: Iterable[str] | None = None,
    languages: bool | None = None,
) -> int | None:
    """Return the fingerprint of a document, or of weighted features.

    :param document: A text, a ``Path``, or tokens; left out if features are given.
    :param features: How features are made of the document, ``words`` or ``paper``; or the features themselves, as a
        mapping or pairs of feature and weight. A negative weight votes for the opposite bits.
    :parameters:
    :returns: The fingerprint; ``None`` if there are no features.
    :raises ParameterError: Parameters contradict each other, or both a document and features are given.
    :raises FrontendError: The document cannot be read as text.

    >>> bin(simhash("a rose is a rose is a rose") ^ simhash("a rose is a rose is a flower")).count("1")
    4
    >>> simhash(features={"rose": 3, "is": 2, "a": 3}) == simhash("a rose is a rose is a rose")
    True
    >>> simhash("?!") is None
    True
    """
    given: dict[str, object] = {"unit": unit, "shingle": shingle, "homoglyphs": homoglyphs, "language": language}
    given |= {"idf": idf, "ignore": ignore, "languages": languages}
    if features is None or isinstance(features, str):
        if document is None:
            raise ParameterError(_ONE_OF_TWO)
        loaded = load(document)
        if isinstance(loaded, Tokens):
            check_tokens(**{name: one for name, one in given.items() if name != "shingle"}, features=features)
            return _core.simhash_tokens(maker(shingle=shingle)[0], loaded.values)
        return maker(features, unit, shingle, homoglyphs, language, idf, ignore, languages)[0].one(loaded)[0]
    if document is not None:
        raise ParameterError(_ONE_OF_TWO)
    if chosen := [name for name, value in given.items() if value is not None]:
        raise ParameterError(f"parameter `{min(chosen)}` makes features of a text, and features were given")
    return _core.simhash_features(_pairs(features))


@explained(*MAKING)
def simhash_batch(
    texts: Iterable[Given],
    *,
    features: str | None = None,
    unit: str | None = None,
    shingle: int | None = None,
    homoglyphs: bool | None = None,
    language: str | None = None,
    idf: IdfTable | os.PathLike[str] | str | None = None,
    ignore: Iterable[str] | None = None,
    languages: bool | None = None,
    threads: int | None = None,
) -> SimhashTable:
    """Fingerprint many texts on all cores. A text that cannot be read has no fingerprint and a note.

    :param texts: Texts as ``str`` or bytes, or a column of pyarrow, polars or pandas.
    :param features: How features are made of a text: ``words`` (default) or ``paper``.
    :parameters:
    :param threads: How many cores to use; ``None`` for all.
    :returns: A table with one fingerprint per text.
    :raises ParameterError: Parameters contradict each other.

    >>> len(simhash_batch(["a rose is a rose", "a rose is a flower"]))
    2
    """
    core, s = maker(features, unit, shingle, homoglyphs, language, idf, ignore, languages)
    # One thread takes a list as it is, so that its columns need not be joined.
    parts = list(local.map_batches(core.many, batches(texts, whole=threads == 1), threads))
    notes: list[Note] = []
    base = 0
    for part in parts:
        notes += [noted(base, note) for note in part[4]]
        base += len(part[1])
    fingerprints, lengths = _core.concatenate_simhashes([(part[0], part[2]) for part in parts])
    valid, found = b"".join(part[1] for part in parts), b"".join(part[3] for part in parts)
    return SimhashTable(fingerprints, valid, lengths, found, s, tuple(notes))


def _pairs(features: Features) -> list[tuple[str, float]]:
    """Return features as the core takes them. Errors: ``ParameterError``."""
    pairs = list(features.items()) if isinstance(features, Mapping) else list(features)
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ParameterError(f"feature `{pair!r}` is not a pair: use a string and its weight, such as ('rose', 3)")
    return pairs


def maker(
    features: str | None = None,
    unit: str | None = None,
    shingle: int | None = None,
    homoglyphs: bool | None = None,
    language: str | None = None,
    idf: IdfTable | os.PathLike[str] | str | None = None,
    ignore: Iterable[str] | None = None,
    languages: bool | None = None,
) -> tuple[_core.SimhashMaker, Simhashing]:
    """Return the core's maker of fingerprints, and its parameters. Errors: ``ParameterError``, ``OSError``."""
    idf = idf if idf is None or isinstance(idf, IdfTable) else IdfTable.load(idf)
    digest = None if idf is None else idf.digest
    s = params.simhashing(unit, homoglyphs, shingle, features, language, ignore, languages, digest)
    return _made(s, idf), s


def _made(s: Simhashing, idf: IdfTable | None) -> _core.SimhashMaker:
    core = None if idf is None else idf.core
    return _core.SimhashMaker(s.unit, s.homoglyphs, s.shingle, s.features, s.language, s.ignore, s.languages, core)


__all__ = ["LANGUAGES", "Features", "IdfTable", "SimhashTable", "idf_table", "simhash", "simhash_batch"]
