"""Ctrl-C reaches the caller, whatever it hits."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.machine.native import interrupts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@pytest.fixture(autouse=True)
def _same_handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    after = signal.signal(signal.SIGINT, before)
    assert after is before


class Finalized:
    """Interrupts where Python drops exceptions."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_inside_a_finalizer_comes_after_it() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts.guarded():
        Finalized()


def test_an_interrupt_waits_for_the_next_check() -> None:
    seen: list[str] = []

    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        seen.append("went on")
        interrupts.check()
        seen.append("not here")

    with pytest.raises(KeyboardInterrupt), interrupts.guarded():
        work()
    assert seen == ["went on"]


def test_an_inner_guard_leaves_the_interrupt_to_the_outer_one() -> None:
    seen: list[str] = []

    def work() -> None:
        with interrupts.guarded():
            signal.raise_signal(signal.SIGINT)
        seen.append("went on")

    with pytest.raises(KeyboardInterrupt), interrupts.guarded():
        work()
    assert seen == ["went on"]


def test_nobody_waits_for_a_third_interrupt() -> None:
    seen: list[str] = []

    def work() -> None:
        for _ in range(3):
            seen.append("on")
            signal.raise_signal(signal.SIGINT)
        seen.append("not here")

    with pytest.raises(KeyboardInterrupt), interrupts.guarded():
        work()
    assert seen == ["on"] * 3


def test_a_handler_that_does_not_raise_lets_the_run_go_on() -> None:
    calls: list[int] = []

    def handler(number: int, _: FrameType | None) -> None:
        calls.append(number)

    before = signal.signal(signal.SIGINT, handler)
    try:
        with interrupts.guarded():
            signal.raise_signal(signal.SIGINT)
            assert calls == []
            interrupts.check()
            assert calls == [signal.SIGINT]
            interrupts.check()
        assert calls == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_do_not_touch_the_handler() -> None:
    found: list[object] = []

    def work() -> None:
        with interrupts.guarded():
            found.append(signal.getsignal(signal.SIGINT))
            interrupts.check()

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert found == [signal.getsignal(signal.SIGINT)]


def _interrupt_again(dropped: sys.UnraisableHookArgs) -> None:
    assert dropped.exc_type is KeyboardInterrupt
    _thread.interrupt_main()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_at_any_moment_stops_a_launch(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first line of the translation on, in small steps, each time a kernel that was never compiled before.

    Python drops an exception that is raised in a finalizer, one of LLVM's objects for example: it is interrupted again.
    """
    monkeypatch.setattr(sys, "unraisablehook", _interrupt_again)
    for moment in range(24):
        body = "".join(f"add.u32 %r{n % 20 + 2}, %r{n % 7}, {1000 * threads + moment + n};\n" for n in range(60))
        timer = threading.Timer(0.004 * moment, _thread.interrupt_main)
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - it may come anywhere in here
            timer.start()
            entry(f"{body}L: bra L;").launch(6, 64, [np.zeros(64, np.uint32)], threads=threads, timeout=300)
        timer.join()
