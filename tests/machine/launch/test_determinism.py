"""A race-free kernel leaves the same bytes with any number of threads and in any order of warps."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from kernels.case import KernelCase, differs
from kernels.catalog import cases
from machine.small_kernels import entry
from ptxloom.machine import Kernel, kernel
from ptxloom.syntax import parse

ARCHITECTURE = "sm_90"
SCHEDULES = [(threads, seed) for threads in (1, 2, 4) for seed in (0, 1, 0xFFFF_FFFF)] + [(2, n) for n in range(7, 15)]

# kernels whose threads wait for one another: what an order of warps could change, it would change here
WAITING = frozenset((
    "control.accounts", "control.fibonaccis", "control.leavers", "control.quicksorts", "cooperation.async_zero_fill",
    "cooperation.atomic_medley", "cooperation.cluster_histogram", "cooperation.grid_rounds", "cooperation.group_tiles",
    "cooperation.lane_lock", "cooperation.producer_mbarrier", "cooperation.producer_named", "cooperation.spin_lock",
    "cooperation.ticket_lock", "dense.lu", "graphs.breadth_first", "graphs.union_find",
    "histograms.histogram_divergent",
    "physics.fft", "reductions.argmax", "reductions.reduce_shared", "reductions.reduce_shuffle", "scans.scan_lookback",
    "sorts.sort_bitonic", "sorts.sort_radix", "tensor.hgemm_half", "transposes.transpose_padded",
    "triton_atomics.atomics", "triton_matmul.matmul",
))  # fmt: skip
REST_SHARE = 4  # one in four of the other kernels, by the sum of its name

CASES = tuple(c for c in cases() if ARCHITECTURE in c.architectures)
RACE_FREE = tuple(c for c in CASES if "in any order" not in c.exercises)
CHOSEN = tuple(c for c in RACE_FREE if c.name in WAITING or zlib.crc32(c.name.encode()) % REST_SHARE == 0)


def _run(ready: Kernel, case: KernelCase, threads: int, seed: int) -> tuple[tuple[Any, ...], list[str]]:
    """Every array after a launch, and the lines that were printed, sorted: warps print in any order."""
    arguments = case.arguments()
    values = [a.tobytes() if isinstance(a, np.void) else a for a in arguments]
    cluster = 2 if case.kernel == "cluster_histogram" else 1
    result = ready.launch(
        case.grid,
        case.block,
        values,
        case.shared_bytes,
        cluster=cluster,
        threads=threads,
        schedule_seed=seed,
        timeout=300,
    )
    assert result.hazards == ()
    arrays: tuple[Any, ...] = tuple(a for a in arguments if type(a) is np.ndarray)
    return arrays, sorted(result.output.splitlines())


@pytest.mark.sample(every=8)
@pytest.mark.parametrize("case", CHOSEN, ids=[c.name for c in CHOSEN])
def test_threads_and_the_order_of_warps_change_no_byte(case: KernelCase) -> None:
    ready = kernel(parse(case.ptx(ARCHITECTURE)), case.kernel, ARCHITECTURE)
    arrays, text = _run(ready, case, *SCHEDULES[0])
    for threads, seed in SCHEDULES[1:]:
        again, said = _run(ready, case, threads, seed)
        for number, (found, wanted) in enumerate(zip(again, arrays, strict=True)):
            assert differs(found, wanted, 0.0) is None, f"array {number}, {threads} threads, seed {seed}"
        assert said == text


def test_every_kernel_chosen_by_name_is_there() -> None:
    assert {c.name for c in CHOSEN} >= WAITING


def test_the_seed_does_change_the_order_of_warps() -> None:
    out = np.zeros(64, np.uint32)
    body = "atom.global.add.u32 %r1, [%rd1], 1;\nand.b32 %r2, %r0, 31;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 ret;\n"
    body += "shr.u32 %r3, %r0, 5; mad.wide.u32 %rd2, %r3, 4, %rd1; st.global.u32 [%rd2+4], %r1;"
    ready = entry(body)
    orders: set[tuple[int, ...]] = set()
    for seed in range(8):
        out[:] = 0
        ready.launch(1, 512, [out], threads=1, schedule_seed=seed)
        orders.add(tuple(np.argsort(out[1:17]).tolist()))
    assert len(orders) > 1


def test_lanes_that_wait_for_another_warp_and_for_each_other_get_their_turn_with_every_seed() -> None:
    """Lane 0 spins until a thread of another warp sets a flag, lane 5 until lane 0 sets one."""
    body = """
    setp.ne.u32 %p1, %r0, 70; @%p1 bra A; st.volatile.shared.u32 [flags], 1;
    A: setp.ne.u32 %p1, %r0, 0; @%p1 bra B;
    W: ld.volatile.shared.u32 %r1, [flags]; setp.eq.u32 %p2, %r1, 0; @%p2 bra W;
    st.volatile.shared.u32 [flags+4], 1;
    B: setp.ne.u32 %p1, %r0, 5; @%p1 bra C;
    V: ld.volatile.shared.u32 %r1, [flags+4]; setp.eq.u32 %p2, %r1, 0; @%p2 bra V;
    C:
    """
    ready = entry(body, before=".shared .align 8 .b32 flags[2];\n")
    for seed in range(40):
        ready.launch(1, 96, [np.zeros(1, np.uint32)], threads=1, schedule_seed=seed, timeout=300)
