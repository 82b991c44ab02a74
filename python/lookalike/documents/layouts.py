"""Files below a root → submissions: by folder, by file, or by the names that Moodle and Canvas give their exports."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lookalike import params
from lookalike.documents.archives import stem
from lookalike.documents.info import INFO, Row
from lookalike.documents.intake import Document, Submission, distinct, in_order

#: How files are grouped into submissions; ``auto`` is ``dirs`` unless nearly all names are those of a platform.
LAYOUTS = params.LAYOUT.choices
#: ``Full Name_12345_assignsubmission_file_`` is a folder of files, or the prefix of a file name.
_MOODLE = re.compile(r"(?P<name>[^/]+)_(?P<id>\d+)_assignsubmission_[a-z]+(?:_(?P<file>[^/]*))?", re.DOTALL)
#: ``lastfirst_LATE_12345_67890_file name-2.ext``: person, attachment, resubmission.
_CANVAS = re.compile(
    r"(?P<name>[^_/]+)(?:_LATE)?_(?P<id>\d+)_(?:\d+_(?P<file>[^/]+)|(?P<entry>(?:text|link)\.html))", re.DOTALL
)
_RESUBMISSION = re.compile(r"-\d+(?=(\.[^.]*)?\Z)")


#: Names of folders that programs are arranged in; a person or a group has another name.
_PROJECT = ("app", "assets", "bin", "build", "code", "config", "data", "doc", "docs", "example", "examples", "include",
            "lib", "main", "out", "resources", "res", "scripts", "source", "sources", "src", "test", "tests", "util",
            "utils")  # fmt: skip


def is_project(paths: Iterable[str]) -> bool:
    """Return whether the files of a folder are all in folders that programs are arranged in, `src` and the like."""
    tops = {path.partition("/")[0].lower() for path in paths}
    return bool(tops) and tops.issubset(_PROJECT)


@dataclass(frozen=True, slots=True)
class Owner:
    """The submission that a file belongs to, before names are made unique."""

    #: Files with one key are one submission.
    key: tuple[str, str]
    name: str
    person: str | None = None
    label: str | None = None
    time: str | None = None
    #: As in ``Submission``.
    known_as: str | None = None


#: Maps a path to its owner and the document's label; ``None`` if the layout does not apply.
Rule = Callable[[str], tuple[Owner, str] | None]


def moodle(path: str) -> tuple[Owner, str] | None:
    """Return owner and label of a file of a Moodle export."""
    top, _, below = path.partition("/")
    found = _MOODLE.fullmatch(top)
    if not found:
        return None
    person = f"{found['name']}_{found['id']}"
    parts = [part for part in (found["file"], below) if part]
    return Owner(("moodle", person), found["name"], person, known_as=found["name"]), "/".join(parts) or top


def canvas(path: str) -> tuple[Owner, str] | None:
    """Return owner and label of a file of a Canvas export."""
    top, slash, below = path.partition("/")
    found = _CANVAS.fullmatch(top)
    if not found:
        return None
    label = _RESUBMISSION.sub("", found["file"], count=1) if found["file"] else found["entry"]
    return Owner(("canvas", found["id"]), found["name"], found["id"], known_as=found["id"]), label + slash + below


def dirs(path: str, archives: frozenset[str]) -> tuple[Owner, str]:
    """Return owner and label by the first folder or archive; a loose file stands for itself."""
    top, slash, below = path.partition("/")
    name = stem(top) if top in archives else top
    return Owner(("dirs", top), name, known_as=name if slash else None), below if slash else top


def flat(path: str) -> tuple[Owner, str]:
    """Treat each file as a submission."""
    return Owner(("flat", path), path), path.rpartition("/")[2]


_PLATFORMS: dict[str, Rule] = {"moodle": moodle, "canvas": canvas}


def recognise(paths: Iterable[str]) -> str | None:
    """Return the platform that wrote these names; one name, or one in ten, may be different."""
    tops = {path.partition("/")[0] for path in paths}
    for name, rule in _PLATFORMS.items():
        others = sum(rule(top) is None for top in tops)
        if others <= max(1, len(tops) // 10) and others * 2 < len(tops):
            return name
    return None


def group(
    documents: Sequence[Document], archives: frozenset[str], layout: str, rows: Sequence[Row]
) -> list[Submission]:
    """Make submissions of the files below one root. ``archives`` are the paths that lead into an archive."""
    paths = [document.name for document in documents]
    platform = _PLATFORMS.get(recognise(paths) or "" if layout == "auto" else layout)
    named = _named(rows, paths)
    owners: dict[tuple[str, str], Owner] = {}
    files = defaultdict(list)
    for document in documents:
        path = document.name
        owner, label = (
            named.get(path)
            or (platform and platform(path))
            or (flat(path) if layout == "flat" else dirs(path, archives))
        )
        owners.setdefault(owner.key, owner)
        files[owner.key].append(Document(label, document.data))
    return [submission(owner, files[key]) for key, owner in owners.items()]


def without_files(
    tops: Iterable[str], documents: Sequence[Document], archives: frozenset[str], layout: str
) -> Iterator[str]:
    """Yield the names of the folders and archives among ``tops`` that would be submissions, but have no document."""
    if layout == "flat":
        return
    paths = [document.name for document in documents]
    platform = _PLATFORMS.get(recognise(paths) or "" if layout == "auto" else layout) or (lambda _: None)
    filled = {path.partition("/")[0] for path in paths}
    owners = {found[0].key for path in filled if (found := platform(path))}
    for top in sorted(set(tops) - filled, key=in_order):
        owner, _ = platform(top) or dirs(top, archives)
        # A compressed file is no archive: its document has its name without the suffix.
        if owner.key not in owners and not (top in archives and stem(top) in filled):
            yield owner.name


def submission(owner: Owner, documents: Iterable[Document]) -> Submission:
    """Make a submission of files: sorted, each with a unique label."""
    files = sorted(documents, key=lambda document: in_order(document.name))
    names = distinct(document.name for document in files)
    made = tuple(Document(name, document.data) for name, document in zip(names, files, strict=True))
    return Submission(owner.name, owner.person, owner.label, owner.time, False, made, owner.known_as)


def _named(rows: Sequence[Row], paths: Sequence[str]) -> dict[str, tuple[Owner, str]]:
    """Return owner and label of each path that a row names, or that shares a folder with exactly one named path."""
    owners = {
        row.path: Owner((INFO, row.path), row.full_name or row.path, row.person, row.label, row.time, row.person)
        for row in rows
    }
    deepest = max((path.count("/") + 1 for path in owners), default=0)
    by_folder = defaultdict(list)
    for path, owner in owners.items():
        for folder in _folders(path, deepest):
            by_folder[folder].append(owner)
    result = {}
    for path in paths:
        if path in owners:
            result[path] = owners[path], path.rpartition("/")[2]
            continue
        for folder in _folders(path, deepest):
            found = [owners[folder]] if folder in owners else by_folder.get(folder, [])
            if len(found) == 1:
                result[path] = found[0], path[len(folder) + 1 :]
                break
    return result


def _folders(path: str, deepest: int) -> list[str]:
    """Return the folders above a path, innermost first, without the root."""
    parts = path.split("/")[:-1][:deepest]
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
