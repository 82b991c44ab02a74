"""The story of it all on what ships with the package: two texts, a class with planted copies, a corpus with doubles.

No network is used, and nothing but the report is written.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rich.console import Console
from rich.panel import Panel
from rich.text import Text as Line

from lookalike import params
from lookalike.comparison.job import compare
from lookalike.comparison.result import Region, Report
from lookalike.deduplication import Deduplication, dedup
from lookalike.deduplication.result import LINKS
from lookalike.fingerprints import fingerprint
from lookalike.neighbours.table import HammingTable
from lookalike.rendering.html import folder
from lookalike.rendering.terminal import comparison
from lookalike.simhashes.texts import simhash
from lookalike.sketches.exact import resemblance

#: Two texts, a class and the starter it was given, and a corpus.
MATERIAL = Path(__file__).with_name("material")
TITLE = "Homework 4 of a class that does not exist"


class Planted(NamedTuple):
    """A copy that was put into the class: the one who wrote it, the one who copied, and how it was disguised."""

    author: str
    copier: str
    disguise: str


PLANTED = (
    Planted("Amara Okafor", "Lukas Weber", "word for word, with new comments"),
    Planted("Yuki Tanaka", "Rosa Almeida", "functions in another order, another layout"),
    Planted("Priya Raman", "Kwame Mensah", "every name and message changed"),
    Planted("Aisha Rahman", "Tomasz Nowak", "an essay reworded here and there, as a PDF"),
    Planted("Mei-Lin Chen", "Diego Fernández", "a program pasted into a notebook"),
    Planted("Sanna Mäkinen", "Tariq Haddad", "one function, in a program of his own"),
)


def tell(out: Path, overwrite: bool) -> Path:
    """Print the story and write the report; return the page to open."""
    # A second run replaces the report of the first, but nobody else's.
    replaces = overwrite or _is_demo(out)
    folder.check_out(out, replaces)
    console = Console(highlight=False)
    _two_texts(console)
    report = compare_class()
    _class(console, report)
    rows, found = notices()
    _corpus(console, rows, found)
    _seen(console, rows)
    written = folder.write(report, out, overwrite=replaces)
    console.print(Line(f"\nreport: {written.overview}", style="bold"), soft_wrap=True)
    console.print("Next: open it in a browser, or run this with --open; then")
    console.print("  lookalike compare SUBMISSIONS --template STARTER     your own class")
    console.print("  lookalike dedup CORPUS.jsonl -o CLEAN.jsonl          your own corpus")
    console.print("  lookalike compare --help, lookalike dedup --help     all that can be chosen")
    return written.overview


def compare_class(**chosen: Any) -> Report:
    """Compare the class, less the starter unless another template is chosen."""
    with TemporaryDirectory() as room:
        # Installers compile every .py file and leave the result beside it, which nobody handed in.
        shutil.copytree(MATERIAL, room, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        return compare([f"{room}/class"], **{"template": [f"{room}/starter"], "title": TITLE, **chosen})


def ranks(report: Report) -> Iterator[int | None]:
    """Yield the place of each planted pair, from 1; ``None`` for one that is not listed."""
    names = [entry.name for entry in report.entries]
    places = {frozenset((names[pair.left], names[pair.right])): i for i, pair in enumerate(report.pairs, start=1)}
    return (places.get(frozenset((one.author, one.copier))) for one in PLANTED)


def verdict(places: Sequence[int | None]) -> str:
    """Say whether the planted pairs are the first ones, and if they are not, which are not."""
    last = len(PLANTED)
    wrong = [f"{one.author} – {one.copier}" for one, at in zip(PLANTED, places, strict=True) if at is None or at > last]
    if not wrong:
        return f"The {last} planted copies are the first {last} pairs."
    return f"This is not as it should be: {', '.join(wrong)} should be among the first {last} pairs."


def _is_demo(out: Path) -> bool:
    try:
        found = json.loads((out / folder.JSON).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    parameters = found.get("parameters") if isinstance(found, dict) else None
    return isinstance(parameters, dict) and parameters.get("title") == TITLE


def _two_texts(console: Console) -> None:
    """Show the passage of two texts, and the fingerprints it was found by."""
    report = compare(MATERIAL / "texts")
    pair = report.pairs[0]
    passage = max(pair.passages, key=lambda passage: passage.tokens)
    console.print("1. Two texts. One borrows a sentence and disguises it with case, dashes and quotes:\n")
    for entry, region in ((pair.left, passage.left), (pair.right, passage.right)):
        file = report.entries[entry].files[region.file]
        console.print(Panel(_marked(file.text, region), title=file.name, title_align="left", padding=(0, 1)))
    console.print(
        f"One passage of {passage.tokens} letters (bold), found by fingerprints (underlined: where one begins): "
        f"{report.promise.partition(';')[0]}.\n"
    )


def _marked(text: str, region: Region) -> Line:
    """Return a text with its passage in bold and the first letters of its fingerprints underlined."""
    line = Line(text)
    line.stylize("bold green", region.start, region.end)
    k, t = params.LANGUAGE_THRESHOLDS["text"]
    for start, _ in fingerprint(text, k=k, t=t).spans:
        line.stylize("underline", start, start + 1)
    line.rstrip()
    return line


def _class(console: Console, report: Report) -> None:
    """Show what was found in the class beside what was planted."""
    console.print(
        f"2. A class of {len(report.entries)} was given a starter, and handed in Python, Java, C++, a notebook and "
        f"essays, one as a PDF. {len(PLANTED)} of them copied, each in another way:\n"
    )
    comparison.print_table(report)
    places = list(ranks(report))
    console.print("\nWhat was planted, and its place in the table:")
    for one, place in zip(PLANTED, places, strict=True):
        console.print(f"  {'–' if place is None else place}  {one.copier} from {one.author}: {one.disguise}")
    console.print(Line(verdict(places), style="bold"), soft_wrap=True)
    others = report.pair_count - sum(place is not None for place in places)
    if others:
        console.print(f"The {others} others are what programs for one task have in common: a person decides.")


#: Notices as they stand in the corpus.
Rows = list[dict[str, str | None]]


def notices() -> tuple[Rows, Deduplication]:
    """Deduplicate the corpus; return its rows and what was decided. A row that was planted names its original."""
    path = MATERIAL / "notices.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return rows, dedup(path)


def _corpus(console: Console, rows: Rows, found: Deduplication) -> None:
    """Show which notices go, for whose sake, and which planted one stays."""
    planted = [i for i, row in enumerate(rows) if row["copy_of"]]
    threshold = found.settings.threshold
    console.print(
        f"\n3. A corpus of {len(rows)} notices; {len(planted)} of them are others over again, most of them touched up. "
        f"Deduplicated at a resemblance of {threshold:g} in shingles of {found.settings.shingle} words:\n"
    )
    for i in found.gone:
        link, stays = LINKS[found.links[i]], rows[found.survivors[i]]["id"]
        console.print(f"  {rows[i]['id']} goes, {stays} stays  {found.resemblances[i]:.2f} {link:9}  {rows[i]['how']}")
    kept = sorted(set(planted) - set(found.gone))
    wrong = [str(rows[i]["id"]) for i in found.gone if rows[found.survivors[i]]["id"] != rows[i]["copy_of"]]
    console.print(Line(_gone(len(found.gone), len(rows), wrong), style="bold"), soft_wrap=True)
    for i in kept:
        original = next(row for row in rows if row["id"] == rows[i]["copy_of"])
        alike = resemblance(rows[i]["text"] or "", original["text"] or "", shingle=found.settings.shingle) or 0.0
        console.print(
            f"{rows[i]['id']} stays: {rows[i]['how']} leaves a resemblance of {alike:.2f} to {original['id']}, "
            f"which is below {threshold:g}. A changed word costs {found.settings.shingle} shingles."
        )


def _gone(gone: int, rows: int, wrong: Sequence[str]) -> str:
    """Say how many go, and if one goes for the sake of another than its original, which."""
    if wrong:
        return f"This is not as it should be: {', '.join(wrong)} should not go, or not for that one's sake."
    return f"{gone} of {rows} go, each for the one it was made of; {rows - gone} stay."


class Sighting(NamedTuple):
    """A notice of which one that came before is near: their numbers, and in how many bits their fingerprints differ."""

    row: int
    before: int
    bits: int


def sightings(rows: Rows) -> list[Sighting]:
    """Ask of each notice, as it comes, whether the like of it was seen; the nearest of those that came before."""
    table, found = HammingTable.build(), []
    for number, row in enumerate(rows):
        kept = simhash(row["text"] or "")
        if kept is None:
            continue
        near = table.query(kept)
        if near.ids:
            bits, before = min(zip(near.distances, near.ids, strict=True))
            found.append(Sighting(number, before, bits))
        table.insert([kept], [number])
    return found


def _seen(console: Console, rows: Rows) -> None:
    """Show which notices are recognised by eight bytes each, and which copies are not."""
    found = sightings(rows)
    distance = params.DISTANCE.default
    console.print(
        f"\n4. Have I seen this? The same {len(rows)} as they come in, of each one 64-bit fingerprint kept. "
        f"Seen is what differs in at most {distance} bits:\n"
    )
    for one in found:
        console.print(
            f"  {rows[one.row]['id']} is {one.bits} bits from {rows[one.before]['id']}  {rows[one.row]['how']}"
        )
    copies = {number for number, row in enumerate(rows) if row["copy_of"]}
    console.print(Line(_recognised({one.row for one in found}, copies), style="bold"), soft_wrap=True)
    missed = [str(rows[number]["id"]) for number in sorted(copies - {one.row for one in found})]
    if missed:
        console.print(
            f"{', '.join(missed)} differ in more bits: in thirty words one changed word moves several. A table of a "
            "hundred million such fingerprints takes two gigabytes and answers in microseconds."
        )


def _recognised(seen: set[int], copies: set[int]) -> str:
    """Say how many copies were recognised, and whether anything else was."""
    strangers = len(seen - copies)
    others = f"{strangers} others were taken for copies" if strangers else "nothing else was taken for one"
    return f"{len(seen & copies)} of {len(copies)} copies are recognised; {others}."
