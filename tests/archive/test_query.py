"""Questions to an index: the same answers however it is stored, and nothing of what was removed."""

import json
import os
import pathlib
import random
import shutil
import signal

import pytest

import lookalike as la
from lookalike.archive.answers import Queried
from lookalike.archive.parameters import Parameters
from lookalike.archive.store import Index
from lookalike.errors import FrontendError, ParameterError, VersionError
from support.archives import TINY

NOTICE = "The municipal swimming pool is closed on Monday because of the annual cleaning of the large basin."
OTHER = "A red bicycle with a basket was found near the old library on Saturday evening by a passer-by."


def near(text: str) -> str:
    """Return a text of which one word differs."""
    return text.replace("Monday", "Tuesday").replace("Saturday", "Sunday")


def long(text: str, copies: int = 4) -> str:
    """Return a text in which one changed word does not matter much."""
    return " ".join(f"{text} Section {number} of the text follows here." for number in range(copies))


@pytest.fixture
def corpus(tmp_path: pathlib.Path):
    with Index._create(tmp_path / "corpus", Parameters.of("corpus"), TINY) as index:
        yield index


def ids(found: Queried, question: str) -> list[str]:
    answer = found.find(question)
    assert answer is not None
    return [match.id for match in answer.matches]


def test_every_question_finds_a_near_copy(corpus):
    corpus.add([("pool", long(NOTICE)), ("bicycle", long(OTHER))])
    found = corpus.query(near(long(NOTICE)) + " The end.", threshold=0.5, distance=10)
    assert [answer.question for answer in found.answers] == [
        "identical",
        "passages",
        "resemblance",
        "containment",
        "distance",
    ]
    assert ids(found, "identical") == []
    assert ids(found, "resemblance") == ids(found, "containment") == ids(found, "distance") == ["pool"]
    score = found.find("resemblance").matches[0].resemblance
    assert score.is_exact
    assert 0.5 < score.value < 1
    assert score.value == la.resemblance(long(NOTICE), near(long(NOTICE)) + " The end.", shingle=5, unit="word")


def test_documents_with_one_text_are_told_once(corpus):
    corpus.add([(f"copy {number}", long(NOTICE)) for number in range(9)] + [("other", long(OTHER))])
    found = corpus.query(long(NOTICE))
    for question in ("identical", "resemblance", "containment", "distance"):
        answer = found.find(question)
        assert (answer.documents, answer.distinct, answer.matches[0].copies) == (9, 1, 9)
        assert answer.matches[0].id == "copy 0"


def test_removed_and_replaced_documents_are_not_told(corpus):
    corpus.add([("a", long(NOTICE)), ("b", long(NOTICE)), ("c", long(OTHER))])
    corpus.remove("a")
    assert ids(corpus.query(long(NOTICE)), "identical") == ["b"]
    corpus.add([("b", long(OTHER))])
    found = corpus.query(long(NOTICE), distance=10)
    assert all(not answer.documents for answer in found.answers)
    assert not corpus.seen(long(NOTICE))
    assert corpus.seen(long(OTHER)).nearest.copies == 2


def test_conditions_restrict_every_question(corpus):
    rows = [
        {"id": f"{year}", "text": long(NOTICE), "year": year, "ok": True, "word": "x"} for year in (2024, 2025, 2026)
    ]
    corpus.add(rows)
    for where in ({"year": 2025}, {"year": "2025"}, {"year": "2025", "ok": "true"}, {"word": "x", "year": 2025}):
        found = corpus.query(long(NOTICE), where=where)
        assert [ids(found, answer.question) for answer in found.answers] == [["2025"]] * 5
        assert corpus.seen(long(NOTICE), where=where).nearest.id == "2025"
        assert [entry.id for entry in corpus.documents(where)] == ["2025"]
    assert not corpus.seen(long(NOTICE), where={"year": 1999})
    assert not corpus.seen_many([long(NOTICE)], where={"year": 1999})[0]


def test_the_list_is_cut_and_the_count_is_not(corpus):
    texts = [f"{long(NOTICE)} Number {number}." for number in range(30)]
    corpus.add([(f"{number}", text) for number, text in enumerate(texts)])
    answer = corpus.query(long(NOTICE), question=["resemblance"], top=4).answers[0]
    whole = corpus.query(long(NOTICE), question="resemblance", top=0).answers[0]
    assert (len(answer.matches), answer.documents, answer.distinct) == (4, 30, 30)
    assert whole.matches[:4] == answer.matches
    assert len(whole.matches) == 30


