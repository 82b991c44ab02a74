"""Finds declarations and the names they bind in statements of Java and C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from support.obfuscate.tree import Block, Function, If, Loop, Node, Parts, Simple, Type, flat, is_name

PRIMITIVE = {"int", "long", "short", "byte", "char", "float", "double", "boolean", "bool", "unsigned", "signed"}
#: Words that begin no declaration, and are no variable.
KEYWORDS = re.findall(
    r"\w+",
    "return break continue throw goto new delete else case default if for while do switch try catch finally "
    "using typedef template operator sizeof this super null nullptr true false assert instanceof package "
    "import class struct enum interface public private protected extern namespace friend static_cast yield "
    "void extends implements throws synchronized union",
)
MODIFIERS = {"final", "const", "static", "public", "private", "protected", "volatile", "transient", "constexpr"}
ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>="}


@dataclass(frozen=True)
class Variable:
    """A declared variable: brackets behind its name, and the tokens of its value."""

    name: str
    brackets: tuple[str, ...]
    #: Empty where it is not known.
    value: tuple[str, ...] | None
    #: `T a(n)` and not `T a = n`.
    is_built: bool = False


@dataclass(frozen=True)
class Declaration:
    """A type with its modifiers, and the variables of it."""

    modifiers: tuple[str, ...]
    type: tuple[str, ...]
    variables: tuple[Variable, ...]

    @property
    def names(self) -> set[str]:
        """Names of the variables."""
        return {one.name for one in self.variables}


def type_end(tokens: list[str], at: int) -> int:
    """Return where the type that begins here ends; the beginning itself if none does."""
    start = at
    if at >= len(tokens) or not is_name(tokens[at]) or tokens[at] in KEYWORDS:
        return start
    while at < len(tokens) and tokens[at] in PRIMITIVE and at + 1 < len(tokens) and tokens[at + 1] in PRIMITIVE:
        at += 1
    at += 1
    while at + 1 < len(tokens) and tokens[at] in {".", "::"} and is_name(tokens[at + 1]):
        at += 2
    if at < len(tokens) and tokens[at] == "<":
        at = _arguments_end(tokens, at)
        if not at:
            return start
    while tokens[at : at + 2] == ["[", "]"]:
        at += 2
    while at < len(tokens) and tokens[at] in {"*", "&"}:
        at += 1
    return at


def split(tokens: list[str], sign: str = ",") -> list[list[str]]:
    """Cut tokens at a sign outside brackets and outside type arguments."""
    parts: list[list[str]] = [[]]
    depth, closed = 0, 0
    for at, token in enumerate(tokens):
        if token == "<" and at >= closed and is_name(tokens[at - 1] if at else ""):
            end = _arguments_end(tokens, at)
            closed = max(closed, end)
        depth += (token in "([{") - (token in ")]}")
        if token == sign and depth <= 0 and at >= closed:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _arguments_end(tokens: list[str], at: int) -> int:
    """Return where the type arguments that open here end; 0 if `<` is a comparison."""
    depth = 0
    for end in range(at, len(tokens)):
        token = tokens[end]
        depth += (token == "<") - len(token) * (not token.strip(">"))
        if depth <= 0:
            return end + 1
        if not (is_name(token) or token in {"<", ",", "?", "[", "]", ".", "::", "*"}):
            return 0
    return 0


def declaration(tokens: list[str]) -> Declaration | None:
    """Read a statement of tokens that ends with a semicolon as a declaration of variables."""
    at = 0
    while at < len(tokens) and tokens[at] in MODIFIERS:
        at += 1
    end = type_end(tokens, at)
    if end == at or end >= len(tokens) or not is_name(tokens[end]) or tokens[end] in KEYWORDS:
        return None
    variables = []
    for part in split(tokens[end : len(tokens) - (tokens[-1] == ";")]):
        variable = _variable(part)
        if variable is None:
            return None
        variables.append(variable)
    return Declaration(tuple(tokens[:at]), tuple(tokens[at:end]), tuple(variables))


def _variable(tokens: list[str]) -> Variable | None:
    if not tokens or not is_name(tokens[0]) or tokens[0] in KEYWORDS:
        return None
    at, depth = 1, 0
    while at < len(tokens) and (depth or tokens[at] == "["):
        depth += (tokens[at] == "[") - (tokens[at] == "]")
        at += 1
    name, brackets, rest = tokens[0], tuple(tokens[1:at]), tokens[at:]
    if not rest:
        return Variable(name, brackets, None)
    if rest[0] == "=" and len(rest) > 1:
        return Variable(name, brackets, tuple(rest[1:]))
    if rest[0] == "(" and rest[-1] == ")" and len(rest) > 2:
        return Variable(name, brackets, tuple(rest[1:-1]), True)
    return None


def parameters(head: list[str]) -> list[tuple[tuple[str, ...], str]] | None:
    """Return types and names of a function's parameters; None where they are not plain."""
    inside, _ = arguments(head, head.index("("))
    found = []
    for part in inside:
        words = [token for token in part if token not in {"final", "const"}]
        end = type_end(words, 0)
        if end == 0 or end >= len(words) or not is_name(words[end]):
            return None
        brackets = words[end + 1 :]
        if any(token not in {"[", "]"} for token in brackets):
            return None
        found.append(((*words[:end], *brackets), words[end]))
    return found


