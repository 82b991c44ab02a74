"""Copied passages with offsets in English prose (PAN 2013 text alignment, training corpus)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from lookalike import params
from lookalike.comparison.result import Pair, Passage, Region, Section
from quality.figure import Figure
from quality.metrics import Alignment
from quality.task import Compared, Task, rows, top_folder

COHORT = "all suspicious documents as new, all sources as old"
LIMITS = (
    "Names and set phrases have up to 35 letters, so shorter passages are not counted as detections. Most detections "
    "outside a true passage have fewer than 50 letters. Where words were shuffled, translated or summarised, only "
    "scattered runs are shared, and many are shorter than the guarantee. Sections bridge 500 characters and "
    "need 60 letters. Both were chosen on one suspicious document in six; 800 characters did as well there, but "
    "brought verbatim copies below 0.95 on all."
)
VERBATIM = "no-obfuscation"
KINDS = (VERBATIM, "random", "translation", "summary", "no-plagiarism")
#: Stands for all kinds together.
ALL = ""
SUSPICIOUS = "susp"
#: Letters of a passage that is counted as a detection; shorter ones are mostly names and set phrases.
DETECTED = 35
#: Runs at least this long are promised to be found.
PROMISED = params.LANGUAGE_THRESHOLDS["text"][1]
#: Pairs of prose are in the main list by default from this score on.
CUT_OFF = params.LANGUAGE_CUT_OFFS["text"]

Detection = tuple[str, str, int, int, int, int]


def measure(task: Task) -> list[Figure]:
    """PAN's measures for each kind of copy, and how much of the verbatim copies no passage covers."""
    suspicious = [name for name in task.documents if top_folder(name) == SUSPICIOUS]
    compared = task.compare(suspicious, old=[name for name in task.documents if top_folder(name) != SUSPICIOUS])
    aligned = task.metrics.align(task.folder, detections(compared, is_detection), KINDS)
    task.details.append(table(aligned))
    everything = task.metrics.align(task.folder, detections(compared, lambda passage: True), [VERBATIM])[VERBATIM]
    task.details.append(
        f"Detections are the passages of at least {DETECTED} letters that repeat no other. With every passage of the "
        f"report counted, {VERBATIM} has plagdet {everything.plagdet:.4f}, precision {everything.precision:.4f} and "
        f"granularity {everything.granularity:.4f}."
    )
    verbatim = aligned[VERBATIM]
    return [
        Figure(f"plagdet {VERBATIM}", verbatim.plagdet, at_least=0.95),
        Figure(f"granularity {VERBATIM}", verbatim.granularity, below=1.01),
        Figure("letters of verbatim copies covered", covered(task, compared), at_least=1),
        *of_sections(task, compared),
    ]


def of_sections(task: Task, compared: Compared) -> list[Figure]:
    """Return PAN's measures with sections as detections: of all pairs, and of those that are listed by default."""
    every = task.metrics.align(task.folder, in_sections(compared, lambda pair: True), (ALL, *KINDS))
    in_list = task.metrics.align(task.folder, in_sections(compared, is_listed), (ALL, VERBATIM))
    listed = in_list[ALL]
    task.details += ["Sections, of every pair that shares anything:", table({k or "all": v for k, v in every.items()})]
    task.details.append(
        f"Of the pairs listed by default, with a score of {CUT_OFF:g} or more or for a strong passage, sections have "
        f"plagdet {listed.plagdet:.4f}, recall {listed.recall:.4f} and precision {listed.precision:.4f}."
    )
    return [
        Figure("plagdet of sections, all kinds", every[ALL].plagdet, at_least=0.75),
        Figure("granularity of sections, all kinds", every[ALL].granularity, at_most=1.05),
        Figure(f"plagdet of sections, {VERBATIM}", every[VERBATIM].plagdet, at_least=0.95),
        Figure("plagdet of sections, all kinds, as listed", listed.plagdet, at_least=0.75),
        Figure(f"plagdet of sections, {VERBATIM}, as listed", in_list[VERBATIM].plagdet, at_least=0.95),
    ]


def is_listed(pair: Pair) -> bool:
    """Whether the defaults list a pair by its score or for a strong passage."""
    return pair.score >= CUT_OFF or (pair.strongest_bits is not None and pair.matched_bits >= params.MIN_BITS)


def in_sections(compared: Compared, wanted: Callable[[Pair], bool]) -> Iterator[Detection]:
    """Sections between a suspicious document and a source, of some pairs."""
    return between(compared, lambda pair: pair.sections if wanted(pair) else ())


def table(aligned: dict[str, Alignment]) -> str:
    """Lay out the measures of all kinds."""
    names = ("passages", "detected", "plagdet", "recall", "precision", "granularity")
    lines = [f"| kind | {' | '.join(names)} |", "|---|---|---|---|---|---|---|"]
    for kind, found in aligned.items():
        numbers = (
            f"{getattr(found, name):.4f}" if i > 1 else str(getattr(found, name)) for i, name in enumerate(names)
        )
        lines.append(f"| {kind} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def is_detection(passage: Passage) -> bool:
    """Whether a passage counts as a copy of its own: long enough, and not a repetition of another."""
    return passage.sort == "run" and passage.tokens >= DETECTED


def detections(compared: Compared, wanted: Callable[[Passage], bool]) -> Iterator[Detection]:
    """Passages between a suspicious document and a source, in this order."""
    return between(compared, lambda pair: filter(wanted, pair.passages))


def between(compared: Compared, pieces: Callable[[Pair], Iterable[Passage | Section]]) -> Iterator[Detection]:
    """Pieces of the pairs of a suspicious document and a source, in this order."""
    for pair in compared.report.pairs:
        a, b = compared.names(pair)
        if top_folder(a) == top_folder(b):
            continue
        for piece in pieces(pair):
            sides = [(a, piece.left), (b, piece.right)]
            (a_name, left), (b_name, right) = sides if top_folder(a) == SUSPICIOUS else sides[::-1]
            yield a_name, b_name, left.start, length(left), right.start, length(right)


def length(region: Region) -> int:
    return region.end - region.start


def covered(task: Task, compared: Compared) -> float:
    """Share of the letters of verbatim copies that lie in passages of that pair, on both sides together."""
    entries = zip(compared.documents, compared.report.entries, strict=True)
    texts = {name: entry.files[0].text for name, entry in entries if entry.files}
    told = defaultdict(list)
    for a, b, *region in detections(compared, lambda passage: True):
        told[a, b].append(region)
    missing = total = 0
    for row in rows(task.folder / "spans.csv"):
        if row["kind"] != VERBATIM:
            continue
        for side, first in (("a", 0), ("b", 2)):
            letters = letters_of(texts[row[side]], int(row[f"{side}_off"]), int(row[f"{side}_len"]))
            if len(letters) >= PROMISED:
                total += len(letters)
                for region in told[row["a"], row["b"]]:
                    letters.difference_update(range(region[first], sum(region[first : first + 2])))
                missing += len(letters)
    return 1 - missing / total if total else 1.0


def letters_of(text: str, start: int, size: int) -> set[int]:
    """Places of letters and digits: what prose is compared by."""
    return {i for i in range(start, start + size) if text[i].isalnum()}
