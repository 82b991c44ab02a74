"""Placeholder."""
def deduplicated(*a): raise NotImplementedError
