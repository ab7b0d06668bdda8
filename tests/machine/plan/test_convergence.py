"""Warp-synchronous instructions: who waits for whom, and what is reported."""

from __future__ import annotations

import numpy as np
import pytest

from machine.small_kernels import entry

STORE = "st.global.u32 [%rd0], %r1;"


def test_a_shuffle_waits_for_members_that_take_a_longer_way() -> None:
    out = np.zeros(32, np.uint32)
    body = """
    mov.u32 %r2, 0; setp.lt.u32 %p1, %r0, 16; @%p1 bra SHORT;
    LONG: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r0; @%p2 bra LONG;
    bra LAST;
    SHORT: mov.u32 %r2, 1000;
    bra FIRST;
    LAST: add.u32 %r2, %r2, 0;
    FIRST: shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;
    """
    result = entry(body + STORE).launch(1, 32, [out])
    assert out.tolist() == [n + 16 for n in range(16)] + [1000] * 16
    assert not result.hazards


@pytest.mark.parametrize("late", [0, 1, 5, 31])
def test_all_wait_for_the_one_that_takes_a_longer_way(late: int) -> None:
    """The others come to the shuffle while that one still counts, by a branch ahead or by one back."""
    out = np.zeros(32, np.uint32)
    body = f"""
    setp.ne.u32 %p1, %r0, {late}; @%p1 bra HERE; mov.u32 %r2, 0;
    LATE: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 3000; @%p2 bra LATE;
    HERE: shfl.sync.idx.b32 %r1, %r2, {late}, 31, -1; add.u32 %r1, %r1, %r0;
    """
    for back in (False, True):
        turned = body.replace("HERE: ", "bra HERE; BACK: bra HERE; HERE: ").replace("@%p1 bra HERE", "@%p1 bra BACK")
        result = entry((turned if back else body) + STORE).launch(1, 32, [out])
        assert out.tolist() == [n + 3000 for n in range(32)]
        assert not result.hazards


def test_each_lane_waits_for_the_members_it_names_itself() -> None:
    out = np.zeros(32, np.uint32)
    body = """
    and.b32 %r2, %r0, 16; mov.u32 %r3, 0xffff; shl.b32 %r3, %r3, %r2;
    setp.lt.u32 %p1, %r0, 24; @%p1 bra HERE;
    mov.u32 %r4, 0;
    LATE: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 50; @%p2 bra LATE;
    HERE: shfl.sync.idx.b32 %r1, %r0, 24, 31, %r3;
    """
    result = entry(body.replace("24, 31", "%r5, 31").replace("and.b32 %r2", "xor.b32 %r5, %r0, 8; and.b32 %r2") + STORE)
    assert not result.launch(1, 32, [out]).hazards
    assert out.tolist() == [n ^ 8 for n in range(32)]


def test_sync_warp_in_two_branches_lets_both_go_on() -> None:
    out = np.zeros(32, np.uint32)
    body = """
    and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;
    bar.warp.sync -1; mov.u32 %r1, 1; bra DONE;
    EVEN: bar.warp.sync -1; mov.u32 %r1, 2;
    DONE: bar.warp.sync -1;
    """
    result = entry(body + STORE).launch(1, 32, [out], timeout=300)
    assert out.tolist() == [2, 1] * 16
    assert not result.hazards


def test_a_shuffle_whose_members_wait_at_another_one_is_reported_and_goes_on() -> None:
    out = np.zeros(32, np.uint32)
    body = """
    setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;
    shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; bra DONE;
    LOW: shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;
    DONE:
    """
    result = entry(body + STORE).launch(1, 32, [out], timeout=300)
    assert out.tolist() == [n ^ 1 for n in range(32)]
    assert {(h.tool, h.kind) for h in result.hazards} == {("synccheck", "elsewhere")}
    assert {h.line for h in result.hazards} == {13, 14}


def test_members_that_have_exited_are_not_waited_for() -> None:
    out = np.zeros(32, np.uint32)
    body = "setp.eq.u32 %p1, %r0, 31; @%p1 exit;\nbar.warp.sync -1; shfl.sync.down.b32 %r1, %r0, 1, 31, -1;" + STORE
    entry(body).launch(1, 32, [out], timeout=300)
    assert out[:30].tolist() == list(range(1, 31))
    assert out[31] == 0


@pytest.mark.parametrize(
    ("statement", "kinds"),
    [("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;", {"exited"}), ("barrier.sync.aligned 0;", {"exited-barrier"})],
)
def test_what_has_exited_is_told_where_the_whole_warp_is_wanted_and_only_if_asked(
    statement: str, kinds: set[str]
) -> None:
    out = np.zeros(32, np.uint32)
    kernel = entry(f"setp.eq.u32 %p1, %r0, 31; @%p1 exit;\n{statement}\n{STORE}")
    found = kernel.launch(1, 32, [out], checks=("synccheck",), timeout=300).hazards
    assert {one.kind for one in found} == kinds
    assert not kernel.launch(1, 32, [out], checks=("memcheck",), timeout=300).hazards
