"""Calls, waiting, spinning and stopping."""

from __future__ import annotations

import _thread
import threading
import time

import numpy as np
import pytest

from late import launched_late
from machine.small_kernels import entry
from ptxloom.machine import LaunchError

FIBONACCI = """
.visible .func (.param .b32 result) fib(.param .b32 n)
{
.reg .pred %p; .reg .b32 %a<6>;
ld.param.u32 %a0, [n];
setp.lt.u32 %p, %a0, 2;
@%p bra SMALL;
sub.u32 %a1, %a0, 1;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a1; call.uni (y), fib, (x); ld.param.b32 %a2, [y]; }
sub.u32 %a3, %a0, 2;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a3; call.uni (y), fib, (x); ld.param.b32 %a4, [y]; }
add.u32 %a0, %a2, %a4;
SMALL: st.param.b32 [result], %a0;
ret;
}
"""

POINTERS = """
.func (.param .b32 result) twice(.param .b32 n)
{ .reg .b32 %a; ld.param.b32 %a, [n]; add.u32 %a, %a, %a; st.param.b32 [result], %a; ret; }
.func (.param .b32 result) square(.param .b32 n)
{ .reg .b32 %a; ld.param.b32 %a, [n]; mul.lo.u32 %a, %a, %a; st.param.b32 [result], %a; ret; }
.global .u64 table[2] = {twice, square};
"""

CALL = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), fib, (x); ld.param.b32 %r1, [y]; }"
STORE = "st.global.u32 [%rd0], %r1;"


def test_labels_may_stand_at_one_place_and_at_the_end() -> None:
    out = np.zeros(4, np.uint32)
    body = "setp.eq.u32 %p1, %r0, 1; @%p1 bra A;\nmov.u32 %r1, 5; bra B;\nA:\nC: mov.u32 %r1, 6;\nB:\nD:"
    entry(body + STORE + "\nbra E;\nE:").launch(1, 4, [out])
    assert out.tolist() == [5, 6, 5, 5]


def test_each_lane_recurses_to_its_own_depth() -> None:
    out = np.zeros(48, np.uint32)
    entry(f"and.b32 %r0, %r0, 7;\n{CALL}\n{STORE}", before=FIBONACCI).launch(1, 48, [out])
    assert out.tolist() == [[0, 1, 1, 2, 3, 5, 8, 13][n % 8] for n in range(48)]


def test_a_callee_leaves_its_caller_s_registers_alone() -> None:
    out = np.zeros(40, np.uint32)
    keep = "\n".join(f"add.u32 %r{n}, %r0, {n};" for n in range(5, 15))
    add = "\n".join(f"add.u32 %r1, %r1, %r{n};" for n in range(5, 15))
    entry(f"{keep}\nand.b32 %r0, %r0, 3;\n{CALL}\n{add}\n{STORE}", before=FIBONACCI).launch(1, 40, [out])
    assert out.tolist() == [[0, 1, 1, 2][n % 4] + 10 * n + sum(range(5, 15)) for n in range(40)]


def test_endless_recursion_is_a_stack_overflow() -> None:
    body = "add.u32 %r0, %r0, 100000;\n" + CALL
    with pytest.raises(LaunchError) as caught:
        entry(body, before=FIBONACCI).launch(1, 1, [np.zeros(1, np.uint32)], stack_bytes=4096)
    assert caught.value.hazards[0].kind == "stack-overflow"


def test_lanes_call_different_functions_through_addresses() -> None:
    out = np.zeros(40, np.uint32)
    body = """
    and.b32 %r2, %r0, 1; mul.wide.u32 %rd2, %r2, 8; mov.u64 %rd3, table; add.u64 %rd3, %rd3, %rd2;
    ld.global.u64 %rd4, [%rd3];
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %r0;
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (y), %rd4, (x), P; ld.param.b32 %r1, [y]; }
    """
    entry(body + STORE, before=POINTERS).launch(1, 40, [out])
    assert out.tolist() == [n * n if n % 2 else 2 * n for n in range(40)]


def test_a_call_to_no_function_is_reported() -> None:
    body = """mov.u64 %rd4, 12345;
    P: .callprototype _ ();
    call %rd4, (), P;"""
    with pytest.raises(LaunchError) as caught:
        entry(body, before=POINTERS).launch(1, 1, [np.zeros(1, np.uint32)])
    assert caught.value.hazards[0].kind == "bad-call"


