"""Comparisons as jobs: files come in, a child process compares them, the report stands behind its address."""
