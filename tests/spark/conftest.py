"""One cluster and one warm session for all tests of this folder; `make quick` runs them in one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support import cluster as rig
from support.fast import FAST


@pytest.fixture(scope="session")
def cluster() -> Iterator[rig.Cluster]:
    """A master and two workers, each with room for two executors of one core and 1 GiB."""
    if reason := rig.missing():
        pytest.skip(reason)
    running = rig.Cluster(above=FAST)
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="session")
def spark(cluster: rig.Cluster) -> Iterator[Any]:
    """The session of the whole suite."""
    with rig.session(cluster.url, cluster.folder / "driver", **rig.FEW_ROWS) as session:
        yield session
