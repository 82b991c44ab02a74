"""Reads an archive that is inside an archive in a worker process (see ``engines.confined``), member by member.

The bytes are counted as for any archive, by the same code: ``serve`` runs it in the worker, and each message carries
what is left of the allowance. Only members that are wanted are expanded.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator
from dataclasses import asdict
from typing import Any

from lookalike.documents import archives
from lookalike.documents.intake import Limits
from lookalike.documents.meters import ExhaustedError, Member, Meter, Tree
from lookalike.documents.reasons import RefusedError
from lookalike.engines import confined

_Message = tuple[dict[str, Any], bytes]


def members(kind: str, name: str, data: bytes, meter: Meter) -> Iterator[Member]:
    """Yield the files of an archive. Errors: ``RefusedError``, ``ExhaustedError`` (also if a worker fails)."""
    with confined.lent() as worker:
        tree = meter.tree

        def ask(request: dict[str, Any], data: bytes = b"") -> _Message:
            try:
                answer, content = worker.ask(request | {"left": (tree.bytes_left, tree.entries_left)}, data)
            except confined.BrokenError as error:
                raise ExhaustedError(str(error), meter) from None
            tree.bytes_left, tree.entries_left = answer.get("left", (tree.bytes_left, tree.entries_left))
            return _checked(answer, meter), content

        def read(most: int) -> bytes:
            answer, content = ask({"read": most})
            if "unread" in answer:
                raise RefusedError(answer["unread"])
            return content

        opening = {"module": __name__, "kind": kind, "name": name, "limits": asdict(tree.limits)}
        answer, _ = ask(opening, data)
        while "member" in answer:
            yield Member(answer["member"], read)
            answer, _ = ask({"next": True})


def _checked(answer: dict[str, Any], meter: Meter) -> dict[str, Any]:
    """Return an answer. Errors: those that the worker met."""
    if "exhausted" in answer:
        raise ExhaustedError(answer["exhausted"], meter.tree if answer["of_tree"] else meter)
    if "refused" in answer:
        raise RefusedError(answer["refused"])
    if "fault" in answer:
        raise RefusedError(f"internal error, please report it with the file: {answer['fault']}")
    return answer


def serve(head: dict[str, Any], data: bytes) -> Generator[_Message, _Message, None]:
    """Read an archive in the worker: tell each member, and its content where it is asked for."""
    tree = Tree(Limits(**head["limits"]), *head["left"])
    meter = Meter(tree, len(data))

    def told(answer: dict[str, Any]) -> dict[str, Any]:
        return answer | {"left": (tree.bytes_left, tree.entries_left)}

    try:
        for member in archives.members(head["kind"], head["name"], io.BytesIO(data), meter):
            if member.is_folder:
                continue
            request, _ = yield told({"member": member.name}), b""
            tree.bytes_left, tree.entries_left = request["left"]
            if "read" in request:
                answer, content = _content(member, request["read"])
                request, _ = yield told(answer), content
                tree.bytes_left, tree.entries_left = request["left"]
    except RefusedError as error:
        yield told({"refused": str(error)}), b""
    except ExhaustedError as error:
        yield told({"exhausted": error.reason, "of_tree": error.scope is tree}), b""


def _content(member: Member, most: int) -> _Message:
    try:
        return {}, member.read(most)
    except RefusedError as error:
        return {"unread": str(error)}, b""
