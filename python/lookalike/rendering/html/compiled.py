"""Compiled templates in the user's cache folder, because compiling them takes longer than rendering a page.

The package folder is never written. A file is named by the version of the package and the content of the template, so a
stale one is never read. A folder that cannot be written or is damaged means no cache, and no error.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike._core import __version__

if TYPE_CHECKING:
    from jinja2 import BytecodeCache
    from jinja2.bccache import Bucket


def cache_folder() -> Path | None:
    """Return the folder for files that can be made again, as the platform has it; ``None`` without a home folder."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) / "lookalike" / "Cache" if local else None
    with suppress(RuntimeError):
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "lookalike"
        # The XDG specification ignores a path that is not absolute.
        base = os.environ.get("XDG_CACHE_HOME", "")
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "lookalike"
    return None


def compiled_templates() -> BytecodeCache | None:
    """Return the cache of compiled templates, or ``None`` if there is no folder for it."""
    from jinja2 import BytecodeCache

    found = cache_folder()
    if found is None:
        return None
    folder = found

    class Compiled(BytecodeCache):
        def load_bytecode(self, bucket: Bucket) -> None:
            with suppress(OSError, ValueError, EOFError, TypeError):
                bucket.bytecode_from_string(_path(folder, bucket).read_bytes())

        def dump_bytecode(self, bucket: Bucket) -> None:
            with suppress(OSError):
                path = _path(folder, bucket)
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                    file.write(bucket.bytecode_to_string())
                os.replace(file.name, path)

    return Compiled()


def _path(folder: Path, bucket: Bucket) -> Path:
    """Return where a template is kept: named by the version, and by its name and content."""
    name = sha256(f"{bucket.key} {bucket.checksum}".encode()).hexdigest()[:32]
    return folder / f"templates-{__version__}-py{sys.version_info[0]}.{sys.version_info[1]}" / name
