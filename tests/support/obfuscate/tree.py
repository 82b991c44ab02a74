"""Reads a Java or C++ program into a tree of statements, and writes it again.

The reader knows blocks, the usual control statements, functions and classes; everything else stays a run of tokens.
Comments and layout are lost. Linear in the program. It is meant for programs in an ordinary style that compile:
a program it cannot read raises `UnreadableError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/
    | (?P<directive> (?:(?<=\n)|\A)[ \t]*\#(?:\\\n|[^\n])*)
    | (?P<string> (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+')
    | (?P<number> \.?\d(?:[eEpP][+-]|['\w.])*)
    | (?P<name> [A-Za-z_$]\w*)
    | (?P<sign> ->|::|\+\+|--|<<=|>>>=|>>=|[-+*/%&|^=!<>]=|&&|\|\||<<|>>>|>>|\.\.\.|.)""",
    re.VERBOSE | re.DOTALL,
)
CLOSING = {"(": ")", "[": "]", "{": "}"}
JUMPS = {"return", "break", "continue", "throw", "goto"}


class UnreadableError(ValueError):
    """A program outside the style that the rewriters know."""


@dataclass
class Simple:
    """A statement or member that ends with a semicolon, or a directive."""

    tokens: list[str]


@dataclass
class Block:
    """Statements in braces."""

    body: list[Node] = field(default_factory=list)


@dataclass
class If:
    """A condition without its parentheses, and one or two branches."""

    condition: list[str]
    then: Node
    otherwise: Node | None


@dataclass
class Loop:
    """A `for` or `while` statement with what stands in its parentheses."""

    word: str
    head: list[str]
    body: Node


@dataclass
class Parts:
    """Blocks with words before each, and words behind the last: try, do, synchronized."""

    parts: list[tuple[list[str], Block]]
    tail: list[str]


@dataclass
class Opaque:
    """Tokens that no rewriter looks into: switch, labels, initialisers."""

    tokens: list[str]


@dataclass
class Function:
    """A function or method with a body."""

    head: list[str]
    body: Block


@dataclass
class Type:
    """A class, struct or namespace with its members."""

    head: list[str]
    body: list[Node]
    tail: list[str]


Node: TypeAlias = "Simple | Block | If | Loop | Parts | Opaque | Function | Type"


def lexed(text: str) -> list[str]:
    """Return the tokens of a program; a directive is one token with its line."""
    tokens = []
    for match in TOKEN.finditer(text):
        if match.lastgroup:
            tokens.append(match[0].strip() if match.lastgroup == "directive" else match[0])
    return tokens


def is_name(token: str) -> bool:
    """Tell whether a token is a word."""
    return token[:1].isalpha() or token[:1] in {"_", "$"}


