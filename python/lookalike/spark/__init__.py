"""The jobs of this package on a Spark cluster: the same answers where one machine is not enough (docs/howto/spark.md).

Needs ``pip install 'lookalike[spark]'``, here and on the workers.
"""

from lookalike.spark.building import build_index
from lookalike.spark.job import containment, dedup, similar_pairs
from lookalike.spark.plans import Limits
from lookalike.spark.result import SparkDeduplication
from lookalike.spark.searching import Neighbours, near
from lookalike.spark.signing import sign
from lookalike.spark.simhashing import simhash

__all__ = [
    "Limits",
    "Neighbours",
    "SparkDeduplication",
    "build_index",
    "containment",
    "dedup",
    "near",
    "sign",
    "simhash",
    "similar_pairs",
]
