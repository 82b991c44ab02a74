"""Submissions from what people have: folders, files, patterns, exports of platforms, tables of names."""

from __future__ import annotations

import gzip
import random
import zipfile
from pathlib import Path

import pytest

from lookalike.documents import Intake, Limits, Skipped, Submission, collect
from lookalike.documents.patterns import Pattern
from lookalike.errors import ParameterError


def make(root: Path, *paths: str) -> Path:
    """Make files, each with its own path as content."""
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    return root


def zipped(root: Path, name: str, *paths: str, **contents: bytes) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(root / name, "w") as archive:
        for path in paths:
            archive.writestr(path, path)
        for path, data in contents.items():
            archive.writestr(path, data)
    return root / name


def shape(intake: Intake) -> dict[str, list[str]]:
    """Names of documents by name of submission, in order."""
    return {one.name: [document.name for document in one.documents] for one in intake.submissions}


def one(intake: Intake, name: str) -> Submission:
    return next(one for one in intake.submissions if one.name == name)


def reasons(intake: Intake) -> dict[str, str]:
    return {row.name: row.reason for row in intake.skipped}


# --- folders, files, patterns ---------------------------------------------------------------------


def test_a_folder_of_folders_has_a_submission_a_folder_an_archive_and_a_loose_file(tmp_path: Path):
    root = make(tmp_path, "bob/b.py", "alice/src/deep/a.py", "alice/a.txt", "loose.py")
    zipped(tmp_path, "carol.zip", "c.py", "src/d.py")
    assert shape(collect([root])) == {
        "alice": ["a.txt", "src/deep/a.py"],
        "bob": ["b.py"],
        "carol": ["c.py", "src/d.py"],
        "loose.py": ["loose.py"],
    }


def test_content_arrives_byte_for_byte(tmp_path: Path):
    data = bytes(range(256)) * 3
    (tmp_path / "a.bin").write_bytes(data)
    (document,) = collect([tmp_path]).submissions[0].documents
    assert document.data == data


def test_an_archive_is_read_as_the_folder_it_was_made_of(tmp_path: Path):
    names = ["alice/src/a.py", "alice/x.txt", "bob/b.py", "loose.py"]
    folder = make(tmp_path / "folder", *names)
    archive = zipped(tmp_path, "hw.zip", *names)
    assert shape(collect([folder])) == shape(collect([archive]))


@pytest.mark.parametrize("names", [["subs/a.py", "subs/b.py"], ["x/subs/a.py", "x/subs/b.py", "__MACOSX/x/._a.py"]])
def test_a_folder_that_wraps_all_of_an_archive_is_looked_through(tmp_path: Path, names: list[str]):
    assert list(shape(collect([zipped(tmp_path, "hw.zip", *names)]))) == ["a.py", "b.py"]


def test_a_folder_of_files_has_a_submission_a_file(tmp_path: Path):
    assert list(shape(collect([make(tmp_path, "b.py", "a.py")]))) == ["a.py", "b.py"]


def test_several_files_are_submissions_named_apart_by_their_folders(tmp_path: Path):
    root = make(tmp_path, "alice/main.py", "bob/main.py", "bob/other.py")
    found = collect([root / "alice/main.py", root / "bob/main.py", root / "bob/other.py"])
    assert shape(found) == {"alice/main.py": ["main.py"], "bob/main.py": ["main.py"], "other.py": ["other.py"]}


def test_several_folders_are_roots_each(tmp_path: Path):
    root = make(tmp_path, "monday/alice/a.py", "tuesday/alice/a.py", "tuesday/bob/b.py")
    found = collect([root / "monday", root / "tuesday"])
    assert list(shape(found)) == ["bob", "monday/alice", "tuesday/alice"]


