"""Foreign formats are read in child processes: the same text, and no file takes the machine or ends the run."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lookalike as la
from lookalike import documents, frontends
from lookalike.documents import archives, nested
from lookalike.engines import confined
from lookalike.engines.confined import Confinement
from lookalike.errors import FrontendError
from lookalike.frontends import docx, pdf
from support import formats
from support.packing import HONEST, PACKERS, zip_bytes
from support.submissions import prose

MIB = 2**20
limited = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")


@pytest.fixture
def confine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Set other limits; workers with the old ones are ended."""

    def set_(**limits: int) -> None:
        monkeypatch.setattr(confined, "LIMITS", Confinement(**limits))

    yield set_
    confined.close()


def refused(name: str, data: bytes) -> str:
    with pytest.raises(FrontendError) as caught:
        frontends.read(name, data)
    return str(caught.value)


# --- the same answer ---


def test_a_worker_reads_the_same_text():
    pages, words = formats.text_pdf("one page", "", "and \xe9t\xe9"), formats.docx("a word", "\u4e2d\u6587 \U0001f600")
    assert frontends.read("a.pdf", pages) == pdf.read(pages, "pdf", False)._replace(format="pdf")
    assert frontends.read("a.docx", words) == docx.read(words, "docx", False)._replace(format="docx")


def test_a_refusal_has_the_same_reason():
    assert (
        refused("a.pdf", b"%PDF-1.4\nnothing") == "no PDF that can be read: cut short or damaged; print it to a new PDF"
    )
    assert refused("a.pdf", formats.text_pdf("")) == "none of its 1 page holds text: scanned? run OCR over it first"


def test_many_threads_share_a_few_workers():
    documents_ = [formats.text_pdf(f"number {number}") for number in range(60)]
    with ThreadPoolExecutor(12) as pool:
        texts = list(pool.map(lambda data: frontends.read("a.pdf", data).text, documents_))
    assert texts == [f"— page 1 —\nnumber {number}\n" for number in range(60)]


# --- limits ---


@limited
def test_a_form_that_draws_itself_is_listed_and_the_run_goes_on(tmp_path: Path, confine: Callable[..., None]):
    confine(memory_bytes=300 * MIB)
    assert len(formats.pdf_bomb()) < 600
    for name, data in {
        "ann": formats.text_pdf(prose(1, 60).replace("\n", " ")),
        "bob": formats.pdf_bomb(),
        "cyd": formats.text_pdf(prose(1, 60).replace("\n", " ")),
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "essay.pdf").write_bytes(data)
    report = la.compare(str(tmp_path), threads=1)
    assert [(remark.name, remark.reason) for remark in report.skipped] == [
        ("bob/essay.pdf", "reading it takes more than 300 MiB of memory")
    ]
    assert [(report.entries[pair.left].name, report.entries[pair.right].name) for pair in report.pairs] == [
        ("ann", "cyd")
    ]


@limited
def test_processor_time_is_limited_for_each_document(confine: Callable[..., None]):
    confine(memory_bytes=64 * 1024 * MIB, cpu_seconds=1)
    assert refused("a.pdf", formats.pdf_bomb()) == "reading it takes more than 1 second of processor time"
    assert frontends.read("a.pdf", formats.text_pdf("sound")).text == "— page 1 —\nsound\n"


def test_an_answer_is_limited(confine: Callable[..., None]):
    confine(output_bytes=1000)
    assert refused("a.docx", formats.docx("word " * 300)) == "what is read from it is larger than 1000 bytes"
    assert frontends.read("a.docx", formats.docx("word")).parts


def test_a_worker_that_dies_is_told_and_replaced(monkeypatch: pytest.MonkeyPatch):
    with confined.lent() as worker:
        worker.stop()
    assert "its reader ended with code -9" in refused("a.pdf", formats.text_pdf("lost"))
    assert frontends.read("a.pdf", formats.text_pdf("found")).text == "— page 1 —\nfound\n"


@limited
def test_memory_of_this_process_is_not_taken_for_that_of_a_worker(confine: Callable[..., None]):
    """The system counts the memory of a parent as the child's."""
    confine(memory_bytes=300 * MIB)
    ballast = b"x" * (200 * MIB)
    with confined.lent() as worker:
        worker.stop()
    reason = refused("a.pdf", formats.text_pdf("lost"))
    assert refused("b.pdf", formats.pdf_bomb()) == "reading it takes more than 300 MiB of memory"
    assert len(ballast) == 200 * MIB
    assert reason == ("its reader ended with code -9: the file may be damaged, or take more than 300 MiB of memory")


