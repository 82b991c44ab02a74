"""kill -9 under load: no acknowledged change is lost, no document appears that nobody sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.service_oracle import kill_all, kill_one

#: Kills and the seed of what is sent, unless `make torture` says otherwise.
USUAL = {"SERVER_KILLS": "3", "SEED": "5"}


def test_a_killed_server_keeps_what_it_acknowledged(tmp_path: Path):
    cycles, seed = (int(os.environ.get(f"LOOKALIKE_TORTURE_{name}", usual)) for name, usual in USUAL.items())
    assert kill_all(tmp_path, cycles, seed) > 0


@pytest.mark.parametrize("role", ["keeper", "reader"])
def test_a_killed_process_comes_back(tmp_path: Path, role: str):
    statuses = kill_one(tmp_path, role, times=3, seed=7)
    assert set(statuses) <= {200, 201, 204, 404, 503}, statuses
    assert statuses[200] + statuses[201] > 40
