"""A launch like one before takes up its state again, and does in all respects what the first one did."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kernels.catalog import cases
from machine.small_kernels import HEAD, entry
from ptxloom.diagnostics import UsageError
from ptxloom.machine import Device, Kernel, LaunchError, kernel
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from types import FrameType

    from kernels.case import KernelCase

STORE = "st.global.u32 [%rd0], %r0;"
#: What it leaves in registers, shared and local memory, the next one would find there.
LEAVER = """
.reg .b32 %never; .shared .align 4 .b32 s; .local .align 4 .b32 l;
ld.shared.u32 %r1, [s]; ld.local.u32 %r2, [l];
add.u32 %r3, %never, %r1; add.u32 %r3, %r3, %r2; st.global.u32 [%rd0], %r3;
or.b32 %never, %r0, 64; st.shared.u32 [s], %never; st.local.u32 [l], %never;
"""
CASES = tuple(
    c
    for c in cases()
    if "sm_90" in c.architectures
    and not {"in any order", "cluster_histogram"} & {c.exercises, c.kernel}
    and zlib.crc32(c.name.encode()) % 4 == 0
)


def _launched(ready: Kernel, case: KernelCase) -> list[bytes]:
    values = [a.tobytes() if isinstance(a, np.void) else a for a in case.arguments()]
    assert ready.launch(case.grid, case.block, values, case.shared_bytes, threads=1).hazards == ()
    return [value.tobytes() for value in values if isinstance(value, np.ndarray)]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_each_launch_leaves_what_the_first_one_left(case: KernelCase) -> None:
    ready = kernel(parse(case.ptx("sm_90")), case.kernel, "sm_90")
    first = _launched(ready, case)
    assert [_launched(ready, case) for _ in range(3)] == [first] * 3


def test_nothing_of_a_launch_is_seen_by_the_next_one() -> None:
    ready = entry(LEAVER, unchecked=True)
    for _ in range(4):
        out = np.full(32, 9, np.uint32)
        ready.launch(1, 32, [out])
        assert not out.any()


def test_each_launch_has_its_own_arrays_and_numbers() -> None:
    ready = entry("ld.param.u32 %r1, [n]; st.global.u32 [%rd0], %r1;", ".param .u64 out, .param .u32 n")
    arrays = [np.zeros(32, np.uint32) for _ in range(6)]
    for number, array in enumerate(arrays):
        ready.launch(1, 32, [array, number])
    assert [set(array.tolist()) for array in arrays] == [{0}, {1}, {2}, {3}, {4}, {5}]


def test_an_array_of_the_launch_before_is_out_of_bounds() -> None:
    ready = entry("ld.param.u64 %rd2, [at]; st.global.u32 [%rd2], %r0;", ".param .u64 out, .param .u64 at")
    out, other = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    for _ in range(3):
        ready.launch(1, 32, [out, other])
    with pytest.raises(LaunchError, match="ended by an error"):
        ready.launch(1, 32, [out, int(other.ctypes.data)])
    ready.launch(1, 32, [out, other])


def test_it_keeps_no_array_alive() -> None:
    ready = entry(STORE)
    array = np.zeros(32, np.uint32)
    last = weakref.ref(array)
    for _ in range(3):
        ready.launch(1, 32, [array])
    del array
    assert last() is None


def test_a_kernel_goes_when_nobody_holds_it_any_more() -> None:
    ready: Kernel | None = entry(STORE)
    assert ready is not None
    for _ in range(3):
        ready.launch(1, 32, [np.zeros(32, np.uint32)])
    gone = weakref.ref(ready)
    gc.disable()
    try:
        ready = None
        assert gone() is None
    finally:
        gc.enable()


def test_memory_of_a_device_that_is_freed_is_told_in_a_warm_launch_too() -> None:
    device = Device("sm_90")
    text = f"{HEAD}.entry k(.param .u64 p) {{ .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 7; ret; }}"
    ready = device.kernel(text, "k")
    there = device.alloc(64)
    for _ in range(3):
        ready.launch(1, 32, [there.address], memory=device)
    more = device.alloc(64)
    ready.launch(1, 32, [more.address], memory=device)
    assert device.read(more, 4) == b"\7\0\0\0"
    device.free(there)
    with pytest.raises(LaunchError) as caught:
        ready.launch(1, 32, [there.address], memory=device)
    assert "freed" in str(caught.value)


def test_hazards_are_told_each_time() -> None:
    ready = entry("bar.sync 0; setp.lt.u32 %p0, %r0, 8; @%p0 bra a; bra b; a: bar.sync 1; bra c; b: bar.sync 1; c:")
    found = [str(ready.launch(1, 32, [np.zeros(32, np.uint32)]).hazards) for _ in range(4)]
    assert found[0]
    assert found == found[:1] * 4


def test_after_an_error_launches_are_as_before() -> None:
    ready = entry("setp.eq.u32 %p0, %r0, 40; @%p0 trap; " + STORE)
    for _ in range(3):
        ready.launch(1, 32, [np.zeros(64, np.uint32)])
        with pytest.raises(LaunchError):
            ready.launch(1, 64, [np.zeros(64, np.uint32)])
    ready.launch(1, 32, [out := np.zeros(32, np.uint32)])
    assert out.tolist() == list(range(32))


def test_the_memory_limit_holds_for_a_warm_launch() -> None:
    ready = entry(STORE)
    out = np.zeros(32, np.uint32)
    for _ in range(3):
        ready.launch(1, 32, [out], memory_limit=1 << 30)
    with pytest.raises(UsageError, match="memory_limit"):
        ready.launch(1, 32, [out], memory_limit=1000)


def test_a_code_variant_that_a_launch_came_to_need_is_there_in_the_next() -> None:
    ready = entry("ld.param.u32 %r1, [n]; setp.lt.u32 %p0, %r0, %r1; @!%p0 bra end; " + STORE + " end:",
                  ".param .u64 out, .param .u32 n")  # fmt: skip
    for part in (32, 32, 32, 5, 5, 5, 32):
        ready.launch(1, 32, [out := np.full(32, 99, np.uint32), part])
        assert out.tolist() == list(range(part)) + [99] * (32 - part)


def test_threads_that_launch_one_kernel_do_not_share_a_state() -> None:
    ready = entry("ld.param.u32 %r1, [n]; st.global.u32 [%rd0], %r1;", ".param .u64 out, .param .u32 n")
    wrong: list[Any] = []

    def work(number: int) -> None:
        for step in range(60):
            out = np.zeros(32, np.uint32)
            ready.launch(2, 32, [out, 1000 * number + step])
            if set(out.tolist()) != {1000 * number + step}:
                wrong.append(out)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_launch_like_one_before_begins_no_arithmetic_of_arrays() -> None:
    """NumPy takes as long to begin a sum as a small kernel takes."""
    ready = entry(STORE)
    out = np.zeros(1, np.uint32)
    summed: list[str] = []

    def note(_frame: FrameType, event: str, function: object) -> None:
        if event == "c_call" and getattr(function, "__name__", "") == "reduce":
            summed.append(repr(function))

    ready.launch(1, 1, [out], threads=1)
    sys.setprofile(note)
    try:
        ready.launch(1, 1, [out], threads=1)
    finally:
        sys.setprofile(None)
    assert summed == []
