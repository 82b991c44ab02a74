"""Paths → submissions: finds the submissions in what ``compare`` is given, and names each uniquely."""

from __future__ import annotations

import bisect
import os
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from lookalike.documents import layouts, understanding
from lookalike.documents.archives import has_archive_name, stem
from lookalike.documents.gathering import Gathering, Run
from lookalike.documents.info import INFO, Row, parse
from lookalike.documents.intake import Document, Intake, Limits, Submission, distinct, in_order
from lookalike.documents.layouts import LAYOUTS, Owner
from lookalike.documents.patterns import Choice
from lookalike.documents.reasons import RefusedError
from lookalike.documents.targets import targets
from lookalike.errors import ParameterError

DEFAULT_LIMITS = Limits()
#: Takes names of submissions, and returns for each what else has a submission of this name.
Taken: TypeAlias = Callable[[Sequence[str]], list[set[str]]]


def collect(
    paths: Iterable[str | os.PathLike[str]],
    *,
    by_directory: bool | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    old: Iterable[str | os.PathLike[str]] = (),
    templates: Iterable[str | os.PathLike[str]] = (),
    layout: str = "auto",
    follow_links: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int], None] | None = None,
    taken: Taken | None = None,
) -> Intake:
    """Read submissions from folders, files, archives and glob patterns.

    ``progress`` is called with the number of files read so far. ``taken`` is called with the names of submissions and
    says where else, outside these paths, each name is found: as if roots of these titles had been given.

    A single path is a root: each folder, archive and loose file in it is a submission. With several paths, a folder
    that holds files is a submission, and a folder of folders is a root; with ``by_directory`` each folder is one
    submission, and so are the files given from one folder. Any other file is a submission, archives included, unless it
    has an ``info.csv`` or the names of a learning platform. ``understood`` of the result says which it was.
    Each path in ``old`` is read in the same way, on its own. Errors: ``FileNotFoundError``, ``ParameterError``.
    """
    layout = _layout(layout, by_directory)
    run = Run(Choice(include, exclude), limits, follow_links, progress)
    given = targets(paths, run.skip)
    several = len(given) > 1
    found = [_read(run, root, layout, is_told=several) for root in _roots(given, layout, several=several)]
    roots_old = _roots(targets(old, run.skip), layout, several=False)
    found_old = [_read(run, root, layout, is_told=True) for root in roots_old]
    starters = [(_name(path), _template(run, path)) for path in targets(templates, run.skip)]
    submissions = [(one.prefix, each) for one in found for each in one.submissions]
    submissions += [(one.prefix, replace(each, old=True)) for one in found_old for each in one.submissions]
    marked = [one.templates for one in found + found_old]
    named, order = _named(submissions, taken)
    return Intake(
        named,
        tuple(
            sorted(
                (one for ones in [*(ones for _, ones in starters), *marked] for one in ones),
                key=lambda one: in_order(one.name),
            )
        ),
        tuple(sorted(run.skipped + run.choice.summary(), key=lambda row: (in_order(row.name), row.reason))),
        understanding.of_several(one.kind for one in found) if several else "".join(one.understood for one in found),
        tuple(sorted((name for one in found + found_old for name in one.bare), key=in_order)),
        tuple(name for name, ones in starters if not any(one.data.strip() for one in ones)),
        tuple(submissions),
        order,
    )


def _layout(layout: str, by_directory: bool | None) -> str:
    if layout not in LAYOUTS:
        raise ParameterError(f"layout `{layout}` is not known: use one of {', '.join(LAYOUTS)}")
    if by_directory is None:
        return layout
    asked = "dirs" if by_directory else "flat"
    if layout not in ("auto", asked):
        raise ParameterError(f"layout `{layout}` and by-directory contradict each other: give one of them")
    return asked


@dataclass(frozen=True, slots=True)
class _Root:
    """One folder or file, or the files of one folder."""

    paths: tuple[str, ...]
    #: Prefix for submission names that are not unique by themselves.
    title: str
    #: Whether several roots were given.
    is_one_of_several: bool
    #: Whether the whole root is one submission.
    is_submission: bool = False

    @property
    def is_folder(self) -> bool:
        return os.path.isdir(self.paths[0])

    @property
    def name(self) -> str:
        return _name(self.paths[0])


def _name(path: str) -> str:
    return os.path.basename(os.path.abspath(path))


def _roots(paths: Sequence[str], layout: str, *, several: bool) -> list[_Root]:
    roots = []
    by_folder = defaultdict(list)
    for path in paths:
        parent = os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path):
            roots.append(_Root((path,), _name(path), several, several and layout == "dirs"))
        elif layout == "dirs" and len(paths) > 1 and not has_archive_name(path):
            by_folder[parent].append(path)
        else:
            title = _name(path) if has_archive_name(path) else _name(parent)
            roots.append(_Root((path,), title, several, several and has_archive_name(path)))
    return roots + [_Root(tuple(files), _name(folder), True, True) for folder, files in by_folder.items()]


