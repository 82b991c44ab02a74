"""Document fingerprinting: which documents are the same, nearly the same, contained in one another, share passages."""

from lookalike._core import TEXT_VERSION, Column, __version__
from lookalike.errors import FrontendError, ParameterError
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

__all__ = [
    "TEXT_VERSION",
    "Column",
    "FingerprintTable",
    "Fingerprints",
    "FrontendError",
    "LookUp",
    "ParameterError",
    "Stream",
    "__version__",
    "canonical",
    "fingerprint",
    "fingerprint_batch",
    "select",
    "stream",
]
