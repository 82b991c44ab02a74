"""Code that cannot run does not dilute a copy, and nobody loses by code that only seems dead."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import lookalike as la
from lookalike.comparison.result import Pair, Report
from support.submissions import write

#: A task in Java, at two places of the text: what `main` does, and a method that it calls.
MAIN = "\n".join(
    f'        int v{i} = next() * {i} + table[{i}]; if (v{i} > limit) {{ System.out.println("line {i} of it"); }}'
    for i in range(12)
)
#: Methods that nobody calls; none equals another.
LIBRARY = "\n".join(
    f"    static int m{i}(int a, int b) {{ int s = {' + '.join('ab'[i >> n & 1] for n in range(7))}; "
    + f"{'while (s > a) { s -= b; } ' * (i % 3)}{'for (int j = 0; j < s; j++) { s /= 2; } ' * (i % 4)}return s; }}"
    for i in range(60)
)
OTHER = "\n".join(
    f"        String w{i} = in.readLine().trim(); do {{ count[{i}]++; w{i} = w{i}.cut(1); }} while (!w{i}.isEmpty());"
    for i in range(12)
)
SHORTEST = "        System.out.println(args.length);"


def java(body: str, more: str = "", start: str = "public static void main(String[] args)") -> str:
    """Return a Java program."""
    return f"import java.util.*;\nclass Task {{\n    {start} {{\n{body}\n    }}\n{more}\n}}\n"


def compared(folder: Path, **files: str) -> Report:
    """Compare files; `ann_java` is `ann.java`."""
    return la.compare(
        write(folder, {name.replace("_", "."): text for name, text in files.items()}), layout="flat", min_score=0.0
    )


def pair_of(report: Report, one: str, other: str) -> Pair:
    """Return the pair of two submissions."""
    places = [next(i for i, entry in enumerate(report.entries) if entry.name.startswith(name)) for name in (one, other)]
    return next(pair for pair in report.pairs if {pair.left, pair.right} == set(places))


def test_a_library_that_is_never_called_does_not_hide_a_copy(tmp_path: Path) -> None:
    report = compared(
        tmp_path,
        ann_java=java(MAIN),
        bob_java=java(MAIN, LIBRARY),
        eve_java=java(OTHER),
        joe_java=java(OTHER + SHORTEST),
    )
    pair = pair_of(report, "ann", "bob")
    assert pair.score == pair.score_reachable
    assert pair.score > 0.9 > 0.4 > pair.score_whole
    entry = report.entries[1]
    assert entry.reachability == "analysed"
    assert 0.7 * entry.tokens < entry.unreachable_tokens < entry.tokens


def test_a_library_that_seems_to_be_called_counts(tmp_path: Path) -> None:
    calls = "\n        if (false) { " + " ".join(f"m{i}(1, 2);" for i in range(60)) + " }"
    report = compared(tmp_path, ann_java=java(MAIN), bob_java=java(MAIN + calls, LIBRARY))
    assert report.entries[1].unreachable_tokens == 0
    pair = pair_of(report, "ann", "bob")
    assert pair.score == pair.score_whole == pair.score_reachable


def test_copied_code_that_seems_dead_keeps_its_score(tmp_path: Path) -> None:
    start = "static void copied()"
    files = {
        f"{name}_java": java(MAIN, f"    public static void main(String[] args) {{\n{own}\n    }}", start)
        for name, own in (("ann", OTHER), ("bob", SHORTEST * 20))
    }
    report = compared(tmp_path, **files)
    assert all(entry.unreachable_tokens > 100 for entry in report.entries)
    pair = pair_of(report, "ann", "bob")
    assert pair.score_reachable is not None
    assert pair.score == pair.score_whole > pair.score_reachable


def test_code_that_is_found_by_computed_names_counts(tmp_path: Path) -> None:
    functions = "".join(f"def on_{i}(a, b):\n    return [a + {i}, b - {i}, a * b]\n\n\n" for i in range(12))
    start = (
        "def run(names):\n    for name in names:\n        print(globals()['on_' + name](1, 2))\n\n\nrun(['1', '2'])\n"
    )
    report = compared(tmp_path, ann_py=functions + start, bob_py=functions + start)
    assert {entry.reachability for entry in report.entries} == {
        "not analysed: the code finds other code by computed names"
    }
    pair = pair_of(report, "ann", "bob")
    assert (pair.score, pair.score_reachable) == (1.0, None)


def test_functions_in_tables_of_pointers_count(tmp_path: Path) -> None:
    functions = "".join(f"int f{i}(int a) {{ return a * {i} + 1; }}\n" for i in range(12))
    table = f"int (*table[])(int) = {{{', '.join(f'f{i}' for i in range(12))}}};\n"
    text = functions + table + "int main(int argc, char **argv) { return table[argc](3); }\n"
    report = compared(tmp_path, ann_c=text, bob_c=text)
    assert [(entry.reachability, entry.unreachable_tokens) for entry in report.entries] == [("analysed", 0)] * 2


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (
            "a_go",
            "package main\n\nfunc main() { a := 1; b := a + 2; println(a, b) }\n",
            "the language is not supported",
        ),
        ("a_txt", "An essay has no code that could run or not run at all.", "the language is not supported"),
        ("a_java", java(MAIN + " } } ) (")[:-30], "a file does not parse"),
        ("a_java", java(MAIN, start="void begin()"), "no entry point"),
        ("a_java", java("int a = 1;", LIBRARY), "fewer than 60 tokens can be reached"),
    ],
)
def test_the_reason_is_told_where_everything_counts_as_reachable(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    report = compared(tmp_path, **{name: text, "b" + name[1:]: text + "\n"})
    assert [(entry.reachability, entry.unreachable_tokens) for entry in report.entries] == [
        (f"not analysed: {reason}", 0)
    ] * 2
    assert [pair.score_reachable for pair in (*report.pairs, *report.little)] == [None]


def test_files_of_a_submission_are_analysed_together(tmp_path: Path) -> None:
    helper = (
        "class Helper {\n    static int used(int a) { return a; }\n    static int unused(int a) { return -a; }\n}\n"
    )
    program = java(MAIN + "\n        Helper.used(1);")
    folder = write(tmp_path, {f"{who}/{name}": text for who in "ab" for name, text in
                              (("Task.java", program), ("Helper.java", helper))})  # fmt: skip
    report = la.compare(folder, by_directory=True)
    assert {entry.reachability for entry in report.entries} == {"analysed"}
    assert {entry.unreachable_tokens for entry in report.entries} == {9}
    marks = list(struct.iter_unpack("=3I", report.marks(0, 0)))
    dead = [helper[start:end] for start, end, kind in marks if kind == 9]
    assert dead == ["int unused(int a) { return -a; }"]


def test_a_script_next_to_a_page_is_not_analysed(tmp_path: Path) -> None:
    script = (
        "".join(f"function f{i}(a) {{ return [a + {i}, a - {i}]; }}\n" for i in range(9))
        + "console.log(f1(2), f2(3));\n"
    )
    page = "<html><body><button onclick='f3()'>A button that calls a function of the script</button></body></html>"
    folder = write(tmp_path, {f"{who}/{name}": text for who in "ab" for name, text in
                              (("a.js", script), ("index.html", page))})  # fmt: skip
    report = la.compare(folder, by_directory=True)
    assert {entry.reachability for entry in report.entries} == {
        "not analysed: files in other languages may call the code"
    }


def test_a_driver_that_everybody_received_makes_no_strangers_alike(tmp_path: Path) -> None:
    """Where only what all have can run, the rest counts as well."""
    driver = java(MAIN, start="public static void main(String[] args)").replace("class Task", "class Driver")
    own = {
        f"p{i}/Own.java": f"class Own{i} {{\n"
        + "\n".join(
            f"  int f{i}{j}(int a) {{ {'a++; ' * (j % 3 + i)}return a {'+-*/%^&|'[i]} {j}; }}" for j in range(40)
        )
        + "\n}\n"
        for i in range(8)
    }
    report = la.compare(write(tmp_path, own | {f"p{i}/Driver.java": driver for i in range(8)}), min_score=0.0)
    assert any(entry.unreachable_tokens for entry in report.entries)
    assert all(pair.score < 0.9 for pair in report.pairs)
