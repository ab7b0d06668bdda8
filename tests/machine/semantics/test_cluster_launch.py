"""Clusters that take over the work of those that have not started: each is done once, whoever does it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ptxloom.machine import Kernel, LaunchError, kernel
from ptxloom.machine.launch.options import CHECKS
from ptxloom.syntax import parse

BLOCK = 64
SCHEDULES = [(threads, seed) for threads in (1, 3) for seed in (0, 1, 7, 0xFFFF_FFFF)]
SHAPES = [  # grid, cluster
    ((24,), (1,)),
    ((5, 4, 3), (1,)),
    ((12,), (4,)),
    ((6, 4, 2), (2, 2, 1)),
    ((2, 3, 4), (1, 1, 2)),
]
HEAD = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 done, .param .u64 by) {
  .reg .pred p<8>; .reg .b32 r<24>; .reg .b64 d<12>; .reg .b128 q<4>;
  .shared .align 16 .b8 response[32]; .shared .align 8 .b64 bar;
  ld.param.u64 d0, [done]; ld.param.u64 d1, [by];
  mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0; mov.u32 r1, response; mov.u32 r2, bar;
  @p0 mbarrier.init.shared.b64 [bar], 1;
  fence.proxy.async; bar.sync 0;
"""
ASK = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128"
ASK_ALL = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128"
GENERIC = ASK.replace(".shared::cta", "")
WAIT = "W{n}: mbarrier.try_wait.parity.shared.b64 p1, [bar], {parity}; @!p1 bra W{n};"

# A thread of the first CTA asks for all, which have an index of their own within any cluster. `done` counts what was
# done for each CTA of the grid, `by` names the cluster that did it.
PERSISTENT = f"""
  mov.u32 r3, %cluster_ctarank; setp.eq.and.u32 p2, r3, 0, p0;
  mov.u32 r4, %cluster_ctaid.x; mov.u32 r5, %cluster_ctaid.y; mov.u32 r6, %cluster_ctaid.z;
  mov.u32 r7, %ctaid.x; mov.u32 r8, %ctaid.y; mov.u32 r9, %ctaid.z; mov.u32 r12, 0;
  mov.u32 r10, %nctaid.x; mov.u32 r11, %nctaid.y; mov.u32 r16, %clusterid.x;
  mov.u32 r13, %clusterid.y; mov.u32 r14, %nclusterid.x; mad.lo.u32 r16, r13, r14, r16;
  mov.u32 r13, %clusterid.z; mov.u32 r15, %nclusterid.y; mul.lo.u32 r15, r14, r15; mad.lo.u32 r16, r13, r15, r16;
NEXT:
  @p0 mbarrier.arrive.expect_tx.shared.b64 d2, [bar], 16;
  barrier.cluster.arrive; barrier.cluster.wait;
  @p2 {ASK_ALL} [response], [bar];
  mad.lo.u32 r13, r9, r11, r8; mad.lo.u32 r13, r13, r10, r7; mul.wide.u32 d3, r13, 4;
  add.u64 d4, d0, d3; red.global.add.u32 [d4], 1; add.u64 d4, d1, d3; @p0 st.global.u32 [d4], r16;
WAIT: mbarrier.try_wait.parity.shared.b64 p1, [bar], r12; @!p1 bra WAIT;
  xor.b32 r12, r12, 1;
  ld.shared.b128 q0, [response];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p3, q0;
  @!p3 bra DONE;
  clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{r7, r8, r9, _}}, q0;
  add.u32 r7, r7, r4; add.u32 r8, r8, r5; add.u32 r9, r9, r6;
  fence.proxy.async; bar.sync 0;
  bra NEXT;
DONE:
"""


def ready(body: str) -> Kernel:
    return kernel(parse(f"{HEAD}{body}\nret;\n}}\n"), "k")


def run(body: str, checks: tuple[str, ...] = CHECKS) -> tuple[list[int], list[str]]:
    """What one CTA of a grid of two leaves in `done`, and the rules of the hazards."""
    done = np.zeros(2 * BLOCK, np.uint32)
    result = ready(body).launch(2, BLOCK, [done, np.zeros(2, np.uint32)], threads=1, checks=checks)
    return done.tolist(), [hazard.rule for hazard in result.hazards]


def asked(more: str = "") -> str:
    """The first thread asks, all wait and read the response."""
    return f"""@p0 mbarrier.arrive.expect_tx.shared.b64 d2, [bar], 16;
    @p0 {ASK} [response], [bar];
    {WAIT.format(n=0, parity=0)}
    ld.shared.b128 q0, [response]; mul.wide.u32 d3, r0, 4; add.u64 d3, d3, d0; {more}"""


