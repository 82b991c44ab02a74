"""Resemblance and containment from Python and from the command line, exact and by every sketch."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike import params
from support.submissions import run

ROSES = ("a rose is a rose is a rose", "a rose is a flower which is a rose")


def words(start: int, end: int) -> str:
    """Return words that nobody else has."""
    numbers = range(start, end)
    return " ".join(f"w{random.Random(i).getrandbits(40):x}" for i in numbers)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two files of 1,996 shingles each, 1,496 of them common: r = 1496/2496."""
    files = tmp_path / "a.txt", tmp_path / "b.txt"
    for path, text in zip(files, (words(0, 2000), words(500, 2500)), strict=True):
        path.write_text(text, encoding="utf-8")
    return files


def told(*arguments: str | Path, **extra: Any) -> dict[str, Any]:
    ran = run("similarity", *arguments, "--json", **extra)
    assert (ran.code, ran.err) == (0, "")
    found: dict[str, Any] = json.loads(ran.out)
    return found


@pytest.mark.parametrize(
    ("width", "labelled", "expected"),
    [
        (1, True, (7 / 10, 7 / 8, 7 / 9)),
        (2, True, (1 / 2, 5 / 7, 5 / 8)),
        (3, True, (3 / 10, 1 / 2, 3 / 7)),
        (1, False, (3 / 5, 1, 3 / 5)),
        (2, False, (1 / 2, 1, 1 / 2)),
        (3, False, (3 / 7, 1, 3 / 7)),
    ],
)
def test_paper_broder1997_rose(width: int, labelled: bool, expected: tuple[float, float, float]):
    a, b = ROSES
    found = la.measure(a, b, shingle=width, labelled=labelled)
    assert found[3:] == expected
    assert la.resemblance(a, b, shingle=width, labelled=labelled) == expected[0]
    assert la.containment(a, b, shingle=width, labelled=labelled) == expected[1]
    assert la.containment(b, a, shingle=width, labelled=labelled) == expected[2]
    assert la.distance(a, b, shingle=width, labelled=labelled) == 1 - expected[0]


def test_a_text_without_shingles_has_no_resemblance():
    assert la.resemblance("three words only", "three words only") is None
    assert la.containment("", "to be or not to be") is None
    assert la.distance("", "") is None
    assert la.sketch("three words only").resemblance(la.sketch("to be or not to be")) is None


@pytest.mark.parametrize("kind", params.SKETCHES)
def test_every_sketch_is_told_on_the_command_line(kind: str, pair: tuple[Path, Path]):
    found = told(*pair, "--sketch", kind)
    assert list(found["sketches"]) == [kind]
    estimate = found["sketches"][kind]["resemblance"]
    assert found["exact"]["resemblance"] == 1496 / 2496
    assert estimate["low"] <= 1496 / 2496 <= estimate["high"]
    assert estimate["value"] == estimate["common"] / estimate["sample"]
    assert ("left_in_right" in found["sketches"][kind]) == (kind in params.CONTAINING)


def test_all_sketches_stand_side_by_side(pair: tuple[Path, Path]):
    ran = run("similarity", *pair)
    assert (ran.code, ran.err) == (0, "")
    rows = [line.split()[:2] for line in ran.out.splitlines() if line.startswith(" ") and line.strip()]
    names = [row[0] for row in rows]
    assert names[1:8] == ["exact", *params.SKETCHES]
    assert names[9:] == ["exact", *params.CONTAINING]
    assert rows[1][1] == "0.5994"
    assert rows[9][1] == "0.7495"
    assert "distance (1 − resemblance): 0.4006" in ran.out


def test_options_reach_the_sketches(pair: tuple[Path, Path]):
    chosen = ("--size", "40", "--modulus", "4", "--shingle", "2", "--unit", "character", "--bits", "48", "--labelled")
    found = told(*pair, *chosen, "--confidence", "0.5")
    expected = {"size": 40, "modulus": 4, "shingle": 2, "unit": "character", "bits": 48, "labelled": True}
    assert found["parameters"] == expected | {"homoglyphs": False}
    assert found["sketches"]["fast"]["resemblance"]["sample"] == 40
    assert found["confidence"] == 0.5