def test_several_archives_are_submissions_each(tmp_path: Path):
    paths = [zipped(tmp_path, "alice.zip", "src/a.py", "b.py"), zipped(tmp_path, "bob.zip", "c.py")]
    assert shape(collect(paths)) == {"alice": ["b.py", "src/a.py"], "bob": ["c.py"]}


def test_several_exports_are_roots_each(tmp_path: Path):
    paths = [zipped(tmp_path, f"{n}.zip", f"Ann Lee_{n}_assignsubmission_file_/a.py") for n in (1, 2)]
    assert list(shape(collect(paths))) == ["1.zip/Ann Lee", "2.zip/Ann Lee"]


def test_by_directory_the_files_given_are_grouped_by_their_folder(tmp_path: Path):
    root = make(tmp_path, "alice/a.c", "alice/b.c", "bob/a.c", "carol/x/deep.c", "carol/y.c")
    found = collect([str(root / "*/*.c"), root / "carol/x"], by_directory=True)
    assert shape(found) == {"alice": ["a.c", "b.c"], "bob": ["a.c"], "carol": ["y.c"], "x": ["deep.c"]}


def test_by_directory_a_root_of_files_is_one_submission(tmp_path: Path):
    root = make(tmp_path / "alice", "a.py", "b.py")
    assert shape(collect([root], by_directory=True)) == {"alice": ["a.py", "b.py"]}


def test_flat_each_file_is_a_submission(tmp_path: Path):
    root = make(tmp_path, "alice/a.py", "alice/b.py", "bob/a.py")
    found = collect([root], by_directory=False)
    assert shape(found) == {"alice/a.py": ["a.py"], "alice/b.py": ["b.py"], "bob/a.py": ["a.py"]}


def test_layouts_that_are_unknown_or_contradict_are_refused(tmp_path: Path):
    with pytest.raises(ParameterError, match="layout `wild` is not known"):
        collect([tmp_path], layout="wild")
    with pytest.raises(ParameterError, match="contradict"):
        collect([tmp_path], layout="moodle", by_directory=True)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*/main.py", ["alice/main.py", "bob/main.py"]),
        ("**/*.py", ["alice/main.py", "bob/main.py", "deep.py", "top.py"]),
        ("[ab]*/ma?n.py", ["alice/main.py", "bob/main.py"]),
        ("*.py", ["top.py"]),
    ],
)
def test_patterns_are_expanded(tmp_path: Path, pattern: str, names: list[str]):
    root = make(tmp_path, "alice/main.py", "bob/main.py", "bob/x/y/deep.py", "top.py", ".hidden.py", ".git/main.py")
    assert list(shape(collect([str(root / pattern)]))) == names


def test_a_path_that_looks_like_a_pattern_is_taken_by_its_word(tmp_path: Path):
    root = make(tmp_path, "hw[1]/a.py", "hw1/b.py")
    assert list(shape(collect([root / "hw[1]"]))) == ["a.py"]


@pytest.mark.parametrize("name", ["missing", "missing/*.py", "*.nothing", ""])
def test_a_path_that_is_not_there_is_an_error_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.chdir(make(tmp_path, "a.py"))
    with pytest.raises(FileNotFoundError) as caught:
        collect([name])
    assert caught.value.filename == name


def test_old_submissions_are_marked_and_named_apart(tmp_path: Path):
    root = make(tmp_path, "new/alice/a.py", "old/alice/a.py", "old/zoe/z.py")
    found = collect([root / "new"], old=[root / "old"])
    assert {one.name: one.old for one in found.submissions} == {"new/alice": False, "old/alice": True, "zoe": True}


def test_old_archives_are_roots_however_many(tmp_path: Path):
    old = [zipped(tmp_path, f"{year}.zip", f"{year}-a.py", f"{year}-b.py") for year in (2022, 2023)]
    found = collect([make(tmp_path / "new", "x.py")], old=old)
    assert sum(one.old for one in found.submissions) == 4


