"""Memory that a launch leaves to the next: whose size fits, once nothing refers to it, and not without end."""

from __future__ import annotations

import gc

from ptxloom.machine.memory import left_over as module
from ptxloom.machine.memory.left_over import left_over

SIZE = 3 << 20


def test_memory_is_left_to_the_next_only_once_nothing_refers_to_it() -> None:
    first = left_over(SIZE, "a test")
    view, place = first.view("u8")[: 1 << 10], first.ctypes.data
    del first
    second = left_over(SIZE, "a test")
    assert second.ctypes.data != place
    del view, second
    gc.collect()
    places = {left_over(SIZE, "a test").ctypes.data for _ in range(3)}
    assert len(places) < 3


def test_other_sizes_are_not_mixed() -> None:
    del (kept := [left_over(SIZE, "a test")])[:]
    assert not kept
    assert len(left_over(2 * SIZE, "a test")) == 2 * SIZE


def test_what_lies_unused_is_limited() -> None:
    size = module._MOST // 4  # pyright: ignore[reportPrivateUsage]
    kept = [left_over(size, "a test") for _ in range(6)]
    del kept
    gc.collect()
    assert sum(map(len, module._LEFT)) <= module._MOST  # pyright: ignore[reportPrivateUsage]
