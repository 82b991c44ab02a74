"""Describes the outer syntax of each lexed language: its comments, strings, words and numbers.

A lexer needs nothing else to keep its place; ``lexed`` finds out which words are keywords. A syntax becomes one regular
expression that reads a text in linear time. Its quantifiers are possessive, and a comment or string that is never
closed ends with its line or file, so that nothing is tried twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

#: Operators of several signs that are one token in any language; the longest first.
_OPERATORS = (
    "<=> === !== ... >>= <<= **= ||= &&= <-> --> ::= := <= >= <> == /= != ~= -> => <- ** && || .. :: ++ << >> |> += -= "
    "*= %= |= &= ^= ?? // @@"
)
_WORD = r"[^\W\d]\w*+"
_NUMBER = r"0[xXbBoO][\da-fA-F_]++\w*+|\d[\d_]*+(?:\.\d[\d_]*+)?+(?:[eEdD][+-]?+\d++)?+\w*+"
#: A quoted character; its closing quote distinguishes it from an apostrophe.
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n][\w+{}]{0,8}+)'"


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a language's text is split into tokens."""

    #: The Pygments lexer that knows the words.
    lexer: str
    #: What opens a comment to the end of the line; regular expressions.
    line: tuple[str, ...] = ()
    #: Openings and ends of block comments.
    block: tuple[tuple[str, str], ...] = ()
    #: Block comments hold block comments.
    nests: bool = False
    #: Strings; regular expressions.
    strings: tuple[str, ...] = ()
    word: str = _WORD
    number: str = _NUMBER
    #: Keywords are the same in upper and lower case.
    ignores_case: bool = False
    #: The first word of a line, after any label, is an instruction and kept by its text.
    has_instructions: bool = False
    #: Built-in functions are kept by their text, because Lisps have no other syntax. Elsewhere they are names
    #: like any other, because people also name variables ``i`` and ``sum``.
    keeps_builtins: bool = False
    #: Capitalised words are types and constructors, and are folded like names.
    folds_types: bool = False
    #: The code in which the lexer is asked about a word.
    asked: str = "{} x"


def _quoted(quote: str, *, escape: bool = True, doubled: bool = False, lines: bool = False, end: str = "") -> str:
    """Return the expression of a string that ends at its quote, or else with its line (its file, if it spans lines)."""
    end = end or quote
    plain = f"[^{re.escape(end[0])}" + (r"\\" if escape else "") + ("" if lines else r"\n") + "]"
    inner = [plain + "++"]
    inner += [r"\\(?s:.)" if lines else r"\\."] if escape else []
    inner += [re.escape(end) * 2] if doubled else []
    inner += [f"{re.escape(end[0])}(?!{re.escape(end[1:])})"] if len(end) > 1 else []
    return f"{re.escape(quote)}(?:{'|'.join(inner)})*+(?:{re.escape(end)})?+"


def _block(start: str, end: str) -> str:
    return _quoted(start, escape=False, lines=True, end=end)


_DOUBLE, _SINGLE = _quoted('"'), _quoted("'")
_DOUBLE_LINES = _quoted('"', lines=True)
_DOUBLE_PLAIN, _SINGLE_PLAIN = (_quoted(quote, escape=False, doubled=True) for quote in "\"'")
_TRIPLE = _quoted('"""', lines=True, end='"""')
_C_COMMENTS = (("/*", "*/"),)
_C_STRINGS = (_TRIPLE, _DOUBLE, _SINGLE)
_LISP_WORD = r"[^\s()\[\]{}\"';`,#|]++"
_LISP_STRINGS = (_DOUBLE_LINES, r"#\\\w++|#\\\S")
_FORTRAN = Syntax("fortran", ("!",), strings=(_DOUBLE_PLAIN, _SINGLE_PLAIN), ignores_case=True)
_ASSEMBLY = Syntax(
    "nasm",
    (";", "//", r"#(?![\d-])"),
    _C_COMMENTS,
    strings=(_DOUBLE, _SINGLE),
    word=r"[%.$@]?[^\W\d][\w.$@]*+",
    ignores_case=True,
    has_instructions=True,
)

