"""The settings of a server: checked once by the supervisor, handed to its processes as JSON."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Self

from lookalike import params
from lookalike.engines import local
from lookalike.errors import ParameterError

#: The folder below ``data`` that holds what only lives as long as the server.
RUN = "run"


@dataclass(frozen=True)
class Settings:
    """Every setting of a server; ``params.SERVING`` explains them."""

    #: Paths of the indexes by name, in the order in which they were given.
    indexes: dict[str, str]
    host: str
    port: int
    token_file: str | None
    data: str
    allow_host: tuple[str, ...]
    readers: int
    max_body: int
    max_upload: int
    max_kept: int
    max_documents: int
    max_connections: int
    queue: int
    header_seconds: int
    body_seconds: int
    send_seconds: int
    answer_seconds: int
    retain: int
    upload_idle: int
    moss_port: int | None
    public_url: str | None
    jobs: int
    job_memory: int
    anonymise: bool

    @classmethod
    def of(cls, indexes: Iterable[str | os.PathLike[str]], **chosen: Any) -> Self:
        """Check settings; those that are not given have their default. Errors: ``ParameterError``."""
        values = {name: parameter.default for name, parameter in params.SERVING.items()} | chosen
        for name, parameter in params.SERVING.items():
            value = values[name]
            if parameter.kind is int and value is not None and (refusal := parameter.refusal(value)):
                raise ParameterError(f"{parameter.option} `{value}` {refusal}")
        values |= {"readers": values["readers"] or local.cores(), "allow_host": tuple(values["allow_host"])}
        values |= {"public_url": _public(values["public_url"])}
        token_file = values["token_file"]
        values |= {"token_file": None if token_file is None else os.path.abspath(token_file)}
        made = cls(indexes=_named(indexes), **values | {"data": os.path.abspath(values["data"])})
        if made.token_file is None and not is_loopback(made.host):
            raise ParameterError(
                f"--host `{made.host}` can be reached by other machines: give --token-file (make one with "
                "`lookalike token tokens.jsonl`), or use 127.0.0.1"
            )
        return made

    @property
    def run(self) -> str:
        """The folder of sockets and counters."""
        return os.path.join(self.data, RUN)

    def to_json(self) -> str:
        """Return the settings as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""
        found = json.loads(text)
        return cls(**found | {"allow_host": tuple(found["allow_host"])})


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _public(url: str | None) -> str | None:
    """Return the public address without its last slash. Errors: ``ParameterError``."""
    if url is None:
        return None
    if not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+(?:/[A-Za-z0-9._~/-]*)?", url):
        raise ParameterError(f"--public-url `{url}` is no address: use one such as https://similar.example.org")
    return url.rstrip("/")


def _named(paths: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """Return absolute paths by the names of their folders. Errors: ``ParameterError`` if two have one name."""
    made: dict[str, str] = {}
    for path in paths:
        whole = os.path.abspath(os.fspath(path))
        name = os.path.basename(whole)
        if name in made:
            raise ParameterError(
                f"two indexes are called `{name}`, and requests name an index by its folder: rename one folder"
            )
        made[name] = whole
    return made
