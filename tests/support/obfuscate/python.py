"""Rewrites Python programs on their syntax tree: names, order, dead code, assignments, loops, conditions, constants.

Statements change places only inside functions without inner functions, and only if one of them merely computes with
local names that the other does not use. A program that looks names up by text (`locals`, `eval`) is not renamed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from random import Random

from support.obfuscate.dead import Dead, Names

JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
BY_TEXT = {"locals", "globals", "vars", "eval", "exec", "dir"}


def words(tree: ast.AST) -> set[str]:
    """Return every name that occurs in a tree in any role."""
    found: set[str] = set()
    for node in ast.walk(tree):
        found |= {value for _, value in ast.iter_fields(node) if isinstance(value, str)}
        if isinstance(node, ast.Global | ast.Nonlocal):
            found |= set(node.names)
    return found


def used(tree: ast.AST) -> set[str]:
    """Return the names of variables in a tree."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def stored(tree: ast.AST) -> set[str]:
    """Return the variables that a tree binds."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the statement lists of a module and its functions; those of classes themselves are left out."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            is_list = isinstance(value, list) and value and isinstance(value[0], ast.stmt)
            if is_list and not (name == "body" and isinstance(node, ast.ClassDef)):
                yield value


def rename(tree: ast.Module, random: Random) -> ast.Module:
    """Give new names to variables, parameters and functions of the module."""
    if used(tree) & BY_TEXT:
        return tree
    own: set[str] = set()
    kept = set(dir(builtins)) | {"self", "cls"}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                own |= stored(node) | {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
            case ast.ClassDef():
                kept |= {node.name} | {
                    one for part in node.body if not isinstance(part, SCOPES) for one in stored(part)
                }
            case ast.keyword() if node.arg:
                kept.add(node.arg)
            case ast.alias():
                kept.add((node.asname or node.name).split(".")[0])
            case ast.Match():
                kept |= words(node)
    methods = {
        one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for one in node.body
        if isinstance(one, ast.FunctionDef)
    }
    for statement in tree.body:
        own |= stored(statement) if not isinstance(statement, SCOPES) else set()
        if isinstance(statement, ast.FunctionDef) and statement.name not in methods and not statement.decorator_list:
            own.add(statement.name)
    chosen = Names(words(tree), random)
    new = {name: chosen.fresh() for name in sorted(own - kept) if not name.startswith("__")}
    return Renaming(new, methods).visit(tree)


class Renaming(ast.NodeTransformer):
    """Puts new names for variables, parameters and functions."""

    def __init__(self, new: dict[str, str], methods: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        self.new = new
        self.methods = methods

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Rename a variable."""
        node.id = self.new.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Rename a parameter."""
        node.arg = self.new.get(node.arg, node.arg)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Rename a function that is no method."""
        if node.name not in self.methods:
            node.name = self.new.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """Rename a caught exception."""
        if node.name:
            node.name = self.new.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        """Rename variables of an outer scope."""
        node.names = [self.new.get(name, name) for name in node.names]
        return node

    visit_Nonlocal = visit_Global  # noqa: N815


def is_closed(function: ast.FunctionDef) -> bool:
    """Tell whether nothing but its own statements sees a function's variables."""
    inner = [node for node in ast.walk(function) if node is not function]
    by_text = used(function) & BY_TEXT
    return not by_text and not any(isinstance(one, (*SCOPES, ast.Global, ast.Nonlocal)) for one in inner)


def closed(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the functions that are closed."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and is_closed(node)]


def is_pure(node: ast.stmt) -> bool:
    """Tell whether a statement only computes with names and numbers, and cannot fail."""
    if not isinstance(node, ast.Assign) or not all(isinstance(one, ast.Name) for one in node.targets):
        return False
    allowed = (ast.Name, ast.Constant, ast.expr_context, ast.List, ast.Dict)
    return all(isinstance(one, allowed) for one in ast.walk(node.value))


def is_simple(node: ast.stmt) -> bool:
    """Tell whether a statement is an expression or an assignment."""
    return isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) and not any(
        isinstance(one, ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr) for one in ast.walk(node)
    )


def independent(left: ast.stmt, right: ast.stmt) -> bool:
    """Tell whether two statements may change places."""
    if not (is_simple(left) and is_simple(right) and (is_pure(left) or is_pure(right))):
        return False
    return not (stored(left) & used(right) or stored(right) & used(left))


def shuffle(tree: ast.Module, random: Random) -> ast.Module:
    """Take statements that stand side by side in another order where they are independent."""
    for function in closed(tree):
        for body in bodies(function):
            after: list[ast.stmt] = []
            for node in body:
                is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                at = len(after)
                while at and not is_text and independent(after[at - 1], node) and not _is_text(after[at - 1]):
                    at -= 1
                after.insert(random.randrange(at, len(after) + 1) if at < len(after) else at, node)
            body[:] = after
    return tree


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def bury(tree: ast.Module, random: Random, share: float) -> ast.Module:
    """Put a dead statement behind a share of the statements."""
    dead = Dead("python", random, Names(words(tree), random))
    for body in list(bodies(tree)):
        dead.block()
        after = []
        for node in body:
            after.append(node)
            fits = not isinstance(node, (*JUMPS, ast.ImportFrom, ast.Import)) and not (
                body is tree.body and _is_text(node)
            )
            if fits and random.random() < share:
                after += ast.parse(dead.statement()).body
        body[:] = after
    return tree


