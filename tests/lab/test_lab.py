"""The lab repeats the paper's experiments: each fact below is one of its figures, or a rule the lab states."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import lookalike as la
from lookalike import lab
from lookalike.errors import FrontendError, ParameterError
from lookalike.lab.resemblance import estimator, filter_curve, shingle_size
from lookalike.lab.shared import corpus, labels, plots, synthetic, uniformity
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import Claim, Outcome
from lookalike.lab.shared.setting import ALPHABET, K, W, distinct, fingerprints, random_text, runs
from lookalike.lab.simhash import compression, table_designs
from lookalike.lab.winnowing import (
    bounds,
    choose_k,
    density,
    gaps,
    low_entropy,
    matches,
    programs,
    rank_frequency,
    rolling,
)
from lookalike.lab.winnowing.rank_frequency import Plateaus

SEED = 3
#: Sizes at which every experiment takes a second or two; what they find at full size is in the note of the release.
SMALL = {
    synthetic: {"PAGES": 40, "MIRRORS": 30, "PROGRAMS": 8, "VOCABULARY": 500, "PASSAGES": 150},
    density: {"LENGTH": 1 << 18, "SWEEP_LENGTH": 1 << 16, "SWEEP": (5, 50, 200)},
    gaps: {"LENGTH": 1 << 18},
    low_entropy: {"LENGTH": 1 << 14},
    choose_k: {"SWEEP": (4, 8, 16, 30, 60, 100), "CODE_SWEEP": (2, 5, 10, 20, 40)},
    filter_curve: {"TRIALS": 500},
    estimator: {"FOUND": 30, "RANDOM": 20, "EDITED": 60},
    shingle_size: {"DOCUMENTS": 6},
    labels: {"PLANTED": 20},
    table_designs: {"UNIFORM": 2000, "REPEATS": 1},
    compression: {"UNIFORM": 2000, "PATIENCE": 0.001},
    rolling: {"BYTES": 1 << 17, "REPEATS": 2, "SWEEP": (5, K)},
}


#: Experiments that tell of time, which is never the same twice.
TIMED = ("rolling", "table-designs", "compression")


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, sizes in SMALL.items():
            for name, value in sizes.items():
                patch.setattr(module, name, value)
        yield


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    folder = tmp_path_factory.mktemp("lab")
    return {name: lab.run(name, None, SEED, folder / name) for name in lab.EXPERIMENTS}


def module_of(name: str) -> ModuleType:
    return import_module(f"lookalike.lab.{lab.module_of(name)}")


def corpus_of(*texts: bytes) -> Corpus:
    names = tuple(f"{i:04}.txt" for i in range(len(texts)))
    return Corpus("test", "texts of a test", names, texts, sum(map(len, texts)))


@pytest.mark.parametrize(
    ("name", "seed", "message"),
    [
        ("densty", 1, "experiment `densty` is not known: use one of density, gaps, rank"),
        ("gaps", -1, "seed `-1` must be 0"),
    ],
)
def test_wrong_name_or_seed_is_refused(name: str, seed: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=message):
        lab.run(name, None, seed, tmp_path)


@pytest.mark.parametrize("package", ["numpy", "matplotlib"])
def test_missing_package_names_the_install(package: str) -> None:
    code = f"import sys; sys.modules['{package}'] = None; from lookalike import lab; lab.run('density')"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert "MissingExtraError: the lab needs packages" in printed
    assert 'run pip install "lookalike[lab]"' in printed


@pytest.mark.parametrize("name", lab.EXPERIMENTS)
def test_experiment_writes_png_svg_and_json(name: str, outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[name]
    assert outcome.figure.read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in outcome.figure.with_suffix(".svg").read_bytes()[:1000]
    written = json.loads(outcome.data.read_text(encoding="utf-8"))
    assert written["name"] == name
    assert written["citation"].endswith(outcome.paper.doi)
    assert outcome.paper.doi.startswith("10.1")
    assert written["parameters"]["seed"] == SEED
    assert written["claims"]
    assert written["corpus"]["description"].startswith("synthetic")
    assert str(outcome.folder.parent) not in outcome.to_json()


@pytest.mark.parametrize("name", [name for name in lab.EXPERIMENTS if name not in TIMED])
def test_json_is_the_same_bytes_twice(name: str, outcomes: dict[str, Outcome]) -> None:
    again = module_of(name).measure(corpus.load(None, SEED), SEED)
    assert again.to_json() == outcomes[name].data.read_text(encoding="utf-8")


def test_plots_are_the_same_bytes_twice(outcomes: dict[str, Outcome], tmp_path: Path) -> None:
    again = outcomes["low-entropy"].in_folder(tmp_path)
    plots.save(low_entropy.draw, again)
    for suffix in (".png", ".svg"):
        first = outcomes["low-entropy"].figure.with_suffix(suffix).read_bytes()
        assert again.figure.with_suffix(suffix).read_bytes() == first, suffix


@pytest.mark.parametrize("name", lab.EXPERIMENTS)
def test_without_the_papers_figures_only_the_comparison_goes(
    name: str, outcomes: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert any(claim.paper is not None for claim in outcomes[name].claims)
    monkeypatch.setattr(module_of(name), "PAPER", {})
    bare = module_of(name).measure(corpus.load(None, SEED), SEED)
    assert [claim.name for claim in bare.claims] == [claim.name for claim in outcomes[name].claims]
    assert all(claim.paper is None and claim.difference is None for claim in bare.claims)
    assert module_of(name).draw(bare).axes


#: Experiments on shingles of words, of which the dullest corpus has none.
WORDS = (
    *("estimator", "shingle-size", "evaluate"),
    *("simhash-pr", "simhash-features", "never-duplicated", "signatures", "leading-bit", "table-designs"),
    "compression",
)
DULL = (b"0" * 1500, b"0" * 1500)


@pytest.mark.parametrize("name", WORDS)
def test_corpus_of_one_word_is_refused_where_words_are_needed(name: str) -> None:
    with pytest.raises(FrontendError, match=r"^corpus `test` has (no|one) text"):
        module_of(name).measure(corpus_of(*DULL), SEED)


@pytest.mark.parametrize("name", [name for name in lab.EXPERIMENTS if name not in WORDS])
def test_dullest_corpus_is_measured_and_drawn(name: str) -> None:
    dull = corpus_of(*DULL)
    assert module_of(name).draw(module_of(name).measure(dull, SEED)).axes


def test_difference_is_ours_less_the_papers() -> None:
    assert Claim("density", 0.25, 0.75).difference == 0.5
    assert Claim("density", None, 0.75).difference is None


def test_slips_of_the_paper_are_noted(outcomes: dict[str, Outcome]) -> None:
    notes = " ".join(outcomes["density"].notes + outcomes["gaps"].notes)
    for slip in (
        "standard errors above 2/(w+1)",
        "partial first windows",
        "74 where Figure 1 has 72",
        "“some” is meant",
    ):
        assert slip in notes, slip


def write(folder: Path, **texts: bytes) -> Path:
    for name, text in texts.items():
        folder.joinpath(f"{name}.txt").write_bytes(text)
    return folder


def test_empty_folder_is_refused_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(FrontendError, match="has 0 characters of text: an experiment needs 1000; give a folder"):
        corpus.load(tmp_path, SEED)


def test_folder_of_binaries_is_refused_and_says_why(tmp_path: Path) -> None:
    write(tmp_path, image=b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    with pytest.raises(FrontendError, match=r"left out: image.txt: binary, not text: a PNG image"):
        corpus.load(tmp_path, SEED)


def test_missing_corpus_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        corpus.load(tmp_path / "none", SEED)


def test_binary_file_is_left_out_and_listed(tmp_path: Path) -> None:
    folder = tmp_path / "essays"
    folder.mkdir()
    write(folder, image=b"\x7fELF" + bytes(range(256)) * 20, text=b"plain words " * 200)
    outcome = lab.run("low-entropy", folder, SEED, tmp_path / "out")
    assert outcome.corpus["documents"] == 1
    assert outcome.corpus["left_out"][0].startswith("image.txt: binary, not text: a program (ELF)")
    assert any("left out: image.txt" in note for note in outcome.notes)
    assert str(tmp_path) not in outcome.to_json()


def test_unreadable_file_is_left_out_and_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> bytes:
        if path.name == "secret.txt":
            raise PermissionError(13, "Permission denied", str(path))
        return path.read_bytes()

    monkeypatch.setattr(corpus, "read", read)
    loaded = corpus.load(write(tmp_path, secret=b"x", text=b"plain words " * 200), SEED)
    assert loaded.left_out == ("secret.txt: Permission denied",)
    assert loaded.names == ("text.txt",)


def test_links_are_left_out_and_listed(tmp_path: Path) -> None:
    folder = tmp_path / "essays"
    folder.mkdir()
    write(folder, text=b"plain words " * 200)
    (folder / "loop").symlink_to(folder)
    (folder / "out").symlink_to("/etc/passwd")
    loaded = corpus.load(folder, SEED)
    reason = "a link, and links are not followed"
    assert loaded.left_out == (f"loop: {reason}", f"out: {reason}")


def test_documents_of_any_encoding_join_into_one_text(tmp_path: Path) -> None:
    words = "Ein Wort für Käse, größer als Brot. " * 40
    write(tmp_path, a=words.encode(), b=words.encode("utf-16"), c=words.encode("latin-1"))
    loaded = corpus.load(tmp_path, SEED)
    assert la.canonical(loaded.text) == la.canonical(words) * 3
    assert loaded.characters == len(la.canonical(words)) * 3
    assert [note.split(":")[0] for note in loaded.mended] == ["c.txt"]


def test_long_list_of_files_left_out_is_shortened_in_the_note_only() -> None:
    odd = tuple(f"{i}: not a text" for i in range(9))
    loaded = Corpus("test", "texts", ("a",), (b"",), 0, left_out=odd)
    assert loaded.notes()[1] == "left out: 0: not a text · 1: not a text · 2: not a text and 6 more, listed in the JSON"
    assert len(loaded.facts()["left_out"]) == 9


def test_synthetic_corpus_depends_on_the_seed_alone() -> None:
    assert synthetic.make(SEED) == synthetic.make(SEED)
    assert synthetic.make(SEED) != synthetic.make(SEED + 1)


def test_distinct_matches_a_set() -> None:
    values = np.random.default_rng(SEED).integers(0, 50, 300).astype(np.uint64)
    assert distinct(values).tolist() == sorted(set(values.tolist()))
    assert distinct(values[:0]).tolist() == []


@pytest.mark.parametrize("scheme", ["modulo", "safe-modulo", "winnow", "robust"])
def test_density_of_random_text_is_the_expected_one(scheme: str) -> None:
    found = fingerprints(random_text(1 << 20, SEED), scheme)
    expected = bounds.expected(scheme, W, found.kgrams)
    assert expected is not None
    assert abs(len(found) / found.kgrams - expected) < 4 * density.standard_error(found), (scheme, SEED)


def test_standard_error_is_that_of_independent_hashes() -> None:
    # 2.37e-5 for 8 Mi k-grams over 24 runs of independent hashes, so 6.7e-5 for one Mi.
    error = density.standard_error(fingerprints(random_text(1 << 20, SEED), "winnow"))
    assert error == pytest.approx(6.7e-5, rel=0.25)


def test_compact_is_below_winnowing_and_above_the_bound() -> None:
    found = fingerprints(random_text(1 << 20, SEED), "compact")
    assert bounds.forward_bound(K, W) < len(found) / found.kgrams <= 0.0170


def test_sweep_meets_two_over_w_plus_one(outcomes: dict[str, Outcome]) -> None:
    sweep = outcomes["density"].series["sweep"]
    for w, measured in zip(sweep["w"], sweep["winnow"], strict=True):
        assert measured == pytest.approx(2 / (w + 1), rel=0.05), w


@pytest.mark.parametrize(
    ("k", "w", "bound"),
    [(50, 100, 0.01493), (23, 17, 0.07692), (25, 26, 0.05660), (30, 40, 0.03704), (50, 50, 0.02970), (50, 25, 0.05263)],
)
def test_bound_of_forward_schemes(k: int, w: int, bound: float) -> None:
    assert bounds.forward_bound(k, w) == pytest.approx(bound, abs=5e-6)


def test_bound_of_forward_schemes_on_hashes_is_winnowing() -> None:
    assert all(bounds.forward_bound(1, w) == pytest.approx(2 / (w + 1)) for w in range(1, 200))


def test_bounds_of_the_paper() -> None:
    found = bounds.lower_bounds(K, W)
    assert found["Theorem 1: 1.5/(w+1)"] == 1.5 / 101
    assert found["Observation 1: (1.5 + 1/2w)/(w+1)"] == pytest.approx(0.014901, abs=5e-7)


def test_safe_modulo_is_expected_at_its_least() -> None:
    assert bounds.expected("safe-modulo", W, 1) == pytest.approx(0.05500, abs=5e-6)


@pytest.mark.parametrize(("chi_square", "p"), [(118.498, 0.10), (124.342, 0.05), (135.807, 0.01), (99.334, 0.50)])
def test_p_value_agrees_with_the_tables_at_100_degrees(chi_square: float, p: float) -> None:
    assert uniformity.p_value(chi_square, 100) == pytest.approx(p, abs=2e-4)


def test_hashes_of_random_text_are_uniform_and_minima_are_not(outcomes: dict[str, Outcome]) -> None:
    table = next(table for table in outcomes["density"].tables if table.title == "uniformity of the hashes")
    skewed = [row[0] for row in table.rows if row[4] < 1e-6]
    assert skewed == ["order keys of fingerprints (minima, so skewed: §5.2)"]


def test_few_hashes_have_few_cells() -> None:
    cells, _, _ = uniformity.examine(np.random.default_rng(SEED).integers(0, 2**64, 100, dtype=np.uint64))
    assert cells == 8


def test_modulo_misses_as_often_as_the_paper_says() -> None:
    rate, error = gaps.miss_rate(fingerprints(random_text(1 << 21, SEED), "modulo", gaps.WINDOW))
    assert abs(rate - 0.135) < 4 * error, (rate, error, SEED)


@pytest.mark.parametrize("scheme", ["safe-modulo", "winnow", "robust", "compact", "compact-robust"])
def test_guaranteed_schemes_miss_nothing(scheme: str, outcomes: dict[str, Outcome]) -> None:
    rows = [row for row in outcomes["gaps"].tables[0].rows if row[1] == scheme]
    assert len(rows) == 2
    for _, _, longest, missed, _, of_all, _ in rows:
        assert (missed, of_all) == (0, 0)
        assert longest <= gaps.WINDOW - 1


def test_miss_rates_match_counting_every_window() -> None:
    found = fingerprints(random_text(5000, SEED), "modulo", gaps.WINDOW)
    picked = set(found.positions.tolist())
    windows = [picked.isdisjoint(range(s, s + gaps.WINDOW)) for s in range(found.kgrams - gaps.WINDOW + 1)]
    assert gaps.overlapping_miss_rate(found) == pytest.approx(sum(windows) / len(windows))
    assert gaps.miss_rate(found)[0] == pytest.approx(np.mean(windows[:: gaps.WINDOW]))


def test_runs_fill_what_the_picks_leave() -> None:
    found = fingerprints(random_text(3000, SEED), "winnow")
    edges = [-1, *found.positions.tolist(), found.kgrams]
    assert runs(found).tolist() == [b - a - 1 for a, b in itertools.pairwise(edges)]


def test_survival_is_the_share_of_runs_at_least_as_long() -> None:
    curve = gaps.survival(np.array([1, 5, 5, 2]))
    assert curve["length"].tolist() == [1, 2, 5]
    assert curve["share"].tolist() == [1.0, 0.75, 0.5]


def test_odds_of_the_papers_run() -> None:
    assert gaps.odds(29_851) == pytest.approx(-261.9, abs=0.05)
    assert gaps.odds(29_851, 2**40) == pytest.approx(-249.9, abs=0.05)


@pytest.mark.parametrize(("text", "plain"), [("zeros", 1.0), ("abba", 0.25)])
def test_robust_rule_brings_dull_text_to_one_a_window(text: str, plain: float, outcomes: dict[str, Outcome]) -> None:
    densities = outcomes["low-entropy"].series["density"]
    for scheme in ("winnow", "compact"):
        assert densities[f"{text} {scheme}"] == pytest.approx(plain, rel=0.01), scheme
    for scheme in ("robust", "compact-robust"):
        assert densities[f"{text} {scheme}"] == pytest.approx(1 / W, rel=0.01), scheme


def test_robust_rule_saves_on_sensor_data(outcomes: dict[str, Outcome]) -> None:
    densities = outcomes["low-entropy"].series["density"]
    assert densities["sensor robust"] < densities["sensor winnow"] / 5


def test_modulo_takes_all_or_nothing_of_one_character() -> None:
    assert sum(low_entropy.all_or_nothing()) == len(ALPHABET)


def test_plateau_ends_by_hand() -> None:
    ranks, frequencies = Plateaus.of(np.array([1, 3, 5, 1, 3, 1])).ends()
    assert ranks.tolist() == [1, 1, 2, 3, 4, 6]
    assert frequencies.tolist() == [5, 5, 3, 3, 1, 1]


def test_power_law_gives_its_slope() -> None:
    counts = np.rint(3270 * np.arange(1, 100_000, dtype=np.float64) ** -0.7).astype(np.int64)
    slope, _ = Plateaus.of(counts[counts > 0]).fit()
    assert slope == pytest.approx(-0.7, abs=0.03)


def test_zipf_corpus_gives_its_slope() -> None:
    # Passages of one k-gram each, their frequencies a power law. What stands between them is a Han character, one of so
    # many that k-grams across a border occur once; these are not part of the law and left out of the fit.
    def han(length: int) -> np.ndarray:
        return np.random.default_rng(length).integers(0x4E00, 0x9F00, length, dtype=np.uint32)

    frequencies = np.rint(300 * np.arange(1, 3000, dtype=np.float64) ** -0.7).astype(int)
    order = np.random.default_rng(SEED).permutation(np.arange(len(frequencies)).repeat(frequencies))
    passages = han(K * len(frequencies)).reshape(-1, K)[order]
    text = np.column_stack((passages, han(len(order)))).tobytes().decode("utf-32-le")
    curve = rank_frequency.measure(corpus_of(text.encode()), SEED).series["all k-grams"]
    repeated = curve["frequency, cleaned"] > 1
    x, y = np.log10(curve["rank, cleaned"][repeated]), np.log10(curve["frequency, cleaned"][repeated])
    assert np.polyfit(x, y, 1)[0] == pytest.approx(-0.7, abs=0.03)


def test_fit_matches_numpy() -> None:
    plateaus = Plateaus.of(np.random.default_rng(SEED).zipf(1.7, 2000))
    assert plateaus.fit() == pytest.approx(tuple(np.polyfit(*np.log10(plateaus.ends()), 1)))


def test_shares_match_counting() -> None:
    text = (random_text(300, SEED) + b"x" * 70 + random_text(400, SEED)).decode()
    counted = Counter(text[i : i + K] for i in range(len(text) - K + 1))
    outcome = rank_frequency.measure(corpus_of(text.encode()), SEED)
    shares = [claim.ours for claim in outcome.claims if claim.name.startswith("all k-grams that occur")]
    assert shares == [sum(f == n for f in counted.values()) / len(counted) for n in (1, 2, 3)]


def test_aberrant_plateau_is_cleaned_away() -> None:
    lengths = {1: 5000, 2: 900, 3: 300, 4: 150, 5: 90, 6: 60, 7: 40, 40: 4000, 60: 5, 90: 1}
    plateaus = Plateaus.of(np.array(list(lengths)).repeat(list(lengths.values())))
    assert plateaus.frequency[plateaus.aberrant()].tolist() == [40]
    assert 40 not in plateaus.cleaned().frequency
    assert plateaus.cleaned().fit()[0] < plateaus.fit()[0]


def test_mirrored_page_is_the_aberrant_plateau(outcomes: dict[str, Outcome]) -> None:
    notes = [note for note in outcomes["rank-frequency"].notes if f"that occur {synthetic.MIRRORS + 1} times" in note]
    assert notes[0].startswith("cleaned of all k-grams")


def test_most_frequent_kgrams_are_shown_as_written() -> None:
    phrase = "Legal notice: all rights reserved, and none of them given away! "
    texts = (random_text(500, SEED + i) + b" " + phrase.encode() + b" " for i in range(6))
    outcome = rank_frequency.measure(corpus_of(*texts), SEED)
    count, shown = outcome.tables[1].rows[0]
    assert count == 6
    assert str(shown) in phrase
    assert len(outcome.tables[1].rows) < rank_frequency.CANDIDATES


def test_text_beyond_the_cap_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_frequency, "MOST_BYTES", 2001)
    outcome = rank_frequency.measure(corpus_of("é".encode() * 3000), SEED)
    assert any("only the first 2,001 of 6,000 bytes" in note for note in outcome.notes)
    assert outcome.tables[0].rows[0][2] == 1000 - K + 1


def test_matches_match_counting_pairs() -> None:
    rng = np.random.default_rng(SEED)
    for documents in (2, 5, 70, 200):
        kgrams = rng.integers(0, 60 * documents, 20 * documents).astype(np.uint64)
        owners = rng.integers(0, documents, len(kgrams))
        where: dict[int, set[int]] = {}
        for kgram, owner in zip(kgrams.tolist(), owners.tolist(), strict=True):
            where.setdefault(kgram, set()).add(owner)
        pairs = {pair for shared in where.values() for pair in itertools.combinations(sorted(shared), 2)}
        expected = matches.Matches(len(pairs), sum(len(shared) > 1 for shared in where.values()))
        assert matches.count(kgrams, owners) == expected, documents


def test_nothing_shared_is_no_match() -> None:
    assert matches.count(np.arange(9, dtype=np.uint64), np.arange(9)) == matches.Matches(0, 0)
    assert matches.count(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)) == matches.Matches(0, 0)


def planted(documents: int = 60, idiom: int = 12, copy: int = 200) -> Corpus:
    """Texts that all use the same idioms of twelve letters, a few of which copied a passage of two hundred."""
    idioms = [random_text(idiom, 1000 + i) for i in range(20)]
    copied = random_text(copy, 999)
    rng = np.random.default_rng(SEED)
    texts = []
    for i in range(documents):
        own = [random_text(100, 2000 + 50 * i + j) for j in range(10)]
        used = [idioms[j] for j in rng.choice(len(idioms), 10)]
        texts.append(b"".join(itertools.chain.from_iterable(zip(own, used, strict=True))) + (copied if i < 5 else b""))
    return corpus_of(*texts)


def test_knee_lies_just_above_the_planted_idioms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_k, "SWEEP", tuple(range(3, 80)))
    texts = choose_k.measure(planted(), SEED).series["texts"]
    assert 12 < texts["knee"] <= 16
    pairs = dict(zip(texts["k"], texts["pairs"], strict=True))
    assert pairs[texts["knee"]] == math.comb(5, 2)
    assert pairs[11] > 1000


def test_curve_that_does_not_bend_has_no_knee() -> None:
    assert choose_k.knee((4, 8, 16, 32), (10, 10, 10, 10)) is None
    assert choose_k.knee((4, 8, 16, 32), (1000, 900, 700, 1)) is None


def test_one_document_has_no_matches_to_count() -> None:
    with pytest.raises(FrontendError, match="has 1 documents of at most 4,000,000 bytes: matches need two"):
        choose_k.measure(corpus_of(random_text(2000, SEED)), SEED)


def test_sample_keeps_to_its_limits_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_k, "MOST_BYTES", 5000)
    loaded = corpus_of(*(random_text(1000, i) for i in range(20)))
    assert len(choose_k.sample(loaded, SEED)) == 5
    assert any("5 of 20 documents were drawn" in note for note in choose_k.measure(loaded, SEED).notes)


def test_corpus_without_programs_makes_no_claim_about_them() -> None:
    outcome = choose_k.measure(corpus_of(random_text(2000, 1), random_text(2000, 2)), SEED)
    assert not any("p-match" in claim.name for claim in outcome.claims)
    assert any(note.startswith("no two programs") for note in outcome.notes)


ORIGINAL = b"def f(a, b):\n    c = a + b  # sum\n    return c * a\n"
RENAMED = b"def g(x, y):\n    z = x + y\n    return z * x\n"
CONFUSED = b"def g(x, y):\n    z = x + y\n    return z * y\n"


def shared(left: bytes, right: bytes, encode: programs.Encoding, suffix: str = ".py") -> int:
    """Count pairs (0 or 1) of two programs that have all tokens of the first as one k-gram in common."""
    read = programs.read([(f"left{suffix}", left), (f"right{suffix}", right)])
    return matches.count(*read.kgrams(int((read.owner == 0).sum()), encode)).pairs


def test_renamed_program_matches_parameterised_and_folded_only() -> None:
    ways = (programs.kept, programs.parameterised, programs.folded)
    assert [shared(ORIGINAL, RENAMED, way) for way in ways] == [0, 1, 1]


def test_inconsistent_renaming_matches_folded_only() -> None:
    assert [shared(ORIGINAL, CONFUSED, way) for way in (programs.parameterised, programs.folded)] == [0, 1]


def test_parameterised_match_is_a_one_to_one_renaming() -> None:
    assert shared(b"a b a;", b"x y x;", programs.parameterised, ".c") == 1
    assert shared(b"a b a;", b"x x x;", programs.parameterised, ".c") == 0


def test_occurrence_before_the_kgram_does_not_count() -> None:
    read = programs.read([("a.c", b"a = a + b"), ("b.c", b"c = d + e")])
    alike = [matches.count(*read.kgrams(k, programs.parameterised)).kgrams for k in (3, 4, 5)]
    assert alike == [2, 1, 0]


def test_kgrams_do_not_cross_programs() -> None:
    read = programs.read([("a.py", b"x = 1"), ("b.py", b"y = 2")])
    _, owners = read.kgrams(3, programs.kept)
    assert owners.tolist() == [0, 1]
    assert len(read.kgrams(9, programs.kept)[0]) == 0


def test_generic_lexer_drops_comments_and_knows_keywords() -> None:
    text = 'int main() { // start\n  return f("a // b", 0x1F); /* end\n */ }'
    spelled = programs.lexemes("main.java", text)
    assert " ".join(s for s, _ in spelled) == 'int main ( ) { return f ( "a // b" , 0x1F ) ; }'
    assert [s for s, is_identifier in spelled if is_identifier] == ["main", "f"]


def test_python_that_does_not_tokenise_is_read_by_the_generic_lexer() -> None:
    assert ("x", True) in programs.lexemes("broken.py", "x = (1\n  'unclosed")


@pytest.mark.parametrize(("name", "expected"), [("a.py", True), ("src/B.JAVA", True), ("a.txt", False), ("py", False)])
def test_programs_are_known_by_their_suffix(name: str, expected: bool) -> None:
    assert programs.is_program(name) is expected


def test_rolling_is_faster_than_from_scratch(outcomes: dict[str, Outcome]) -> None:
    assert all(claim.ours > 1 for claim in outcomes["rolling"].claims)


def test_rolling_repeats_a_short_corpus_to_be_timed() -> None:
    outcome = rolling.measure(corpus_of(random_text(1000, SEED)), SEED)
    assert outcome.parameters["bytes"] == rolling.BYTES
