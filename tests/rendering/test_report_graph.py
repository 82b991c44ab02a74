"""The picture of the clusters: everyone has a place of their own, and what is not drawn is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lookalike.comparison.result import Cluster, Pair, Report
from lookalike.rendering.html import graph as graphs
from lookalike.rendering.html.graph import graph
from support.reports import Size, nothing_found, school


def starry(*sizes: int) -> Report:
    """A report with one star of each size."""
    report = school(Size(entries=sum(sizes), methods=1, pairs=0))
    pairs, clusters, first = [], [], 0
    for size in sizes:
        members = tuple(range(first, first + size))
        scores = (1.0, *(0.9 - 0.001 * i for i in range(size - 1)))
        clusters.append(Cluster(first, members, scores))
        pairs += [Pair(first, other, scores[i], 1, 1, 9, 9, ()) for i, other in enumerate(members[1:], 1)]
        first += size
    return replace(report, pairs=tuple(pairs), pair_count=len(pairs), clusters=tuple(clusters))


@pytest.mark.parametrize("sizes", [(2,), (3, 2, 2), (9, 7, 4), (70, 14, 2), (300,)])
def test_no_two_submissions_share_a_place_and_all_are_inside(sizes: tuple[int, ...]):
    drawn = graph(starry(*sizes))
    places = [(node.x, node.y) for node in drawn.nodes]
    assert len(places) == sum(sizes)
    for i, (x, y) in enumerate(places):
        assert 0 < x < drawn.width
        assert 0 < y < drawn.height
        assert all((x - a) ** 2 + (y - b) ** 2 > 15**2 for a, b in places[:i])


def test_the_picture_is_the_same_each_time():
    assert graph(starry(9, 7, 4)) == graph(starry(9, 7, 4))


def test_the_representative_is_in_the_middle():
    drawn = graph(starry(9))
    centre = next(node for node in drawn.nodes if node.is_centre)
    assert centre.entry == 0
    distances = [((node.x - centre.x) ** 2 + (node.y - centre.y) ** 2) ** 0.5 for node in drawn.nodes[1:]]
    assert max(distances) - min(distances) < 1


def test_pairs_below_the_threshold_are_not_drawn():
    report = starry(3)
    assert graph(replace(report, clusters=(), cluster_threshold=0.95)).nodes == ()
    assert graph(nothing_found()).nodes == ()


def test_a_submission_tied_to_a_star_but_in_none_is_drawn():
    report = starry(3, 2)
    drawn = graph(replace(report, clusters=report.clusters[:1]))
    assert sorted(node.entry for node in drawn.nodes) == [0, 1, 2, 3, 4]


def test_what_is_not_drawn_is_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graphs, "MOST_NODES", 10)
    monkeypatch.setattr(graphs, "MOST_LINES", 4)
    drawn = graph(starry(9, 7, 4))
    assert (len(drawn.nodes), drawn.nodes_left_out) == (10, 10)
    assert (len(drawn.lines), drawn.lines_left_out) == (4, 13)