def test_more_confidence_is_a_wider_interval(pair: tuple[Path, Path]):
    widths = []
    for confidence in ("0.5", "0.95", "0.999999"):
        estimate = told(*pair, "--sketch", "fast", "--confidence", confidence)["sketches"]["fast"]["resemblance"]
        widths.append(estimate["high"] - estimate["low"])
    assert widths == sorted(widths)
    assert widths[0] < widths[2] / 3


def test_undefined_is_said_in_words(tmp_path: Path, pair: tuple[Path, Path]):
    short = tmp_path / "short.txt"
    short.write_text("only three words", encoding="utf-8")
    ran = run("similarity", short, pair[0])
    assert ran.code == 0
    assert f"undefined: `{short}` is shorter than a shingle of 5 words" in ran.out
    assert "0.0000" not in ran.out
    found = told(short, pair[0])
    assert found["exact"]["resemblance"] is None
    assert all(row["resemblance"] is None for row in found["sketches"].values())


def test_html_is_read_as_a_page(tmp_path: Path):
    page, text = tmp_path / "page.html", tmp_path / "text.txt"
    body = words(0, 120)
    page.write_text(f"<html><body><script>var x = 1;</script><p>{body}</p></body></html>", encoding="utf-8")
    text.write_text(body, encoding="utf-8")
    assert told(page, text, "--sketch", "fast")["exact"]["resemblance"] == 1.0


