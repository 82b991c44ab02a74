"""The API document and the server agree: requests that are made from the document get only answers that it lists."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import hypothesis
import pytest
import schemathesis
import schemathesis.checks
import schemathesis.openapi
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

import lookalike as la
from lookalike.service import given
from support.comparisons import ALL, compared
from support.packing import zip_bytes
from support.servers import Server, serving

#: Requests in all; `LOOKALIKE_TORTURE_REQUESTS=10000` sends more.
REQUESTS = int(os.environ.get("LOOKALIKE_TORTURE_REQUESTS", "500"))
SEED = int(os.environ.get("LOOKALIKE_TORTURE_SEED", "1"))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("document")
    with la.Index.create(folder / "news", kind="corpus") as index:
        index.add([("a", "one two three four five six seven"), ("b", "eight nine ten eleven twelve")])
    with la.Index.create(folder / "work") as index:
        index.add({"ann.py": "def total(loans):\n    return sum(loan.amount for loan in loans)\n"})
    with serving(folder / "news", folder / "work", data=folder / "data") as made:
        yield made


@schemathesis.serializer(*(kind for kind in given.BODIES if kind != given.JSON), given.LINES)
def as_bytes(_context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Bodies that are no JSON are sent as they are."""
    return value if isinstance(value, bytes) else str(getattr(value, "data", value)).encode("utf-8", "replace")


def test_every_answer_is_in_the_document(server: Server):
    schema = schemathesis.openapi.from_url(f"{server.address}/openapi.json")
    every = [found.ok() for found in schema.get_all_operations()]
    assert len(every) > 10
    requests: list[dict[str, Any]] = []
    for turn in range(100):
        # Operations without parameters run out of different requests, so that one turn is not enough.
        for operation in every:
            for mode in schemathesis.GenerationMode:
                known = _comparisons(server) if not turn and "comparisons/{id}" in operation.path else []
                _ask(operation, mode, max(1, REQUESTS // (2 * len(every))), SEED + turn, known)
        requests = [one for one in server.log() if one["event"] == "request"]
        if len(requests) >= REQUESTS:
            break
    assert len(requests) >= REQUESTS
    assert not [one for one in requests if one["status"] >= 500]
    assert not [one for one in server.log() if "fault" in one["event"] or one["event"] == "library"]


def _comparisons(server: Server) -> list[str]:
    """Return the ids of comparisons that exist: one that waits for files, one that is done, one that failed."""
    for one in server.ask("GET", f"{ALL}?limit=1000").json["comparisons"]:
        server.ask("DELETE", f"{ALL}/{one['id']}")
    text = b"def total(loans):\n    return sum(loan.amount for loan in loans if loan.is_open)\n"
    done = compared(server, zip_bytes(("ann.py", text), ("bob.py", text)))
    return [server.ask("POST", ALL).json["id"], done["id"], compared(server, zip_bytes())["id"]]


def _ask(
    operation: schemathesis.APIOperation, mode: schemathesis.GenerationMode, count: int, turn: int, known: Sequence[str]
) -> None:
    """Send requests of one operation, as the document says or not; ``known`` are ids that exist."""

    @seed(turn)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(
        case=operation.as_strategy(mode),
        index=st.sampled_from(["news", "work", None]),
        id_=st.sampled_from([*known, None]),
    )
    def send(case: schemathesis.Case, index: str | None, id_: str | None) -> None:
        if id_ is not None:
            case.path_parameters["id"] = id_
        if index is not None and "name" in case.path_parameters:
            case.path_parameters["name"] = index
        case.call_and_validate(checks=CHECKS)

    # An operation without parameters cannot be asked wrongly.
    with contextlib.suppress(Unsatisfiable):
        send()
