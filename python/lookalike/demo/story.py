"""The demo, on material that ships with the package: two texts, a class with planted copies, a corpus with duplicates.

It uses no network, and writes only the report.
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
from lookalike._types import counted
from lookalike.archive.store import Index
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
    """A planted copy: the author of the original, the author of the copy, and how the copy was changed."""

    author: str
    copier: str
    disguise: str


PLANTED = (
    Planted("Amara Okafor", "Lukas Weber", "word for word, with new comments"),
    Planted("Yuki Tanaka", "Rosa Almeida", "functions in another order, another layout"),
    Planted("Priya Raman", "Kwame Mensah", "every name and message changed"),
    Planted("Aisha Rahman", "Tomasz Nowak", "an essay reworded here and there, as a PDF"),
    Planted("Mei-Lin Chen", "Diego Fernández", "a program pasted into a notebook"),
    Planted("Sanna Mäkinen", "Tariq Haddad", "one function inside another program"),
)


def tell(out: Path, overwrite: bool) -> Path:
    """Print the story and write the report; return the page to open."""
    # A second run replaces the report of the first one, but no other report.
    replaces = overwrite or _is_demo(out)
    folder.check_out(out, replaces)
    console = Console(highlight=False)
    _two_texts(console)
    report = compare_class()
    _class(console, report)
    rows, found = notices()
    _corpus(console, rows, found)
    _seen(console, rows)
    _archive(console)
    written = folder.write(report, out, overwrite=replaces)
    console.print(Line(f"\nreport: {written.overview}", style="bold"), soft_wrap=True)
    console.print("Open the report in a browser, or run this again with --open. Then try:")
    console.print("  lookalike compare SUBMISSIONS --template STARTER     your own class")
    console.print("  lookalike dedup CORPUS.jsonl -o CLEAN.jsonl          your own corpus")
    console.print("  lookalike compare --help, lookalike dedup --help     all options")
    return written.overview


def compare_class(**chosen: Any) -> Report:
    """Compare the class without its starter code, unless another template is given."""
    with TemporaryDirectory() as room:
        # Installers compile .py files and leave __pycache__ folders, which are not submissions.
        shutil.copytree(MATERIAL, room, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        return compare([f"{room}/class"], **{"template": [f"{room}/starter"], "title": TITLE, **chosen})


def ranks(report: Report) -> Iterator[int | None]:
    """Yield the rank of each planted pair, from 1; ``None`` for a pair that is not listed."""
    names = [entry.name for entry in report.entries]
    places = {frozenset((names[pair.left], names[pair.right])): i for i, pair in enumerate(report.pairs, start=1)}
    return (places.get(frozenset((one.author, one.copier))) for one in PLANTED)


def verdict(places: Sequence[int | None]) -> str:
    """Return whether the planted pairs are the first ones, and which are not."""
    last = len(PLANTED)
    wrong = [f"{one.author} – {one.copier}" for one, at in zip(PLANTED, places, strict=True) if at is None or at > last]
    if not wrong:
        return f"The {last} planted copies are the first {last} pairs."
    return f"Unexpected result: {', '.join(wrong)} should be among the first {last} pairs."


def _is_demo(out: Path) -> bool:
    try:
        found = json.loads((out / folder.JSON).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    parameters = found.get("parameters") if isinstance(found, dict) else None
    return isinstance(parameters, dict) and parameters.get("title") == TITLE


def _two_texts(console: Console) -> None:
    """Show the shared passage of two texts, and its fingerprints."""
    report = compare(MATERIAL / "texts")
    pair = report.pairs[0]
    passage = max(pair.passages, key=lambda passage: passage.tokens)
    console.print("1. Two texts share a sentence, with different case, dashes and quotes:\n")
    for entry, region in ((pair.left, passage.left), (pair.right, passage.right)):
        file = report.entries[entry].files[region.file]
        console.print(Panel(_marked(file.text, region), title=file.name, title_align="left", padding=(0, 1)))
    console.print(
        f"The shared passage has {passage.tokens} letters (bold). Fingerprints found it; each begins at an underlined "
        f"letter. Guarantee: {report.promise.partition(';')[0]}.\n"
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
    """Show the pairs found in the class, and the planted ones."""
    console.print(
        f"2. A class of {len(report.entries)} received starter code, and submitted Python, Java, C++, a notebook and "
        f"essays, one as a PDF. We planted {len(PLANTED)} copies, each changed in another way:\n"
    )
    comparison.print_table(report)
    places = list(ranks(report))
    console.print("\nThe planted copies, with their rank in the table:")
    for one, place in zip(PLANTED, places, strict=True):
        console.print(f"  {'–' if place is None else place}  {one.author} – {one.copier}: {one.disguise}")
    console.print(Line(verdict(places), style="bold"), soft_wrap=True)
    others = report.pair_count - sum(place is not None for place in places)
    if others:
        console.print(f"Other pairs: {others}. Programs for one task have some code in common. A person decides.")


#: Who hands in this year, and whom of last year's class it copies from.
NEW, COPIED = "weber", "last year/okafor"
#: Notices that are yesterday's; the others are today's.
YESTERDAY = 45


class Archived(NamedTuple):
    """What the archives answered: this year's pairs with last year's class, and today's notices without yesterday's."""

    class_size: int
    report: Report
    today: int
    #: Ids of today's notices that are new.
    kept: list[str]


def archived() -> Archived:
    """Keep last year's class and yesterday's notices in archives, and ask both."""
    with TemporaryDirectory() as room:
        shutil.copytree(MATERIAL, room, ignore=shutil.ignore_patterns("__pycache__", "info.csv"), dirs_exist_ok=True)
        base = Path(room)
        (base / "new").mkdir()
        (base / "class" / NEW).rename(base / "new" / NEW)
        with Index.create(base / "classes", kind="class") as index:
            index.add(base / "class", template=[base / "starter"], label="last year")
            size = sum(not one.is_template for one in index.documents())
        report = compare([base / "new"], index=[base / "classes"])
        lines = (base / "notices.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        rows = [json.loads(line) for line in lines]
        Index.create(base / "notices", kind="corpus").close()
        dedup(rows[:YESTERDAY], index=base / "notices", add=True)
        found = dedup(rows[YESTERDAY:], index=base / "notices", add=True)
        return Archived(size, report, len(rows) - YESTERDAY, [str(row["id"]) for row in found.select()])


def _archive(console: Console) -> None:
    """Show a copy from last year, and today's notices that the archive has."""
    told = archived()
    console.print(
        f"\n5. An archive remembers. Last year's class, {told.class_size} submissions, is in a folder on disk; its "
        "files are not read again. This year one student hands in:\n"
    )
    for pair in told.report.pairs:
        left, right = (told.report.entries[side] for side in (pair.left, pair.right))
        new, old = (right, left) if left.old else (left, right)
        console.print(f"  {new.name}, this year, and {old.name}: score {pair.score:.2f}")
    console.print(Line(_remembered(told), style="bold"), soft_wrap=True)
    gone = told.today - len(told.kept)
    console.print(
        f"Yesterday's {YESTERDAY} notices are in another archive. Of today's {told.today}, {gone} repeat one of them "
        f"or of today's; {counted(len(told.kept), 'new notice')} went into the archive: {', '.join(told.kept)}."
    )


