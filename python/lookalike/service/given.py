"""Documents in requests: a body is the document itself, or JSON with its text and what is known of it.

The content type decides the format, as the suffix of a file does on the command line; ``?name=`` gives a file name. No
value of a request is ever taken as a path or an address to read from.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lookalike import _core
from lookalike.archive.asked import UNNAMED
from lookalike.documents import Document
from lookalike.frontends import LANGUAGES, detection
from lookalike.service import growth
from lookalike.service.faults import Fault, FaultError

JSON = "application/json"
LINES = "application/x-ndjson"
ZIP = "application/zip"
#: Types of bodies whose format the name or the content tells.
_PLAIN = ("", "text/plain", "application/octet-stream")
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/x-ipynb+json": ".ipynb",
    "message/rfc822": ".eml",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/css": ".css",
    "text/xml": ".xml",
    "application/xml": ".xml",
    "application/javascript": ".js",
    "text/javascript": ".js",
    "application/sql": ".sql",
    "text/x-csrc": ".c",
    "text/x-c++src": ".cpp",
    "text/x-java-source": ".java",
}
#: Formats that their bytes tell, whatever the names of files.
_CONTAINERS = {".pdf": "pdf", ".docx": "docx"}
#: Suffixes of languages by their names, for types such as ``text/x-python``.
_LANGUAGES = {
    alias: one.suffixes[0] for one in LANGUAGES.values() if one.suffixes for alias in (one.name, *one.aliases)
}
#: A content type without its parameters, in lower case (RFC 9110, 8.3.1).
_KIND = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+")
#: Control characters, and the stand-ins for bytes that are no UTF-8: no id that is added has one.
NO_ID = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CHARSETS = ("utf-8", "utf8", "us-ascii", "ascii")
#: The years 1 to 9999, in seconds since 1970.
_FIRST_TIME, _LAST_TIME = -62_135_596_800, 253_402_300_799
#: Most bytes of an id and of a file name, and most fields of metadata.
MOST_ID, MOST_FIELDS = 1_024, 100
#: The types that a document may have, for the API document.
TYPES = ("text/plain", *_SUFFIXES, "application/octet-stream")
#: The schema of a document in JSON.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["text"],
    "additionalProperties": False,
    "properties": {
        "text": {"type": "string"},
        "name": {"type": "string", "minLength": 1, "maxLength": 255, "description": "File name; decides the language."},
        "metadata": {
            "type": "object",
            "description": "Strings, numbers and truth values that `where` finds.",
            "maxProperties": MOST_FIELDS,
            "additionalProperties": {"type": ["string", "number", "boolean"], "maxLength": 250},
        },
        "time": {"type": ["string", "integer"], "description": "Seconds since 1970, or a date of ISO 8601."},
    },
}
_BYTES = {"type": "string", "format": "binary"}
#: Every type of a body that is a document, with its schema.
BODIES: dict[str, dict[str, Any]] = {JSON: SCHEMA, ZIP: _BYTES, **dict.fromkeys(TYPES, _BYTES)}


@dataclass(frozen=True)
class Given:
    """A document of a request."""

    #: The text, or the bytes of the file.
    content: str | bytes
    #: The file name, which decides the format; ``None`` if neither the request nor its type tells one.
    name: str | None
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    time: str | None = None
    #: Whether it is an archive of the files of one submission.
    is_zip: bool = False
    #: That the bytes are of another format than the content type says.
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name that answers show."""
        return self.name or UNNAMED

    def document(self) -> Document:
        """Return it as a file."""
        data = self.content.encode() if isinstance(self.content, str) else self.content
        return Document(self.title, data)


def document(body: bytes, content_type: str, name: str | None) -> Given:
    """Read a body. Errors: ``FaultError``."""
    kind, charset = _type(content_type)
    if charset not in _CHARSETS:
        raise _other_type(f"the charset `{charset[:50]}` is not read: send UTF-8")
    if kind == JSON:
        return of_json(parsed(body), name)
    if kind == ZIP:
        return Given(body, name or f"{UNNAMED}.zip", is_zip=True)
    if not body.isascii() and detection.container(body) is None:
        growth.check(body.decode("utf-8", "replace"))
    if kind in _PLAIN:
        return Given(body, checked_name(name))
    suffix = _SUFFIXES.get(kind) or _LANGUAGES.get(kind.removeprefix("text/x-"))
    if suffix is None:
        raise _other_type(
            f"the content type `{kind[:100]}` is not read: send text/plain, application/json with a text, "
            "application/octet-stream with ?name=, or the type of a format that `lookalike languages` lists"
        )
    return Given(body, checked_name(name) or f"{UNNAMED}{suffix}", notes=_other_content(body, kind, suffix))


def _other_content(body: bytes, kind: str, suffix: str) -> tuple[str, ...]:
    """Return a note if the bytes tell another format than the content type; front ends go by the bytes."""
    found = detection.container(body)
    if found == _CONTAINERS.get(suffix):
        return ()
    return (f"the body is not {kind}, as its content type says: it was read as {found or 'text'}",)


def _other_type(message: str) -> FaultError:
    return FaultError(Fault(415, "other-type", message))


def check_type(content_type: str, *wanted: str) -> str:
    """Return the type of a body, which must be one of these. Errors: ``FaultError``."""
    kind, charset = _type(content_type)
    if kind not in wanted or charset not in _CHARSETS:
        raise _other_type(f"the content type `{kind[:100]}` is not read here: send {' or '.join(wanted)} in UTF-8")
    return kind


