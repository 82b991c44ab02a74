"""The keeper's side of comparisons: the queue of jobs, those that run, and the requests of readers about them.

One thread uses the file of jobs, and the ledger of uploads that are under way. Comparisons run in child processes, at
most ``--jobs`` at a time, oldest first. A job that is deleted is first forgotten, durably, then killed and its files
removed; what a death of the server leaves behind in between is removed at the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from lookalike import params
from lookalike.service import log, tokens
from lookalike.service.channel import Handler, Message
from lookalike.service.comparing import uploads
from lookalike.service.comparing.child import Task
from lookalike.service.comparing.folders import Folders
from lookalike.service.comparing.jobs import UPLOADING, FullError, Job, Jobs, Limits, StateError, Stored, TooLargeError
from lookalike.service.comparing.reserving import Ledger, Upload
from lookalike.service.comparing.running import run
from lookalike.service.faults import Fault, FaultError
from lookalike.service.keys import REUSED
from lookalike.service.settings import Settings

Result = TypeVar("Result")
#: Seconds between two looks for jobs whose time is over.
SWEEP = 60.0
DAY = 86_400.0
NO_JOB = Fault(404, "no-such-comparison", "there is no comparison with this id: GET /v1/comparisons lists yours")


class Keeping:
    """The jobs of a server."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._settings, self._clock = settings, clock
        self.folders = Folders(settings.data)
        self._thread = ThreadPoolExecutor(1, "jobs")
        self._jobs: Jobs
        self._ledger: Ledger
        self._running: dict[str, asyncio.Task[None]] = {}
        self._progress: dict[str, dict[str, Any]] = {}
        self._over: dict[str, asyncio.Event] = {}
        self._wake = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        #: Handlers of requests by their ``op``.
        self.handlers: dict[str, Handler] = {
            f"jobs.{name}": partial(_answered, handler)
            for name, handler in {
                "create": self._create,
                "add": self._add,
                "start": self._start,
                "get": self._get,
                "list": self._list,
                "cancel": self._cancel,
                "delete": self._delete,
                "at": self._at,
                "key": self._key,
                "reserve": self._reserve,
                "release": self._release,
                "counts": self._counts,
            }.items()
        }

    async def start(self) -> None:
        """Continue the jobs of an earlier run. Errors: ``FormatError``, ``OSError``."""
        self.folders.prepare()
        limits = Limits(
            queue=params.JOB_QUEUE,
            attempts=params.JOB_ATTEMPTS,
            files=params.JOB_FILES,
            bytes=self._settings.max_upload,
            kept=self._settings.max_kept,
            retain=self._settings.retain * DAY,
            upload=params.UPLOAD_SECONDS,
            idle=self._settings.upload_idle * 60.0,
            # Without a file of tokens there is nobody else.
            is_shared=self._settings.token_file is not None,
        )
        owners = {} if self._settings.token_file is None else tokens.owners(self._settings.token_file)
        self._jobs = await self._in_thread(partial(Jobs, self.folders.jobs_file, limits, owners))
        self._ledger = Ledger(self._jobs)
        if self._jobs.ownerless:
            log.event("comparisons-without-owner", comparisons=self._jobs.ownerless, why="no token has the name")
        again, failed = await self.call(self._jobs.recover, self._clock())
        for job in again:
            log.event("comparison-continues", id=job.id, attempt=job.attempts + 1)
        for job in failed:
            await self._tidied(job)
            log.event("comparison-failed", id=job.id, reason=job.reason)
        await self._sweep()
        self._loops = [asyncio.create_task(self._dispatch()), asyncio.create_task(self._retire())]
        self._wake.set()

    async def _sweep(self) -> None:
        """Remove what an earlier run has left: folders of forgotten jobs, and uploads that were not complete."""
        recorded = await self.call(self._jobs.recorded)
        for name in self.folders.strays(recorded):
            await asyncio.to_thread(self.folders.remove, name)
            log.event("comparison-files-deleted", id=name, why="left over")
        for name, stored in recorded.items():
            parts = await asyncio.to_thread(self.folders.unrecorded, name, stored)
            await asyncio.to_thread(uploads.remove, self.folders.uploads(name), parts)

    async def stop(self) -> None:
        """End what runs; it waits for the next start, and this end counts as no attempt."""
        running = dict(self._running)
        for task in (*self._loops, *running.values()):
            task.cancel()
        await asyncio.gather(*self._loops, *running.values(), return_exceptions=True)
        for name in running:
            with contextlib.suppress(StateError):
                await self.call(self._jobs.wait_again, name)
        await self.call(self._jobs.close)
        self._thread.shutdown()

    async def call(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Use the file of jobs, in its thread."""
        return await self._in_thread(partial(work, *arguments))

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def create(self, owner: str, origin: str, options: dict[str, Any]) -> Job:
        """Create a job with its folder. Errors: ``FullError``, ``TooLargeError``, ``OSError``."""
        job = await self.call(self._jobs.create, owner, origin, options, self._clock())
        await asyncio.to_thread(self.folders.make, job.id)
        return job

    async def add(self, name: str, files: list[Stored]) -> int:
        """Record uploads of a job; return how many earlier ones they replace.

        Errors: ``StateError``, ``TooLargeError``.
        """
        try:
            replaced = await self.call(self._ledger.record, name, files, self._clock())
        except (StateError, TooLargeError, FaultError):
            replaced = [one.stored for one in files]
            raise
        finally:
            await asyncio.to_thread(uploads.remove, self.folders.uploads(name), replaced)
        return len(replaced)

    async def reserve(self, upload: Upload, before: int, size: int) -> Job:
        """Let an upload grow; return its job. Errors: as ``Ledger.grow``."""
        return await self.call(self._ledger.grow, upload, before, size)

    async def release(self, stored: Iterable[str]) -> None:
        """Forget uploads that were given up."""
        await self.call(self._ledger.drop, stored)

    async def left(self, peer: int) -> None:
        """Remove what a reader that is gone had not written to its end."""
        found = await self.call(self._ledger.left, peer)
        for one in found:
            await asyncio.to_thread(uploads.remove, self.folders.uploads(one.job), [one.stored])
        if found:
            log.event("uploads-removed", uploads=len(found), why="their reader ended")

    async def begin(self, name: str, options: dict[str, Any] | None = None) -> None:
        """Let a job wait for its turn, with other options if they are given. Errors: ``StateError``."""
        await self.call(self._jobs.start, name, options)
        self._wake.set()

    async def discard(self, name: str, why: str) -> None:
        """Delete a job with everything it has; a running one is killed."""
        await self.call(self._jobs.delete, name)
        await self._kill(name)
        await asyncio.to_thread(self.folders.remove, name)
        self._end(name)
        log.event("comparison-deleted", id=name, why=why)

    async def over(self, name: str) -> Job | None:
        """Wait until a job is over; return it, or ``None`` if it was deleted."""
        while True:
            event = self._over.setdefault(name, asyncio.Event())
            job = await self.call(self._jobs.get, name)
            if job is None or job.is_final:
                self._end(name)
                return job
            await event.wait()

    def _end(self, name: str) -> None:
        if (event := self._over.pop(name, None)) is not None:
            event.set()

    async def _kill(self, name: str) -> None:
        task = self._running.get(name)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _dispatch(self) -> None:
        """Start jobs while there is room."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while len(self._running) < self._settings.jobs:
                job = await self.call(self._jobs.claim, self._clock())
                if job is None:
                    break
                task = asyncio.create_task(self._run(job))
                self._running[job.id] = task
                task.add_done_callback(partial(self._left, job.id))

    def _left(self, name: str, _task: asyncio.Task[None]) -> None:
        self._running.pop(name, None)
        self._progress.pop(name, None)
        self._end(name)
        self._wake.set()

    async def _run(self, job: Job) -> None:
        """Run a job to its end."""
        log.event("comparison-started", id=job.id, attempt=job.attempts)
        try:
            task = await self._task(job)
            outcome = await run(task, partial(self._progress.__setitem__, job.id), params.JOB_SECONDS)
        except OSError as error:
            log.failure("comparison-not-started", error, id=job.id)
            outcome = {"reason": "the server could not start it: try again later"}
        except KeyError as error:
            outcome = {"reason": f"this server has no index {error} any more"}
        # If it was cancelled or deleted meanwhile, the file already says so.
        with contextlib.suppress(StateError):
            if "summary" in outcome:
                await self.call(self._jobs.finish, job.id, outcome["summary"], self._clock())
            else:
                await self.call(self._jobs.fail, job.id, outcome["reason"], self._clock())
            log.event("comparison-done" if "summary" in outcome else "comparison-failed", id=job.id)
        if (ended := await self.call(self._jobs.get, job.id)) is not None:
            await self._tidied(ended)

    async def _task(self, job: Job) -> Task:
        options = dict(job.options)
        indexes = {name: self._settings.indexes[name] for name in options.pop("index", ())}
        options["anonymise"] = self._settings.anonymise or bool(options.get("anonymise"))
        return Task(
            folder=str(self.folders.job(job.id)),
            attempt=str(self.folders.attempt(job)),
            files=[list(file) for file in await self.call(self._jobs.files, job.id)],
            options=options,
            indexes=indexes,
            is_listed=job.origin == "moss",
            memory_bytes=self._settings.job_memory,
            niceness=params.JOB_NICENESS,
            threads=None,
        )

    async def _tidied(self, job: Job) -> None:
        await asyncio.to_thread(self.folders.tidy, job)

    async def _retire(self) -> None:
        """Delete jobs whose time is over, now and again and again."""
        while True:
            now = self._clock()
            under_way = await self.call(self._ledger.jobs)
            for job in await self.call(self._jobs.expired, now):
                # A file that is on its way is progress.
                if job.id not in under_way or now >= job.created + params.UPLOAD_SECONDS:
                    await self.discard(job.id, "expired")
            await self.call(self._jobs.erase)
            await asyncio.sleep(SWEEP)

    async def _own(self, head: dict[str, Any]) -> Job:
        """Return the job that a request names. Errors: ``FaultError`` if its owner has no such job."""
        found = await self.call(self._jobs.get, str(head["id"]), str(head["owner"]))
        if found is None:
            raise FaultError(NO_JOB)
        if found.is_final and (task := self._running.get(found.id)) is not None:
            # Who is told that a job is over can rely on its uploads being removed.
            await asyncio.wait([task])
        return found

    def _told(self, job: Job) -> dict[str, Any]:
        """Return a job with its progress, for a reader."""
        return asdict(job) | {"progress": self._progress.get(job.id)}

    async def _create(self, head: dict[str, Any]) -> dict[str, Any]:
        return {"job": self._told(await self.create(head["owner"], "http", head["options"]))}

    async def _reserve(self, head: dict[str, Any]) -> dict[str, Any]:
        """Let an upload of a job grow."""
        job = await self._own(head)
        upload = Upload(head["stored"], job.id, job.owner, head["peer"])
        return {"job": self._told(await self.reserve(upload, head["before"], head["bytes"]))}

    async def _release(self, head: dict[str, Any]) -> dict[str, Any]:
        await self.release([head["stored"]])
        return {}

    async def _counts(self, _head: dict[str, Any]) -> dict[str, Any]:
        return {"counts": await self.call(self._jobs.counts)}

    async def _add(self, head: dict[str, Any]) -> dict[str, Any]:
        job = await self._own(head)
        return {"replaced": await self.add(job.id, [Stored(*file) for file in head["files"]])}

    async def _start(self, head: dict[str, Any]) -> dict[str, Any]:
        job = await self._own(head)
        # A second request to start repeats one whose answer was lost.
        if job.state == UPLOADING:
            await self.begin(job.id)
        return await self._get(head)

    async def _key(self, head: dict[str, Any]) -> dict[str, Any]:
        """Return the job that an idempotency key stands for: this one, or an earlier one, and then this is deleted."""
        job = await self._own(head)
        kept, is_same = await self.call(self._jobs.keep_key, job.id, head["key"], head["digest"])
        if kept != job.id:
            await self.discard(job.id, "the request was repeated")
        if not is_same:
            raise FaultError(REUSED)
        return await self._get({**head, "id": kept})

    async def _get(self, head: dict[str, Any]) -> dict[str, Any]:
        return {"job": self._told(await self._own(head))}

    async def _list(self, head: dict[str, Any]) -> dict[str, Any]:
        after = (head["after"][0], head["after"][1]) if head["after"] else None
        found = await self.call(self._jobs.listed, head["owner"], after, head["limit"])
        return {"jobs": [self._told(job) for job in found]}

    async def _cancel(self, head: dict[str, Any]) -> dict[str, Any]:
        job = await self._own(head)
        await self.call(self._jobs.cancel, job.id, self._clock())
        await self._kill(job.id)
        self._end(job.id)
        ended = await self._own(head)
        await self._tidied(ended)
        log.event("comparison-cancelled", id=job.id)
        return {"job": self._told(ended)}

    async def _delete(self, head: dict[str, Any]) -> dict[str, Any]:
        await self.discard((await self._own(head)).id, "requested")
        return {}

    async def _at(self, head: dict[str, Any]) -> dict[str, Any]:
        job = await self.call(self._jobs.at, head["address"], self._clock())
        return {"job": None if job is None else self._told(job)}


async def _answered(
    handler: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]], head: dict[str, Any], _data: bytes
) -> Message:
    """Answer a request; refusals of jobs become faults."""
    try:
        return await handler(head), b""
    except FullError as error:
        raise FaultError(Fault(429, "too-many-comparisons", str(error), 30)) from None
    except StateError as error:
        raise FaultError(Fault(409, "wrong-state", str(error))) from None
    except TooLargeError as error:
        raise FaultError(Fault(413, "too-large", str(error))) from None
