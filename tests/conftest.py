"""Options of the whole suite."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from driver import sanitizers
from sweeps import examples, mark_sweep

# Nothing depends on the clock, nor on chance: a red law is a change's doing. PTXLOOM_RANDOM_LAWS=1 tries new examples.
settings.register_profile(
    "laws",
    deadline=None,
    max_examples=examples(50),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="PTXLOOM_RANDOM_LAWS" not in os.environ,
)
settings.load_profile("laws")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of what a shell starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden files and README output; read the diff")


_BEFORE: Counter[str] = Counter()


def pytest_itemcollected(item: pytest.Item) -> None:
    mark_sweep(item, _BEFORE)


def pytest_collection_finish() -> None:
    """Thousands of cases are there to stay: few collections need to look at them.

    They are not frozen: each parse of a long text asks how much is, and to count a million objects takes longer.
    """
    gc.collect()
    gc.set_threshold(50_000, 20, 100)


if sanitizers.CHOSEN is not None:

    @pytest.fixture(autouse=True)
    def nothing_is_reported() -> Generator[None]:  # pyright: ignore[reportUnusedFunction] - pytest finds it
        """What a sanitizer says of a program fails the test that ran it."""
        yield
        assert not sanitizers.reports()
