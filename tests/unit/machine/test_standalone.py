"""Functions of the run-time that are compiled once, and called where others are copied into each caller."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from ptxloom.machine import semantics
from ptxloom.machine.native import closure, standalone, translation
from ptxloom.machine.runtime.warps import reconvergence

if TYPE_CHECKING:
    from collections.abc import Callable

assert semantics.FAMILIES  # all of the run-time is imported
ALL = tuple(standalone._STANDALONE.values())


def callees(function: Callable[..., object]) -> list[Callable[..., object]]:
    return [vars(sys.modules[function.__module__])[name] for name in translation.translate(function).calls]


def called(function: Callable[..., object]) -> set[Callable[..., object]]:
    """Those that stand alone among what a function calls, itself or through others."""
    found = closure.reached(callees(function), lambda one: not standalone.is_standalone(one))
    return {one for one in found if standalone.is_standalone(one)}


def test_none_waits_for_itself_to_be_loaded() -> None:
    waiting = {function: called(function) for function in ALL}
    assert len(waiting) >= 6
    while waiting:
        ready = {function for function, needs in waiting.items() if not needs & waiting.keys()}
        assert ready, [function.__name__ for function in waiting]
        waiting = {function: needs for function, needs in waiting.items() if function not in ready}


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_none_calls_itself(function: Callable[..., object]) -> None:
    assert function not in called(function)


def test_a_module_declares_them_and_holds_the_others() -> None:
    function = reconvergence.leave_whole
    text = closure.closed(translation.translate(function).ir, callees(function), watched=True)
    declared = set(re.findall(r"^declare .*@(ptxloom_\w+)\(", text, re.MULTILINE))
    defined = set(re.findall(r"^define .*@(ptxloom_\w+)\(", text, re.MULTILINE))
    assert declared == {f"ptxloom_{one.__name__}" for one in called(function)}
    assert not declared & defined
    assert "ptxloom_leave_whole" in defined
