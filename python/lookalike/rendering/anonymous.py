"""Makes a report anonymous: each submission gets a code, and names in file names and texts are masked.

A code is an HMAC of the name. The key is stored next to the report, never in it: the same key gives the same codes next
time, and without the key a code reveals nothing. Submissions are sorted by their codes, because alphabetical order
would reveal names.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets as randomness
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Self

from lookalike.comparison.result import Cluster, Common, Entry, File, Pair, Remark, Report
from lookalike.rendering.html.sides import MarksOf
from lookalike.rendering.tables import cell, rows

KEY_BYTES = 32
#: Letters of a code. Without vowels, no code is a word. 26⁶ codes; more letters only if two would be equal.
ALPHABET, CODE_LETTERS = "BCDFGHJKMNPQRSTVWXZ2345679", 6
#: Shortest word of a name that is masked; words shorter than `INSIDE` are masked only as separate words.
WORD, INSIDE = 3, 5
#: Shortest number in a name that identifies a student; shorter ones number exercises.
DIGITS = 4
#: With at most this many submitters, a word in most names may still be a name.
FEW = 5
BLOCK = "•"
#: How names are written without their letters: Jörg Müller is also Joerg Mueller.
_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "aa", "æ": "ae"}
    | {"Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ẞ": "SS", "Ø": "Oe", "Å": "Aa", "Æ": "Ae"}
)
_RUN = re.compile(r"[^\W\d_]+|\d+")
#: An e-mail address. It begins where no such character stands before it, so the search is linear. A host without a dot
#: counts only in angle brackets: `a@b` is a product in Python.
_LOGIN, _HOST = r"[\w.%+'~-]", r"[\w-]+"
_AT, _DOT = (
    rf"(?:{plain}|[ ]?[\[({{<][ ]?{word}[ ]?[\])}}>][ ]?)" for plain, word in (("[@＠]|%40", "at"), (r"\.", "dot"))
)
_ADDRESS = re.compile(
    rf"(?<!{_LOGIN}){_LOGIN}+{_AT}{_HOST}(?:{_DOT}{_HOST})+|(?<=<){_LOGIN}+@{_HOST}(?=>)", re.IGNORECASE
)
#: Words inside camelCase.
_HUMP = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


@dataclass
class Secrets:
    """The private files of an anonymous report: the key, and the names by code."""

    FILES: ClassVar = ("names.csv", "names.key")

    key: bytes
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def new(cls) -> Self:
        """Make a random key."""
        return cls(randomness.token_bytes(KEY_BYTES))

    @classmethod
    def is_kept_in(cls, folder: Path) -> bool:
        """Return whether a folder contains a key and names, and nothing else."""
        return folder.is_dir() and {path.name for path in folder.iterdir()} == set(cls.FILES)

    @classmethod
    def kept_in(cls, folder: Path) -> Self:
        """Read the key of an earlier report, so that codes stay the same."""
        return cls(bytes.fromhex((folder / "names.key").read_text("ascii")))

    def code(self, kind: str, name: str) -> str:
        """Return the code of a name. ``kind``: S for a submission, P for a person, F for a file outside submissions."""
        digest = hmac.digest(self.key, f"{kind}:{name}".encode("utf-8", "surrogatepass"), "sha256")
        number, letters = int.from_bytes(digest), ""
        while len(letters) < CODE_LETTERS or self.names.get(f"{kind}-{letters}", name) != name:
            number, digit = divmod(number, len(ALPHABET))
            letters += ALPHABET[digit]
        self.names[f"{kind}-{letters}"] = name
        return f"{kind}-{letters}"

    def write(self, folder: Path) -> Path:
        """Write both files to a new folder that only its owner can read."""
        folder.mkdir(mode=0o700)
        table = rows("code,name", (f"{code},{cell(name)}" for code, name in sorted(self.names.items())))
        for name, text in zip(self.FILES, (table, self.key.hex()), strict=True):
            with open(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(text.encode())
        return folder


class Mask:
    """Masks the words of names in a text; the length of the text does not change."""

    def __init__(self, owners: Collection[Collection[str]], open_: Iterable[str] = ()) -> None:
        """Take the names of each owner, and words that are not secret although names contain them."""
        counted = Counter(word for names in owners for word in set().union(*map(words, names)))
        # A word in more than half of the names identifies nobody: "submission", "hw3".
        usual = {word for word, count in counted.items() if count * 2 > len(owners) > FEW}
        self._words = frozenset(counted.keys() - usual - {word for name in open_ for word in words(name)})
        self._long = sorted(word for word in self._words if len(word) >= INSIDE)
        self._runs: dict[str, str] = {}
        long_enough = {name for names in owners for name in names if len(name) >= WORD}
        whole = "|".join(re.escape(name) for name in sorted(long_enough, reverse=True) if self._by_words(name) == name)
        self._whole = re.compile(rf"(?<![^\W_])(?:{whole})(?![^\W_])", re.IGNORECASE) if whole else None

    def __call__(self, text: str) -> str:
        """Return the text with every name and e-mail address replaced by blocks."""
        masked = self._by_words(_ADDRESS.sub(lambda found: BLOCK * len(found[0]), text))
        return self._whole.sub(lambda found: BLOCK * len(found[0]), masked) if self._whole else masked

    def _by_words(self, text: str) -> str:
        return _RUN.sub(lambda found: self._runs.get(found[0]) or self._run(found[0]), text)

    def _run(self, run: str) -> str:
        """Mask one run of letters or digits, and remember the result, because texts repeat their words."""
        low, masked = _lower(run), run
        if low in self._words:
            masked = BLOCK * len(run)
        else:
            for hump in _HUMP.finditer(run):
                if low[hump.start() : hump.end()] in self._words:
                    masked = _blocked(masked, *hump.span())
            for word in self._long:
                at = low.find(word)
                while at >= 0:
                    masked = _blocked(masked, at, at + len(word))
                    at = low.find(word, at + 1)
        self._runs[run] = masked
        return masked


def words(name: str) -> set[str]:
    """Return the identifying words of a name in lower case: also without accents, transliterated, and joined."""
    name = unicodedata.normalize("NFC", name)
    stem = name[: -len(suffix)] if (suffix := PurePosixPath(name).suffix) and len(suffix) <= 6 else name
    found = set()
    for spelt in {stem, _plain(stem), _plain(stem.translate(_LETTERS))}:
        runs = _RUN.findall(spelt)
        found |= {_lower(word) for run in runs for word in (run, *_HUMP.findall(run))}
        # Anna-Lena is also "annalena". Short words and numbers are left out: "a b" and "hw 3" identify nobody.
        letters = [run if run.isalpha() and len(run) >= WORD else "" for run in runs]
        found |= {_lower(one + other) for one, other in pairwise(letters) if one and other}
    return {word for word in found if len(word) >= (DIGITS if word.isdigit() else WORD)}


def _plain(text: str) -> str:
    """Return the text without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _lower(text: str) -> str:
    """Return the text in lower case, with the same length."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _blocked(text: str, start: int, end: int) -> str:
    return text[:start] + BLOCK * (end - start) + text[end:]


@dataclass(frozen=True)
class _Anonymity:
    """How the names of one report are replaced."""

    secrets: Secrets
    mask: Mask
    #: Codes by name of a submission.
    codes: dict[str, str]

    def path(self, name: str) -> str:
        """Replace the submission at the beginning of a path by its code, and mask the rest."""
        parts = name.split("/")
        for end in range(len(parts), 0, -1):
            code = self.codes.get("/".join(parts[:end]))
            if code is not None:
                return "/".join([code, *map(self.mask, parts[end:])])
        return "/".join([self.secrets.code("F", parts[0]), *map(self.mask, parts[1:])])

    def remark(self, remark: Remark) -> Remark:
        name = self.path(remark.name) if remark.is_submitted else self.mask(remark.name)
        return Remark(name, self.mask(remark.reason), remark.is_submitted)

    def value(self, value: Any) -> Any:
        """Mask the strings of a JSON value."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, dict):
            return {key: self.value(inner) for key, inner in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, (list, tuple)) else value

    def entry(self, entry: Entry, *, is_shown: bool) -> Entry:
        files = tuple(self.file(file, entry.name, is_shown=is_shown) for file in entry.files)
        person = None if entry.person is None else self.secrets.code("P", entry.person)
        label = None if entry.label is None else self.mask(entry.label)
        return replace(entry, name=self.codes[entry.name], person=person, label=label, files=files)

    def file(self, file: File, owner: str, *, is_shown: bool) -> File:
        """Mask a file; the text is dropped if no page shows it."""
        is_inside = file.name == owner or file.name.startswith(f"{owner}/")
        name = self.path(file.name) if is_inside else self.mask(file.name)
        text = self.mask(file.text) if is_shown else ""
        return replace(file, name=name, text=text, notes=tuple(map(self.mask, file.notes)))


