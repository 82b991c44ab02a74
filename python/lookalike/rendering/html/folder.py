"""Writes a report as a folder of files. The folder appears complete or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lookalike import params
from lookalike.comparison.result import Report
from lookalike.engines.writing import writing
from lookalike.errors import ParameterError
from lookalike.rendering import comparison_tables
from lookalike.rendering.html.overview import overview
from lookalike.rendering.html.pages import Pages, Put, make_pages
from lookalike.rendering.html.sides import MarksOf
from lookalike.rendering.safe import visible

OVERVIEW, JSON = "report.html", "report.json"


class Written(NamedTuple):
    """The written report, and what was left out of it."""

    folder: Path
    #: The report as it was written: with codes for names if it is anonymous.
    report: Report
    #: The page to open.
    overview: Path
    #: Pages of pairs that are files of their own.
    pages: int
    bytes: int
    #: One sentence for each list that was cut.
    left_out: tuple[str, ...]
    #: Private files next to the folder with the names behind the codes; only for an anonymous report.
    secrets: tuple[Path, ...] = ()


def write_report(
    report: Report,
    out: str | os.PathLike[str],
    *,
    top: int = params.TOP.default,
    max_passages: int = params.MAX_PASSAGES.default,
    max_size: int | None = None,
    anonymise: bool = False,
    overwrite: bool = False,
) -> Written:
    """Write a report into a new folder, or with ``overwrite`` in place of an earlier report.

    Everything is written beside it first and renamed at the end, so that an interrupt or an error leaves nothing.

    :param report: The result of ``compare``.
    :param out: The folder to write.
    :param top: Pairs with a page of their own, 0 for all; the others open in one page.
    :param max_passages: Most passages in the tables; 0 for all.
    :param max_size: Most bytes of all pages of pairs; 0 for no limit. Default: 40 MB, no limit with ``top=0``.
    :param anonymise: Use codes in place of names; the names are written beside the folder.
    :param overwrite: Replace an earlier report.
    :returns: The folder, the page to open, and what was left out.
    :raises ParameterError: The folder exists, and is no report or may not be replaced.
    :raises OSError: A file cannot be written.

    >>> import tempfile, lookalike as la
    >>> report = la.compare({"ann": la.Tokens(range(40)), "bob": la.Tokens(range(40))})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(report, f"{folder}/report").overview.name
    'report.html'
    """
    extent = Extent.new(top, max_passages, max_size)
    return write(report, Path(out), extent, anonymise=anonymise, overwrite=overwrite)


class Extent(NamedTuple):
    """How much of a report is written."""

    #: Pairs with a page of their own, passages in the tables, bytes of all pages; 0 for no limit.
    top: int
    passages: int
    size: int

    @classmethod
    def new(
        cls,
        top: int = params.TOP.default,
        max_passages: int = params.MAX_PASSAGES.default,
        max_size: int | None = None,
    ) -> Extent:
        """Fill in the defaults: who asks for all pages gets them."""
        usual = params.PAGE_BYTES if top else 0
        return cls(top, max_passages, usual if max_size is None else max_size)


def write(
    report: Report,
    out: Path,
    extent: Extent | None = None,
    *,
    anonymise: bool = False,
    marks: MarksOf | None = None,
    overwrite: bool = False,
) -> Written:
    """Write a report as ``write_report`` does; ``marks`` colour files, and are those of the report by default."""
    names = out.with_name(out.name + "-names")
    marks, extent = marks or report.marks, extent or Extent.new()
    check_out(out, overwrite)
    secrets = None
    if anonymise:
        from lookalike.rendering.anonymous import Secrets, anonymised

        _check_free(names, Secrets.is_kept_in, "key to a report", overwrite=overwrite)
        secrets = Secrets.kept_in(names) if names.exists() else Secrets.new()
        report, marks = anonymised(report, marks, secrets)
    with writing(out, lambda: _needed(report, extent, marks)), _workshop(out) as shop:
        draft = shop / "report"
        (draft / "pairs").mkdir(parents=True)
        pages, left_out = _make_files(report, lambda name, data: _write(draft / name, data), extent, marks)
        moves = [(draft, out)]
        if secrets is not None:
            moves.insert(0, (secrets.write(shop / "names"), names))
        size = sum(path.stat().st_size for path in draft.rglob("*") if path.is_file())
        _put(moves, shop)
    kept = tuple(names / name for name in secrets.FILES) if secrets is not None else ()
    return Written(out, report, out / OVERVIEW, pages.files, size, tuple(left_out), kept)


@contextmanager
def drafted(out: Path, *, overwrite: bool) -> Iterator[Path]:
    """Make a folder for a report, and rename it to ``out`` at the end. An error leaves nothing."""
    check_out(out, overwrite)
    with writing(out), _workshop(out) as shop:
        draft = shop / "report"
        draft.mkdir()
        yield draft
        _put([(draft, out)], shop)


def check_out(out: Path, overwrite: bool) -> None:
    """Refuse an ``out`` that cannot be written; call it before the work, too. Errors: ``ParameterError``."""
    _check_free(out, _is_report, "report", overwrite=overwrite)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _needed(report: Report, extent: Extent, marks: MarksOf) -> int:
    """Return the bytes of all files, by making them again: a disk that is full cannot tell."""
    sizes: list[int] = []
    _make_files(report, lambda _, data: sizes.append(len(data)), extent, marks)
    return sum(sizes)


def _make_files(report: Report, put: Put, extent: Extent, marks: MarksOf) -> tuple[Pages, list[str]]:
    """Make all files; return the pages and what was left out."""
    shown = [visible(entry.name) for entry in report.entries]
    pages = make_pages(report, shown, marks, extent.top, extent.size, put)
    left_out = [*pages.left_out, *comparison_tables.cut_lists(report, extent.passages)]
    texts = {
        OVERVIEW: overview(report, shown, pages.addresses, left_out),
        JSON: comparison_tables.report_json(report, pages.addresses, left_out, extent.passages),
        "pairs.csv": comparison_tables.pairs_csv(report),
        "passages.csv": comparison_tables.passages_csv(report, extent.passages),
        "sections.csv": comparison_tables.sections_csv(report),
        "clusters.csv": comparison_tables.clusters_csv(report),
    }
    for name, text in texts.items():
        put(name, text.encode())
    return pages, left_out


def _is_report(folder: Path) -> bool:
    """Return whether a folder is a report that lookalike wrote."""
    try:
        with (folder / JSON).open("rb") as file:
            return comparison_tables.is_ours(file.read(200))
    except OSError:
        return False


def _check_free(folder: Path, is_ours: Callable[[Path], bool], what: str, *, overwrite: bool) -> None:
    """Refuse a folder that exists, unless it is empty, or ours and may be replaced. Errors: ``ParameterError``."""
    if not os.path.lexists(folder) or (folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir())):
        return
    if not is_ours(folder) or folder.is_symlink():
        raise ParameterError(
            f"out `{visible(str(folder))}` exists and is not a {what} of lookalike: use another folder"
        )
    if not overwrite:
        raise ParameterError(
            f"out `{visible(str(folder))}` exists: use another folder, or overwrite=True to replace it"
        )


@contextmanager
def _workshop(out: Path) -> Iterator[Path]:
    """Make a hidden folder next to ``out``, and the folders above it; remove the hidden one at the end."""
    out.parent.mkdir(parents=True, exist_ok=True)
    shop = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        yield shop
    finally:
        shutil.rmtree(shop, ignore_errors=True)


def _put(moves: list[tuple[Path, Path]], shop: Path) -> None:
    """Rename all drafts into place, or none; the files they replace are moved to the workshop."""
    done: list[tuple[Path, Path | None]] = []
    try:
        for i, (draft, place) in enumerate(moves):
            old = None
            if os.path.lexists(place):
                old = shop / f"old-{i}"
                place.rename(old)
            done.append((place, old))
            draft.rename(place)
    except BaseException:
        for place, old in reversed(done):
            if os.path.lexists(place):
                shutil.rmtree(place)
            if old is not None:
                old.rename(place)
        raise
