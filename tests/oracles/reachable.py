"""Which tokens of a program cannot run, computed slowly: Python with its own parser, Java by matching braces.

A token belongs to the innermost definition around it; the file is a definition too. Definitions become reachable, one
at a time, until none is left whose rule holds:

* a file, a `main` of Java, and what something outside calls, with every definition around it;
* inside a reachable definition: code that runs with the code around it; a function or class whose name reachable code
  uses, and for a method of Python the name of its class too; a method that may override one of a library.

A name is used where it stands in code, or in a string literal that holds no blank or interpolated code. Methods of Java
are used by calls, method references and strings only.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

LEAST = 60
ANALYSED, NO_ENTRY = "analysed", "not analysed: no entry point"
TOO_LITTLE = "not analysed: fewer than 60 tokens can be reached"
COMPUTED = "not analysed: the code finds other code by computed names"


@dataclass(eq=False)
class Definition:
    """A stretch of a file, by characters, and what makes it reachable."""

    start: int
    end: int
    parent: Definition | None
    name: str = ""
    #: "named", "called", "implied", "outside" or "main".
    rule: str = "named"
    owner: str = ""
    needs_owner: bool = False
    overrides: bool = False
    is_class: bool = False
    uses: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)


@dataclass
class Outline:
    """A file: itself first, then its definitions; classes with their supertypes; whether its outermost code acts."""

    definitions: list[Definition]
    supertypes: list[tuple[str, str]] = field(default_factory=list)
    acts: bool = False

    def innermost(self, at: int) -> Definition:
        """Return the definition that a character belongs to."""
        return min(
            (one for one in self.definitions if one.start <= at < one.end or one.parent is None),
            key=lambda one: (one.end - one.start, -self.definitions.index(one)),
        )


def swept(files: Sequence[Outline], spans: Sequence[Sequence[int]], computed: set[str]) -> tuple[list[list[bool]], str]:
    """Return whether each token cannot run, given where tokens begin, and the reason if that is not known."""
    everything = [[False] * len(starts) for starts in spans]
    outermost = {one.name for file in files for one in file.definitions[1:] if one.parent is file.definitions[0]} - {""}
    begins = [
        any(one.rule == "main" for one in file.definitions)
        or (file.acts and (not outermost or bool(outermost & file.definitions[0].uses)))
        for file in files
    ]
    if not any(begins):
        return everything, NO_ENTRY
    reachable = reached(files)
    used = set().union(*(one.uses for one in reachable))
    if used & computed:
        return everything, COMPUTED
    dead = [[file.innermost(at) not in reachable for at in starts] for file, starts in zip(files, spans, strict=True)]
    if sum(not one for marks in dead for one in marks) < LEAST:
        return everything, TOO_LITTLE
    return dead, ANALYSED


def reached(files: Sequence[Outline]) -> set[Definition]:
    """Return the definitions that are reachable."""
    every = [one for file in files for one in file.definitions]
    foreign = foreign_classes(files)
    found = {one for one in every if one.rule in {"outside", "main"}}
    found |= {around for one in found for around in chain(one)}
    while True:
        used, called = (set().union(*(getattr(one, names) for one in found)) for names in ("uses", "calls"))
        more = set()
        for one in every:
            overrides = one.overrides and one.owner in foreign
            owned = not one.needs_owner or overrides or one.owner in used
            names = called if one.rule == "called" else used
            wanted = one.rule == "implied" or overrides or one.name in names
            if one not in found and one.parent in found and owned and wanted:
                more.add(one)
        if not more:
            return found
        found |= more


def chain(one: Definition) -> Iterator[Definition]:
    """Yield the definitions around one."""
    while one.parent is not None:
        one = one.parent
        yield one


def foreign_classes(files: Sequence[Outline]) -> set[str]:
    """Return classes with a supertype that no file defines, directly or through other classes."""
    own = {one.name for file in files for one in file.definitions if one.is_class}
    edges = [edge for file in files for edge in file.supertypes]
    found = {one for one, above in edges if above not in own}
    while more := {one for one, above in edges if above in found} - found:
        found |= more
    return found


def words(literal: str) -> set[str]:
    """Return the names in a string literal."""
    opening = re.search("[\"'`]", literal)
    inside = literal[opening.start() :] if opening else literal
    prefix = literal[: opening.start()] if opening else ""
    code = inside.startswith("`") or bool(set(prefix) & set("fFtT"))
    if not code and re.search(r"\s", inside):
        return set()
    return set(re.findall(r"(?<![\w$\\%])[^\W\d][\w$]*|(?<![\w$\\%])\$[\w$]*", inside))


def names(text: str) -> set[str]:
    """Return the words of a text."""
    return set(text.split())


HARMLESS_BASES = names(
    "object ABC Enum IntEnum StrEnum Flag IntFlag NamedTuple TypedDict Generic Protocol BaseException"
)
HARMLESS_DECORATORS = names(
    "staticmethod classmethod property setter getter deleter cached_property abstractmethod cache lru_cache wraps "
    "total_ordering dataclass contextmanager override overload final jit njit"
)
PYTHON_COMPUTED = names("getattr globals locals vars exec")
ACTS = (ast.Expr, ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.Assert)


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is nothing but a string."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.JoinedStr) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str | bytes)
    )


class Places:
    """Places of nodes as characters of the text."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def byte(self, row: int, column: int) -> int:
        """Return the character of a row from 1 and a column in bytes."""
        return self.starts[row - 1] + len(self.lines[row - 1].encode()[:column].decode())

    def of(self, node: ast.AST) -> tuple[int, int]:
        """Return the first character of a node and the one after its last."""
        one = node.lineno, node.col_offset  # type: ignore[attr-defined]
        return self.byte(*one), self.byte(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def last_word(node: ast.expr) -> str:
    """Return the last name of `a.b(…)[…]` before its brackets."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else " "


class PythonOutline(ast.NodeVisitor):
    """The definitions of a Python file."""

    def __init__(self, text: str) -> None:
        self.places = Places(text)
        self.open = [Definition(0, len(text), None, rule="outside")]
        self.outline = Outline([self.open[0]])
        self.declared: set[int] = set()
        self.remarks: set[int] = set()
        tree = ast.parse(text)
        for statement in tree.body:
            self.outline.acts |= isinstance(statement, ACTS) and not is_text(statement)
        self.visit(tree)

    def define(self, node: ast.AST, parent: Definition | None = None, **what: object) -> Definition:
        """Add a definition."""
        one = Definition(*self.places.of(node), parent or self.open[-1], **what)  # type: ignore[arg-type]
        self.outline.definitions.append(one)
        return one

    def inside(self, one: Definition, node: ast.AST) -> None:
        """Visit what a definition holds."""
        self.open.append(one)
        self.generic_visit(node)
        self.open.pop()

    def decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
        """Read decorators; return whether something outside may act on one."""
        for decorator in node.decorator_list:
            one = self.define(decorator, rule="implied")
            one.start -= 1
            self.inside(one, decorator)
        return any(last_word(one) not in HARMLESS_DECORATORS for one in node.decorator_list)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        decorated = self.decorated(node)
        if decorated:
            self.outline.supertypes.append((node.name, " outside"))
        for base in node.bases:
            word = last_word(base)
            if not (word.endswith(("Error", "Exception", "Warning")) or word in HARMLESS_BASES):
                self.outline.supertypes.append((node.name, word))
        one = self.define(node, name=node.name, owner=node.name, rule="implied", is_class=True)
        self.declared.add(one.start + len("class "))
        node.decorator_list = []
        self.inside(one, node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorated = self.decorated(node)
        around = self.open[-1]
        is_method = around.is_class
        dunder = node.name.startswith("__") and node.name.endswith("__")
        rule = "outside" if node.name.startswith("test") else "implied" if decorated or dunder else "named"
        owner = around.name if is_method else ""
        one = self.define(node, name=node.name, rule=rule, owner=owner, needs_owner=is_method, overrides=is_method)
        node.decorator_list = []
        arguments = node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        late = zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True)
        for argument, value in [*late, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]:
            if isinstance(value, ast.Call):
                default = self.define(value, around, rule="implied")
                default.start = self.places.of(argument)[0]
        self.inside(one, node)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.define(node, rule="implied")

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_Expr(self, node: ast.Expr) -> None:
        if is_text(node):
            self.remarks.add(self.places.of(node.value)[0])
        self.generic_visit(node)


def python_outline(text: str) -> Outline:
    """Return the outline of a Python file with the names that its definitions use."""
    made = PythonOutline(text)
    lines = made.places.starts
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    literals = list(string_ranges(tokens, lines))
    alone = {start for start, end in literals if start in made.remarks and is_whole(text, end)}
    for start, end in literals:
        if start not in alone:
            made.outline.innermost(start).uses |= words(text[start:end])
    for token in tokens:
        at = lines[token.start[0] - 1] + token.start[1]
        inside = any(start <= at < end for start, end in literals)
        is_name = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
        if is_name and not inside and at not in made.declared:
            made.outline.innermost(at).uses.add(token.string)
    return made.outline


def is_whole(text: str, end: int) -> bool:
    """Whether a statement ends where a string ends."""
    return re.match(r"[ \t]*(#|;|\r?\n|$)", text[end:]) is not None


def string_ranges(tokens: Sequence[tokenize.TokenInfo], lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first character of each string literal and the one after its last, outermost ones only."""
    depth, first = 0, 0
    opening = {getattr(tokenize, name, -1) for name in ("FSTRING_START", "TSTRING_START")} - {-1}
    closing = {getattr(tokenize, name, -1) for name in ("FSTRING_END", "TSTRING_END")} - {-1}
    for token in tokens:
        start, end = (lines[row - 1] + column for row, column in (token.start, token.end))
        if token.type == tokenize.STRING and depth == 0:
            yield start, end
        if token.type in opening:
            first = first if depth else start
            depth += 1
        if token.type in closing:
            depth -= 1
            if depth == 0:
                yield first, end


CALLED_BACK = names(
    "equals hashCode toString clone finalize compareTo compare run call iterator hasNext next close get accept apply "
    "test getMessage readObject writeObject readResolve"
)
HARMLESS_TYPES = names(
    "Object Runnable Thread Callable Comparable Comparator Iterable Iterator Serializable Cloneable Closeable "
    "AutoCloseable Throwable Error Exception RuntimeException Supplier Consumer Function Predicate"
)
HARMLESS_NOTES = names("Override SuppressWarnings SafeVarargs Deprecated FunctionalInterface Nullable NonNull NotNull")
JAVA_COMPUTED = names("getMethod getMethods getDeclaredMethod getDeclaredMethods")
JAVA_WORDS = names(
    "abstract assert boolean break byte case catch char class const continue default do double else enum extends final "
    "finally float for if implements import instanceof int interface long native new package private protected public "
    "return short static super switch synchronized this throw throws transient try void volatile while true false "
    "null"
)
JAVA_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[\w$]+|::|\S", re.DOTALL)


class JavaOutline:
    """The definitions of a Java file: classes and their methods, found by words and braces."""

    def __init__(self, text: str) -> None:
        found = [match for match in JAVA_TOKEN.finditer(text) if not match.group().startswith(("//", "/*"))]
        self.words = [match.group() for match in found]
        self.starts = [match.start() for match in found]
        self.ends = [match.end() for match in found]
        file = Definition(0, len(text), None, rule="outside")
        self.outline = Outline([file])
        self.members(0, len(self.words), file)
        for at, word in enumerate(self.words):
            user = self.outline.innermost(self.starts[at])
            if word.startswith('"'):
                user.uses |= words(word)
                user.calls |= words(word)
            elif re.match(r"[^\W\d]|\$", word) and word not in JAVA_WORDS:
                user.uses.add(word)
                before, after = self.words[at - 1] if at else "", [*self.words, ""][at + 1]
                user.calls |= {word} if after == "(" or before == "::" else set()

    def close(self, at: int) -> int:
        """Return the brace that closes the one at a token."""
        depth = 0
        while True:
            depth += {"{": 1, "}": -1}.get(self.words[at], 0)
            if depth == 0:
                return at
            at += 1

    def members(self, at: int, end: int, around: Definition) -> None:
        """Read what stands in a file or a class, from one token to another."""
        if around.is_class and self.words[around.kind_at] == "enum":  # type: ignore[attr-defined]
            while at < end and self.words[at] != ";":
                at = self.close(at) if self.words[at] == "{" else at
                at += 1
        while at < end:
            first = at
            while at < end and self.words[at] not in {"{", ";", "="}:
                at += 1
            if at == end:
                return
            head = self.words[first:at]
            if self.words[at] == "=":
                while self.words[at] != ";":
                    at = self.close(at) if self.words[at] == "{" else at
                    at += 1
            kind = next((i for i, word in enumerate(head) if word in {"class", "interface", "enum"}), None)
            last = self.close(at) if self.words[at] == "{" else at
            if kind is not None and self.words[at] == "{":
                self.klass(first, first + kind, at, last, around)
            elif around.is_class and "(" in head:
                self.method(first, at, last, around)
            at = last + 1

    def notes(self, first: int, end: int) -> set[str]:
        """Return the annotations of a declaration."""
        return {self.words[i + 1] for i in range(first, end) if self.words[i] == "@"}

    def klass(self, first: int, kind: int, opening: int, last: int, around: Definition) -> None:
        """Add a class and read its members."""
        name = self.words[kind + 1]
        noted = bool(self.notes(first, kind) - HARMLESS_NOTES)
        if noted:
            self.outline.supertypes.append((name, " outside"))
        depth, above = 0, False
        for i in range(kind + 2, opening):
            word = self.words[i]
            depth += {"<": 1, ">": -1}.get(word, 0)
            above |= word in {"extends", "implements"} and depth == 0
            is_type = above and depth == 0 and re.match(r"\w", word) and self.words[i + 1] != "."
            if is_type and word not in JAVA_WORDS | HARMLESS_TYPES:
                self.outline.supertypes.append((name, word))
        one = Definition(self.starts[first], self.ends[last], around, name, owner=name, is_class=True)
        one.rule = "outside" if noted else "named"
        one.kind_at = kind  # type: ignore[attr-defined]
        self.outline.definitions.append(one)
        self.members(opening + 1, last, one)

    def method(self, first: int, opening: int, last: int, around: Definition) -> None:
        """Add a method, if it is no constructor, and the classes in it."""
        bracket = next(i for i in range(first, opening) if self.words[i] == "(" and self.words[i - 2] != "@")
        name = self.words[bracket - 1]
        if name == around.name:
            return
        notes = self.notes(first, bracket)
        rule = "implied" if "Override" in notes or name in CALLED_BACK else "called"
        rule = "main" if name == "main" else "outside" if notes - HARMLESS_NOTES else rule
        one = Definition(self.starts[first], self.ends[last], around, name, rule=rule, owner=around.name)
        one.overrides = not {"static", "private"} & set(self.words[first:bracket])
        self.outline.definitions.append(one)
        at = opening + 1
        while at < last:
            if self.words[at] == "class" and self.words[at - 1] != ".":
                start = next(i for i in range(at, last) if self.words[i] == "{")
                self.klass(at, at, start, self.close(start), one)
                at = self.close(start)
            at += 1


def java_outline(text: str) -> Outline:
    """Return the outline of a Java file."""
    return JavaOutline(text).outline


def dead(language: str, texts: Sequence[str], spans: Sequence[Sequence[int]]) -> tuple[list[list[bool]], str]:
    """Return whether each token of each file cannot run, and "analysed" or why that is not known."""
    outline, computed = {"python": (python_outline, PYTHON_COMPUTED), "java": (java_outline, JAVA_COMPUTED)}[language]
    assert all(one <= other for starts in spans for one, other in pairwise(starts))
    return swept([outline(text) for text in texts], spans, computed)
