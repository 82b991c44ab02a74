"""The public surface of the engine: properties of fingerprints, spans, inputs and errors."""

from __future__ import annotations

import os
import pathlib
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import params
from support.texts import REAL, texts

SHARED = "the quick brown fox jumps over the lazy dog while nobody in the village looks on " * 2


@given(texts(), texts(), texts(), texts(), st.sampled_from(params.GUARANTEED), st.sampled_from(["character", "word"]))
def test_a_shared_run_of_t_tokens_shares_a_fingerprint(a, b, c, d, scheme, unit):
    k, t = {"character": (12, 40), "word": (3, 8)}[unit]
    # White space and stops keep the passage's own tokens apart from what surrounds it.
    left, right = (
        la.fingerprint(f"{x}\n. {SHARED} .\n{y}", k=k, t=t, scheme=scheme, unit=unit) for x, y in [(a, b), (c, d)]
    )
    assert set(left.hashes) & set(right.hashes)


@given(texts(), st.sampled_from(params.UNITS), st.booleans())
def test_spans_hold_their_tokens_and_never_overlap(text, unit, as_bytes):
    given_text = text.encode("utf-8", "replace") if as_bytes else text
    found = la.stream(given_text, unit=unit)
    previous = (0, 0)
    for token, span in zip(found.tokens, found.spans, strict=True):
        assert span[0] < span[1]
        assert span == previous or span[0] >= previous[1]
        assert token in la.stream(given_text[span[0] : span[1]], unit=unit).tokens.tolist()
        previous = span


@given(texts(), st.sampled_from(params.SCHEMES))
def test_fingerprint_spans_hold_their_k_gram(text, scheme):
    found = la.fingerprint(text, k=4, t=9, scheme=scheme, unit="character")
    for hash_, (start, end) in zip(found.hashes, found.spans, strict=True):
        assert hash_ in la.fingerprint(text[start:end], k=4, t=4, scheme="every").hashes.tolist()


@given(texts())
def test_str_and_utf8_bytes_have_the_same_fingerprints(text):
    encoded = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    plain = la.fingerprint(text, k=3, t=6)
    try:
        assert la.fingerprint(encoded, k=3, t=6).hashes == plain.hashes
    except la.FrontendError:
        # Bytes full of control characters are binary; a str is a text because its caller says so.
        assert any(c < " " for c in text)


@given(st.lists(texts(), max_size=8), st.integers(1, 4))
def test_batches_equal_single_documents_at_any_thread_count(documents, threads):
    table = la.fingerprint_batch(documents, k=4, t=9, threads=threads)
    singles = [la.fingerprint(document, k=4, t=9) for document in documents]
    assert table.hashes == [hash_ for single in singles for hash_ in single.hashes]
    assert table.positions == [position for single in singles for position in single.positions]
    assert table.tokens == [single.tokens for single in singles]
    assert table.offsets == np.cumsum([0] + [len(single) for single in singles]).tolist()


@given(texts(), st.sampled_from(params.NESTED), st.integers(0, 20))
def test_coarser_fingerprints_are_a_part(text, scheme, more):
    fine = la.fingerprint(text, k=3, t=8, scheme=scheme)
    coarse = fine.coarser(8 + more)
    assert set(coarse.hashes) <= set(fine.hashes)
    if "robust" not in scheme:
        assert set(coarse.positions) <= set(fine.positions)


def test_coarser_says_what_it_cannot_do():
    with pytest.raises(la.ParameterError, match="has no coarser subset"):
        la.fingerprint(REAL, scheme="modulo").coarser(80)
    with pytest.raises(la.ParameterError, match="use t ≥ 50"):
        la.fingerprint(REAL, k=25, t=50).coarser(30)


def test_look_up_is_a_dial_of_cost():
    part, whole = la.fingerprint(REAL[5000:9000], k=10, t=30), la.fingerprint(REAL, k=10, t=30)
    full = part.look_up(whole)
    assert full.looked_up == len(set(part.hashes))
    # Only picks near the two cut edges may differ.
    assert full.found >= full.looked_up - 2 * (30 - 10 + 1)
    few = part.look_up(whole, lookups=5)
    assert (few.looked_up, part.spectrum(5)) == (5, sorted(set(part.hashes))[:5])
    assert la.fingerprint("", k=5, t=9).look_up(whole).share is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"k": 5, "t": 3},
            "t `3` is smaller than k `5`: a match shorter than one k-gram cannot be promised; use t ≥ 5",
        ),
        ({"k": 0}, "k `0` is not a noise threshold: it counts tokens; use 1 ≤ k ≤ 65536"),
        ({"k": -4}, "k `-4` is not a noise threshold: it counts tokens; use 1 ≤ k ≤ 65536"),
        ({"t": -1}, "t `-1` is not a guarantee threshold: it counts tokens; use 1 ≤ t ≤ 65536"),
        ({"k": 10**30}, "k `9223372036854775807` is not a noise threshold: it counts tokens; use 1 ≤ k ≤ 65536"),
        ({"t": 70_000}, "t `70000` is not a guarantee threshold: it counts tokens; use 1 ≤ t ≤ 65536"),
        ({"scheme": "magic"}, "scheme `magic` is not known"),
        ({"unit": "byte"}, "unit `byte` is not known: use one of character, word, line"),
        ({"scheme": "modulo", "modulus": 0}, "modulus `0` divides nothing: use modulus ≥ 1"),
        ({"scheme": "smallest", "count": 0}, "count `0` selects nothing: use count ≥ 1"),
    ],
)
def test_bad_parameters_say_what_to_do(arguments, message):
    with pytest.raises(la.ParameterError) as caught:
        la.fingerprint("some text", **arguments)
    assert str(caught.value).startswith(message)


