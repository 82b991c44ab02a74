"""Anonymous reports: no name gets into any file that is handed out, and the texts keep their shape."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import ParameterError, compare
from lookalike.comparison.result import Passage, Remark, Report
from lookalike.rendering.anonymous import BLOCK, Mask, Secrets, anonymised
from lookalike.rendering.html.folder import Extent, write
from support import reports
from support.reports import Size, school

#: Names whose words cannot occur by chance in hexadecimal digests, styles or scripts.
PEOPLE = ["Zsófia_Kovács", "wanjiru.kimotho", "Xiulan Zhang-Wu", "s4471982", "OluwaseunAdeyemi", "Mwangi_hw3.java"]


def signed() -> Report:
    """A class that signs its work in every way students do."""
    report = school(Size(entries=6, methods=2, pairs=6, passages=2))
    entries = []
    for entry, name in zip(report.entries, PEOPLE, strict=True):
        head = (
            f"// @author {name} <{name.lower()}@example.edu>, not {PEOPLE[0].upper()}; class {name.split('_')[0]}Main\n"
        )
        text = head.ljust(len(reports.TEMPLATE))[: len(reports.TEMPLATE)] + entry.files[0].text[len(reports.TEMPLATE) :]
        file = replace(entry.files[0], name=f"{name}/{name}_Main.java", text=text, notes=(f"{name}: odd",))
        entries.append(
            replace(entry, name=name, person=f"{name} (prof. Thistlewood)", label=f"group of {name}", files=(file,))
        )
    remark = (
        Remark(f"{PEOPLE[1]}/notes.bin", f"`{PEOPLE[1]}` is binary"),
        Remark("Quetzalli.zip", "Quetzalli: broken"),
    )
    parameters = {**report.parameters, "paths": [f"home/{PEOPLE[2]}/work"], "title": f"The case of {PEOPLE[1]}"}
    return replace(
        report, entries=tuple(entries), skipped=remark, warnings=remark, undefined=remark, parameters=parameters
    )


def put(report: Report, out: Path, **options):
    sizes = Extent.new(options.pop("top")) if "top" in options else None
    return write(report, out, sizes, marks=reports.coloured(report), anonymise=True, **options)


def contents(out: Path) -> dict[str, str]:
    return {str(path.relative_to(out)): path.read_text("utf-8") for path in out.rglob("*") if path.is_file()}


def test_no_name_is_in_any_file_that_is_handed_out(tmp_path: Path):
    put(signed(), tmp_path / "out")
    words = ["zsófia", "zsofia", "kovács", "wanjiru", "kimotho", "xiulan", "zhang", "4471982", "oluwaseun", "adeyemi"]
    for name, content in contents(tmp_path / "out").items():
        for word in [*words, "mwangi", "thistlewood", "quetzalli"]:
            assert word not in content.lower(), f"{word} is in {name}"


def test_the_names_are_beside_the_report_for_the_owner_only(tmp_path: Path):
    report = signed()
    written = put(report, tmp_path / "out")
    table, key = written.secrets
    assert (table, key) == (tmp_path / "out-names" / "names.csv", tmp_path / "out-names" / "names.key")
    assert [path.stat().st_mode & 0o777 for path in (table, key, table.parent)] == [0o600, 0o600, 0o700]
    with table.open(newline="", encoding="utf-8") as file:
        names = {row["code"]: row["name"] for row in csv.DictReader(file)}
    codes = {entry["name"] for entry in json.loads((tmp_path / "out" / "report.json").read_bytes())["entries"]}
    assert {names[code] for code in codes} == {entry.name for entry in report.entries}
    assert all(re.fullmatch(r"S-[B-Z2-9]{6}", code) for code in codes)


def test_codes_stay_when_a_report_is_made_again(tmp_path: Path):
    put(signed(), tmp_path / "out")
    before = contents(tmp_path / "out") | contents(tmp_path / "out-names")
    put(signed(), tmp_path / "out", overwrite=True)
    assert contents(tmp_path / "out") | contents(tmp_path / "out-names") == before
    put(signed(), tmp_path / "other")
    assert contents(tmp_path / "other")["report.json"] != before["report.json"]


def test_names_of_an_earlier_report_are_not_overwritten(tmp_path: Path):
    put(signed(), tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    with pytest.raises(ParameterError, match="exists: use another folder, or overwrite=True to replace it"):
        put(signed(), tmp_path / "out")


def test_order_tells_nothing():
    report = signed()
    hidden, _ = anonymised(report, lambda entry, file: b"", Secrets(b"k" * 32))
    codes = [entry.name for entry in hidden.entries]
    assert codes == sorted(codes)
    assert [entry.digest for entry in hidden.entries] != [entry.digest for entry in report.entries]
    assert all(pair.left < pair.right for pair in hidden.pairs)


def test_what_was_found_stays_the_same():
    report = signed()
    hidden, marks = anonymised(report, lambda entry, file: str(entry).encode(), Secrets(b"k" * 32))
    owner = {entry.digest: i for i, entry in enumerate(report.entries)}
    back = [owner[entry.digest] for entry in hidden.entries]
    assert {(frozenset((back[p.left], back[p.right])), p.score) for p in hidden.pairs} == {
        (frozenset((p.left, p.right)), p.score) for p in report.pairs
    }
    for pair in hidden.pairs:
        for passage in pair.passages:
            for end, region in ((pair.left, passage.left), (pair.right, passage.right)):
                shown, real = hidden.entries[end].files[0].text, report.entries[back[end]].files[0].text
                assert shown[region.start : region.end] == real[region.start : region.end]
    assert [marks(i, 0) for i in range(6)] == [str(i).encode() for i in back]
    assert {tuple(sorted(back[m] for m in c.members)) for c in hidden.clusters} == {
        tuple(sorted(c.members)) for c in report.clusters
    }


def test_what_a_passage_is_stays_the_same():
    report = signed()
    sorts = ("repeat", "literal")
    pairs = [replace(p, passages=tuple(map(sorted_as, p.passages, sorts))) for p in report.pairs]
    hidden, _ = anonymised(replace(report, pairs=tuple(pairs)), lambda entry, file: b"", Secrets(b"k" * 32))
    assert all({passage.sort for passage in pair.passages} == {*sorts} for pair in hidden.pairs)


def sorted_as(passage: Passage, sort: str) -> Passage:
    return passage._replace(sort=sort)


def test_texts_that_no_page_shows_are_dropped():
    report = signed()
    one = replace(report, pairs=report.pairs[:1], contained=(), little=())
    hidden, _ = anonymised(one, lambda entry, file: b"", Secrets(b"k" * 32))
    shown = {hidden.pairs[0].left, hidden.pairs[0].right}
    assert {i for i, entry in enumerate(hidden.entries) if entry.files[0].text} == shown
    hidden, _ = anonymised(one, lambda entry, file: b"", Secrets(b"k" * 32), texts=False)
    assert not [entry for entry in hidden.entries if entry.files[0].text]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("by Max Huber", "by ••• •••••"),
        ("maxValue = Math.max(1)", "•••Value = Math.•••(1)"),
        ("maximum of climax", "maximum of climax"),
        ("MHUBER@x, huberm", "M•••••@x, •••••m"),
        ("Jürgen, Juergen, JURGEN", "••••••, •••••••, ••••••"),
        ("id 30291, 302918", "id •••••, •••••8"),
        ("submission 12", "submission 12"),
    ],
)
def test_words_of_names_are_masked_where_they_stand(text: str, masked: str):
    names = ["Max Huber", "Jürgen", "30291", "Wong", "Ito", "Sala"]
    assert Mask([{f"submission {name}"} for name in names])(text) == masked


def test_a_name_without_a_telling_word_is_masked_whole():
    teams = [{f"team {i}"} for i in range(9)]
    assert Mask(teams)("we are Team 2, not team 21") == "we are ••••••, not team 21"


def test_one_who_handed_in_most_of_the_work_is_still_masked():
    report = signed()
    entries = [replace(entry, name=f"Wanjiru/{i}", person="Wanjiru") for i, entry in enumerate(report.entries)]
    renamed = replace(report, entries=(*entries, *report.entries))
    hidden, _ = anonymised(renamed, lambda entry, file: b"", Secrets(b"k" * 32))
    assert "anjiru" not in repr(hidden)


@given(st.text(max_size=40), st.lists(st.text(max_size=12), max_size=4))
def test_a_mask_keeps_the_length(text: str, names: list[str]):
    masked = Mask([names])(text)
    assert len(masked) == len(text)
    assert all(new in (old, BLOCK) for new, old in zip(masked, text, strict=True))


def test_codes_are_different_even_when_they_begin_alike(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lookalike.rendering.anonymous.CODE_LETTERS", 1)
    secrets = Secrets(b"k" * 32)
    codes = {secrets.code("S", str(i)) for i in range(200)}
    assert len(codes) == 200
    assert secrets.names.keys() == codes


def test_a_word_of_half_the_names_is_masked_and_one_of_more_than_half_is_not():
    """Six names: three have "thursday", four have "exercise"."""
    owners = [{f"{word} {person}"} for word, person in zip(["thursday"] * 3 + ["monday"] * 3, PERSONS, strict=True)]
    assert Mask(owners)("thursday") == BLOCK * 8
    owners = [{f"{word} {person}"} for word, person in zip(["exercise"] * 4 + ["monday"] * 2, PERSONS, strict=True)]
    assert Mask(owners)("exercise by ada") == f"exercise by {BLOCK * 3}"


def test_of_few_names_a_word_that_most_have_is_masked():
    owners = [{f"exercise {person}"} for person in PERSONS[:5]]
    assert Mask(owners)("exercise") == BLOCK * 8
    assert Mask([*owners, {"exercise six"}])("exercise") == "exercise"


PERSONS = ["ada", "boris", "chiara", "dmitri", "elif", "farah"]


# --- e-mail addresses, and words that are nobody's name ---


@pytest.mark.parametrize(
    "address",
    [
        "jd4471@example.edu",
        "<qx9@lab-7.example.ac.uk>",
        "first.last+hw3@example.edu",
        "o'neil_7@example.edu",
        "qx9 (at) example (dot) edu",
        "qx9[at]example.edu",
        "qx9%40example.edu",
        "<qx9@laptop>",
    ],
)
def test_an_address_in_a_comment_is_masked_wholly(address: str):
    """A login is no word of the submission's name, and names its owner all the same."""
    text = f"# by {address}, 2024\nx = 1\n"
    masked = Mask([{"ann"}, {"bob"}])(text)
    assert masked == text.replace(address.strip("<>"), BLOCK * len(address.strip("<>")))
    assert len(masked) == len(text)


