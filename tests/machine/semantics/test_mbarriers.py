"""Mbarriers: phases, counts, bytes, tokens, and what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest

from late import launched_late
from machine.small_kernels import entry
from ptxloom.machine import LaunchError
from ptxloom.machine.launch.options import CHECKS

BAR = ".shared .align 8 .b64 bar; .shared .align 16 .b8 room[512];"
START = "setp.eq.u32 %p7, %r0, 0; mov.u32 %r20, bar;"
TEST = "mbarrier.test_wait.parity.shared.b64 %p1, [bar], {parity}; selp.u32 %r{to}, 1, 0, %p1;"


def run(body: str, threads: int = 1, size: int = 4, seed: int = 0, *, unchecked: bool = False) -> list[int]:
    out = np.zeros(size, np.uint32)
    kernel = entry(START + body, before=BAR, unchecked=unchecked)
    kernel.launch(1, threads, [out], timeout=300, schedule_seed=seed)
    return out.tolist()


def ask(parity: int, to: int) -> str:
    return TEST.format(parity=parity, to=to)


def test_a_phase_ends_with_the_last_arrival_and_the_next_expects_as_many() -> None:
    body = f"""mbarrier.init.shared.b64 [bar], 2; {ask(0, 1)}
    mbarrier.arrive.shared.b64 %rd3, [bar]; {ask(0, 2)} mbarrier.arrive.shared::cta.b64 _, [bar]; {ask(0, 3)}
    mbarrier.arrive.shared.b64 %rd4, [bar], 2; {ask(1, 4)} {ask(0, 5)}
    shl.b32 %r2, %r2, 1; shl.b32 %r3, %r3, 2; shl.b32 %r4, %r4, 3; shl.b32 %r5, %r5, 4;
    or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3; or.b32 %r1, %r1, %r4; or.b32 %r1, %r1, %r5;
    st.global.u32 [%rd1], %r1;
    mbarrier.pending_count.b64 %r6, %rd3; mbarrier.pending_count.b64 %r7, %rd4;
    st.global.v2.u32 [%rd1+8], {{%r6, %r7}};"""
    assert run(body) == [0b01100, 0, 2, 2]


def test_a_token_is_of_the_phase_it_was_given_in() -> None:
    body = """mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.noComplete.shared.b64 %rd3, [bar], 1;
    mbarrier.test_wait.shared.b64 %p1, [bar], %rd3; selp.u32 %r1, 1, 0, %p1;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8;
    mbarrier.arrive.release.cta.shared.b64 %rd4, [bar];
    mbarrier.test_wait.acquire.cta.shared.b64 %p2, [bar], %rd4; selp.u32 %r2, 1, 0, %p2;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8;
    mbarrier.try_wait.shared.b64 %p3, [%r20], %rd4, 1000; selp.u32 %r3, 1, 0, %p3;
    mbarrier.inval.shared.b64 [bar]; ld.shared.u32 %r4, [bar]; st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};"""
    assert run(body) == [1, 0, 1, 0]


def test_who_drops_out_is_not_expected_again() -> None:
    body = f"""mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive_drop.shared.b64 %rd3, [bar], 2;
    mbarrier.arrive.shared.b64 %rd3, [bar]; {ask(0, 1)} mbarrier.arrive.shared.b64 %rd4, [bar]; {ask(1, 2)}
    mbarrier.pending_count.b64 %r3, %rd4; mov.u32 %r4, 9; st.global.v4.u32 [%rd1], {{%r1, %r2, %r3, %r4}};"""
    assert run(body) == [1, 1, 1, 9]


def test_a_phase_waits_for_arrivals_and_for_bytes_whichever_comes_last() -> None:
    body = f"""mbarrier.init.shared.b64 [bar], 1;
    mbarrier.complete_tx.shared.b64 [bar], 16; mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 16; {ask(0, 1)}
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48; mbarrier.complete_tx.shared.b64 [bar], 16; {ask(1, 2)}
    mbarrier.complete_tx.shared.b64 [bar], 32; {ask(1, 3)} mov.u32 %r4, 9;
    st.global.v4.u32 [%rd1], {{%r1, %r2, %r3, %r4}};"""
    assert run(body) == [1, 0, 1, 9]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("wait", ["try_wait", "test_wait"])
def test_warps_that_spin_on_phases_take_turns(wait: str, seed: int) -> None:
    """Each warp adds to a cell when its phase has come: 4 warps, 3 rounds."""
    body = f"""@%p7 mbarrier.init.shared.b64 [bar], 1; mov.u32 %r11, room; @%p7 st.shared.u32 [room], 1; bar.sync 0;
    shr.u32 %r1, %r0, 5; and.b32 %r2, %r0, 31; setp.ne.u32 %p2, %r2, 0; @%p2 bra DONE; mov.u32 %r3, 0;
    ROUND: mad.lo.u32 %r4, %r3, 4, %r1; setp.eq.u32 %p3, %r4, 0; @%p3 bra TURN;
    sub.u32 %r6, %r4, 1; and.b32 %r7, %r6, 1;
    AGAIN: mbarrier.{wait}.parity.shared.b64 %p1, [%r20], %r7; @!%p1 bra AGAIN;
    ld.volatile.shared.u32 %r12, [room+4]; setp.ne.u32 %p4, %r12, %r4; @%p4 bra AGAIN;
    TURN: ld.volatile.shared.u32 %r8, [room]; mad.lo.u32 %r8, %r8, 3, %r4; st.volatile.shared.u32 [room], %r8;
    add.u32 %r9, %r4, 1; st.volatile.shared.u32 [room+4], %r9; mbarrier.arrive.shared.b64 %rd3, [bar];
    add.u32 %r3, %r3, 1; setp.lt.u32 %p5, %r3, 3; @%p5 bra ROUND;
    DONE: bar.sync 0; ld.shared.u32 %r8, [room]; @%p7 st.global.u32 [%rd1], %r8;"""
    expected = 1
    for turn in range(12):
        expected = expected * 3 + turn
    assert run(body, 128, seed=seed)[0] == expected


def test_lanes_of_a_warp_wait_for_another_lane_of_it() -> None:
    body = """@%p7 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;
    and.b32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 0; @%p1 bra LATE;
    mbarrier.arrive.shared.b64 %rd3, [bar]; bra WAIT;
    LATE: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra LATE; mbarrier.arrive.shared.b64 %rd3, [bar];
    WAIT: mbarrier.try_wait.shared.b64 %p3, [bar], %rd3; @!%p3 bra WAIT; st.global.u32 [%rd0], %r2;"""
    assert run(body, 32, 32) == [9, 0, 0, 0] * 8


def test_remote_arrivals_and_bytes_reach_another_block_of_the_cluster() -> None:
    out = np.zeros(4, np.uint32)
    body = f"""{START} mov.u32 %r2, %cluster_ctarank; @%p7 mbarrier.init.shared.b64 [bar], 3;
    fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;
    mov.u32 %r4, 0; mapa.shared::cluster.u32 %r5, %r20, %r4;
    mov.u32 %r21, room; mapa.shared::cluster.u32 %r6, %r21, %r4;
    setp.eq.u32 %p2, %r2, 0; @%p2 bra FIRST;
    shl.b32 %r7, %r2, 3; add.u32 %r6, %r6, %r7; mul.lo.u32 %r8, %r2, 11; add.u32 %r9, %r8, 1;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r6], {{%r8, %r9}}, [%r5];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r6], %r2, [%r5];
    bra OUT;
    FIRST: mbarrier.expect_tx.shared.b64 [bar], 36;
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0; @!%p1 bra WAIT;
    ld.shared.v2.u32 {{%r10, %r11}}, [room+8]; ld.shared.v2.u32 {{%r12, %r13}}, [room+24];
    st.global.v4.u32 [%rd1], {{%r10, %r11, %r12, %r13}};
    OUT: barrier.cluster.arrive; barrier.cluster.wait;"""
    entry(body, before=BAR).launch(4, 1, [out], cluster=4, timeout=300)
    assert out.tolist() == [12, 12, 36, 34]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("mbarrier.arrive.shared.b64 %rd3, [bar];", "no-mbarrier"),
        ("mbarrier.init.shared.b64 [bar], 1; mbarrier.inval.shared.b64 [bar]; " + ask(0, 1), "no-mbarrier"),
        ("mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 %rd3, [bar], 3;", "mbarrier-overrun"),
        ("mbarrier.init.shared.b64 [bar], 0;", "invalid"),
        ("mbarrier.init.shared.b64 [bar], 1048576;", "invalid"),
        ("mbarrier.init.shared.b64 [%r20+4], 1;", "misaligned"),
        ("mbarrier.init.shared.b64 [%r20+9000], 1;", "out-of-bounds"),
    ],
)
def test_misuse_ends_the_kernel(body: str, kind: str) -> None:
    with pytest.raises(LaunchError) as caught:
        run(body, unchecked=True)
    assert caught.value.hazards[0].kind == kind


@pytest.mark.parametrize(
    ("start", "lacks"),
    [
        ("mbarrier.init.shared.b64 [bar], 33;", "1 of 33 arrivals (arrivals could come from line {})"),
        (
            "mbarrier.init.shared.b64 [bar], 32; mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 4096;",
            "4,096 bytes (no instruction brings bytes)",
        ),
    ],
)
def test_who_waits_at_an_mbarrier_to_the_end_is_told_what_it_lacks(start: str, lacks: str) -> None:
    body = f"setp.eq.u32 %p1, %r0, 0; @!%p1 bra GO; {start} GO: bar.sync 0;\n"
    body += "mbarrier.arrive.shared.b64 _, [bar];\nW: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra W;"
    with pytest.raises(LaunchError) as raised:
        launched_late(lambda limit: entry(body, before=BAR).launch(1, 32, [np.zeros(1, np.uint32)], timeout=limit), 0.2)
    (hazard,) = raised.value.hazards
    told = f"waiting at the mbarrier bar: its phase 0 lacks {lacks.format(hazard.line - 1)}, no other is left"
    assert hazard.message == f"at the time limit 32 threads run, {told}"


def test_a_wait_is_told_of_wherever_the_loop_around_it_is() -> None:
    """As `cuda::barrier` waits before sm_90: it asks, counts, and sleeps in blocks of its own."""
    body = """setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [bar], 65; bar.sync 0; mov.u32 %r1, 0;
    setp.ge.u32 %p4, %r0, 32; @%p4 bar.sync 1;
    mbarrier.arrive.shared.b64 %rd3, [bar];
    W: mbarrier.test_wait.shared.b64 %p2, [bar], %rd3;
    @%p2 bra D; setp.gt.u32 %p3, %r1, 16; @%p3 bra S; add.u32 %r1, %r1, 1; bra W; S: nanosleep.u32 8; bra W;
    D:"""
    with pytest.raises(LaunchError) as raised:
        launched_late(lambda limit: entry(body, before=BAR).launch(1, 64, [np.zeros(1, np.uint32)], timeout=limit), 0.2)
    first, second = raised.value.hazards
    assert first.instruction.startswith("@%p4 bar.sync 1")
    assert first.message.startswith("at the time limit 32 threads wait: barrier 1 has 32 of 64 threads, others are at")
    assert second.instruction.startswith("mbarrier.test_wait")
    told = "waiting at the mbarrier bar: its phase 0 lacks 33 of 65 arrivals (arrivals could come from line "
    told += f"{second.line - 1}), others are at line {first.line}"
    assert second.message == f"at the time limit 32 threads run, {told}"


def test_an_address_far_beyond_shared_memory_is_of_no_cta() -> None:
    with pytest.raises(LaunchError) as raised:
        entry("mov.u32 %r1, 0x8b000010; st.shared.u32 [%r1], %r1;", before=BAR).launch(1, 32, [np.zeros(1, np.uint32)])
    assert "address 0x8b000010 is out of bounds" in raised.value.hazards[0].message
    assert "cluster" not in raised.value.hazards[0].message


@pytest.mark.parametrize("tool", CHECKS)
def test_asynchronous_stores_and_reductions_to_global_memory_name_no_mbarrier(tool: str) -> None:
    out = np.zeros(32, np.uint32)
    body = """st.async.mmio.release.sys.global.u32 [%rd0], %r0;
    red.async.mmio.release.sys.global.add.u32 [%rd0], 5;"""
    result = entry(body).launch(1, 32, [out], checks=[tool], profile=True, trace=["st", "red"])
    assert out.tolist() == [n + 5 for n in range(32)]
    assert not result.hazards


PRIMARY = "phase_type::primary"


def test_an_mbarrier_knows_its_layout() -> None:
    asked = [f"mbarrier.check_layout.layout::v{n}.shared.b64 %p{n + 1}, [bar];" for n in (0, 1)]
    kept = "selp.u32 %r{0}, 1, 0, %p1; selp.u32 %r{1}, 2, 0, %p2; or.b32 %r{0}, %r{0}, %r{1};"
    body = " ".join(
        f"mbarrier.init{layout}.shared.b64 [bar], 3; mbarrier.arrive.shared.b64 %rd3, [bar], 3; {' '.join(asked)} "
        f"{kept.format(2 * n + 1, 2 * n + 2)} mbarrier.inval.shared.b64 [bar];"
        for n, layout in enumerate(("", ".layout::v0", ".layout::v1"))
    )
    assert run(f"{body} st.global.u32 [%rd1], %r1; st.global.v2.u32 [%rd1+8], {{%r3, %r5}};") == [1, 0, 1, 2]


def test_the_second_layout_counts_fewer_arrivals() -> None:
    assert run("mbarrier.init.layout::v1.shared.b64 [bar], 511; mbarrier.init.shared.b64 [bar], 512;") == [0] * 4
    with pytest.raises(LaunchError) as caught:
        run("mbarrier.init.layout::v1.shared.b64 [bar], 512;")
    assert caught.value.hazards[0].kind == "invalid"


@pytest.mark.parametrize("layout", ["layout::v0", "layout::v1"])
@pytest.mark.parametrize("wait", ["test_wait", "try_wait"])
def test_both_phases_advance_together_and_nothing_is_reported(wait: str, layout: str) -> None:
    hint = ", 100" if wait == "try_wait" else ""
    body = f"""mbarrier.init.{layout}.shared.b64 [bar], 1; .reg .b8 %b<3>; setp.eq.u32 %p2, %r0, %r0;
    mbarrier.{wait}.parity.phase_type::conditional.shared.b64 %p1, [bar], 0{hint}; selp.u32 %r1, 1, 0, %p1;
    mbarrier.arrive.shared.b64 %rd3, [bar];
    mbarrier.{wait}.parity.phase_type::conditional.shared.b64 %p1, [bar], 0{hint}; selp.u32 %r2, 2, 0, %p1;
    mbarrier.{wait}.parity.{PRIMARY}.shared.b64 %p1|%p2, %b1, [bar], 0{hint}; selp.u32 %r3, 4, 0, %p1;
    selp.u32 %r4, 8, 0, %p2; cvt.u32.u8 %r5, %b1; shl.b32 %r5, %r5, 4; setp.eq.u32 %p2, %r0, %r0;
    mbarrier.{wait}.{PRIMARY}.acquire.cta.shared.b64 %p1|%p2, [bar], %rd3{hint}; selp.u32 %r6, 4096, 0, %p1;
    selp.u32 %r7, 8192, 0, %p2; mbarrier.{wait}.{PRIMARY}.shared.b64 %p3, [bar], %rd3{hint};
    selp.u32 %r8, 16384, 0, %p3;
    or.b32 %r1, %r1, %r2; or.b32 %r3, %r3, %r4; or.b32 %r5, %r5, %r6; or.b32 %r7, %r7, %r8; or.b32 %r1, %r1, %r3;
    or.b32 %r5, %r5, %r7; or.b32 %r1, %r1, %r5; st.global.u32 [%rd1], %r1;"""
    assert run(body)[0] == 2 | 4 | 4096 | 16384


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("last", [0x9, 0xB])
def test_mbarriers_of_several_ctas_are_reached_at_once(last: int, seed: int) -> None:
    wide = "multicast::cluster::32b"
    out = np.zeros(4, np.uint32)
    body = f"""mbarrier.init.shared.b64 [bar], 2; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1; mapa.shared::cluster.u32 %r2, %r20, 0;
    @%p1 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.{wide}.b64 _, [%r2], 24, 0xb;
    @%p1 mbarrier.expect_tx.relaxed.cluster.shared::cluster.{wide}.b64 [%r2], 8, 0x2;
    @%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.{wide}.b64 [%r2], 24, 0xb;
    @%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.{wide}.b64 [%r2], 8, 0x2;
    @%p1 mbarrier.arrive.release.cluster.shared::cluster.{wide}.b64 _, [%r2], {last};
    @%p1 mbarrier.arrive.release.cluster.shared::cluster.{wide}.b64 _, [%r2], 2, 0x4;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0; selp.u32 %r3, 1, 0, %p2;
    cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r3;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"""
    done = entry(START + body, before=BAR).launch(
        4, 1, [out], cluster=4, checks=CHECKS, schedule_seed=seed, timeout=300
    )
    assert out.tolist() == [1, int(last == 0xB), 1, 1]
    assert done.hazards == ()


def test_a_cta_that_is_not_there_is_not_reached() -> None:
    body = "mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 _, [bar], 4;"
    with pytest.raises(LaunchError) as caught:
        run(body)
    assert caught.value.hazards[0].kind == "out-of-bounds"
