"""Options of the whole suite."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

import spending
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


gc.disable()  # until all cases are found: there are tens of thousands, and none is garbage


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of what a shell starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden files and README output; read the diff")
    parser.addoption("--spend", type=float, metavar="SECONDS", help="what to spend on a test file")
    parser.addoption("--costs", action="store_true", help="rewrite tests/costs.json by what this run measures")


_BEFORE: Counter[str] = Counter()


def pytest_itemcollected(item: pytest.Item) -> None:
    mark_sweep(item, _BEFORE)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what is not paid for, before the order of the cases is changed."""
    seconds: float | None = config.getoption("--spend")
    if seconds is not None:
        names = [item.nodeid for item in items if item.get_closest_marker("sweep") is None]
        asked = spending.chosen(names, spending.read_costs(), seconds)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in asked])
        items[:] = [item for item in items if item.nodeid in asked]


_STARTED = pytest.StashKey[float]()
_MEASURED: dict[str, float] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_STARTED] = spending.processor()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    yield
    item.user_properties.append(("cost", spending.processor() - item.stash[_STARTED]))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In the process that tells of the run, whichever ran the test."""
    if report.when == "teardown":
        _MEASURED[report.nodeid] = sum(float(str(value)) for name, value in report.user_properties if name == "cost")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Thousands of cases need not be looked at five times more at the end, when pytest collects what is left."""
    gc.freeze()
    if session.config.getoption("--costs") and not hasattr(session.config, "workerinput"):
        spending.write_costs(_MEASURED)


def pytest_collection_finish() -> None:
    """Thousands of cases are there to stay: few collections need to look at them.

    They are not frozen: each parse of a long text asks how much is, and to count a million objects takes longer.
    """
    gc.enable()
    gc.collect()
    gc.set_threshold(50_000, 20, 100)


if sanitizers.CHOSEN is not None:

    @pytest.fixture(autouse=True)
    def nothing_is_reported() -> Generator[None]:  # pyright: ignore[reportUnusedFunction] - pytest finds it
        """What a sanitizer says of a program fails the test that ran it."""
        yield
        assert not sanitizers.reports()
