"""A client of `lookalike serve`: sync, with retries that never add a document twice. It needs no further package."""

from __future__ import annotations

import http.client
import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from lookalike.errors import ParameterError, ServiceError

_JSON, _LINES = "application/json", "application/x-ndjson"
#: Statuses after which a request is sent again, and the longest pause before that, in seconds.
_AGAIN, _PAUSE = (429, 503), 30.0
#: Documents of a batch.
_BATCH = 100


class Client:
    """A connection to a server. It is used by one thread at a time.

    Requests that fail because the server is busy, restarts or cannot be reached are sent again. Adds have a key, by
    which the server knows a repeated one.

    >>> from lookalike import Client
    >>> Client("http://127.0.0.1:8400", token="…")
    <Client of http://127.0.0.1:8400>
    """

    def __init__(self, address: str, token: str | None = None, *, timeout: float = 90.0, retries: int = 5) -> None:
        """Prepare a client; it connects with the first request.

        :param address: Where the server is, such as ``https://archive.example.org``.
        :param token: A token of ``lookalike token``, if the server wants one.
        :param timeout: Seconds to wait for an answer.
        :param retries: How often a request is sent again.
        :raises ParameterError: The address is not valid.
        """
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(f"`{address}` is no address of a server: use http://HOST:PORT")
        self._address, self._token, self._retries = address.rstrip("/"), token, retries
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._base = parts.path.rstrip("/")

    def __repr__(self) -> str:
        return f"<Client of {self._address}>"

    def indexes(self) -> list[dict[str, Any]]:
        """Return the indexes that the token may see: name, kind and number of documents."""
        return self._json("GET", "/v1/indexes")["indexes"]  # type: ignore[no-any-return]

    def put(
        self,
        index: str,
        id: str,
        document: str | bytes,
        *,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        time: str | int | None = None,
    ) -> str:
        """Add or replace a document, durably.

        :param index: The name of the index.
        :param id: The id of the document.
        :param document: A text, or the bytes of a file.
        :param name: The file name, which decides the format of bytes.
        :param metadata: Strings, numbers and truth values that ``where`` finds; with a text only.
        :param time: Seconds since 1970, or a date; with a text only.
        :returns: ``added``, ``replaced`` or ``unchanged``.
        :raises ServiceError: The server refuses it, or cannot be reached.
        """
        kind, body, query = _body(document, name, metadata, time)
        path = f"/v1/indexes/{quote(index, '')}/documents/{quote(id, '')}"
        return self._json("PUT", path, body, kind, query)["outcome"]  # type: ignore[no-any-return]

    def add(self, index: str, rows: Iterable[Mapping[str, Any]], *, batch: int = _BATCH) -> dict[str, Any]:
        """Add many documents, batch by batch; each batch is durable as a whole.

        :param index: The name of the index.
        :param rows: Documents with ``id`` and ``text``, and if known ``metadata``, ``time`` and ``name``.
        :param batch: Documents per request.
        :returns: How many were ``added``, ``replaced`` and ``unchanged``, and those that were ``skipped`` with reasons;
            ``line`` is the place of a row, counted from 1. ``notes``, if there are any, tell how rows were read.
        :raises ServiceError: The server refuses a batch, or cannot be reached; earlier batches are in the index.
        """
        found: dict[str, Any] = {"added": 0, "replaced": 0, "unchanged": 0, "skipped": []}
        given, sent = iter(rows), 0
        while some := list(islice(given, batch)):
            body = "\n".join(json.dumps(dict(row)) for row in some).encode()
            key = {"Idempotency-Key": secrets.token_urlsafe(16)}
            path = f"/v1/indexes/{quote(index, '')}/documents"
            answer = self._json("POST", path, body, _LINES, headers=key)
            for row in (*answer["skipped"], *answer.get("notes", ())):
                row["line"] += sent
            for name in (*found, *(("notes",) if answer.get("notes") else ())):
                found[name] = found.get(name, []) + answer.get(name, [])
            sent += len(some)
        return found

    def get(self, index: str, id: str) -> dict[str, Any] | None:
        """Return a document with its readable texts, or ``None``.

        :param index: The name of the index.
        :param id: The id of the document.
        :raises ServiceError: The server refuses it, or cannot be reached.
        """
        try:
            path = f"/v1/indexes/{quote(index, '')}/documents/{quote(id, '')}"
            return self._json("GET", path)  # type: ignore[no-any-return]
        except ServiceError as error:
            if error.code == "no-such-document":
                return None
            raise

    def remove(self, index: str, id: str, *, purge: bool = False) -> bool:
        """Remove a document, durably; return whether it was there.

        :param index: The name of the index.
        :param id: The id of the document.
        :param purge: Erase all removed documents, so that no file holds a byte of them.
        :raises ServiceError: The server refuses it, or cannot be reached.
        """
        path = f"/v1/indexes/{quote(index, '')}/documents/{quote(id, '')}"
        status, _, attempts = self._ask("DELETE", path, query=[("purge", "true")] if purge else [], missing=True)
        # A repeated request finds nothing if the first one was done and its answer lost.
        return status != 404 or attempts > 1

    def documents(self, index: str, where: Mapping[str, str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield all documents in the order of arrival, page by page.

        :param index: The name of the index.
        :param where: Only those with these values.
        :raises ServiceError: The server refuses it, or cannot be reached.
        """
        conditions = [("where", f"{key}={value}") for key, value in (where or {}).items()]
        after: str | None = None
        while True:
            query = conditions + ([] if after is None else [("after", after)])
            page = self._json("GET", f"/v1/indexes/{quote(index, '')}/documents", query=query)
            yield from page["documents"]
            after = page["next"]
            if after is None:
                return

    def query(self, index: str, document: str | bytes, *, name: str | None = None, **options: Any) -> dict[str, Any]:
        """Ask which documents of an index are like a document; the answer is that of ``lookalike query --json``.

        :param index: The name of the index.
        :param document: A text, or the bytes of a file.
        :param name: The file name, which decides the format of bytes.
        :param options: ``question``, ``threshold``, ``distance``, ``top`` and ``where`` as in ``Index.query``.
        :raises ServiceError: The server refuses it, or cannot be reached.
        """
        kind, body, query = _body(document, name)
        return self._json(  # type: ignore[no-any-return]
            "POST", f"/v1/indexes/{quote(index, '')}/query", body, kind, query + _options(options)
        )

    def seen(
        self, index: str, document: str | bytes, *, name: str | None = None, where: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Tell whether an index has a document like this one; the answer is that of ``lookalike seen --json``.

        :param index: The name of the index.
        :param document: A text, or the bytes of a file.
        :param name: The file name, which decides the format of bytes.
        :param where: Only documents with these values.
        :raises ServiceError: The server refuses it, or cannot be reached.
        """
        kind, body, query = _body(document, name)
        options = _options({"where": where} if where else {})
        return self._json(  # type: ignore[no-any-return]
            "POST", f"/v1/indexes/{quote(index, '')}/seen", body, kind, query + options
        )

    def seen_many(self, index: str, texts: Sequence[str], *, batch: int = _BATCH) -> list[dict[str, Any]]:
        """Tell for each of many texts whether an index has a document like it.

        :param index: The name of the index.
        :param texts: The texts.
        :param batch: Texts per request.
        :raises ServiceError: The server refuses a batch, or cannot be reached.
        """
        found: list[dict[str, Any]] = []
        for first in range(0, len(texts), batch):
            body = "\n".join(json.dumps({"text": text}) for text in texts[first : first + batch]).encode()
            _, answer, _ = self._ask("POST", f"/v1/indexes/{quote(index, '')}/seen", body, _LINES)
            found += [json.loads(line) for line in answer.splitlines()]
        return found

    def compare(self, left: str, right: str, **options: Any) -> dict[str, Any]:
        """Measure how similar two texts are; nothing is stored.

        :param left: A text.
        :param right: Another one.
        :param options: Options of ``lookalike similarity``, such as ``shingle``.
        :raises ServiceError: The server refuses it, or cannot be reached.
        """
        body = json.dumps({"left": left, "right": right}).encode()
        return self._json("POST", "/v1/compare", body, _JSON, _options(options))  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _json(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str | None = None,
        query: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        return json.loads(self._ask(method, path, body, kind, query, headers)[1])

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str | None = None,
        query: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        *,
        missing: bool = False,
    ) -> tuple[int, bytes, int]:
        """Send a request until it is answered; return status, body and attempts. ``missing``: 404 is an answer."""
        every = {**(headers or {}), **({"Content-Type": kind} if kind else {})}
        every |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        target = f"{self._base}{path}{f'?{urlencode(query)}' if query else ''}"
        for attempt in range(1, self._retries + 2):
            is_last = attempt > self._retries
            try:
                self._connection.request(method, target, body, every)
                answer = self._connection.getresponse()
                data = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if is_last:
                    raise ServiceError(f"the server at {self._address} cannot be reached: {error}") from error
                time.sleep(min(_PAUSE, 0.1 * 2**attempt))
                continue
            if answer.status < 300 or (missing and _code(data) == "no-such-document"):
                return answer.status, data, attempt
            if answer.status not in _AGAIN or is_last:
                raise _refused(answer.status, data)
            time.sleep(min(_PAUSE, float(answer.headers.get("Retry-After", 1))))
        raise AssertionError


def _body(
    document: str | bytes,
    name: str | None,
    metadata: Mapping[str, Any] | None = None,
    time: str | int | None = None,
) -> tuple[str, bytes, list[tuple[str, str]]]:
    """Return content type, body and options of a document. Errors: ``ParameterError``."""
    if isinstance(document, str):
        row = {"text": document, "name": name, "metadata": metadata, "time": time}
        told = {key: value for key, value in row.items() if value is not None}
        return _JSON, json.dumps(told).encode(), []
    if metadata or time is not None:
        raise ParameterError("metadata and time need a text: read the file first, or leave them out")
    return "application/octet-stream", bytes(document), [] if name is None else [("name", name)]


def _options(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return options as they stand in a query string."""
    made: list[tuple[str, str]] = []
    for key, value in options.items():
        if isinstance(value, Mapping):
            made += [(key, f"{name}={one}") for name, one in value.items()]
        elif isinstance(value, list | tuple):
            made += [(key, str(one)) for one in value]
        elif value is not None:
            made.append((key, str(value).lower() if isinstance(value, bool) else str(value)))
    return made


def _code(data: bytes) -> str:
    try:
        return str(json.loads(data)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return "unknown"


def _refused(status: int, data: bytes) -> ServiceError:
    """Return the error of a server as an exception."""
    try:
        message = str(json.loads(data)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"the server answered with status {status}"
    return ServiceError(message, status, _code(data))
