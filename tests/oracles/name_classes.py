"""Classes of the names in a program, by the rule of docs/compare.md: a slow program with nothing of the core in it.

A text is cut by one regular expression into comments, strings, numbers, words and signs. A name before `(` is of the
class call. A name is a type if a name follows it, directly or after `<…>` or pairs of `[]`; so is a built-in type. Any
other name is of the class name. An import line is one token with its target. Every name looks forward by itself: the
time is quadratic in the worst case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

#: Words that are no names, by language, as the definitions of the languages list them.
_KEYWORDS = {
    "java": """abstract assert break case catch class continue default do else enum extends finally final for if
        implements import instanceof interface native new package private protected public return static strictfp super
        switch synchronized this throw throws transient try volatile while true false null record yield var sealed
        permits non-sealed""",
    "c": """auto break case const continue default do else enum extern for goto if inline register restrict return
        sizeof static struct switch typedef union volatile while true false NULL""",
    "python": """False None True and as assert async await break class continue def del elif else except finally for
        from global if import in is lambda nonlocal not or pass raise return try while with yield""",
    "javascript": """as async await break case catch class const continue debugger default delete do else export extends
        false finally for from function if import in instanceof let new null of return static super switch this throw
        true try typeof undefined var while with yield""",
    "go": """break case chan const continue default defer else fallthrough for func go goto if import interface map
        package range return select struct switch type var true false nil iota""",
}
_KEYWORDS["cpp"] = (
    _KEYWORDS["c"]
    + """ alignas catch class constexpr decltype delete explicit export friend mutable namespace new noexcept nullptr
        operator override private protected public requires template this throw try typename using virtual"""
)
#: Built-in types that are words of the language, and not names.
_TYPES = {
    "java": "boolean byte char double float int long short void",
    "c": "char double float int long short signed unsigned void bool size_t int32_t uint8_t int64_t",
    "cpp": "char double float int long short signed unsigned void bool size_t int32_t uint8_t int64_t",
    "javascript": "void",
}
_COMMENTS = {"python": r"#[^\n]*"}
_STRINGS = {
    "python": r"[rbfRBF]{0,2}(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\")",
    "javascript": r"`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"",
    "go": r"`[^`]*`|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"",
}
#: Words that begin an import line.
_IMPORTS = {
    "java": ("import", "package"),
    "c": ("#include",),
    "cpp": ("#include", "using"),
    "python": ("import", "from"),
    "javascript": ("import",),
    "go": ("import", "package"),
}
#: Languages in which a statement ends with its line.
_ENDS_LINES = ("python", "javascript", "go")
#: What may stand between `<` and `>`, beside words and numbers.
_INSIDE = (".", ",", "::", "?", "&", "*", "[", "]")
_SIGNS = r">>>=|>>=|<<=|===|!==|\.\.\.|\*\*=|//=|->|=>|:=|<-|<=>|<=|>=|==|!=|&&|\|\||\+\+|--|::|[-+*/%&|^]=|<<|>>>|>>|."


class Lexeme(NamedTuple):
    """A piece of a text: comment, string, number, word or sign."""

    kind: str
    text: str
    start: int
    end: int
    #: Whether a line ended before it.
    is_first: bool


class Classed(NamedTuple):
    """A name, a built-in type or an import line, and its class."""

    start: int
    end: int
    #: ``call``, ``type`` or ``name``; for an import line ``import`` and its target.
    what: str


def _cutter(language: str) -> re.Pattern[str]:
    comment = _COMMENTS.get(language, r"//[^\n]*|/\*.*?\*/")
    string = _STRINGS.get(language, r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"")
    if language in ("c", "cpp"):
        string += r"|(?<=#include )<[^>\n]*>"
    word = r"#include\b|#\w+|[^\W\d]\w*" if language in ("c", "cpp") else r"[^\W\d][\w$]*"
    number = r"\d[\w.]*"
    kinds = {"comment": comment, "string": string, "number": number, "word": word, "sign": _SIGNS}
    whole = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items())
    return re.compile(rf"(?P<blank>(?:\s|\\\n)+)|{whole}", re.DOTALL)


def lexemes(text: str, language: str) -> list[Lexeme]:
    """Cut a text; comments and blanks are left out."""
    found: list[Lexeme] = []
    is_first = True
    for match in _cutter(language).finditer(text):
        kind = str(match.lastgroup)
        if kind in ("blank", "comment"):
            is_first = is_first or "\n" in match[0].replace("\\\n", "")
            continue
        found.append(Lexeme(kind, match[0], match.start(), match.end(), is_first))
        is_first = False
    return found


@dataclass(frozen=True)
class _Program:
    language: str
    pieces: list[Lexeme]

    def is_name(self, at: int) -> bool:
        piece = self.pieces[at] if at < len(self.pieces) else None
        if piece is None or piece.kind != "word" or piece.text.startswith("#"):
            return False
        return piece.text not in _KEYWORDS[self.language].split() and not self.is_type(at)

    def is_type(self, at: int) -> bool:
        return self.pieces[at].text in _TYPES.get(self.language, "").split()

    def is_sign(self, at: int, *signs: str) -> bool:
        return at < len(self.pieces) and self.pieces[at].kind == "sign" and self.pieces[at].text in signs

    def goes_on(self, at: int) -> bool:
        """Tell whether a piece may belong to the statement of the one before it."""
        return at < len(self.pieces) and not (self.language in _ENDS_LINES and self.pieces[at].is_first)

    def class_of(self, at: int) -> str:
        """Return the class of a name by what follows it."""
        after = at + 1
        if self.goes_on(after) and self.is_sign(after, "("):
            return "call"
        while self.goes_on(after):
            if self.is_name(after):
                return "type"
            if self.is_sign(after, "["):
                end = after + 2 if self.goes_on(after + 1) and self.is_sign(after + 1, "]") else None
            else:
                end = self.angles_end(after) if self.is_sign(after, "<") else None
            if end is None:
                return "name"
            after = end
        return "name"

    def angles_end(self, at: int) -> int | None:
        """Return the piece after the `>` of a `<`; none if this is no list of type arguments, or `>>` closes more."""
        depth = 0
        for place in range(at, len(self.pieces)):
            piece = self.pieces[place]
            if self.is_sign(place, "<"):
                depth += 1
            elif self.is_sign(place, ">", ">>", ">>>"):
                depth -= len(piece.text)
                if depth <= 0:
                    return place + 1 if depth == 0 else None
            elif piece.kind == "string" or (piece.kind == "sign" and piece.text not in _INSIDE):
                return None
        return None

    def imports(self, at: int) -> tuple[int, list[Classed]] | None:
        """Return the piece after the import line that begins here, and its tokens; none if no such line begins."""
        first = self.pieces[at]
        if first.text not in _IMPORTS[self.language] or not first.is_first:
            return None
        end = self.line_end(at)
        line = self.pieces[at:end]
        stop = line[-1].end
        if self.language == "go" and first.text == "import":
            return end, self.paths(line)
        if self.language == "javascript" and not any(piece.kind == "string" for piece in line):
            return None
        return end, [Classed(first.start, stop, f"import {first.text} {self.target(line[1:])}")]

    def line_end(self, at: int) -> int:
        """Return the piece after the one that ends an import line: `;`, or the end of the line outside brackets."""
        depth, has_string = 0, False
        is_whole = self.pieces[at].text == "#include" or self.language in _ENDS_LINES
        for place in range(at + 1, len(self.pieces)):
            piece = self.pieces[place]
            waits = self.language == "javascript" and not has_string
            if is_whole and piece.is_first and depth == 0 and not waits:
                return place
            if piece.text == ";":
                return place + 1
            depth += (piece.text in "({") - (piece.text in ")}")
            has_string |= piece.kind == "string"
        return len(self.pieces)

    @staticmethod
    def paths(line: list[Lexeme]) -> list[Classed]:
        """Return the paths of an import of Go, each with the name before it."""
        found, start = [], line[0].start
        for number, piece in enumerate(line):
            if piece.kind == "string":
                found.append(Classed(start, piece.end, f"import import {piece.text}"))
                start = line[number + 1].start if number + 1 < len(line) else piece.end
        return found

    def target(self, line: list[Lexeme]) -> str:
        """Return what an import line names, without the names that its writer chose."""
        text = " ".join(piece.text for piece in line if piece.text != ";")
        text = re.sub(r"\bas \w+", "", text)
        if self.language == "javascript":
            braces = re.split(r"(\{[^}]*\}|'[^']*'|\"[^\"]*\")", text)
            text = "".join(re.sub(r"[^\W\d]\w*", "", part) if part[:1] not in "{'\"" else part for part in braces)
        text = re.sub(r"^.*= ", "", text)
        text = re.sub(r"[()]", "", text)
        text = re.sub(r"[\s,]+(?=\}|$)", "", text)
        return re.sub(r"(?<!\w)\s+|\s+(?!\w)", "", re.sub(r"\s+", " ", text.strip()))


def classes(text: str, language: str) -> Iterator[Classed]:
    """Yield all names, built-in types and import lines of a text, in order."""
    program = _Program(language, lexemes(text, language))
    at = 0
    while at < len(program.pieces):
        found = program.imports(at)
        if found is not None:
            at, tokens = found
            yield from tokens
            continue
        piece = program.pieces[at]
        if piece.kind == "word" and program.is_type(at):
            yield Classed(piece.start, piece.end, "type")
        elif program.is_name(at):
            yield Classed(piece.start, piece.end, program.class_of(at))
        at += 1
