"""Shared by all tests: Hypothesis runs from fixed seeds, so that a failure can be repeated."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")