def test_templates_are_documents_by_name(tmp_path: Path):
    root = make(tmp_path, "hw/a.py", "starter/lib/util.py", "starter/main.py", "extra.py")
    found = collect([root / "hw"], templates=[root / "starter", root / "extra.py"])
    assert [one.name for one in found.templates] == ["extra.py", "starter/lib/util.py", "starter/main.py"]
    assert list(shape(found)) == ["a.py"]


def test_names_are_unique_though_some_look_numbered(tmp_path: Path):
    make(tmp_path, "1/x/main.py", "1/x/main (2).py", "2/x/main.py", "3/x/main.py")
    found = collect([tmp_path / f"{folder}/x" for folder in (1, 2, 3)], layout="flat")
    assert list(shape(found)) == ["main (2).py", "main (3).py", "main (4).py", "main.py"]
    assert found == collect([tmp_path / f"{folder}/x" for folder in (3, 1, 2)], layout="flat")


def test_the_order_of_arguments_and_folders_does_not_matter(tmp_path: Path):
    names = [f"{folder}/{file}" for folder in ("b", "a-b", "a", "a.b", "é") for file in ("z.py", "a/x.py", "a.py")]
    forwards = make(tmp_path / "1", *names)
    random.Random(1).shuffle(names)
    shuffled = make(tmp_path / "2", *names)
    assert collect([forwards]) == collect([shuffled])
    both = collect([forwards, shuffled])
    assert both == collect([shuffled, forwards])
    encoded = [one.name.encode() for one in both.submissions]
    assert encoded == sorted(encoded)


def test_progress_is_told_file_by_file(tmp_path: Path):
    heard: list[int] = []
    collect([make(tmp_path, "a.py", "b/c.py", "b/d.py")], progress=heard.append)
    assert heard == [1, 2, 3]


def test_nothing_readable_is_an_empty_intake_with_reasons(tmp_path: Path):
    found = collect([make(tmp_path, "a.class", ".git/config")])
    assert found.submissions == ()
    assert reasons(found) == {"*.class": "excluded: 1 file not read", ".git/": "excluded: 1 folder not read"}


# --- what is left out -----------------------------------------------------------------------------


def test_what_tools_make_is_left_out_and_counted_by_pattern(tmp_path: Path):
    rubbish = ["x/node_modules/a/b.js", "y/node_modules/c.js", "x/Main.class", "x/IMG.PNG", "y/._a.py", "y/.DS_Store"]
    found = collect([make(tmp_path, "x/a.py", "y/b.py", "y/build/c.py", *rubbish)])
    assert shape(found) == {"x": ["a.py"], "y": ["b.py", "build/c.py"]}
    assert reasons(found) == {
        "node_modules/": "excluded: 2 folders not read",
        "*.class": "excluded: 1 file not read",
        "*.png": "excluded: 1 file not read",
        "._*": "excluded: 1 file not read",
        ".DS_Store": "excluded: 1 file not read",
    }


def test_the_same_is_left_out_of_archives(tmp_path: Path):
    found = collect([zipped(tmp_path, "hw.zip", "x/a.py", "y/b.py", "x/node_modules/a/b.js", "x/node_modules/c.js")])
    assert shape(found) == {"x": ["a.py"], "y": ["b.py"]}
    assert reasons(found) == {"node_modules/": "excluded: 2 files not read"}


