"""Rewrites functions of Java and C++ programs: their order, extraction from statements, and inlining.

Extraction moves a few statements into a function of their own. The variables they use become its parameters: by
reference in C++; in Java the one variable they change, if any, is returned. Inlining puts the body of a function where
a statement calls it. Both leave alone whatever they are not sure of: jumps out of the statements, overloaded, recursive
or generic functions, variables without a value, macros.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from itertools import pairwise
from random import Random

from support.obfuscate.dead import Names
from support.obfuscate.declarations import (
    ASSIGNING,
    PRIMITIVE,
    arguments,
    bound,
    declaration,
    function_name,
    functions,
    names,
    parameters,
)
from support.obfuscate.statements import all_names, replace
from support.obfuscate.tree import Block, Function, If, Loop, Node, Parts, Simple, Type, flat, is_name, within

#: Words that keep a function from being moved, copied or taken apart.
FIXED = {"template", "operator", "virtual", "~", "synchronized", "abstract", "@"}


def reorder(nodes: list[Node], random: Random, language: str) -> None:
    """Shuffle functions that stand side by side; in C++ their prototypes come first."""
    for node in nodes:
        if isinstance(node, Type):
            places = [at for at, one in enumerate(node.body) if isinstance(one, Function)]
            _shuffle(node.body, places, random)
    if language == "java":
        return
    first = next((at for at, node in enumerate(nodes) if isinstance(node, Function)), len(nodes))
    places = [at for at in range(first, len(nodes)) if isinstance(nodes[at], Function)]
    places = [at for run, at in enumerate(places) if at == first + run]
    heads = [node.head for node in nodes[first : first + len(places)] if isinstance(node, Function)]
    if len(places) < 2 or any(FIXED & set(head) or "=" in head or "::" in head[: head.index("(")] for head in heads):
        return
    _shuffle(nodes, places, random)
    nodes[first:first] = [Simple([*head, ";"]) for head in heads if function_name(head) != "main"]


def _shuffle(body: list[Node], places: list[int], random: Random) -> None:
    order = [body[at] for at in places]
    before = list(order)
    while len(order) > 1 and all(one is other for one, other in zip(order, before, strict=True)):
        random.shuffle(order)
    for at, node in zip(places, order, strict=True):
        body[at] = node


# --- extraction ---


def extract(nodes: list[Node], random: Random, language: str) -> None:
    """Move a run of statements of each function into a function of its own."""
    fresh = Names(all_names(nodes), random)
    macros = {token.split()[1].split("(")[0] for node in nodes for token in flat(node) if token.startswith("#define ")}
    outer = {name for node in nodes for one in _members(node) for found in bound(one) for name in found.names}
    tokens = [token for node in nodes for token in flat(node)]
    outer |= {name for word, name in pairwise(tokens) if word in {"class", "struct", "interface", "enum"}}
    for place in _places(nodes):
        for function in [node for node in place if isinstance(node, Function)]:
            made = _extracted(function, random, language, fresh, outer | macros)
            if made is not None:
                place.insert(place.index(function), made)


def _places(nodes: list[Node]) -> list[list[Node]]:
    return [nodes, *(place for node in nodes if isinstance(node, Type) for place in _places(node.body))]


def _members(node: Node) -> list[Node]:
    if isinstance(node, Type):
        return [one for member in node.body for one in _members(member)]
    return [node] if isinstance(node, Simple) else []


def _extracted(function: Function, random: Random, language: str, fresh: Names, outer: set[str]) -> Function | None:
    head = function.head
    name_at = head.index("(") - 1
    if FIXED & set(head) or "const" in head[name_at:] or "<" in head[:1] or ">" in head[:name_at][:3]:
        return None
    if parameters(head) is None or (language == "cpp" and "::" in head[:name_at]):
        return None
    known = _known(function, language)
    local = {name for found in bound(function.body) for name in found.names}
    local |= {name for _, name in parameters(function.head) or []}
    counts = Counter(flat(function.body))
    runs = []
    for body in _outside_try(function.body):
        for start in range(len(body)):
            for end in range(start + 2, min(start + 6, len(body)) + 1):
                if any(_escapes(node) for node in body[start:end]):
                    break
                inputs = _inputs(body[start:end], counts, local, language)
                if inputs is not None and all(name in known and name not in outer for name in inputs):
                    runs.append((body, start, end, inputs))
    if not runs:
        return None
    body, start, end, inputs = random.choice(runs)
    name = fresh.fresh()
    static = ["static"] if language == "java" and "static" in head else []
    throws = head[head.index("throws") :] if "throws" in head else []
    sign = ["&"] if language == "cpp" else []
    listed = [token for one in inputs for token in (",", *known[one], *(sign if "&" not in known[one] else []), one)]
    result = _changed(body[start:end]) & set(inputs) if language == "java" else set()
    (returned,) = result or {""}
    type_ = [*known[returned]] if returned else ["void"]
    moved = [*body[start:end], *([Simple(["return", returned, ";"])] if returned else [])]
    call = [*([returned, "="] if returned else []), name, "(", *[t for one in inputs for t in (",", one)][1:], ")", ";"]
    body[start:end] = [Simple(call)]
    return Function([*static, *type_, name, "(", *listed[1:], ")", *throws], Block(moved))


def _known(function: Function, language: str) -> dict[str, tuple[str, ...]]:
    """Types of parameters and variables; without those that have two, or that may lack a value in Java."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for type_, name in parameters(function.head) or []:
        found.setdefault(name, set()).add(type_)
    unsure = set()
    for one in bound(function.body):
        for variable in one.variables:
            type_ = one.type + (variable.brackets if language == "java" else ())
            found.setdefault(variable.name, set()).add(type_)
            if (language == "java" and variable.value is None) or one.modifiers:
                unsure.add(variable.name)
            if language == "cpp" and variable.brackets:
                unsure.add(variable.name)
    taken = {name: next(iter(types)) for name, types in found.items() if len(types) == 1}
    return {name: type_ for name, type_ in taken.items() if name not in unsure and type_[0] not in {"auto", "var"}}


