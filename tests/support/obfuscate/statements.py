"""Rewrites statements of Java and C++ programs: order, dead code, declarations, loops, conditions, constants.

Each rewriter changes a tree in place. Two statements are taken for independent only if one of them merely declares or
computes local variables that the other does not name; calls keep their order.
"""

from __future__ import annotations

from random import Random

from support.obfuscate.dead import Dead, Names
from support.obfuscate.declarations import (
    KEYWORDS,
    MODIFIERS,
    PRIMITIVE,
    Declaration,
    assigned,
    bound,
    declaration,
    function_name,
    functions,
    names,
    parameters,
    split,
)
from support.obfuscate.tree import (
    Block,
    Function,
    If,
    Loop,
    Node,
    Opaque,
    Parts,
    Simple,
    Type,
    blocks,
    completes,
    flat,
    is_name,
    parsed,
)

#: Types whose variables may stand without a value first in C++.
PLAIN = PRIMITIVE | {"string", "ll", "ld"}


#: Methods that classes of the library call by name.
KNOWN = {
    "compare",
    "compareTo",
    "run",
    "call",
    "apply",
    "accept",
    "test",
    "get",
    "next",
    "hasNext",
    "iterator",
    "close",
}
KNOWN |= {"equals", "hashCode", "toString", "read", "write", "remove"}


def braced(nodes: list[Node]) -> None:
    """Put braces around every body of one statement."""
    for body in blocks(nodes):
        for node in body:
            brace(node)


def brace(node: Node) -> None:
    """Put braces around the bodies of one statement."""
    match node:
        case If(_, then, otherwise):
            node.then = then if isinstance(then, Block) else Block([then])
            if otherwise is not None and not isinstance(otherwise, Block):
                node.otherwise = Block([otherwise])
        case Loop(_, _, body):
            node.body = body if isinstance(body, Block) else Block([body])
    for part in _bodies(node):
        for one in part.body:
            brace(one)


def _bodies(node: Node) -> list[Block]:
    match node:
        case If(_, then, otherwise):
            found = [then, otherwise]
        case Loop(_, _, body):
            found = [body]
        case Parts(parts, _):
            found = [block for _, block in parts]
        case Block():
            found = [node]
        case _:
            found = []
    return [one for one in found if isinstance(one, Block)]


def bury(nodes: list[Node], random: Random, language: str, share: float) -> None:
    """Put a dead statement behind a share of the statements."""
    braced(nodes)
    dead = Dead(language, random, Names(all_names(nodes), random))
    for body in blocks(nodes):
        dead.block()
        after: list[Node] = []
        for node in body:
            after.append(node)
            if isinstance(node, Simple) and node.tokens[0].startswith("#"):
                dead.block()  # What comes before a directive may be left out of the program.
            if completes(node) and random.random() < share:
                after += statement(dead.statement())
        body[:] = after


def statement(text: str) -> list[Node]:
    """Read statements from text."""
    (function,) = parsed(f"void f() {{ {text} }}")
    assert isinstance(function, Function)
    return function.body.body


def all_names(nodes: list[Node]) -> set[str]:
    """Return all words of a program, those in directives included."""
    words = {token for node in nodes for token in flat(node)}
    return {word for token in words for word in (token.replace("(", " ").split() if token[0] == "#" else [token])}


def add_functions(nodes: list[Node], random: Random, language: str) -> None:
    """Add functions that nobody calls, at least three and as many as there are."""
    dead = Dead(language, random, Names(all_names(nodes), random))
    place = nodes
    if language == "java":
        types = [node for node in nodes if isinstance(node, Type) and not {"interface", "record"} & set(node.head)]
        if not types:
            return
        place = max(types, key=lambda one: len(list(flat(one)))).body
    first = next((at for at, node in enumerate(place) if isinstance(node, Function)), len(place))
    for _ in range(max(3, len(list(functions(nodes))))):
        place.insert(random.randrange(first, len(place) + 1), *parsed(dead.function()))


def shuffle(nodes: list[Node], random: Random) -> None:
    """Take statements that stand side by side in another order where they are independent."""
    for function in functions(nodes):
        local = {name for one in bound(function.body) for name in one.names if is_scalar(one, name)}
        local |= {name for type_, name in parameters(function.head) or [] if len(type_) == 1 and type_[0] in PRIMITIVE}
        for body in blocks([function]):
            after: list[Node] = []
            for node in body:
                at = len(after)
                while at and independent(after[at - 1], node, local):
                    at -= 1
                after.insert(random.randrange(at, len(after) + 1) if at < len(after) else at, node)
            body[:] = after


def is_scalar(found: Declaration, name: str) -> bool:
    """Tell whether a variable is a plain number or truth value."""
    plain = not set(found.type) - PRIMITIVE and not set(found.modifiers) - {"final", "const"}
    return plain and all(not one.brackets for one in found.variables if one.name == name)


