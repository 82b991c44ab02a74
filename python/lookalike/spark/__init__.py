"""The jobs of this package on a Spark cluster: the same answers where one machine is not enough (docs/spark.md).

Needs ``pip install 'lookalike[spark]'``, here and on the workers.
"""

from lookalike.spark.job import dedup
from lookalike.spark.plans import Limits
from lookalike.spark.result import SparkDeduplication
from lookalike.spark.signing import sign

__all__ = ["Limits", "SparkDeduplication", "dedup", "sign"]