def _outside_try(node: Node | None) -> list[list[Node]]:
    """Return statement lists that are not inside a try statement, where exceptions are caught."""
    match node:
        case Block(body):
            return [body, *(found for one in body for found in _outside_try(one))]
        case If(_, then, otherwise):
            return [*_outside_try(then), *_outside_try(otherwise)]
        case Loop(_, _, body):
            return _outside_try(body)
    return []


def _inputs(run: list[Node], counts: Counter[str], local: set[str], language: str) -> list[str] | None:
    """Return the variables a run of statements takes from its function; None if it cannot be moved."""
    tokens = [token for node in run for token in flat(node)]
    if len(tokens) < 12 or {"->", "return", "super"} & set(tokens):
        return None
    if any(token.startswith("#") for token in tokens):
        return None
    own = {name for node in run if isinstance(node, Simple) for found in bound(node) for name in found.names}
    inner = {name for node in run for found in bound(node) for name in found.names}
    if any(counts[name] > tokens.count(name) for name in own):
        return None
    alone = {token for before, token in zip(["", *tokens], tokens, strict=False) if before not in {".", "->"}}
    used = sorted((alone & local) - inner)
    if language == "java" and len(_changed(run) & set(used)) > 1:
        return None
    return used if len(used) < 6 else None


def _escapes(node: Node) -> bool:
    """Tell whether a statement may leave the run: by a jump, a label or a class of its own."""
    match node:
        case Loop(_, _, body):
            return "return" in flat(body) or "goto" in flat(body)
        case Simple(tokens):
            return bool({"break", "continue", "return", "goto", "class", ":", "{"} & set(tokens))
        case If() | Parts() | Block():
            return bool({"break", "continue", "return", "goto", "throw"} & set(flat(node)))
    return True


def _changed(run: list[Node]) -> set[str]:
    """Names that the run itself gives another value, and not a part of them."""
    tokens = [token for node in run for token in flat(node)]
    found = set()
    for before, token, behind in zip(["", *tokens[:-1]], tokens, [*tokens[1:], ""], strict=True):
        if is_name(token) and (behind in ASSIGNING or "++" in (before, behind) or "--" in (before, behind)):
            found.add(token)
    return found


# --- inlining ---


