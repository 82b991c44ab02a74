"""``python -m lookalike`` is the command ``lookalike``."""

from lookalike.cli.main import main

main()
