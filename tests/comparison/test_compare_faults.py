"""One bad thing at a time among honest works: the run ends well, the planted pair is found, the bad thing is told.

The rows are those of a threat model: archives and the file system (A), texts and parsers (T).
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from support.children import PATIENCE
from support.packing import COMPRESSORS, MIB, tar_bytes, zip_bytes
from support.submissions import classroom, pairs, prose, reasons, run, work, write

PLANTED = ("thief.txt", "victim.txt")
ESSAY = prose(500)
ZEROS = bytes(30 * MIB)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return classroom(tmp_path / "in")


def told(root: Path, *arguments: str | Path) -> dict[str, Any]:
    """Run the command, and check what holds whatever lies in the folder."""
    ran = run("compare", root, "--json", *arguments)
    assert (ran.code, ran.err) == (0, "")
    report = json.loads(ran.out)
    names = [entry["name"] for entry in report["entries"]]
    honest = {*PLANTED, *(f"honest{i}.txt" for i in range(4))}
    found = [(names[pair["left"]], names[pair["right"]], pair["score"]) for pair in report["pairs"]]
    left, right, score = next(row for row in found if {*row[:2]} <= honest)
    assert (left, right) == PLANTED
    assert score > 0.4
    assert str(root) not in ran.out, "a path of this machine is told"
    return report


def remarks(report: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["reason"] for kind in ("warnings", "undefined", "skipped") for one in report[kind]}


def accounted_for(report: dict[str, Any]) -> set[str]:
    """Return the names of all that was compared, or was not with a reason."""
    return {entry["name"] for entry in report["entries"]} | remarks(report).keys()


def in_zip(*members: tuple[str | zipfile.ZipInfo, bytes]) -> Callable[[Path], None]:
    return lambda root: (root / "bad.zip").write_bytes(zip_bytes(*members)) and None


def file(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda root: (root / name).write_bytes(data) and None


def lying_zip() -> bytes:
    made = zip_bytes(("a.txt", ZEROS))
    return made.replace(struct.pack("<L", len(ZEROS)), struct.pack("<L", 10))


def nested_zip() -> bytes:
    data = ESSAY.encode()
    for depth in range(4):
        data = zip_bytes((f"{depth}.zip" if depth else "a.txt", data))
    return data


def encrypted_zip() -> bytes:
    made = bytearray(zip_bytes(("a.txt", ESSAY.encode())))
    for at in (6, made.index(b"PK\1\2") + 8):
        made[at] |= 1
    return bytes(made)


def unknown_method_zip() -> bytes:
    made = bytearray(zip_bytes(("a.txt", ESSAY.encode())))
    for at in (8, made.index(b"PK\1\2") + 10):
        made[at] = 99
    return bytes(made)


def wrong_checksum_zip() -> bytes:
    made = bytearray(zip_bytes(("a.txt", ESSAY.encode()), method=zipfile.ZIP_STORED))
    made[60] ^= 1
    return bytes(made)


def special(kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo("odd")
    info.type, info.linkname = kind, "a.txt"
    return info


def deep_folder(root: Path) -> None:
    path = root
    for _ in range(400):
        path /= "d"
    path.mkdir(parents=True)
    (path / "leaf.txt").write_text(ESSAY)


def sparse_file(root: Path) -> None:
    with (root / "bad.txt").open("wb") as out:
        out.truncate(10 * 2**30)


def looping_links(root: Path) -> None:
    (root / "bad").mkdir()
    (root / "bad" / "loop").symlink_to(root)


def socket_file(root: Path) -> None:
    before = os.getcwd()
    # A socket's path must be short.
    os.chdir(root)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("bad")
    os.chdir(before)


ARCHIVES_AND_FILES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "A1 one large member": (in_zip(("a.txt", ZEROS)), "bad.zip", "expands beyond 200 times its size"),
    "A1 many members": (in_zip(*((f"{i}.txt", bytes(4 * MIB)) for i in range(9))), "bad.zip", "expands beyond 200"),
    "A2 a size that lies": (file("bad.zip", lying_zip()), "bad.zip", "expands beyond 200 times its size"),
    "A3 nested too deep": (file("bad.zip", nested_zip()), "bad.zip", "more than 2 levels inside an archive"),
    "A5 too many entries": (in_zip(*((str(i), b"") for i in range(20_001))), "bad.zip", "holds more than 20,000"),
    "A8 encrypted": (file("bad.zip", encrypted_zip()), "bad.zip", "encrypted"),
    "A8 unknown method": (file("bad.zip", unknown_method_zip()), "bad.zip", "packed by method 99"),
    "A8 wrong checksum": (file("bad.zip", wrong_checksum_zip()), "bad.zip", "size or checksum do not agree"),
    "A8 cut short": (file("bad.zip", zip_bytes(("a.txt", ESSAY.encode()))[:-30]), "bad.zip", "cut short"),
    "A8 a kind that is not read": (file("bad.rar", b"Rar!\x1a\x07\1\0"), "bad.rar", "a rar archive, which is not read"),
    "A9 a loop": (looping_links, "bad/loop", "a link, and links are not followed"),
    "A9 a device": (lambda root: (root / "bad").symlink_to("/dev/zero"), "bad", "a link, and links are not followed"),
    "A9 dangling": (lambda root: (root / "bad").symlink_to("nowhere"), "bad", "a link, and links are not followed"),
    "A9 a FIFO": (lambda root: os.mkfifo(root / "bad"), "bad", "not a regular file"),
    "A9 a socket": (socket_file, "bad", "not a regular file"),
    "A10 sparse": (sparse_file, "bad.txt", "larger than 32 MiB"),
} | {
    f"A4 {suffix}": (file(f"bad.tar.{suffix}", pack(tar_bytes(("a.txt", ZEROS)))), "bad.tar", "expands beyond 200")
    for suffix, pack in COMPRESSORS.items()
} | {
    f"A7 {name}": (file("bad.tar", tar_bytes((special(kind), b""))), "bad.tar", reason)
    for name, kind, reason in (
        ("a link", tarfile.SYMTYPE, "a link"),
        ("a hard link", tarfile.LNKTYPE, "a link"),
        ("a device", tarfile.CHRTYPE, "not a regular file"),
        ("a FIFO", tarfile.FIFOTYPE, "not a regular file"),
    )
}  # fmt: skip


@pytest.mark.parametrize("row", ARCHIVES_AND_FILES)
def test_a_bad_archive_or_file_is_skipped_with_its_reason(root: Path, row: str):
    put, name, reason = ARCHIVES_AND_FILES[row]
    put(root)
    found = remarks(told(root))
    assert [text for at, text in found.items() if at.startswith(name) and reason in text], found


def test_names_in_archives_lead_nowhere(root: Path, tmp_path: Path):
    """Row A6: the names are labels, and what they name is compared."""
    hostile = ["../../up.txt", "/etc/passwd.txt", "..\\back.txt", "C:\\drive.txt", ".", "a\0b.txt"]
    (root / "bad.zip").write_bytes(zip_bytes(*((name, ESSAY.encode()) for name in hostile)))
    before = set(tmp_path.rglob("*"))
    report = told(root)
    labels = [one["name"] for entry in report["entries"] if entry["name"] == "bad" for one in entry["files"]]
    assert len(labels) == len(hostile)
    assert not [label for label in labels if label.startswith("/") or ".." in label.split("/")]
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_one_name_are_all_compared(root: Path):
    (root / "bad.zip").write_bytes(zip_bytes(("a.txt", b"first"), ("a.txt", prose(600).encode())))
    entry = next(entry for entry in told(root)["entries"] if entry["name"] == "bad")
    assert [one["name"] for one in entry["files"]] == ["a (2).txt", "a.txt"]


def test_folders_400_deep_are_read(root: Path):
    deep_folder(root)
    entry = next(entry for entry in told(root)["entries"] if entry["name"] == "d")
    assert entry["files"][0]["name"].count("/") == 399


NAMES = {
    "newline": "new\nline.txt",
    "an option": "-rf.txt",
    "right to left": "a\u202egnp.txt",
    "255 bytes": "n" * 251 + ".txt",
    "markup": '<script>alert("x")</script>&.txt'.replace("/", "\u2215"),
    "a formula": "=cmd|'x'!A1.txt",
    "an escape": "\x1b[2J\x1b]0;x\x07.txt",
    "braces": "{{7*7}}{%x%}${x}.txt",
    "not UTF-8": os.fsdecode(b"caf\xe9\xff.txt"),
    "dots": "... .txt",
    "quotes": "a\"b'c`d.txt",
}


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name_is_kept_and_shown_harmless(root: Path, tmp_path: Path, name: str):
    """Rows A11, O1, O2, O3: in JSON as it is, elsewhere visible."""
    odd = NAMES[name]
    (root / odd).write_text(work(100, "text"))
    report = told(root)
    assert odd in [entry["name"] for entry in report["entries"]]
    ran = run("compare", root, "--out", tmp_path / "out")
    assert ran.code == 0
    files = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    pages = [data for data in files if data.startswith(b"<!doctype html>")]
    assert len(pages) >= 3
    for text in (ran.out, *(data.decode("utf-8") for data in files)):
        assert not any(character in text for character in "\x1b\u202e\x07")
    assert not [page for page in pages if b"<script>alert" in page]
    cells = [line for line in (tmp_path / "out" / "pairs.csv").read_text("utf-8").splitlines() if line[0] in "=-+@"]
    assert cells == []


def utf16_without_mark() -> bytes:
    return prose(500, 400).encode("utf-16-le")


TEXTS: dict[str, tuple[str, bytes, str | None]] = {
    "T1 empty": ("bad.txt", b"", "too short to compare: there is nothing in it"),
    "T1 empty program": ("bad.py", b"", "too short to compare: there is nothing in it"),
    "T1 white space": ("bad.txt", b" \t\r\n" * 100_000, "too short to compare: there is nothing in it"),
    "T1 a comment only": ("bad.py", b"# nothing\n", "too short to compare: there is nothing in it"),
    "T1 a word": ("bad.txt", b"short", "too short to compare: only an identical submission"),
    "T2 invalid": ("bad.txt", ESSAY.encode().replace(b".", b"\xff\xc3"), "read as"),
    "T2 cut": ("bad.txt", (ESSAY + "é").encode()[:-1], "1 replaced"),
    "T2 surrogates": ("bad.txt", ESSAY.encode() + "é".encode() * 9 + b"\xed\xa0\x80", "1 replaced"),
    "T3 UTF-16 without a mark": ("bad.txt", utf16_without_mark(), "read as utf-16le (guessed)"),
    "T4 zeros": ("bad.txt", bytes(8 * MIB), "binary, not text"),
    "T4 zeros for a program": ("bad.py", bytes(8 * MIB), "binary, not text"),
    "T4 one letter": ("bad.txt", b"a" * 8 * MIB, None),
    "T4 one letter for a program": ("bad.py", b"a" * 8 * MIB, "too short to compare"),
    "T4 NUL between words": ("bad.txt", ESSAY.encode().replace(b" ", b"\0"), "binary, not text"),
    "T5 one line": ("bad.txt", (prose(1, 4000).replace("\n", " ") * 200).encode()[: 5 * MIB], None),
    "T5 minified": ("bad.js", b"var a=function(b,c){return b?c:a(c,b)};" * 5000, None),
    "T7 spaces before an end": ("bad.rb", b" " * 300_000 + b"x", None),
    "T7 unclosed strings": ("bad.pas", b"'" + b"\\'" * 30_000, None),
    "T8 one sign of eighteen letters": ("bad.txt", "\ufdfa".encode() * 30_000, None),
    "T8 a tower of marks": ("bad.txt", b"a" + "\u0301".encode() * 300_000, None),
    "a picture": ("bad.dat", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10, "binary, not text: a PNG image"),
    "a program": ("bad", b"\x7fELF" + bytes(range(256)) * 10, "binary, not text: a program"),
    "noise": ("bad.c", bytes(i * i * 7919 >> 8 & 255 for i in range(50_000)), "binary, not text"),
    "no PDF": ("bad.pdf", b"%PDF-1.7\ngarbage", "PDF"),
    "no Word file": ("bad.docx", b"PK\3\4 word/document.xml garbage", None),
    "no notebook": ("bad.ipynb", b'{"cells": [', "notebook"),
    "one statement": ("bad.py", b"x = f(1, y)\n" * 50_000, None),
    "a period": ("bad.txt", b"ab" * 100_000, None),
}  # fmt: skip


@pytest.mark.parametrize("row", TEXTS)
def test_a_bad_text_is_told_and_the_others_are_compared(root: Path, row: str):
    name, data, reason = TEXTS[row]
    write(root, {name: data})
    report = told(root)
    assert name in [entry["name"] for entry in report["entries"]]
    assert reason is None or reason in " ".join(remarks(report).values()), remarks(report)
    assert not [pair for pair in report["pairs"] if pair["score"] > 1]


#: What stands before brackets that are never closed, for each language with a grammar, and some without.
OPENERS = {
    ".c": "int a = ", ".cpp": "int a = ", ".java": "class A { int a = ", ".py": "a = ", ".js": "a = ", ".ts": "a = ",
    ".cs": "class A { int a = ", ".go": "package a\nvar a = ", ".rs": "fn a() { a = ", ".rb": "a = ", ".kt": "val a = ",
    ".php": "<?php $a = ", ".sh": "a=$", ".sql": "select ", ".html": "<p>", ".hs": "a = ",
}  # fmt: skip


@pytest.mark.parametrize("suffix", OPENERS)
def test_brackets_100_000_deep_end(root: Path, suffix: str):
    """Row T6: neither the parser nor what frees its tree goes down with them."""
    bad = {f"bad{i}{suffix}": OPENERS[suffix] + bracket * 100_000 for i, bracket in enumerate("([{")}
    assert bad.keys() <= accounted_for(told(write(root, bad)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bad.c", "int f() {" + "if (a) " * 100_000),
        ("bad.java", "class A { void f() {" + "if (a) {} else " * 30_000 + "{} } }"),
        ("bad.py", "x = " + "1 + " * 100_000 + "1"),
        ("bad.py", "".join(f"{' ' * i}if x:\n" for i in range(1000))),
        ("bad.js", "f(" + "x => (" * 30_000),
        ("bad.html", "<div>" * 100_000 + "words"),
        ("bad.json", '{"a":[' * 100_000),
        ("bad.xml", "<a>" * 100_000),
        ("bad.md", ">" * 100_000 + "*" * 100_000),
    ],
)
def test_deep_statements_end(root: Path, name: str, text: str):
    assert name in accounted_for(told(write(root, {name: text})))


@pytest.mark.parametrize(("name", "text"), [("bad.go", "{["), ("bad.java", "({"), ("bad.js", "{a:")])
def test_nesting_that_is_ambiguous_does_not_end_the_process(tmp_path: Path, name: str, text: str):
    """Row T6, in a thread with as small a stack as some systems give."""
    write(tmp_path, {name: text * 10_000})
    code = (
        "import sys, threading, lookalike as la\nthreading.stack_size(512 * 1024)\n"
        "thread = threading.Thread(target=la.compare, args=sys.argv[1:], kwargs={'threads': 1})\n"
        "thread.start()\nthread.join()"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0


ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("name", "text"), [("a.txt", work(1, "text")), ("a.py", work(1, "python"))])
def test_a_copy_in_another_encoding_is_a_copy(tmp_path: Path, encoding: str, name: str, text: str):
    """Row T3: a mark is obeyed, and UTF-16 is told without one."""
    report = la.compare(write(tmp_path, {f"1/{name}": text, f"2/{name}": text.encode(encoding)}))
    assert (pairs(report), report.pairs[0].score) == ([("1", "2")], 1)


def test_two_empty_submissions_are_not_alike(tmp_path: Path):
    report = la.compare(write(tmp_path, {"1.txt": "", "2.txt": "", "3.txt": " \n", "4.py": "# a", "5.py": "# a"}))
    assert report.pairs == ()
    assert set(reasons(report)) == {"1.txt", "2.txt", "3.txt", "4.py", "5.py"}


def test_a_mode_that_forbids_reading_is_told(root: Path):
    path = root / "bad.txt"
    path.write_text(ESSAY)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert "cannot be read: permission denied" in remarks(told(root))["bad.txt"]
    path.chmod(stat.S_IRWXU)
