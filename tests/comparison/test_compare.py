"""What `compare` finds, through the surface: planted copies first, template and old work out, tables as designed."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path

import pytest

import lookalike as la
from lookalike import params
from support.packing import PACKERS, zip_bytes
from support.submissions import (
    SUFFIXES,
    classroom,
    half_copied,
    named,
    pairs,
    prose,
    reasons,
    renamed,
    run,
    snapshot,
    work,
    write,
)

STARTER = prose(7, 100)


@pytest.mark.parametrize("language", SUFFIXES)
def test_a_planted_copy_is_the_top_pair(tmp_path: Path, language: str):
    suffix = SUFFIXES[language]
    report = la.compare(classroom(tmp_path, language, honest=8))
    assert pairs(report)[0] == (f"thief{suffix}", f"victim{suffix}")
    others = [pair.score for pair in report.pairs[1:]]
    assert report.pairs[0].score > 0.4
    assert max(others, default=0) < report.pairs[0].score / 2


@pytest.mark.parametrize("language", sorted(set(SUFFIXES) - {"text"}))
def test_other_names_and_another_layout_hide_nothing(tmp_path: Path, language: str):
    suffix, whole = SUFFIXES[language], work(1, language)
    report = la.compare(write(tmp_path, {f"a{suffix}": whole, f"b{suffix}": renamed(whole)}))
    assert (report.pairs[0].left_coverage, report.pairs[0].right_coverage) == (1, 1)
    assert not report.pairs[0].passages[0].exact


def test_files_of_several_languages_are_compared_each_with_its_own(tmp_path: Path):
    files = {
        f"{who}/{i}{suffix}": work(seed + i, language)
        for who, seed in (("ann", 0), ("ben", 0), ("cy", 50))
        for i, (language, suffix) in enumerate(SUFFIXES.items())
    }
    report = la.compare(write(tmp_path, files))
    assert pairs(report) == [("ann", "ben")]
    assert report.pairs[0].score == 1
    assert [file.language for file in report.entries[0].files] == list(SUFFIXES)


def test_no_passage_crosses_a_file(tmp_path: Path):
    text = prose(1)
    middle = len(text) // 2
    apart = {"ann/1.txt": text[:middle], "ann/2.txt": text[middle:], "ben/all.txt": text}
    passages = la.compare(write(tmp_path, apart)).pairs[0].passages
    assert {(passage.left.file, passage.right.file) for passage in passages} == {(0, 0), (1, 0)}


def test_what_a_template_holds_counts_on_neither_side(tmp_path: Path):
    write(tmp_path / "in", {f"{i}.txt": STARTER + prose(i, 60) for i in range(3)})
    write(tmp_path / "in", {"copy.txt": STARTER + prose(0, 60)})
    write(tmp_path, {"starter/deep/er.txt": STARTER})
    without = la.compare(tmp_path / "in")
    assert without.pair_count == 6
    for template in (tmp_path / "starter", tmp_path / "starter" / "deep" / "er.txt"):
        report = la.compare(tmp_path / "in", template=template)
        assert pairs(report) == [("0.txt", "copy.txt")]
        assert report.pairs[0].score == 1
        assert all(passage.left.start >= len(STARTER) - 2 for pair in report.pairs for passage in pair.passages)
        assert all(entry.template_tokens > len(STARTER) / 2 for entry in report.entries)


@pytest.mark.parametrize("language", SUFFIXES)
def test_identical_after_template_removal_is_1_whatever_the_cohort(tmp_path: Path, language: str):
    suffix, starter = SUFFIXES[language], work(2, language)
    files = {f"a/main{suffix}": work(1, language), f"a/given{suffix}": starter, f"b/main{suffix}": work(1, language)}
    files |= {f"honest{i}/main{suffix}": half_copied(1, i + 10, language) for i in range(4)}
    write(tmp_path / "in", files)
    report = la.compare(
        tmp_path / "in", template=write(tmp_path / "given", {f"starter{suffix}": starter}), min_score=0.1
    )
    assert pairs(report)[0] == ("a", "b")
    assert report.pairs[0].score == 1
    assert report.pairs[1].score < 1


def test_a_submission_of_template_only_has_no_score(tmp_path: Path):
    write(tmp_path / "in", {"a.txt": STARTER, "b.txt": STARTER, "c.txt": STARTER + prose(1)})
    report = la.compare(tmp_path / "in", template=write(tmp_path / "starter", {"s.txt": STARTER}))
    assert report.pairs == ()
    assert {name for name, reason in reasons(report).items() if "template only" in reason} == {"a.txt", "b.txt"}


def test_what_more_than_m_share_is_nobodys_own(tmp_path: Path):
    shared = prose(9, 40)
    write(tmp_path, {f"{i}.txt": shared + prose(i, 60) for i in range(4)})
    assert la.compare(tmp_path).pair_count == 6
    assert la.compare(tmp_path, max_sharing=4).pair_count == 6
    report = la.compare(tmp_path, max_sharing=3, min_score=0.1)
    assert report.pairs == ()
    assert all(entry.common_tokens > len(shared) / 2 for entry in report.entries)


def test_identical_submissions_score_1_also_with_m(tmp_path: Path):
    shared = prose(9, 40)
    write(tmp_path, {f"{i}.txt": shared + prose(i, 60) for i in range(4)} | {"copy.txt": shared + prose(0, 60)})
    report = la.compare(tmp_path, max_sharing=2)
    assert pairs(report) == [("0.txt", "copy.txt")]
    assert report.pairs[0].score == 1


def test_old_work_is_compared_with_new_and_never_with_old(tmp_path: Path):
    text = prose(1)
    new = write(tmp_path / "new", {"a.txt": text, "b.txt": text})
    old = write(tmp_path / "old", {"c.txt": text, "d.txt": text})
    report = la.compare(new, old=old)
    assert set(pairs(report)) == set(combinations(("a.txt", "b.txt", "c.txt", "d.txt"), 2)) - {("c.txt", "d.txt")}
    assert [entry.old for entry in report.entries] == [False, False, True, True]


def test_two_submissions_of_one_person_are_never_paired(tmp_path: Path):
    info = "filename,full_name\nfirst.txt,Ann\nsecond.txt,Ann\nthird.txt,Ben\n"
    text = prose(1)
    report = la.compare(write(tmp_path, {"info.csv": info, "first.txt": text, "second.txt": text, "third.txt": text}))
    people = [(report.entries[pair.left].person, report.entries[pair.right].person) for pair in report.pairs]
    assert people == [("Ann", "Ben")] * 2


def test_one_person_cannot_make_a_passage_common(tmp_path: Path):
    text = prose(1)
    rows = "".join(f"{i}.txt,Flooder\n" for i in range(10))
    write(tmp_path, {"info.csv": f"filename,full_name\n{rows}thief.txt,Thief\nvictim.txt,Victim\n"})
    write(tmp_path, {f"{i}.txt": prose(1, 150) + prose(i + 20, 30) for i in range(10)})
    write(tmp_path, {"thief.txt": text + prose(40, 30), "victim.txt": text + prose(41, 30)})
    report = la.compare(tmp_path, max_sharing=3)
    assert ("Thief", "Victim") in pairs(report)
    assert report.pairs[0].passages[0].shared_by <= 3


@pytest.mark.parametrize(("k", "t", "length", "is_found"), [(10, 20, 20, True), (30, 40, 25, False)])
def test_k_and_t_decide_what_is_found(tmp_path: Path, k: int, t: int, length: int, is_found: bool):
    shared = "".join(c for c in prose(5) if c.isalpha())[:length]
    write(tmp_path, {f"{i}.txt": prose(i, 20) + shared.upper() + "!" + prose(i + 50, 20) for i in range(2)})
    report = la.compare(tmp_path, k=k, t=t, min_score=0)
    assert bool(report.pairs) == is_found
    assert f"at least {t} letters" in report.promise


def test_folders_are_submissions_unless_files_are_asked_for(tmp_path: Path):
    write(tmp_path, {"ann/1.txt": prose(1), "ann/2.txt": prose(2), "ben/1.txt": prose(1)})
    assert [entry.name for entry in la.compare(tmp_path).entries] == ["ann", "ben"]
    flat = la.compare(tmp_path, by_directory=False)
    assert pairs(flat) == [("ann/1.txt", "ben/1.txt")]


def test_d_makes_a_folder_of_files_one_submission(tmp_path: Path):
    ann = write(tmp_path / "ann", {"1.txt": prose(1), "2.txt": prose(2)})
    ben = write(tmp_path / "ben", {"1.txt": prose(2), "2.txt": prose(1)})
    report = la.compare([ann, ben], by_directory=True)
    assert pairs(report) == [("ann", "ben")]
    assert report.pairs[0].score == 1


def test_include_and_exclude_choose_the_files(tmp_path: Path):
    write(tmp_path, {"a/x.txt": prose(1), "b/x.txt": prose(1), "a/notes.md": prose(2), "b/notes.md": prose(3)})
    write(tmp_path, {"a/.git/x.txt": prose(4)})
    only = la.compare(tmp_path, include=["*.md"])
    assert [[file.name for file in entry.files] for entry in only.entries] == [["notes.md"], ["notes.md"]]
    assert only.pairs == ()
    without = la.compare(tmp_path, exclude=["*.md"])
    assert without.pairs[0].score == 1
    assert "excluded" in reasons(without)["*.md"]
    assert "excluded" in reasons(without)[".git/"]


@pytest.mark.parametrize("kind", PACKERS)
def test_an_archive_is_a_folder(tmp_path: Path, kind: str):
    members = [
        (f"hw/{name}/main.txt", text.encode()) for name, text in (("a", prose(1)), ("b", prose(2)), ("c", prose(1)))
    ]
    (tmp_path / f"hw.{kind}").write_bytes(PACKERS[kind](*members))
    report = la.compare(tmp_path / f"hw.{kind}")
    assert (pairs(report), report.pairs[0].score) == ([("a", "c")], 1)


def test_archives_in_a_folder_are_submissions(tmp_path: Path):
    for name in ("ann", "ben"):
        (tmp_path / f"{name}.zip").write_bytes(
            zip_bytes(("main.txt", prose(1).encode()), (f"{name}.txt", prose(3).encode()))
        )
    assert pairs(la.compare(tmp_path)) == [("ann", "ben")]


EXPORTS = {
    "moodle": [
        f"{name}_{i}_assignsubmission_file_/essay.txt" for i, name in enumerate(("Ann Lee", "Ben Ode", "Cy Ray"))
    ],
    "canvas": [f"{name}_{i}11_{i}22_essay.txt" for i, name in enumerate(("leeann", "odeben", "raycy"))],
}


@pytest.mark.parametrize("platform", EXPORTS)
def test_an_export_of_a_platform_names_people(tmp_path: Path, platform: str):
    files = dict(zip(EXPORTS[platform], (prose(1), prose(1), prose(2)), strict=True))
    report = la.compare(write(tmp_path, files))
    assert pairs(report) in ([("Ann Lee", "Ben Ode")], [("leeann", "odeben")])


def test_identical_submissions_are_one_cluster_with_a_representative(tmp_path: Path):
    report = la.compare(write(tmp_path, {f"{i}.txt": prose(1) for i in range(5)} | {"other.txt": prose(2)}))
    assert [(cluster.members, set(cluster.scores)) for cluster in report.clusters] == [((0, 1, 2, 3, 4), {1.0})]


def test_clusters_do_not_chain(tmp_path: Path):
    """Each work shares half with the next; the first and the last share nothing."""
    report = la.compare(write(tmp_path, {f"{i}.txt": prose(i, 80) + prose(i + 1, 80) for i in range(5)}))
    linked = {(pair.left, pair.right) for pair in report.pairs if pair.score >= report.cluster_threshold}
    for cluster in report.clusters:
        first = cluster.representative
        assert all((min(first, one), max(first, one)) in linked for one in cluster.members if one != first)
    assert max((len(cluster.members) for cluster in report.clusters), default=0) <= 3


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_tables_have_the_columns_of_the_design_and_agree_with_the_report(tmp_path: Path):
    root = classroom(tmp_path / "in")
    assert run("compare", root, "--out", tmp_path / "out").code == 0
    report = la.compare(root)
    pair = report.pairs[0]
    rows = table(tmp_path / "out" / "pairs.csv")
    assert ",".join(rows[0]) == (
        "left,right,score,left_coverage,right_coverage,matched_tokens,longest,passages,limited,stands_for,contained,"
        "score_whole,score_reachable,matched_bits,list,left_label,right_label,left_time,right_time,left_old,"
        "right_old,lists,strongest_bits"
    )
    assert (rows[0]["left"], rows[0]["right"]) == named(report, pair)
    assert float(rows[0]["score"]) == pytest.approx(pair.score, abs=1e-6)
    assert (int(rows[0]["longest"]), int(rows[0]["passages"])) == (pair.longest, len(pair.passages))
    passages = table(tmp_path / "out" / "passages.csv")
    places = ("file", "start_line", "end_line")
    sides = [[f"{side}_{place}" for place in places] for side in ("left", "right")]
    assert list(passages[0]) == [
        "left",
        "right",
        *sides[0],
        *sides[1],
        "tokens",
        "shared_by",
        "same_text",
        "bits",
        "weak",
    ]
    assert len(passages) == sum(len(pair.passages) for pair in report.pairs)
    assert [int(passages[0][name]) for name in sides[1][1:]] == [
        pair.passages[0].right.start_line,
        pair.passages[0].right.end_line,
    ]
    clusters = table(tmp_path / "out" / "clusters.csv")
    assert clusters == [
        {"name": name, "cluster": "1", "representative": "thief.txt"} for name in ("thief.txt", "victim.txt")
    ]


def test_report_json_holds_everything_but_the_texts(tmp_path: Path):
    root = classroom(tmp_path / "in")
    run("compare", root, "--out", tmp_path / "out")
    told = json.loads((tmp_path / "out" / "report.json").read_bytes())
    report = la.compare(root)
    assert told["version"] == la.__version__
    assert told["promise"] == report.promise
    assert [entry["digest"] for entry in told["entries"]] == [entry.digest for entry in report.entries]
    assert len(told["pairs"]) == told["pair_count"] == report.pair_count
    passage = dict(zip(told["passage_fields"], told["pairs"][0]["passages"][0], strict=True))
    assert passage["left_start"] == report.pairs[0].passages[0].left.start
    assert set(told["parameters"]) >= {"language", "thresholds", "max_sharing", "min_score", "comments", "templates"}


@pytest.mark.parametrize(
    ("code", "texts", "cut_off"),
    [
        (2, 0, params.CODE_CUT_OFF),
        (0, 2, params.LANGUAGE_CUT_OFFS["text"]),
        (3, 2, params.CODE_CUT_OFF),
        (2, 2, params.LANGUAGE_CUT_OFFS["text"]),
    ],
)
def test_the_cut_off_is_that_of_most_files_and_the_lower_one_on_a_tie(
    tmp_path: Path, code: int, texts: int, cut_off: float
):
    files = {f"{i}.py": work(i, "python") for i in range(code)} | {f"{i}.txt": prose(i) for i in range(texts)}
    report = la.compare(write(tmp_path, files))
    assert (report.cut_off, report.parameters["min_score"]) == (cut_off, cut_off)
    assert la.compare(tmp_path, min_score=0.7).cut_off == 0.7


def test_nothing_found_is_said_with_the_same_facts(tmp_path: Path):
    root = write(tmp_path / "in", {f"{i}.txt": prose(i) for i in range(3)})
    ran = run("compare", root, "--out", tmp_path / "out")
    assert ran.code == 0
    assert "compared: 3 submissions; 3 files" in ran.out
    assert "at least 22 letters of text" in ran.out
    assert "no pairs: no two submissions have a score of 0.05 or more" in ran.out
    assert table(tmp_path / "out" / "pairs.csv") == []
    assert "No pair reaches the cut-off" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_the_same_bytes_come_out_of_two_runs_any_threads_and_any_order_on_disk(tmp_path: Path):
    files = {
        f"{name}{suffix}": work(seed, language)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
        for language, suffix in SUFFIXES.items()
    }
    files |= {f"half{suffix}": half_copied(2, 9, language) for language, suffix in SUFFIXES.items()}
    files |= {"bad.bin": b"\0\1\2\3", "empty.txt": ""}
    forwards = write(tmp_path / "1" / "in", files)
    backwards = write(tmp_path / "2" / "in", dict(reversed(files.items())))
    folders = []
    for root, threads in ((forwards, 1), (forwards, 4), (backwards, None)):
        report = la.compare(root, threads=threads, template=forwards / "c.txt")
        out = tmp_path / f"out{len(folders)}"
        la.write_report(report, str(out))
        folders.append(snapshot(out))
    assert len(folders[0]) > 5
    assert folders[0] == folders[1] == folders[2]
