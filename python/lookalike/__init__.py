"""Find documents that are the same, nearly the same, contained in one another, or share passages.

Call ``help`` on a name for its arguments and an example.

Compare submissions
    ``compare`` → ``Report``, ``write_report``, ``Limits``
Remove near-duplicates from a corpus
    ``dedup`` → ``Deduplication``, ``estimate`` → ``Expected``, ``restore`` → ``Restored``
Keep an archive of documents
    ``Index`` → ``Added``, ``Queried``, ``Seen``; ``JoinedIndex``
Ask a server (``lookalike serve``)
    ``Client``
Measure two documents
    ``resemblance``, ``containment``, ``distance``, ``measure`` → ``Measures``, ``similarity`` → ``Similarity``
Make sketches and estimate from them
    ``sketch``, ``mod_sketch`` → ``Sketch`` → ``Estimate``, ``sketch_batch`` → ``SketchTable``, ``features``
Make 64-bit fingerprints that are near for near-duplicates
    ``simhash``, ``simhash_batch`` → ``SimhashTable``, ``simhash_corpus`` → ``SimhashReport``, ``idf_table`` →
    ``IdfTable``
Find fingerprints within a Hamming distance
    ``near`` → ``NearReport``, ``HammingTable``, ``QueryBatch``, ``hamming``
Select fingerprints by winnowing
    ``fingerprint`` → ``Fingerprints``, ``fingerprint_batch`` → ``FingerprintTable``, ``select``, ``stream`` →
    ``Stream``, ``canonical``, ``LookUp``
Design filters, sketches and tables
    ``design`` → ``Design``, ``Filter``, ``design_sketch`` → ``SketchDesign``, ``design_tables`` → ``TableDesigns``,
    ``TableDesign``
Bring your own tokens and formats
    ``Tokens``, ``FrontEnd``, ``Language``, ``Readable``
Errors
    ``LookalikeError`` is the base of ``ParameterError``, ``FrontendError``, ``FormatError``, ``DamagedError``,
    ``VersionError``, ``LockedError``,
    ``LedgerError``, ``MissingExtraError``, ``NoSpaceError``, ``ServiceError``, ``TooManyErrorsError``
"""

from typing import TYPE_CHECKING, Any

from lookalike._core import TEXT_VERSION, Column, __version__
from lookalike.errors import (
    DamagedError,
    FormatError,
    FrontendError,
    LedgerError,
    LockedError,
    LookalikeError,
    MissingExtraError,
    NoSpaceError,
    ParameterError,
    ServiceError,
    TooManyErrorsError,
    VersionError,
)
from lookalike.fingerprints import (
    Fingerprints,
    FingerprintTable,
    LookUp,
    Stream,
    canonical,
    fingerprint,
    fingerprint_batch,
    select,
    stream,
)
from lookalike.neighbours.table import HammingTable, QueryBatch, hamming
from lookalike.simhashes.texts import IdfTable, SimhashTable, idf_table, simhash, simhash_batch
from lookalike.sketches.estimated import Estimate, Sketch, SketchTable, mod_sketch, sketch, sketch_batch
from lookalike.sketches.exact import Measures, containment, distance, measure, resemblance
from lookalike.tokens import Tokens

if TYPE_CHECKING:
    from lookalike.archive.answers import Queried, Seen
    from lookalike.archive.joining import JoinedIndex
    from lookalike.archive.results import Added
    from lookalike.archive.store import Index
    from lookalike.comparison.job import compare
    from lookalike.comparison.result import Report
    from lookalike.corpora.restoring import Restored, restore
    from lookalike.deduplication.expecting import Expected, estimate
    from lookalike.deduplication.job import dedup
    from lookalike.deduplication.result import Deduplication
    from lookalike.designs.filters import Filter
    from lookalike.designs.sketch_size import SketchDesign, design_sketch
    from lookalike.designs.solve import Design, design
    from lookalike.designs.tables import TableDesign, TableDesigns, design_tables
    from lookalike.documents.intake import Limits
    from lookalike.frontends.readable import FrontEnd, Language, Readable
    from lookalike.neighbours.files import NearReport, near
    from lookalike.rendering.html.folder import write_report
    from lookalike.service.client import Client
    from lookalike.simhashes.corpus import SimhashReport, simhash_corpus
    from lookalike.sketches.featured import features
    from lookalike.sketches.pair import Similarity, similarity

__all__ = [
    "TEXT_VERSION",
    "Added",
    "Client",
    "Column",
    "DamagedError",
    "Deduplication",
    "Design",
    "Estimate",
    "Expected",
    "Filter",
    "FingerprintTable",
    "Fingerprints",
    "FormatError",
    "FrontEnd",
    "FrontendError",
    "HammingTable",
    "IdfTable",
    "Index",
    "JoinedIndex",
    "Language",
    "LedgerError",
    "Limits",
    "LockedError",
    "LookUp",
    "LookalikeError",
    "Measures",
    "MissingExtraError",
    "NearReport",
    "NoSpaceError",
    "ParameterError",
    "Queried",
    "QueryBatch",
    "Readable",
    "Report",
    "Restored",
    "Seen",
    "ServiceError",
    "SimhashReport",
    "SimhashTable",
    "Similarity",
    "Sketch",
    "SketchDesign",
    "SketchTable",
    "Stream",
    "TableDesign",
    "TableDesigns",
    "Tokens",
    "TooManyErrorsError",
    "VersionError",
    "__version__",
    "canonical",
    "compare",
    "containment",
    "dedup",
    "design",
    "design_sketch",
    "design_tables",
    "distance",
    "estimate",
    "features",
    "fingerprint",
    "fingerprint_batch",
    "hamming",
    "idf_table",
    "measure",
    "mod_sketch",
    "near",
    "resemblance",
    "restore",
    "select",
    "simhash",
    "simhash_batch",
    "simhash_corpus",
    "similarity",
    "sketch",
    "sketch_batch",
    "stream",
    "write_report",
]
#: Names that are loaded on first use, by module: calls on single texts do not need them.
_ELSEWHERE = {
    "archive.answers": ("Queried", "Seen"),
    "archive.results": ("Added",),
    "archive.joining": ("JoinedIndex",),
    "archive.store": ("Index",),
    "comparison.job": ("compare",),
    "comparison.result": ("Report",),
    "corpora.restoring": ("Restored", "restore"),
    "deduplication.expecting": ("Expected", "estimate"),
    "deduplication.job": ("dedup",),
    "deduplication.result": ("Deduplication",),
    "designs.filters": ("Filter",),
    "designs.sketch_size": ("SketchDesign", "design_sketch"),
    "designs.solve": ("Design", "design"),
    "designs.tables": ("TableDesign", "TableDesigns", "design_tables"),
    "documents.intake": ("Limits",),
    "frontends.readable": ("FrontEnd", "Language", "Readable"),
    "neighbours.files": ("NearReport", "near"),
    "rendering.html.folder": ("write_report",),
    "service.client": ("Client",),
    "simhashes.corpus": ("SimhashReport", "simhash_corpus"),
    "sketches.featured": ("features",),
    "sketches.pair": ("Similarity", "similarity"),
}
_MODULE_OF = {name: module for module, names in _ELSEWHERE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__file__", "__name__", "__path__"})
