"""The state of the server and its indexes: whether it lives, whether it is ready, and what it counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lookalike import params
from lookalike.service import metrics
from lookalike.service.answering import answer, told
from lookalike.service.context import Context, grant_of
from lookalike.service.faults import Fault, FaultError
from lookalike.service.openapi import described
from lookalike.service.operations import Operation
from lookalike.service.options import chosen

NOT_READY = Fault(503, "not-ready", "the server does not take changes at the moment: try again later", 1)
#: Seconds that the keeper has to answer `/ready` and `/metrics`.
_PATIENCE = 5.0


class State:
    """The operations on the server itself."""

    def __init__(self, context: Context, listed: Sequence[Operation]) -> None:
        self._context, self._listed = context, listed
        self._document: bytes | None = None

    async def health(self, _request: Request) -> Response:
        """Tell that this process lives."""
        return answer({"status": "ok"})

    async def ready(self, _request: Request) -> Response:
        """Tell whether changes are taken, too."""
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._context.keeper.ask("ping", {})
        except (FaultError, TimeoutError):
            return told(NOT_READY)
        return answer({"status": "ready"})

    async def metrics(self, _request: Request) -> Response:
        """Return the counters of all processes, and how many comparisons are in each state."""
        own = self._context.metrics
        counted = "" if own is None else own.text()
        return Response(counted + await self._comparisons(), media_type="text/plain; version=0.0.4")

    async def _comparisons(self) -> str:
        """Return the numbers of comparisons by state; nothing while the keeper does not answer."""
        try:
            async with asyncio.timeout(_PATIENCE):
                told, _ = await self._context.keeper.ask("jobs.counts", {})
        except (FaultError, TimeoutError):
            return ""
        return metrics.gauges("lookalike_comparisons", "Comparisons by state.", "state", told["counts"])

    async def openapi(self, _request: Request) -> Response:
        """Return the API document."""
        if self._document is None:
            self._document = json.dumps(described(self._listed, self._context.settings)).encode()
        return Response(self._document, media_type="application/json")

    async def indexes(self, request: Request) -> Response:
        """List the indexes that exist for the sender."""
        chosen(request.scope["query_string"], [])
        grant = grant_of(request)
        found = [
            {"name": name, "kind": index.parameters.kind, "documents": len(index)}
            for name, index in self._context.indexes.items()
            if grant.sees(name)
        ]
        return answer({"indexes": found})

    async def token(self, request: Request) -> Response:
        """Tell what the token of the sender allows; without a file of tokens, everything."""
        chosen(request.scope["query_string"], [])
        grant = grant_of(request)
        scopes = [one for one in params.SCOPES if one in grant.scopes]
        indexes = [name for name in self._context.indexes if grant.sees(name)]
        return answer({"name": grant.name, "scopes": scopes, "indexes": indexes, "expires": grant.expires})

    async def index(self, request: Request) -> Response:
        """Return size and parameters of an index."""
        chosen(request.scope["query_string"], [])
        name = request.path_params["name"]
        index = self._context.index(name)

        def work() -> dict[str, Any]:
            parameters = json.loads(index.parameters.to_json())
            return {"name": name, "stats": index.stats().to_json(), "parameters": parameters}

        return answer(await self._context.run(request, work))


def routes(context: Context, others: Sequence[Operation]) -> list[Operation]:
    """Return the operations of this file; the API document lists them and the others."""
    every: list[Operation] = []
    of = State(context, every)
    own = [
        Operation("GET", "/health", of.health, "Tell whether the server lives."),
        Operation(
            "GET", "/ready", of.ready, "Tell whether the server takes changes.",
            failures={503: "It does not at the moment."},
        ),
        Operation(
            "GET", "/metrics", of.metrics, "Return counters in the text format of Prometheus.", ("read",),
            types=("text/plain",),
        ),
        Operation("GET", "/openapi.json", of.openapi, "Return this document."),
        Operation(
            "GET", "/v1/token", of.token, "Tell what the token allows: its scopes, and the indexes that exist for it.",
            params.SCOPES,
        ),
        Operation("GET", "/v1/indexes", of.indexes, "List the indexes.", ("read", "add", "remove")),
        Operation("GET", "/v1/indexes/{name}", of.index, "Return size and parameters of an index.", ("read",)),
    ]  # fmt: skip
    every += [*own, *others]
    return own