def add_functions(tree: ast.Module, random: Random) -> ast.Module:
    """Add functions that nobody calls, at least three and as many as there are."""
    dead = Dead("python", random, Names(words(tree), random))
    count = sum(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))
    kept = (ast.Import, ast.ImportFrom)
    first = next((at for at, node in enumerate(tree.body) if not isinstance(node, kept) and not _is_text(node)), 0)
    for _ in range(max(3, count)):
        tree.body[:] = _with(tree.body, random.randrange(first, len(tree.body) + 1), dead.function())
    return tree


def _with(body: list[ast.stmt], at: int, text: str) -> list[ast.stmt]:
    return [*body[:at], *ast.parse(text).body, *body[at:]]


def split(tree: ast.Module, random: Random) -> ast.Module:
    """Assign one name at a time: tuples by way of new names, and first values in a statement of their own."""
    chosen = Names(words(tree), random)
    for body in list(bodies(tree)):
        body[:] = [one for node in body for one in _split(node, chosen)]
    for function in closed(tree):
        seen = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
        after: list[ast.stmt] = []
        for node in function.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name not in seen | used(node.value) and not isinstance(node.value, ast.Constant):
                    after += ast.parse(f"{name} = None").body
            seen |= stored(node)
            after.append(node)
        function.body[:] = after
    return tree


def _split(node: ast.stmt, chosen: Names) -> list[ast.stmt]:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return [node]
    target, value = node.targets[0], node.value
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)):
        return [node]
    if any(isinstance(one, ast.Starred) for one in (*target.elts, *value.elts)):
        return [node]
    new = [chosen.fresh() for _ in value.elts]
    first = [_assign(ast.Name(name, ast.Store()), one) for name, one in zip(new, value.elts, strict=True)]
    then = [_assign(one, ast.Name(name, ast.Load())) for name, one in zip(new, target.elts, strict=True)]
    return [*first, *then]


def _assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.fix_missing_locations(ast.Assign([target], value, lineno=0))


def join(tree: ast.Module) -> ast.Module:
    """Join two assignments that follow each other into one of a tuple."""
    for function in closed(tree):
        for body in bodies(function):
            after: list[ast.stmt] = []
            for node in body:
                joined = _joined(after[-1], node) if after else None
                after[-1:] = [joined] if joined is not None else [*after[-1:], node]
            body[:] = after
    return tree


def _joined(left: ast.stmt, right: ast.stmt) -> ast.stmt | None:
    for node in (left, right):
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
            return None
    assert isinstance(left, ast.Assign)
    assert isinstance(right, ast.Assign)
    if stored(left) & used(right) or any(isinstance(one, ast.Yield | ast.NamedExpr) for one in ast.walk(right)):
        return None
    pair = [left.targets[0], right.targets[0]]
    return _assign(ast.Tuple(pair, ast.Store()), ast.Tuple([left.value, right.value], ast.Load()))


def turn_loops(tree: ast.Module, random: Random) -> ast.Module:
    """Write `for` as `while` and `while` as `for`."""
    chosen = Names(words(tree), random)
    for body in list(bodies(tree)):
        body[:] = [one for node in body for one in _turned(node, chosen)]
    return tree


def _turned(node: ast.stmt, chosen: Names) -> list[ast.stmt]:
    if isinstance(node, ast.While) and not node.orelse:
        made = ast.parse(f"for {chosen.fresh()} in iter(int, 1):\n    if not 0: break\n    pass").body
        loop = made[0]
        assert isinstance(loop, ast.For)
        test = loop.body[0]
        assert isinstance(test, ast.If)
        test.test = ast.UnaryOp(ast.Not(), node.test)
        loop.body[1:] = node.body
        return made
    if not isinstance(node, ast.For) or node.orelse:
        return [node]
    call = node.iter
    is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
    if is_range and isinstance(call, ast.Call) and len(call.args) in (1, 2) and not call.keywords:
        at, stop = chosen.fresh(), chosen.fresh()
        first = ast.unparse(call.args[0]) if len(call.args) == 2 else "0"
        text = (
            f"{at} = {first}\n{stop} = {ast.unparse(call.args[-1])}\nwhile {at} < {stop}:\n    x = {at}\n    {at} += 1"
        )
    else:
        at = chosen.fresh()
        text = (
            f"{at} = iter({ast.unparse(call)})\nwhile True:\n    try: x = next({at})\n    except StopIteration: break"
        )
    made = ast.parse(text).body
    loop = made[-1]
    assert isinstance(loop, ast.While)
    first_line = loop.body[0].body[0] if isinstance(loop.body[0], ast.Try) else loop.body[0]
    assert isinstance(first_line, ast.Assign)
    first_line.targets = [node.target]
    loop.body += node.body
    return made


def invert(tree: ast.Module) -> ast.Module:
    """Negate every condition of an if, and change its branches."""
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.If):
            node.test = ast.UnaryOp(ast.Not(), node.test)
            node.body, node.orelse = node.orelse or [ast.Pass()], node.body
    return tree


class Spelling(ast.NodeTransformer):
    """Writes whole numbers as sums, differences or products."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Write one number otherwise."""
        if type(node.value) is not int or not 0 < node.value < 10**9:
            return node
        other = self.random.randrange(1, 40)
        kinds = [f"{node.value + other} - {other}"]
        kinds += [f"{other} + {node.value - other}"] if node.value > other else []
        kinds += [f"{node.value // 2} * 2"] if node.value % 2 == 0 else []
        return ast.parse(self.random.choice(kinds), mode="eval").body

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Leave formats alone."""
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Leave patterns alone."""
        return node


def spell_constants(tree: ast.Module, random: Random) -> ast.Module:
    """Write whole numbers otherwise."""
    return Spelling(random).visit(tree)