def test_include_restricts_and_exclude_adds(tmp_path: Path):
    root = make(tmp_path, "x/a.py", "x/b.txt", "x/tests/c.py", "y/a.py", "y/A.PY", "y/z.class")
    zipped(root, "carol.zip", "main.py", "notes.txt", "tests/t.py")
    found = collect([root], include=["*.py", "**/z.class"], exclude=["tests/", "y/a.*"])
    assert shape(found) == {"carol": ["main.py"], "x": ["a.py"], "y": ["z.class"]}
    assert reasons(found)["*"] == "not included by `*.py`, `**/z.class`: 3 files not read"
    assert Skipped("tests/", "excluded: 1 folder not read", False) in found.skipped
    assert Skipped("tests/", "excluded: 1 file not read", False) in found.skipped
    assert reasons(found)["y/a.*"] == "excluded: 1 file not read"
    assert reasons(collect([root], exclude=["*.zip"]))["*.zip"] == "excluded: 1 archive not read"


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a/b/c.py", True),
        ("*.py", "c.PY", False),
        ("a/*.py", "a/c.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/c.py", "a/c.py", True),
        ("a/**/c.py", "a/x/y/c.py", True),
        ("**/b/**", "a/b/c", True),
        ("**/b/**/d/**/f", "b/x/d/d/y/f", True),
        ("**/b/**/d/**/f", "b/x/d/d/y/g", False),
        ("/c.py", "a/c.py", False),
        ("[!a]?.c", "bb.c", True),
        ("[!a]?.c", "ab.c", False),
        ("[", "[", True),
        ("a\nb*", "a\nbc", True),
    ],
)
def test_patterns_mean_what_shells_mean(pattern: str, path: str, matches: bool):
    assert Pattern(pattern).matches(path) is matches


def test_patterns_with_many_stars_stay_cheap():
    """Seconds are not measured: with a backtracking matcher neither line would ever end."""
    assert not Pattern("*a" * 40 + "b").matches("a" * 4000)
    assert not Pattern("**/a/" * 40 + "b").matches("a/" * 1000 + "c")


# --- platforms ------------------------------------------------------------------------------------

MOODLE = [
    "Ann van der Lee_101_assignsubmission_file_/src/main.py",
    "Ann van der Lee_101_assignsubmission_onlinetext_/onlinetext.html",
    "Bo_Li_102_assignsubmission_file/main.py",
    "Bo_Li_103_assignsubmission_file_main.py",
    "Bo_Li_103_assignsubmission_file_lib.py",
    "Zoé Ç_104_assignsubmission_file_/hw.txt",
]


def test_a_moodle_export_is_recognised(tmp_path: Path):
    found = collect([make(tmp_path, *MOODLE)])
    assert shape(found) == {
        "Ann van der Lee": ["onlinetext.html", "src/main.py"],
        "Bo_Li": ["main.py"],
        "Bo_Li (2)": ["lib.py", "main.py"],
        "Zoé Ç": ["hw.txt"],
    }
    assert one(found, "Bo_Li").person == "Bo_Li_102"
    assert one(found, "Bo_Li (2)").person == "Bo_Li_103"


def test_archives_in_an_export_are_read(tmp_path: Path):
    inner = zipped(tmp_path, "inner.zip", "a.py").read_bytes()
    name = "Ann_1_assignsubmission_file_/hw.zip"
    found = collect([zipped(tmp_path, "hw.zip", "Bo_2_assignsubmission_file_/b.py", **{name: inner})])
    assert shape(found) == {"Ann": ["hw.zip/a.py"], "Bo": ["b.py"]}


CANVAS = [
    "leeann_11_501_main.py",
    "leeann_11_502_my notes-1.txt",
    "libo_LATE_12_503_main-2.py",
    "zoeç_13_text.html",
    "zoeç_14_505_a-b.tar.py",
]


def test_a_canvas_export_is_recognised(tmp_path: Path):
    zipped(make(tmp_path, *CANVAS), "maxo_15_506_hw-3.zip", "main.py")
    found = collect([tmp_path])
    assert shape(found) == {
        "leeann": ["main.py", "my notes.txt"],
        "libo": ["main.py"],
        "maxo": ["hw.zip/main.py"],
        "zoeç": ["text.html"],
        "zoeç (2)": ["a-b.tar.py"],
    }
    assert one(found, "libo").person == "12"


def test_one_stray_file_does_not_hide_an_export(tmp_path: Path):
    found = collect([make(tmp_path, *MOODLE, "grades.csv")])
    assert {"Ann van der Lee", "grades.csv"} < set(shape(found))


