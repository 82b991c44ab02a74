"""What is left of a corpus when near-duplicates are taken out: a control for whatever is said to come from them."""

from __future__ import annotations

import numpy as np

from lookalike.deduplication import dedup
from lookalike.lab.shared.setting import Integers
from lookalike.lab.simhash.simhashed import SHINGLE, Simhashed

#: Resemblance from which texts count as near-duplicates here; Broder's for the Web, so rather too many go.
THRESHOLD = 0.5


def without_near_duplicates(found: Simhashed) -> Integers:
    """Return one text of each component of near-duplicates, and all others."""
    answer = dedup(list(found.texts), threshold=THRESHOLD, shingle=SHINGLE, clustering="components")
    survivors = np.array(answer.survivors)
    return np.flatnonzero(survivors == np.arange(len(survivors)))
