"""Options mean the same everywhere: one help text, completion, headings, names as typed, refusals of unused ones."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from lookalike.cli import dedup as dedup_module
from lookalike.cli import fingerprint as fingerprint_module
from lookalike.cli import similarity as similarity_module
from lookalike.cli.command import Command
from lookalike.cli.main import cli
from lookalike.cli.wording import as_typed
from support.submissions import classroom, run

SHARED = ("--threads", "--memory", "--overwrite", "--json", "--quiet", "--strict", "--open")
TEXT = "A do run run run, a do run run. Meet me at the corner, he said, and bring the blue umbrella with you.\n" * 3


def leaves(group: click.Group, prefix: str = "") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= leaves(command, f"{prefix}{name} ")
        else:
            found[f"{prefix}{name}"] = command
    return found


LEAVES = leaves(cli)


def options(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option)]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"text": f"{TEXT} {number}"}) + "\n" for number in range(3)), encoding="utf-8")
    return path


@pytest.mark.parametrize("flag", SHARED)
def test_a_shared_option_has_one_help_text(flag: str):
    found = {option.help for command in LEAVES.values() for option in options(command) if flag in option.opts}
    assert len(found) == 1


def test_every_out_is_short_too_and_says_where():
    with_out = [one for command in LEAVES.values() for one in options(command) if "--out" in one.opts]
    assert len(with_out) > 8
    assert all("-o" in one.opts and (one.help or "").startswith("Where to write ") for one in with_out)


@pytest.mark.parametrize("name", ["compare", "dedup", "simhash", "near", "similarity", "fingerprint", "design"])
def test_commands_that_work_long_or_print_have_the_common_options(name: str):
    flags = {flag for option in options(cli.commands[name]) for flag in option.opts}
    assert {"-o", "--out", "--overwrite", "--json", "--quiet"} <= flags
    assert ("--threads" in flags) == (name in ("compare", "dedup", "simhash", "near"))


@pytest.mark.parametrize("name", LEAVES)
def test_every_help_teaches(name: str):
    command = LEAVES[name]
    assert isinstance(command, Command)
    assert "Examples:" in (command.help or "") or name == "completion"
    assert all(option.help for option in options(command))
    named = [one for names in command.groups.values() for one in names]
    assert not named or sorted(named) == sorted(option.name or "" for option in options(command))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", ["", "lab", *LEAVES])
def test_no_help_is_cut_off_or_too_wide(name: str, width: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run(*name.split(), "--help").out
    for several in ("INPUT...", "PATH...", "[ARGS]...", "ID...", "[INDEX]..."):
        shown = shown.replace(several, "")
    assert "..." not in shown
    # A list of choices cannot be broken.
    assert all(len(line) <= width for line in shown.splitlines() if "|" not in line or "$" in line)
    assert "who copied" not in shown


def test_top_level_lines_are_whole_sentences():
    for command in cli.commands.values():
        assert command.short_help is not None
        assert command.short_help.endswith(".")
        assert len(command.short_help) <= 63


def completions(words: list[str], incomplete: str) -> set[str]:
    made = ShellComplete(cli, {}, "lookalike", "_LOOKALIKE_COMPLETE").get_completions(words, incomplete)
    return {one.type for one in made}


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["compare"], "file"),
        (["dedup"], "file"),
        (["simhash"], "file"),
        (["near"], "file"),
        (["fingerprint"], "file"),
        (["similarity"], "file"),
        (["similarity", "a.txt"], "file"),
        (["lab", "simhash-pr"], "file"),
        (["compare", "--template"], "file"),
        (["compare", "--old"], "file"),
        (["compare", "-o"], "dir"),
        (["dedup", "--against"], "file"),
        (["dedup", "--ledger"], "file"),
        (["simhash", "--idf"], "file"),
        (["near", "--save"], "dir"),
        (["near", "--query"], "file"),
        (["lab", "density", "--corpus"], "file"),
        (["design", "--plot"], "file"),
    ],
    ids=" ".join,
)
def test_shells_complete_file_names(words: list[str], kind: str):
    assert completions(words, "") == {kind}


def test_completion_says_how_to_install_it():
    shown = run("completion", "--help").out
    assert all(place in shown for place in ("~/.bashrc", "~/.zshrc", "~/.config/fish/completions"))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("min_score `2` is not a score", "--min-score `2` is not a score"),
        ("t `3` is smaller than k `5`: use t ≥ 5", "-t `3` is smaller than -k `5`: use t ≥ 5"),
        ("use another name, or overwrite=True to replace it", "use another name, or --overwrite to replace it"),
        ("give out=… as well", "give --out as well"),
        ("layout=flat is needed", "--layout flat is needed"),
        ("by-directory and layout `flat`", "--by-directory and --layout `flat`"),
        ("`min_score` stays as it is, and so does `t `", "`min_score` stays as it is, and so does `t `"),
        ("--min-score is an option already", "--min-score is an option already"),
        ("threshold `1` belongs to another command", "threshold `1` belongs to another command"),
        ("the top of the page", "the top of the page"),
    ],
)
def test_messages_name_options_as_typed(message: str, expected: str):
    assert as_typed(message, cli.commands["compare"]) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fingerprint", "TEXT", "--modulus", "4"], "--modulus has no effect with --scheme robust"),
        (["fingerprint", "TEXT", "--count", "4"], "--count has no effect with --scheme robust"),
        (["fingerprint", "TEXT", "--scheme", "smallest", "-t", "60"], "-t has no effect with --scheme smallest"),
        (["fingerprint", "TEXT", "--json", "-n", "3"], "--top has no effect in JSON"),
        (["similarity", "TEXT", "TEXT", "--sketch", "fast", "--modulus", "8"], "--modulus has no effect with --sketch"),
        (["similarity", "TEXT", "TEXT", "--sketch", "modulo", "--size", "8"], "--size has no effect with --sketch"),
        (["dedup", "ROWS", "-o", "x", "--distance", "3"], "--distance has no effect with --method minhash: leave it"),
        (["dedup", "ROWS", "-o", "x", "--modulus", "8"], "or use --method containment"),
        (["dedup", "ROWS", "-o", "x", "--method", "exact", "--sketch", "fast"], "--sketch has no effect"),
        (["dedup", "ROWS", "-o", "x", "--method", "exact", "--threshold", "0.9"], "--threshold has no effect"),
        (["dedup", "ROWS", "-o", "x", "--method", "exact", "--unit", "word"], "--unit has no effect"),
        (["dedup", "ROWS", "-o", "x", "--method", "containment", "--size", "8"], "--size has no effect"),
        (["dedup", "ROWS", "-o", "x", "--method", "simhash", "--sketch", "fast"], "--sketch has no effect"),
        (
            ["dedup", "ROWS", "-o", "x", "--method", "simhash", "--no-verify", "--threshold", "0.9"],
            "--threshold has no effect with --no-verify",
        ),
        (["dedup", "ROWS", "--restore", "x", "-o", "y", "--keep", "longest"], "--keep has no effect with --restore"),
        (["simhash", "ROWS", "-o", "x.csv", "--language", "en"], "--language has no effect with --features words"),
        (["simhash", "ROWS", "-o", "x.csv", "--features", "paper", "--shingle", "1"], "--shingle has no effect"),
        (["near", "ROWS", "--save", "x", "--query", "y"], "--query has no effect with --save: search the saved folder"),
        (["near", "ROWS", "--save", "x", "--overwrite"], "--overwrite has no effect with --save"),
        (["design", "--sketch", "permutations", "--seed", "2"], "--seed has no effect with --sketch permutations"),
        (["design", "--sketch", "permutations", "--trials", "2"], "--trials has no effect"),
        (["design", "--distance", "3", "--documents", "9"], "--documents has no effect with --distance"),
        (["design", "--error", "0.1", "--seed", "9"], "--seed has no effect with --error"),
        (["design", "--filter", "6,14,2", "--recall", "0.9"], "--recall has no effect with --filter"),
        (["compare", "CLASS", "--json", "--top", "3"], "--top has no effect with --json and without --out"),
        (["compare", "CLASS", "--overwrite"], "--overwrite has no effect without --out"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_an_option_without_effect_is_refused_by_name(
    text: Path, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
):
    monkeypatch.chdir(tmp_path)
    places = {"TEXT": text, "ROWS": rows, "CLASS": tmp_path / "class"}
    ran = run(*(places.get(one, one) for one in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_defaults_that_are_not_typed_are_never_refused(text: Path, rows: Path, tmp_path: Path):
    assert run("dedup", rows, "--method", "exact", "--json").code == 0
    assert run("fingerprint", text, "--scheme", "smallest").code == 0
    assert run("similarity", text, text, "--modulus", "8", "--size", "9").code == 0, "every sketch is shown"


def test_the_tables_of_users_name_options_and_values():
    tables = ((dedup_module, "dedup", "method"), (fingerprint_module, "fingerprint", "scheme"))
    for module, name, chooser in (*tables, (similarity_module, "similarity", "sketch")):
        named = {option.name: option for option in options(cli.commands[name])}
        assert module.USERS.keys() <= named.keys()
        values = {value for one in module.USERS.values() for value in one}
        kind = named[chooser].type
        assert isinstance(kind, click.Choice)
        assert values <= set(kind.choices)


@pytest.mark.parametrize(
    "arguments",
    [["fingerprint", "TEXT"], ["similarity", "TEXT", "TEXT"], ["design", "--filter", "6,14,2", "--trials", "10"],
     ["design", "--error", "0.1"], ["design", "--distance", "3"]],
    ids=" ".join,
)  # fmt: skip
def test_out_holds_what_json_prints(text: Path, tmp_path: Path, arguments: list[str]):
    typed = [text if one == "TEXT" else one for one in arguments]
    out = tmp_path / "out.json"
    printed = run(*typed, "--json")
    ran = run(*typed, "-o", out)
    assert (ran.code, ran.out, ran.err) == (0, "", f"written: {out}\n")
    assert out.read_text(encoding="utf-8") == printed.out
    assert "exists already: use another name, or --overwrite to replace it" in run(*typed, "-o", out).err
    assert run(*typed, "-o", out, "--overwrite", "--quiet").err == ""
    assert "--out `out.txt` has no known format" in run(*typed, "-o", "out.txt").err


@pytest.mark.parametrize("command", ["compare", "demo", "lab density"])
def test_a_folder_with_the_suffix_of_a_file_is_refused(tmp_path: Path, command: str):
    inputs = [tmp_path] if command == "compare" else []
    ran = run(*command.split(), *inputs, "-o", tmp_path / "report.html")
    assert ran.code == 2
    assert "must be a folder" in ran.err
    assert not (tmp_path / "report.html").exists()


def test_compare_does_not_depend_on_threads_and_quiet_leaves_out_notes(tmp_path: Path):
    root = classroom(tmp_path / "in")
    (root / "picture.dat").write_bytes(b"\x89PNG\r\n\x1a\n")
    loud = run("compare", root, "-o", tmp_path / "1", "--threads", "1")
    quiet = run("compare", root, "-o", tmp_path / "2", "--threads", "2", "--quiet")
    assert "skipped: picture.dat" in loud.out
    assert "skipped" not in quiet.out
    assert "score" in quiet.out
    assert (tmp_path / "1" / "pairs.csv").read_bytes() == (tmp_path / "2" / "pairs.csv").read_bytes()


# --- numbers ---


def test_every_number_is_read_by_one_type():
    """click's own numbers take `1_0`, `nan` and the digits of any script."""
    kinds = {type(one.type).__name__ for command in LEAVES.values() for one in command.params}
    assert "Number" in kinds
    assert not {kind for kind in kinds if kind.startswith(("Int", "Float"))}


