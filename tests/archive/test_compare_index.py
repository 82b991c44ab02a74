"""`compare` with an index answers what `compare` with the same files of earlier years does, to the byte."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.store import Index
from lookalike.comparison.result import Common, Remark, Report
from lookalike.errors import ParameterError, VersionError
from lookalike.rendering.comparison_tables import pairs_csv, passages_csv
from lookalike.rendering.html.overview import overview
from support.submissions import prose, run, write
from support.years import Files, Years, years

#: Sizes that give several segments and merges to a handful of documents.
SMALL = Policy(tail_documents=3, fan_in=2, tier_bytes=1 << 12)
CASES = 220


def indexed(path: Path, seed: int, handed: Path, made: Years, starter: Path | None) -> Path:
    """Make an index of these files, in several steps, with other documents before that are replaced or removed."""
    draw = random.Random(seed)
    policy = SMALL if draw.random() < 0.5 else Policy()
    index = Index._create(path, Parameters.of("class", **made.reading), policy)  # type: ignore[arg-type]
    if draw.random() < 0.5:
        index.add(write(path.parent / "before", before(draw, made.old)))
        index.remove([one.id for one in index.documents() if one.id.startswith("gone") or draw.random() < 0.3])
    index.add(handed, template=[starter] if starter else [])
    gone = {one.id for one in index.documents()} - names(handed, starter)
    index.remove(gone)
    index.close()
    return path


def before(draw: random.Random, files: Files) -> Files:
    """Return other versions of some files, and further ones."""
    chosen = draw.sample(sorted(set(files) - {"info.csv"}), min(3, len(files) - 1))
    other: Files = {name: prose(draw.randint(0, 99), 30) for name in chosen if name.endswith((".txt", ".py"))}
    return other | {"gone.txt": prose(1, 90), "gone/a.py": "print(1)\n"}


def names(handed: Path, starter: Path | None) -> set[str]:
    """Return the ids of all documents that belong into an index."""
    found = {one.name for one in la.documents.collect([handed]).submissions}
    given = la.documents.collect([handed], templates=[starter] if starter else []).templates
    return found | {f"template/{one.name}" for one in given}


def tables(report: Report) -> tuple[str, str]:
    return pairs_csv(report), passages_csv(report)


def same_persons(report: Report) -> list[str]:
    """Return the old submissions that are noted as those of a person who has a new one."""
    return [one.name for one in report.warnings if "taken for the same person" in one.reason]


def empty(report: Report) -> list[Remark]:
    """Return the submissions that are listed because nothing is in them."""
    return [one for one in report.undefined if "nothing in it" in one.reason]


@pytest.mark.parametrize("first", range(0, CASES, 20))
def test_an_index_answers_as_files_of_earlier_years(tmp_path: Path, first: int):
    listed = stored = returned = 0
    for seed in range(first, first + 20):
        made, root = years(seed), tmp_path / str(seed)
        new, old = write(root / "new", made.new), write(root / "files" / "old", made.old)
        starter = write(root / "starter", made.starter) if made.starter else None
        how = {**made.reading, **made.asking}
        by_files = la.compare(new, old=old, template=[starter] if starter else [], **how)  # type: ignore[arg-type]
        index = indexed(root / "old", seed, old, made, starter)
        by_index = la.compare(new, index=index, **how)  # type: ignore[arg-type]
        assert tables(by_index) == tables(by_files), f"seed {seed}"
        told = "pair_count", "contained_count", "little_count", "shared_count", "cut_off", "submitters", "histogram"
        assert [getattr(by_index, one) for one in told] == [getattr(by_files, one) for one in told], f"seed {seed}"
        assert by_index.parameters["templates"] == by_files.parameters["templates"], f"seed {seed}"
        # An index does not keep a submission of which no file can be read.
        unread = {one.name for one in by_files.undefined if one.reason.startswith("no file of it")}
        expected = [name for name in same_persons(by_files) if name not in unread]
        assert same_persons(by_index) == expected, f"seed {seed}"
        assert empty(by_index) == empty(by_files), f"seed {seed}"
        returned += len(expected)
        listed += by_files.pair_count
        stored += sum(by_index.entries[end].old for pair in by_index.pairs for end in (pair.left, pair.right))
    assert listed > 20
    assert stored > 5
    assert returned > 5


def test_the_command_line_takes_an_index(tmp_path: Path):
    made = years(3)
    new, old = write(tmp_path / "new", made.new), write(tmp_path / "files" / "old", made.old)
    index = tmp_path / "old"
    assert run("index", "create", index).code == 0
    assert run("index", "add", index, old).code == 0
    for name, more in (("by files", ["--old", old]), ("by index", ["--index", index])):
        assert run("compare", new, *more, "-o", tmp_path / name, "--min-score", "0").code == 0
    for table in ("pairs.csv", "passages.csv", "sections.csv", "clusters.csv"):
        both = [(tmp_path / name / table).read_bytes() for name in ("by files", "by index")]
        assert both[0] == both[1]
    assert "o2.py" in (tmp_path / "by index" / "pairs.csv").read_text("utf-8")


def test_years_in_several_indexes_and_files_are_those_of_several_folders(tmp_path: Path):
    for seed in (1, 4, 10, 12, 13, 22):
        made, root = years(seed), tmp_path / str(seed)
        new = write(root / "new", made.new)
        # A name stands in one folder only: two indexes take it for one person, two folders for two.
        tops = sorted({name.partition("/")[0].removesuffix(".zip") for name in made.old})
        year = {top: place % 3 for place, top in enumerate(tops)}
        parts: list[Files] = [{}, {}, {}]
        for name, text in made.old.items():
            parts[year[name.partition("/")[0].removesuffix(".zip")]][name] = text
        folders = [write(root / "files" / f"y{n}", part) for n, part in enumerate(parts) if part]
        indexes = []
        for n, folder in enumerate(folders[:2]):
            with la.Index.create(root / f"y{n}") as index:
                index.add(folder)
            indexes.append(root / f"y{n}")
        by_files = la.compare(new, old=folders, min_score=0.0)
        with la.Index(indexes[0]) as opened:
            by_index = la.compare(new, index=[opened, *indexes[1:]], old=folders[2:], min_score=0.0)
        assert tables(by_index) == tables(by_files), f"seed {seed}"
        assert by_index.submitters == by_files.submitters


def test_empty_archived_submissions_are_listed_like_empty_old_files(tmp_path: Path):
    """Also one with comments only, and one of a person who has a new submission."""
    essay = prose(1, 120)
    files: Files = {"ann/a.txt": essay, "bob/b.py": "", "cyd/c.py": "# a comment only\n\n", "eve/e.txt": "\n \n"}
    old = write(tmp_path / "files" / "old", files)
    with la.Index.create(tmp_path / "old") as index:
        index.add(old)
    new = write(tmp_path / "new", {"eve/essay.txt": prose(9, 20) + essay, "zoe/none.py": ""})
    by_files, by_index = la.compare(new, old=old), la.compare(new, index=tmp_path / "old")
    assert tables(by_index) == tables(by_files)
    assert by_index.undefined == by_files.undefined
    assert [one.name for one in empty(by_index)] == ["bob", "cyd", "old/eve", "zoe"]
    assert (by_index.compared, by_index.submitters) == (by_files.compared, by_files.submitters) == (2, 5)
    with la.Index.open(tmp_path / "old", write=True) as index:
        index.remove(["bob", "cyd"])
    assert [one.name for one in empty(la.compare(new, index=tmp_path / "old"))] == ["old/eve", "zoe"]


def test_one_new_submission_is_compared_with_an_index(tmp_path: Path):
    essay = prose(1, 120)
    old = write(tmp_path / "old", {"ann/essay.txt": essay, "bob/essay.txt": prose(2, 90), "cyd/essay.txt": prose(3)})
    with la.Index.create(tmp_path / "archive") as index:
        index.add(old)
    new = write(tmp_path / "new", {"eve/essay.txt": prose(9, 20) + essay})
    report = la.compare(new, index=tmp_path / "archive")
    assert [(report.entries[one.left].name, report.entries[one.right].name) for one in report.pairs] == [("ann", "eve")]
    # Those that share nothing are counted.
    assert (report.elsewhere, report.compared, report.submitters, report.below) == (2, 4, 4, 2)
    with la.Index.open(tmp_path / "archive", write=True) as index:
        index.remove("ann")
    assert la.compare(new, index=tmp_path / "archive").pairs == ()


@pytest.mark.parametrize(
    ("made", "asked", "told"),
    [
        ({}, {"t": 30}, "k, t of text: 16, 22, not 16, 30"),
        ({"k": 5}, {}, "k, t of text: 5, 22, not 16, 22"),
        ({}, {"language": "java"}, "language: auto, not java"),
        ({"comments": True}, {}, "comments: True, not False"),
    ],
)
def test_other_parameters_are_refused_by_both_names(
    tmp_path: Path, made: dict[str, object], asked: dict[str, object], told: str
):
    la.Index.create(tmp_path / "archive", **made).close()  # type: ignore[arg-type]
    new = write(tmp_path / "new", {"a.txt": prose(1), "b.txt": prose(2)})
    with pytest.raises(VersionError, match=told):
        la.compare(new, index=tmp_path / "archive", **asked)  # type: ignore[arg-type]
    options = [f"-{name[0]}{value}" for name, value in asked.items()]
    assert run("compare", new, "--index", tmp_path / "archive", "--json", *options).code == 6


@pytest.mark.parametrize(("how", "told"), [({"no_texts": True}, "texts"), ({"without": "passages"}, "passages")])
def test_an_index_that_keeps_too_little_is_refused(tmp_path: Path, how: dict[str, object], told: str):
    la.Index.create(tmp_path / "archive", **how).close()  # type: ignore[arg-type]
    new = write(tmp_path / "new", {"a.txt": prose(1), "b.txt": prose(2)})
    with pytest.raises(ParameterError, match=f"without {told}"):
        la.compare(new, index=tmp_path / "archive")


def test_an_index_is_not_counted_twice(tmp_path: Path):
    la.Index.create(tmp_path / "index").close()
    with pytest.raises(ParameterError, match="given twice"):
        la.compare(write(tmp_path / "new", {"ann/a.py": "x = 1"}), index=[tmp_path / "index", tmp_path / "index"])


def test_the_summary_and_the_report_say_whose_files_they_count(tmp_path: Path):
    essay = prose(1, 120)
    old = write(tmp_path / "old", {"ann/essay.txt": essay, "bob/essay.txt": prose(2, 90), "cyd/essay.txt": ""})
    new = write(tmp_path / "new", {"eve/essay.txt": prose(9, 20) + essay})
    with la.Index.create(tmp_path / "archive") as index:
        index.add(old)
    shown = {}
    for how, path in (("--index", tmp_path / "archive"), ("--old", old)):
        out = tmp_path / how
        done = run("compare", new, how, path, "-o", out)
        assert done.code == 0
        shown[how] = done.out, (out / "report.html").read_text("utf-8")
    assert " 2 files, " in shown["--index"][0]
    told = "without those of 2 archived submissions that share nothing"
    assert [told in text for text in shown["--index"]] == [True, True]
    assert [told in text for text in shown["--old"]] == [False, False]


def test_material_shared_by_many_says_that_not_all_of_the_archive_is_searched(tmp_path: Path):
    report = la.compare({"ann": la.Tokens(range(40)), "bob": la.Tokens(range(40))})
    common = Common(0, report.pairs[0].passages[0].left, 40, (0, 1))
    for elsewhere in (0, 3):
        page = overview(replace(report, common=(common,), elsewhere=elsewhere), ["ann", "bob"], {}, [])
        assert "Material shared by many" in page
        assert ("Of archived submissions only those are searched" in page) == bool(elsewhere)
