"""The house itself: imports go inwards, parameters stand once, documents agree with the code, examples run."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

import lookalike
from lookalike import fingerprints, params
from lookalike.cli.main import cli
from lookalike.params import Parameter

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "lookalike"
#: Rings of the package, innermost first. A module belongs to the ring that names it or the folder nearest above it, and
#: may import only from its own ring or one further in.
RINGS = [
    {"_core"},
    {"errors", "params", "_calls", "_types"},
    {"tokens"},
    {"documents", "engines", "frontends", "rendering.safe", "rendering.tables"},
    {"corpora"},
    {"fingerprints"},
    {"sketches", "simhashes.texts", "neighbours", "designs", "comparison"},
    {"deduplication", "compat", "archive"},
    {"simhashes"},
    {"spark"},
    {"lab"},
    {"rendering"},
    {"demo"},
    {"service"},
    {"scrapy"},
    {"cli"},
    {"__main__"},
]
#: A public call that also writes a report loads the renderer when it is asked for one.
LAZY = {("deduplication.job", "rendering.html"), ("comparison.earlier", "archive")}
#: Order of the core's modules in the walk; a file may use only its own and those before it.
CORE = [
    "machine",
    "error",
    "hash",
    "frontend",
    "scheme",
    "naive",
    "fingerprint",
    "sketch",
    "simhash",
    "hamming",
    "matching",
    "clustering",
]
HEAVY = {
    "numpy",
    "matplotlib",
    "rich",
    "jinja2",
    "selectolax",
    "pypdfium2",
    "pygments",
    "pyarrow",
    "fsspec",
    "fastwarc",
    "resiliparse",
    "starlette",
    "uvicorn",
    "httptools",
    "uvloop",
    "polars",
    "pandas",
    "pyspark",
    "py4j",
}


def ring(module: str) -> int:
    """Return the ring of a dotted module: that of the longest name in ``RINGS`` that leads to it."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        for number, names in enumerate(RINGS):
            if name in names:
                return number
    raise AssertionError(f"{module} is in no ring")