def _type(content_type: str) -> tuple[str, str]:
    """Return type and charset of a header, in lower case. Errors: ``FaultError``."""
    kind, *rest = (one.strip().lower() for one in content_type.split(";"))
    if content_type.strip() and not _KIND.fullmatch(kind):
        raise _other_type(f"the content type `{content_type[:100]}` is not valid: send a type such as text/plain")
    charset = "utf-8"
    for one in rest:
        name, _, value = one.partition("=")
        if name.strip() == "charset":
            charset = value.strip().strip('"')
    return kind, charset


def of_json(row: Any, name: str | None = None, *, with_id: bool = False) -> Given:
    """Read a document in JSON. Errors: ``FaultError``."""
    if not isinstance(row, dict):
        raise bad_value("a document in JSON is an object with a `text`")
    known = (*SCHEMA["properties"], *(("id",) if with_id else ()))
    for key in row:
        if key not in known:
            raise bad_value(f"`{key[:100]}` is not known in a document: use some of {', '.join(known)}")
    text = row.get("text")
    if not isinstance(text, str):
        raise bad_value("a document in JSON needs a `text`, which is a string")
    check_text(text, "text")
    growth.check(text)
    named = row.get("name", name)
    if named is not None and not isinstance(named, str):
        raise bad_value("the `name` of a document is a string")
    id_ = new_id(row.get("id")) if with_id else None
    return Given(text, checked_name(named), id_, metadata(row.get("metadata")), _time(row.get("time")))


def check_text(text: str, what: str) -> None:
    """Refuse half a surrogate pair, which is no text. Errors: ``FaultError``."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise bad_value(f"`{what}` has half a surrogate pair, which is no text: send UTF-8") from None


def checked_id(id_: Any) -> str:
    """Return the id of a document, which may be one that the command line stored. Errors: ``FaultError``."""
    if not isinstance(id_, str) or not id_:
        raise bad_value("every document needs an `id`, which is a string with at least one character")
    if len(id_.encode("utf-8", "surrogateescape" if _is_escaped(id_) else "surrogatepass")) > MOST_ID:
        raise bad_value(f"an `id` has at most {MOST_ID:,} bytes")
    return id_


def new_id(id_: Any) -> str:
    """Return the id of a document that is added. Errors: ``FaultError``."""
    checked = checked_id(id_)
    if NO_ID.search(checked):
        raise bad_value("an `id` is text in UTF-8 without control characters: choose another id")
    return checked


def _is_escaped(id_: str) -> bool:
    """Whether all surrogates of an id stand for bytes of a file name that is no UTF-8."""
    return all("\udc80" <= one <= "\udcff" for one in id_ if "\ud800" <= one <= "\udfff")


def checked_name(name: str | None) -> str | None:
    """Return a file name without folders. Errors: ``FaultError``."""
    if name is None:
        return None
    check_text(name, "name")
    if not name or len(name) > 255 or not name.isprintable():
        raise bad_value("a file name has 1 to 255 printable characters")
    return name


def metadata(given: Any) -> dict[str, Any]:
    """Return metadata if it can be stored. Errors: ``FaultError``."""
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MOST_FIELDS:
        raise bad_value(f"`metadata` is an object of at most {MOST_FIELDS} strings, numbers and truth values")
    for key, value in given.items():
        check_text(key, "metadata")
        if not isinstance(value, str | int | float):
            raise bad_value(f"the value of `{key[:100]}` in `metadata` is no string, number or truth value")
        if isinstance(value, str):
            check_text(value, "metadata")
        if max(len(json.dumps(key)), len(json.dumps(value))) > _core.MAX_FIELD_BYTES:
            raise bad_value(f"a value in `metadata` has at most {_core.MAX_FIELD_BYTES:,} bytes as JSON")
    return given


def _time(given: Any) -> str | None:
    if given is None:
        return None
    told = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else None
    moment = _core.moment(told) if told is not None and told.isascii() else None
    if moment is None:
        raise bad_value("`time` is no time: use seconds since 1970, 2024-12-31 or 2024-12-31T23:59:00+01:00")
    if not _FIRST_TIME <= moment <= _LAST_TIME:
        raise bad_value("`time` is out of range: use a time of the years 1 to 9999")
    return told


def bad_value(message: str) -> FaultError:
    """Return the error for a value in JSON that cannot be used."""
    return FaultError(Fault(422, "bad-value", message))


def parsed(body: bytes, what: str = "the body") -> Any:
    """Return the value of a JSON text.

    Errors: ``FaultError``, also for NaN, numbers that no double holds, keys given twice, and deep nesting.
    """
    try:
        return json.loads(
            body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite
        )
    except RecursionError:
        raise FaultError(
            Fault(400, "bad-json", f"{what} nests too deep: no value has lists or objects in it that deep")
        ) from None
    except ValueError:
        raise FaultError(
            Fault(400, "bad-json", f"{what} is no JSON in UTF-8, has NaN, a number above 1e308, or a key twice")
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is given twice")
    return made


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large")
    return number


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def lines(body: bytes, most: int) -> list[tuple[int, Any]]:
    """Return numbers and values of lines of JSON; empty lines are passed over. Errors: ``FaultError``."""
    found = [(number, line) for number, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    if len(found) > most:
        raise FaultError(Fault(413, "too-many", f"a batch has at most {most:,} documents: send several"))
    return [(number, parsed(line, f"line {number}")) for number, line in found]