def independent(left: Node, right: Node, local: set[str]) -> bool:
    """Tell whether two statements may change places."""
    if not (isinstance(left, Simple) and isinstance(right, Simple)):
        return False
    if any(not is_plain(node.tokens) for node in (left, right)):
        return False
    if not (is_pure(left.tokens, local) or is_pure(right.tokens, local)):
        return False
    written = [changes(node.tokens) for node in (left, right)]
    return not (written[0] & names(right) or written[1] & names(left))


def is_plain(tokens: list[str]) -> bool:
    """Tell whether a statement is an expression or a declaration without a body inside."""
    return tokens[0] not in KEYWORDS and not tokens[0].startswith("#") and not {"{", ":", "->"} & set(tokens)


def is_pure(tokens: list[str], local: set[str]) -> bool:
    """Tell whether a statement only computes with local numbers."""
    found = declaration(tokens)
    if found is not None and set(found.type) - PRIMITIVE:
        return False
    words = {token for token in tokens if is_name(token)} - PRIMITIVE - {"true", "false", "final", "const"}
    return words <= local and not {"(", "[", "."} & set(tokens)


def changes(tokens: list[str]) -> set[str]:
    """Return names that a statement declares or changes."""
    found = declaration(tokens)
    return assigned(tokens) | (found.names if found is not None else set())


def split_declarations(nodes: list[Node], language: str) -> None:
    """Give each variable a declaration of its own, and its value in another statement."""
    for body in blocks(nodes):
        body[:] = [one for node in body for one in _split(node, language)]


def _split(node: Node, language: str) -> list[Node]:
    found = declaration(node.tokens) if isinstance(node, Simple) else None
    if found is None or found.modifiers or found.type[0] in {"auto", "var"} or set(found.type) & {"&", "*"}:
        return [node]
    if language == "cpp" and (set(found.type) - PLAIN or any(one.is_built for one in found.variables)):
        return [node]
    after: list[Node] = []
    for one in found.variables:
        head = [*found.type, one.name, *one.brackets]
        if one.value is None or one.value[0] == "{":
            after.append(Simple([*head, *(("=", *one.value) if one.value else ()), ";"]))
        else:
            after += [Simple([*head, ";"]), Simple([one.name, "=", *one.value, ";"])]
    return after


def join_declarations(nodes: list[Node]) -> None:
    """Join declarations of one type that follow each other, and a declaration with the assignment behind it."""
    for body in blocks(nodes):
        after: list[Node] = []
        for node in body:
            joined = _joined(after[-1], node) if after else None
            if joined is None:
                after.append(node)
            else:
                after[-1] = joined
        body[:] = after


def _joined(left: Node, right: Node) -> Node | None:
    if not (isinstance(left, Simple) and isinstance(right, Simple)):
        return None
    one, other = declaration(left.tokens), declaration(right.tokens)
    if one is None or set(one.type) & {"&", "*", "auto", "var"}:
        return None
    if other is not None and (one.modifiers, one.type) == (other.modifiers, other.type):
        return Simple([*left.tokens[:-1], ",", *right.tokens[len(one.modifiers) + len(one.type) :]])
    last = one.variables[-1]
    is_value = right.tokens[:2] == [last.name, "="] and last.value is None and not last.brackets
    if is_value and len(split(right.tokens)) == 1 and last.name not in right.tokens[2:]:
        return Simple([*left.tokens[:-1], *right.tokens[1:]])
    return None


def turn_loops(nodes: list[Node]) -> None:
    """Write `for` as `while` and `while` as `for`."""
    for body in list(blocks(nodes)):
        body[:] = [_turned(node) for node in body]
    braced(nodes)


def _turned(node: Node) -> Node:
    match node:
        case If(_, then, otherwise):
            node.then = _turned(then)
            node.otherwise = None if otherwise is None else _turned(otherwise)
        case Loop("while", head, body):
            return Loop("for", [";", *head, ";"], body if isinstance(body, Block) else _turned(body))
        case Loop("for", head, body):
            inner = body if isinstance(body, Block) else Block([_turned(body)])
            node.body = inner
            if head.count(";") == 2 and "continue" not in flat(body) and completes(inner) and ":" not in head:
                return _as_while(head, inner) or node
    return node


def _as_while(head: list[str], body: Block) -> Node | None:
    start, condition, step = split(head, ";")
    if {name for one in body.body for found in _own(one) for name in found.names} & set(step):
        return None
    steps: list[Node] = [Simple([*one, ";"]) for one in split(step) if one]
    whole = start and [*start, ";"]
    starts: list[Node] = []
    if whole:
        starts = [Simple(whole)] if declaration(whole) else [Simple([*one, ";"]) for one in split(start)]
    return Block([*starts, Loop("while", condition or ["true"], Block([*body.body, *steps]))])


