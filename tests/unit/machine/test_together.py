"""What most launches need of the run-time is one piece of machine code; what no launch needs is not in it."""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING

from ptxloom.machine.native import closure, emission, jit, together
from ptxloom.machine.native.language import u32
from ptxloom.machine.runtime.memory import lane_access
from ptxloom.machine.runtime.warps import barriers, reconvergence, scheduler

if TYPE_CHECKING:
    import pytest

NEEDED = (reconvergence.leave, reconvergence.leave_whole, barriers.barrier_whole, scheduler.run_worker)


def twice(value: u32) -> u32:
    return value * 2


def once_more(value: u32) -> u32:
    return twice(value) + u32(1)


def test_whoever_asks_for_one_has_loaded_all() -> None:
    addresses = [jit.native_address(function, watched=False) for function in NEEDED]
    codes = [jit._RUNTIME[name, False] for name in together.members()]
    assert len({code.library for code in codes}) == 1
    assert len({code.address for code in codes}) == len(codes) >= 12
    assert set(addresses) <= {code.address for code in codes}


def test_what_seldom_runs_is_not_optimised_nor_copied() -> None:
    ir = closure.closed(*closure.parts_of(lane_access.place), watched=False)
    numbers = re.findall(r"^define internal [^@]*@ptxloom_(\w+)\(.* #(\d) \{", ir, re.MULTILINE)
    assert {name for name, number in numbers if number == "1"} == {"fault", "refuse"}
    module = emission.emitted(ir, 2, lambda _, module: str(module))
    assert re.search(r"call .*@ptxloom_refuse\(", module)
    assert re.search(r"call .*@ptxloom_fault\(", module)


def test_where_a_tool_watches_each_is_compiled_for_it() -> None:
    for function in NEEDED:
        plain, watched = (jit.native_address(function, watched=watched) for watched in (False, True))
        assert plain != watched


def test_those_that_are_named_later_are_loaded_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    before = jit.native_address(reconvergence.leave, watched=False)
    monkeypatch.setattr(together, "_TOGETHER", dict(together._TOGETHER))
    together.load_together(__name__, ("twice", "once_more"))
    call = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
    both = [call(jit.native_address(function, watched=False))(20) for function in (twice, once_more)]
    assert both == [40, 41]
    assert jit._RUNTIME["ptxloom_twice", False].library is jit._RUNTIME["ptxloom_once_more", False].library
    assert jit.native_address(reconvergence.leave, watched=False) == before
