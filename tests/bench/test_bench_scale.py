"""The page on scale shows what the program prints from the kept measurements, and the model does what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench import scale, scale_model

ROOT = Path(__file__).resolve().parents[2]
STEPS = ("simhash", "sign", "build_index", "dedup")
KEPT = ROOT / "bench" / "record" / "scale.json"


def test_the_page_shows_the_kept_measurements(capsys):
    assert scale.main(["--from", str(KEPT)]) == 0
    printed = capsys.readouterr().out.strip()
    assert printed in (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def test_documents_give_a_table_of_large_runs():
    cost = {"cpu": 1.0, "shuffled": 1e6, "spilled": 0.0}
    steps: dict[str, dict[str, Any]] = {
        f"{step} {count}": {name: value * count for name, value in cost.items()} for step in STEPS for count in (10, 30)
    }
    for count in (10, 30):
        part = {"shuffled": 5e5 * count, "spilled": 0.0}
        cpu = {"score": 0.25 * count, scale_model.KEYED: 0.5 * count}
        steps[f"dedup {count}"] |= {"parts": dict.fromkeys(cpu, part), "cpu_of_parts": cpu}
    keys = {"corpus": "letters", "documents": 100, "holders": [[1, 100]]}
    found = {"day": "2026-01-01", "machine": "one", "load": 0.0, "keys": keys, "steps": steps}
    printed = scale_model.page(found | {"documents": [{"count": 10, "bytes": 10}, {"count": 30, "bytes": 90}]})
    assert "| `dedup` | 1,000,000 | 1,000,000 | 0 |" in printed
    assert "| `dedup`: score | 250,000 | 500,000 | 0 |" in printed
    for documents in ("0.1 billion", "8.0 billion", "64.0 billion"):
        assert documents in printed
    # A second of CPU by document, on 1,000 workers of 4 cores, and a megabyte on 100 MB/s.
    assert "| 0.1 billion | 1,000 | 7.22 | 0.28 | 1.0 | 100.00 TB | 100.0 GB |" in printed


def test_a_crowded_key_delays_only_the_part_that_brings_keys_together():
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    alone = kept | {"keys": {"corpus": "one key", "documents": 100, "holders": [[100, 1]]}}
    printed = scale_model.page(alone)
    cpu, keyed = scale_model.unit(kept, "dedup")["cpu"], scale_model.parts(kept, "dedup")[scale_model.KEYED]["cpu"]
    network = 8e9 * scale_model.unit(kept, "dedup")["shuffled"] / (1000 * scale_model.NETWORK)
    # One task pairs all holders, whatever the number of workers.
    hours = (8e9 * (keyed + (cpu - keyed) / (1000 * scale_model.CORES)) + network) / 3600
    assert f"| 8.0 billion | 1,000 | {hours:,.2f} | " in printed


def test_unit_costs_are_differences_by_document():
    steps = {"sign 10": {"cpu": 3.0, "shuffled": 100.0}, "sign 30": {"cpu": 5.0, "shuffled": 300.0, "spilled": 40.0}}
    found = {"documents": [{"count": 10}, {"count": 30}], "steps": steps}
    assert scale_model.unit(found, "sign") == {"cpu": 0.1, "shuffled": 10.0, "spilled": 2.0}


def test_one_crowded_key_makes_one_slow_task_and_many_rare_ones_none():
    even = scale_model.slowest([[1, 100_000]], 1000, 500)
    crowded = scale_model.slowest([[1, 70_000], [30_000, 1]], 1000, 500)
    assert even < 1.01
    assert 149 < crowded < 151.5


def test_the_kept_measurements_name_their_machine():
    found = json.loads(KEPT.read_text(encoding="utf-8"))
    assert {"machine", "load", "day", "steps"} <= found.keys()