def anonymised(report: Report, marks: MarksOf, secrets: Secrets, *, texts: bool = True) -> tuple[Report, MarksOf]:
    """Return the report without names, and its marks. Texts are kept only of submissions in pairs, if at all."""
    known = {entry.name for entry in report.entries}
    languages = {file.language for entry in report.entries for file in entry.files}
    mask = Mask(_owners(report), languages)
    hidden = _Anonymity(secrets, mask, {name: secrets.code("S", name) for name in sorted(known)})
    order = sorted(range(len(report.entries)), key=lambda i: hidden.codes[report.entries[i].name])
    place = {old: new for new, old in enumerate(order)}
    pairs = sorted((_placed(pair, place) for pair in report.pairs), key=lambda p: (-p.score, p.left, p.right))
    little = sorted((_placed(pair, place) for pair in report.little), key=lambda p: (-p.score, p.left, p.right))
    inside = sorted((_placed(pair, place) for pair in report.contained), key=lambda p: (-p.contained, p.left, p.right))
    shared = sorted(
        (_placed(pair, place) for pair in report.shared), key=lambda p: (-(p.strongest_bits or 0), p.left, p.right)
    )
    shown = {end for pair in (*pairs, *inside, *shared, *little) if texts for end in (pair.left, pair.right)}
    changed = replace(
        report,
        parameters=hidden.value(dict(report.parameters)),
        understood=mask(report.understood),
        entries=tuple(hidden.entry(report.entries[old], is_shown=new in shown) for new, old in enumerate(order)),
        pairs=tuple(pairs),
        contained=tuple(inside),
        shared=tuple(shared),
        little=tuple(little),
        outliers=tuple(one._replace(entry=place[one.entry]) for one in report.outliers),
        clusters=tuple(
            Cluster(place[c.representative], tuple(place[member] for member in c.members), c.scores)
            for c in report.clusters
        ),
        common=tuple(
            Common(place[c.entry], c.region, c.tokens, tuple(sorted(place[holder] for holder in c.holders)))
            for c in report.common
        ),
        groups=tuple(tuple(sorted(place[member] for member in group)) for group in report.groups),
        undefined=tuple(map(hidden.remark, report.undefined)),
        skipped=tuple(map(hidden.remark, report.skipped)),
        warnings=tuple(map(hidden.remark, report.warnings)),
    )
    return changed, lambda entry, file: marks(order[entry], file)


