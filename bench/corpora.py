"""Texts to measure on, made by seeded code: no data set is kept, and every machine makes the same bytes.

Of Python's generator only `random()` and `getrandbits()` are used, whose sequences never changed, and weights are whole
numbers, so no rounding differs. Running text is a pool of paragraphs over a Zipf vocabulary of made-up words; documents
are drawn from the pool, which takes a fraction of a second for 64 MiB and is too much for a branch predictor to learn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from random import Random

MIB = 1 << 20
SEED = 20030609
#: Bytes of the pool that running text is drawn from.
POOL = 4 * MIB
#: Distinct words of a language; with Zipf's weights the commonest is every tenth word, as `the` nearly is in English.
VOCABULARY = 20_000


@dataclass(frozen=True)
class Language:
    """How the words of a language are made: syllables of an onset, a vowel and sometimes a coda."""

    onsets: tuple[str, ...]
    vowels: tuple[str, ...]
    codas: tuple[str, ...] = ()
    #: Between words: nothing where the script does not part them.
    space: str = " "
    stops: str = "...?!"


def spoken(onsets: str, vowels: str, codas: str) -> Language:
    return Language(tuple(onsets.split()), tuple(vowels.split()), tuple(codas.split()))


ENGLISH = spoken("b c d f g h l m n p r s t w th st ch", "a e i o u e a o", "n r s t d l")
FRENCH = spoken("b c d f l m n p r s t v p l d ç", "a e i o u a e i o u e a é è ê à", "n r s t x")
GERMAN = spoken("b d f g h k l m n r s t w sch", "a e i o u a e i o e i e ä ö ü", "n r s t n r ß ch")
RUSSIAN = spoken("б в г д ж з к л м н п р с т ч ш", "а е и о у ы я ю", "н р с т й ь")
GREEK = spoken("β γ δ θ κ λ μ ν π ρ σ τ φ χ", "α ε η ι ο υ ω ά έ ή ί ό", "ν ς ρ")
CHINESE = Language(tuple(map(chr, range(0x4E00, 0x5200, 3))), ("",), space="", stops="。。。？！")
#: Drawn sentence by sentence: about a third of the bytes is not ASCII.
MIXED = (ENGLISH, ENGLISH, ENGLISH, ENGLISH, ENGLISH, ENGLISH, FRENCH, FRENCH, GERMAN, RUSSIAN, GREEK, CHINESE)


def pick(rng: Random, items: Sequence[str]) -> str:
    return items[int(rng.random() * len(items))]


def make_word(rng: Random, language: Language) -> str:
    parts = []
    for _ in range(1 + int(rng.random() * 4)):
        parts += [pick(rng, language.onsets), pick(rng, language.vowels)]
        if language.codas and rng.random() < 0.4:
            parts.append(pick(rng, language.codas))
    return "".join(parts)


@dataclass(frozen=True)
class Vocabulary:
    """Words of a language, the commonest first and shortest, drawn by Zipf's law."""

    language: Language
    words: list[str]
    #: Cumulative weights in whole numbers.
    weights: list[int]

    def draw(self, rng: Random) -> str:
        """Draw a word."""
        return self.words[bisect_right(self.weights, int(rng.random() * self.weights[-1]))]


