"""Detects the language of a document (``-l auto``) from its name and its content.

In this order: first bytes that belong to one format; the name, and the content where a suffix has several meanings; the
first line (``#!``, ``<?php``, ``<!doctype html``); then the content of nameless files, which is text unless several
lines are plainly code. Only the beginning of the file and of each line is read, so the cost is fixed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from lookalike.frontends.decoding import SAMPLE_BYTES, is_binary, sample

#: The result for binary files.
BINARY = "binary"
#: Binary formats, which are recognised by their bytes alone, never by a name.
NOT_TEXT = frozenset(("pdf", "docx"))
#: Characters of a line that are examined.
MAX_LINE = 200
#: A nameless file is code if at least so many lines are of one language.
MIN_CODE_LINES = 2

#: First bytes of binary files, and the names of their formats.
MAGIC = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ\x90", "a program (Windows)"),
    (b"\xca\xfe\xba\xbe", "a compiled Java class"),
    (b"\xcf\xfa\xed\xfe", "a program (macOS)"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file: save it as .docx or PDF"),
    (b"{\\rtf", "rich text: save it as .docx or PDF"),
    (b"PK\x03\x04", "an archive"),
    (b"PK\x05\x06", "an empty archive"),
    (b"\x1f\x8b", "an archive (gzip)"),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)"),
    (b"Rar!", "an archive (RAR)"),
    (b"BZh", "an archive (bzip2)"),
    (b"\xfd7zXZ\x00", "an archive (xz)"),
    (b"\x28\xb5\x2f\xfd", "an archive (zstd)"),
    (b"SQLite format 3\x00", "a database (SQLite)"),
    (b"PAR1", "a Parquet file"),
    (b"\x00asm", "a program (WebAssembly)"),
)
_MAGICS = tuple(magic for magic, _ in MAGIC)
#: A PDF may have other bytes before its mark.
_PDF_WITHIN = 1024

# Expressions are compiled on use (and cached by ``re``), because most comparisons need none of them.
_INTERPRETERS = {
    "python": "python", "pypy": "python", "sh": "bash", "bash": "bash", "dash": "bash", "zsh": "bash", "ksh": "bash",
    "node": "javascript", "deno": "typescript", "ruby": "ruby", "perl": "perl", "php": "php", "lua": "lua",
    "Rscript": "r", "julia": "julia", "swipl": "prolog", "ocaml": "ocaml", "runhaskell": "haskell", "scala": "scala",
    "guile": "scheme", "racket": "scheme", "clisp": "lisp", "sbcl": "lisp", "octave": "matlab", "pwsh": "powershell",
    "elixir": "elixir", "escript": "erlang", "groovy": "groovy", "kotlin": "kotlin", "swift": "swift", "dart": "dart",
}  # fmt: skip
_SHEBANG = r"#!\s*\S*?(?:/env\s+(?:-S\s+)?)?([A-Za-z]+)[\d.]*(?:\s|$)"

_CPP = r"\s*(?:class|namespace|template|using|public|private|protected|virtual|constexpr)\b|#include <\w+>|.*\bstd::"
_OBJECTIVE_C = r"\s*(?:@(?:interface|implementation|end|property|import|protocol|class)\b|#import\b|[-+] ?\()"
_PROLOG = r"\s*:-|[a-z]\w*(?:\(.*\))?\s*(?::-|-->|\.\s*$)|%"
_PERL = r"\s*(?:use |my |our |sub \w|package |#!.*perl|print |[$@%]\w)"
_COQ = r"\s*(?:Require|Import|Theorem|Lemma|Proof|Qed|Definition|Inductive|Fixpoint|Module)\b|\(\*"
_LATEX = r"\s*(?:\\[a-zA-Z@]+|%)"
_MIPS = r"\s*(?:\.(?:data|text|globl|asciiz)\b|.*\$(?:t\d|s\d|a\d|v\d|ra|sp|zero)\b|.*\bsyscall\b)"
_PASCAL = r"(?i)\s*(?:program|unit|procedure|function|begin|uses|var|const|type)\b"

#: Beginnings of lines that hardly occur outside one language, for files whose name does not decide.
_TELLING_LINES = {
    "cpp": r"#include <\w+>|using namespace \w+;|.*\bstd::|.*\b(?:cin ?>>|cout ?<<)|template\s*<",
    "c": r'#include [<"][\w/.]+\.h[>"]|#define \w+|int main\(|.*\b(?:printf|scanf)\(',
    "java": r"import java[\w.*]*;|(?:public |private |static )+(?:class|void|int|String)\b|.*\bSystem\.(?:in|out)\b",
    "csharp": r"using System[\w.]*;|namespace [\w.]+|Console\.Write",
    "python": r"def \w+\(.*\).*:|class \w+.*:$|import [\w., ]+$|from [\w.]+ import \w|if __name__ ==|for \w.* in .*:$",
    "go": r"package \w+$|func (?:\(\w+ \*?\w+\) )?\w+\(|import \(|\w+ := ",
    "rust": r"fn \w+.*\{$|let mut \w+|use [\w:]+(?:::\{.*\})?;$|impl\b.*\{|pub (?:fn|struct|enum)|println!\(",
    "javascript": r"(?:const|let|var) [\w{}, ]+ = .*;?$|function \w*\(.*\) ?\{|console\.log\(|import .* from ['\"]",
    "php": r"<\?php|\$\w+ = .*;$|echo .*;$",
    "ruby": r"require ['\"]|def \w+[?!]?(?:\(.*\))?$|puts |end$|attr_\w+ :",
    "sql": r"(?i:(?:create|alter|drop) table|select .* from|insert into|update \w+ set)\b",
    "haskell": r"module [\w.]+.*where$|import (?:qualified )?[A-Z][\w.]+|\w+ :: .*->",
    "perl": r"use strict;|use warnings;|my [$@%(]|sub \w+ \{",
}


def detect(name: str, data: bytes, known: Mapping[str, str]) -> str:
    """Return the language's name, or ``binary``."""
    if (form := container(data)) is not None:
        return form
    if what_binary(data) is not None:
        return BINARY
    if (plain := _by_name(name, known)) is not None:
        return plain
    return _by_content_of(name, [line[:MAX_LINE] for line in sample(data).splitlines()])