def _gather(run: Run, root: _Root, label: str) -> Gathering:
    gathering = Gathering(run, label)
    if not root.is_folder:
        for path in root.paths:
            gathering.take_file(path)
    elif not root.is_one_of_several or run.choice.enters(root.name):
        gathering.take_folder(root.paths[0])
    names = distinct(document.name for document in gathering.documents)
    gathering.documents = [Document(name, one.data) for name, one in zip(names, gathering.documents, strict=True)]
    return gathering


def _template(run: Run, path: str) -> list[Document]:
    root = _Root((path,), _name(path), False)
    gathering = _gather(run, root, root.title if root.is_folder or has_archive_name(path) else "")
    below = f"{root.title}/" if root.is_folder or gathering.is_archive else ""
    return [Document(below + one.name, one.data) for one in gathering.documents]


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read from a root."""

    root: _Root
    submissions: list[Submission]
    #: The templates that its ``info.csv`` marks.
    templates: list[Document]
    #: What the root was taken for, by the names of ``understanding.KINDS``, and how in words.
    kind: str
    understood: str
    #: Folders and archives that would be submissions, but hold no file that is read.
    bare: tuple[str, ...] = ()

    @property
    def prefix(self) -> str:
        """The prefix for names that are not unique: the root, or its folder if the root itself is a submission."""
        is_one = self.kind in ("folder", "project", "whole folder", "archive")
        return _name(os.path.dirname(os.path.abspath(self.root.paths[0]))) if is_one else self.root.title


def _read(run: Run, root: _Root, layout: str, *, is_told: bool) -> _Found:
    """Read a root. With ``is_told``, names of skipped files begin with the name of the root."""
    holds_many = root.is_folder or has_archive_name(root.paths[0])
    label = root.title if is_told and holds_many else ""
    gathering = _gather(run, root, label)
    below = _wrapper(gathering) if gathering.is_archive else ""
    documents = [Document(one.name.removeprefix(below), one.data) for one in gathering.documents]
    archives = frozenset(path.removeprefix(below) for path in gathering.archives)
    rows: list[Row] = []
    info = gathering.infos.get(below + INFO) if holds_many else None
    if info is not None:
        documents = [one for one in documents if one.name != INFO]
        rows = _rows(run, info, [one.name for one in documents], f"{label}/{below}{INFO}".lstrip("/"))
    marked = {row.path for row in rows if row.is_template}
    starters = [one for one in documents if one.name in marked]
    documents = [one for one in documents if one.name not in marked]
    rows = [row for row in rows if not row.is_template]
    if documents and not rows and _is_submission(root, documents, layout):
        return _one(root, documents, starters, layout)
    by = INFO if rows else layouts.recognise(one.name for one in documents) or layout if layout == "auto" else layout
    understood = understanding.of_root(root.name, [one.name for one in documents], archives, by) if documents else ""
    kind = "flat" if by == "flat" else "class" if root.is_folder else "packed"
    if not holds_many:
        kind, understood = "file", f"`{root.name}` is a submission"
    bare = tuple(_bare(run, root, gathering, below, layout, label))
    kind = "" if bare == (root.title,) else kind
    return _Found(root, layouts.group(documents, archives, layout, rows), starters, kind, understood, bare)


def _bare(run: Run, root: _Root, gathering: Gathering, below: str, layout: str, label: str) -> Iterator[str]:
    """Yield the folders and archives that would be submissions, but hold no file that is read."""
    if not gathering.documents:
        if root.is_one_of_several and root.is_folder and not run.choice.barred(root.name):
            yield root.title
        if root.is_one_of_several or root.is_submission:
            return
    met = (path.removeprefix(below) for path in gathering.folders | gathering.archives if path.startswith(below))
    tops = {path.partition("/")[0] for path in met} - {""}
    told = {row.name for row in run.skipped}
    documents = [Document(one.name.removeprefix(below), one.data) for one in gathering.documents]
    archives = frozenset(path.removeprefix(below) for path in gathering.archives)
    wanted = [top for top in tops if not run.choice.barred(top) and not {top, f"{label}/{top}"} & told]
    for name in layouts.without_files(wanted, documents, archives, layout):
        yield f"{label}/{name}" if label else name


def _one(root: _Root, documents: list[Document], starters: list[Document], layout: str) -> _Found:
    """Make one submission of a root."""
    title = _title(root)
    owner = layouts.moodle(title) if layout == "auto" else None
    made = layouts.submission(owner[0] if owner else Owner(("root", ""), title, known_as=title), documents)
    kind = "archive" if not root.is_folder else "whole folder" if layout == "dirs" else "folder"
    if kind == "folder" and all("/" in one.name for one in documents):
        kind = "project"
    if len(root.paths) > 1 or not (root.is_folder or has_archive_name(root.paths[0])):
        kind = "files"
    return _Found(root, [made], starters, kind, f"`{root.name}` is a submission")


def _title(root: _Root) -> str:
    """Return the name of a root that is one submission: the folder its files are in, or the root itself."""
    return root.title if root.is_folder or len(root.paths) > 1 else stem(root.title)


def _is_submission(root: _Root, documents: Sequence[Document], layout: str) -> bool:
    if root.is_submission and not root.is_folder and has_archive_name(root.paths[0]):
        return layout == "dirs" or (layout == "auto" and layouts.recognise(one.name for one in documents) is None)
    holds_files = any("/" not in one.name for one in documents)
    if root.is_folder and root.is_one_of_several and layout == "auto":
        names = [one.name for one in documents]
        return (holds_files or layouts.is_project(names)) and layouts.recognise(names) is None
    # Without a common folder the root's own name is used.
    is_flat_root = layout == "dirs" and root.is_folder and all("/" not in one.name for one in documents)
    return root.is_submission or is_flat_root


def _wrapper(gathering: Gathering) -> str:
    """Return the folder that holds everything in an archive, with its ``/``; empty if there is none."""
    paths = [one.name for one in gathering.documents]
    below = ""
    # In sorted order, a prefix shared by the first and the last path is shared by all.
    lowest, highest = min(paths, default="").split("/"), max(paths, default="").split("/")
    for first, last in zip(lowest[:-1], highest[:-1], strict=False):
        is_named = below + INFO in gathering.infos or layouts.recognise([first])
        if first != last or is_named or below + first in gathering.archives:
            break
        below += f"{first}/"
    return below


def _rows(run: Run, info: bytes, paths: list[str], name: str) -> list[Row]:
    """Parse ``info.csv`` and list rows without a file and files without a row."""
    try:
        rows = parse(info)
    except RefusedError as error:
        run.skip(name, str(error), is_submitted=False)
        return []
    paths = sorted(paths)
    known = []
    for row in rows:
        at = bisect.bisect_left(paths, row.path)
        below = bisect.bisect_left(paths, row.path + "/")
        is_file = paths[at : at + 1] == [row.path]
        if is_file or (below < len(paths) and paths[below].startswith(row.path + "/")):
            known.append(row)
        else:
            run.skip(
                f"{name.removesuffix(INFO)}{row.path}", f"named in `{INFO}`, but not among the files that are read"
            )
    named = {row.path for row in known}
    others = sum(named.isdisjoint(_with_folders(path)) for path in paths)
    if others:
        run.skip(name, f"does not name {others:,} of {len(paths):,} files; they are read as well", is_submitted=False)
    return known


def _with_folders(path: str) -> Iterator[str]:
    """Yield a path and all folders and archives above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def renamed(intake: Intake, unread: Iterable[int], taken: Taken | None) -> Intake:
    """Name submissions again, when it is known which of them could not be read: those change no other one's name."""
    places = {intake.order[place] for place in unread}
    submissions, order = _named(intake.given, taken, places)
    return replace(intake, submissions=submissions, order=order)


