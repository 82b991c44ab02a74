"""One comparison, in a process of its own: reads the uploads of a job, compares them and writes the report.

The keeper starts it with one line of JSON on its standard input, and holds that pipe open; when the pipe closes, the
keeper is gone, and the child ends itself and all processes it started. It answers with lines of JSON: progress, and at
the end what was found or why there is nothing. It opens no path that a client named, and its limits of memory and
processor share keep the service answering beside it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lookalike._types import Progress
from lookalike.errors import LookalikeError
from lookalike.service.comparing import uploads
from lookalike.service.comparing.jobs import Stored

#: Names in the folder of a job: what was uploaded, and the trace of an internal fault.
UPLOADS, FAULT = "uploads", "fault.txt"
#: Names in the folder of an attempt: the tree that is compared, the report, and the rows of the page for MOSS.
TREE, REPORT, ROWS = "tree", "report", "moss.json"
#: Most letters of the trace: its end, which says most.
FAULT_LETTERS = 1 << 16
#: Seconds between two lines of progress of one phase.
PACE = 0.2
WRITING = "writing the report"


@dataclass(frozen=True, slots=True)
class Task:
    """What the child is asked to do. JSON, on one line."""

    folder: str
    #: The folder of this attempt, below the job's.
    attempt: str
    files: list[list[Any]]
    #: Keywords of ``compare`` and ``write_report``.
    options: dict[str, Any]
    #: Paths of the indexes to compare with, by their names.
    indexes: dict[str, str]
    #: Whether every file was named apart, as on the command line: MOSS. Else each role is one folder.
    is_listed: bool
    memory_bytes: int
    niceness: int
    threads: int | None

    def to_line(self) -> bytes:
        """Return it as one line."""
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> None:
    """Run the task on standard input."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What a library prints must not get between the answers.
    os.dup2(2, 1)
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return
    task = Task(**json.loads(line))
    # What it writes is for this server alone.
    os.umask(0o077)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit(task)

    def tell(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    with contextlib.suppress(BrokenPipeError):
        tell(_outcome(task, _paced(tell)))


def _end_with_parent() -> None:
    """Wait until the keeper's end of the pipe is closed, then kill the whole group: the result is not needed."""
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGKILL)


