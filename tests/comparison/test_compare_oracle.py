"""`compare` gives what its definition says: `oracles.compare` aligns every pair, and answers are equal to the digit.

Each of these changes of the product was tried, one at a time, and a test here fails with it: the halo halved; the
literals of one side left out of its bound; a tail of twice the cut-off; runs of t + 1 tokens searched; no tie-break by
equal text; ties by place turned round, on either side; next to no work allowed; the order of arguments for that of
names; the bound by runs at 0.7 of its value; clusters made of the listed pairs only. Of containment: bounds of the
larger side for those of the smaller; both bounds at 0.9 of their value; a tail that knows only the cut-off of scores;
pairs proposed by their larger side.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import frontends
from lookalike.comparison.result import File, Pair, Report
from oracles.compare import Answer, Handed, Source, compare
from support.answers import LEAST, LISTS, PHRASES, asked, cut_to, plain, product, programs
from support.programs import carrying_class
from support.submissions import SYNTAX, prose, statements, wrapped, write

CLASS = Path(la.__file__).parent / "demo" / "material" / "class"
#: A class in each language with a grammar: one program, the same changed in four ways, and another.
SAMPLES = Path(__file__).resolve().parents[2] / "crates" / "code" / "samples"


@st.composite
def letters(draw: st.DrawFn) -> str:
    """Draw a text of few different letters: at random, in runs, or with a period."""
    alphabet = draw(st.sampled_from(["ab", "abc", "abcdefgh"]))
    runs = st.lists(st.tuples(st.sampled_from(alphabet), st.integers(1, 12)), max_size=6)
    period = st.text(alphabet, min_size=1, max_size=4)
    return draw(
        st.one_of(
            st.text(alphabet, max_size=50),
            runs.map(lambda found: "".join(letter * n for letter, n in found)),
            st.tuples(period, st.integers(1, 12)).map(lambda found: found[0] * found[1]),
        )
    )


@st.composite
def classes(draw: st.DrawFn) -> list[Handed]:
    """Draw submissions that take stretches from each other; some of one person, some old, some of two files."""
    pieces = draw(st.lists(letters(), min_size=1, max_size=4))
    texts = st.lists(st.one_of(st.sampled_from(pieces), letters()), min_size=1, max_size=3).map("".join)
    files = st.lists(texts.map(lambda text: Source("text", text)), min_size=1, max_size=2).map(tuple)
    people = st.sampled_from([None, None, None, "ann", "bob"])
    handed = st.lists(st.tuples(files, people, st.sampled_from([False, False, True])), min_size=2, max_size=7)
    found = draw(handed)
    names = draw(st.permutations([f"s{i}" for i in range(len(found))]))
    return [Handed(name, *one) for name, one in zip(names, found, strict=True)]


def text(*pieces: str) -> Source:
    return Source("text", "".join(pieces))


TIES = [Handed("z", (text("abcabcab", "x", "abcab"),)), Handed("a", (text("abcab", "y", "abcabcab", "z", "bcabca"),))]


@given(
    classes(),
    st.integers(1, 4),
    st.integers(0, 5),
    st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
    st.tuples(st.sampled_from([0.0, 0.3, 0.6, 1.0]), st.sampled_from([0, 4, 12]), st.sampled_from([0, 9])),
    st.sampled_from([0, 3, 7, 15, 30]),
    st.sampled_from([None, 2, 3]),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
@example(TIES, 2, 3, 0.0, (0.0, 0, 0), 9, None, False)
def test_the_core_answers_what_the_oracle_does(
    handed: list[Handed],
    k: int,
    more: int,
    min_score: float,
    least: tuple[float, int, int],
    passage: int,
    max_sharing: int | None,
    with_template: bool,
):
    templates = handed[0].files[:1] if with_template else ()
    how = {"min_score": min_score, "max_sharing": max_sharing, "k": k, "t": k + more}
    how |= dict(zip(LEAST, least, strict=True)) | {"passages": {"text": passage} if passage else {}}
    assert product(handed, templates, **how) == asked(handed, templates, **how)


@pytest.mark.parametrize("language", SYNTAX)
@pytest.mark.parametrize(("min_score", "max_sharing"), [(0.0, None), (0.1, None), (0.3, 3)])
def test_programs_are_compared_as_the_oracle_does(language: str, min_score: float, max_sharing: int | None):
    for seed in (1, 2):
        handed = programs(language, seed)
        starter = (Source(language, wrapped(statements(seed, language, 6), language)),)
        for templates in ((), starter):
            how = {"min_score": min_score, "max_sharing": max_sharing, "k": 8, "t": 12}
            assert product(handed, templates, **how) == asked(handed, templates, **how)


@pytest.mark.parametrize("min_score", [0.0, 0.3, 0.5, 0.6])
def test_a_text_in_two_programs_proposes_them(min_score: float):
    """Nothing else is shared, so a bound that leaves out the texts of either side loses the pair."""
    bodies = {"b": "import os\nfor i in range(9):\n    print(i * 3 + 4)", "a": "def f(a, b):\n    return [a, b, {}]"}
    said = " ".join(PHRASES)
    handed = [Handed(name, (Source("python", f'{body}\nx = "{said}"\n'),)) for name, body in bodies.items()]
    how = {"min_score": min_score, "k": 8, "t": 12}
    found = asked(handed, **how)
    assert product(handed, **how) == found
    assert [0.5 < pair[2] < 0.6 for pair in found.pairs] == [True] * (min_score < 0.6)


def handed_of(report: Report, root: Path) -> list[Handed]:
    """Return what was compared, as the oracle takes it."""
    return [
        Handed(entry.name, tuple(source_of(file, root) for file in entry.files), entry.person, entry.old)
        for entry in report.entries
    ]


def source_of(file: File, root: Path) -> Source:
    """Return a file of a class; of one with pages or cells, the stretches that its front end reads."""
    if not file.format:
        return Source(file.language, file.text)
    [path] = root.rglob(file.name)
    parts = frontends.read(file.name, path.read_bytes()).parts
    return Source(file.language, file.text, tuple((part.language, part.start, part.end) for part in parts))


def answer_of(report: Report) -> Answer:
    """Return a report as the oracle answers."""
    clusters = [(one.representative, list(zip(one.members, one.scores, strict=True))[1:]) for one in report.clusters]
    groups = [list(members) for members in report.groups]
    main, inside, few, apart = (list(map(told, getattr(report, name))) for name in LISTS)
    counts = report.pair_count, report.below, list(report.histogram), clusters, groups
    more = inside, report.contained_count, few, report.little_count, apart, report.shared_count
    return Answer(main, *counts, *more)  # type: ignore[arg-type]


def told(pair: Pair) -> tuple[object, ...]:
    passages = [(tuple(passage.left), tuple(passage.right), *passage[2:]) for passage in pair.passages]
    return (
        *(pair.left, pair.right, pair.score, (pair.left_coverage, pair.right_coverage)),
        *(pair.matched_tokens, pair.longest, passages, pair.stands_for, pair.contained, pair.matched_bits),
        *(pair.score_whole, pair.score_reachable, pair.strongest_bits, [tuple(gap) for gap in pair.gaps]),
    )


@pytest.mark.parametrize("min_score", [0.0, 0.1, 0.4])
def test_the_class_of_the_demo_is_compared_as_the_oracle_does(min_score: float):
    """Programs in three languages, a notebook and essays, one of them a PDF, from folder to report."""
    report = la.compare(CLASS, min_score=min_score)
    assert {file.format for entry in report.entries for file in entry.files} == {"", "notebook", "pdf"}
    found = compare(handed_of(report, CLASS), min_score=min_score)
    assert len(found.pairs) > 2
    assert answer_of(report) == plain(found)


@pytest.mark.parametrize("language", sorted(path.name for path in SAMPLES.iterdir()))
def test_a_class_in_each_grammar_is_compared_as_the_oracle_does(language: str):
    report = la.compare(SAMPLES / language, layout="flat", min_score=0.0)
    found = compare(handed_of(report, SAMPLES / language), min_score=0.0)
    assert len(found.pairs) > 5
    assert answer_of(report) == plain(found)


def lines_of(handed: Sequence[Handed], found: Answer) -> set[tuple[object, ...]]:
    """Return the pairs of an answer by name."""
    return {
        (handed[pair[0]].name, handed[pair[1]].name, *pair[2:6], str(pair[6]), *pair[7:-1], str(pair[-1]), name)
        for name in LISTS
        for pair in getattr(found, name)
    }


def test_a_higher_cut_off_only_leaves_pairs_out():
    handed = programs("java", 5)
    every = lines_of(handed, product(handed, k=8, t=12))
    assert len({line[2] for line in every}) > 9
    for cut in (0.05, 0.1, 0.2, 0.35, 0.5, 0.8):
        found = lines_of(handed, product(handed, k=8, t=12, min_score=cut))
        assert found == {line for line in every if line[2] >= cut or line[-1] == "contained"}  # type: ignore[operator]


@given(classes(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_submissions_changes_nothing(handed: list[Handed], draw: random.Random):
    turned = draw.sample(handed, len(handed))
    one, other = product(handed), product(turned, rows=1)
    assert lines_of(handed, one) == lines_of(turned, other)
    assert one[1:4] == other[1:4]
    assert (one.contained_count, one.little_count) == (other.contained_count, other.little_count)
    named = [
        [(people[leader].name, [(people[i].name, score) for i, score in members]) for leader, members in found.clusters]
        for people, found in ((handed, one), (turned, other))
    ]
    assert named[0] == named[1]


def test_a_short_list_changes_neither_counts_nor_clusters():
    handed = programs("python", 3)
    every = asked(handed, k=8, t=12, cluster_threshold=0.1)
    assert len(every.pairs) > 9
    assert sum(len(members) for _, members in every.clusters) > 3
    for most, rows in ((2, 3), (2, 1), (0, 9), (5, 9)):
        short = product(handed, k=8, t=12, cluster_threshold=0.1, max_pairs=most, rows=rows)
        assert short == cut_to(every, most)


def uneven(seed: int) -> list[Handed]:
    """Write programs of which some stand in much longer ones, whole or in part, and some are very short."""
    draw = random.Random(seed)
    small = [statements(seed + i, "python", 6) for i in range(4)]
    handed = [Handed(f"m{i}", (Source("python", wrapped(lines, "python")),)) for i, lines in enumerate(small)]
    for i in range(4):
        rest = [line for n in range(5) for line in statements(seed + 100 + 10 * i + n, "python", 8)]
        taken = small[i] if i % 2 else small[i][:4]
        handed.append(Handed(f"{'az'[i % 2]}{i}", (Source("python", wrapped([*rest, *taken], "python")),)))
    handed += [Handed(f"s{i}", (Source("python", "import os\nprint(os.getcwd())\n"),)) for i in range(2)]
    draw.shuffle(handed)
    return handed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_contained_and_short_programs_are_listed_as_the_oracle_does(seed: int):
    handed = uneven(seed)
    how = {"k": 8, "t": 12, "min_evidence": 18, "min_bits": 20}
    every = asked(handed, min_score=0.0, **how)
    assert every.contained
    assert every.little
    for min_score in (0.0, 0.25, 0.6, 1.0):
        for min_contained in (0.0, 0.5, 0.8, 1.0):
            least = {"min_score": min_score, "min_contained": min_contained}
            assert product(handed, **how, **least) == asked(handed, **how, **least)


def test_no_cut_off_of_scores_changes_the_list_of_contained_pairs():
    handed = uneven(4)
    found = [product(handed, k=8, t=12, min_score=score).contained for score in (0.0, 0.25, 0.7, 1.0)]
    assert found[0]
    assert all(one == found[0] for one in found)


def test_neither_threads_nor_a_short_list_change_what_is_listed_apart():
    handed = uneven(5)
    how = {"k": 8, "t": 12, "min_evidence": 18, "min_contained": 0.3}
    every = asked(handed, **how)
    assert len(every.contained) > 2
    for most, rows in ((9, 1), (9, 2), (1, 3), (2, 9)):
        assert product(handed, max_pairs=most, rows=rows, **how) == cut_to(every, most)


def test_more_than_32_identical_submissions_are_one_row():
    same = text("the tide went out and did not come back that year")
    near = text("the tide went out and did not come back that day")
    handed = [Handed(f"s{i:02}", (same,), "ann" if i in (0, 1) else None, i in (3, 4)) for i in range(40)]
    handed += [Handed("s055", (near,)), Handed("a", (near,), "ann"), Handed("z", (text("nobody else wrote this"),))]
    found = product(handed, k=5, t=8)
    assert found == asked(handed, k=5, t=8)
    assert [pair[7] for pair in found.pairs] == [1, 40 * 39 // 2 - 2, 78]
    assert len(found.clusters[0][1]) == 41


def test_a_pair_that_reached_a_limit_of_work_is_marked(tmp_path: Path):
    numbers = ["\n".join(f"{{{i}, {seed}}}," for i in range(6000)) for seed in (1, 2)]
    files = {f"{i}.c": f"int t[][2] = {{\n{rows}\n}};\n" + "int a;\n" * i for i, rows in enumerate(numbers)}
    report = la.compare(write(tmp_path / "in", files))
    assert [(pair.limited, pair.score > 0.7) for pair in report.pairs] == [(True, True)]
    assert any("reached a limit of work" in remark.reason for remark in report.warnings)
    la.write_report(report, tmp_path / "out")
    assert (tmp_path / "out" / "pairs.csv").read_text("utf-8").splitlines()[1].split(",")[8:10] == ["1", "1"]


def test_a_hot_passage_at_most_doubles_the_alignments(tmp_path: Path):
    """A passage of the whole class proposes nobody: what it weighs is less than the cut-off."""
    own = {f"{i:03}.txt": prose(i, 60) + prose(1000 + i // 3, 25) for i in range(150)}
    hot = {name: said + prose(7, 60) for name, said in own.items()}
    few, many = (la.compare(write(tmp_path / name, files)) for name, files in (("few", own), ("many", hot)))
    assert few.aligned >= 140
    assert many.aligned <= 2 * few.aligned
    assert many.pair_count >= 150


def test_code_that_cannot_run_is_weighed_as_the_oracle_says() -> None:
    better = 0
    for seed in range(12):
        chance = random.Random(seed)
        texts = carrying_class(chance, chance.randint(2, 7))
        handed = [Handed(f"s{i}", (Source("java", text),)) for i, text in enumerate(texts)]
        shared = [Source("java", carrying_class(chance, 1)[0])] if seed % 4 == 3 else []
        for cut in (0.0, 0.2, 0.5, 0.8):
            found = product(handed, shared, min_score=cut, k=4, t=8)
            assert found == asked(handed, shared, min_score=cut, k=4, t=8), f"seed {seed}, cut-off {cut}"
            scores = [pair[-4:-2] for pair in found.pairs]  # type: ignore[index]
            better += sum(reachable is not None and reachable > whole for whole, reachable in scores)
    assert better > 30