def test_a_layout_is_recognised_only_if_nearly_all_follow_it_unless_it_is_asked_for(tmp_path: Path):
    root = make(tmp_path, "leeann_11_501_main.py", "a.py", "b.py")
    assert list(shape(collect([root]))) == ["a.py", "b.py", "leeann_11_501_main.py"]
    assert list(shape(collect([root], layout="canvas"))) == ["a.py", "b.py", "leeann"]
    strays = make(tmp_path / "s", *MOODLE, "x.py", "y.py", "z.py")
    assert MOODLE[-1].partition("/")[0] in shape(collect([strays]))
    assert MOODLE[0] in shape(collect([make(tmp_path / "m", *MOODLE)], layout="flat"))


# --- the table of names ---------------------------------------------------------------------------

INFO = """filename,id,full_name,labels,created_at,ignored
ex/a.py,1,Ann Lee,group1,2019-07-23 17:12:33 +0200,
ex/b.py,2,"Li, Bo",,2019-07-25 11:02:57 +0200,
ex/b2.py,3,"Li, Bo",group2,,false
ex/gone.py,4,Max,,,
ex/starter.py,5,,,,true
"""


@pytest.mark.parametrize("kind", ["folder", "zip", "wrapped", "given"])
def test_a_table_names_the_submissions(tmp_path: Path, kind: str):
    names = ["ex/a.py", "ex/b.py", "ex/b2.py", "ex/starter.py"]
    root = make(tmp_path / "hw", *names)
    (root / "info.csv").write_text(INFO)
    archive = zipped(tmp_path, "hw.zip", *names, **{"info.csv": INFO.encode()})
    wrapped = zipped(tmp_path, "w.zip", *(f"w/{n}" for n in names), **{"w/info.csv": b"\xef\xbb\xbf" + INFO.encode()})
    path = {"folder": root, "zip": archive, "wrapped": wrapped, "given": root / "info.csv"}[kind]
    found = collect([path], include=["*.py"])
    assert shape(found) == {"Ann Lee": ["a.py"], "Li, Bo": ["b.py"], "Li, Bo (2)": ["b2.py"]}
    assert {one.person for one in found.submissions} == {"Ann Lee", "Li, Bo"}
    assert one(found, "Ann Lee").label == "group1"
    assert one(found, "Ann Lee").time == "2019-07-23 17:12:33 +0200"
    assert [document.name for document in found.templates] == ["ex/starter.py"]
    missing = "w/ex/gone.py" if kind == "wrapped" else "ex/gone.py"
    assert reasons(found)[missing] == "named in `info.csv`, but not among the files that are read"


def test_files_that_the_table_does_not_name_are_read_and_told(tmp_path: Path):
    root = make(tmp_path, "ann/main.py", "ann/lib/x.py", "both/b.py", "both/c.py", "both/d.py", "loose.py", "eve.zip")
    zipped(root, "eve.zip", "e.py")
    (root / "info.csv").write_text("filename;full_name\nann/main.py;Ann\nboth/b.py;Bo\nboth/c.py;Cy\neve.zip;Eve\n")
    found = collect([root])
    assert shape(found) == {
        "Ann": ["lib/x.py", "main.py"],
        "Bo": ["b.py"],
        "Cy": ["c.py"],
        "Eve": ["e.py"],
        "both": ["d.py"],
        "loose.py": ["loose.py"],
    }
    assert reasons(found) == {"info.csv": "does not name 3 of 7 files; they are read as well"}


