"""Steps of a job on a cluster that meet a fault: the fault is sent to the workers with the step itself.

A file says whether a fault has struck already, so it strikes each step once, in whichever task is first, and no test
depends on a moment. What is sent is made of nested functions: workers do not have this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lookalike.spark import (
    Limits,
    building,
    clustering,
    contaminated,
    judging,
    proposing,
    searching,
    shipping,
    signing,
    simhashing,
)

#: What makes all steps run on a few rows: components come first, and large ones take the pass.
LIMITS = Limits(edges=0, component=4)
#: The steps of a job with these limits, and the modules that send them.
STEPS = ("sign_batches", "pair_batches", "glance_batches", "score_batches", "cluster_components", "pass_batches")
SENDERS = (signing, proposing, judging, clustering, contaminated, searching, simhashing, building)
#: The steps that only other jobs have.
OF_SIMHASH, OF_LOOKUP = ("key_prints", "near_batches", "cluster_all"), ("look_up",)
OF_COMPONENTS = ("pack_batches", "score_batches")
#: How the name of a file ends that says that another attempt of the struck task has done its whole work.
AGAIN = ".again"


def faulty(fault: Callable[[str], None], folder: Path, steps: Sequence[str] = STEPS) -> Callable[..., Any]:
    """Return a ``shipped`` whose steps meet a fault before they begin, the first time. The fault gets its file."""
    marks, again = str(folder), AGAIN

    def shipped(step: str, *arguments: Any) -> Any:
        run, name = shipping.shipped(step, *arguments), step.rsplit(".", 1)[1]
        if name not in steps:
            return run
        mark = f"{marks}/{name}"

        def struck(batches: Iterator[Any]) -> Iterator[Any]:
            import os
            from itertools import chain

            from pyspark import TaskContext

            task: Any = TaskContext.get()
            own = f"{mark}-{task.stageId()}-{task.partitionId()}"
            is_struck = False
            # Only a task that has rows counts: an empty one may be over before anything is lost with it.
            for first in batches:
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    is_struck = True
                    os.close(os.open(own, os.O_CREAT))
                    fault(mark)
                yield from run(chain([first], batches))
                if not is_struck and os.path.exists(own):
                    os.close(os.open(mark + again, os.O_CREAT))
                return
            yield from run(iter(()))

        return struck

    return shipped


def struck_steps(folder: Path, ending: str = "") -> set[str]:
    """Return the steps that were struck; with ``AGAIN`` those of which another attempt did the work."""
    names = (path.name for path in folder.iterdir() if path.is_file() and path.name.endswith(ending))
    return {name for name in (one.removesuffix(ending) for one in names) if name.isidentifier()}
