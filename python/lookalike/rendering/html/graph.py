"""Lays out the graph of clusters: one place for each submission, always the same for the same report.

A cluster is drawn as a star, because each member was verified against the representative: the representative at the
centre, the members around it, the most similar first. Stars stand side by side in rows, large ones first. The cost is
linear in the number of nodes. Other pairs at or above the threshold are lines between these places.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, degrees, pi, sin
from typing import NamedTuple

from lookalike.comparison.result import Report

#: Largest numbers of submissions and lines that are drawn.
MOST_NODES = 300
MOST_LINES = 1_500
#: Pixels: between neighbours on a ring, to the first ring, from one ring to the next, for a label, round a star, and a
#: row at most.
STEP, RING, NEXT, LABEL, MARGIN, ROW = 26, 56, 44, 100, 20, 1120
#: Up to this many members have horizontal labels; with more, labels point outwards like the hours of a clock.
LEVEL = 6


class Node(NamedTuple):
    """A submission in the graph."""

    entry: int
    x: float
    y: float
    #: The rotation of its label in degrees, and whether the text ends at the node.
    turn: float
    before: bool
    is_centre: bool


class Line(NamedTuple):
    """A pair in the graph, by its end points."""

    x1: float
    y1: float
    x2: float
    y2: float
    score: float
    left: int
    right: int


class Graph(NamedTuple):
    """Nodes and lines in pixels, and the numbers of those left out."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    nodes_left_out: int
    lines_left_out: int


def graph(report: Report) -> Graph:
    """Lay out the clusters and the pairs at or above the cluster threshold."""
    ties = [pair for pair in report.pairs if pair.score >= report.cluster_threshold]
    stars = _stars(report, {end for pair in ties for end in (pair.left, pair.right)})
    drawn = _fitting(stars)
    nodes, width, height = _rows([_star(star) for star in drawn])
    place = {node.entry: (node.x, node.y) for node in nodes}
    lines = [
        Line(*place[pair.left], *place[pair.right], pair.score, pair.left, pair.right)
        for pair in ties
        if pair.left in place and pair.right in place
    ]
    shown = tuple(lines[:MOST_LINES])
    return Graph(width, height, nodes, shown, sum(map(len, stars)) - len(nodes), len(ties) - len(shown))


def _stars(report: Report, tied: set[int]) -> list[list[int]]:
    """Return the clusters, large ones first, each with its representative first; then tied submissions in none."""
    stars = []
    for cluster in report.clusters:
        ranked = sorted(zip(cluster.scores, cluster.members, strict=True), key=lambda tie: (-tie[0], tie[1]))
        stars.append([cluster.representative, *(member for _, member in ranked if member != cluster.representative)])
    stars = sorted((star for star in stars if len(star) > 1), key=lambda star: (-len(star), star[0]))
    return stars + [[entry] for entry in sorted(tied - {entry for star in stars for entry in star})]


def _fitting(stars: Sequence[list[int]]) -> list[list[int]]:
    """Return the stars up to the limit of nodes; the last one may be cut."""
    room, drawn = MOST_NODES, []
    for star in stars:
        if room:
            drawn.append(star[:room])
            room -= len(drawn[-1])
    return drawn


def _star(star: list[int]) -> list[Node]:
    """Place a star around (0, 0): the centre, then as many rings as needed."""
    nodes = [Node(star[0], 0, 0, 0, before=False, is_centre=True)]
    others = star[1:]
    radius = float(RING) if len(others) <= LEVEL else max(RING, min(STEP * len(others) / (2 * pi), 6 * RING))
    while others:
        room = max(LEVEL, int(2 * pi * radius / STEP))
        ring, others = others[:room], others[room:]
        nodes += [_on_ring(entry, i, len(ring), radius) for i, entry in enumerate(ring)]
        radius += NEXT + LABEL
    return nodes


def _on_ring(entry: int, i: int, count: int, radius: float) -> Node:
    # A single member is placed below the centre, so that the two labels do not overlap.
    angle = pi / 2 + 2 * pi * i / count if count <= 2 else -pi / 2 + 2 * pi * (i + 0.5) / count
    before = cos(angle) < -1e-9
    turn = 0.0 if count <= LEVEL else degrees(angle) + (180 if before else 0)
    return Node(entry, radius * cos(angle), radius * sin(angle), round(turn, 1), before, is_centre=False)


def _rows(stars: list[list[Node]]) -> tuple[tuple[Node, ...], float, float]:
    """Place stars side by side in rows; return the nodes, the width and the height."""
    placed: list[Node] = []
    x = y = row_height = width = 0.0
    for star in stars:
        left, top, right, bottom = _box(star)
        if x and x + right - left > ROW:
            x, y, row_height = 0.0, y + row_height, 0.0
        placed += [_moved(node, x - left, y - top) for node in star]
        x, row_height = x + right - left, max(row_height, bottom - top)
        width = max(width, x)
    return tuple(placed), round(width, 1), round(y + row_height, 1)


def _box(star: list[Node]) -> tuple[float, float, float, float]:
    """Return the bounding box of a star with its labels: left, top, right, bottom."""
    upright = LABEL if any(node.turn for node in star) else 0
    before = LABEL if any(node.before for node in star) else 0
    return (
        min(node.x for node in star) - before - MARGIN,
        min(node.y for node in star) - upright - MARGIN,
        max(node.x for node in star) + LABEL + MARGIN,
        max(node.y for node in star) + upright + MARGIN,
    )


def _moved(node: Node, dx: float, dy: float) -> Node:
    return Node(node.entry, round(node.x + dx, 1), round(node.y + dy, 1), node.turn, node.before, node.is_centre)
