"""The demo: what was planted in the class is found before anything else, offline; only the report is written."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lookalike.comparison.result import Report
from lookalike.demo import story
from lookalike.errors import ParameterError
from lookalike.rendering.html import folder
from support.children import PATIENCE

PLANTED = {frozenset((one.author, one.copier)) for one in story.PLANTED}


@pytest.fixture(scope="module")
def report() -> Report:
    return story.compare_class(min_score=0)


def scores(report: Report) -> dict[frozenset[str], float]:
    names = [entry.name for entry in report.entries]
    return {frozenset((names[pair.left], names[pair.right])): pair.score for pair in report.pairs}


def planted(report: Report) -> list[float]:
    return [score for pair, score in scores(report).items() if pair in PLANTED]


def honest(report: Report) -> list[float]:
    """Scores of pairs of which neither half is a copy."""
    copiers = {one.copier for one in story.PLANTED}
    return [score for pair, score in scores(report).items() if not pair & copiers]


def files(folder: Path) -> dict[str, str]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def test_every_planted_pair_ranks_above_every_other(report: Report):
    others = [score for pair, score in scores(report).items() if pair not in PLANTED]
    assert len(planted(report)) == len(story.PLANTED)
    assert min(planted(report)) > 2 * max(others)


def test_a_copy_under_new_comments_scores_one(report: Report):
    assert scores(report)[frozenset(("Amara Okafor", "Lukas Weber"))] == 1


def test_the_starter_is_nobodys_own(report: Report):
    """Without it, those who wrote their own program seem to share some of it; with it, hardly anything."""
    unaware = story.compare_class(min_score=0, template=())
    assert max(honest(unaware)) > 0.25
    assert max(honest(report)) < 0.2


def test_the_class_has_three_languages_a_notebook_and_a_pdf(report: Report):
    assert {file.language for entry in report.entries for file in entry.files} == {
        "python", "java", "cpp", "text", "text+python",
    }  # fmt: skip
    assert {".ipynb", ".pdf"} < {Path(file.name).suffix for entry in report.entries for file in entry.files}


def test_a_report_tells_formats_pages_and_thresholds(report: Report):
    files = {Path(file.name).suffix: file for entry in report.entries for file in entry.files}
    assert {suffix: file.format for suffix, file in files.items() if file.format} == {
        ".ipynb": "notebook",
        ".pdf": "pdf",
    }
    assert files[".pdf"].places == ((0, "page 1"),)
    for start, label in files[".ipynb"].places:
        assert files[".ipynb"].text[start:].startswith(f"— {label} —\n")
    assert report.parameters["thresholds"].keys() == {"python", "java", "cpp", "text"}
    assert report.parameters["thresholds"]["text"] == [16, 22]
    assert not {"k", "t"} & report.parameters.keys()


def test_everything_in_the_class_is_read(report: Report):
    assert len(report.entries) == 16
    assert (report.skipped, report.undefined, report.warnings) == ((), (), ())


def test_what_an_installer_compiles_is_not_handed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(story.MATERIAL, tmp_path / "installed")
    compiled = tmp_path / "installed" / "class" / "okafor" / "__pycache__"
    compiled.mkdir(exist_ok=True)
    (compiled / "loans.cpython-311.pyc").write_bytes(b"\0")
    monkeypatch.setattr(story, "MATERIAL", tmp_path / "installed")
    assert story.compare_class().skipped == ()


def test_the_demo_runs_offline_and_ends_with_a_report(tmp_path: Path):
    blocked = "import socket\ndef no(*a, **k): raise OSError('network used')\nsocket.socket.connect = no\n"
    (tmp_path / "sitecustomize.py").write_text(blocked, encoding="utf-8")
    path = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))
    command = [sys.executable, "-m", "lookalike", "demo", "--out", "shown"]
    done = subprocess.run(
        command, capture_output=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, b"")
    shown = " ".join(done.stdout.decode().split())
    assert "The shared passage has 160 letters" in shown
    assert "The 6 planted copies are the first 6 pairs." in shown
    assert "14 of 60 rows removed, each for its original; 46 kept." in shown
    assert "c11 is kept: a typing mistake at the beginning. Its resemblance with n30 is 0.79" in shown
    assert f"report: {Path('shown', 'report.html')}" in shown
    assert (tmp_path / "shown" / "report.html").is_file()
    assert len(list((tmp_path / "shown" / "pairs").iterdir())) >= len(story.PLANTED)


def test_the_demo_leaves_its_material_as_it_was(tmp_path: Path):
    before = files(story.MATERIAL)
    story.tell(tmp_path / "report", False)
    assert files(story.MATERIAL) == before


def test_a_second_run_replaces_the_first_with_the_same_bytes(tmp_path: Path):
    story.tell(tmp_path / "report", False)
    first = files(tmp_path / "report")
    story.tell(tmp_path / "report", False)
    assert files(tmp_path / "report") == first
    assert os.listdir(tmp_path) == ["report"]


def test_another_report_is_replaced_only_when_asked(report: Report, tmp_path: Path):
    folder.write(replace(report, parameters={"title": "Homework 5"}), tmp_path / "mine", folder.Extent.new(1))
    before = files(tmp_path / "mine")
    with pytest.raises(ParameterError, match="overwrite=True"):
        story.tell(tmp_path / "mine", False)
    assert files(tmp_path / "mine") == before
    story.tell(tmp_path / "mine", True)
    assert files(tmp_path / "mine") != before


@pytest.mark.parametrize("place", [None, len(story.PLANTED) + 1])
def test_a_planted_copy_that_is_not_on_top_is_told(place: int | None):
    said = story.verdict([*range(1, len(story.PLANTED)), place])
    assert said.startswith("Unexpected result: ")
    assert story.PLANTED[-1].copier in said
    assert story.PLANTED[0].copier not in said


def test_notices_go_for_the_sake_of_those_they_were_made_of():
    rows, found = story.notices()
    gone = {rows[i]["id"]: rows[found.survivors[i]]["id"] for i in found.gone}
    planted = {row["id"]: row["copy_of"] for row in rows if row["copy_of"]}
    assert gone.items() < planted.items()
    assert set(planted) - set(gone) == {"c11"}
    assert min(found.resemblances[i] for i in found.gone) >= 0.8
    assert (found.states["short"], found.problems) == (1, [])


def test_a_notice_that_goes_for_another_is_told():
    assert story._gone(14, 60, ["n03"]).startswith("Unexpected result: n03 ")


def test_notices_that_were_seen_are_copies_of_what_came_before():
    rows, _ = story.notices()
    found = story.sightings(rows)
    assert len(found) >= 9
    for one in found:
        assert one.before < one.row
        assert rows[one.row]["copy_of"] in (rows[one.before]["id"], rows[one.before]["copy_of"])
        assert one.bits <= 3


def test_the_archive_knows_last_year_and_yesterday():
    told = story.archived()
    assert story._remembered(told) == "The copy from last year is found."
    rows, found = story.notices()
    today = {rows[place]["id"] for place in range(story.YESTERDAY, len(rows))}
    # Day by day, as all at once.
    assert set(told.kept) == today - {rows[place]["id"] for place in found.gone}


def test_another_pair_with_last_year_is_told():
    told = story.archived()
    assert story._remembered(told._replace(report=replace(told.report, pairs=()))).startswith("Unexpected result")