@cache
def vocabulary(language: Language) -> Vocabulary:
    rng = Random(SEED)
    found = {make_word(rng, language): None for _ in range(VOCABULARY)}
    # Common words tend to be short in every language; among near lengths the order is that of making.
    words = sorted(found, key=lambda word: len(word) // 5)
    weights = list(accumulate(10_000_000 // (rank + 10) for rank in range(len(words))))
    return Vocabulary(language, words, weights)


def sentence(rng: Random, words: Vocabulary) -> str:
    parts = [words.draw(rng) for _ in range(4 + int(rng.random() * 18))]
    parts[0] = parts[0].capitalize()
    if rng.random() < 0.2:
        parts[-1] = str(int(rng.random() * 3000))
    if rng.random() < 0.5:
        parts[len(parts) // 2] += ","
    return words.language.space.join(parts) + pick(rng, words.language.stops)


def paragraph(rng: Random, languages: tuple[Language, ...]) -> str:
    """Lines of up to about 72 characters; every fifth paragraph is indented far, as quotations and code are."""
    indent = "        " if rng.random() < 0.2 else ""
    words = " ".join(
        sentence(rng, vocabulary(languages[int(rng.random() * len(languages))]))
        for _ in range(2 + int(rng.random() * 6))
    )
    lines, at = [], 0
    while at < len(words):
        cut = words.find(" ", at + 64)
        cut = len(words) if cut < 0 else cut
        lines.append(indent + words[at:cut])
        at = cut + 1
    return "\n".join(lines) + "\n\n"


@cache
def pool(languages: tuple[Language, ...], size: int) -> list[bytes]:
    """Paragraphs of at least `size` bytes in all."""
    rng = Random(SEED + 1)
    found: list[bytes] = []
    while size > 0:
        found.append(paragraph(rng, languages).encode())
        size -= len(found[-1])
    return found


def prose(languages: tuple[Language, ...], size: int, shortest: int = 1000, longest: int = 20_000) -> Iterator[bytes]:
    """Documents of 1 to 20 KB, of paragraphs in new order, `size` bytes of UTF-8 in all but for the last one's end."""
    rng = Random(SEED + 2)
    paragraphs = pool(languages, min(size, POOL))
    left = size
    while left > 0:
        goal = min(left, shortest + int(rng.random() * (longest - shortest)))
        parts: list[bytes] = []
        while goal > 0:
            parts.append(paragraphs[int(rng.random() * len(paragraphs))])
            goal -= len(parts[-1])
        document = b"".join(parts)
        left -= len(document)
        yield document


def one_word_apart(size: int) -> Iterator[bytes]:
    """Nothing but words and single spaces: the most tokens a byte that a text of words has."""
    rng, words = Random(SEED + 3), vocabulary(ENGLISH)
    block = " ".join(words.draw(rng) for _ in range(VOCABULARY)).encode() + b" "
    yield repeat(block, size)


def noise(size: int) -> Iterator[bytes]:
    """Independent letters and digits, 32 equally likely: the text of the paper's density experiment."""
    table = bytes(b"abcdefghijklmnopqrstuvwxyz234567"[byte % 32] for byte in range(256))
    yield Random(SEED + 4).getrandbits(8 * size).to_bytes(size, "little").translate(table)


def thue_morse(size: int) -> Iterator[bytes]:
    """No block occurs three times in a row, yet there are few distinct k-grams."""
    flip = bytes.maketrans(b"ab", b"ba")
    text = b"a"
    while len(text) < size:
        text += text.translate(flip)
    yield text[:size]


def repeat(block: bytes, size: int) -> bytes:
    """Whole blocks only, so that no character is cut in two."""
    return block * max(1, size // len(block))


#: Each corpus by name: its documents, given the number of bytes wanted.
CORPORA: dict[str, Callable[[int], Iterator[bytes]]] = {
    "ascii": lambda size: prose((ENGLISH,), size),
    "short": lambda size: prose((ENGLISH,), size, 100, 400),
    "whole": lambda size: iter([b"".join(prose((ENGLISH,), size))]),
    "mixed": lambda size: prose(MIXED, size),
    "accents": lambda size: prose((FRENCH, GERMAN), size),
    "russian": lambda size: prose((RUSSIAN,), size),
    "chinese": lambda size: prose((CHINESE,), size),
    "words": one_word_apart,
    "random": noise,
    "zeros": lambda size: iter([b"0" * size]),
    "thue-morse": thue_morse,
    "periodic": lambda size: iter([repeat(b"abracadabra13", size)]),
    "repeated": lambda size: iter([repeat(b"".join(prose((ENGLISH,), MIB)), size)]),
}
