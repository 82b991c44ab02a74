"""Adds braces around bodies of one statement, and removes them where they are: `if (x) y;` and `if (x) { y; }`.

Braces are removed only around a simple statement that declares nothing, so no `else` changes its `if`. Java and C++.
"""

from __future__ import annotations

from support.obfuscate.declarations import declaration
from support.obfuscate.tree import Block, If, Loop, Node, Simple, blocks


def turn_braces(nodes: list[Node]) -> None:
    """Change the braces of every body of one statement."""
    for body in list(blocks(nodes)):
        for node in body:
            _turn(node)


def _turn(node: Node) -> None:
    """Change the braces of the bodies of a statement; those inside blocks have their own turn."""
    match node:
        case If(_, then, otherwise):
            node.then = _turned(then)
            if isinstance(otherwise, If):
                _turn(otherwise)
            elif otherwise is not None:
                node.otherwise = _turned(otherwise)
        case Loop(_, _, body):
            node.body = _turned(body)


def _turned(body: Node) -> Node:
    match body:
        case Block([Simple(tokens) as only]) if len(tokens) > 1 and not tokens[0].startswith("#"):
            return body if declaration(tokens) else only
        case Block():
            return body
    _turn(body)
    return Block([body])
