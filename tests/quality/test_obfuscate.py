"""Rewritten programs are valid, do what the original does, and differ from it where the attack says so."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import obfuscate
from support.obfuscate.tree import UnreadableError, lexed, parsed, written

PROGRAMS = Path(obfuscate.__file__).parent / "programs"
SOURCE = {
    "java": (PROGRAMS / "Marks.java").read_text("utf-8"),
    "cpp": (PROGRAMS / "paths.cpp").read_text("utf-8"),
    "python": (PROGRAMS / "words.py").read_text("utf-8"),
}
INPUTS = {
    "java": ["5\n3 50 120 -4 77\n", "3\n1 2 3\n", "0\n", "7\n9 8 11 12 13 2 1\n"],
    "cpp": ["2 3\n0 1 0\n0 1 1\n", "4 4\n0 0 1 1\n1 1 0 0\n0 1 0 1\n1 0 1 0\n", "1 1\n1\n"],
    "python": ["a rose is a rose,\nis a nose; a hose.\n", "one\n", "Tea, tee: the then.\n"],
}
SEEDS = range(3)


def variants(language: str) -> dict[str, str]:
    """Every attack with some seeds, by a name that is a word."""
    found = {"original": SOURCE[language]}
    for attack in obfuscate.ATTACKS:
        for seed in SEEDS:
            made = obfuscate.rewritten(SOURCE[language], language, attack, seed)
            if made is not None:
                found[f"{re.sub('[^a-z0-9]+', '_', attack)}_{seed}"] = made
    return found


@pytest.mark.parametrize("language", obfuscate.LANGUAGES)
@pytest.mark.parametrize("attack", obfuscate.ATTACKS)
def test_every_attack_applies_to_the_sample_and_is_deterministic(language: str, attack: str):
    first, again, other = (obfuscate.rewritten(SOURCE[language], language, attack, seed) for seed in (1, 1, 2))
    assert first == again
    if (language, attack) == ("python", "braces"):
        assert first is None, "Python has no braces around statements"
        return
    assert first is not None
    plain = obfuscate.rewritten(SOURCE[language], language, "layout", 1)
    assert (first == plain) == (attack == "layout")
    random = {"renaming", "dead 10 %", "dead 30 %", "dead 100 %", "dead functions", "constants", "all"}
    assert (first != other) or attack not in random


def output(program: str, given: str) -> str:
    """Run a Python program in this process."""
    told, before = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(given)
    try:
        with contextlib.redirect_stdout(told):
            exec(compile(program, "program", "exec"), {"__name__": "__main__"})
    finally:
        sys.stdin = before
    return told.getvalue()


def test_python_programs_do_the_same():
    wanted = [output(SOURCE["python"], given) for given in INPUTS["python"]]
    assert len(set(wanted)) == len(wanted)
    for name, program in variants("python").items():
        assert [output(program, given) for given in INPUTS["python"]] == wanted, name


DRIVER = """
import java.io.*;
public class Driver {
    public static void main(String[] names) throws Exception {
        PrintStream out = System.out;
        for (String name : names) {
            ByteArrayOutputStream told = new ByteArrayOutputStream();
            System.setOut(new PrintStream(told, true));
            for (String given : new String[] {INPUTS}) {
                System.setIn(new ByteArrayInputStream(given.getBytes()));
                Class.forName(name + ".Marks").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            }
            out.println(name + "=" + told.toString().replace("\\n", "|"));
        }
    }
}
"""


@pytest.mark.skipif(not (shutil.which("javac") and shutil.which("java")), reason="no JDK on this machine")
def test_java_programs_compile_and_do_the_same(tmp_path: Path):
    programs = variants("java")
    given = ", ".join('"' + text.replace("\n", "\\n") + '"' for text in INPUTS["java"])
    (tmp_path / "Driver.java").write_text(DRIVER.replace("INPUTS", given), "utf-8")
    for name, text in programs.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "Marks.java").write_text(f"package {name};\n{text}", "utf-8")
    files = [str(path) for path in tmp_path.rglob("*.java")]
    compiled = subprocess.run(["javac", "-nowarn", "-d", "out", *files], cwd=tmp_path, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    run = subprocess.run(["java", "-cp", "out", "Driver", *programs], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    told = dict(line.split("=", 1) for line in run.stdout.splitlines())
    assert "mean: " in told["original"]
    assert {name for name in programs if told[name] != told["original"]} == set()


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler on this machine")
def test_cpp_programs_compile_and_do_the_same(tmp_path: Path):
    programs = variants("cpp")
    heads = {line for text in programs.values() for line in text.splitlines() if line.startswith("#")}
    parts = [*sorted(heads), "#include <string>", "#include <stdio.h>"]
    for name, text in programs.items():
        body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        parts.append(f"namespace {name} {{\n{body}\n}}")
    calls = " ".join(f'if (std::string("{name}") == word[1]) return {name}::main();' for name in programs)
    parts.append(f"int main(int count, char **word) {{ {calls} return 9; }}")
    (tmp_path / "all.cpp").write_text("\n".join(parts) + "\n", "utf-8")
    command = ["g++", "-std=c++17", "-O0", "-w", "-o", "all", "all.cpp"]
    compiled = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    told = {
        name: [
            subprocess.run([tmp_path / "all", name], input=given, capture_output=True, text=True, check=True).stdout
            for given in INPUTS["cpp"]
        ]
        for name in programs
    }
    assert "parts, weight" in told["original"][0]
    assert {name for name in programs if told[name] != told["original"]} == set()


def statements(language: str, attack: str) -> int:
    made = obfuscate.rewritten(SOURCE[language], language, attack, 1)
    assert made is not None
    if language == "python":
        return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(made)))
    return made.count(";")


def test_braces_are_added_and_removed_around_one_statement():
    program = """class A { void f() {
        if (x) y(); else if (z) { y(); } else { y(); z(); }
        for (;;) if (x) { int a = 1; } else return;
        while (x) { if (y) z(); }
    } }"""
    wanted = """class A { void f() {
        if (x) { y(); } else if (z) y(); else { y(); z(); }
        for (;;) { if (x) { int a = 1; } else { return; } }
        while (x) { if (y) { z(); } }
    } }"""
    made = obfuscate.rewritten(program, "java", "braces", 1)
    assert made is not None
    assert lexed(made) == lexed(wanted)


@pytest.mark.parametrize("language", obfuscate.LANGUAGES)
def test_more_dead_statements_make_longer_programs(language: str):
    sizes = [statements(language, attack) for attack in ("layout", "dead 10 %", "dead 30 %", "dead 100 %")]
    assert sizes == sorted(set(sizes))
    assert sizes[3] > 1.6 * sizes[0]


@pytest.mark.parametrize("language", obfuscate.LANGUAGES)
def test_renaming_leaves_no_name_of_a_variable(language: str):
    made = obfuscate.rewritten(SOURCE[language], language, "renaming", 1)
    assert made is not None
    known = {
        "java": {"values", "clamp", "distance"},
        "cpp": {"waiting", "inside", "mark"},
        "python": {"counts", "best"},
    }
    assert not known[language] & set(re.findall(r"\w+", made))


def test_tokens_survive_reading_and_writing():
    for language in ("java", "cpp"):
        assert lexed(written(parsed(SOURCE[language]))) == lexed(SOURCE[language])


@pytest.mark.parametrize("program", ["class A { void f() { if (a } }", "int f() { return 1;", "}", "int a"])
def test_a_program_that_cannot_be_read_is_left_alone(program: str):
    with pytest.raises(UnreadableError):
        parsed(program)
    assert obfuscate.rewritten(program, "java", "renaming", 1) is None
    assert obfuscate.rewritten("def f(:", "python", "renaming", 1) is None
