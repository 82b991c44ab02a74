"""Lists plain text and the programming languages, with aliases and suffixes. Formats declare their own.

Prose, markup and data (Markdown, LaTeX, CSV, JSON, XML, YAML, TOML, CSS …) are all ``text``: their words matter, and no
name in them may be folded. All names of MOSS are accepted, some as aliases. Its ``spice`` (lists of circuits) has no
lexer and is text.
"""

from __future__ import annotations

from typing import NamedTuple

from lookalike import _core
from lookalike.frontends.readable import Kind, Language

#: Languages with a grammar in the core; ``lexed`` makes the tokens of the others, by ``syntax.py``.
CORE = frozenset(name for name, *_ in _core.languages())
_FAMILIES = {name: family for name, family, _ in _core.languages()}


def family(language: str) -> str:
    """Return the group of languages whose tokens match those of a language: C and C++ are one, most are their own."""
    return _FAMILIES.get(language, language)


class _Row(NamedTuple):
    name: str
    aliases: str = ""
    suffixes: str = ""
    names: str = ""


_TEXT = _Row(
    "text",
    "ascii prose plain markdown latex spice",
    ".txt .text .md .markdown .rst .adoc .org .tex .ltx .bib .sty .csv .tsv .json .jsonl .xml .svg .yaml .yml .toml "
    ".ini .cfg .conf .css .scss .less .log .srt .po .cir .sp .spice .properties .diff .patch .mk .cmake .dockerfile",
    "readme license licence copying changelog authors notice todo makefile gnumakefile dockerfile cmakelists.txt",
)

_CODE = (
    _Row("c", suffixes=".c"),
    _Row("cpp", "cc c++ cxx", ".cc .cpp .cxx .c++ .hpp .hh .hxx .h++ .ipp .tpp .ino .cu"),
    _Row("java", suffixes=".java"),
    _Row("python", "py python3", ".py .pyw .pyi .pyx", "sconstruct"),
    _Row("javascript", "js node nodejs jsx", ".js .mjs .cjs .jsx"),
    _Row("typescript", "ts", ".ts .mts .cts"),
    _Row("tsx", suffixes=".tsx"),
    _Row("csharp", "c# cs", ".cs .csx"),
    _Row("go", "golang", ".go"),
    _Row("rust", "rs", ".rs"),
    _Row("ruby", "rb", ".rb .rake .gemspec", "rakefile gemfile"),
    _Row("php", suffixes=".php .php5 .phtml"),
    _Row("kotlin", "kt", ".kt .kts"),
    _Row("bash", "sh shell zsh ksh", ".sh .bash .zsh .ksh", ".bashrc .profile .bash_profile"),
    _Row("sql", "plsql mysql postgresql sqlite", ".sql .pls .plsql .pkb .pks .ddl"),
    _Row("ada", suffixes=".adb .ads .ada"),
    _Row("asm", "a8086 assembly nasm masm gas", ".asm .s .nasm"),
    _Row("clojure", "clj", ".clj .cljs .cljc .edn"),
    _Row("coq", "rocq"),
    _Row("dart", suffixes=".dart"),
    _Row("elixir", suffixes=".ex .exs"),
    _Row("erlang", suffixes=".erl .hrl"),
    _Row("fortran", "f90 f95", ".f90 .f95 .f03 .f08 .f15"),
    _Row("fortranfixed", "f77 fortran77", ".f .for .ftn .f77"),
    _Row("fsharp", "f#", ".fs .fsx .fsi"),
    _Row("groovy", suffixes=".groovy .gradle"),
    _Row("haskell", "hs", ".hs .lhs"),
    _Row("julia", "jl", ".jl"),
    _Row("lisp", "common-lisp elisp", ".lisp .lsp .cl .el"),
    _Row("lua", suffixes=".lua"),
    _Row("matlab", "octave"),
    _Row("mips"),
    _Row("modula2", "modula-2", ".mod .def .mi"),
    _Row("objectivec", "objective-c objc", ".mm"),
    _Row("ocaml", "ml", ".ml .mli"),
    _Row("pascal", "delphi", ".pas .pp .dpr .lpr .dfm"),
    _Row("perl", suffixes=".pm .t .perl"),
    _Row("powershell", "ps1 pwsh", ".ps1 .psm1 .psd1"),
    _Row("prolog", suffixes=".pro .prolog"),
    _Row("r", suffixes=".r"),
    _Row("scala", suffixes=".scala .sc"),
    _Row("scheme", "racket", ".scm .ss .rkt .sld"),
    _Row("swift", suffixes=".swift"),
    _Row("vb", "vb.net visualbasic vba", ".vb .bas .vbs .frm"),
    _Row("verilog", "systemverilog", ".sv .vh .svh"),
    _Row("vhdl", suffixes=".vhd .vhdl"),
)


def _language(row: _Row, kind: Kind) -> Language:
    name, *fields = row
    return Language(name, kind, *(tuple(field.split()) for field in fields))


TEXT = _language(_TEXT, "text")
CORE_LANGUAGES = tuple(_language(row, "core") for row in _CODE if row.name in CORE)
LEXED_LANGUAGES = tuple(_language(row, "lexer") for row in _CODE if row.name not in CORE)
