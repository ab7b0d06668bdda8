"""Barriers of a CTA and of a cluster: counts, reductions, arrivals, numbers in registers, divergence, deadlock."""

from __future__ import annotations

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.diagnostics import UsageError
from ptxloom.machine import LaunchError, kernel
from ptxloom.syntax import parse

CELL = ".shared .align 4 .b32 cell[128];"
ADDRESS = "shl.b32 %r10, %r0, 2; mov.u32 %r11, cell; add.u32 %r10, %r10, %r11;"
SYNCHRONISERS = (
    "bar.sync 0;",
    "barrier.sync 3;",
    "barrier.sync.aligned 3;",
    "bar.cta.sync 1, 96;",
    "mov.u32 %r20, 5; add.u32 %r20, %r20, %r21; bar.sync %r20;",
    "mov.u32 %r20, 64; add.u32 %r20, %r20, 32; bar.sync 7, %r20;",
    "bar.red.popc.u32 %r20, 2, %p7;",
    "barrier.cluster.arrive; barrier.cluster.wait;",
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;",
)


@pytest.mark.parametrize("synchronise", SYNCHRONISERS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_was_stored_before_a_barrier_is_read_after_it_by_any_warp(synchronise: str, seed: int) -> None:
    out = np.zeros(96, np.uint32)
    body = f"""{ADDRESS} mov.u32 %r21, 0; setp.eq.u32 %p7, %r0, 0;
    mul.lo.u32 %r1, %r0, 3; st.shared.u32 [%r10], %r1; {synchronise}
    mov.u32 %r2, 95; sub.u32 %r2, %r2, %r0; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r11;
    ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd0], %r3;"""
    entry(body, before=CELL).launch(1, 96, [out], schedule_seed=seed)
    assert out.tolist() == [3 * (95 - n) for n in range(96)]


def test_reductions_tell_every_thread_how_many_whether_all_and_whether_any() -> None:
    out = np.zeros((72, 4), np.uint32)
    body = """mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd1, %rd2;
    and.b32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 1; setp.lt.u32 %p2, %r0, 72; setp.gt.u32 %p3, %r0, 100;
    bar.red.popc.u32 %r2, 1, %p1;
    barrier.red.popc.aligned.u32 %r3, 1, !%p1;
    bar.red.and.pred %p4, 4, %p2; bar.red.or.pred %p5, 4, %p1; bar.red.or.pred %p6, 4, %p3;
    bar.red.and.pred %p7, 4, %p1;
    selp.u32 %r4, 1, 0, %p4; selp.u32 %r5, 2, 0, %p5; selp.u32 %r6, 4, 0, %p6; selp.u32 %r7, 8, 0, %p7;
    or.b32 %r4, %r4, %r5; or.b32 %r6, %r6, %r7; or.b32 %r4, %r4, %r6;
    st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r0};"""
    entry(body).launch(1, 72, [out])
    assert out.tolist() == [[18, 54, 3, n] for n in range(72)]


def test_lanes_of_one_warp_reduce_at_barriers_of_their_own() -> None:
    out = np.zeros(64, np.uint32)
    body = """and.b32 %r1, %r0, 1; add.u32 %r2, %r1, 4; setp.lt.u32 %p1, %r0, 20; setp.eq.u32 %p2, %r1, 0;
    @%p2 bra EVEN;
    barrier.red.popc.u32 %r3, %r2, 32, %p1; bra DONE;
    EVEN: barrier.red.popc.u32 %r3, %r2, 32, %p1; add.u32 %r3, %r3, 100;
    DONE: st.global.u32 [%rd0], %r3;"""
    entry(body).launch(1, 64, [out])
    assert out.tolist() == [10, 110][::-1] * 32


def test_an_arrival_counts_and_does_not_wait() -> None:
    out = np.zeros(64, np.uint32)
    body = f"""{ADDRESS} setp.lt.u32 %p1, %r0, 32; @%p1 bra PRODUCER;
    bar.sync 1, 64; ld.shared.u32 %r1, [%r10+-128]; bra DONE;
    PRODUCER: add.u32 %r1, %r0, 7; st.shared.u32 [%r10], %r1; bar.arrive 1, 64;
    DONE: st.global.u32 [%rd0], %r1;"""
    entry(body, before=CELL).launch(1, 64, [out])
    assert out.tolist() == [n % 32 + 7 for n in range(64)]


def test_a_count_is_one_of_whole_warps_even_where_the_last_is_not_full() -> None:
    out = np.zeros(40, np.uint32)
    entry("bar.sync 1, 64; mov.u32 %r1, 1; st.global.u32 [%rd0], %r1;").launch(1, 40, [out])
    assert out.tolist() == [1] * 40


def test_threads_that_exit_complete_what_the_others_wait_for() -> None:
    out = np.zeros(96, np.uint32)
    body = """setp.gt.u32 %p1, %r0, 40; @%p1 bra LATER; barrier.cluster.arrive; bar.sync 0; barrier.cluster.wait;
    mov.u32 %r1, 1; st.global.u32 [%rd0], %r1; ret;
    LATER: setp.gt.u32 %p2, %r0, 50; @%p2 barrier.cluster.arrive; ret;"""
    entry(body).launch(1, 96, [out], timeout=300)
    assert out.tolist() == [1] * 41 + [0] * 55


@pytest.mark.parametrize("seed", [0, 3])
def test_a_cluster_s_barrier_joins_all_its_blocks_again_and_again(seed: int) -> None:
    out = np.zeros(12, np.uint32)
    body = """mov.u32 %r3, %ctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r4, cell;
    add.u32 %r5, %r2, 1; and.b32 %r5, %r5, 3; mapa.shared::cluster.u32 %r6, %r4, %r5;
    getctarank.shared::cluster.u32 %r12, %r6;
    mov.u32 %r7, %r3; mov.u32 %r8, 0;
    LOOP: st.shared.u32 [cell], %r7; barrier.cluster.arrive; barrier.cluster.wait;
    ld.shared::cluster.u32 %r7, [%r6]; barrier.cluster.arrive.relaxed; barrier.cluster.wait;
    add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 6; @%p1 bra LOOP;
    mad.lo.u32 %r7, %r12, 100, %r7;
    mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r7;"""
    kernel = entry(body, before=".shared .align 4 .b32 cell;")
    kernel.launch(12, 1, [out], cluster=4, schedule_seed=seed, threads=2, timeout=300)
    assert out.tolist() == [n // 4 * 4 + (n + 6) % 4 + 100 * ((n + 1) % 4) for n in range(12)]


def test_a_warp_that_comes_in_parts_from_different_places_is_reported() -> None:
    body = "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN; bar.sync 0; bra DONE; EVEN: bar.sync 0; DONE:"
    hazards = entry(body).launch(1, 64, [np.zeros(64, np.uint32)]).hazards
    assert [(h.kind, h.tool) for h in hazards] == [("divergent", "synccheck")]


@pytest.mark.parametrize("form", ["bar.sync %r0;", "bar.sync 1, %r0;", "bar.arrive 1, %r1;"])
def test_numbers_and_counts_that_no_barrier_has_end_the_kernel(form: str) -> None:
    with pytest.raises(LaunchError) as caught:
        entry(f"mov.u32 %r1, 0; mul.lo.u32 %r1, %r0, 5; {form}").launch(1, 64, [np.zeros(64, np.uint32)])
    assert caught.value.hazards[0].kind == "invalid"


def test_a_cluster_barrier_that_a_block_never_reaches_is_a_deadlock() -> None:
    body = """mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %p1, %r2, 0; @%p1 bra A;
    bar.sync 1, 64;
    A: barrier.cluster.arrive;
    barrier.cluster.wait;"""
    with pytest.raises(LaunchError, match="deadlocked") as caught:
        entry(body).launch(2, 32, [np.zeros(64, np.uint32)], cluster=2)
    assert {h.instruction for h in caught.value.hazards} == {"bar.sync 1, 64;", "barrier.cluster.wait;"}


def test_a_kernel_may_say_what_cluster_it_needs() -> None:
    text = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) .reqnctapercluster 2, 1, 1 {
.reg .b32 %n; .reg .b64 %p;
ld.param.u64 %p, [p];
mov.u32 %n, %cluster_nctaid.x;
st.global.b32 [%p], %n;
ret;
}
"""
    out = np.zeros(1, np.uint32)
    asking = kernel(parse(text, "cluster.ptx"), "k")
    asking.launch(4, 32, [out])
    assert out[0] == 2
    asking.launch(4, 32, [out], cluster=[2, 1, 1])
    with pytest.raises(UsageError, match=r"cluster is 4; it must be \(2, 1, 1\)"):
        asking.launch(4, 32, [out], cluster=4)
