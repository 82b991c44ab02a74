"""Reports made for tests: a class of generated programs with planted copies, of any size, without the engine."""

from __future__ import annotations

import hashlib
import random
import re
from array import array
from dataclasses import dataclass, replace

from lookalike.comparison.result import Cluster, Common, Entry, File, Pair, Passage, Region, Remark, Report


def listed(words: str) -> list[str]:
    return words.split()


FIRST = listed("Ada Boris Chiara Dmitri Elif Farah Goran Hana Imre Jonas Katya Liam Mei Nadia Oskar Priya Quinn Rosa")
LAST = listed("Abbott Berger Castillo Dvorak Eriksen Fontaine Grabowski Haddad Ivanova Jansen Kowalski Lindqvist")
NOUNS = listed("account order queue graph matrix student token parser vector index buffer record node ledger")
VERBS = listed("update compute insert remove merge count find sort balance scan normalise collect print")
TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|#[^\n]*|/\*.*?\*/)|(?P<string>\"[^\"\n]*\"|'[^'\n]*')|(?P<number>\b\d+(?:\.\d+)?\b)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<operator>[^\s\w])",
    re.DOTALL,
)
KEYWORDS = listed(
    "public private static final class int double void for while if else return new import package boolean String "
    "def in not and or None True False lambda with as from self"
)
KINDS = {"comment": 5, "string": 4, "number": 3, "operator": 6}
PROMISE = (
    "any run of at least 38 tokens that two submissions have in common is found; nothing shorter than 23 tokens is used"
)
PARAMETERS = {
    "language": "java",
    "max_sharing": 10,
    "min_score": 0.3,
    "comments": False,
    "thresholds": {"java": [23, 38]},
}
TEMPLATE = "import java.util.ArrayList;\nimport java.util.List;\n\n// Exercise 4: fill in the methods below.\n"


def java(rng: random.Random) -> str:
    """One method, different each time."""
    verb, noun, other = rng.choice(VERBS), rng.choice(NOUNS), rng.choice(NOUNS)
    a, b = rng.randrange(2, 90), rng.randrange(2, 900)
    lines = [
        f"    /* {verb.capitalize()}s the {noun} that belongs to one {other}. */",
        f"    public static int {verb}{noun.capitalize()}{rng.randrange(100)}(List<Integer> {noun}s, int limit) {{",
        f"        int {other} = {a};",
        f"        for (int i = 0; i < {noun}s.size() && i < limit; i++) {{",
        f"            if ({noun}s.get(i) % {a} == {rng.randrange(a)}) {{",
        f"                {other} += {noun}s.get(i) * {b}; // weigh it",
        "            } else {",
        f"                {other} = Math.max({other} - {rng.randrange(20)}, 0);",
        "            }",
        "        }",
        f'        System.out.println("{noun}: " + {other});',
        f"        return {other};",
        "    }",
        "",
    ]
    return "\n".join(lines) + "\n"


def renamed(block: str) -> str:
    """The same method with other names, as a student would disguise it."""
    for i, noun in enumerate(NOUNS):
        block = re.sub(rf"\b{noun}(s?)\b", rf"value{i}\1", block)
    return block


def marks(text: str) -> bytes:
    """Colouring as the engine gives it: packed (start, end, class)."""
    words = array("I")
    for found in TOKEN.finditer(text):
        kind = found.lastgroup or ""
        words.extend((*found.span(), KINDS.get(kind) or (1 if found[0] in KEYWORDS else 2)))
    if text.startswith(TEMPLATE):
        words = array("I", [0, len(TEMPLATE), 7]) + words
    return words.tobytes()


@dataclass
class Draft:
    """A program under construction: its blocks and where each begins."""

    text: str = TEMPLATE

    def put(self, block: str) -> tuple[int, int]:
        start = len(self.text)
        self.text += block
        return start, len(self.text)


def region(text: str, start: int, end: int, file: int = 0) -> Region:
    return Region(file, start, end, text.count("\n", 0, start) + 1, text.count("\n", 0, max(start, end - 1)) + 1)


def people(count: int) -> list[str]:
    """Names, all different."""
    rounds = [f"{first}_{last}" for last in LAST for first in FIRST]
    return [rounds[i % len(rounds)] + (f"_{i // len(rounds)}" if i >= len(rounds) else "") for i in range(count)]


@dataclass(frozen=True)
class Size:
    """How large a class is made."""

    entries: int = 30
    #: Methods of each submission: one has about 480 characters.
    methods: int = 6
    pairs: int = 14
    #: Passages of each pair.
    passages: int = 3