def _named(
    found: Sequence[tuple[str, Submission]], taken: Taken | None, unread: Container[int] = ()
) -> tuple[tuple[Submission, ...], tuple[int, ...]]:
    """Sort submissions by unique names; return them, and the place of each in ``found``.

    Equal names in one root are numbered, as an index of it has them. Then the root's name stands in front of a name
    that several roots have.
    """
    names = _numbered(found)
    titles = defaultdict(set)
    for place, (title, _) in enumerate(found):
        if place not in unread:
            titles[names[place]].add(title)
    met = list(titles)
    for name, others in zip(met, taken(met) if taken else (), strict=taken is not None):
        titles[name] |= others
    for place, (title, _) in enumerate(found):
        roots = titles.get(names[place], set())
        if len(roots) > 1 or (roots and place in unread):
            names[place] = f"{title}/{names[place]}"
    places = sorted(range(len(found)), key=lambda place: (place in unread, *_rank(names[place], found[place][1])))
    unique = dict(zip(places, distinct(names[place] for place in places), strict=True))
    order = tuple(sorted(places, key=lambda place: in_order(unique[place])))
    return tuple(replace(found[place][1], name=unique[place]) for place in order), order


def _numbered(found: Sequence[tuple[str, Submission]]) -> list[str]:
    """Return the names of submissions, unique within each root."""
    names = [one.name for _, one in found]
    roots = defaultdict(list)
    for place, (title, one) in enumerate(found):
        roots[title, one.old].append(place)
    for places in roots.values():
        places.sort(key=lambda place: _rank(names[place], found[place][1]))
        for place, name in zip(places, distinct(names[place] for place in places), strict=True):
            names[place] = name
    return names


def _rank(name: str, one: Submission) -> tuple[bytes, bool, str, list[tuple[str, bytes]]]:
    """Order equal names by content, so that the order of the given paths has no effect."""
    return in_order(name), one.old, one.person or "", _content(one)


def _content(one: Submission) -> list[tuple[str, bytes]]:
    return [(document.name, document.data) for document in one.documents]
