"""Every question has the answer of the oracle: random, low-entropy and real-like documents, in any segments."""

import json
import random
from dataclasses import replace

import pytest

from lookalike import _core
from lookalike.simhashes.texts import maker
from oracles.query import Archive, Rules, Stored, Told, Verdict

WORDS = ["the", "a", "rose", "is", "tea", "house", "garden", "Über", "чай", "日本", "red-green", "one", "two"]


def signer(rules: Rules, *, threads: int = 2) -> _core.RecordSigner:
    resemblance = (rules.sketch, rules.size, rules.filter, False)
    return _core.RecordSigner(
        True,
        (5, 9),
        "word",
        rules.shingle,
        rules.labelled,
        64,
        resemblance,
        rules.modulus,
        maker()[0],
        rules.texts,
        threads,
    )


def texts_of(rng: random.Random, kind: str, count: int) -> list[str]:
    """Documents of which some are equal, near, or parts of others."""
    if kind == "low":
        return [" ".join(rng.choice("ab") for _ in range(rng.randint(0, 14))) for _ in range(count)]
    base = [[rng.choice(WORDS) for _ in range(rng.randint(1, 60))] for _ in range(max(2, count // 4))]
    made = []
    for _ in range(count):
        words = list(rng.choice(base))
        roll = rng.random()
        if roll < 0.5:
            for _ in range(rng.randint(0, 3)):
                words[rng.randrange(len(words))] = rng.choice(WORDS)
        elif roll < 0.7:
            start = rng.randrange(len(words))
            words = words[start : start + rng.randint(1, 40)]
        elif roll < 0.8:
            words += rng.choice(base)
        made.append(" ".join(words))
    return made


def flagged(one: Stored, flags: int, by: _core.RecordSigner) -> bytes:
    """Return the record of a document that dedup removed, or of starter code: it has all keys, and is never told."""
    file = _core.ReadFile(one.text, [("text", 0, len(one.text), None, None, 5, 9)], False)
    return by.submission([(b"", file)], b"", one.id.encode(), b"{}", None, None, None, flags)[2]


def stored(rng: random.Random, texts: list[str], by: _core.RecordSigner) -> tuple[_core.Snapshot, list[Stored]]:
    """Return documents in random segments, some of them removed or shadows, and what the oracle knows of them."""
    documents, parts, records, bits = [], [], [], 0
    for number, text in enumerate(texts):
        meta = {"label": rng.choice(["2024", "2025"]), "fields": {"stars": rng.randint(1, 3)}}
        one = Stored(f"d{number}", text, meta)
        made, skipped, _ = by.rows([text], [one.id.encode()], [json.dumps(meta).encode()], None, None)
        if skipped:
            assert not text.strip(), skipped
            continue
        fate = rng.random()
        if fate < 0.1:
            records.append(flagged(one, rng.choice([1, 2]), by))
        else:
            records.append(made[0][2])
            bits |= (fate < 0.2) << (len(records) - 1)
        documents.append(replace(one, is_hidden=fate < 0.2))
        if rng.random() < 0.2:
            parts.append((records, bits))
            records, bits = [], 0
    parts.append((records, bits))
    made = [
        (_core.Segment.of_records(rows, b"{}"), removed.to_bytes((len(rows) + 7) // 8, "little") if removed else None)
        for rows, removed in parts
    ]
    return _core.Snapshot(made), documents


def told(found) -> list[Told]:
    matches, documents, distinct, _, _ = found
    assert (documents, distinct) == (sum(match[2] for match in matches), len(matches))
    return [told_one(match) for match in matches]


def told_one(match) -> Told:
    _, row, copies, scores, bits, _ = match
    assert all(low <= value <= high for value, low, high, _ in scores)
    return Told(bytes(row.id).decode(), copies, tuple(score[0] for score in scores), bits)


def same(found: list[Told], expected: list[Told]) -> None:
    assert [(one.id, one.copies, one.distance) for one in found] == [
        (one.id, one.copies, one.distance) for one in expected
    ]
    for mine, theirs in zip(found, expected, strict=True):
        assert not theirs.values or mine.values == theirs.values


RULES = [
    Rules(),
    Rules(is_independent=True, size=12, filter=(3, 4, 1)),
    Rules(labelled=True, sketch="permutations"),
    Rules(filter=(6, 4, 2), modulus=1, shingle=1),
    Rules(threshold=0.5, filter=(12, 2, 1), modulus=4),
    Rules(texts=False),
    Rules(texts=False, modulus=1, threshold=0.6, filter=(24, 1, 1)),
]


@pytest.mark.parametrize("rules", RULES, ids=range(len(RULES)))
@pytest.mark.parametrize("kind", ["low", "near"])
@pytest.mark.parametrize("seed", range(4))
def test_questions_match_the_oracle(rules: Rules, kind: str, seed: int):
    rng = random.Random(f"{rules} {kind} {seed}")
    texts = texts_of(rng, kind, 60)
    by = signer(rules)
    asker = _core.Asker(by)
    snapshot, documents = stored(rng, texts, by)
    archive = Archive(documents, rules)
    everything = 1 << 40
    for text in [*rng.sample(texts, 12), *texts_of(rng, kind, 6), "", "one", "?!"]:
        asked = asker.text(text, False)
        where = rng.choice([{}, {}, {"label": "2025"}, {"stars": "2", "label": "2024"}, {"none": ""}])
        of = list(where.items())
        threshold = rng.choice([rules.threshold, 0.3, 0.9, 1.0])
        bits = rng.randint(0, 10)
        if text.strip():
            same(told(asker.ask("identical", snapshot, asked, everything, of)), archive.identical(text, where))
        same(
            told(asker.ask("resemblance", snapshot, asked, everything, of, threshold=threshold)),
            archive.resemblance(text, threshold, where),
        )
        same(
            told(asker.ask("containment", snapshot, asked, everything, of, threshold=threshold)),
            archive.containment(text, threshold, where),
        )
        same(
            told(asker.ask("distance", snapshot, asked, everything, of, distance=bits)),
            archive.distance(text, bits, where),
        )
        if text.strip():
            is_seen, nearest, _, _, _ = asker.seen(snapshot, asker.text(text, True), rules.threshold, of)
            (many, _), *_ = asker.seen_many(snapshot, [text], rules.threshold, of)
            assert many is not None
            (was_seen, closest, *_), _ = many
            assert (was_seen, closest and told_one(closest)) == (is_seen, nearest and told_one(nearest))
            found = Verdict(is_seen, nearest and told_one(nearest), bool(nearest and nearest[5]))
            assert found == archive.seen(text, where)


@pytest.mark.parametrize("rules", [one for one in RULES if one.texts], ids=range(sum(one.texts for one in RULES)))
def test_questions_beside_starter_code_match_the_oracle(rules: Rules):
    """Some documents have all of the starter code, some a part, some none: whole texts differ where own parts agree."""
    assert sum(beside_starter_code(rules, seed) for seed in range(6)) > 20


def beside_starter_code(rules: Rules, seed: int) -> int:
    """Compare all questions with the oracle; return how many documents resemble an asked one."""
    rng = random.Random(f"{rules} starter {seed}")
    given = [" ".join(rng.choices(WORDS, k=rng.randint(4, 60))) for _ in range(2)]
    parts = ["", *given, given[0][: len(given[0]) // 2], " ".join(given)]
    texts = [f"{rng.choice(parts)} {own}".strip() for own in texts_of(rng, "near", 50)]
    by = signer(rules)
    asker = _core.Asker(by)
    made = [Stored(f"s{number}", text, is_hidden=True) for number, text in enumerate(given)]
    rows = [flagged(one, 2, by) for one in made]
    for number, text in enumerate(texts):
        (row,), _, _ = by.rows([text], [f"d{number}".encode()], [b"{}"], None, None)
        rows.append(row[2])
        made.append(Stored(f"d{number}", text))
    snapshot = _core.Snapshot([(_core.Segment.of_records(rows, b"{}"), None)])
    archive, starter = Archive(made, rules, given), asker.starter(snapshot)
    everything, found = 1 << 40, 0
    for text in [*texts, *texts_of(rng, "near", 6), *parts[1:]]:
        asked = asker.text(text, False).beside(starter)
        assert (asked.counted, asked.is_starter) == (len(archive.own(text)), archive.is_starter(text))
        threshold = rng.choice([rules.threshold, 0.3, 0.9])
        same(told(asker.ask("identical", snapshot, asked, everything, [])), archive.identical(text, {}))
        resembling = told(asker.ask("resemblance", snapshot, asked, everything, [], threshold=threshold))
        same(resembling, archive.resemblance(text, threshold, {}))
        # The definition without sketches: all candidates that reach the threshold without starter code.
        values = [archive.resemblance_of(text, one.text) for one, _ in archive.candidates(text, {})]
        assert sorted(one.values[0] for one in resembling) == sorted(one for one in values if one >= threshold)
        found += len(resembling)
        contained = told(asker.ask("containment", snapshot, asked, everything, [], threshold=threshold))
        same(contained, archive.containment(text, threshold, {}))
        if rules.modulus == 1:
            shares = [
                max(archive.shares(text, one.text, 0))
                for one, _ in archive.contents({})
                if archive.own(text) & archive.own(one.text)
            ]
            assert sorted(max(one.values) for one in contained) == sorted(one for one in shares if one >= threshold)
        same(told(asker.ask("distance", snapshot, asked, everything, [], distance=8)), archive.distance(text, 8, {}))
        is_seen, nearest, _, _, _ = asker.seen(snapshot, asker.text(text, True).beside(starter), rules.threshold, [])
        verdict = Verdict(is_seen, nearest and told_one(nearest), bool(nearest and nearest[5]))
        assert verdict == archive.seen(text, {})
    return found