def inline(nodes: list[Node], random: Random, language: str) -> None:
    """Put bodies of functions where statements call them; a function without calls left is removed."""
    fresh = Names(all_names(nodes), random)
    counts = Counter(function_name(one.head) for one in functions(nodes))
    for place in _places(nodes):
        own = [node for node in place if isinstance(node, Function)]
        for callee in own:
            name = function_name(callee.head)
            if counts[name] != 1 or not _is_plain(callee, language):
                continue
            before = _count(nodes, name)
            for caller in own:
                for body in within(caller.body) if caller is not callee else ():
                    body[:] = [one for node in body for one in _inlined(node, callee, caller, fresh)]
            if _count(nodes, name) == 1 < before:
                place.remove(callee)


def _count(nodes: list[Node], name: str) -> int:
    return sum(token == name for node in nodes for token in flat(node))


def _is_plain(callee: Function, language: str) -> bool:
    head, name = callee.head, function_name(callee.head)
    tokens = list(flat(callee.body))
    if FIXED & set(head) or name in {"main", *tokens} or head[0] in {"<", "template"} or "const" in head:
        return False
    if head.index("(") < 2 or parameters(head) is None or {"->", "this", "super", "yield"} & set(tokens):
        return False
    if language == "cpp" and ("::" in head or any("[" in type_ for type_, _ in parameters(head) or [])):
        return False
    if any(token.startswith("#") for token in tokens):
        return False
    own = {name for found in bound(callee.body) for name in found.names} | {name for _, name in parameters(head) or []}
    if any(before in {".", "->"} and token in own for before, token in zip(["", *tokens], tokens, strict=False)):
        return False
    returns = tokens.count("return")
    last = callee.body.body[-1] if callee.body.body else None
    ends = isinstance(last, Simple) and last.tokens[0] == "return" and len(last.tokens) > 2
    return returns == 0 if "void" in head[: head.index("(")] else returns == 1 and ends


def _inlined(node: Node, callee: Function, caller: Function, fresh: Names) -> list[Node]:
    """Return a statement, or the body of the function that it calls."""
    name = function_name(callee.head)
    if not isinstance(node, Simple) or name not in node.tokens:
        return [node]
    at = node.tokens.index(name)
    given, end = arguments(node.tokens, at + 1) if node.tokens[at + 1] == "(" else ([], 0)
    if node.tokens[end:] != [";"] or (at and node.tokens[at - 1] in {".", "->"}):
        return [node]
    target = _target(node.tokens[:at])
    listed = parameters(callee.head) or []
    if target is None or len(given) != len(listed):
        return [node]
    local = {name for found in bound(caller.body) for name in found.names}
    local |= {name for _, name in parameters(caller.head) or []}
    own = {one for found in bound(callee.body) for one in found.names} | {one for _, one in listed}
    if (names(callee.body) - own) & local:
        return [node]
    body = deepcopy(callee.body)
    new = {one: fresh.fresh() for one in sorted(own)}
    replace(body, new)
    start = [Simple([*type_, new[one], "=", *value, ";"]) for (type_, one), value in zip(listed, given, strict=True)]
    ahead: list[Node] = []
    is_void = "void" in callee.head[: callee.head.index("(")]
    if not is_void:
        last = body.body.pop()
        assert isinstance(last, Simple)
        if target[1]:
            body.body.append(Simple([target[1], "=", *last.tokens[1:]]))
            ahead = [Simple([*target[0], target[1], ";"])] if target[0] else []
    return [*ahead, Block([*start, *body.body])]


def _target(before: list[str]) -> tuple[list[str], str] | None:
    """Read what stands before a call: nothing, `x =` or `T x =`; the type and the name."""
    if not before:
        return [], ""
    if before[-1] != "=" or not is_name(before[-2]):
        return None
    if len(before) == 2:
        return [], before[0]
    found = declaration([*before, "0", ";"])
    if found is None or found.modifiers or len(found.variables) != 1 or found.variables[0].brackets:
        return None
    is_simple = not set(found.type) & {"auto", "var", "&", "*"} and (
        len(found.type) == 1 or set(found.type) <= PRIMITIVE
    )
    return (list(found.type), found.variables[0].name) if is_simple else None