def _limit(task: Task) -> None:
    with contextlib.suppress(OSError):
        os.nice(task.niceness)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (task.memory_bytes, task.memory_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _paced(tell: Callable[[dict[str, Any]], None]) -> Progress:
    """Return a progress that tells each new phase at once, and its steps at a pace."""
    last: list[Any] = ["", 0.0]

    def progress(phase: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if phase != last[0] or now - last[1] >= PACE:
            last[:] = phase, now
            tell({"progress": {"phase": phase, "done": done, "total": total}})

    return progress


def _outcome(task: Task, progress: Progress) -> dict[str, Any]:
    """Compare; return the summary, or the reason why there is none."""
    try:
        return {"summary": compared(task, progress)}
    except MemoryError:
        return {"reason": f"it needs more than {task.memory_bytes:,} bytes of memory: compare less at a time"}
    except LookalikeError as error:
        return {"reason": without_paths(str(error), task)}
    except OSError as error:
        return {"reason": f"a file could not be read or written: {error.strerror or 'unknown reason'}"}
    except Exception as error:
        with contextlib.suppress(OSError):
            told = traceback.format_exc()[-FAULT_LETTERS:]
            (Path(task.folder) / FAULT).write_text(told, encoding="utf-8", errors="replace")
        return {"reason": f"a fault of lookalike ({type(error).__name__}): the server keeps the details, please report"}


def without_paths(message: str, task: Task) -> str:
    """Return a message with names of indexes in place of their paths, and without the folder of the job."""
    for name, path in task.indexes.items():
        message = message.replace(path, name)
    return message.replace(f"{task.attempt}/", "").replace(task.folder, "")


def compared(task: Task, progress: Progress) -> dict[str, Any]:
    """Compare the files of a task and write the report; return its summary. Errors: as ``compare``."""
    from lookalike.comparison import job
    from lookalike.errors import FrontendError
    from lookalike.rendering.html import folder

    options = dict(task.options)
    extent = folder.Extent.new(**{name: options.pop(name) for name in EXTENT if name in options})
    anonymise = bool(options.pop("anonymise", False))
    given = _inputs(task)
    report = job.compare(
        given.submissions,
        template=given.templates,
        old=given.old,
        index=list(task.indexes.values()),
        threads=task.threads,
        progress=progress,
        **options,
    )
    if not any(entry.files for entry in report.entries):
        first = next(iter(report.skipped), None)
        told = f": `{first.name}`: {first.reason}" if first else ""
        raise FrontendError(f"none of the files could be read{told}")
    progress(WRITING, 0, None)
    attempt = Path(task.attempt)
    shutil.rmtree(attempt / TREE)
    written = folder.write(report, attempt / REPORT, extent, anonymise=anonymise)
    if task.is_listed:
        (attempt / ROWS).write_text(json.dumps(_rows(written)), encoding="utf-8")
    _make_durable(attempt)
    return _summary(written)


def _make_durable(folder: Path) -> None:
    """Write a folder to the disk: the job counts as done after this."""
    for path in (*folder.rglob("*"), folder, folder.parent):
        uploads.sync(path)


#: Options of the report's folder; all others are those of ``compare``.
EXTENT = ("top", "max_passages", "max_size")


class _Given(NamedTuple):
    """Paths that are compared."""

    submissions: list[str]
    templates: list[str]
    old: list[str]


def _inputs(task: Task) -> _Given:
    """Lay out the uploads and return what ``compare`` is given, relative to the tree, which becomes the current folder.

    So no message has a path of this machine.
    """
    tree = Path(task.attempt) / TREE
    places = uploads.laid_out(Path(task.folder) / UPLOADS, [Stored(*file) for file in task.files], tree)
    os.chdir(tree)
    archive = places.pop(uploads.ARCHIVE)
    years = sorted({"/".join(place.split("/")[:2]) for place in places.pop(uploads.YEARS)})
    if not task.is_listed:
        places = {role: [role] if found else [] for role, found in places.items()}
    return _Given(places[uploads.SUBMISSIONS] + archive, places[uploads.TEMPLATES], places[uploads.OLD] + years)


def _summary(written: Any) -> dict[str, Any]:
    report = written.report
    return {
        "understood": report.understood,
        "submissions": report.compared,
        "pairs": report.pair_count,
        "contained": report.contained_count,
        "shared": report.shared_count,
        "best": max((pair.score for pair in report.pairs), default=None),
        "clusters": len(report.clusters),
        "not_compared": len(report.undefined),
        "skipped": len(report.skipped),
        "warnings": len(report.warnings),
        "remarks": _remarks(report),
        "left_out": list(written.left_out),
        "pages": written.pages,
        "bytes": written.bytes,
    }


#: Remarks of each kind in the summary; the report lists all.
TOLD_REMARKS = 5


def _remarks(report: Any) -> list[dict[str, str]]:
    """Return the first remarks of each kind, as the command line tells them."""
    kinds = {"not compared": report.undefined, "skipped": report.skipped, "note": report.warnings}
    return [
        {"kind": kind, "name": one.name, "reason": one.reason}
        for kind, remarks in kinds.items()
        for one in remarks[:TOLD_REMARKS]
    ]


def _rows(written: Any) -> list[dict[str, Any]]:
    """Return the pairs that have a page of their own, in its order, for the page of MOSS."""
    from lookalike.rendering.comparison_tables import every_pair

    report = written.report
    return [
        {
            "left": report.entries[pair.left].name,
            "right": report.entries[pair.right].name,
            "score": pair.score,
            "left_coverage": pair.left_coverage,
            "right_coverage": pair.right_coverage,
            "matched_tokens": pair.matched_tokens,
            "passages": len(pair.passages),
        }
        for pair in every_pair(report)[: written.pages]
    ]


if __name__ == "__main__":
    main()
