"""Simhash: one 64-bit fingerprint a document, near for documents that are nearly the same.

After Charikar 2002 and Manku, Jain, Das Sarma 2007, §2. A document without features has no fingerprint: ``None``,
never a 0 that would be near every other 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from lookalike import _core, params
from lookalike._core import Column
from lookalike._types import counted
from lookalike.corpora.batching import Given, batches
from lookalike.corpora.staging import Staging
from lookalike.engines import local
from lookalike.errors import ParameterError
from lookalike.fingerprints import Document, Note, as_array, load, noted
from lookalike.params import Simhashing

#: Languages that can be told, by ISO 639-1 code.
LANGUAGES = tuple(_core.simhash_languages())
#: Features of fewer texts than this are not listed in a table of idf.
MIN_DOCUMENTS = 2
_ONE_OF_TWO = "simhash takes a document, or features with their weights: give one of the two"
#: Features that the caller made, each with its weight.
Features = Mapping[str, float] | Iterable[tuple[str, float]]


class Featuring(TypedDict, total=False):
    """How texts become features; what is left out has the default of ``params``."""

    unit: str | None
    shingle: int | None
    homoglyphs: bool | None
    language: str | None
    ignore: Iterable[str] | None
    languages: bool | None


class Making(Featuring, total=False):
    """How texts become features, and what these weigh."""

    idf: IdfTable | os.PathLike[str] | str | None


class IdfTable:
    """What features weigh: how rare they are in a corpus, fixed once and stored with its version."""

    def __init__(self, made: _core.IdfTable) -> None:
        self.core = made

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IdfTable:
        """Read a table. Errors: ``OSError``, ``FormatError`` if it is damaged or of another version."""
        with open(path, "rb") as file:
            return cls(_core.IdfTable(file.read()))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the table, whole or not at all. Errors: ``OSError``, ``FileExistsError``."""
        with Staging(overwrite=overwrite) as staging:
            with open(staging.file(os.fspath(path)), "wb") as file:
                file.write(self.core.to_bytes())
            staging.commit()

    @property
    def documents(self) -> int:
        """Documents of the corpus."""
        return self.core.documents

    @property
    def digest(self) -> str:
        """The last bytes of the stored form, which tell tables apart."""
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
    """Count in how many texts of a corpus each of the paper's features is, and weigh it by that.

    Features of fewer than ``min_documents`` texts are not listed, and weigh as if one text had them. Make it once, on a
    corpus like the ones to come, and use it for all: fingerprints of different tables cannot be compared.
    """
    s = params.simhashing(features="paper", language=language, homoglyphs=homoglyphs, ignore=ignore)
    return IdfTable(_made(s, None).idf(list(batches(texts)), min_documents))


@dataclass(frozen=True)
class SimhashTable:
    """The fingerprints of many texts, in columns that ``numpy.asarray`` takes as they are."""

    #: 0 where there is none.
    fingerprints: Column
    #: A byte a text: 1 if it has a fingerprint, 0 if not.
    valid: bytes
    #: Tokens of each text.
    lengths: Column
    #: A byte a text: 0 where the language is unknown or was not asked for, else one more than its place in LANGUAGES.
    languages: bytes
    simhashing: Simhashing
    #: Texts that were guessed, mended or refused.
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.valid)

    def __getitem__(self, at: int) -> int | None:
        """Return the fingerprint of a text, ``None`` if it has none."""
        return self.fingerprints[at] if self.valid[at] else None

    def __repr__(self) -> str:
        made = f"{counted(len(self), 'text')}, {sum(self.valid):,} with a fingerprint"
        return f"<SimhashTable of {made}, features {self.simhashing.features}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the fingerprints as ``numpy.asarray`` asks for them, 0 for a text without one."""
        return as_array(self.fingerprints, dtype, copy)


def simhash(
    document: Document | None = None, *, features: str | Features | None = None, **chosen: Unpack[Making]
) -> int | None:
    """Return the fingerprint of a document, or of features with weights; ``None`` if there are no features.

    ``features`` are a mapping or pairs, or the name of a way to make them of the document: ``words`` or ``paper``. A
    weight may be negative, and then votes for the opposite bits. Errors: ``ParameterError``, ``FrontendError``.

    >>> bin(simhash("a rose is a rose is a rose") ^ simhash("a rose is a rose is a flower")).count("1")
    4
    >>> simhash(features={"rose": 3, "is": 2, "a": 3}) == simhash("a rose is a rose is a rose")
    True
    >>> simhash("?!") is None
    True
    """
    if features is None or isinstance(features, str):
        if document is None:
            raise ParameterError(_ONE_OF_TWO)
        return maker(features=features, **chosen)[0].one(load(document))[0]
    if document is not None:
        raise ParameterError(_ONE_OF_TWO)
    if chosen:
        raise ParameterError(f"parameter `{min(chosen)}` makes features of a text, and features were given")
    return _core.simhash_features(_pairs(features))


def simhash_batch(
    texts: Iterable[Given], *, features: str | None = None, threads: int | None = None, **chosen: Unpack[Making]
) -> SimhashTable:
    """Fingerprint many texts on all cores. One that cannot be read has no fingerprint and a note."""
    core, s = maker(features=features, **chosen)
    # One thread takes a list as it is: its columns need not be put together again.
    parts = list(local.map_batches(core.many, batches(texts, whole=threads == 1), threads))
    notes: list[Note] = []
    base = 0
    for part in parts:
        notes += [noted(base, note) for note in part[4]]
        base += len(part[1])
    fingerprints, lengths = _core.concatenate_simhashes([(part[0], part[2]) for part in parts])
    valid, languages = b"".join(part[1] for part in parts), b"".join(part[3] for part in parts)
    return SimhashTable(fingerprints, valid, lengths, languages, s, tuple(notes))


def _pairs(features: Features) -> list[tuple[str, float]]:
    """Return features as the core takes them. Errors: ``ParameterError``."""
    pairs = list(features.items()) if isinstance(features, Mapping) else list(features)
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ParameterError(f"feature `{pair!r}` is not a pair: use a string and its weight, such as ('rose', 3)")
    return pairs


def maker(
    *,
    features: str | None = None,
    idf: IdfTable | os.PathLike[str] | str | None = None,
    **chosen: Unpack[Featuring],
) -> tuple[_core.SimhashMaker, Simhashing]:
    """Return the core's maker of fingerprints, and how it makes them. Errors: ``ParameterError``, ``OSError``."""
    idf = idf if idf is None or isinstance(idf, IdfTable) else IdfTable.load(idf)
    s = params.simhashing(features=features, idf=None if idf is None else idf.digest, **chosen)
    return _made(s, idf), s


def _made(s: Simhashing, idf: IdfTable | None) -> _core.SimhashMaker:
    core = None if idf is None else idf.core
    return _core.SimhashMaker(s.unit, s.homoglyphs, s.shingle, s.features, s.language, s.ignore, s.languages, core)


__all__ = ["LANGUAGES", "Features", "IdfTable", "SimhashTable", "idf_table", "simhash", "simhash_batch"]
