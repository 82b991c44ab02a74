"""Comparing submissions: the job and its result."""