def test_a_lone_threshold_moves_the_other_along():
    assert la.fingerprint("", k=100).selection.t == 100
    assert la.fingerprint("", t=10).selection.k == 10
    assert la.fingerprint("", unit="word").selection.k == params.THRESHOLDS["word"][0]


def test_windows_and_hashes_are_checked():
    with pytest.raises(la.ParameterError, match="window `0` holds no hash"):
        la.select([1, 2], window=0)
    with pytest.raises(la.ParameterError, match="whole numbers from 0"):
        la.select([1, -2], window=2)
    with pytest.raises(TypeError, match="integer"):
        la.select([1, 2], window=2.5)


def test_numpy_hashes_are_taken_without_objects():
    hashes = np.array([3, 1, 2, 2**63, 5], dtype=np.uint64)
    assert la.select(hashes, window=2) == la.select(hashes.tolist(), window=2)


def test_columns_are_read_only_buffers():
    found = la.fingerprint(REAL, k=10, t=20)
    hashes, spans = np.asarray(found.hashes), np.asarray(found.spans)
    assert (hashes.dtype, spans.dtype, spans.shape) == (np.uint64, np.uint32, (len(found), 2))
    assert not hashes.flags.writeable
    assert hashes.tolist() == found.hashes.tolist()
    assert found.positions[-1] == found.positions[len(found) - 1]
    assert found.positions[2:5] == found.positions.tolist()[2:5]
    assert found.positions[::-1] == found.positions.tolist()[::-1]
    with pytest.raises(IndexError):
        found.positions[len(found)]
    assert "in all]" in repr(found.hashes)
    assert found.hashes != 3


def test_columns_outlive_their_fingerprints():
    array = np.asarray(la.fingerprint(REAL, k=10, t=20).hashes)
    assert array.tolist() == la.fingerprint(REAL, k=10, t=20).hashes.tolist()


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_any_bytes_are_a_text(wrap):
    data = REAL.encode()
    assert la.fingerprint(wrap(data)).hashes == la.fingerprint(data).hashes


def test_what_is_not_a_text_is_refused():
    with pytest.raises(TypeError, match="a document is `str` or bytes"):
        la.fingerprint(12)  # type: ignore[arg-type]


def test_short_documents_have_no_fingerprints_and_say_so():
    assert la.fingerprint("four", k=5, t=9).is_too_short
    assert len(la.fingerprint("four", k=5, t=9)) == 0
    assert len(la.fingerprint("fives", k=5, t=9)) == 1
    assert la.fingerprint("", k=5, t=9).density is None


def test_lone_surrogates_are_replaced_and_counted():
    found = la.fingerprint("abc\ud800def ghi\udfffjkl", k=3, t=3, scheme="every")
    assert found.reading.replaced == 2
    assert found.spans[-1][1] == len("abc\ud800def ghi\udfffjkl")


def test_homoglyphs_are_folded_on_request():
    disguised = "сору and раstе".replace("s", "ѕ")
    assert la.canonical(disguised, homoglyphs=True) == "copyandpaste"
    plain = la.fingerprint("copy and paste", k=5, t=8)
    assert set(plain.hashes) & set(la.fingerprint(disguised, k=5, t=8, homoglyphs=True).hashes)
    assert not set(plain.hashes) & set(la.fingerprint(disguised, k=5, t=8).hashes)


def test_a_path_is_a_file(tmp_path: pathlib.Path):
    path = tmp_path / "text.txt"
    path.write_text(REAL, encoding="utf-8")
    assert la.fingerprint(path).hashes == la.fingerprint(REAL.encode()).hashes


def test_a_fifo_does_not_hang(tmp_path: pathlib.Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(la.FrontendError, match="is not a regular file"):
        la.fingerprint(tmp_path / "pipe")


def test_four_gibibytes_are_refused_by_name(tmp_path: pathlib.Path):
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(2**32)
    with pytest.raises(la.FrontendError, match=r"huge\.txt` is too large"):
        la.fingerprint(path)


def test_one_bad_document_never_ends_a_batch():
    table = la.fingerprint_batch([REAL.encode(), b"\0\1\2\3" * 50, REAL.encode("utf-16")], k=10, t=20)
    assert [(note.index, note.refused) for note in table.notes] == [(1, True)]
    assert "not a text" in table.notes[0].message
    assert table.offsets[1] == table.offsets[2] < table.offsets[3]


def test_an_empty_batch_is_an_empty_table():
    table = la.fingerprint_batch([])
    assert (len(table), table.offsets) == (0, [0])


@pytest.fixture
def undivided() -> Iterator[None]:
    """Let no thread take the interpreter from another: it changes hands only where a thread gives it up."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(10_000)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("undivided")
def test_other_threads_run_while_a_text_is_fingerprinted():
    """The GIL is released: this thread gives it up nowhere else, and yet another thread gets on during the call.

    A busy machine may give the other thread no time during one call, so there are up to a hundred.
    """
    text = REAL * 2000
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0)

    def counted_during_a_call() -> int:
        before = counted
        la.fingerprint(text)
        return counted - before

    thread = threading.Thread(target=count)
    thread.start()
    gained = any(counted_during_a_call() for _ in range(100))
    done.set()
    thread.join()
    assert gained