@pytest.mark.parametrize(("grid", "cluster"), SHAPES)
@pytest.mark.parametrize(("threads", "seed"), SCHEDULES)
def test_every_cluster_is_done_once(grid: tuple[int, ...], cluster: tuple[int, ...], threads: int, seed: int) -> None:
    ctas = math.prod(grid)
    done, by = np.zeros(ctas, np.uint32), np.full(ctas, 999, np.uint32)
    result = ready(PERSISTENT).launch(
        grid, BLOCK, [done, by], cluster=cluster, checks=CHECKS, threads=threads, schedule_seed=seed, timeout=300
    )
    assert result.hazards == ()
    assert done.tolist() == [BLOCK] * ctas
    assert by.max() < ctas // math.prod(cluster)
    assert len(set(by.tolist())) < ctas // math.prod(cluster), "nothing was taken over"


def test_without_a_seed_one_cluster_does_all_on_one_thread() -> None:
    done, by = np.zeros(40, np.uint32), np.full(40, 999, np.uint32)
    ready(PERSISTENT).launch(40, BLOCK, [done, by], threads=1)
    assert not by.any()


def test_a_seed_refuses_some_requests_and_the_same_ones_again() -> None:
    program = ready(PERSISTENT)
    found: list[tuple[int, ...]] = []
    for seed in (1, 2, 3, 1, 2, 3):
        by = np.full(200, 999, np.uint32)
        program.launch(200, BLOCK, [np.zeros(200, np.uint32), by], threads=1, schedule_seed=seed)
        found.append(tuple(by.tolist()))
    assert found[:3] == found[3:]
    assert len(set(found)) == 3
    assert all(5 < len(set(by)) < 60 for by in found)


def test_a_lane_each_asks_for_itself() -> None:
    body = f"""setp.lt.u32 p2, r0, 2; @p0 mbarrier.arrive.expect_tx.shared.b64 d2, [bar], 32; bar.sync 0;
    mad.lo.u32 r1, r0, 16, r1;
    @p2 {ASK} [r1], [bar];
    {WAIT.format(n=0, parity=0)}
    @!p2 ret;
    ld.shared.b128 q0, [r1]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p3, q0;
    mul.wide.u32 d3, r0, 4; add.u64 d3, d3, d0; selp.u32 r5, 1, 2, p3; st.global.u32 [d3], r5;"""
    done, hazards = run(body)
    assert (done[:4], hazards) == ([1, 2, 0, 0], [])


@pytest.mark.parametrize("response", ["q0", "{d4, d5}"])
def test_a_coordinate_is_read_from_a_register_or_from_two_halves(response: str) -> None:
    name = "clusterlaunchcontrol.query_cancel.get_first_ctaid"
    body = asked(f"""mov.b128 {{d4, d5}}, q0; mov.u32 r7, %ctaid.x; setp.ne.u32 p4, r7, 0; @p4 ret;
    {name}::x.b32.b128 r5, {response}; {name}::y.b32.b128 r6, {response}; {name}::z.b32.b128 r7, {response};
    mad.lo.u32 r5, r6, 100, r5; mad.lo.u32 r5, r7, 10000, r5; st.global.u32 [d3], r5;""")
    done, hazards = run(body)
    assert (done[:BLOCK], hazards) == ([1] * BLOCK, [])


def test_each_coordinate_is_the_one_of_its_axis() -> None:
    """One CTA takes over all others; each leaves its coordinates, read one by one, where the three together lead."""
    name = "clusterlaunchcontrol.query_cancel.get_first_ctaid"
    body = f"""mov.u32 r12, 0;
    NEXT: @p0 mbarrier.arrive.expect_tx.shared.b64 d2, [bar], 16; @p0 {ASK} [response], [bar];
    WAIT: mbarrier.try_wait.parity.shared.b64 p1, [bar], r12; @!p1 bra WAIT; xor.b32 r12, r12, 1;
    ld.shared.b128 q0, [response]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p3, q0; @!p3 bra DONE;
    {name}::x.b32.b128 r5, q0; {name}::y.b32.b128 r6, q0; {name}::z.b32.b128 r7, q0;
    {name}.v4.b32.b128 {{r8, r9, r10, _}}, q0;
    mad.lo.u32 r5, r6, 100, r5; mad.lo.u32 r5, r7, 10000, r5;
    mad.lo.u32 r9, r10, 3, r9; mad.lo.u32 r8, r9, 2, r8; mul.wide.u32 d3, r8, 4; add.u64 d3, d0, d3;
    @p0 st.global.u32 [d3], r5; fence.proxy.async; bar.sync 0; bra NEXT;
    DONE:"""
    done = np.zeros((4, 3, 2), np.uint32)
    ready(body).launch((2, 3, 4), BLOCK, [done, np.zeros(2, np.uint32)], threads=1)
    z, y, x = np.indices(done.shape)
    assert np.array_equal(done, z * 10000 + y * 100 + x)


