"""`index upgrade` reads stored texts again: then an old index is one of this version, wherever it was cut off."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive.parameters import Parameters, versions
from lookalike.archive.signing import SignedDocument, sign_batches
from lookalike.archive.store import Index
from lookalike.archive.writing import Signed
from support.submissions import run
from tests.support.archives import TINY, answers, fast_folder
from tests.support.kinds import Kind, asked_about, corpus, fresh_view, school

#: Segments of few documents, which are not merged.
MANY = replace(TINY, tail_documents=2, fan_in=99)
#: A lexed language, a notebook of two languages and a submission of two files, beside what the kinds have.
MORE = {
    "sum.jl": "function total(xs)\n  s = 0\n  for x in xs\n    s += x * x\n  end\n  return s\nend\n" * 2,
    "both.ipynb": '{"cells": [{"cell_type": "code", "metadata": {}, "source": "def add(a, b):\\n    return a + b\\n"},'
    ' {"cell_type": "markdown", "metadata": {}, "source": "A text about adding numbers, in words only."}],'
    ' "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}',
    "two/a.java": "class A { int f(int x) { return x * x + 1; } }\n",
    "two/b.txt": "some words that are no code at all, é and ñ and 日本 included",
}


def of_class(kind: Kind, place: Path, **reading: int) -> list[SignedDocument]:
    """Sign submissions of several languages, with the thresholds of the kind or with others."""
    for name, text in MORE.items():
        path = place / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    thresholds = Parameters.of("class", **reading).thresholds if reading else kind.parameters.thresholds
    parameters = replace(kind.parameters, **reading, thresholds=thresholds)
    batches = list(sign_batches([place / "class"], parameters, threads=1))
    unchanged = [one.signed for (_, number), one in kind.documents.items() if number == 1]
    return [*(one for batch in batches for one in batch.documents), *unchanged]


def outdated(kind: Kind, path: Path, made: Sequence[Signed], **older: int) -> Index:
    """Return an index whose parameters say that another version made some of its keys, in several segments."""
    told = replace(kind.parameters, versions={**versions(), **older})
    index = Index._create(path, told, MANY)
    for at in range(0, len(made), 3):
        index._add_records(made[at : at + 3])
    return index


def rows(kind: Kind, other: Parameters) -> tuple[list[SignedDocument], list[SignedDocument]]:
    """Return rows as this version signs them, and as another one did."""
    texts = [(f"d{at}", text) for at, (text, _) in enumerate([*kind.asked, *kind.asked])]
    new, old = (
        [one for batch in sign_batches(texts, how, threads=1) for one in batch.documents]
        for how in (kind.parameters, other)
    )
    return new, old


def check_equal(index: Index, kind: Kind, new: list[SignedDocument]) -> None:
    """Compare everything that an index holds and answers with a fresh one of these documents."""
    view, fresh = index.snapshot(), fresh_view(kind, [record for _, _, record in new])
    ids, contents = [id_ for id_, _, _ in new], [content for _, content, _ in new]
    assert answers(view, ids, contents) == answers(fresh, ids, contents)
    for asked in kind.asked:
        assert asked_about(view, *asked) == asked_about(fresh, *asked)
    assert not any(one.is_damage for one in index.check())
    assert index.parameters.versions == versions()


def test_submissions_of_every_sort_are_read_again(tmp_path: Path):
    kind = school()
    new, old = of_class(kind, tmp_path), of_class(kind, tmp_path, k=6, t=9)
    assert [one[:2] for one in new] == [one[:2] for one in old]
    assert sum(one != other for one, other in zip(new, old, strict=True)) == len(MORE) - 1
    with outdated(kind, tmp_path / "index", old, code=versions()["code"] - 1) as index:
        index.remove(old[1][0].decode())
        del new[1]
        with pytest.raises(la.VersionError, match="every language but text"):
            index.query("x = 1", name="a.py")
        # What needs no tokens of code is answered.
        index.query("x = 1", name="a.py", question=["identical", "resemblance", "distance"])
        assert index.upgrade().documents == len(new)
        check_equal(index, kind, new)
        assert str(index.upgrade()) == "the index is up to date"


def test_a_comparison_and_the_command_line_refuse_an_outdated_index(tmp_path: Path):
    kind = school()
    outdated(kind, tmp_path / "index", of_class(kind, tmp_path), code=1).close()
    with pytest.raises(la.VersionError, match="index upgrade"):
        la.compare(tmp_path / "class", index=tmp_path / "index")
    (tmp_path / "a.py").write_text("x = 1\n")
    refused = run("query", tmp_path / "index", tmp_path / "a.py")
    assert refused.code == 6
    assert "code 1 (this version makes" in refused.err
    done = run("index", "upgrade", tmp_path / "index")
    assert (done.code, done.err) == (0, "13 documents read again\n")
    assert run("query", tmp_path / "index", tmp_path / "a.py").code == 0


@pytest.mark.parametrize("older", ["text", "shingle", "sketch", "simhash"])
def test_rows_are_read_again(tmp_path: Path, older: str):
    kind = corpus()
    new, old = rows(kind, replace(kind.parameters, thresholds={"text": (6, 9), "code": (6, 9)}))
    with outdated(kind, tmp_path / "index", old, **{older: 0}) as index:
        asked = kind.asked[2][0]
        refused = [one for one in ("identical", "passages", "resemblance", "containment", "distance")
                   if refuses(lambda one=one: index.query(asked, question=[one]))]  # fmt: skip
        expected = {"text": ["passages", "resemblance", "containment", "distance"], "simhash": ["distance"]}
        assert refused == expected.get(older, ["resemblance", "containment"])
        assert refuses(lambda: index.add(["more"]))
        assert index.upgrade().documents == len(new)
        check_equal(index, kind, new)


def refuses(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except la.VersionError:
        return True
    return False


def test_an_older_index_that_names_fewer_versions_has_version_1_of_the_others(tmp_path: Path):
    kind = corpus()
    told = {"index": 1, "text": versions()["text"], "code": versions()["code"]}
    with Index._create(tmp_path / "index", replace(kind.parameters, versions=told), TINY) as index:
        assert index.parameters.versions == {**versions(), "shingle": 1, "sketch": 1, "simhash": 1}
        assert index.add([("a", "some text")]).added == 1


CHILD = """
import os, signal, sys
from lookalike.archive.catalogue import Catalogue
from tests.support.archives import reopen
left, real = int(sys.argv[2]), Catalogue.apply
def apply(*given):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return real(*given)
with reopen(sys.argv[1]) as index:
    Catalogue.apply = apply
    print(index.upgrade().documents)