def test_an_interrupt_ends_the_worker(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, confined.lent() as worker:
        patch.setattr(confined, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            worker.ask({"module": "lookalike.frontends.extraction"}, b"")
    assert not worker.suits(confined.LIMITS)


def test_stopping_ends_workers_that_are_busy(monkeypatch: pytest.MonkeyPatch):
    honest = confined.send

    def sent(*message) -> None:
        honest(*message)
        confined.stop()

    monkeypatch.setattr(confined, "send", sent)
    assert "its reader ended with code" in refused("a.pdf", formats.pdf_bomb())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="asks the system for children, as Unix does")
def test_no_child_is_left_after_a_comparison(tmp_path: Path):
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.pdf").write_bytes(formats.text_pdf("a few words"))
    code = (
        "import os, sys, lookalike as la\n"
        "la.compare(sys.argv[1])\n"
        "try:\n    os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError:\n    print('none')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "none\n"


# --- archives in archives ---


@pytest.mark.parametrize("kind", PACKERS)
def test_an_archive_in_an_archive_is_read_by_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str):
    read_here: list[str] = []
    honest = archives.members

    def members(kind: str, name: str, *more):
        read_here.append(name)
        return honest(kind, name, *more)

    monkeypatch.setattr(archives, "members", members)
    inner = PACKERS[kind](("main.py", HONEST), ("deep.zip", zip_bytes(("far/below.py", HONEST))))
    (tmp_path / "class.zip").write_bytes(zip_bytes((f"ann.{kind}", inner), ("bob.zip", zip_bytes(("main.py", HONEST)))))
    found = documents.collect([tmp_path / "class.zip"])
    assert read_here == ["class.zip"]
    assert {one.name: [document.name for document in one.documents] for one in found.submissions} == {
        "ann": ["deep.zip/far/below.py", "main.py"],
        "bob": ["main.py"],
    }
    assert found.skipped == ()


def test_a_worker_that_fails_in_an_archive_is_listed(tmp_path: Path, confine: Callable[..., None]):
    confine(output_bytes=500)
    inner = zip_bytes(("long.py", HONEST * 100))
    (tmp_path / "class.zip").write_bytes(
        zip_bytes(("ann.zip", inner), ("bob/main.py", HONEST), ("cyd/main.py", HONEST))
    )
    found = documents.collect([tmp_path / "class.zip"])
    assert [one.name for one in found.submissions] == ["bob", "cyd"]
    assert [(row.name, row.reason) for row in found.skipped] == [
        ("ann.zip", "what is read from it is larger than 500 bytes; nothing of it is read")
    ]


def test_the_allowance_of_an_archive_is_counted_across_workers():
    meter = nested.Meter(nested.Tree(documents.Limits(), 10 * MIB, 100), 1000)
    data = zip_bytes(("a", b"x" * 1000), ("b", b"y" * 500))
    contents = [member.read(MIB) for member in nested.members("zip", "inner.zip", data, meter)]
    assert [len(content) for content in contents] == [1000, 500]
    assert (meter.tree.bytes_left, meter.tree.entries_left) == (10 * MIB - 1500, 98)


#: Runs the command line, then tells the most memory that the process had, in KiB. What the system counts for a child
#: that is waited for includes what its parent had when it started it.
TELLING_MEMORY = """
import contextlib, pathlib, re, sys
from lookalike.cli.main import main
with contextlib.suppress(SystemExit):
    main()
print(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1], file=sys.stderr)
"""


@limited
def test_a_flat_bomb_stays_below_a_gibibyte(tmp_path: Path):
    """500 members of 20 MB in 100 MB: neither the ratio nor one member breaks a limit."""
    content = os.urandom(200_000) + bytes(19_800_000)
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush()
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.py").write_bytes(HONEST * 9)
    (tmp_path / "class" / "bob.py").write_bytes(HONEST * 9)
    (tmp_path / "class" / "bomb.zip").write_bytes(_flat(packed, content, 60))
    command = [sys.executable, "-c", TELLING_MEMORY, "compare", str(tmp_path / "class"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "expands beyond 768 MiB" in done.stdout
    assert int(done.stderr.split()[-1]) * 1024 < 1024 * MIB


def _flat(packed: bytes, content: bytes, count: int) -> bytes:
    """Return a zip archive with the same packed member many times."""
    body, directory = [], []
    sizes = (
        zlib.crc32(content).to_bytes(4, "little")
        + len(packed).to_bytes(4, "little")
        + len(content).to_bytes(4, "little")
    )
    at = 0
    for number in range(count):
        name = b"%05d.txt" % number
        fields = b"\x14\0\0\0\x08\0\0\0\0\0" + sizes + len(name).to_bytes(2, "little") + b"\0\0"
        local = b"PK\3\4" + fields + name + packed
        directory.append(b"PK\1\2\x14\0" + fields + bytes(10) + at.to_bytes(4, "little") + name)
        body.append(local)
        at += len(local)
    listed = b"".join(directory)
    counts = count.to_bytes(2, "little") * 2
    end = b"PK\5\6\0\0\0\0" + counts + len(listed).to_bytes(4, "little") + at.to_bytes(4, "little") + b"\0\0"
    return b"".join(body) + listed + end