def imports(path: Path) -> set[str]:
    """Modules of the package that a file imports, at any depth, dotted below ``lookalike``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lookalike":
            below = node.module.split(".")[1:]
            for alias in node.names:
                whole = [*below, alias.name]
                found.add(".".join(whole if is_module(whole) else below))
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".", 1)[1] for alias in node.names if alias.name.startswith("lookalike.")}
    return found - {""}


def is_module(parts: list[str]) -> bool:
    path = PACKAGE.joinpath(*parts)
    return parts == ["_core"] or path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


#: Not the submissions that the demo compares.
SOURCES = sorted(
    path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py" and "material" not in path.parts
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_inwards(path: Path):
    module = module_of(path)
    lazy = {inner for outer, inner in LAZY if outer == module}
    outwards = {
        name
        for name in imports(path)
        if ring(name) > ring(module) and not any(name.startswith(inner) for inner in lazy)
    }
    assert not outwards, f"{path.name} imports {outwards} from further out"


def test_no_module_bears_an_exported_name():
    """Otherwise importing the module would hide the function, or the other way round."""
    modules = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert not modules & set(lookalike.__all__)
    for folder in (path.parent for path in SOURCES if path.name == "__init__.py"):
        package = import_module(".".join(["lookalike", *folder.relative_to(PACKAGE).parts]))
        own = {path.name.removesuffix(".py") for path in folder.iterdir()}
        assert not own & set(getattr(package, "__all__", ())), folder


def test_printing_is_apart_from_work():
    """Only what draws and what commands may reach a terminal."""
    for path in SOURCES:
        if module_of(path).split(".")[0] not in ("cli", "rendering", "demo"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"^\s*print\(|import click|from rich|sys\.stdout|sys\.exit", text, re.MULTILINE), (
                path.name
            )


@pytest.mark.parametrize("module", CORE)
def test_the_core_only_looks_up_the_walk(module: str):
    folder = ROOT / "crates" / "core" / "src"
    later = CORE[CORE.index(module) + 1 :]
    for path in [folder / f"{module}.rs", *folder.glob(f"{module}/**/*.rs")]:
        if path.exists() and "tests" not in path.stem:
            used = set(re.findall(r"crate::(\w+)", path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]))
            assert not used & set(later), f"{path.name} uses {used & set(later)}"


def test_the_core_knows_no_python_clock_or_environment():
    for path in (ROOT / "crates" / "core" / "src").rglob("*.rs"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"pyo3|std::env|std::time|println!|eprintln!", text), path.name
    assert "pyo3" not in (ROOT / "crates" / "core" / "Cargo.toml").read_text(encoding="utf-8")


def test_one_module_detects_processor_features():
    """Only that module can make the tokens that prove a feature, so no other may ask for features."""
    askers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "crates").rglob("*.rs")
        if "feature_detected!" in path.read_text(encoding="utf-8")
    ]
    assert sorted(askers) == ["crates/core/src/machine.rs", "crates/table/src/machine.rs"]


def test_one_file_of_the_tables_touches_the_disk():
    for path in (
        path for crate in ("index", "near", "table") for path in (ROOT / "crates" / crate / "src").glob("*.rs")
    ):
        text = re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert not re.search(r"pyo3|std::env|std::time|println!", text), path.name
        assert path.name == "disk.rs" or not re.search(r"std::fs|\bFile::|memmap2", text), path.name


def test_the_gil_is_released_in_one_place():
    users = [
        path.name for path in (ROOT / "crates" / "python" / "src").glob("*.rs") if ".detach(" in path.read_text("utf-8")
    ]
    assert users == ["detach.rs"]


def test_locks_are_taken_where_the_gil_is_released():
    """Whoever waits for a lock with the GIL in hand stops every other thread."""
    takers = [
        path.name
        for path in (ROOT / "crates" / "python" / "src").glob("*.rs")
        if re.search(r"\.(lock|read|write|try_lock|try_read|try_write)\(\)", path.read_text("utf-8"))
    ]
    assert takers == ["detach.rs"]


def options(command: click.Command) -> dict[str, click.Option]:
    return {option.name or "": option for option in command.params if isinstance(option, click.Option)}


def defined() -> dict[str, Parameter]:
    return {value.name: value for value in vars(params).values() if isinstance(value, Parameter)}


COMPARED = {
    "language", "k", "t", "template", "old", "index", "by_directory", "layout", "include", "exclude", "follow_links",
    "comments", "max_sharing", "min_score", "min_contained", "min_passage", "cluster_threshold", "top", "title",
    "anonymise", "fail_above", "max_pairs", "max_passages", "max_size",
}  # fmt: skip


DESIGNED = {
    "threshold", "recall", "false_accept", "at", "bytes", "elements", "sketch", "filter", "error", "confidence",
    "documents", "trials", "seed", "distance", "fingerprints", "tables", "prefix",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (cli.commands["fingerprint"], {"k", "t", "scheme", "unit", "homoglyphs", "modulus", "count"}),
        (cli.commands["compare"], COMPARED),
        (cli.commands["design"], DESIGNED),
        (cli.commands["near"], {"distance"}),
    ],
)
def test_the_command_line_follows_from_the_parameters(command: click.Command, names: set[str]):
    shared = options(command).keys() & defined().keys()
    assert shared == names
    for name in shared:
        option, parameter = options(command)[name], defined()[name]
        assert option.help == parameter.help
        assert option.default == parameter.default or parameter.default in (None, False)


def test_the_options_of_similarity_follow_from_the_parameters():
    shared = options(cli.commands["similarity"])
    assert shared.keys() == {*params.SKETCHING, "homoglyphs", "as_json", "out", "overwrite", "quiet"}
    for name, parameter in params.SKETCHING.items():
        assert shared[name].help == parameter.help
        assert shared[name].default == parameter.default or name == "sketch" or parameter.default in (None, False)


def test_the_documents_name_every_sketch():
    taught = (ROOT / "docs" / "similarity.md").read_text(encoding="utf-8")
    assert all(f"`{sketch}`" in taught for sketch in params.SKETCHES)


def test_the_documents_teach_every_option_of_dedup():
    taught = (ROOT / "docs" / "dedup.md").read_text(encoding="utf-8")
    untaught = [
        option
        for option in options(cli.commands["dedup"]).values()
        if not any(f"{name} " in taught or f"{name}`" in taught for name in option.opts)
    ]
    assert not untaught
    values = {value for name in ("method", "clustering") for value in params.DEDUPLICATION[name].choices}
    assert all(f"`{value}`" in taught for value in values)


def test_the_documents_teach_every_option_of_simhash():
    taught = (ROOT / "docs" / "simhash.md").read_text(encoding="utf-8")
    named = options(cli.commands["simhash"]).values()
    untaught = [one for one in named if not any(f"{name} " in taught or f"{name}`" in taught for name in one.opts)]
    assert not untaught


#: Options of the command line that decide no answer: what is printed, inputs and outputs, exit codes, threads, where.
PRINTED = {
    "as_json", "strict", "out", "overwrite", "open_report", "fail_above", "top", "anonymise", "dry_run", "restore",
    "query", "given", "folder", "plot", "documents", "trials", "seed", "filter", "quiet", "output", "rows", "threads",
    "max_passages", "max_size", "engine", "master", "conf",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "calls"),
    [
        ("compare", ["compare"]),
        ("dedup", ["dedup"]),
        ("similarity", ["similarity"]),
        ("simhash", ["simhash_corpus"]),
        ("near", ["near"]),
        ("design", ["design", "design_sketch"]),
        ("fingerprint", ["fingerprint"]),
    ],
)
def test_every_option_that_decides_an_answer_is_a_keyword(command: str, calls: list[str]):
    keywords = {name for call in calls for name in inspect.signature(getattr(lookalike, call)).parameters}
    # One sketch on the command line, several in the call.
    keywords |= {"sketch"} if "sketches" in keywords else set()
    assert set(options(cli.commands[command])) - PRINTED <= keywords


def test_no_call_hides_its_keywords():
    for name, value in EXPORTED.items():
        if inspect.isfunction(value):
            kinds = {one.kind for one in inspect.signature(value).parameters.values()}
            assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}, name


def test_every_parameter_is_one_of_the_surface():
    """Each field of a selection is a keyword of the call, and the other way round."""
    code = fingerprints.fingerprint.__code__
    keywords = code.co_varnames[1 : 1 + code.co_kwonlyargcount]
    assert list(keywords) == list(params.Selection.__dataclass_fields__)


def commands(group: click.Group, prefix: str = "") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        found[f"{prefix}{name}"] = command
        if isinstance(command, click.Group):
            found |= commands(command, f"{prefix}{name} ")
    return found


def test_every_command_teaches():
    for name, command in commands(cli).items():
        assert command.help, name
        assert all(option.help for option in options(command).values()), name


def test_the_documents_name_every_scheme_and_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{scheme}`" in readme for scheme in params.SCHEMES)
    documents = readme + (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert all(f"lookalike {name}" in documents for name in cli.commands)


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert "://" in target or (path.parent / target).exists(), f"{path.name} links to {target}"


def test_paths_in_the_walk_exist():
    walk = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    # Not the folder of builds, which is large.
    parts = ("bench", "crates", "fuzz", "python", "quality", "tests")
    files = [f"/{path.relative_to(ROOT).as_posix()}" for part in parts for path in (ROOT / part).rglob("*.[rp][sy]")]
    for name in re.findall(r"`([\w./]+\.(?:rs|py))`", walk):
        assert any(path.endswith(f"/{name}") for path in files), f"ARCHITECTURE.md names {name}"


def test_readme_example_runs(tmp_path: Path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        subprocess.run([sys.executable, "-c", block], check=True, cwd=tmp_path)


#: Functions and classes of the surface; errors say all in their names, and columns are documented by the core.
EXPORTED = {
    name: value
    for name in lookalike.__all__
    if callable(value := getattr(lookalike, name))
    and name != "Column"
    and not (isinstance(value, type) and issubclass(value, Exception))
}


@pytest.mark.parametrize("name", EXPORTED)
def test_every_exported_name_has_an_example(name: str):
    told = inspect.getdoc(EXPORTED[name]) or ""
    assert ">>>" in told
    assert ":parameters:" not in told


@pytest.mark.parametrize("name", [name for name, value in EXPORTED.items() if inspect.isfunction(value)])
def test_every_argument_is_explained(name: str):
    told = inspect.getdoc(EXPORTED[name]) or ""
    for argument in inspect.signature(EXPORTED[name]).parameters:
        assert f":param {argument}:" in told, argument
    assert ":returns:" in told


@pytest.mark.parametrize("name", sorted({"lookalike.frontends"} | {value.__module__ for value in EXPORTED.values()}))
def test_docstring_examples_run(name: str):
    result = doctest.testmod(import_module(name))
    assert result.attempted >= 1
    assert result.failed == 0


def test_help_and_dir_show_the_surface():
    assert set(lookalike.__all__) <= set(dir(lookalike))
    assert not {"Any", "TYPE_CHECKING", "annotations"} & set(dir(lookalike))
    told = lookalike.__doc__ or ""
    assert all(f"``{name}``" in told for name in {*lookalike.__all__} - {"TEXT_VERSION", "Column", "__version__"})


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["lab", "list"]])
def test_start_up_is_light(arguments: list[str]):
    code = (
        "import sys\nfrom lookalike.cli.main import main\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted(name for name in sys.modules if '.' not in name), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(ast.literal_eval(done.stderr))


def test_house_rules_of_size():
    """Functions stay short and files readable: the budget of CONTRIBUTING, measured."""
    lengths = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 500, path.name
        functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
        lengths += [(node.end_lineno or 0) - node.lineno + 1 for node in functions]
    assert max(lengths) <= 60
    assert sorted(lengths)[len(lengths) // 2] <= 12