@pytest.mark.parametrize("typed", ["1_0", "٣", "３", " 3", "0x3", "3.0", ""])
def test_a_whole_number_has_the_digits_0_to_9(tmp_path: Path, typed: str):
    classroom(tmp_path / "class")
    done = run("compare", str(tmp_path / "class"), "--json", "-k", typed)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"lookalike: -k `{typed}` is not a whole number: use the digits 0 to 9\n"


@pytest.mark.parametrize("typed", ["nan", "inf", "-inf", "1e400", "0_1.5", "٠.٥", "infinity"])
def test_a_number_is_finite(tmp_path: Path, typed: str):
    classroom(tmp_path / "class")
    done = run("compare", str(tmp_path / "class"), "--json", "--min-score", typed)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"lookalike: --min-score `{typed}` is not a number: use the digits 0 to 9\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["compare", "PATH", "-m", "4294967296"], "--max-sharing `4294967296` is out of range: use 2 to 4294967295"),
        (["compare", "PATH", "-m", "-1"], "--max-sharing `-1` is out of range: use 2 to 4294967295"),
        (["compare", "PATH", "-n", "-1"], "--top `-1` is out of range: use 0 or more"),
        (["compare", "PATH", "--fail-above", "1.5"], "--fail-above `1.5` is out of range: use 0 to 1"),
        (["near", "PATH", "--distance", "-1"], "--distance `-1` is out of range: use 0 to 10"),
        (["near", "PATH", "--distance", "4294967296"], "--distance `4294967296` is out of range: use 0 to 10"),
        (["design", "--distance", "18446744073709551616"], "--distance `18446744073709551616` is out of range: use"),
        (["design", "--distance", "3", "--fingerprints", "nan"], "--fingerprints `nan` is not a number: use"),
        (["design", "--distance", "3", "--fingerprints", "1e300"], "--fingerprints `1e+300` is out of range: use"),
        (["design", "--distance", "3", "--tables", "٤"], "--tables `٤` is not known: use compact, fast, or how many"),
        (["design", "--filter", "6,1_4,2"], "--filter `6,1_4,2` is not k,s,r: give three whole numbers"),
        (["dedup", "PATH", "--json", "--memory", "1_0GiB"], "--memory `1_0GiB` is not an amount of memory: use"),
        (["dedup", "PATH", "--json", "--memory", "nan"], "--memory `nan` is not an amount of memory: use"),
    ],
)
def test_a_number_out_of_range_is_refused_as_it_was_typed(tmp_path: Path, arguments: list[str], expected: str):
    done = run(*[str(tmp_path) if one == "PATH" else one for one in arguments])
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"lookalike: {expected}")


def test_an_option_that_was_renamed_is_refused_with_its_new_name(text: Path):
    ran = run("compare", text.parent, "--max-page-bytes", "10")
    assert (ran.code, ran.out) == (2, "")
    assert "--max-page-bytes is now called --max-size" in ran.err
    assert "is now called" not in run("fingerprint", text, "--max-page-bytes", "10").err