def test_a_folder_that_the_table_names_has_its_files_named(tmp_path: Path):
    root = make(tmp_path, "ann/main.py", "ann/lib/x.py", "bo/b.py")
    (root / "info.csv").write_text("filename,full_name\nann,Ann Lee\nbo,Li Bo\n")
    found = collect([root])
    assert shape(found) == {"Ann Lee": ["lib/x.py", "main.py"], "Li Bo": ["b.py"]}
    assert reasons(found) == {}


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (b"name,label\na.py,x\n", "has no column `filename`: it is ignored"),
        (b"", "has no column `filename`: it is ignored"),
        (b'filename,label\n"a.py,x\n', "is not a CSV table (unexpected end of data): it is ignored"),
        (b"filename\n" + b"x" * 200_000, "is not a CSV table (field larger than field limit (131072))"),
    ],
)
def test_a_bad_table_is_told_and_left_out(tmp_path: Path, table: bytes, reason: str):
    root = make(tmp_path, "a.py", "b.py")
    (root / "info.csv").write_bytes(table)
    found = collect([root])
    assert list(shape(found)) == ["a.py", "b.py"]
    assert reasons(found)["info.csv"].startswith(reason)


def test_a_table_inside_a_submission_is_a_document(tmp_path: Path):
    found = collect([make(tmp_path, "alice/info.csv", "bob/b.py")])
    assert shape(found) == {"alice": ["info.csv"], "bob": ["b.py"]}


# --- limits of the run ----------------------------------------------------------------------------


def test_a_file_that_is_too_large_is_skipped_alone(tmp_path: Path):
    make(tmp_path, "a.py", "c.py")
    (tmp_path / "b.py").write_bytes(bytes(101))
    (tmp_path / "d.py").write_bytes(bytes(100))
    found = collect([tmp_path], limits=Limits(file_bytes=100))
    assert list(shape(found)) == ["a.py", "c.py", "d.py"]
    assert reasons(found) == {"b.py": "larger than 100 bytes"}


def test_beyond_the_files_of_a_run_nothing_is_read_and_that_is_told_once(tmp_path: Path):
    found = collect([make(tmp_path, *(f"{n}.py" for n in range(9)))], limits=Limits(files=4))
    assert list(shape(found)) == ["0.py", "1.py", "2.py", "3.py"]
    assert reasons(found) == {"4.py": "beyond 4 files and folders: this file and all later ones are not read"}


def test_beyond_the_bytes_of_a_run_nothing_is_read_and_that_is_told_once(tmp_path: Path):
    for name in "abcd":
        (tmp_path / name).write_bytes(bytes(30))
    found = collect([tmp_path], limits=Limits(total_bytes=70))
    assert list(shape(found)) == ["a", "b"]
    assert reasons(found) == {"c": "beyond 70 bytes in all: this file and all later ones are not read"}


def test_skipped_names_are_below_the_root_and_say_which_of_several(tmp_path: Path):
    root = make(tmp_path, "hw/a.py", "more/b.py", "starter/c.py")
    for folder in ("hw", "more", "starter"):
        (root / folder / "huge").write_bytes(bytes(50))
    limits = Limits(file_bytes=49)
    assert list(reasons(collect([root / "hw"], limits=limits))) == ["huge"]
    found = collect([root / "hw", root / "more"], templates=[root / "starter"], limits=limits)
    assert list(reasons(found)) == ["hw/huge", "more/huge", "starter/huge"]
    assert list(reasons(collect([root / "hw"], old=[root / "more"], limits=limits))) == ["huge", "more/huge"]


# --- what several paths are taken for ---


def test_of_several_folders_those_that_hold_files_are_submissions(tmp_path: Path):
    root = make(tmp_path, "ann/a.py", "ann/src/b.py", "bob/a.py", "2025/cyd/c.py", "2025/dan/d.py", "notes.py")
    found = collect([root / "ann", root / "bob", root / "2025", root / "notes.py"])
    assert shape(found) == {
        "ann": ["a.py", "src/b.py"],
        "bob": ["a.py"],
        "cyd": ["c.py"],
        "dan": ["d.py"],
        "notes.py": ["notes.py"],
    }
    assert found.understood == (
        "each of 2 folders that hold files is a submission; the file is a submission; "
        "the folder of folders is a class of submissions (-d: a submission)"
    )