def _owners(report: Report) -> list[set[str]]:
    """Return the names of each submitter. A file outside submissions may be named after a person, too."""
    owners: dict[str, set[str]] = {}
    for entry in report.entries:
        owners.setdefault(entry.person or entry.name, set()).update({entry.name, entry.person or entry.name})
    for remark in (*report.undefined, *report.skipped, *report.warnings):
        if remark.is_submitted:
            name = remark.name.split("/")[0]
            owners.setdefault(name, {name})
    return list(owners.values())


def _placed(pair: Pair, place: dict[int, int]) -> Pair:
    """Return a pair with its new numbers, the smaller one left."""
    left, right = place[pair.left], place[pair.right]
    if left < right:
        return replace(pair, left=left, right=right)
    turned = [p._replace(left=p.right, right=p.left) for p in pair.passages]
    turned.sort(key=lambda passage: (passage.left.file, passage.left.start, passage.left.end))
    sections = [p._replace(left=p.right, right=p.left) for p in pair.sections]
    sections.sort(key=lambda section: (section.left.file, section.left.start, section.left.end))
    return replace(
        pair,
        left=right,
        right=left,
        left_coverage=pair.right_coverage,
        right_coverage=pair.left_coverage,
        passages=tuple(turned),
        sections=tuple(sections),
        gaps=tuple(gap._replace(side=1 - gap.side) for gap in pair.gaps),
    )
