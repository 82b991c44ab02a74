"""Gives processes a share of a core, by control groups of Linux (version 1 or 2), which only root may make.

Two workers of a cluster beside one are comparable only if the driver has the same room in both runs. If each had a
core of a machine of two, two workers would share them with the driver, and one would not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
#: Microseconds in which a group may use its share: short, so that no process waits long for the next.
_PERIOD = 20_000


@contextlib.contextmanager
def held(processes: Sequence[int], share: float) -> Iterator[None]:
    """Give each process, with all that it starts from now on, this share of a core.

    Errors: ``OSError`` where control groups cannot be made.
    """
    groups = []
    try:
        for process in processes:
            groups.append(_group(f"lookalike-{process}", int(share * _PERIOD)))
            (groups[-1] / "cgroup.procs").write_text(str(process))
        yield
    finally:
        for group in groups:
            # A group with processes stays; it is gone with the machine.
            with contextlib.suppress(OSError):
                group.rmdir()


def _group(name: str, quota: int) -> Path:
    """Make a group that may use so many microseconds of each period."""
    is_second = (_ROOT / "cgroup.controllers").exists()
    group = (_ROOT if is_second else _ROOT / "cpu") / name
    group.mkdir()
    if is_second:
        (group / "cpu.max").write_text(f"{quota} {_PERIOD}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(quota))
    return group