def test_what_was_guessed_is_noted(tmp_path: Path, pair: tuple[Path, Path]):
    legacy = tmp_path / "legacy.txt"
    legacy.write_bytes("Müller über Österreich, größer als gestern gedacht. ".encode("cp1252") * 20)
    assert any("guessed" in note for note in told(legacy, pair[0])["notes"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("missing.txt", "missing.txt"), 2, "does not exist"),
        (("-", "-"), 2, "only one of A and B can be standard input"),
        (("a.txt", "b.txt", "--shingle", "0"), 2, "shingle `0` is not a width of shingles"),
        (("a.txt", "b.txt", "--size", "0"), 2, "size `0` is not the size of a sketch"),
        (("a.txt", "b.txt", "--modulus", "0"), 2, "modulus `0` keeps no shingle"),
        (("a.txt", "b.txt", "--bits", "8"), 2, "bits `8`"),
        (("a.txt", "b.txt", "--confidence", "1"), 2, "confidence `1` is not a share of cases"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    arguments: tuple[str, ...], code: int, said: str, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(pair[0].parent)
    ran = run("similarity", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_a_binary_file_is_refused_by_name(tmp_path: Path, pair: tuple[Path, Path]):
    binary = tmp_path / "a.bin"
    binary.write_bytes(bytes(range(256)) * 20)
    ran = run("similarity", binary, pair[0])
    assert ran.code == 3
    assert f"`{binary}`" in ran.err


@pytest.mark.parametrize("kind", params.SKETCHES)
def test_a_stored_sketch_is_the_same_sketch(kind: str):
    made = la.sketch(words(0, 900), size=32, sketch=kind)
    back = la.Sketch.from_bytes(made.to_bytes())
    assert back == made
    assert back.sketching == made.sketching
    assert len(made.to_bytes()) == made.len_bytes


def test_bytes_that_are_no_sketch_are_refused():
    stored = la.sketch(words(0, 50)).to_bytes()
    for wrong in (b"", b"LASK", stored[:-1], stored[:-1] + bytes([stored[-1] ^ 1]), stored + b"\0" * 8):
        with pytest.raises(la.FormatError, match="sketch cannot be read"):
            la.Sketch.from_bytes(wrong)


def test_sketches_made_differently_are_not_compared():
    with pytest.raises(la.ParameterError, match="shingle is `5` in one and `4` in the other"):
        la.sketch(words(0, 50)).resemblance(la.sketch(words(0, 50), shingle=4))


def test_containment_is_told_by_mod_sketches():
    part, whole = la.mod_sketch(words(0, 3000)), la.mod_sketch(words(0, 9000))
    there, back = part.containment(whole), whole.containment(part)
    assert there is not None
    assert there.value == there.high == 1.0
    assert back is not None
    assert back.low <= 2996 / 8996 <= back.high
    with pytest.raises(la.ParameterError, match="use modulo or adaptive"):
        la.sketch(words(0, 50)).containment(la.sketch(words(0, 50)))


@pytest.mark.parametrize("kind", ["fast", "permutations", "smallest", "modulo", "smallest-modulo"])
def test_updates_and_merging_agree(kind: str):
    one, many, other = (la.Sketch.empty(kind, 64) for _ in range(3))
    for i in range(200):
        one.update(f"shingle {i}")
    many.update(*(f"shingle {i}".encode() for i in range(120)))
    other.update(*(f"shingle {i}" for i in range(100, 200)))
    twin = many.copy()
    many.merge(other)
    assert many.values == one.values
    assert many.jaccard(one) == 1.0
    assert twin.values != many.values


def test_a_batch_is_a_matrix_without_copies():
    numpy = pytest.importorskip("numpy")
    texts: list[str | bytes] = [words(i, i + 50) for i in range(300)]
    texts[7], texts[8] = b"\x00\x01\x02\x03" * 40, "too short"
    table = la.sketch_batch(texts, size=16)
    rows = numpy.asarray(table.rows)
    assert (rows.shape, rows.dtype) == ((300, 16), numpy.uint64)
    assert rows[3].tolist() == la.sketch(texts[3], size=16).values.tolist() == list(table.rows[3])
    assert table.shingles[:9] == [46] * 7 + [0, 0]
    assert [(note.index, note.refused) for note in table.notes] == [(7, True)]
    assert all(la.sketch_batch(texts, size=16, threads=threads).rows == table.rows for threads in (1, 3))
    assert len(la.sketch_batch([], size=16)) == 0


def test_a_batch_needs_a_fixed_size():
    with pytest.raises(la.ParameterError, match="sketch `modulo` has no fixed size"):
        la.sketch_batch(["a b c d"], sketch="modulo")


def test_the_call_is_what_the_command_prints(pair: tuple[Path, Path]):
    found = la.similarity(*pair)
    assert isinstance(found, la.Similarity)
    assert found.exact.resemblance == 1496 / 2496
    assert [row.sketching.sketch for row in found.estimates] == list(params.SKETCHES)
    texts = la.similarity(words(0, 2000), words(500, 2500))
    assert texts.estimates == found.estimates


def test_the_collision_bound_of_rabin_is_shown_and_part_of_the_interval(pair: tuple[Path, Path]):
    ran = run("similarity", *pair, "--bits", "40")
    bound = 5 * 64 / 2**39
    assert f"|s|/2^(ℓ−1) = 320/2^39 = {bound:.2g}" in ran.out
    found = told(*pair, "--sketch", "fast", "--bits", "40")
    assert found["collision_bound"] == bound
    estimate = found["sketches"]["fast"]["resemblance"]
    # 1,996 shingles each, as a union at the estimated resemblance.
    union = int(2 * 1996 / (1 + estimate["value"]))
    assert estimate["collisions"] == pytest.approx(1024 * union * bound)
    wide = told(*pair, "--sketch", "fast")["sketches"]["fast"]["resemblance"]
    assert wide["collisions"] == pytest.approx(estimate["collisions"] / 2**24, rel=0.1)
    added = estimate["high"] - estimate["low"] - (wide["high"] - wide["low"])
    assert added > estimate["collisions"]


def test_ids_of_few_bits_say_nothing_against_an_adversary():
    a, b = (la.sketch(text, bits=16) for text in (words(0, 300), words(0, 300)))
    assert (a.resemblance(b).low, a.resemblance(b).high) == (0, 1)
    assert a.sketching.collision_bound == 320 / 2**15