@pytest.mark.parametrize("text", ["c = a@b", "@property\ndef f(): ...", "a @ b.T", "@app.route('/x')", "look at this."])
def test_what_is_no_address_stays(text: str):
    assert Mask([{"ann"}, {"bob"}])(text) == text


def test_a_long_run_without_an_address_is_read_in_one_pass():
    """The search begins only where a run begins; a quadratic one would take hours here."""
    text = "a" * 3_000_000 + " " + "b." * 1_000_000
    assert Mask([{"ann"}])(text) == text


def test_a_note_about_the_run_is_not_taken_for_a_name(tmp_path: Path):
    report = signed()
    remarks = (
        Remark("pairs", "of these pairs some were counted", False),
        Remark("*.log", "excluded: 3 files not read", False),
        Remark("template handout.py", "handout: binary", False),
    )
    written = put(replace(report, skipped=(), undefined=(), warnings=remarks), tmp_path / "out").report
    assert written.warnings == remarks


def test_the_notes_of_a_run_are_not_names(tmp_path: Path):
    for name in ("ann", "bob"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "main.py").write_text("x = 1\n" * 30)
        (tmp_path / "class" / name / "main.pyc").write_bytes(b"\0" * 30)
    (tmp_path / "starter").mkdir()
    (tmp_path / "starter" / "picture.py").write_bytes(b"\0\1\2" * 30)
    report = compare(str(tmp_path / "class"), template=str(tmp_path / "starter"))
    assert {remark.name for remark in report.skipped} == {"*.pyc", "template starter/picture.py"}
    assert put(report, tmp_path / "out").report.skipped == report.skipped


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Jörg Müller", "Joerg JOERG Mueller MUELLER joergmueller jorg muller JÖRG"),
        ("Groß_Søren", "Gross GROSS Soeren Groß"),
        ("Åse Kjær", "Aase Kjaer AASE"),
        ("Anna-Lena Li", "annalena AnnaLena ANNALENA Anna lena"),
        ("Anna-Lena_Müller", "annalena annalenamueller lenamueller"),
    ],
)
def test_other_spellings_of_a_name_are_masked(name: str, written: str):
    masked = Mask([{name}, {"Zed"}])(written)
    assert set(masked) <= {BLOCK, " "}, masked
    assert Mask([{name}, {"Zed"}])("for each loan in the ledger") == "for each loan in the ledger"
