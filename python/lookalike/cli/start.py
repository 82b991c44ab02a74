"""The start of the command ``lookalike``: loads the command line. An interrupt while it is loaded exits with 130."""

from __future__ import annotations

import sys

try:
    from lookalike.cli.main import main
except KeyboardInterrupt:
    sys.stderr.write("lookalike: interrupted\n")
    sys.exit(130)

__all__ = ["main"]