def school(size: Size | None = None, *, seed: int = 1) -> Report:
    """Return the report of a class in which some have copied methods from others."""
    size = size or Size()
    rng = random.Random(seed)
    drafts = [Draft() for _ in range(size.entries)]
    own = [[java(rng) for _ in range(size.methods)] for _ in range(size.entries)]
    plan = _plan(size, rng)
    copied: dict[int, list[tuple[tuple[int, int], tuple[int, int], bool]]] = {i: [] for i in range(len(plan))}
    for draft, blocks in zip(drafts, own, strict=True):
        for block in blocks[: size.methods // 2]:
            draft.put(block)
    for which, (left, right) in enumerate(plan):
        for _ in range(size.passages):
            block, exact = java(rng), rng.random() < 0.5
            copied[which].append(
                (drafts[left].put(block), drafts[right].put(block if exact else renamed(block)), exact)
            )
    for draft, blocks in zip(drafts, own, strict=True):
        for block in blocks[size.methods // 2 :]:
            draft.put(block)
    entries = tuple(
        _entry(name, draft.text, i) for i, (name, draft) in enumerate(zip(people(size.entries), drafts, strict=True))
    )
    pairs = [_pair(entries, *plan[i], copied[i], rng) for i in copied]
    return _report(entries, tuple(sorted(pairs, key=lambda pair: (-pair.score, pair.left, pair.right))))


def _plan(size: Size, rng: random.Random) -> list[tuple[int, int]]:
    """Choose who copied: some groups round one source, the rest at random."""
    chosen: dict[tuple[int, int], None] = {}
    for hub in range(0, size.entries // 3, 7):
        for other in range(hub + 1, min(hub + 4, size.entries)):
            chosen[hub, other] = None
    while len(chosen) < min(size.pairs, size.entries * (size.entries - 1) // 2):
        left, right = sorted(rng.sample(range(size.entries), 2))
        chosen[left, right] = None
    return list(chosen)[: size.pairs]


def _entry(name: str, text: str, i: int) -> Entry:
    tokens = len(text) // 5
    notes = ("degraded: 1 syntax error, the first on line 12",) if i % 11 == 3 else ()
    return Entry(
        name=name,
        files=(File("Main.java", "java", text, tokens, notes),),
        tokens=tokens,
        template_tokens=24,
        common_tokens=i % 5 * 10,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        label=("group A", "group B", "evening class")[i % 3],
        time=f"2026-03-{i % 28 + 1:02}T10:{i % 60:02}:00",
    )


def _pair(
    entries: tuple[Entry, ...],
    left: int,
    right: int,
    copied: list[tuple[tuple[int, int], tuple[int, int], bool]],
    rng: random.Random,
) -> Pair:
    texts = entries[left].files[0].text, entries[right].files[0].text
    passages = tuple(
        Passage(region(texts[0], *a), region(texts[1], *b), (a[1] - a[0]) // 5, rng.choice((2, 2, 2, 3, 5)), exact)
        for a, b, exact in copied
    )
    matched = sum(passage.tokens for passage in passages)
    share = [min(1.0, matched / max(1, entries[i].own_tokens)) for i in (left, right)]
    score = round(min(1.0, max(0.3, sum(share) / 2 * rng.uniform(0.7, 2.4))), 4)
    return Pair(left, right, score, share[0], share[1], matched, max((p.tokens for p in passages), default=0), passages)


def _report(entries: tuple[Entry, ...], pairs: tuple[Pair, ...]) -> Report:
    histogram = [len(entries) * 9, len(entries) * 3, len(entries), *[0] * 17]
    for pair in pairs:
        histogram[min(19, int(pair.score * 20))] += 1
    threshold = 0.5
    return Report(
        version="0.1.0",
        parameters=PARAMETERS,
        promise=PROMISE,
        entries=entries,
        pairs=pairs,
        pair_count=len(pairs),
        histogram=tuple(histogram),
        cut_off=0.3,
        clusters=_clusters(pairs, threshold),
        cluster_threshold=threshold,
        common=(
            Common(0, region(entries[0].files[0].text, 0, len(TEMPLATE)), 24, tuple(range(min(12, len(entries))))),
        ),
        undefined=(Remark("Template_Only", "template only: nothing of its own is left"),),
        skipped=(Remark("Ada_Abbott/core.bin", "not text: 12 % of its bytes are NUL"),),
        warnings=(Remark("Dmitri_Abbott/Main.java", "degraded: 1 syntax error, the first on line 12"),),
    )


def _clusters(pairs: tuple[Pair, ...], threshold: float) -> tuple[Cluster, ...]:
    """Stars, greedily: the first free end of the best pair takes its free neighbours."""
    free = {i for pair in pairs for i in (pair.left, pair.right)}
    found = []
    for centre in sorted(free):
        if centre not in free:
            continue
        near = {
            p.left + p.right - centre: p.score for p in pairs if centre in (p.left, p.right) and p.score >= threshold
        }
        near = {i: score for i, score in near.items() if i in free}
        if near:
            free -= {centre, *near}
            found.append(Cluster(centre, (centre, *near), (1.0, *near.values())))
    return tuple(found)


def nothing_found(entries: int = 12) -> Report:
    """Return the report of a class in which nobody copied."""
    report = school(Size(entries=entries, pairs=0))
    histogram = (entries * (entries - 1) // 2, *[0] * 19)
    return replace(report, pairs=(), pair_count=0, clusters=(), common=(), histogram=histogram)


def many_pairs(count: int, entries: int = 300) -> Report:
    """Return a report of many pairs without passages: what the table must bear."""
    report = school(Size(entries=entries, methods=2, pairs=0))
    ends = [(i, j) for i in range(entries) for j in range(i + 1, entries)][:count]
    pairs = tuple(
        Pair(i, j, 1 - n / (count + 1) * 0.7, 0.5, 0.4, 100 + n % 77, 50, ()) for n, (i, j) in enumerate(ends)
    )
    return replace(report, pairs=pairs, pair_count=count + 5, clusters=())


def coloured(report: Report):
    """Return the marks callback for a report."""
    return lambda entry, file: marks(report.entries[entry].files[file].text)
