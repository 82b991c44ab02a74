"""The keys of a ``MinHashLSH`` in a folder: an index of ``lookalike.archive``, with its durability, lock and checks.

A sketch of a key is a document (FORMAT.md, "Keys of a MinHashLSH"). Its id tells the key, its type and which of the
key's sketches it is; its features are the hashes of its bands; its hash values are stored, so that two bands with the
same hash never give a false answer. The folder is read as it is at each call. The first change takes the lock, and
keeps it until ``close``: one process inserts and removes, any number ask.

Cost: a change outside a session is one commit, which waits for the disk; a query looks up every band in every segment.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Hashable, Iterator, Mapping

from lookalike import _core
from lookalike.archive.folder import CATALOGUE
from lookalike.archive.parameters import Bands, Parameters
from lookalike.archive.store import Index
from lookalike.archive.view import View, meta_of
from lookalike.compat.datasketch.minhash import from_raw
from lookalike.compat.datasketch.storage import Cutter, Sketches
from lookalike.errors import ParameterError, VersionError

#: The letter of each type of key.
_LETTERS: dict[type, bytes] = {str: b"s", bytes: b"b", int: b"i"}
#: Lone surrogates, which a ``str`` may have, are kept.
_ERRORS = "surrogatepass"


def id_of(key: Hashable, place: int = 0) -> bytes:
    """Return the id of a sketch of a key, of which it is number ``place``. Errors: ``ParameterError``.

    >>> id_of("rose"), id_of(7, 2)
    (b's:rose', b'i2:7')
    """
    letter = _LETTERS.get(type(key))
    if letter is None:
        raise ParameterError(
            f"key `{key!r}` is of type {type(key).__name__}, and an index on disk keeps str, bytes and int: use these"
        )
    body = key if isinstance(key, bytes) else str(key).encode("utf-8", _ERRORS)
    return letter + (b"%d:" % place if place else b":") + body


def key_of(id_: bytes) -> tuple[str | bytes | int, int]:
    """Return the key of an id, and which of the key's sketches it is. REQUIRES: ``id_of`` made it.

    >>> key_of(b"s:rose"), key_of(b"i2:7")
    (('rose', 0), (7, 2))
    """
    head, _, body = id_.partition(b":")
    place = int(head[1:] or b"0")
    if head[:1] == b"b":
        return body, place
    text = body.decode("utf-8", _ERRORS)
    return (int(text) if head[:1] == b"i" else text), place


class Disk:
    """Keys in a folder.

    :param path: the folder.
    :param bands: how hash values are cut into bands.
    :param wait: seconds to wait for another process that changes it.
    :param is_made: make an index in the folder if there is none.
    """

    def __init__(self, path: str, bands: Bands, wait: float = 0.0, *, is_made: bool = True) -> None:
        self._path, self._bands, self._wait = path, bands, wait
        if not is_made or os.path.lexists(os.path.join(path, CATALOGUE)):
            self._index = Index(path)
            self._is_writer = False
        else:
            self._index = Index._create(path, Parameters.of_bands(bands))
            self._is_writer = True
        self._end = weakref.finalize(self, self._index.close)
        try:
            _check(self._index.parameters, bands, path)
        except BaseException:
            self._close_index()
            raise
        self._cutter = Cutter(bands.b, bands.r)
        self._seed: int | None = None
        #: Changes that wait for a commit: ids with hash values, or ids with numbers; never both.
        self._added: dict[bytes, _core.Column] = {}
        self._removed: dict[bytes, int] = {}
        self._sizes: list[int] = []

    @property
    def keys(self) -> StoredKeys:
        """The sketches of each key."""
        return StoredKeys(self)

    # --- changing ----------------------------------------------------------------------------------------------------

    def add(self, key: Hashable, made: _core.Sketch) -> None:
        """Add a sketch of a key. Errors: ``ParameterError`` for another type of key, ``LockedError``, ``OSError``."""
        self._write_removed()
        place = 0
        while self._has(id_of(key, place)):
            place += 1
        self._added[id_of(key, place)] = made.values
        if len(self._added) >= self._most:
            self._write_added()

    def remove(self, key: Hashable) -> None:
        """Remove a key. REQUIRES: it is there. Errors: ``LockedError``, ``OSError``."""
        self._write_added()
        core, place = self._view().core, 0
        while (number := core.find_ids([id_of(key, place)])[0]) is not None:
            self._removed[id_of(key, place)] = number
            place += 1
        if len(self._removed) >= self._most:
            self._write_removed()

    def _has(self, id_: bytes) -> bool:
        """Tell whether a sketch is there, with the changes that wait."""
        if id_ in self._added:
            return True
        return id_ not in self._removed and self._view().core.find_ids([id_])[0] is not None

    @property
    def _most(self) -> int:
        """How many changes may wait."""
        return max(self._sizes, default=1)

    def begin(self, size: int) -> None:
        """Let so many changes wait for one commit, until ``end``."""
        self._sizes.append(size)

    def end(self) -> None:
        """Commit. Errors: ``LockedError``, ``OSError``."""
        self._sizes.pop()
        self.flush()

    def flush(self) -> None:
        """Commit what waits. Errors: ``LockedError``, ``OSError``."""
        self._write_added()
        self._write_removed()

    def _write_added(self) -> None:
        if not self._added:
            return
        meta = json.dumps({"fields": {"seed": self.seed}}, separators=(",", ":")).encode()
        bands = self._bands.b, self._bands.r
        self._writer()._add_records(_core.band_records(list(self._added.items()), meta, bands))
        self._added.clear()

    def _write_removed(self) -> None:
        if not self._removed:
            return
        # Numbers hold: whatever changes the index writes these first.
        self._writer()._changes().remove(self._removed.values())
        self._removed.clear()

    def prepare(self) -> None:
        """Take the lock, so that nobody else changes what the next change is decided on. Errors: ``LockedError``."""
        self._writer()

    def _writer(self) -> Index:
        """Return the index, open for changes. Errors: ``LockedError``."""
        if not self._is_writer:
            opened = Index.open(self._path, write=True, wait=self._wait)
            self._close_index()
            self._index, self._is_writer = opened, True
            self._end = weakref.finalize(self, opened.close)
        return self._index

    def _close_index(self) -> None:
        self._end.detach()
        self._index.close()

    def close(self) -> None:
        """Commit what waits and give the lock back. Errors: ``LockedError``, ``OSError``."""
        try:
            self.flush()
        finally:
            self._close_index()

    # --- asking ------------------------------------------------------------------------------------------------------

    @property
    def seed(self) -> int | None:
        """The seed of all sketches; ``None`` before the first one."""
        if self._seed is None:
            for _, row in self._view().rows():
                self._seed = meta_of(row.meta).get("fields", {}).get("seed")
                break
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    def found(self, made: _core.Sketch, b: int) -> dict[Hashable, None]:
        """Return the keys that share one of the first b bands."""
        bands = self._bands.b, self._bands.r
        return {key_of(id_)[0]: None for id_ in _core.band_sharing(self.view().core, made.values, bands, b)}

    def counts(self) -> list[dict[bytes, int]]:
        """Return how many keys are in each bucket. Cost: linear in the keys."""
        view = self.view()
        return self._cutter.counts(self._values(view, key, number) for key, number in self.numbers(view))

    def check_key(self, key: Hashable) -> None:
        """Refuse a key that is no str, bytes or int. Errors: ``ParameterError``."""
        id_of(key)

    def has(self, key: Hashable) -> bool:
        """Tell whether a key is there; keys of other types never are."""
        return type(key) in _LETTERS and self._has(id_of(key))

    def view(self) -> View:
        """Return the newest state, after a commit of what waits."""
        self.flush()
        return self._view()

    def _view(self) -> View:
        return self._index._view()

    def sketches(self, key: Hashable) -> Sketches | None:
        """Return the sketches of a key; ``None`` if it is not there."""
        view = self.view()
        number = view.core.find_ids([id_of(key)])[0] if type(key) in _LETTERS else None
        return None if number is None else tuple(from_raw(values) for values in self._values(view, key, number))

    def _values(self, view: View, key: Hashable, number: int | None) -> Iterator[bytes]:
        """Yield the hash values of all sketches of a key, of which the first has this number."""
        place = 0
        while number is not None:
            yield bytes(_core.band_values(view.core, number))
            place += 1
            number = view.core.find_ids([id_of(key, place)])[0]

    def numbers(self, view: View) -> Iterator[tuple[Hashable, int]]:
        """Yield each key with the number of its first sketch, in the order of insertion."""
        for number, row in view.rows():
            key, place = key_of(bytes(row.id))
            if not place:
                yield key, number


class StoredKeys(Mapping[Hashable, Sketches]):
    """The keys of an index on disk, in the order of insertion. Cost: iterating is linear, and so is ``len``."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def __contains__(self, key: object) -> bool:
        return isinstance(key, Hashable) and self._disk.has(key)

    def __getitem__(self, key: Hashable) -> Sketches:
        found = self._disk.sketches(key)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[Hashable]:
        for key, _ in self._disk.numbers(self._disk.view()):
            yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return len(self._disk.view()) > 0


def _check(made: Parameters, asked: Bands, path: str) -> None:
    """Refuse an index of other parameters. Errors: ``VersionError``, which names both sides."""
    if made.bands is None:
        raise VersionError(
            f"index `{path}` is a {made.kind} of documents, which a MinHashLSH cannot open: give another folder"
        )
    pairs = {name: (value, getattr(asked, name)) for name, value in vars(made.bands).items()}
    other = [f"{name} {stored} (asked for {wanted})" for name, (stored, wanted) in pairs.items() if stored != wanted]
    if other:
        raise VersionError(
            f"index `{path}` was made with {', '.join(other)}: give the same parameters, or another folder"
        )