def _own(node: Node) -> list[Declaration]:
    return list(bound(node)) if isinstance(node, Simple) else []


def invert(nodes: list[Node]) -> None:
    """Negate every condition of an if, and change its branches."""
    braced(nodes)
    for body in blocks(nodes):
        for node in body:
            if isinstance(node, If) and ";" not in node.condition:
                node.condition = ["!", "(", *node.condition, ")"]
                node.then, node.otherwise = node.otherwise or Block(), node.then


def spell_constants(nodes: list[Node], random: Random) -> None:
    """Write whole numbers in functions as sums, differences or products."""
    for function in functions(nodes):
        spell(function.body, random)


def spell(node: Node, random: Random) -> None:
    """Write the whole numbers of one statement otherwise."""
    match node:
        case Simple(tokens):
            node.tokens = _spelt(tokens, random)
        case If(condition, _, _):
            node.condition = _spelt(condition, random)
            if not isinstance(node.then, Block):
                spell(node.then, random)
            if node.otherwise is not None and not isinstance(node.otherwise, Block):
                spell(node.otherwise, random)
        case Loop(_, head, body):
            node.head = _spelt(head, random)
            if not isinstance(body, Block):
                spell(body, random)
    for part in _bodies(node):
        for one in part.body:
            spell(one, random)


def _spelt(tokens: list[str], random: Random) -> list[str]:
    after = []
    for token in tokens:
        if not (token.isdigit() and len(token) < 9 and (token == "0" or token[0] != "0")) or token == "0":
            after.append(token)
            continue
        other = random.randrange(1, 40)
        value = int(token)
        kinds = [[str(value + other), "-", str(other)]]
        kinds += [[str(other), "+", str(value - other)]] if value > other else []
        kinds += [[str(value // 2), "*", "2"]] if value % 2 == 0 else []
        after += ["(", *random.choice(kinds), ")"]
    return after


def rename(nodes: list[Node], random: Random) -> None:
    """Give new names to variables and functions that the program declares; names behind a dot keep theirs."""
    called = {function_name(one.head) for one in functions(nodes) if is_renamable(one)}
    known = {name for node in nodes for found in _declared(node) for name in found.names}
    known |= {name for one in functions(nodes) for _, name in parameters(one.head) or []}
    tokens = [token for node in nodes for token in flat(node)]
    directives = {
        word
        for token in tokens
        if token[0] == "#"
        for word in "".join(letter if letter.isalnum() or letter == "_" else " " for letter in token).split()
    }
    kept = directives | set(KEYWORDS) | MODIFIERS | {"main"} | PRIMITIVE
    for before, token, behind in zip(["", "", *tokens], ["", *tokens], [*tokens, ""], strict=False):
        if not token or not is_name(token):
            continue
        if before in {".", "->", "::"} or (behind == "(" and token not in called and not _is_built(before)):
            kept.add(token)
        if behind == "::" or before == "@":
            kept.add(token)
    chosen = Names(set(tokens) | directives, random)
    new = {name: chosen.fresh() for name in sorted((known | called) - kept)}
    for node in nodes:
        replace(node, new)


def _is_built(before: str) -> bool:
    return bool(before) and ((is_name(before) and before not in KEYWORDS) or before in {">", "*", "&", ","})


def is_renamable(function: Function) -> bool:
    """Tell whether nothing outside the file may call a function by its name."""
    head = function.head
    name = function_name(head)
    if not is_name(name) or name in KNOWN | {"main"} or {"operator", "@"} & set(head):
        return False
    if head.index("(") < 2 or head[head.index("(") - 2] in MODIFIERS:
        return False  # A constructor bears the name of its class.
    is_own = "public" not in head
    return "static" in head or "private" in head or is_own


def _declared(node: Node) -> list[Declaration]:
    match node:
        case Function(_, block):
            return list(bound(block))
        case Type(_, body, _):
            return [found for one in body for found in _declared(one)]
        case Simple():
            return list(bound(node))
    return []


def replace(node: Node, new: dict[str, str]) -> None:
    """Put other words for some in a whole node."""

    def changed(tokens: list[str]) -> list[str]:
        return [new.get(token, token) for token in tokens]

    match node:
        case Simple(tokens) | Opaque(tokens):
            node.tokens = changed(tokens)
        case Block(body):
            for one in body:
                replace(one, new)
        case If(condition, then, otherwise):
            node.condition = changed(condition)
            replace(then, new)
            if otherwise is not None:
                replace(otherwise, new)
        case Loop(_, head, body):
            node.head = changed(head)
            replace(body, new)
        case Parts(parts, tail):
            node.parts = [(changed(words), block) for words, block in parts]
            node.tail = changed(tail)
            for _, block in parts:
                replace(block, new)
        case Function(head, block):
            node.head = changed(head)
            replace(block, new)
        case Type(_, members, tail):
            node.tail = changed(tail)
            for one in members:
                replace(one, new)
