"""``python -m lookalike`` is the command ``lookalike``."""

from lookalike.cli.start import main

if __name__ == "__main__":
    main()
