"""Several indexes asked as one answer as one index of all their documents; other parameters are refused."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive.answers import Queried
from lookalike.errors import ParameterError, VersionError

WORDS = [f"word{number}" for number in range(40)]


def texts(seed: int, count: int) -> list[tuple[str, str]]:
    """Texts of few words, so that many are alike, and some are the same."""
    dice = random.Random(seed)
    made = [" ".join(dice.choices(WORDS, k=30)) for _ in range(4)]
    return [(f"{seed}-{i}", " ".join(dice.choice(made).split()[: dice.randint(20, 30)])) for i in range(count)]


def indexed(path: Path, documents: list[tuple[str, str]]) -> Path:
    with la.Index.create(path, kind="corpus") as index:
        index.add(documents)
    return path


def plain(answer: Queried) -> list[object]:
    """All answers; ids without the name of their index."""
    return [
        replace(one, matches=tuple(replace(match, id=match.id.rpartition("/")[2]) for match in one.matches))
        for one in answer.answers
    ]


@pytest.mark.parametrize("seed", range(6))
def test_indexes_asked_together_answer_as_one_of_all_documents(seed: int, tmp_path: Path) -> None:
    parts = [texts(seed * 10 + part, 12 * part) for part in range(3)]
    paths = [indexed(tmp_path / f"part{number}", part) for number, part in enumerate(parts)]
    whole = indexed(tmp_path / "whole", [one for part in parts for one in part])
    asked = [text for _, text in texts(seed * 10 + 1, 5)]
    with la.JoinedIndex(paths) as joined, la.Index(whole) as index:
        assert len(joined) == len(index)
        for text in asked:
            together, alone = (
                one.query(text, question=["identical", "resemblance", "distance"]) for one in (joined, index)
            )
            assert plain(together) == plain(alone)
            assert any(one.matches for one in together.answers)


def test_an_id_tells_its_index(tmp_path: Path) -> None:
    for year in ("2024", "2025"):
        indexed(tmp_path / year, [("essay", f"{year}: one two three four five six seven")])
    with la.JoinedIndex([tmp_path / "2024", tmp_path / "2025"]) as both:
        nearest = both.seen("2025: one two three four five six seven").nearest
    assert nearest is not None
    assert nearest.id == "2025/essay"


def test_other_parameters_are_refused(tmp_path: Path) -> None:
    indexed(tmp_path / "one", [("a", "text")])
    la.Index.create(tmp_path / "other", kind="corpus", shingle=3).close()
    with pytest.raises(VersionError, match=r"dedup\.shingle: 5 and 3"):
        la.JoinedIndex([tmp_path / "one", tmp_path / "other"])
    with pytest.raises(ParameterError, match="twice"):
        la.JoinedIndex([tmp_path / "one", tmp_path / "one"])
    with pytest.raises(ParameterError, match="no index"):
        la.JoinedIndex([])
