"""What an answer is worth, in plain sentences with the numbers that hold for this document and this index."""

from __future__ import annotations

import math

from lookalike import _core
from lookalike._types import counted
from lookalike.archive.parameters import Parameters
from lookalike.designs.filters import Filter

#: The probability with which a sketch or sample may reject a document at the threshold.
DOUBT = "once in a million"
ESTIMATED = "the texts are not kept, so nothing is verified: values are estimates with intervals at 95 % confidence"
#: Shingles of the document that stands for all that may be contained in the asked one.
_EXAMPLE = 100

#: Follows where starter code of the index is left out, by question.
STARTER = {
    "resemblance": "; shingles of starter code of the index are not counted, and documents that share no others are "
    "not told; the filter proposes by whole texts, so its probability is that of the resemblance with starter code",
    "containment": "; shingles of starter code of the index are neither sampled nor counted",
    "distance": "; simhashes are those of whole texts, with starter code of the index; documents that share no other "
    "shingle are not told",
}


#: Resemblances at which the curve of a filter is told.
_CURVE = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


def identical(parameters: Parameters, other_text: int, uncompared: int) -> str:
    """Return how documents with the same text were told from those with the same hash."""
    found = "complete: 128-bit hashes of the readable texts propose documents"
    if not parameters.texts:
        return (
            f"{found}; the texts are not kept, so nothing is verified, and equal hashes of different texts can be made"
        )
    found += ", and the stored texts are compared"
    if other_text:
        told = counted(other_text, "document has", "documents have")
        found += f"; {told} the same hash and another text, and {'is' if other_text == 1 else 'are'} not listed"
    if uncompared:
        found += f"; {counted(uncompared, 'copy was', 'copies were')} counted by the hash alone"
    return found


def features(parameters: Parameters) -> str:
    """Return the curve of the filter of an index that keeps features alone."""
    made = Filter(*parameters.dedup.filter)
    curve = ", ".join(f"{one:g}: {chance(made.accept(one))}" for one in _CURVE)
    return (
        f"only features are kept, so nothing is verified: documents that share {made.r} of {made.k} features are told, "
        f"by resemblance with these probabilities: {curve}; values are estimates with intervals at 95 % confidence"
    )


def resemblance(parameters: Parameters, threshold: float) -> str:
    """Return what the filter promises at a threshold."""
    if parameters.features_only:
        return features(parameters)
    made = Filter(*parameters.dedup.filter)
    found = (
        f"the filter {made} proposes a document of resemblance {threshold:g} with probability "
        f"{chance(made.accept(min(threshold, 1.0)))}, and a more similar one more often"
    )
    if threshold < parameters.dedup.threshold:
        found += f"; it was designed for {parameters.dedup.threshold:g}, so documents below that are found less often"
    how = f"sketches reject wrongly at most {DOUBT}, and values are counted on the stored texts"
    return f"{found}; {how if parameters.texts else ESTIMATED}"


def containment(parameters: Parameters, threshold: float, asked: _core.AskedDocument) -> str:
    """Return how likely a document that contains the asked one is missed."""
    shingles, samples = asked.counted, asked.sizes[3]
    modulus = parameters.dedup.modulus
    if not shingles:
        return f"the document has fewer than {parameters.dedup.shingle} {parameters.dedup.unit}s: it has no shingles"
    least = math.ceil(threshold * shingles)
    missed = (1 - 1 / modulus) ** least
    found = (
        f"documents are found that share one of {samples:,} sampled shingles of {shingles:,} (one in {modulus}); one "
        f"that has {threshold:g} of them is missed with probability {chance(missed)}; a document of {_EXAMPLE} "
        f"shingles of which {threshold:g} are here is missed with probability "
        f"{chance((1 - 1 / modulus) ** math.ceil(threshold * _EXAMPLE))}, a longer one less often"
    )
    how = f"samples reject wrongly at most {DOUBT}, and values are counted on the stored texts"
    return f"{found}; {how if parameters.texts else ESTIMATED}"


def distance(bits: int, asked: _core.AskedDocument) -> str:
    """Return that all simhashes were compared."""
    if asked.simhash is None:
        return "the document has no features, so it has no simhash"
    return f"complete within {bits} {'bit' if bits == 1 else 'bits'}: every stored simhash is compared"


def chance(share: float) -> str:
    """Return a probability with enough digits near 0 and near 1.

    >>> chance(0.99584), chance(0.5), chance(1.234e-9), chance(1.0), chance(1 - 2e-7)
    ('99.6 %', '50.0 %', '1.2e-09', '1', '1 − 2.0e-07')
    """
    if share in (0.0, 1.0):
        return f"{share:.0f}"
    if share < 0.001:
        return f"{share:.1e}"
    return f"1 − {1 - share:.1e}" if share > 0.999 else f"{100 * share:.1f} %"
