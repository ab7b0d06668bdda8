"""By default other threads help once there is work for them; results are the same."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.machine.launch import grid

if TYPE_CHECKING:
    from collections.abc import Callable

BODY = "mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd2, %r1, 4, %rd1; add.u32 %r2, %r1, 7; st.global.u32 [%rd2], %r2;"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """The threads that run CTAs beside the first one from now on, on a machine of four cores."""
    found: list[threading.Thread] = []
    start: Callable[[threading.Thread], None] = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        if thread.name.startswith(grid.HELPER):  # others talk to a compiler beside, and end when it is done
            found.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    monkeypatch.setattr(grid, "default_threads", lambda: 4)
    return found


@pytest.mark.parametrize(("worth", "threads", "expected"), [
    (1e9, None, 0),
    (-1.0, None, 3),
    (1e9, 3, 2),
    (-1.0, 1, 0),
])  # fmt: skip
def test_helpers_start_where_there_is_work(
    worth: float, threads: int | None, expected: int, started: list[threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "_WORTH_SECONDS", worth)
    kernel = entry(BODY)
    out = np.zeros(600, np.uint32)
    result = kernel.launch(600, 32, [out], threads=threads)
    assert out.tolist() == list(range(7, 607))
    assert result.instructions == kernel.launch(600, 32, [out], threads=1).instructions
    assert len(started) == expected
    assert not any(thread.is_alive() for thread in started)


def test_a_kernel_that_waits_for_other_ctas_ends(started: list[threading.Thread]) -> None:
    """The last CTA lets the first ones go: all have to be resident, whoever runs them."""
    wait = """atom.global.add.u32 %r2, [%rd1], 1;
    L: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p1, %r3, 12; @%p1 bra L;"""
    out = np.zeros(1, np.uint32)
    entry(wait).launch(12, 1, [out])
    assert out.tolist() == [12]
    assert not any(thread.is_alive() for thread in started)