def arguments(tokens: list[str], at: int) -> tuple[list[list[str]], int]:
    """Return what stands in the parentheses that open here, cut at commas, and where they end."""
    depth, end = 0, at
    while end < len(tokens):
        depth += (tokens[end] == "(") - (tokens[end] == ")")
        end += 1
        if not depth:
            break
    inside = tokens[at + 1 : end - 1]
    return (split(inside) if inside else []), end


def function_name(head: list[str]) -> str:
    """Return the name before the parameters."""
    return head[head.index("(") - 1]


def functions(nodes: list[Node]) -> Iterator[Function]:
    """Yield all functions of a program."""
    for node in nodes:
        if isinstance(node, Function):
            yield node
        elif isinstance(node, Type):
            yield from functions(node.body)


def bound(node: Node) -> Iterator[Declaration]:
    """Yield the declarations of variables in a statement, those of loops included."""
    match node:
        case Simple(tokens):
            found = declaration(tokens)
            if found is not None:
                yield found
        case Block(body):
            for one in body:
                yield from bound(one)
        case If(_, then, otherwise):
            yield from bound(then)
            if otherwise is not None:
                yield from bound(otherwise)
        case Loop(word, head, body):
            if word == "for":
                yield from _of_loop(head)
            yield from bound(body)
        case Parts(parts, _):
            for words, block in parts:
                if words[0] == "catch" and len(words) > 4:
                    yield Declaration((), tuple(words[2:-2]), (Variable(words[-2], (), ()),))
                yield from bound(block)


def _of_loop(head: list[str]) -> Iterator[Declaration]:
    """Yield what the head of a `for` declares; the variable of a for-each has a value, which is not known."""
    parts = split(split(head, ";")[0], ":")
    found = declaration(parts[0])
    if found is not None and len(parts) == 2:
        found = Declaration(found.modifiers, found.type, (Variable(found.variables[0].name, (), ()),))
    if found is not None:
        yield found


def assigned(tokens: list[str]) -> set[str]:
    """Return names that tokens may change: before an assignment, or beside an increment."""
    found = set()
    for at, token in enumerate(tokens):
        if token in {"++", "--"}:
            found |= {one for one in tokens[max(0, at - 1) : at + 2] if is_name(one)}
            if at and tokens[at - 1] == "]":
                found.add(_base(tokens, at - 1))
        elif token in ASSIGNING and at:
            found.add(_base(tokens, at - 1))
        elif token == ">>" or (
            token == "&" and at and not is_name(tokens[at - 1]) and tokens[at - 1] not in {")", "]"}
        ):
            found |= {one for one in tokens[at + 1 : at + 2] if is_name(one)}
    return found - {""}


def _base(tokens: list[str], at: int) -> str:
    """Return the variable of an expression such as `a[i][j]` or `a.b` that ends here."""
    while at >= 0:
        if tokens[at] == "]":
            depth = 0
            while at >= 0:
                depth += (tokens[at] == "]") - (tokens[at] == "[")
                at -= 1
                if not depth:
                    break
        elif is_name(tokens[at]) and at and tokens[at - 1] in {".", "->"}:
            at -= 2
        else:
            return tokens[at] if is_name(tokens[at]) else ""
    return ""


def names(node: Node) -> set[str]:
    """Return all words of a node that are no keywords."""
    return {token for token in flat(node) if is_name(token)} - set(KEYWORDS)
