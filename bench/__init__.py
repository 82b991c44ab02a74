"""Speeds of the engine, each with its expected answer: `python -m bench --help`."""
