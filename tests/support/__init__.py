"""Helpers of the tests: texts, corpora, classes, archives and reports that are made on the spot."""
