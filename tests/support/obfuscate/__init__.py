"""Rewrites programs the way a copy is disguised; the result does the same.

`rewritten(program, language, attack, seed)` is deterministic. It returns None where an attack finds nothing to change
in a program, or cannot read it: see the head of each file for the style it knows. Java and C++ are rewritten on a tree
of statements (`tree.py`), Python on `ast`. All attacks drop comments and layout.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from random import Random

from support.obfuscate import functions, python, python_functions, statements
from support.obfuscate.braces import turn_braces
from support.obfuscate.tree import Node, UnreadableError, parsed, written

LANGUAGES = ("java", "python", "cpp")

#: Each attack and what it does, in the order of the table.
ATTACKS = {
    "layout": "written anew: no comments, another layout",
    "renaming": "new names for variables and functions",
    "statement order": "independent statements in another order",
    "function order": "functions in another order",
    "dead 10 %": "a dead statement behind every tenth statement",
    "dead 30 %": "a dead statement behind three of ten statements",
    "dead 100 %": "a dead statement behind every statement",
    "dead functions": "as many functions again that nobody calls, at least three",
    "split": "one declaration a variable, values assigned in a statement of their own",
    "join": "declarations joined",
    "loops": "for as while, while as for",
    "braces": "braces added around bodies of one statement, or removed; Python has none",
    "inversion": "conditions negated, branches exchanged",
    "extraction": "statements moved into functions of their own",
    "inlining": "calls replaced by the body of the function",
    "constants": "numbers written as sums, differences or products",
    "all": "renaming, both orders, dead statements behind 30 %, loops, inversion and constants together",
}
DEAD = {"dead 10 %": 0.1, "dead 30 %": 0.3, "dead 100 %": 1.0}
TOGETHER = ("statement order", "function order", "loops", "inversion", "constants", "dead 30 %", "renaming")


def rewritten(program: str, language: str, attack: str, seed: int) -> str | None:
    """Return a program after an attack; None if the attack does not apply to it."""
    random = Random(f"{attack} {seed}")
    try:
        if language == "python":
            return _python(program, attack, random)
        return _braces(program, language, attack, random)
    except (UnreadableError, SyntaxError, RecursionError):
        return None


def _braces(program: str, language: str, attack: str, random: Random) -> str | None:
    nodes = parsed(program)
    plain = written(nodes)
    if attack == "layout":
        return plain
    for one in TOGETHER if attack == "all" else (attack,):
        _rewriter(one, language, random)(nodes)
    after = written(nodes)
    return after if after != plain else None


def _rewriter(attack: str, language: str, random: Random) -> Callable[[list[Node]], None]:
    """Return what changes a tree of Java or C++ in place."""
    kinds: dict[str, Callable[[list[Node]], None]] = {
        "renaming": lambda nodes: statements.rename(nodes, random),
        "statement order": lambda nodes: statements.shuffle(nodes, random),
        "function order": lambda nodes: functions.reorder(nodes, random, language),
        "dead functions": lambda nodes: statements.add_functions(nodes, random, language),
        "split": lambda nodes: statements.split_declarations(nodes, language),
        "join": statements.join_declarations,
        "loops": statements.turn_loops,
        "braces": turn_braces,
        "inversion": statements.invert,
        "extraction": lambda nodes: functions.extract(nodes, random, language),
        "inlining": lambda nodes: functions.inline(nodes, random, language),
        "constants": lambda nodes: statements.spell_constants(nodes, random),
    }
    if attack in DEAD:
        return lambda nodes: statements.bury(nodes, random, language, DEAD[attack])
    return kinds[attack]


def _python(program: str, attack: str, random: Random) -> str | None:
    tree = ast.parse(program)
    plain = ast.unparse(tree) + "\n"
    if attack == "layout":
        return plain
    for one in TOGETHER if attack == "all" else (attack,):
        tree = ast.parse(ast.unparse(_python_rewritten(tree, one, random)))
    after = ast.unparse(tree) + "\n"
    return after if after != plain else None


def _python_rewritten(tree: ast.Module, attack: str, random: Random) -> ast.Module:
    kinds: dict[str, Callable[[], ast.Module]] = {
        "renaming": lambda: python.rename(tree, random),
        "statement order": lambda: python.shuffle(tree, random),
        "function order": lambda: python_functions.reorder(tree, random),
        "dead functions": lambda: python.add_functions(tree, random),
        "split": lambda: python.split(tree, random),
        "join": lambda: python.join(tree),
        "loops": lambda: python.turn_loops(tree, random),
        "braces": lambda: tree,
        "inversion": lambda: python.invert(tree),
        "extraction": lambda: python_functions.extract(tree, random),
        "inlining": lambda: python_functions.inline(tree, random),
        "constants": lambda: python.spell_constants(tree, random),
    }
    if attack in DEAD:
        return python.bury(tree, random, DEAD[attack])
    return kinds[attack]()
