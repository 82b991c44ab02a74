"""Programming languages without a grammar in the core: tokens by their outer syntax, words classed by Pygments.

Pygments' own lexers are not run over documents: measured on hostile input, 17 of 23 take quadratic time or worse
(16,000 blank lines hold its MATLAB lexer for more than five seconds). So ``syntax.py`` cuts the text up in linear time,
and Pygments is only asked, once for each distinct word, whether that word is a keyword or a name.

A token's class says how it is compared. Names, numbers and strings are folded, so renaming and new constants change
nothing; comments and white space are no tokens, so reformatting does not either; operators that are written without
spaces around them are cut the same way as with.
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

#: How a token is compared: by its text, as any name, as any number, as any string, by its text in lower case.
TEXT, NAME, NUMBER, STRING, FOLDED = range(5)
#: No keyword is longer, in any of the languages; a longer word is a name without asking.
MAX_KEYWORD = 32
#: Distinct words a file may have asked about, about 20 µs each; later ones are names. Programs of 1 MB have fewer.
MAX_WORDS = 50_000

_WORDS = r"\w+"
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
#: The triples are little-endian, the machine need not be.
_SWAPS = sys.byteorder == "big"


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Decode the bytes and make their tokens."""
    text, notes = decode(data)
    tokens, limits = tokenise(text, language, comments)
    return Readable(text, (Part(language, 0, len(text), tokens),), notes + limits)


def tokenise(text: str, language: str, comments: bool = False, offset: int = 0) -> tuple[bytes, tuple[str, ...]]:
    """Return a text's tokens as packed triples, ``offset`` added to each place, and what is to be noted."""
    tokens = _Tokens(language, comments, offset)
    # Only \n ends a line for the expressions; none of these replacements moves a character.
    text = text.replace("\r\n", " \n").replace("\r", "\n")
    position = 0
    while position < len(text):
        position = _run(text, position, language, tokens)
    triples = array("I", tokens.triples)
    if _SWAPS:
        triples.byteswap()
    limits = (f"degraded: more than {MAX_WORDS:,} distinct words, the rest are names",) if tokens.is_full else ()
    return triples.tobytes(), limits


class _Tokens:
    """The triples of one text, and what its words turned out to be."""

    def __init__(self, language: str, comments: bool, offset: int) -> None:
        # Loaded with the first such document: most comparisons have none.
        from lookalike.frontends.syntax import SYNTAX, scanner

        self.triples: list[int] = []
        self.syntax = SYNTAX[language]
        self.scanner = scanner(language)
        self.kept = FOLDED if self.syntax.ignores_case else TEXT
        self.comments = comments
        self.offset = offset
        self.classes: dict[str, int] = {}
        #: End of the line whose instruction was met last.
        self.line_end = 0
        self.is_full = False

    def add(self, start: int, end: int, token_class: int) -> None:
        """Add one token."""
        self.triples.extend((start + self.offset, end + self.offset, token_class))

    def comment(self, text: str, start: int, end: int) -> None:
        """Add a comment word by word, if comments count."""
        if self.comments:
            for word in re.compile(_WORDS).finditer(text, start, end):
                self.add(*word.span(), FOLDED)

    def word(self, text: str, start: int, end: int) -> None:
        """Add a word, by its text if the language gives it a meaning."""
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
        return self.kept if vocabulary(asked) else NAME

    def _is_instruction(self, text: str, start: int, end: int) -> bool:
        """Whether this is the first word of its line that is no label."""
        if start < self.line_end or text.startswith(":", end):
            return False
        line_end = text.find("\n", end)
        self.line_end = line_end if line_end >= 0 else len(text)
        return True


def _run(text: str, position: int, language: str, tokens: _Tokens) -> int:
    """Add the tokens from a position on, up to the end of a nested comment or of the text; return where that is."""
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
def _vocabulary(lexer_name: str, asked: str, keeps_builtins: bool) -> Callable[[str], bool]:
    """Return the function that tells whether a word has a meaning of its own in a language."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Keyword, Name, Operator

    lexer = get_lexer_by_name(lexer_name)
    before = asked.index("{}")
    meanings = (Keyword, Operator, Name.Builtin) if keeps_builtins else (Keyword, Operator)

    @lru_cache(maxsize=2 * MAX_WORDS)
    def has_meaning(word: str) -> bool:
        for place, kind, value in lexer.get_tokens_unprocessed(asked.format(word)):
            if place == before:
                return bool(value.strip() == word and any(kind in meaning for meaning in meanings))
        return False

    return has_meaning


FRONT_END = BuiltIn(LEXED_LANGUAGES, read)
