"""Rewrites functions of Python programs: their order, extraction from statements, and inlining.

Extraction takes statements from the outermost level of a function; names it needs become parameters, names needed
later are returned. Inlining replaces statements that consist of a call, or assign or return one. Functions with inner
functions, generators, decorators, defaults, several returns or recursion stay as they are.
"""

from __future__ import annotations

import ast
from collections import Counter
from copy import deepcopy
from random import Random

from support.obfuscate.dead import Names
from support.obfuscate.python import Renaming, bodies, is_closed, stored, used, words

SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Delete, ast.NamedExpr)


def reorder(tree: ast.Module, random: Random) -> ast.Module:
    """Shuffle functions that stand side by side in a module or class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            _reorder(node.body, random)
    return tree


def _reorder(body: list[ast.stmt], random: Random) -> None:
    at = 0
    while at < len(body):
        end = at
        while end < len(body) and _is_movable(body[end]):
            end += 1
        run = body[at:end]
        if len({one.name for one in run if isinstance(one, ast.FunctionDef)}) == len(run) > 1:
            before = list(run)
            while run == before:
                random.shuffle(run)
            body[at:end] = run
        at = end + 1


def _is_movable(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    values = [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
    return all(isinstance(one, ast.Constant) for one in values)


def _has(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(one, kinds) for one in ast.walk(node))


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)]


def extract(tree: ast.Module, random: Random) -> ast.Module:
    """Move a run of statements of each function into a function of its own at the level of the module."""
    chosen = Names(words(tree), random)
    after: list[ast.stmt] = []
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for function in inside:
            is_fit = isinstance(function, ast.FunctionDef) and is_closed(function) and not _has(function, SUSPENDING)
            if is_fit and isinstance(function, ast.FunctionDef) and not _is_private(function):
                after += _extracted(function, random, chosen)
        after.append(node)
    tree.body[:] = after
    return tree


def _is_private(function: ast.FunctionDef) -> bool:
    """Tell whether a function uses `super()` or names that only its class understands."""
    inside = [node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    return "super" in used(function) or any(one.startswith("__") for one in inside)


def _extracted(function: ast.FunctionDef, random: Random, chosen: Names) -> list[ast.stmt]:
    body, sure = function.body, set(_parameters(function))
    local = stored(function) | sure
    runs = []
    for start in range(len(body)):
        for end in range(start + 2, min(start + 6, len(body)) + 1):
            found = _interface(body[start:end], body[:start], body[end:], local, set(sure))
            if found is not None:
                runs.append((start, end, *found))
        sure |= _surely(body[start])
    if not runs:
        return []
    start, end, inputs, outputs = random.choice(runs)
    name = chosen.fresh()
    result = f"return {', '.join(outputs)}" if outputs else "pass"
    made = ast.parse(f"def {name}({', '.join(inputs)}):\n    {result}").body
    assert isinstance(made[0], ast.FunctionDef)
    made[0].body[:0] = body[start:end]
    call = f"{name}({', '.join(inputs)})"
    body[start:end] = ast.parse(f"{', '.join(outputs)} = {call}" if outputs else call).body
    return made


def _surely(node: ast.stmt) -> set[str]:
    return stored(node) if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) else set()


def _interface(
    run: list[ast.stmt], before: list[ast.stmt], behind: list[ast.stmt], local: set[str], sure: set[str]
) -> tuple[list[str], list[str]] | None:
    """Return the names a run takes and gives; None if it cannot be moved."""
    whole = ast.Module(run, [])
    if _has(whole, (ast.Return, *SUSPENDING, ast.Import, ast.ImportFrom)) or (
        isinstance(run[0], ast.Expr) and not before
    ):
        return None
    inner = {name for node in ast.walk(whole) if isinstance(node, ast.comprehension) for name in stored(node.target)}
    bound = stored(whole)
    outputs = sorted(bound & used(ast.Module(behind, [])))
    given = {name for node in run for name in _surely(node)}
    caught = {node.name for node in ast.walk(whole) if isinstance(node, ast.ExceptHandler)}
    inputs = sorted((used(whole) & local & sure) | (set(outputs) & sure))
    unsure = ((used(whole) & local) - sure - bound - inner) | (set(outputs) - sure - given) | (caught & local)
    unsure |= (used(whole) & stored(ast.Module(before, []))) - sure
    return (inputs, outputs) if not unsure and len(inputs) < 8 else None


def inline(tree: ast.Module, random: Random) -> ast.Module:
    """Put bodies of functions where statements call them; a function without calls left is removed."""
    chosen = Names(words(tree), random)
    defined = Counter(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    for callee in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        called = [body for body in bodies(tree) if any(_call(node, callee.name) for node in body)]
        if not called or defined[callee.name] > 1 or callee.name in stored(tree) or not _is_plain(callee):
            continue
        free = used(callee) - stored(callee) - set(_parameters(callee))
        for body in called:
            if not free & _locals(tree, body):
                body[:] = [one for node in body for one in _inlined(node, callee, chosen)]
        if callee.name not in used(ast.Module([node for node in tree.body if node is not callee], [])):
            tree.body.remove(callee)
    return tree


def _call(node: ast.stmt, name: str) -> ast.Call | None:
    """Return the call of a function that a statement consists of, assigns or returns."""
    call = node.value if isinstance(node, ast.Expr | ast.Assign | ast.Return) else None
    is_call = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name
    return call if is_call and isinstance(call, ast.Call) else None


def _locals(tree: ast.Module, body: list[ast.stmt]) -> set[str]:
    """Return the names that functions around a body bind; none at the level of the module."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(one is body for one in bodies(node)):
            found |= stored(node) | set(_parameters(node))
    return found


def _is_plain(callee: ast.FunctionDef) -> bool:
    listed = callee.args
    extra = (listed.posonlyargs, listed.vararg, listed.kwonlyargs, listed.kwarg, listed.defaults, callee.decorator_list)
    if (
        any(extra)
        or not is_closed(callee)
        or _has(callee, (*SUSPENDING, ast.ExceptHandler))
        or callee.name in used(callee)
    ):
        return False
    returns = [node for node in ast.walk(callee) if isinstance(node, ast.Return)]
    return not returns or (len(returns) == 1 and callee.body[-1] is returns[0] and returns[0].value is not None)


def _inlined(node: ast.stmt, callee: ast.FunctionDef, chosen: Names) -> list[ast.stmt]:
    """Return a statement, or the body of the function that it calls."""
    call = _call(node, callee.name)
    if call is None or call.keywords or len(call.args) != len(callee.args.args):
        return [node]
    if any(isinstance(one, ast.Starred) for one in call.args):
        return [node]
    last = callee.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    if value is None and not isinstance(node, ast.Expr):
        return [node]
    body = ast.Module(deepcopy(callee.body), [])
    new = {name: chosen.fresh() for name in sorted(stored(callee) | set(_parameters(callee)))}
    Renaming(new).visit(body)
    first = [
        ast.Assign([ast.Name(new[one.arg], ast.Store())], given, lineno=0)
        for one, given in zip(callee.args.args, call.args, strict=True)
    ]
    if value is not None:
        ending = body.body[-1]
        assert isinstance(ending, ast.Return)
        assert ending.value is not None
        body.body[-1:] = [_giving(node, ending.value)]
    start = [one for one in body.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return [*first, *(start or ([] if first else [ast.Pass()]))]


def _giving(node: ast.stmt, value: ast.expr) -> ast.stmt:
    match node:
        case ast.Assign():
            return ast.Assign(node.targets, value, lineno=0)
        case ast.Return():
            return ast.Return(value)
    return ast.Expr(value)
