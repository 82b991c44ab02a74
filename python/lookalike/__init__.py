"""Document fingerprinting: which documents are the same, nearly the same, contained in one another, share passages."""

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

if TYPE_CHECKING:
    from lookalike.comparison.job import compare
    from lookalike.comparison.result import Report
    from lookalike.deduplication import Deduplication, dedup
    from lookalike.designs.filters import Filter
    from lookalike.designs.sketch_size import SketchDesign, design_sketch
    from lookalike.designs.solve import Design, design
    from lookalike.designs.tables import TableDesign, TableDesigns, design_tables
    from lookalike.neighbours.files import NearReport, near
    from lookalike.rendering.html.folder import write as write_report
    from lookalike.simhashes.corpus import SimhashReport, simhash_corpus
    from lookalike.sketches.pair import Similarity, similarity

__all__ = [
    "TEXT_VERSION",
    "Column",
    "DamagedError",
    "Deduplication",
    "Design",
    "Estimate",
    "Filter",
    "FingerprintTable",
    "Fingerprints",
    "FormatError",
    "FrontendError",
    "HammingTable",
    "IdfTable",
    "LedgerError",
    "LockedError",
    "LookUp",
    "LookalikeError",
    "Measures",
    "MissingExtraError",
    "NearReport",
    "NoSpaceError",
    "ParameterError",
    "QueryBatch",
    "Report",
    "SimhashReport",
    "SimhashTable",
    "Similarity",
    "Sketch",
    "SketchDesign",
    "SketchTable",
    "Stream",
    "TableDesign",
    "TableDesigns",
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
    "fingerprint",
    "fingerprint_batch",
    "hamming",
    "idf_table",
    "measure",
    "mod_sketch",
    "near",
    "resemblance",
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
#: What reads and compares whole folders is loaded when it is asked for: a single text needs none of it.
_ELSEWHERE = {
    "compare": ("comparison.job", "compare"),
    "dedup": ("deduplication", "dedup"),
    "Deduplication": ("deduplication", "Deduplication"),
    "design": ("designs.solve", "design"),
    "design_sketch": ("designs.sketch_size", "design_sketch"),
    "Design": ("designs.solve", "Design"),
    "Filter": ("designs.filters", "Filter"),
    "NearReport": ("neighbours.files", "NearReport"),
    "near": ("neighbours.files", "near"),
    "Report": ("comparison.result", "Report"),
    "Similarity": ("sketches.pair", "Similarity"),
    "similarity": ("sketches.pair", "similarity"),
    "SimhashReport": ("simhashes.corpus", "SimhashReport"),
    "simhash_corpus": ("simhashes.corpus", "simhash_corpus"),
    "TableDesign": ("designs.tables", "TableDesign"),
    "TableDesigns": ("designs.tables", "TableDesigns"),
    "design_tables": ("designs.tables", "design_tables"),
    "SketchDesign": ("designs.sketch_size", "SketchDesign"),
    "write_report": ("rendering.html.folder", "write"),
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from importlib import import_module

    module, attribute = _ELSEWHERE[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
