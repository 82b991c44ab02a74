"""``python -m lookalike`` is the command ``lookalike``. An interrupt while its modules are loaded ends it with 130."""

import sys

try:
    from lookalike.cli.main import main
except KeyboardInterrupt:
    sys.stderr.write("lookalike: interrupted\n")
    sys.exit(130)

if __name__ == "__main__":
    main()
