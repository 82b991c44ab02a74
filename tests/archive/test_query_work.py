"""Questions stay linear where very many documents share something: work is counted, not timed."""

import random

import pytest

from lookalike import _core
from lookalike.simhashes.texts import maker

WORDS = [f"word{number}" for number in range(3000)]
#: Copies whose texts are compared with the asked one (`crates/index/src/questions/identical.rs`).
COMPARED = 1024
EVERYTHING = 1 << 40


def text(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def signer() -> _core.RecordSigner:
    return _core.RecordSigner(
        False, (50, 149), "word", 5, False, 64, ("fast", 128, (18, 6, 1), False), 8, maker()[0], True, 2
    )


def snapshot(by: _core.RecordSigner, texts: list[str], parts: int) -> _core.Snapshot:
    ids = [f"{number}".encode() for number in range(len(texts))]
    made, skipped, _ = by.rows(texts, ids, [b"{}"] * len(texts), None, None)
    assert not skipped
    records = [record for _, _, record in made]
    step = -(-len(records) // parts)
    pieces = [records[at : at + step] for at in range(0, len(records), step)]
    return _core.Snapshot([(_core.Segment.of_records(piece, b"{}"), None) for piece in pieces])


def work(asker: _core.Asker, core: _core.Snapshot, asked: _core.AskedDocument) -> dict[str, list[int]]:
    """What each question read: holders of keys, rows, sketches, texts."""
    return {
        "identical": asker.ask("identical", core, asked, EVERYTHING, [])[3],
        "resemblance": asker.ask("resemblance", core, asked, EVERYTHING, [], threshold=0.8)[3],
        "containment": asker.ask("containment", core, asked, EVERYTHING, [], threshold=0.8)[3],
        "distance": asker.ask("distance", core, asked, EVERYTHING, [], distance=3)[3],
        "seen": asker.seen(core, asked, 0.8, [])[3],
    }


def test_a_hundred_thousand_identical_documents_are_one_content():
    rng = random.Random(1)
    hot, count = text(rng, 40), 100_000
    by = signer()
    asker = _core.Asker(by)
    core = snapshot(by, [hot] * count + [text(rng, 40) for _ in range(100)], 3)
    asked = asker.text(hot + " and one more", False)
    found = work(asker, core, asked)
    for question, (holders, rows, sketches, texts) in found.items():
        assert rows <= count + 100, question
        assert sketches <= 1, question
        assert texts <= 1, question
        # Each key of the asked document has every copy as a holder once.
        assert holders <= (18 + 40) * count + 100, question
    matches, documents, distinct, *_ = asker.ask("resemblance", core, asked, EVERYTHING, [], threshold=0.8)
    assert (documents, distinct, matches[0][2]) == (count, 1, count)
    same = asker.text(hot, False)
    _, documents, distinct, read, (other_text, uncompared) = asker.ask("identical", core, same, 1, [])
    assert (documents, distinct, other_text) == (count, 1, 0)
    assert read[3] + uncompared == count
    assert read[3] == COMPARED, "the texts of the first copies are compared"
    assert asker.seen(core, same, 0.8, [])[3][3] == 1, "one text is compared"


@pytest.mark.parametrize("question", ["resemblance", "containment", "seen"])
def test_a_hot_passage_costs_its_holders_once(question: str):
    """Documents that share a passage which is too short to matter are ruled out without reading their texts."""
    rng = random.Random(2)
    passage = text(rng, 60)
    texts = [f"{passage} {text(rng, 140)}" for _ in range(4000)]
    by = signer()
    asker = _core.Asker(by)
    asked = asker.text(f"{passage} {text(rng, 140)}", False)
    half = work(asker, snapshot(by, texts[:2000], 2), asked)[question]
    whole = work(asker, snapshot(by, texts, 2), asked)[question]
    holders, rows, sketches, read = whole
    assert rows <= 4000
    assert sketches <= 4000
    assert read <= 8, "sketches and samples rule the others out"
    assert holders <= 2.2 * half[0] + 100


def test_a_short_text_in_very_many_documents_is_told_with_all_of_them():
    """Each distinct document is counted once, for it answers the question."""
    rng = random.Random(3)
    passage = text(rng, 60)
    texts = [f"{text(rng, 30)} {passage} {text(rng, 30)}" for _ in range(2000)]
    by = signer()
    asker = _core.Asker(by)
    core = snapshot(by, texts, 2)
    found = asker.ask("containment", core, asker.text(passage, False), 20, [], threshold=0.8)
    matches, documents, distinct, (_, rows, _, read), _ = found
    assert (len(matches), documents, distinct) == (20, 2000, 2000)
    assert (rows, read) == (2000, 2000)
    assert all(scores[0][0] == 1.0 for _, _, _, scores, _, _ in matches)