def extracted(name: str, data: bytes, known: Mapping[str, str]) -> str | None:
    """Return the language of a document by its bytes and name, as ``detect`` does; ``None`` for a nameless file.

    Of a nameless file only the first lines are looked at, for a page or a notebook: whether it is prose or code does
    not matter to who reads its text.
    """
    if (form := container(data)) is not None:
        return form
    if (plain := _by_name(name, known)) is not None:
        return plain
    if data[:SAMPLE_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n\0")[:1] not in (b"<", b"{", b"\xff", b"\xfe"):
        return None
    return _by_first_line([line[:MAX_LINE] for line in sample(data).splitlines()])


def container(data: bytes) -> str | None:
    """Return the format of a binary document that can be read; ``None`` for other files."""
    if b"%PDF-" in data[:_PDF_WITHIN]:
        return "pdf"
    if data.startswith(b"PK\x03\x04") and b"word/document" in data:
        return "docx"
    return None


def what_binary(data: bytes) -> str | None:
    """Return the name of a binary format; ``None`` for text."""
    if data.startswith(_MAGICS):
        return next(what for magic, what in MAGIC if data.startswith(magic))
    return "more than one byte in ten is a control character" if is_binary(data) else None


def _by_name(name: str, known: Mapping[str, str]) -> str | None:
    """Return the language of a file's name or suffix; ``None`` if several have it, or only the bytes decide."""
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    dot = base.rfind(".")
    suffix = base[dot:] if dot > 0 else ""
    if suffix in _AMBIGUOUS:
        return None
    found = known.get(base) or known.get(suffix)
    return None if found in NOT_TEXT else found


def _by_content_of(name: str, lines: list[str]) -> str:
    """Return the language that the lines suggest, among those of the suffix if several have it."""
    choose = _AMBIGUOUS.get(PurePosixPath(name.lower()).suffix, _unsure)
    return choose(lines)


def _count(lines: list[str], expression: str) -> int:
    pattern = re.compile(expression)
    return sum(pattern.match(line) is not None for line in lines)


def _prefer(expression: str, language: str, otherwise: str) -> Callable[[list[str]], str]:
    """Choose a language if one of the lines is plainly written in it."""
    return lambda lines: language if _count(lines, expression) else otherwise


def _perl_or_prolog(lines: list[str]) -> str:
    return "prolog" if _count(lines, _PROLOG) > _count(lines, _PERL) else "perl"


def _unsure(lines: list[str]) -> str:
    return _by_first_line(lines) or _by_content(lines)


def _class_file(lines: list[str]) -> str:
    """Tell LaTeX, Visual Basic and Apex apart; Apex is much like Java."""
    if _count(lines, _LATEX) * 3 >= max(len(lines), 1):
        return "text"
    return "java" if any(line.rstrip().endswith(("{", ";")) for line in lines) else "vb"


#: Suffixes of several languages, and how to decide: ``.h`` is C unless a line is C++, and so on.
_AMBIGUOUS: dict[str, Callable[[list[str]], str]] = {
    ".h": _prefer(_CPP, "cpp", "c"),
    ".m": _prefer(_OBJECTIVE_C, "objectivec", "matlab"),
    ".pl": _perl_or_prolog,
    ".v": _prefer(_COQ, "coq", "verilog"),
    ".cls": _class_file,
    ".inc": _unsure,
    ".s": _prefer(_MIPS, "mips", "asm"),
    ".asm": _prefer(_MIPS, "mips", "asm"),
    ".p": _prefer(_PASCAL, "pascal", "text"),
    ".ts": _prefer(r"\s*<\?xml|<!DOCTYPE TS", "text", "typescript"),
}


def _by_first_line(lines: list[str]) -> str | None:
    first = next((line.strip() for line in lines if line.strip()), "")
    if (shebang := re.match(_SHEBANG, first)) is not None:
        return _INTERPRETERS.get(shebang.group(1))
    lowered = first.lower()
    if lowered.startswith("<?php"):
        return "php"
    if lowered.startswith(("<!doctype html", "<html")):
        return "html"
    return "text" if lowered.startswith(("<?xml", "<svg")) else _if_notebook(lines)


def _if_notebook(lines: list[str]) -> str | None:
    head = "".join(lines[:50])
    return "notebook" if re.match(r'\s*\{\s*"(?:cells|metadata|nbformat\w*|worksheets)"\s*:', head) else None


def _by_content(lines: list[str]) -> str:
    """Return the language of most typical lines, if they are at least two and one in twenty; else text."""
    counts = {language: _count(lines, rf"\s*(?:{telling})") for language, telling in _TELLING_LINES.items()}
    # Much of a C++ file is also C, and much of a C# file could be Java.
    for language, base in (("cpp", "c"), ("csharp", "java")):
        counts[language] += counts[base] if counts[language] else 0
    best = max(counts, key=lambda language: counts[language])
    written = sum(bool(line.strip()) for line in lines)
    return best if counts[best] >= max(MIN_CODE_LINES, written / 20) else "text"