"""


@pytest.mark.parametrize("of", ["corpus", "class"])
def test_an_upgrade_that_is_killed_anywhere_goes_on(of: str, tmp_path: Path):
    kind = corpus() if of == "corpus" else school()
    if of == "corpus":
        new, old = rows(kind, replace(kind.parameters, thresholds={"text": (6, 9), "code": (6, 9)}))
    else:
        new, old = of_class(kind, tmp_path), of_class(kind, tmp_path, k=6, t=9)
    with fast_folder() as place:
        outdated(kind, place / "index", old, text=1).close()
        halves = 0
        for commits in range(2, 99):
            done = subprocess.run([sys.executable, "-c", CHILD, place / "index", str(commits)], capture_output=True)
            if done.returncode == 0:
                break
            assert done.returncode == -signal.SIGKILL, done.stderr.decode()
            with Index(place / "index") as half:
                # It is up to date after the last segment, and before segments are merged.
                assert refuses(lambda half=half: half.seen("some text")) == bool(half.parameters.outdated())
                assert len(half) == len(new)
                halves += bool(half.parameters.outdated())
        assert halves > 1
        assert int(done.stdout) < len(new), "what was done before is not done again"
        with Index._open(place / "index", TINY, write=True) as index:
            check_equal(index, kind, new)


def test_a_catalogue_that_is_lost_in_the_middle_of_an_upgrade_is_made_again(tmp_path: Path):
    kind = corpus()
    new, old = rows(kind, replace(kind.parameters, thresholds={"text": (6, 9), "code": (6, 9)}))
    outdated(kind, tmp_path / "index", old, text=1).close()
    child = subprocess.run([sys.executable, "-c", CHILD, tmp_path / "index", "3"], capture_output=True)
    assert child.returncode == -signal.SIGKILL
    os.unlink(tmp_path / "index" / "catalog.sqlite")
    assert la.Index.repair(tmp_path / "index").lost == []
    with Index._open(tmp_path / "index", TINY, write=True) as index:
        there = {one.id for one in index.documents()}
        assert refuses(lambda: index.seen("some text"))
        assert index.upgrade().documents > 0
        check_equal(index, kind, [one for one in new if one[0].decode() in there])


def test_what_keeps_no_texts_or_is_newer_is_refused(tmp_path: Path):
    kind = corpus()
    for name, changed, older, told in (
        ("bare", {"texts": False}, 1, "keeps no texts"),
        ("newer", {}, versions()["text"] + 1, "newer version"),
    ):
        made = replace(kind.parameters, versions={**versions(), "text": older}, **changed)  # type: ignore[arg-type]
        with (
            Index._create(tmp_path / name, made, TINY) as index,
            pytest.raises((la.ParameterError, la.VersionError), match=f"{name}.*{told}"),
        ):
            index.upgrade()


def with_a_shadow(kind: Kind) -> list[Signed]:
    """Return a document and a row that dedup removed for it."""
    return [one.signed for (id_, number), one in kind.documents.items() if number == 3 and id_ in ("d0", "s0")]


@pytest.mark.parametrize("older", ["sketch", "simhash", "text"])
def test_removed_rows_whose_keys_are_old_are_told(tmp_path: Path, older: str):
    kind = corpus()
    with outdated(kind, tmp_path / "index", with_a_shadow(kind), **{older: 0}) as index:
        done = index.upgrade()
        assert (done.documents, done.shadows, done.shadows_because) == (1, 1, [older])
        assert (
            f"1 row that dedup had removed forgotten: it has no text, and another version made its keys ({older})"
            in (str(done))
        )
        assert [one.id for one in index.documents()] == ["d0"]


@pytest.mark.parametrize(
    ("questions", "older"),
    [(("containment", "distance"), "shingle"), (("containment", "distance"), "sketch"), (("passages",), "text")],
)
def test_removed_rows_whose_keys_are_up_to_date_stay(tmp_path: Path, questions: tuple[str, ...], older: str):
    """Only keys for resemblance and distance are kept of such a row; the content hash needs no version."""
    kind = corpus()
    kind = replace(kind, parameters=replace(kind.parameters, questions=questions))
    stored = with_a_shadow(kind)
    with outdated(kind, tmp_path / "index", stored, **{older: 0}) as index:
        before = [(row.id, row.flags, row.leader, row.content, row.time) for _, row in index.snapshot().every_row()]
        done = index.upgrade()
        assert (done.documents, done.shadows, str(done)) == (1, 0, "1 document read again")
        after = [(row.id, row.flags, row.leader, row.content, row.time) for _, row in index.snapshot().every_row()]
        assert after == before
        assert index.snapshot().core.shadows == 1
        assert index.check() == []
