"""Code for launches that no tool watches holds nothing that only tools need; for others it is all there."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING

import pytest

from ptxloom.machine.native import closure, jit, translation
from ptxloom.machine.native.language import u32
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.asynchronous import copies
from ptxloom.machine.runtime.warps import barriers, reconvergence, scheduler

if TYPE_CHECKING:
    from collections.abc import Callable


@watching
def seen(value: u32) -> u32:
    return helped(value) + u32(5)


def helped(value: u32) -> u32:
    return value * 2


def asks(value: u32) -> u32:
    return seen(value) + 100


def asks_nobody(value: u32) -> u32:
    return helped(value) + 100


@pytest.mark.parametrize(("function", "watched", "result"), [
    (asks, False, 100),
    (asks, True, 119),
    (asks_nobody, False, 114),
    (asks_nobody, True, 114),
])  # fmt: skip
def test_a_tool_s_function_does_nothing_where_no_tool_watches(
    function: Callable[..., object], watched: bool, result: int
) -> None:
    call = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)(jit.native_address(function, watched=watched))
    assert call(7) == result


def test_what_has_no_part_in_tools_is_compiled_once() -> None:
    for function, alike in ((asks, False), (asks_nobody, True)):
        one, other = (jit.native_address(function, watched=watched) for watched in (False, True))
        assert (one == other) is alike


@pytest.mark.parametrize(
    "function", [reconvergence.leave, barriers.barrier_whole, copies.copy_async, scheduler.run_worker]
)
def test_without_tools_little_is_left_to_compile(function: Callable[..., object]) -> None:
    """Without them each of these takes a tenth of a second, with them up to two."""
    translated = translation.translate(function)
    callees = [vars(sys.modules[function.__module__])[name] for name in translated.calls]
    plain, whole = (len(closure.closed(translated.ir, callees, watched=watched)) for watched in (False, True))
    assert plain < 80_000
    assert plain < whole / 2