def _remembered(told: Archived) -> str:
    """Return whether the copy from last year is found, and nothing else."""
    found = {told.report.entries[side].name for pair in told.report.pairs for side in (pair.left, pair.right)}
    if found == {NEW, COPIED}:
        return "The copy from last year is found."
    return f"Unexpected result: {NEW} should be paired with {COPIED}, and with nobody else."


#: The notices of the corpus.
Rows = list[dict[str, str | None]]


def notices() -> tuple[Rows, Deduplication]:
    """Deduplicate the corpus; return its rows and the result. A planted row names its original."""
    path = MATERIAL / "notices.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return rows, dedup(path)


def _corpus(console: Console, rows: Rows, found: Deduplication) -> None:
    """Show the removed notices, and the planted ones that are kept."""
    planted = [i for i, row in enumerate(rows) if row["copy_of"]]
    threshold = found.settings.threshold
    console.print(
        f"\n3. A corpus of {len(rows)} notices. {len(planted)} of them repeat another one, most with small changes. "
        f"Near-duplicates have resemblance ≥ {threshold:g} in shingles of {found.settings.shingle} words:\n"
    )
    for i in found.gone:
        link, original_id = LINKS[found.links[i]], rows[found.survivors[i]]["id"]
        console.print(
            f"  {rows[i]['id']} removed for {original_id}  {found.resemblances[i]:.2f} {link:9}  {rows[i]['how']}"
        )
    kept = sorted(set(planted) - set(found.gone))
    wrong = [str(rows[i]["id"]) for i in found.gone if rows[found.survivors[i]]["id"] != rows[i]["copy_of"]]
    console.print(Line(_gone(len(found.gone), len(rows), wrong), style="bold"), soft_wrap=True)
    for i in kept:
        original = next(row for row in rows if row["id"] == rows[i]["copy_of"])
        alike = resemblance(rows[i]["text"] or "", original["text"] or "", shingle=found.settings.shingle) or 0.0
        console.print(
            f"{rows[i]['id']} is kept: {rows[i]['how']}. Its resemblance with {original['id']} is {alike:.2f}, below "
            f"{threshold:g}. A changed word changes {found.settings.shingle} shingles."
        )


def _gone(gone: int, rows: int, wrong: Sequence[str]) -> str:
    """Return how many rows are removed, and which are removed for another row than their original."""
    if wrong:
        return f"Unexpected result: {', '.join(wrong)} should be kept, or removed for another row."
    return f"{gone} of {rows} rows removed, each for its original; {rows - gone} kept."


class Sighting(NamedTuple):
    """A notice that is near an earlier one: their numbers, and the distance of their fingerprints in bits."""

    row: int
    before: int
    bits: int


def sightings(rows: Rows) -> list[Sighting]:
    """Find for each notice the nearest earlier one within the distance."""
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
    """Show which notices are recognised by their fingerprints, and which copies are not."""
    found = sightings(rows)
    distance = params.DISTANCE.default
    console.print(
        f"\n4. The same {len(rows)} notices as a stream. Only one 64-bit fingerprint of each is stored. A notice is "
        f"recognised if its fingerprint is within {distance} bits of an earlier one:\n"
    )
    for one in found:
        copy, original = rows[one.row], rows[one.before]
        console.print(f"  {copy['id']} is {counted(one.bits, 'bit')} from {original['id']}  {copy['how']}")
    copies = {number for number, row in enumerate(rows) if row["copy_of"]}
    console.print(Line(_recognised({one.row for one in found}, copies), style="bold"), soft_wrap=True)
    missed = [str(rows[number]["id"]) for number in sorted(copies - {one.row for one in found})]
    if missed:
        console.print(
            f"Not recognised: {', '.join(missed)}. In a text of thirty words, one changed word changes several bits. A "
            "table of a hundred million fingerprints takes two gigabytes and answers in microseconds."
        )


def _recognised(seen: set[int], copies: set[int]) -> str:
    """Return how many copies were recognised, and how many other notices."""
    strangers = len(seen - copies)
    others = f"{counted(strangers, 'other notice')} wrongly" if strangers else "no other notice"
    return f"Recognised: {len(seen & copies)} of {counted(len(copies), 'copy', 'copies')}, and {others}."
