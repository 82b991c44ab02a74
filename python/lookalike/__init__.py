"""Document fingerprinting: which documents are the same, nearly the same, contained in one another, share passages."""

from typing import TYPE_CHECKING, Any

from lookalike._core import TEXT_VERSION, Column, __version__
from lookalike.errors import FormatError, FrontendError, ParameterError
from lookalike.fingerprinting import (
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
from lookalike.hamming import HammingTable, QueryBatch, hamming
from lookalike.resembling import (
    Estimate,
    Measures,
    Sketch,
    SketchTable,
    containment,
    distance,
    measure,
    mod_sketch,
    resemblance,
    sketch,
    sketch_batch,
)

if TYPE_CHECKING:
    from lookalike.comparing import compare
    from lookalike.deduplication import Deduplication, dedup
    from lookalike.designing import Design, design
    from lookalike.filters import Filter
    from lookalike.measuring import Similarity, similarity
    from lookalike.nearby import NearReport, near
    from lookalike.report.folder import write as write_report
    from lookalike.results import Report
    from lookalike.sampling import SketchDesign, design_sketch
    from lookalike.tabling import TableDesign, TableDesigns, design_tables

__all__ = [
    "TEXT_VERSION",
    "Column",
    "Deduplication",
    "Design",
    "Estimate",
    "Filter",
    "FingerprintTable",
    "Fingerprints",
    "FormatError",
    "FrontendError",
    "HammingTable",
    "LookUp",
    "Measures",
    "NearReport",
    "ParameterError",
    "QueryBatch",
    "Report",
    "Similarity",
    "Sketch",
    "SketchDesign",
    "SketchTable",
    "Stream",
    "TableDesign",
    "TableDesigns",
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
    "measure",
    "mod_sketch",
    "near",
    "resemblance",
    "select",
    "similarity",
    "sketch",
    "sketch_batch",
    "stream",
    "write_report",
]
#: What reads and compares whole folders is loaded when it is asked for: a single text needs none of it.
_ELSEWHERE = {
    "compare": ("comparing", "compare"),
    "dedup": ("deduplication", "dedup"),
    "Deduplication": ("deduplication", "Deduplication"),
    "design": ("designing", "design"),
    "design_sketch": ("sampling", "design_sketch"),
    "Design": ("designing", "Design"),
    "Filter": ("filters", "Filter"),
    "NearReport": ("nearby", "NearReport"),
    "near": ("nearby", "near"),
    "Report": ("results", "Report"),
    "Similarity": ("measuring", "Similarity"),
    "similarity": ("measuring", "similarity"),
    "TableDesign": ("tabling", "TableDesign"),
    "TableDesigns": ("tabling", "TableDesigns"),
    "design_tables": ("tabling", "design_tables"),
    "SketchDesign": ("sampling", "SketchDesign"),
    "write_report": ("report.folder", "write"),
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from importlib import import_module

    module, attribute = _ELSEWHERE[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