class Reader:
    """Reads tokens into nodes."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def here(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        """Take the next token, which must be the one wanted."""
        token = self.here
        if not token or (wanted and token != wanted):
            raise UnreadableError(f"token {self.at} is `{token}`, not `{wanted}`")
        self.at += 1
        return token

    def enclosed(self) -> list[str]:
        """Take a bracket and everything to the one that closes it; return what stands between."""
        start, open_ = self.at + 1, [CLOSING[self.take()]]
        while open_:
            token = self.take()
            if token in CLOSING:
                open_.append(CLOSING[token])
            elif token in CLOSING.values() and token != open_.pop():
                raise UnreadableError(f"token {self.at - 1} closes another bracket")
        return self.tokens[start : self.at - 1]

    def until(self, ends: str) -> list[str]:
        """Take tokens before one of some signs outside all brackets."""
        start = self.at
        while self.here not in ends:
            if self.here in CLOSING:
                self.enclosed()
            elif self.here in CLOSING.values():
                raise UnreadableError(f"token {self.at} closes nothing")
            else:
                self.take()
        if not self.here:
            raise UnreadableError("the program ends within a statement")
        return self.tokens[start : self.at]

    def members(self) -> list[Node]:
        """Read what stands in a file, class or namespace."""
        found: list[Node] = []
        while self.here and self.here != "}":
            found.append(self.member())
        return found

    def member(self) -> Node:
        """Read one declaration outside functions."""
        if self.here.startswith("#") or self.here == ";":
            return Simple([self.take()])
        start = self.at
        head = self.until(";{")
        while self.here == "{" and is_value(head):
            self.enclosed()
            head = [*self.tokens[start : self.at], *self.until(";{")]
        if self.here == ";":
            self.take()
            return Simple([*head, ";"])
        words = without_template(head)
        if "enum" in words or not words or words == ["static"]:
            self.enclosed()
            if self.is_tail():
                self.until(";")
                self.take()
            return Opaque(self.tokens[start : self.at])
        if {"class", "struct", "interface", "namespace", "union", "record"} & set(words) and "(" not in words:
            self.take("{")
            body = self.members()
            self.take("}")
            tail = [*self.until(";"), self.take()] if self.is_tail() else []
            return Type(head, body, tail)
        if "(" not in head:
            raise UnreadableError(f"`{' '.join(head)[:60]}` has a body and no parameters")
        return Function(head, self.block())

    def is_tail(self) -> bool:
        """Tell whether variables or a semicolon follow a class."""
        if self.here == ";":
            return True
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""
        return bool(self.here) and (is_name(self.here) or self.here == "*") and after in {";", "[", ","}

    def block(self) -> Block:
        """Read statements in braces."""
        self.take("{")
        found: list[Node] = []
        while self.here != "}":
            found.append(self.statement())
        self.take("}")
        return Block(found)

    def statement(self) -> Node:
        """Read one statement."""
        word = self.here
        if word == "{":
            return self.block()
        if word.startswith("#"):
            return Simple([self.take()])
        reader = getattr(self, f"_{word}", None) if is_name(word) else None
        if reader is not None:
            node: Node = reader()
            return node
        if word in {"class", "struct", "interface", "enum", "static", "abstract"} and self.is_type():
            return self.member()
        start = self.at
        self.until(";")
        self.take(";")
        return Simple(self.tokens[start : self.at])

    def is_type(self) -> bool:
        """Tell whether a class with a body begins here, and not a variable."""
        at = self.at
        while at < len(self.tokens) and self.tokens[at] not in {"{", ";", "(", "="}:
            at += 1
        return at < len(self.tokens) and self.tokens[at] == "{"

    def _if(self) -> Node:
        self.take("if")
        condition = self.enclosed()
        then = self.statement()
        otherwise = None
        if self.here == "else":
            self.take()
            otherwise = self.statement()
        return If(condition, then, otherwise)

    def _while(self) -> Node:
        word = self.take()
        return Loop(word, self.enclosed(), self.statement())

    _for = _while

    def _do(self) -> Node:
        head = [self.take("do")]
        body = self.statement()
        start = self.at
        self.until(";")
        self.take(";")
        return Parts([(head, body if isinstance(body, Block) else Block([body]))], self.tokens[start : self.at])

    def _try(self) -> Node:
        parts = []
        while self.here in {"try", "catch", "finally"}:
            start = self.at
            self.take()
            if self.here == "(":
                self.enclosed()
            parts.append((self.tokens[start : self.at], self.block()))
        return Parts(parts, [])

    def _synchronized(self) -> Node:
        start = self.at
        self.take()
        self.enclosed()
        return Parts([(self.tokens[start : self.at], self.block())], [])

    def _switch(self) -> Node:
        start = self.at
        self.take()
        self.enclosed()
        self.enclosed()
        return Opaque(self.tokens[start : self.at])


def is_value(head: list[str]) -> bool:
    """Tell whether the brace behind these tokens opens a value: an array or a lambda, not a body."""
    depth = 0
    for before, token in zip(["", *head], head, strict=False):
        depth += (token in "([") - (token in ")]")
        if token == "=" and not depth and before != "operator":
            return True
    return False


def without_template(head: list[str]) -> list[str]:
    """Drop `template <...>` from the beginning of a declaration."""
    if head[:1] != ["template"]:
        return head
    depth = 0
    for at, token in enumerate(head):
        depth += (token == "<") - len(token) * (not token.strip(">"))
        if at and not depth:
            return head[at + 1 :]
    return []


def parsed(text: str) -> list[Node]:
    """Return the members of a file."""
    reader = Reader(lexed(text))
    found = reader.members()
    if reader.here:
        raise UnreadableError(f"token {reader.at} `{reader.here}` closes nothing")
    return found


def flat(node: Node) -> Iterator[str]:
    """Yield the tokens of a node in order."""
    match node:
        case Simple(tokens) | Opaque(tokens):
            yield from tokens
        case Block(body):
            yield from ("{", *(token for one in body for token in flat(one)), "}")
        case If(condition, then, otherwise):
            yield from ("if", "(", *condition, ")", *flat(then))
            if otherwise is not None:
                yield from ("else", *flat(otherwise))
        case Loop(word, head, body):
            yield from (word, "(", *head, ")", *flat(body))
        case Parts(parts, tail):
            for words, block in parts:
                yield from (*words, *flat(block))
            yield from tail
        case Function(head, block):
            yield from (*head, *flat(block))
        case Type(head, members, tail):
            yield from (*head, "{", *(token for one in members for token in flat(one)), "}", *tail)


def written(nodes: list[Node]) -> str:
    """Return a program as text: a statement a line."""
    lines: list[str] = []
    line: list[str] = []
    level = parentheses = 0
    for token in (token for node in nodes for token in flat(node)):
        parentheses += (token in "([") - (token in ")]")
        level -= token == "}"
        if token.startswith("#") and line:
            lines.append("    " * level + " ".join(line))
            line = []
        line.append(token)
        if token.startswith("#") or (token in "{};" and parentheses <= 0):
            lines.append(("" if token.startswith("#") else "    " * level) + " ".join(line))
            line = []
        level += token == "{"
    return "\n".join([*lines, " ".join(line)]).rstrip() + "\n"


def blocks(nodes: list[Node]) -> Iterator[list[Node]]:
    """Yield the statement lists of all functions, outer before inner."""
    for node in nodes:
        match node:
            case Function(_, block):
                yield from within(block)
            case Type(_, body, _):
                yield from blocks(body)


def within(node: Node | None) -> Iterator[list[Node]]:
    """Yield the statement lists inside a statement, outer before inner."""
    match node:
        case Block(body):
            yield body
            for one in body:
                yield from within(one)
        case If(_, then, otherwise):
            yield from within(then)
            yield from within(otherwise)
        case Loop(_, _, body):
            yield from within(body)
        case Parts(parts, _):
            for _, block in parts:
                yield from within(block)
        case Type(_, members, _):
            yield from blocks(members)


def completes(node: Node) -> bool:
    """Tell whether a statement may follow this one; a doubtful case is no."""
    match node:
        case Simple(tokens):
            return tokens[0] not in JUMPS and not tokens[0].startswith("#")
        case Block(body):
            return all(map(completes, body))
        case If(_, then, otherwise):
            return otherwise is None or completes(then) or completes(otherwise)
        case Loop(word, head, _):
            return not is_endless(word, head)
        case Parts(parts, _):
            return all(completes(block) for _, block in parts)
    return False


def is_endless(word: str, head: list[str]) -> bool:
    """Tell whether a loop has no condition or a constant one."""
    if word == "for":
        if head.count(";") != 2:
            return False
        first = head.index(";") + 1
        head = head[first : head.index(";", first)]
    return head in ([], ["true"], ["1"])
