"""``python -m lookalike`` is the command ``lookalike``."""

from lookalike.cli import main

main()