def test_several_folders_of_code_folders_are_submissions(tmp_path: Path):
    root = make(tmp_path, "ann/src/a.py", "ann/test/b.py", "bob/src/a.py", "bob/Tests/b.py")
    found = collect([root / "ann", root / "bob"])
    assert shape(found) == {"ann": ["src/a.py", "test/b.py"], "bob": ["Tests/b.py", "src/a.py"]}
    assert found.understood == (
        "each of 2 folders of code folders such as `src` is a submission "
        "(give one of them alone to compare what is in it)"
    )
    assert shape(collect([root / "ann"])) == {"src": ["a.py"], "test": ["b.py"]}


def test_several_folders_with_other_folders_are_classes(tmp_path: Path):
    root = make(tmp_path, "2024/ann/src/a.py", "2024/src/b.py", "2025/bob/a.py")
    found = collect([root / "2024", root / "2025"])
    assert sorted(shape(found)) == ["ann", "bob", "src"]
    assert found.understood == "each of 2 folders of folders is a class of submissions (-d: a submission)"


@pytest.mark.parametrize("again", ["a.py", "./a.py", "link.py"])
def test_a_file_given_twice_is_read_once_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: str):
    make(tmp_path, "a.py", "b.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    monkeypatch.chdir(tmp_path)
    found = collect(["a.py", again, "b.py"])
    assert sorted(shape(found)) == ["a.py", "b.py"]
    (told,) = found.skipped
    assert (told.name, told.reason) == (again, "given twice, as `a.py` too; it is read once")
    assert not told.is_submitted


def test_a_folder_given_twice_is_read_once(tmp_path: Path):
    root = make(tmp_path, "ann/a.py", "bob/a.py")
    (root / "copy").symlink_to(root / "ann")
    assert sorted(shape(collect([root / "ann", root / "bob", root / "copy"]))) == ["ann", "bob"]


def test_a_pattern_of_folders_is_several_folders(tmp_path: Path):
    root = make(tmp_path / "class", "ann/a.py", "bob/a.py", "bob/b.py")
    zipped(root, "cyd.zip", "c.py")
    found = collect([str(root / "*")])
    assert shape(found) == {"ann": ["a.py"], "bob": ["a.py", "b.py"], "cyd": ["c.py"]}
    assert found.understood == "each of 2 folders that hold files is a submission; the archive is a submission"


def test_a_folder_of_archives_is_a_class(tmp_path: Path):
    for year in ("2024", "2025"):
        (tmp_path / year).mkdir()
        zipped(tmp_path / year, "ann.zip", "a.py")
        zipped(tmp_path / year, "bob.zip", "b.py")
    found = collect([tmp_path / "2024", tmp_path / "2025"])
    assert list(shape(found)) == ["2024/ann", "2024/bob", "2025/ann", "2025/bob"]


def test_folders_of_one_name_are_named_after_the_folder_above(tmp_path: Path):
    root = make(tmp_path, "2024/ann/a.py", "2025/ann/a.py")
    assert list(shape(collect([root / "2024/ann", root / "2025/ann"]))) == ["2024/ann", "2025/ann"]


def test_a_folder_of_moodle_is_named_after_its_person(tmp_path: Path):
    root = make(tmp_path, "Ann Lee_1_assignsubmission_file_/a.py", "Bo_2_assignsubmission_file_/a.py")
    found = collect([str(root / "*")])
    assert [(one.name, one.person) for one in found.submissions] == [("Ann Lee", "Ann Lee_1"), ("Bo", "Bo_2")]


@pytest.mark.parametrize(
    ("names", "options", "expected"),
    [
        (["ann/a.py", "bob/b.py"], {}, "each folder in `class` is a submission"),
        (["a.py", "b.py"], {}, "each file in `class` is a submission"),
        (["ann/a.py", "b.py"], {}, "each folder and each loose file in `class` is a submission"),
        (["ann/a.py", "bob/b.py"], {"layout": "flat"}, "each file in `class` is a submission"),
        (MOODLE, {}, "`class` is an export of Moodle"),
        (["a.py", "b.py"], {"by_directory": True}, "`class` is a submission"),
    ],
)
def test_what_one_folder_is_taken_for_is_told(tmp_path: Path, names: list[str], options: dict, expected: str):
    assert collect([make(tmp_path / "class", *names)], **options).understood == expected


def test_an_info_csv_is_told(tmp_path: Path):
    root = make(tmp_path / "class", "a.py", "b.py")
    (root / "info.csv").write_text("filename,full_name\na.py,Ann\nb.py,Bob\n")
    assert collect([root]).understood == "`info.csv` in `class` names the submissions"


# --- submissions without a file that is read ------------------------------------------------------


def test_a_folder_without_a_file_that_is_read_is_named(tmp_path: Path):
    root = make(tmp_path / "in", "Ann/a.py", "Pic/a.png", "Pics/deep/b.JPG", "Tool/node_modules/x.js", "loose.py")
    make(root, "node_modules/y.js", "left/z.py")
    (root / "Empty" / "src").mkdir(parents=True)
    zipped(root, "Bob.zip", "b.png")
    zipped(root, "Cyd.zip", "c.py")
    intake = collect([root], exclude=["left"])
    assert list(shape(intake)) == ["Ann", "Cyd", "loose.py"]
    assert intake.bare == ("Bob", "Empty", "Pic", "Pics", "Tool")
    assert collect([root], layout="flat").bare == ()
    assert collect([root], include=["*.py"], exclude=["left", "*.zip"]).bare == ("Empty", "Pic", "Pics", "Tool")


def test_a_folder_without_a_file_is_named_whatever_the_layout(tmp_path: Path):
    moodle = make(
        tmp_path / "moodle",
        *(f"{name}_{i}_assignsubmission_file_/a.py" for i, name in enumerate(["Ann", "Bob", "Cyd"])),
        "Dan_7_assignsubmission_file_/a.png",
        "Ann_0_assignsubmission_onlinetext_/a.png",
    )
    assert collect([moodle]).bare == ("Dan",)
    packed = zipped(tmp_path, "all.zip", "hw/Ann/a.py", "hw/Bob/b.py", "hw/Cyd/c.png", "hw/Dan/__pycache__/d.pyc")
    assert collect([packed]).bare == ("Cyd", "Dan")
    (tmp_path / "a" / "Empty").mkdir(parents=True)
    make(tmp_path / "a", "Bob/b.py", "Cyd/c.py")
    several = collect([tmp_path / "a" / name for name in ("Empty", "Bob", "Cyd")])
    assert (several.bare, several.understood) == (
        ("Empty",),
        "each of 2 folders that hold files is a submission",
    )


def test_a_compressed_file_is_read_and_not_taken_for_an_empty_archive(tmp_path: Path):
    root = make(tmp_path / "in", "Ann/a.py")
    (root / "Main.java.gz").write_bytes(gzip.compress(b"class Main {}"))
    intake = collect([root])
    assert list(shape(intake)) == ["Ann", "Main.java"]
    assert intake.bare == ()


def test_a_template_that_holds_nothing_is_named(tmp_path: Path):
    root = make(tmp_path, "in/Ann/a.py", "in/Bob/b.py", "starter/x.py", "starter/__init__.py")
    (tmp_path / "none").mkdir()
    (tmp_path / "blank.py").write_text(" \n")
    (tmp_path / "starter" / "__init__.py").write_text("")
    given = [root / "starter", root / "none", root / "blank.py"]
    assert collect([root / "in"], templates=given).hollow == ("none", "blank.py")