@pytest.mark.parametrize("seed", range(6))
def test_answers_do_not_depend_on_how_the_index_is_stored(tmp_path: pathlib.Path, seed: int):
    """After adds, replacements, removals and merges every question has the answer of a fresh index."""
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(40)]
    base = [[rng.choice(words) for _ in range(60)] for _ in range(6)]

    def text() -> str:
        chosen = list(rng.choice(base))
        for _ in range(rng.randint(0, 4)):
            chosen[rng.randrange(len(chosen))] = rng.choice(words)
        return " ".join(chosen[rng.randint(0, 20) :])

    kept: dict[str, str] = {}
    with Index._create(tmp_path / "grown", Parameters.of("corpus"), TINY) as grown:
        for _ in range(25):
            batch = [(f"d{rng.randrange(30)}", text()) for _ in range(rng.randint(1, 4))]
            grown.add(batch)
            for id_, content in batch:
                if kept.get(id_) != content:
                    kept.pop(id_, None)
                    kept[id_] = content
            if rng.random() < 0.4 and kept:
                gone = rng.choice(sorted(kept))
                grown.remove(gone)
                del kept[gone]
        asked = [*rng.sample(sorted(kept.values()), 5), *(text() for _ in range(10))]
        with Index.create(tmp_path / "fresh", kind="corpus") as fresh:
            fresh.add(list(kept.items()))
            assert len(grown.snapshot().parts) > 1
            for step in ("as it is", "compacted"):
                for one in asked:
                    mine, other = (index.query(one, threshold=0.3, distance=10, top=0) for index in (grown, fresh))
                    assert mine.answers == other.answers, step
                    assert grown.seen(one) == fresh.seen(one), step
                    assert grown.seen_many([one]) == fresh.seen_many([one]), step
                grown.compact()


def test_without_texts_answers_are_marked(tmp_path: pathlib.Path):
    with la.Index.create(tmp_path / "index", kind="corpus", no_texts=True) as index:
        index.add([("pool", long(NOTICE)), ("bicycle", long(OTHER))])
        found = index.query(near(long(NOTICE)), threshold=0.3)
        scores = [found.find("resemblance").matches[0].resemblance, found.find("containment").matches[0].inside]
        for score in scores:
            assert not score.is_exact
            assert score.low <= score.value <= score.high
            assert score.low < score.high
        assert (
            "not verified" in found.find("resemblance").certificate
            or "nothing is verified" in found.find("resemblance").certificate
        )
        assert found.find("distance").certificate.startswith("complete")
        verdict = index.seen(long(NOTICE))
        assert (verdict.is_seen, verdict.is_identical) == (True, True)


def test_questions_that_were_left_out_are_refused_by_name(tmp_path: pathlib.Path):
    with la.Index.create(tmp_path / "index", kind="corpus", without=["resemblance", "distance"]) as index:
        index.add([("pool", long(NOTICE))])
        assert [answer.question for answer in index.query(long(NOTICE)).answers] == [
            "identical",
            "passages",
            "containment",
        ]
        with pytest.raises(ParameterError, match="`distance` was left out when the index was created"):
            index.query(NOTICE, question=["distance"])
        with pytest.raises(ParameterError, match="seen needs the question resemblance"):
            index.seen(NOTICE)
        with pytest.raises(ParameterError, match="seen needs the question resemblance"):
            index.seen_many([NOTICE])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threshold": 0.0}, "threshold `0.0` must be more than 0"),
        ({"threshold": 1.5}, "threshold `1.5` must be"),
        ({"distance": 11}, "distance `11` is out of range: use 0 to 10"),
        ({"top": -1}, "top `-1` is out of range"),
        ({"question": ["names"]}, "question `names` is not known"),
    ],
)
def test_parameters_say_what_is_wrong(corpus, given, message):
    with pytest.raises(ParameterError, match=message):
        corpus.query(NOTICE, **given)


def test_a_threshold_below_that_of_the_index_is_told(corpus):
    corpus.add([("pool", long(NOTICE))])
    usual = corpus.query(NOTICE, question="resemblance").answers[0].certificate
    lower = corpus.query(NOTICE, question="resemblance", threshold=0.4).answers[0].certificate
    assert "99.6 %" in usual
    assert "designed for 0.8, so documents below that are found less often" in lower


def test_the_certificate_of_containment_tells_what_is_missed_both_ways(corpus):
    corpus.add([("pool", long(NOTICE))])
    told = corpus.query(long(NOTICE), question="containment").answers[0].certificate
    assert "that has 0.8 of them is missed with probability" in told
    assert "a document of 100 shingles of which 0.8 are here is missed with probability 2.3e-05" in told