def test_generic_addresses_are_those_of_shared_memory() -> None:
    own = "mov.u64 d6, response; cvta.shared.u64 d6, d6; mov.u64 d7, bar; cvta.shared.u64 d7, d7;"
    body = asked("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p3, q0; @p3 st.global.u32 [d3], 5;")
    generic = own + body.replace(f"{ASK} [response], [bar]", f"{GENERIC} [d6], [d7]")
    assert run(generic) == run(body) == ([5] * BLOCK + [0] * BLOCK, [])


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        (f"{ASK} [response+8], [bar];", "memcheck.misaligned"),
        (f"{ASK} [response], [bar+4];", "memcheck.misaligned"),
        (f"{ASK} [response+4096], [bar];", "memcheck.out-of-bounds"),
        (f"{ASK} [response], [bar+4096];", "memcheck.out-of-bounds"),
        (f"{ASK} [response], [response+16];", "memcheck.no-mbarrier"),
        (f"{ASK_ALL} [response], [response+16];", "memcheck.no-mbarrier"),
        (f"{ASK_ALL} [response+4096], [bar];", "memcheck.out-of-bounds"),
        (f"{GENERIC} [d0], [d1];", "memcheck.wrong-space"),
    ],
)
@pytest.mark.parametrize("checks", [(), CHECKS])
def test_a_wrong_address_ends_the_kernel(statement: str, rule: str, checks: tuple[str, ...]) -> None:
    with pytest.raises(LaunchError) as caught:
        run(f"@p0 {statement}", checks=checks)
    assert caught.value.hazards[0].rule == rule


def test_what_the_response_overwrites_is_initialised() -> None:
    body = asked("ld.shared.u32 r5, [response+12]; st.global.u32 [d3], r5;")
    assert run(body, checks=("initcheck",))[1] == []
    early = "ld.shared.u32 r5, [response+12]; st.global.u32 [d0], r5;" + asked()
    assert run(early, checks=("initcheck",))[1] == ["initcheck.uninitialised"]


def test_the_index_of_a_refusal_is_no_index() -> None:
    body = asked("clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 r5, q0; st.global.u32 [d0], r5;")
    done = np.zeros(1, np.uint32)
    result = ready(body).launch(1, BLOCK, [done, done])
    assert done[0] == 0xFFFF_FFFF
    assert [hazard.rule for hazard in result.hazards] == ["synccheck.not-canceled"]
    assert ready(body).launch(1, BLOCK, [done, done], checks=()).hazards == ()


def test_a_cta_that_did_not_look_may_ask_again() -> None:
    """Requests in advance are well: what is undefined is to ask after a refusal has been seen, by any thread."""
    again = WAIT.format(n=1, parity=1)
    ahead = (
        f"{asked()} bar.sync 0; @p0 mbarrier.arrive.expect_tx.shared.b64 d2, [bar], 16; @p0 {ASK} [response], [bar];"
    )
    done = np.zeros(BLOCK, np.uint32)
    tools = [check for check in CHECKS if check != "racecheck:fences"]  # the response is read, and written again
    assert ready(ahead + again).launch(1, BLOCK, [done, done], checks=tools).hazards == ()
    looked = "setp.eq.u32 p5, r0, 40; @p5 clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p3, q0; bar.sync 0;"
    seen = ahead.replace("bar.sync 0; @p0 mbarrier.arrive", looked + "@p0 mbarrier.arrive")
    found = ready(seen + again).launch(1, BLOCK, [done, done], checks=tools).hazards
    assert [(hazard.rule, hazard.lanes) for hazard in found] == [("synccheck.requested-again", (0,))]


def test_the_next_cta_at_the_same_place_has_seen_nothing() -> None:
    done = np.zeros(4, np.uint32)
    body = asked("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p3, q0; @p0 red.global.add.u32 [d0], 1;")
    for seed in range(1, 12):
        assert ready(body).launch(9, BLOCK, [done, done], threads=1, schedule_seed=seed).hazards == ()