#: Each lexed language's syntax, by the name of the language.
SYNTAX: dict[str, Syntax] = {
    "ada": Syntax("ada", ("--",), strings=(_DOUBLE_PLAIN, "'[^\\n]'"), ignores_case=True),
    "asm": _ASSEMBLY,
    "clojure": Syntax(
        "clojure", (";",), strings=(_DOUBLE_LINES, r"\\\w++"), word=_LISP_WORD, keeps_builtins=True, asked="({} x)"
    ),
    "coq": Syntax("coq", block=(("(*", "*)"),), nests=True, strings=(_DOUBLE_LINES,), word=r"[^\W\d][\w']*+"),
    "dart": Syntax("dart", ("//",), _C_COMMENTS, strings=_C_STRINGS),
    "elixir": Syntax("elixir", ("#",), strings=_C_STRINGS, word=r"[^\W\d]\w*+[?!]?+"),
    "erlang": Syntax("erlang", ("%",), strings=(_DOUBLE_LINES, _SINGLE, r"\$\\?[^\s]")),
    "fortran": _FORTRAN,
    "fortranfixed": Syntax("fortran", ("!", "^[cC*dD]"), strings=_FORTRAN.strings, ignores_case=True),
    "fsharp": Syntax(
        "fsharp",
        ("//",),
        (("(*", "*)"),),
        nests=True,
        strings=(_TRIPLE, _DOUBLE_LINES, _CHARACTER),
        word=r"'?[^\W\d][\w']*+",
    ),
    "groovy": Syntax("groovy", ("//",), _C_COMMENTS, strings=_C_STRINGS),
    "haskell": Syntax(
        "haskell",
        (r"--(?![!#$%&*+./<=>?@\\^|~:])",),
        (("{-", "-}"),),
        nests=True,
        strings=(_DOUBLE, _CHARACTER),
        word=r"[^\W\d][\w']*+",
        folds_types=True,
    ),
    "julia": Syntax(
        "julia", ("#(?!=)",), (("#=", "=#"),), True, (_TRIPLE, _DOUBLE_LINES, _CHARACTER), r"[^\W\d][\w!]*+"
    ),
    "lisp": Syntax(
        "common-lisp",
        (";",),
        (("#|", "|#"),),
        nests=True,
        strings=_LISP_STRINGS,
        word=_LISP_WORD,
        ignores_case=True,
        keeps_builtins=True,
    ),
    "matlab": Syntax(
        "matlab",
        (r"[%#](?!\{[ \t]*+\n)", r"\.\.\."),
        (("%{", "%}"), ("#{", "#}")),
        strings=(_DOUBLE_PLAIN, r"(?<![\w)\]}'.])" + _SINGLE_PLAIN),
    ),
    "mips": Syntax(
        "mips", ("#",), strings=(_DOUBLE, _SINGLE), word=r"[.$]?\w[\w.]*+", ignores_case=True, has_instructions=True
    ),
    "modula2": Syntax(
        "modula2", block=(("(*", "*)"),), nests=True, strings=(_quoted('"', escape=False), _quoted("'", escape=False))
    ),
    "objectivec": Syntax("objective-c", ("//",), _C_COMMENTS, strings=("@?+" + _DOUBLE, _SINGLE)),
    "ocaml": Syntax(
        "ocaml", block=(("(*", "*)"),), nests=True, strings=(_DOUBLE_LINES, _CHARACTER), word=r"'?[^\W\d][\w']*+"
    ),
    "pascal": Syntax("delphi", ("//",), (("{", "}"), ("(*", "*)")), strings=(_SINGLE_PLAIN,), ignores_case=True),
    "perl": Syntax(
        "perl",
        (r"(?<!\$)#", r"^=[a-zA-Z][^\n]*+(?:\n(?!=cut)[^\n]*+)*+\n?+(?:=cut)?+"),
        strings=(_DOUBLE, _SINGLE, _quoted("`")),
        word=r"[$@]?+[^\W\d]\w*+",
    ),
    "powershell": Syntax(
        "powershell",
        ("#",),
        (("<#", "#>"),),
        strings=(_DOUBLE_LINES, _SINGLE),
        word=r"\$?+[^\W\d]\w*+(?:-\w++)*+",
        ignores_case=True,
    ),
    "prolog": Syntax("prolog", ("%",), _C_COMMENTS, strings=(_DOUBLE_LINES, "0'.", _SINGLE)),
    "scheme": Syntax(
        "scheme", (";",), (("#|", "|#"),), nests=True, strings=_LISP_STRINGS, word=_LISP_WORD, keeps_builtins=True
    ),
    "vb": Syntax("vb.net", ("'", r"(?i:\brem\b)"), strings=(_DOUBLE_PLAIN,), ignores_case=True),
    "verilog": Syntax(
        "verilog", ("//",), _C_COMMENTS, strings=(_DOUBLE,), number=rf"\d*+'[sS]?+[bodhBODH][\w?]++|{_NUMBER}"
    ),
    "vhdl": Syntax("vhdl", ("--",), strings=(_DOUBLE_PLAIN, "'[^\\n]'"), ignores_case=True),
}


@cache
def scanner(language: str) -> re.Pattern[str]:
    """Return the expression that finds the next comment, string, number, word or sign; its group says which."""
    syntax = SYNTAX[language]
    comments = [f"(?:{start})[^\\n]*+" for start in syntax.line]
    blocks = [re.escape(start) if syntax.nests else _block(start, end) for start, end in syntax.block]
    groups = {
        "nested" if syntax.nests else "block": blocks,
        "comment": comments,
        "string": syntax.strings,
        "number": [syntax.number],
        "word": [syntax.word],
        "sign": [*(re.escape(operator) for operator in _OPERATORS.split()), r"\S"],
    }
    return re.compile(
        "|".join(f"(?P<{name}>{'|'.join(group)})" for name, group in groups.items() if group), re.MULTILINE
    )


@cache
def _edges(language: str) -> re.Pattern[str]:
    """Return the expression that finds the next opening or end of a nested comment; its group is an end."""
    blocks = SYNTAX[language].block
    return re.compile("|".join(f"{re.escape(start)}|({re.escape(end)})" for start, end in blocks))


def end_of_nested(language: str, text: str, start: int) -> int:
    """Return the end of the nested comment that opens at ``start``, or of the file."""
    depth = 0
    for edge in _edges(language).finditer(text, start):
        depth += -1 if edge.group(1) else 1
        if depth == 0:
            return edge.end()
    return len(text)
