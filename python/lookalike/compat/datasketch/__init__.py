"""The names and contracts of datasketch over our sketches: ``MinHash``, ``LeanMinHash``, ``MinHashLSH``.

Replace ``from datasketch import …`` by ``from lookalike.compat.datasketch import …``. Hash values differ from those of
datasketch, so do not mix sketches of the two packages. docs/coming-from-datasketch.md lists every call and difference.
"""

from lookalike.compat.datasketch.lean_minhash import LeanMinHash
from lookalike.compat.datasketch.lsh import MinHashLSH, MinHashLSHDeletionSession, MinHashLSHInsertionSession
from lookalike.compat.datasketch.minhash import MinHash

__all__ = ["LeanMinHash", "MinHash", "MinHashLSH", "MinHashLSHDeletionSession", "MinHashLSHInsertionSession"]
