"""Programs as columns of tokens, and their k-grams with identifiers kept, folded to one constant, or parameterised.

Parameterised matching is Baker's (1995): an identifier is written as the distance to its previous occurrence inside the
k-gram, or 0, so that two k-grams are equal exactly if renaming identifiers one to one makes them so.

Python is read by the standard library's tokenizer; other languages by one expression that knows names, numbers, strings
and the comments of C. Only identifiers are parameters; keywords and literals stay as they are. Comments and layout go.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.lab.shared.setting import Integers

PROGRAM = re.compile(r".*\.(py|c|cc|cpp|cs|cxx|go|h|hpp|java|js|kt|php|rs|scala|swift|ts)", re.IGNORECASE | re.DOTALL)
#: Words that are no identifiers in C and its kin.
KEYWORD = re.compile(
    "auto|bool|boolean|break|byte|case|catch|char|class|const|continue|default|do|double|else|enum|extends|false|final|"
    "finally|float|fn|for|func|function|goto|if|implements|import|in|int|interface|let|long|match|mut|namespace|new|null|"
    "package|private|protected|public|return|short|signed|sizeof|static|struct|super|switch|template|this|throw|throws|"
    "true|try|typedef|union|unsigned|use|using|var|void|volatile|while"
)
LEXEME = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[^\W\d]\w*|\d[\w.]*|\S""", re.DOTALL)
LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
#: Odd and ≡ 5 (mod 8), for the polynomial that turns a k-gram of random values into one.
BASE = np.uint64(0xD1342543DE82EF95)

Values = NDArray[np.uint64]
Lexeme = tuple[str, bool]


@dataclass(frozen=True)
class Programs:
    """The tokens of several programs, one after the other."""

    #: Number of each token's spelling.
    spelling: Integers
    is_identifier: NDArray[np.bool_]
    #: Distance to the previous token with the same spelling in the same program; 0 if there is none.
    distance: Integers
    #: Number of the program of each token.
    owner: Integers

    def kgrams(self, k: int, encode: Encoding) -> tuple[Values, Integers]:
        """Return the identities of k-grams inside programs, and their programs; ``encode`` writes the j-th token."""
        starts = max(len(self.owner) - k + 1, 0)
        hashes = np.zeros(starts, dtype=np.uint64)
        for j in range(k):
            hashes = (hashes + encode(self, j)[j : j + starts]) * BASE
        inside = self.owner[:starts] == self.owner[k - 1 : k - 1 + starts]
        return hashes[inside], self.owner[:starts][inside]


#: Writes every token as a value; the number is the token's place in its k-gram.
Encoding = Callable[[Programs, int], Values]


def kept(programs: Programs, _: int) -> Values:
    """Write every token as it is spelled."""
    return _random(programs.spelling)


def folded(programs: Programs, _: int) -> Values:
    """Write every identifier as one constant, as MOSS does."""
    return _random(np.where(programs.is_identifier, -1, programs.spelling))


def parameterised(programs: Programs, j: int) -> Values:
    """Write an identifier as the distance to its previous occurrence among the j tokens before it in the k-gram."""
    inside = np.where(programs.distance <= j, programs.distance, 0)
    return _random(np.where(programs.is_identifier, -1 - inside, programs.spelling))


def _random(numbers: Integers) -> Values:
    """Scatter small numbers over 64 bits, one to one: the finaliser of SplitMix64."""
    x = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def is_program(name: str) -> bool:
    """Say whether a file name is that of a program."""
    return PROGRAM.fullmatch(name) is not None


def read(documents: Iterable[tuple[str, bytes]]) -> Programs:
    """Read programs by the lexer of their language."""
    numbers: dict[str, int] = {}
    parts: list[Integers] = []
    for owner, (name, data) in enumerate(documents):
        text = data.decode(errors="replace")
        tokens = [
            (numbers.setdefault(spelling, len(numbers)), is_name, owner) for spelling, is_name in lexemes(name, text)
        ]
        parts.append(np.array(tokens, dtype=np.int64).reshape(-1, 3))
    spelling, is_identifier, owners = np.concatenate(parts).T
    return Programs(spelling, is_identifier.astype(bool), _distances(spelling + len(numbers) * owners), owners)


def _distances(keys: Integers) -> Integers:
    order = keys.argsort(kind="stable")
    distances = np.zeros(len(keys), dtype=np.int64)
    again = keys[order[1:]] == keys[order[:-1]]
    distances[order[1:]] = np.where(again, np.diff(order), 0)
    return distances


def lexemes(name: str, text: str) -> list[Lexeme]:
    """Return spellings and whether they are identifiers; Python that does not tokenise is read like other languages."""
    if name.lower().endswith(".py"):
        try:
            return list(_python(text))
        except (tokenize.TokenError, SyntaxError):
            pass
    return [(s, _is_identifier(s)) for s in LEXEME.findall(text) if not s.startswith(("//", "/*"))]


def _python(text: str) -> Iterator[Lexeme]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            yield token.string, token.type == tokenize.NAME and not keyword.iskeyword(token.string)


def _is_identifier(spelling: str) -> bool:
    return (spelling[0].isalpha() or spelling[0] == "_") and not KEYWORD.fullmatch(spelling)
