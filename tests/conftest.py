"""Options of the whole suite."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Nothing depends on the clock, nor on chance: a red law is a change's doing. PTXLOOM_RANDOM_LAWS=1 tries new examples.
settings.register_profile(
    "laws",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="PTXLOOM_RANDOM_LAWS" not in os.environ,
)
settings.load_profile("laws")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden files and README output; read the diff")
