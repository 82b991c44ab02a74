"""Answers by idempotency key: kept over a restart, different for other clients, forgotten after their time."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike import params
from lookalike.service import keys
from lookalike.service.faults import FaultError
from lookalike.service.keys import Key, Keys
from lookalike.service.settings import Settings


def test_answers_are_kept_and_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings = Settings.of([], data=tmp_path)
    now = 1_700_000_000
    monkeypatch.setattr(keys.time, "time", lambda: now)
    first = Keys(settings)
    key = Key("lms", "news", "k", "digest")
    assert first.find(key) is None
    first.put([(key, {"added": 1})])
    first.close()
    again = Keys(settings)
    assert again.find(key) == {"added": 1}
    assert again.find(key._replace(owner="other")) is None
    assert again.find(key._replace(archive="work")) is None
    with pytest.raises(FaultError) as caught:
        again.find(key._replace(digest="other"))
    assert caught.value.fault.code == "key-reused"
    now += params.KEY_DAYS * 86_400 + 1
    again.put([(key._replace(key="l"), {"added": 2})])
    assert again.find(key) is None
    assert again.find(key._replace(key="l")) == {"added": 2}
    again.close()
