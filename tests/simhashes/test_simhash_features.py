"""The features of the simhash paper, tables of idf, what is ignored, and languages."""

from __future__ import annotations

from pathlib import Path

import pytest

import lookalike as la
from lookalike import _core
from lookalike.simhashes.texts import LANGUAGES
from oracles.simhashes import simhash as reference

ONE = 1 << 16
ENGLISH = "The houses in the cities were burning, and nobody could put out the fires of the old town."
CORPUS = [
    ENGLISH, "The fires in the town were put out by the people of the city.",
    "Nobody in the old house could see the burning fire.", "A river runs through the city.",
]  # fmt: skip


def value(word: str) -> int:
    return _core.xxh3(word.encode())


def test_one_stem_is_the_whole_of_a_text_of_its_inflections():
    made = {
        la.simhash(text, features="paper", language="en") for text in ("connection", "Connections", "the CONNECTED")
    }
    assert made == {reference([(value("connect"), ONE)])}


def test_stop_words_alone_are_no_features():
    assert la.simhash("To be or not to be, that is the", features="paper", language="en") is None
    assert la.simhash("To be or not to be, that is the", features="words") is not None


def test_phrases_tell_the_order_of_words():
    left = la.simhash("burning city river", features="paper", language="en")
    right = la.simhash("river city burning", features="paper", language="en")
    assert left != right
    assert la.simhash("burning city river") == la.simhash("river city burning")


def test_the_language_is_detected():
    assert la.simhash(ENGLISH, features="paper") == la.simhash(ENGLISH, features="paper", language="en")
    assert la.simhash(ENGLISH, features="paper") != la.simhash(ENGLISH, features="paper", language="de")


def test_any_script_has_the_features_of_the_paper():
    texts = [
        "人人生而自由,在尊严和权利上一律平等。",
        "يولد جميع الناس أحرارًا متساوين",
        "มนุษย์ทั้งหลายเกิดมามีอิสระ",
        "मनुष्य स्वतंत्र है",
    ]
    made = [la.simhash(text, features="paper") for text in texts]
    assert None not in made
    assert len(set(made)) == len(texts)


def test_a_table_of_idf_weighs_features_and_comes_back(tmp_path: Path):
    table = la.idf_table(CORPUS, min_documents=1)
    assert (table.documents, len(table) > 15) == (4, True)
    assert table.core.weight(value("citi")) < table.core.weight(value("river"))
    assert table.core.weight(value("river")) == table.core.weight(value("unheard of"))
    table.save(tmp_path / "corpus.idf")
    again = la.IdfTable.load(tmp_path / "corpus.idf")
    assert again == table
    plain = [la.simhash(text, features="paper", language="en") for text in CORPUS]
    weighed = [la.simhash(text, features="paper", language="en", idf=table) for text in CORPUS]
    assert weighed != plain
    stored = tmp_path / "corpus.idf"
    assert weighed == [la.simhash(text, features="paper", language="en", idf=stored) for text in CORPUS]
    single = la.simhash("rivers", features="paper", language="en", idf=table)
    assert single == reference([(value("river"), ONE)]), "one feature has its hash whatever it weighs"
    with pytest.raises(FileExistsError):
        table.save(tmp_path / "corpus.idf")


def test_a_table_does_not_depend_on_the_order_of_texts():
    assert la.idf_table(CORPUS) == la.idf_table(CORPUS[::-1])
    assert len(la.idf_table(CORPUS)) < len(la.idf_table(CORPUS, min_documents=1))


def test_a_damaged_table_is_refused(tmp_path: Path):
    la.idf_table(CORPUS).save(tmp_path / "t.idf")
    data = (tmp_path / "t.idf").read_bytes()
    for damaged, message in (
        (data[:40] + bytes([data[40] ^ 1]) + data[41:], "its checksum is wrong"),
        (data[:-9], "its checksum is wrong"),
        (b"nothing of the kind, but long enough to be one", "it is not an idf table"),
        (data[:4] + b"\2" + data[5:], "it has versions"),
    ):
        (tmp_path / "t.idf").write_bytes(damaged)
        with pytest.raises(la.FormatError, match=message):
            la.simhash("text", features="paper", idf=tmp_path / "t.idf")


def test_what_is_ignored_does_not_count():
    pages = [f"You are visitor {n:,} since {d}. See www.example.org/{n} for more of this page." for n, d in
             ((1234, "2024-03-01"), (98765, "Mar 3, 2025"), (7, "3.4.2026"))]  # fmt: skip
    assert len({la.simhash(page) for page in pages}) == 3
    assert len({la.simhash(page, ignore=["dates", "numbers", "urls"]) for page in pages}) == 1
    plain = la.simhash("You are visitor since . See for more of this page.")
    assert la.simhash(pages[0], ignore=["dates", "numbers", "urls"]) == plain
    assert la.simhash("keep <ad>buy</ad> this", ignore=["<ad>.*?</ad>"]) == la.simhash("keep this")
    assert la.simhash("12 34", ignore=["numbers"]) is None


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"ignore": ["("]}, r"pattern `\(` cannot be used: unclosed group"),
        ({"ignore": ["x*"]}, "it matches the empty text"),
        ({"ignore": [r"(?<=a)b"]}, "look-around"),
        ({"ignore": ["(?:\\w{1000}){1000}"]}, "exceeds size limit"),
        ({"ignore": "dates"}, "give a list of patterns"),
        ({"features": "best"}, "features `best` is not known: use one of words, paper"),
        ({"features": "paper", "language": "xx"}, "language `xx` is not known: use one of en, de"),
        ({"features": "paper", "shingle": 2}, "leave out unit and shingle"),
        ({"language": "en"}, "language means nothing to features `words`"),
    ],
)
def test_what_cannot_be_done_is_said(chosen: dict[str, object], message: str):
    with pytest.raises(la.ParameterError, match=message):
        la.simhash("text", **chosen)  # type: ignore[arg-type]


def test_a_pattern_and_a_text_made_for_each_other_take_no_time():
    """Where others go back and forth for ever: the test ends."""
    assert la.simhash("a" * 50_000 + "!", ignore=[r"(a+)+$"]) is not None


def test_languages_are_told_where_they_are_clear():
    texts = [
        ENGLISH,
        "Der Zug ist heute nicht pünktlich, weil auf der Strecke ein Baum liegt.",
        "因为一棵树倒在铁轨上",
        "foo 12",
    ]
    table = la.simhash_batch(texts, languages=True)
    codes = [LANGUAGES[number - 1] if number else None for number in table.languages]
    assert codes == ["en", "de", "zh", None]
    assert la.simhash_batch(texts).languages == bytes(4)


def test_dedup_pairs_only_texts_in_the_same_language_and_ignores_what_it_is_told():
    page = "The page was seen {} times. " + ENGLISH
    rows = [page.format(12345), page.format(99), page.format(7)]
    found = la.dedup(rows, method="simhash", distance=0, no_verify=True, ignore=["numbers"], same_language=True)
    assert found.gone == [1, 2]
    unclear = ["Berlin Paris London Madrid Rom", "Berlin Paris London Madrid Rom !"]
    assert la.dedup(unclear, method="simhash", no_verify=True).gone == [1]
    assert la.dedup(unclear, method="simhash", no_verify=True, same_language=True).gone == []
    assert la.dedup(rows, method="simhash", distance=10, no_verify=True, features="paper").gone