def test_a_lane_that_spins_on_another_lane_of_its_warp_gets_there() -> None:
    out = np.zeros(64, np.uint32)
    body = """
    and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;
    WAIT: ld.volatile.global.u32 %r1, [%rd0+-4]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;
    bra DONE;
    EVEN: add.u32 %r1, %r0, 5;
    DONE: st.volatile.global.u32 [%rd0], %r1;
    """
    entry(body).launch(1, 64, [out], timeout=300)
    assert out.tolist() == [n // 2 * 2 + 5 for n in range(64)]


BRANCHY = """
    and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; mov.u32 %r4, 0; {first}
    WAIT: add.u32 %r4, %r4, 1; and.b32 %r5, %r0, 2; setp.eq.u32 %p3, %r5, 0; @%p3 bra SKIP;
    add.u32 %r4, %r4, 2;
    SKIP: ld.volatile.global.u32 %r1, [%rd0+-4]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;
    bra DONE;
    EVEN: add.u32 %r1, %r0, 5;
    DONE: st.volatile.global.u32 [%rd0], %r1;
"""


def test_a_spinning_loop_that_diverges_inside_still_gives_the_others_their_turn() -> None:
    out = np.zeros(64, np.uint32)
    entry(BRANCHY.format(first="@%p1 bra EVEN;")).launch(1, 64, [out], timeout=300)
    assert out.tolist() == [n // 2 * 2 + 5 for n in range(64)]


def test_a_loop_that_diverges_inside_ends_at_the_time_limit() -> None:
    branchy = entry("add.u64 %rd0, %rd0, 4;" + BRANCHY.format(first=""))
    with pytest.raises(LaunchError, match="time limit"):
        launched_late(lambda limit: branchy.launch(1, 64, [np.zeros(64, np.uint32)], timeout=limit), 0.3)


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_that_wait_for_later_blocks_get_there(threads: int) -> None:
    out = np.zeros(9, np.uint32)
    out[8] = 7
    body = """
    mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;
    WAIT: ld.volatile.global.u32 %r1, [%rd3+4]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;
    add.u32 %r1, %r1, 1; st.volatile.global.u32 [%rd3], %r1;
    """
    entry(body).launch(8, 1, [out], threads=threads, timeout=300)
    assert out.tolist() == [15, 14, 13, 12, 11, 10, 9, 8, 7]


def test_a_barrier_that_part_of_the_block_never_reaches_is_a_deadlock_that_names_both_places() -> None:
    body = "setp.lt.u32 %p1, %r0, 32; @%p1 bra A;\nbar.sync 2;\nbra B;\nA: bar.sync 1;\nB:"
    with pytest.raises(LaunchError, match="deadlocked") as caught:
        entry(body).launch(1, 64, [np.zeros(64, np.uint32)])
    found = {(h.instruction, h.warp, len(h.lanes)) for h in caught.value.hazards}
    assert found == {("bar.sync 1;", 0, 32), ("bar.sync 2;", 1, 32)}


def test_threads_that_exit_early_do_not_hold_a_barrier_up() -> None:
    out = np.zeros(96, np.uint32)
    body = "setp.gt.u32 %p1, %r0, 70; @%p1 exit;\nbar.sync 0;\nmov.u32 %r1, 1;\n" + STORE
    entry(body).launch(1, 96, [out])
    assert out.tolist() == [1] * 71 + [0] * 25


def test_an_endless_loop_ends_at_the_time_limit_and_says_where_it_was() -> None:
    started = time.monotonic()
    with pytest.raises(LaunchError, match="time limit") as caught:
        launched_late(lambda limit: entry("L: bra L;").launch(6, 64, [np.zeros(64, np.uint32)], timeout=limit), 0.3)
    assert time.monotonic() - started < 20
    assert caught.value.hazards[0].instruction == "bra L;"


TABLE = "mov.u32 %r5, 0;\nT: .branchtargets L, M;\nL: brx.idx %r5, T;\nM:"


@pytest.mark.parametrize("first", [0, 1, 2, 1 << 31, (1 << 32) - 1])
def test_an_index_past_the_list_is_reported_of_the_lanes_that_branch(first: int) -> None:
    out = np.full(32, 99, np.uint32)
    body = f"""setp.lt.u32 %p1, %r0, 8; mov.u32 %r1, {first}; setp.eq.u32 %p2, %r0, 3; @!%p2 mov.u32 %r1, 1;
    T: .branchtargets ONE, TWO;
    @%p1 brx.idx %r1, T;
    ONE: st.global.u32 [%rd0], 1; ret; TWO: st.global.u32 [%rd0], 2;"""
    if first < 2:
        entry(body).launch(1, 32, [out])
        assert out.tolist() == [2, 2, 2, first + 1, 2, 2, 2, 2, *[1] * 24]
        return
    with pytest.raises(LaunchError, match=f"`brx` is given index {first}, which is past") as caught:
        entry(body).launch(1, 32, [out])
    (hazard,) = caught.value.hazards
    assert (hazard.rule, hazard.lanes) == ("memcheck.bad-branch", (3,))


def test_branches_share_a_list_whose_labels_are_those_seen_where_it_stands() -> None:
    out = np.zeros(32, np.uint32)
    body = """
    T: .branchtargets ONE, TWO, ONE, LAST;
    and.b32 %r1, %r0, 3; setp.lt.u32 %p1, %r0, 16; @%p1 bra SECOND;
    brx.idx %r1, T;
    SECOND: { .reg .u32 other; sub.u32 other, 3, %r1; brx.idx other, T; TWO: st.global.u32 [%rd0], 77; ret; }
    ONE: st.global.u32 [%rd0], 1; ret;
    TWO: st.global.u32 [%rd0], 2; ret;
    LAST: st.global.u32 [%rd0], 4;"""
    entry(body).launch(1, 32, [out])
    assert out.tolist() == [4, 1, 2, 1] * 4 + [1, 2, 1, 4] * 4


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("body", ["L: bra L;", TABLE])
def test_an_interrupt_stops_a_run(body: str, threads: int) -> None:
    kernel = entry(body)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        kernel.launch(6, 64, [np.zeros(64, np.uint32)], threads=threads, timeout=300)
    timer.join()


def test_a_warp_that_waits_in_a_loop_through_a_table_lets_the_other_run() -> None:
    out = np.zeros(64, np.uint32)
    body = """
    setp.ge.u32 %p1, %r0, 32; @%p1 bra LATER;
    T: .branchtargets WAIT, DONE;
    WAIT: ld.volatile.global.u32 %r1, [%rd0+128]; min.u32 %r2, %r1, 1; brx.idx %r2, T;
    LATER: add.u32 %r1, %r0, 5;
    DONE: st.volatile.global.u32 [%rd0], %r1;
    """
    entry(body).launch(1, 64, [out], timeout=300)
    assert out.tolist() == [n % 32 + 37 for n in range(64)]


def test_a_call_that_no_lane_makes_changes_nothing() -> None:
    out = np.zeros(8, np.uint32)
    body = f"""mov.u32 %r1, 7; setp.gt.u32 %p1, %r0, 100;
    {{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; st.param.b32 [y], %r1; @%p1 call (y), fib, (x);
    ld.param.b32 %r1, [y]; }} {STORE}"""
    entry(body, before=FIBONACCI).launch(1, 8, [out])
    assert out.tolist() == [7] * 8


def test_a_recursion_is_as_deep_as_its_frames_allow() -> None:
    out = np.zeros(1, np.uint32)
    before = """.func (.param .b32 r) down(.param .b32 n) {
    .reg .pred %p; .reg .b32 %a<4>; ld.param.b32 %a0, [n]; mov.u32 %a2, 0; setp.eq.u32 %p, %a0, 0; @%p bra OUT;
    sub.u32 %a1, %a0, 1;
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %a1; call (y), down, (x); ld.param.b32 %a2, [y]; }
    add.u32 %a2, %a2, %a0; OUT: st.param.b32 [r], %a2; ret; }"""
    call = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r3; call (y), down, (x); ld.param.b32 %r1, [y]; }"
    entry(f"mov.u32 %r3, 300; {call} {STORE}", before=before).launch(1, 1, [out], stack_bytes=16384)
    assert out.tolist() == [300 * 301 // 2]
    with pytest.raises(LaunchError) as caught:
        entry(f"mov.u32 %r3, 3000; {call} {STORE}", before=before).launch(1, 1, [out], stack_bytes=16384)
    assert caught.value.hazards[0].kind == "stack-overflow"


def test_the_last_block_of_a_cluster_reads_the_first_ones_shared_memory() -> None:
    out = np.zeros(12, np.uint32)
    body = """
    mov.u32 %r3, %ctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r4, cell;
    add.u32 %r5, %r3, 100; st.shared.u32 [cell], %r5;
    mapa.shared::cluster.u32 %r6, %r4, 0;
    setp.eq.u32 %p1, %r2, 0; @%p1 bra DONE;
    WAIT: ld.volatile.shared::cluster.u32 %r1, [%r6]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;
    DONE: mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], %r1;
    """
    kernel = entry(f"mov.u32 %r1, 0; {body}", before=".shared .align 4 .b32 cell;")
    kernel.launch(12, 1, [out], cluster=4, timeout=300, threads=2)
    assert out.tolist() == [0, 100, 100, 100, 0, 104, 104, 104, 0, 108, 108, 108]
