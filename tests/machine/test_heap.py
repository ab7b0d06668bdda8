"""The device heap: bounded, of the module, kept from launch to launch; what is wrong with it is reported."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from machine.small_kernels import HEAD, REGISTERS
from ptxloom.diagnostics import UsageError
from ptxloom.machine import Kernel, LaunchError, kernel
from ptxloom.machine.memory.heap import Heap, Maker
from ptxloom.syntax import parse

EXTERN = """
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .u64 kept[64];
"""
MALLOC = """
{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd4; call (r), malloc, (n); ld.param.b64 %rd5, [r]; }
"""
FREE = "{ .param .b64 p; st.param.b64 [p], %rd5; call free, (p); }"
PLACE = "mov.u32 %r0, %tid.x; mov.u64 %rd2, kept; mad.wide.u32 %rd3, %r0, 8, %rd2; ld.param.u64 %rd4, [size];\n"
BODIES = {
    "make": MALLOC + "st.global.u64 [%rd3], %rd5;\nsetp.ne.u64 %p1, %rd5, 0; @%p1 st.u32 [%rd5], %r0;",
    "use": "ld.global.u64 %rd5, [%rd3]; ld.u32 %r1, [%rd5]; add.u32 %r1, %r1, 1; st.u32 [%rd5], %r1;",
    "drop": "ld.global.u64 %rd5, [%rd3];" + FREE,
    "loop": "mov.u32 %r2, 0; L:" + MALLOC + "st.u32 [%rd5], %r0;" + FREE
    + "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 300; @%p1 bra L;",
    "grow": "mov.u32 %r2, 0; L:" + MALLOC + "setp.eq.u64 %p2, %rd5, 0; @%p2 bra OUT;"
    "st.u32 [%rd5], %r2; add.u32 %r2, %r2, 1; bra L; OUT: st.global.u32 [%rd2], %r2;",
    "peek": MALLOC + "ld.u32 %r1, [%rd5]; st.u32 [%rd5], %r0; st.global.u32 [%rd3], %r1;" + FREE,
}  # fmt: skip


def kernels() -> dict[str, Kernel]:
    """Kernels of one module; each takes the size to allocate."""
    entries = "".join(
        f".visible .entry {name}(.param .u64 size)\n{{\n{REGISTERS}{PLACE}{body}\nret;\n}}\n"
        for name, body in BODIES.items()
    )
    module = parse(HEAD + EXTERN + entries)
    return {name: kernel(module, name) for name in BODIES}


def addresses(of: Kernel, count: int) -> list[int]:
    return [int(n) for n in of.global_array("kept")[:count]]


def test_what_one_kernel_allocates_another_uses_and_a_third_frees() -> None:
    known = kernels()
    known["make"].launch(1, 40, [64])
    given = sorted(addresses(known["make"], 40))
    assert all(given)
    assert all(b - a >= 64 + 16 for a, b in pairwise(given))
    assert all(at % 16 == 0 for at in given)
    assert tuple(known["use"].launch(1, 40, [0]).hazards) == ()
    assert tuple(known["drop"].launch(1, 40, [0]).hazards) == ()
    with pytest.raises(LaunchError, match=r"use-after-free: read of 4 bytes at malloc\[\d+\], which has been freed"):
        known["use"].launch(1, 40, [0])
    again = known["drop"].launch(1, 40, [0])
    assert [(h.rule, h.count) for h in again.hazards] == [("memcheck.double-free", 40)]


def test_modules_have_heaps_of_their_own() -> None:
    first, second = kernels(), kernels()
    first["make"].launch(1, 1, [64])
    second["make"].global_array("kept")[:] = first["make"].global_array("kept")
    with pytest.raises(LaunchError, match="out-of-bounds"):
        second["use"].launch(1, 1, [0])


@pytest.mark.parametrize(("limit", "size", "least"), [(8 << 20, 4096, 2000), (1 << 16, 64, 800), (0, 1, 0)])
def test_beyond_its_limit_the_heap_gives_null(limit: int, size: int, least: int) -> None:
    """800 and 2,000 are what fits if a block costs no more than a quarter beyond its bytes."""
    known = kernels()
    assert tuple(known["grow"].launch(1, 1, [size], heap_bytes=limit).hazards) == ()
    made = addresses(known["grow"], 1)[0] & 0xFFFFFFFF
    assert least <= made <= limit // size


@pytest.mark.parametrize("size", [8 << 20, 1 << 40, 2**64 - 1])
def test_more_than_all_of_it_is_null(size: int) -> None:
    known = kernels()
    known["make"].launch(1, 32, [size])
    assert addresses(known["make"], 32) == [0] * 32


def test_nothing_is_a_block_too_that_nobody_may_touch() -> None:
    known = kernels()
    with pytest.raises(LaunchError, match=r"out-of-bounds: write of 4 bytes at malloc\[0\]"):
        known["make"].launch(1, 1, [0])
    known["make"].global_array("kept")[0] = 0


def test_a_block_ends_where_it_was_asked_to() -> None:
    known = kernels()
    with pytest.raises(LaunchError, match=r"write of 4 bytes at malloc\[0\]"):
        known["make"].launch(1, 1, [3])


def test_what_is_freed_is_used_again_when_the_room_is_needed() -> None:
    known = kernels()
    out = known["loop"].launch(1, 32, [2048], heap_bytes=1 << 18)
    assert tuple(out.hazards) == ()
    assert known["loop"].memory.heap is not None
    assert known["loop"].memory.heap.live == ()


def test_memory_used_again_holds_nothing_of_before() -> None:
    known = kernels()
    checks = ["memcheck", "initcheck:global"]
    for _ in range(8):
        hazards = known["peek"].launch(1, 32, [512], heap_bytes=1 << 15, checks=checks).hazards
        assert addresses(known["peek"], 32) == [0] * 32
        assert [h.rule for h in hazards] == ["initcheck.uninitialised"]


def test_whose_memory_it_was_before_is_no_race() -> None:
    known = kernels()
    for _ in range(4):
        result = known["loop"].launch(2, 64, [256], heap_bytes=1 << 16, checks=["memcheck", "racecheck:global"])
        assert tuple(result.hazards) == ()


def test_its_size_stays_while_blocks_live() -> None:
    known = kernels()
    known["make"].launch(1, 1, [64], heap_bytes=1 << 16)
    with pytest.raises(UsageError, match=r"^heap_bytes is 4096; it must be 65536, as long as 1 blocks live"):
        known["make"].launch(1, 1, [64], heap_bytes=4096)
    known["use"].launch(1, 1, [0])
    known["drop"].launch(1, 1, [0])
    known["make"].launch(1, 1, [64], heap_bytes=4096)


def test_leaks_are_told_by_where_they_were_allocated() -> None:
    known = kernels()
    checks = ["memcheck", "memcheck:leaks"]
    (leak,) = known["make"].launch(2, 40, [100], checks=checks).hazards
    assert (leak.rule, leak.size, leak.count) == ("memcheck.leak", 8000, 80)
    assert "8,000 bytes allocated here (80 pieces, one of them malloc[" in leak.message
    assert (leak.instruction.split(",")[1].strip(), leak.block, leak.warp, leak.lanes) == ("malloc", (0, 0, 0), 0, (0,))
    (leak,) = known["use"].launch(1, 40, [0], checks=checks).hazards  # what another kernel has made
    assert leak.count == 80
    (leak,) = known["drop"].launch(1, 40, [0], checks=checks).hazards
    assert (leak.size, leak.count) == (4000, 40)
    assert tuple(known["drop"].launch(1, 1, [0]).hazards) != ()  # freed already; without the check no leak is reported
    assert tuple(known["loop"].launch(1, 32, [8]).hazards) == ()


def test_a_leak_check_needs_no_code_of_its_own() -> None:
    known = kernels()
    known["loop"].launch(1, 32, [8], checks=["memcheck", "synccheck", "memcheck:leaks"])
    assert {checks for _, checks in known["loop"].code.variants} == {frozenset(("memcheck", "synccheck"))}


def test_any_order_of_calls_keeps_blocks_apart() -> None:
    """Random allocations and frees: blocks never overlap, a freed one has no owner, all of it comes back at the end."""
    generator = np.random.default_rng(7)
    heap = Heap(1 << 16)
    someone = Maker(None, (0, 0, 0), 0, 0)  # pyright: ignore[reportArgumentType]
    live: dict[int, int] = {}
    for _ in range(4000):
        if live and generator.random() < 0.5:
            at = int(generator.choice(list(live)))
            assert heap.at(at + live[at] // 2) is not None or live[at] == 0
            assert heap.release(at) is not None
            assert heap.release(at) is None
            assert heap.at(at) is None
            freed = heap.freed_at(at)
            assert freed is not None
            assert freed.start == at
            del live[at]
        else:
            size = int(generator.integers(0, 3000))
            at = heap.allocate(size, someone)
            if at:
                assert all(at + size <= other or other + live[other] <= at for other in live if other != at)
                assert heap.region.ctypes.data <= at <= heap.region.ctypes.data + heap.region.nbytes - size
                live[at] = size
    for at in live:
        heap.release(at)
    assert heap.allocate((1 << 16) - 16, someone)


FORKING = """
import os, sys, threading, time
from ptxloom.machine.memory import heap
from ptxloom.machine.memory.heap import Heap, Maker
shared = Heap(1 << 20)
ended = threading.Event()
def work():
    while not ended.is_set():
        at = shared.allocate(64, Maker(None, (0, 0, 0), 0, 0))
        shared.release(at)
worker = threading.Thread(target=work)
worker.start()
for _ in range(200):
    child = os.fork()
    if child == 0:
        os._exit(shared.allocate(64, Maker(None, (0, 0, 0), 0, 0)) == 0)
    assert os.waitpid(child, 0)[1] == 0
ended.set()
worker.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_finds_the_heap_free() -> None:
    subprocess.run([sys.executable, "-c", FORKING], check=True, timeout=300)
