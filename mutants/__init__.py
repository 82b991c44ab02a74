"""Mutation testing: how many small changes to the code do the tests notice? docs/mutants.md has the scores."""
