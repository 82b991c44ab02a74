"""Tokens of names and import lines against `oracles.name_classes`, on programs and on tokens in any order.

Of each language, all names of one class have one value, the classes have different ones, nothing else has their values,
and import lines have one value exactly if their targets are equal.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

import lookalike
from lookalike import _core
from oracles.name_classes import classes

NAMES = ("alpha", "Beta", "gamma_2", "Delta", "epsilon", "zeta")
#: Lines of programs: `N` is a name, `E` an expression, `_` any blank or comment that does not end the line.
LINES = {
    "java": """N<N>_N_=_new_N<>(E);|N[]_N_=_new_N[3];|N<N,_N<N>>[]_N;|int_N_=_N.N(E);|if_(N_<_N_&&_N_>_N)_N(E);|
        N_N_=_(N)_N;|final_N.N_N_=_E;|for_(N_N_:_N)_N++;|return_N_<_E;|List<?_extends_N>_N_=_N;|double[]_N_=_{_E_};""",
    "c": """N_*N;|struct_N_N;|unsigned_int_N_=_N(E);|N_N[3];|N_=_N_<_N;|if_(N_->_N_>_E)_N(E);|const_N_N_=_E;|N(E);|
        size_t_N_=_sizeof(N);|for_(int_N_=_0;_N_<_E;_N++)_N_+=_N;""",
    "cpp": """N<N>_N;|std::N<N,_N>_N(E);|N<N<N>>_N;|auto_N_=_N<int>(E);|N::N_N_=_E;|N_&N_=_E;|if_(N_<_N_&&_N_>_N)_N(E);|
        N_=_new_N(E);|const_N_&N_=_N.N;|N_<<_E_<<_N;|static_N_N_=_E;""",
    "python": """N_=_N(E)|N_=_N.N_(E)|N[N]_=_E|assert_N_<_N_>_E|N_=_[E_for_N_in_N]|del_N|N:_N_=_E|
        if_N_(E)_<_N:_N_=_E|print(N)|lambda_N:_E|N_=_'N(N)'|N_=_N if_N_else_N""",
    "javascript": """const_N_=_N(E);|let_N_=_new_N(E)|N.N_=_E|if_(N_<_N_&&_N_>_N)_N(E)|N_=>_N(E)|var_N_=_[N,_E];|
        N_=_N_<_N|function_N_(N)_{_return_N_}|N_=_`N(${1})`|N[N](E)|async_function_N()_{_await_N(E)_}""",
    "go": """N_:=_N(E)|var_N_N|var_N_[]N|var_N_map[N]N|N,_N_=_E,_E|if_N_<_N_{_N(E)_}|N.N(E)|type_N_struct_{_N_N_}|
        func_N(N_N)_N_{_return_E_}|N_<-_E|go_N(E)|defer_N.N()|N_=_N[N](E)""",
}
IMPORTS = {
    "java": "import N.N;|import static N.N.*;|package N.N;|import N . N ;",
    "c": '#include <N.h>|#include "N.h"|#include /* N */ "N/N.h"',
    "cpp": '#include <N>|using namespace N;|using N = N::N;|using N::N;|#include "N.hpp"',
    "python": "import N|import N.N as N|import N, N as N|from N import N|from .N import (N, N as N,)|from N import *",
    "javascript": "import N from 'N';|import {N} from 'N'|import {N as N,} from 'N'|import * as N from 'N'|import 'N'",
    "go": 'import "N"|import N "N/N"|import (\n  "N"\n  N "N"\n)|import . "N"',
}
SOUP = (*5 * ["N"], *"()[]<>,.?&*=;+7{}", "[]", ">>", "::", "&&", "'N'")


def filled(pattern: str, chance: random.Random, language: str) -> str:
    """Replace the letters of a pattern."""
    expressions = ("N", "7", "N(N)", "'N'", "N.N", "N(N, 7)", "(N)", "N[N]")
    notes = () if language == "python" else ("/* note(s) */ ", "  ")
    while "E" in pattern:
        pattern = pattern.replace("E", chance.choice(expressions), 1)
    if language in ("java", "c", "cpp", "go"):
        pattern = pattern.replace("'N'", '"N"')
    blanks = (" ", " ", " ", "  ", *notes)
    pieces = [chance.choice(NAMES) if one == "N" else chance.choice(blanks) if one == "_" else one for one in pattern]
    return "".join(pieces)


def program(language: str, chance: random.Random) -> str:
    """Return lines of a program, import lines first."""
    imports = [chance.choice(IMPORTS[language].split("|")) for _ in range(4)]
    lines = ["".join(one.split("\n")).strip() for one in LINES[language].split("|")]
    body = [chance.choice(lines) for _ in range(12)]
    head = [filled(one, chance, language) if language == "go" else names_in(one, chance) for one in imports]
    return "\n".join([*head, *(filled(one, chance, language) for one in body)]) + "\n"


def names_in(pattern: str, chance: random.Random) -> str:
    return "".join(chance.choice(NAMES[:3]) if one == "N" else one for one in pattern)


def soup(language: str, chance: random.Random) -> str:
    """Return names and signs in any order."""
    words = {
        "java": "int new",
        "c": "int struct",
        "cpp": "int new",
        "python": "in not",
        "javascript": "let of",
        "go": "var map",
    }
    pieces = chance.choices([*SOUP, *words[language].split()], k=40)
    return "".join(filled(one, chance, language) + chance.choice((" ", " ", " ", "\n")) for one in pieces) + "\n"


def check(texts: Iterable[tuple[str, str]], language: str) -> None:
    """Compare the tokens of all texts with the oracle."""
    values: dict[str, set[int]] = defaultdict(set)
    meanings: dict[int, set[str]] = defaultdict(set)
    seen = []
    for name, text in texts:
        read = _core.ReadFile(text, [(language, 0, len(text), None, None, 8, 11)], False)
        (((_, _, tokens, _, spans), _),) = read.parts()
        expected = {(one.start, one.end): one.what for one in classes(text, language)}
        found = dict(zip(spans, tokens, strict=True))
        missing = [(text[start:end], what) for (start, end), what in expected.items() if (start, end) not in found]
        assert not missing, (language, name, missing, text)
        for span, what in expected.items():
            values[what].add(found[span])
            meanings[found[span]].add(what)
            assert len(values[what]) == 1, (language, name, what, span, text[span[0] - 20 : span[1] + 40])
            assert len(meanings[found[span]]) == 1, (
                language,
                name,
                what,
                meanings[found[span]],
                text[span[0] - 20 : span[1] + 40],
            )
        seen.append((name, text, found, expected))
    for name, text, found, expected in seen:
        others = [text[slice(*span)] for span, value in found.items() if value in meanings and span not in expected]
        assert not others, (language, name, others, text)


@pytest.mark.parametrize("language", LINES)
def test_names_of_programs_match_the_oracle(language: str):
    chance = random.Random(f"programs {language}")
    check(((f"program {number}", program(language, chance)) for number in range(60)), language)


@pytest.mark.parametrize("language", LINES)
def test_names_in_any_order_match_the_oracle(language: str):
    chance = random.Random(f"soups {language}")
    check(((f"soup {number}", soup(language, chance)) for number in range(200)), language)


@pytest.mark.parametrize(("language", "suffix"), [("java", ".java"), ("cpp", ".cpp"), ("python", ".py")])
def test_names_of_real_files_match_the_oracle(language: str, suffix: str):
    package = Path(lookalike.__file__).parent
    files = [path for path in sorted(package.rglob(f"*{suffix}")) if path.stat().st_size < 20_000][:40]
    assert files
    check(((path.name, path.read_text()) for path in files), language)