def test_an_index_of_another_version_is_not_asked(corpus, monkeypatch):
    corpus.add([("pool", long(NOTICE))])
    monkeypatch.setattr("lookalike.archive.parameters.versions", lambda: {"index": 1, "text": 999, "code": 1})
    for ask in (corpus.query, corpus.seen, lambda text: corpus.seen_many([text])):
        with pytest.raises(VersionError, match="text"):
            ask(NOTICE)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_can_ask(tmp_path: pathlib.Path):
    with la.Index.create(tmp_path / "index", kind="corpus") as index:
        index.add([("pool", long(NOTICE))])
    index = la.Index(tmp_path / "index")
    assert index.seen_many([long(NOTICE)])[0]
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if index.seen_many([long(NOTICE)])[0] and index.seen(long(NOTICE)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_short_empty_and_strange_documents_have_answers(corpus):
    strange = ["", " ", "?!", "one", "日本語のテキスト", "é", "a\u0301", "\ud800", "\x00", "x" * 100_000, "🙂 " * 50]
    corpus.add([(f"d{number}", text) for number, text in enumerate(strange)])
    for text in strange:
        found = corpus.query(text, distance=10)
        assert [answer.question for answer in found.answers] == [
            "identical",
            "passages",
            "resemblance",
            "containment",
            "distance",
        ]
        assert not text.strip() or found.answers[0].documents >= 1
    verdicts = corpus.seen_many(strange)
    assert [bool(one) for one in verdicts] == [bool(text.strip()) for text in strange]


def test_an_empty_index_answers_every_question(corpus):
    found = corpus.query(NOTICE)
    assert [(answer.documents, answer.matches) for answer in found.answers] == [(0, ())] * 5
    assert corpus.seen(NOTICE).nearest is None


def test_bytes_are_decoded_and_binary_is_refused(corpus):
    corpus.add([("pool", long(NOTICE) + " für Übermorgen")])
    assert corpus.seen((long(NOTICE) + " für Übermorgen").encode("utf-16"))
    with pytest.raises(FrontendError):
        corpus.query(b"\x00\x01\x02\xff" * 400)
    verdict = corpus.seen_many([b"\x00\x01\x02\xff" * 400, long(NOTICE).encode()])
    assert [verdict[0].refusal is not None, bool(verdict[0]), bool(verdict[1])] == [True, False, True]


def test_files_are_read_by_their_format(tmp_path: pathlib.Path, corpus):
    corpus.add([("pool", long(NOTICE))])
    page = tmp_path / "page.html"
    page.write_text(f"<html><body><p>{long(NOTICE)}</p><script>var a;</script></body></html>")
    assert corpus.seen(page)
    with pytest.raises(FileNotFoundError):
        corpus.seen(tmp_path / "missing.txt")


def program(name: str) -> str:
    return "\n".join(
        f"def {name}{number}(x, y):\n    return x * {number} + y - {name}{number}(y, x)" for number in range(9)
    )


def test_a_class_is_asked_by_file_folder_and_text(tmp_path: pathlib.Path):
    for person in ("ann", "bob"):
        (tmp_path / "class" / person / "src").mkdir(parents=True)
        (tmp_path / "class" / person / "src" / "loans.py").write_text(program(person))
        (tmp_path / "class" / person / "notes.txt").write_text(long(NOTICE if person == "ann" else OTHER))
    with la.Index.create(tmp_path / "index") as index:
        index.add(tmp_path / "class", label="2024")
        found = index.query(tmp_path / "class" / "ann")
        assert found.answers[0].matches[0].id == "2024/ann"
        assert found.answers[0].matches[0].title == "ann"
        assert index.seen(tmp_path / "class" / "ann").is_identical
        alone = index.query(tmp_path / "class" / "ann" / "src" / "loans.py", question=["containment"])
        assert ids(alone, "containment") == ["2024/ann"]
        typed = index.query(program("ann"), name="loans.py", question=["containment"])
        assert typed.answers == alone.answers
        assert ids(index.query(tmp_path / "class" / "ann", where={"label": "2025"}), "identical") == []
        with pytest.raises(FrontendError, match="cannot be asked about"):
            index.query(b"\x00\x01\x02\xff" * 400, name="a.bin")


def test_starter_code_is_never_told(tmp_path: pathlib.Path):
    (tmp_path / "starter.py").write_text(program("start"))
    (tmp_path / "ann.py").write_text(program("ann"))
    with la.Index.create(tmp_path / "index") as index:
        index.add([tmp_path / "ann.py"], template=[tmp_path / "starter.py"])
        found = index.query(tmp_path / "starter.py", distance=0)
        assert all("starter" not in match.id for answer in found.answers for match in answer.matches)
        assert not index.seen(tmp_path / "starter.py").is_identical


def test_ids_of_any_string_find_their_document(corpus):
    for id_ in ("\ud800", "a\udcff", "日本", ""):
        corpus.add([(id_, f"{long(NOTICE)} {len(id_)}")])
        assert id_ in corpus


def test_answers_are_json(corpus):
    corpus.add([("pool \udcff", long(NOTICE))])
    found = json.loads(json.dumps(corpus.query(near(long(NOTICE)), threshold=0.3).to_json()))
    assert [one["question"] for one in found["answers"]] == [
        "identical",
        "passages",
        "resemblance",
        "containment",
        "distance",
    ]
    assert found["answers"][2]["matches"][0]["resemblance"]["exact"] is True
    verdict = json.loads(json.dumps(corpus.seen(long(NOTICE)).to_json()))
    assert (verdict["seen"], verdict["identical"]) == (True, True)


def test_a_text_that_is_too_short_says_for_what_and_what_is_still_compared(tmp_path: pathlib.Path):
    with la.Index.create(tmp_path / "archive", kind="corpus") as index:
        index.add([("a", "one two")])
        found = index.query("One two!")
        assert found.find("identical").documents == 0
        assert found.notes == (
            "the document is too short for passages, resemblance, containment: it has 2 words, and resemblance and "
            "containment need 5; it has 6 letters, and passages have at least 50; still compared: identical, distance",
        )
        assert (
            index.query("... --- ...")
            .notes[0]
            .startswith("the document is too short for passages, resemblance, containment, distance: it has 0 words")
        )
        assert index.seen("one two").notes == (
            "the document is too short for resemblance: it has 2 words, and resemblance needs 5; "
            "still compared: identical",
        )
        assert index.query("one two three four five " * 20).notes == ()


def test_a_file_of_rows_is_told_to_be_read_as_one_document(tmp_path: pathlib.Path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "one two three four five six seven eight nine ten"}\n' * 5)
    for kind, each in (("corpus", True), ("class", False)):
        with la.Index.create(tmp_path / kind, kind=kind) as index:
            for notes in (index.query(rows).notes, index.seen(rows).notes):
                assert notes[0].startswith("rows.jsonl has rows and was read as one document")
                assert ("lookalike dedup rows.jsonl --index INDEX" in notes[0]) == each


def test_an_archive_file_is_one_submission_as_its_folder_is(tmp_path: pathlib.Path):
    folder = tmp_path / "ann"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(f"def {name[0]}(x, y):\n    return [x * y + {ord(name[0])} for _ in range(y)]\n")
    packed = shutil.make_archive(str(tmp_path / "ann"), "zip", folder)
    with la.Index.create(tmp_path / "archive") as index:
        index.add([folder], by_directory=True)
        assert [one.id for one in index.query(pathlib.Path(packed)).find("identical").matches] == ["ann"]
        assert index.seen(pathlib.Path(packed)).is_identical


def test_what_is_shared_as_starter_code_only_is_never_told(tmp_path: pathlib.Path):
    given = " ".join(f"word{n}" for n in range(600))
    own = {name: " ".join(f"{name}{n}" for n in range(40)) for name in ("ann", "bob", "eve")}
    (tmp_path / "given.txt").write_text(given)
    with la.Index.create(tmp_path / "archive") as index:
        index.add({f"{name}.txt": f"{given} {text}" for name, text in own.items()} | {"untouched.txt": given})
        alike = index.query(f"{given} {own['ann']} more", distance=10)
        assert all(alike.find(one).documents == 4 for one in ("resemblance", "containment")), "without starter code"
        index.add([], template=[tmp_path / "given.txt"])
        found = index.query(f"{given} {own['ann']} more", distance=10)
        for question in ("passages", "resemblance", "containment", "distance"):
            assert [match.id for match in found.find(question).matches] == ["ann.txt"], question
        assert index.seen(f"{given} {own['ann']} more").nearest.id == "ann.txt"
        assert index.seen(f"{given} something else was written here by another person").nearest is None
        assert not any(answer.documents for answer in index.query(given).answers)
        assert not index.seen(given)
        assert index.seen(given).notes == ("the document is starter code of the index, which is never reported",)
        assert "starter code of the index are not counted" in found.find("resemblance").certificate
        assert [bool(one) for one in index.seen_many([given, f"{given} {own['ann']}"])] == [False, True]
        index.remove("template/given.txt")
        assert index.seen(given).is_identical
