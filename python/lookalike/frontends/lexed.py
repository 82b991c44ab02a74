"""Makes tokens of programming languages without a grammar in the core; Pygments tells keywords from names.

Pygments' own lexers are not run over documents: measured on hostile input, 17 of 23 take quadratic time or worse
(16,000 blank lines keep its MATLAB lexer busy for more than five seconds). So ``syntax.py`` splits the text in linear
time, and Pygments only says, once per distinct word, whether that word is a keyword or a name.

A token's class says how it is compared. Names, built-in types, numbers and strings are folded, so renaming and new
constants change nothing; comments and white space are no tokens, so reformatting does not either; operators that are
written without spaces around them are cut the same way as with.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable
from functools import cache, lru_cache

from lookalike.frontends.decoding import decode
from lookalike.frontends.languages import LEXED_LANGUAGES
from lookalike.frontends.readable import BuiltIn, Part, Readable

#: How a token is compared: by its text, as a name, as any number, as any string, by its text in lower case, as any
#: built-in type, as a word of a comment. The core tells names apart by what follows them, and finds import lines.
TEXT, NAME, NUMBER, STRING, FOLDED, TYPE, COMMENT = range(7)
#: Length of the longest keyword of any language; longer words are names.
MAX_KEYWORD = 32
#: Most distinct words per file that Pygments is asked about, at 20 µs each; programs of 1 MB have fewer.
MAX_WORDS = 50_000

_WORDS = r"\w+"
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
#: Whether triples must be swapped, because they are little-endian and the machine is not.
_SWAPS = sys.byteorder == "big"


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Decode the bytes and make their tokens."""
    text, notes = decode(data)
    tokens, limits = tokenise(text, language, comments)
    return Readable(text, (Part(language, 0, len(text), tokens),), notes + limits)


def tokenise(text: str, language: str, comments: bool = False, offset: int = 0) -> tuple[bytes, tuple[str, ...]]:
    """Return a text's tokens as packed triples, with ``offset`` added to each place, and remarks."""
    tokens = _Tokens(language, comments, offset)
    # The expressions know only \n as the end of a line; these replacements move no character.
    text = text.replace("\r\n", " \n").replace("\r", "\n")
    position = 0
    while position < len(text):
        position = _run(text, position, language, tokens)
    triples = array("I", tokens.triples)
    if _SWAPS:
        triples.byteswap()
    limits = (f"more than {MAX_WORDS:,} distinct words, the rest are names",) if tokens.is_full else ()
    return triples.tobytes(), limits


class _Tokens:
    """The triples of one text, and the classes of its words."""

    def __init__(self, language: str, comments: bool, offset: int) -> None:
        # Loaded with the first such document, because most comparisons have none.
        from lookalike.frontends.syntax import SYNTAX, scanner

        self.triples: list[int] = []
        self.syntax = SYNTAX[language]
        self.scanner = scanner(language)
        self.kept = FOLDED if self.syntax.ignores_case else TEXT
        self.comments = comments
        self.offset = offset
        self.classes: dict[str, int] = {}
        #: End of the line of the last instruction.
        self.line_end = 0
        self.is_full = False

    def add(self, start: int, end: int, token_class: int) -> None:
        """Add one token."""
        self.triples.extend((start + self.offset, end + self.offset, token_class))

    def comment(self, text: str, start: int, end: int) -> None:
        """Add a comment word by word, if comments are compared."""
        if self.comments:
            for word in re.compile(_WORDS).finditer(text, start, end):
                self.add(*word.span(), COMMENT)

    def word(self, text: str, start: int, end: int) -> None:
        """Add a word: by its text if it is a keyword, else as a name."""
        word = text[start:end]
        token_class = self.classes.get(word)
        if token_class is None:
            token_class = self.classes[word] = self._ask(word)
        if self.syntax.has_instructions and self._is_instruction(text, start, end):
            token_class = self.kept
        self.add(start, end, token_class)

    def _ask(self, word: str) -> int:
        if self.syntax.has_instructions or len(word) > MAX_KEYWORD:
            return NAME
        if len(self.classes) >= MAX_WORDS:
            self.is_full = True
            return NAME
        if self.syntax.folds_types and word[0].isupper():
            return NAME
        vocabulary = _vocabulary(self.syntax.lexer, self.syntax.asked, self.syntax.keeps_builtins)
        asked = word.translate(_LOWER) if self.syntax.ignores_case else word
        return (NAME, self.kept, TYPE)[vocabulary(asked)]

    def _is_instruction(self, text: str, start: int, end: int) -> bool:
        """Whether this is the first word of its line after any label."""
        if start < self.line_end or text.startswith(":", end):
            return False
        line_end = text.find("\n", end)
        self.line_end = line_end if line_end >= 0 else len(text)
        return True


def _run(text: str, position: int, language: str, tokens: _Tokens) -> int:
    """Add the tokens from a position to the end of a nested comment or of the text; return that end."""
    from lookalike.frontends.syntax import end_of_nested

    add, word = tokens.add, tokens.word
    for match in tokens.scanner.finditer(text, position):
        start, end = match.span()
        match match.lastgroup:
            case "word":
                word(text, start, end)
            case "sign":
                add(start, end, TEXT)
            case "number":
                add(start, end, NUMBER)
            case "string":
                add(start, end, STRING)
            case "nested":
                end = end_of_nested(language, text, start)
                tokens.comment(text, start, end)
                return end
            case _:
                tokens.comment(text, start, end)
    return len(text)


@cache
def _vocabulary(lexer_name: str, asked: str, keeps_builtins: bool) -> Callable[[str], int]:
    """Return a function that says whether a word is a keyword of a language: 0 no, 1 yes, 2 a built-in type."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Keyword, Name, Operator

    lexer = get_lexer_by_name(lexer_name)
    before = asked.index("{}")
    meanings = (Keyword, Operator, Name.Builtin) if keeps_builtins else (Keyword, Operator)

    @lru_cache(maxsize=2 * MAX_WORDS)
    def meaning_of(word: str) -> int:
        for place, kind, value in lexer.get_tokens_unprocessed(asked.format(word)):
            if place == before:
                if value.strip() != word:
                    return 0
                return 2 if kind in Keyword.Type else int(any(kind in meaning for meaning in meanings))
        return 0

    return meaning_of


FRONT_END = BuiltIn(LEXED_LANGUAGES, read)
