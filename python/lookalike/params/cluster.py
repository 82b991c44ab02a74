"""Parameters of a run on a Spark cluster."""

from __future__ import annotations

from lookalike._types import Parameter

#: Where a job runs.
ENGINES = ("local", "spark")
#: The parameters, by name.
CLUSTER = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "engine",
            "local: this machine; spark: a Spark cluster. Spark reads the inputs, and outputs are folders of part "
            "files.",
            default="local",
            choices=ENGINES,
        ),
        Parameter("master", "Engine spark: address of the cluster. Default: the one that Spark is set up with."),
        Parameter("conf", "Engine spark: a setting of Spark, as NAME=VALUE. Repeatable.", default=(), many=True),
    )
}
