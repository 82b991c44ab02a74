"""The child's side of ``confined``: sets its own limits, then answers messages until its pipe is closed.

A message names a module of this package. Its function ``serve`` gets the message and yields answers; if it yields more
than one, each further message is what its ``yield`` returns. Nothing else of a message is run.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Generator
from importlib import import_module
from typing import Any

from lookalike.engines import confined

#: A message: its head and its data.
Message = tuple[dict[str, Any], bytes]
Service = Generator[Message, Message, None]
#: The modules that may be asked.
SERVICES = ("lookalike.frontends.extraction", "lookalike.documents.nested")


def main(limits: str) -> None:
    """Answer until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    confinement = confined.Confinement(**json.loads(limits))
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What a library prints must not get between the messages.
    os.dup2(2, 1)
    _limit_memory(confinement.memory_bytes)
    service: Service | None = None
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            try:
                message = confined.receive(requests, 1 << 62)
                if message[0].get("module"):
                    service = None
                    _limit_time(confinement.cpu_seconds)
                service, answer = _answered(service, message)
                confined.send(answers, *answer)
            except MemoryError:
                service = message = answer = None  # type: ignore[assignment]
                confined.send(answers, {"broken": "memory"}, b"")


def _answered(service: Service | None, message: Message) -> tuple[Service | None, Message]:
    try:
        if message[0].get("module"):
            if message[0]["module"] not in SERVICES:
                raise ValueError(message[0]["module"])
            service = import_module(message[0]["module"]).serve(*message)
            return service, next(service)
        if service is None:
            raise ValueError("no service")
        return service, service.send(message)
    except MemoryError:
        raise
    except StopIteration:
        return None, ({"end": True}, b"")
    except Exception as error:
        return None, ({"fault": f"{type(error).__name__}: {error}"}, b"")


def _limit_memory(most: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: int) -> None:
    """Allow so much processor time from now on. The system counts that of the whole life of a process."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        until = math.ceil(time.process_time()) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (until if most < 0 else min(until, most), most))
