"""Graphs that are changed, destroyed or nested when and as no program should, and the receivers of the log."""

from collections.abc import Iterator

import pytest

from driver.running import Running, needs_compiler

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    made = Running()
    yield made
    made.server.close()


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        ("changes", ["0 ['0x7070707']"] * 4),  # a launch that is under way does what was launched
        ("circles", ["1 0 1 0", "at 256 801", "0"]),
        ("backwards", ["0", "1"]),
        ("conditions", ["1 0 1 1 0 1 1 0 1 0"]),  # no program frees their memory; it goes with who holds it last
        ("listeners", ["3"]),  # each entry once to each, except for what a listener leads to
        ("recorded", ["1 0 0 ['0x7070707'] 0 0"]),
    ],
)
def test_graphs_at_odd_moments(running: Running, what: str, lines: list[str]) -> None:
    done = running.run("odd_graphs.py", what)
    assert (done.returncode, done.stdout.splitlines()) == (0, lines), done.stderr
