"""Racecheck: planted races are found by their kind, and the same kernels with the order restored are silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kernels.case import differs
from kernels.catalog import cases
from kernels.launching import launch
from machine.instruments.race_pairs import PAIRS, Pair
from machine.small_kernels import entry
from ptxloom.machine.launch.shadows import racecheck

if TYPE_CHECKING:
    from ptxloom.machine import Kernel

SHARED = ".shared .align 16 .b8 tile[4096];\n.shared .align 8 .b64 gate[4];\n.shared .align 4 .b32 flag;\n"
CHECKS = ("memcheck", "synccheck", "racecheck")


def kernel_of(body: str, params: str = ".param .u64 out") -> Kernel:
    """A kernel with `%r0` = tid.x, `%r10` = tile + 4 tid.x, `%r11` = the neighbour's word, `%p1` = lane 0 of a warp."""
    start = """
    mov.u32 %r20, tile; mad.lo.u32 %r10, %r0, 4, %r20;
    add.u32 %r21, %r0, 1; and.b32 %r21, %r21, 127; mad.lo.u32 %r11, %r21, 4, %r20;
    and.b32 %r22, %r0, 31; setp.eq.u32 %p1, %r22, 0; shr.u32 %r23, %r0, 5; setp.eq.u32 %p2, %r23, 0;
    setp.eq.u32 %p3, %r0, 0; not.pred %p4, %p2;
    """
    return entry(start + body, params, before=SHARED)


def found(body: str, block: int = 128, seed: int = 0, cluster: int = 1) -> set[tuple[str, int, int]]:
    """The races: rule, and the two lines counted from the body's first."""
    ready = kernel_of(body)
    out = np.zeros(max(block * cluster, 128), np.uint32)
    result = ready.launch(
        cluster, block, [out], checks=CHECKS, threads=1, timeout=300, schedule_seed=seed, cluster=cluster
    )
    assert all(h.tool == "racecheck" for h in result.hazards)
    first = ready.program.module.source.text[: ready.program.module.source.text.index(body)].count("\n") + 1
    return {(h.kind, h.line - first, h.other.line - first if h.other else -1) for h in result.hazards}


def test_a_copy_goes_on_beyond_a_barrier_however_many_accesses_it_races_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lane's store leaves a trace, and the copy the last one that there is room for: one a byte, and one more."""
    monkeypatch.setattr(racecheck, "_TRACES", 0)
    stores = "".join(f"setp.eq.u32 %p1, %r0, {n};\n@%p1 st.relaxed.cta.shared.u32 [word], {n};\n" for n in range(4))
    ready = entry(
        f"{stores}setp.eq.u32 %p2, %r0, 4;\n@%p2 cp.async.ca.shared.global [word], [%rd1], 4;\n"
        "bar.sync 0;\nld.shared.u32 %r1, [word];",
        before=".shared .align 4 .b32 word;\n",
    )
    result = ready.launch(1, 32, [np.zeros(32, np.uint32)], checks=CHECKS)
    found = [(h.kind, h.party.instruction.partition(".")[0], h.count) for h in result.hazards]
    assert found == [("warp-order", "@%p2 cp", 1)] * 4 + [("not-waited", "ld", 1), ("read-after-write", "ld", 31)]
    assert result.hazards.limits == ()


@pytest.mark.parametrize("pair", PAIRS, ids=[p.name for p in PAIRS])
@pytest.mark.parametrize("seed", [0, 5])
def test_a_race_is_found_and_its_twin_is_silent(pair: Pair, seed: int) -> None:
    faulty = {kind for kind, _, _ in found(pair.body.replace("@\n", pair.wrong + "\n"), pair.block, seed)}
    assert pair.kind in faulty
    assert found(pair.body.replace("@\n", pair.order + "\n"), pair.block, seed) == set()


@pytest.mark.parametrize("pair", PAIRS, ids=[p.name for p in PAIRS])
def test_a_schedule_does_not_change_what_is_found(pair: Pair) -> None:
    body = pair.body.replace("@\n", pair.wrong + "\n")
    first = found(body, pair.block, 0)
    assert all(found(body, pair.block, seed) == first for seed in (1, 2, 9))


def test_what_comes_second_is_named_whatever_ran_first() -> None:
    """In a loop the load at its head races with the store at its end: written, then read, though the text says else."""
    body = """
    mov.u32 %r4, 0;
    L: ld.shared.u32 %r1, [%r11];
    bar.sync 0;
    st.shared.u32 [%r10], %r0;
    add.u32 %r4, %r4, 1; setp.lt.u32 %p5, %r4, 3; @%p5 bra L;
    """
    assert {found(body, seed=seed) == {("read-after-write", 2, 4)} for seed in range(4)} == {True}


def test_as_many_bytes_are_named_as_are_at_fault() -> None:
    body = "@%p3 st.shared.u16 [tile+6], 5;\n@%p4 ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [tile];"
    kernel_ = kernel_of(body)
    (hazard,) = kernel_.launch(1, 64, [np.zeros(64, np.uint32)], checks=CHECKS, threads=1).hazards
    assert (hazard.address, hazard.size) == (6, 2)


def test_writing_the_same_value_twice_is_no_race() -> None:
    assert found("st.shared.u32 [tile], 7;\nbar.sync 0;\nst.shared.v2.b32 [tile+8], {%r20, 7};") == set()
    assert found("st.shared.u32 [tile], %r22;", block=32) == {("warp-order", 0, 0)}
    assert found("st.shared.u32 [tile], %r23;", block=64) == {("write-after-write", 0, 0)}


def test_lanes_of_one_store_are_compared_with_each_other() -> None:
    """Neighbours overlap by two bytes; they agree there only if all store the same halves."""
    place = "mad.lo.u32 %r12, %r22, 2, %r20; and.b32 %r12, %r12, -4;"
    assert found(f"{place}\nst.shared.u32 [%r12], 0x00070007;", block=32) == set()
    assert found(f"{place}\nst.shared.u32 [%r12], %r0;", block=32) == {("warp-order", 1, 1)}


@pytest.mark.parametrize(
    ("store", "order", "expected"),
    [
        ("mapa.shared::cluster.u32 %r5, %r10, %r4;\nst.shared::cluster.u32 [%r5], %r0;", "", True),
        ("mapa.shared::cluster.u32 %r5, %r10, %r4;\nst.shared::cluster.u32 [%r5], %r0;", "bar.sync 0;", True),
        (
            "mapa.shared::cluster.u32 %r5, %r10, %r4;\nst.shared::cluster.u32 [%r5], %r0;",
            "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
            False,
        ),
        (
            "mapa.shared::cluster.u32 %r5, %r10, %r4;\nst.shared::cluster.u32 [%r5], %r0;",
            "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;",
            True,
        ),
    ],
)
def test_the_shared_memory_of_a_cluster(store: str, order: str, *, expected: bool) -> None:
    body = f"mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;\n{store}\n{order}\nld.shared.u32 %r1, [%r10];"
    tail = "\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"
    rules = {kind for kind, _, _ in found(body + tail, block=64, cluster=2)}
    assert rules == ({"read-after-write"} if expected else set())


@pytest.mark.parametrize("rank", [0, 1])
def test_the_cta_is_named_whose_memory_ends_too_early(rank: int) -> None:
    body = f"""
    mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p5, %r4, {rank}; mapa.shared::cluster.u32 %r5, %r20, {rank};
    @%p3 st.shared.u32 [tile+8], 1;
    barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;
    @!%p5 ld.shared::cluster.u32 %r1, [%r5+8];
    """
    (hazard,) = kernel_of(body).launch(2, 32, [np.zeros(128, np.uint32)], checks=CHECKS, cluster=2, threads=1).hazards
    assert (hazard.rule, hazard.count) == ("racecheck.early-exit", 32)
    assert hazard.symbol == f"tile+0x8 of CTA {rank} of the cluster"
    assert hazard.other is not None
    assert (hazard.party.block[0], hazard.other.block[0]) == (1 - rank, rank)


def test_a_bulk_copy_is_seen_by_those_who_wait_for_its_mbarrier() -> None:
    body = """
    @%p3 mbarrier.init.shared.b64 [gate], 1;
    @%p3 mbarrier.init.shared.b64 [gate+8], 1;
    bar.sync 0;
    mov.u32 %r5, gate;
    @%p3 mbarrier.arrive.expect_tx.shared.b64 %rd5, [gate], 256;
    @%p3 mbarrier.arrive.shared.b64 %rd5, [gate+8];
    @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [%r5];
    T: mbarrier.try_wait.parity.shared.b64 %p5, [GATE], 0;
    @!%p5 bra T;
    ld.shared.u32 %r1, [tile+16];
    """
    for seed in (0, 1, 7):
        assert found(body.replace("GATE", "gate"), block=64, seed=seed) == set()
        kinds = {kind for kind, _, _ in found(body.replace("GATE", "gate+8"), block=64, seed=seed)}
        # against the other threads, against the one that copies, and as no thread waits to the end
        assert kinds == {"read-after-write", "not-waited", "early-exit"}


@pytest.mark.parametrize("name", ["cooperation.", "sorts.", "tensor.", "triton_matmul.", "scans.", "reductions."])
def test_results_are_the_same_with_every_tool_on(name: str) -> None:
    case = next(c for c in cases() if c.name.startswith(name))
    arguments = case.arguments()
    checks = (*CHECKS, "initcheck", "initcheck:global")
    result = launch(case, "sm_80", arguments, checks=checks, timeout=300)
    for position, wanted in zip(case.outputs, case.expected("sm_80").arrays, strict=True):
        assert differs(arguments[position], wanted, case.tolerance) is None
    assert tuple(result.hazards) == ()


def test_the_line_of_a_read_is_known_however_long_its_thread_has_spun_since() -> None:
    body = """
    @%p1 ld.shared.u32 %r1, [tile];
    bar.warp.sync -1;
    @!%p2 bra SET;
    W: ld.volatile.shared.u32 %r2, [flag]; setp.eq.u32 %p5, %r2, 0; @%p5 bra W;
    bra DONE;
    SET: mov.u32 %r3, 9000;
    SPIN: sub.u32 %r3, %r3, 1; setp.ne.u32 %p5, %r3, 0; @%p5 bra SPIN;
    st.shared.u32 [tile], 1;
    st.volatile.shared.u32 [flag], 1;
    DONE:
    """
    for seed in range(4):
        assert found(body, block=64, seed=seed) == {("write-after-read", 8, 1)}


def test_the_line_of_a_read_is_known_whatever_its_thread_has_read_since() -> None:
    body = """
    @!%p2 ld.shared.u32 %r1, [tile];
    @!%p2 ld.shared.u32 %r2, [tile+64];
    @!%p2 ld.shared.v2.u32 {%r3, %r4}, [tile+128];
    bar.warp.sync -1;
    @%p3 st.shared.u32 [PLACE], 1;
    """
    for place, line in (("tile", 1), ("tile+64", 2), ("tile+128", 3), ("tile+132", 3)):
        races = found(body.replace("PLACE", place), block=64)
        assert {tuple(sorted(lines)) for _, *lines in races} == {(line, 5)}, place


@pytest.mark.parametrize("order", [(1, 0), (0, 1), (0, 31), (31, 0), (4, 5), (5, 4)])
@pytest.mark.parametrize("load", ["ld.volatile.shared.u32", "ld.shared.u32", "atom.shared.or.b32"])
def test_each_lane_that_has_read_is_remembered(load: str, order: tuple[int, int]) -> None:
    """Two lanes read in turn, one of them sets a flag, for which a thread of another warp waits before it writes.

    An atomic has seen the one before it, which comes with it before the write (PTX ISA 8.9.5).
    """
    first, second = order
    body = f"""
    @!%p2 bra OTHER;
    setp.eq.u32 %p5, %r22, FLAG; mov.u32 %r4, 0; mov.u32 %r5, {first};
    L: setp.eq.u32 %p6, %r22, %r5;
    @%p6 {load} %r1, [tile]{", 0" * load.startswith("atom")};
    mov.u32 %r5, SECOND; add.u32 %r4, %r4, 1; setp.lt.u32 %p7, %r4, 2; @%p7 bra L;
    @!%p5 bra DONE; membar.cta; st.volatile.shared.u32 [flag], 1; bra DONE;
    OTHER: @!%p1 bra DONE;
    W: ld.volatile.shared.u32 %r2, [flag]; setp.eq.u32 %p6, %r2, 0; @%p6 bra W;
    membar.cta;
    st.shared.u32 [tile], 1;
    DONE:
    """
    for flag in order:
        alone = body.replace("FLAG", str(flag)).replace(f"%r5, {first};", f"%r5, {flag};").replace("SECOND", str(flag))
        assert found(alone, block=64) == set()
        races = found(body.replace("FLAG", str(flag)).replace("SECOND", str(second)), block=64)
        is_ordered = load.startswith("atom") and flag == second
        assert {tuple(sorted(lines)) for _, *lines in races} == (set() if is_ordered else {(4, 10)})


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_as_many_bytes_are_named_as_no_fence_has_shown_a_copy(size: int) -> None:
    body = f"""mov.u64 %rd7, 5;
    @%p3 st.shared.u{8 * size} [tile+8], %rd7;
    @%p3 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 32; @%p3 cp.async.bulk.commit_group;
    @%p3 cp.async.bulk.wait_group 0;"""
    out = np.zeros(64, np.uint32)
    result = kernel_of(body).launch(1, 32, [out], checks=(*CHECKS, "racecheck:fences"))
    assert [(h.kind, h.address, h.size) for h in result.hazards] == [("cross-proxy", 8, size)]


def test_the_side_that_comes_first_is_the_one_that_leads_to_the_other_without_a_barrier() -> None:
    """In a loop, a read after the only barrier precedes the write of the next round, which stands above it."""
    body = """
    mov.u32 %r3, 4;
    L: st.shared.u32 [%r10], %r3;
    bar.sync 0;
    ld.shared.u32 %r1, [%r11];
    sub.u32 %r3, %r3, 1; setp.ne.u32 %p5, %r3, 0; @%p5 bra L;
    """
    for seed in range(3):
        assert found(body, seed=seed) == {("write-after-read", 2, 4)}
    moved = body.replace("    bar.sync 0;\n", "").replace("L: st", "L: bar.sync 0; st")
    assert found(moved) == {("read-after-write", 3, 2)}


BULK = """
st.shared.u32 [%r10], %r0;
fence.proxy.async;
bar.sync 0;
@%p3 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
@%p3 cp.async.bulk.commit_group;
@%p3 cp.async.bulk.global.shared::cta.bulk_group [%rd1+256], [tile+512], 256;
@%p3 cp.async.bulk.commit_group;
ORDER
@WHO st.shared.u32 [PLACE], 7;
@%p3 cp.async.bulk.wait_group.read 0;
"""


@pytest.mark.parametrize(
    ("order", "who", "place", "kinds"),
    [
        ("@%p3 cp.async.bulk.wait_group.read 0; bar.sync 0;", "%p4", "tile", set[str]()),
        ("@%p3 cp.async.bulk.wait_group 0; bar.sync 0;", "%p4", "tile+512", set[str]()),
        ("@%p3 cp.async.bulk.wait_group.read 1; bar.sync 0;", "%p4", "tile", set[str]()),
        ("@%p3 cp.async.bulk.wait_group.read 1; bar.sync 0;", "%p4", "tile+512", {"write-after-read"}),
        ("bar.sync 0; @%p3 cp.async.bulk.wait_group.read 0;", "%p4", "tile", {"write-after-read"}),
        ("bar.sync 0;", "%p4", "tile+252", {"write-after-read"}),
        ("bar.sync 0;", "%p4", "tile+256", set[str]()),
        ("@%p3 cp.async.wait_all; bar.sync 0;", "%p4", "tile", {"write-after-read"}),
        ("@%p3 cp.async.bulk.wait_group.read 0;", "%p3", "tile", set[str]()),
        ("@%p3 cp.async.bulk.wait_group.read 1;", "%p3", "tile+512", {"not-waited"}),
        ("", "%p3", "tile", {"not-waited"}),
    ],
)
def test_what_a_bulk_copy_reads_is_not_written_before_its_thread_has_waited(
    order: str, who: str, place: str, kinds: set[str]
) -> None:
    body = BULK.replace("ORDER", order).replace("WHO", who).replace("PLACE", place)
    body = body.replace("@%p4 st", "and.pred %p6, %p1, %p4;\n@%p6 st") if who == "%p4" else body
    for seed in (0, 2, 5):
        assert {kind for kind, _, _ in found(body, block=64, seed=seed)} == kinds


# A flag for each thread of a block that is asked for, set behind a fence.
FLAGS = "fence.acq_rel.cta;\nst.relaxed.cta.shared.u32 [%r10], 1;"


@pytest.mark.parametrize(("blocks", "threads", "told"), [(1, 320, True), (1, 256, False), (4, 256, False)])
def test_more_flags_than_there_is_room_for_are_said(blocks: int, threads: int, told: bool) -> None:
    ready = kernel_of(FLAGS)
    result = ready.launch(blocks, threads, [np.zeros(64, np.uint32)], checks=CHECKS, threads=1, timeout=300)
    assert not result.hazards
    assert any("256 mbarriers and flags" in text for text in result.hazards.limits) == told
    assert str(result.hazards).startswith("no hazards")
    assert ("may have missed" in str(result.hazards)) == told


@pytest.mark.parametrize(("told", "named"), [("shfl.sync.idx.b32 %r5, %r5, 0, 31, -1;", True), ("", False)])
def test_the_help_names_tiles_whose_barrier_is_handed_on_by_a_shuffle(told: str, named: bool) -> None:
    """`cg::tiled_partition` of two warps: lane 0 has waited, and the others know only the value."""
    body = f"st.shared.u32 [%r10], %r0;\nmembar.cta;\n{told}\nxor.b32 %r6, %r10, 128;\nld.shared.u32 %r7, [%r6];"
    result = kernel_of(body).launch(1, 64, [np.zeros(128, np.uint32)], checks=CHECKS, threads=1)
    assert result.hazards
    assert all(("tiled_partition" in (hazard.help or "")) is named for hazard in result.hazards)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reads", [1, 3, 1100])
def test_a_read_is_remembered_however_much_is_read_behind_it(reads: int, seed: int) -> None:
    """One warp reads a place, then others again and again, before another warp writes that place."""
    body = f"""
    mov.u32 %r4, 0; @%p4 bra W;
    ld.shared.u32 %r1, [%r10];
    L: ld.shared.u32 %r2, [%r10+2048]; ld.shared.u32 %r3, [tile+1024];
    add.u32 %r4, %r4, 1; setp.lt.u32 %p5, %r4, {reads}; @%p5 bra L;
    bra E;
    W: @%p1 st.shared.u32 [tile+8], 5;
    E: ret;
    """
    kinds = {kind for kind, _, _ in found(body, block=64, seed=seed)}
    assert kinds == {"write-after-read" if reads < 1000 else "read-after-write"}  # the place of the first is forgotten


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ordered", [False, True])
def test_a_row_that_half_a_warp_writes_is_held_against_reads_and_writes(seed: int, *, ordered: bool) -> None:
    """Both warps write all words, having read them: without a barrier between, both kinds are found."""
    wait = "bar.sync 0;" if ordered else ""
    body = f"""
    and.b32 %r4, %r0, 31; mad.lo.u32 %r4, %r4, 4, %r20;
    ld.shared.u32 %r1, [%r4];
    {wait}
    @%p2 st.shared.u32 [%r4], %r0;
    {wait}
    @%p4 st.shared.u32 [%r4], %r0;
    """
    kinds = {kind for kind, _, _ in found(body, block=64, seed=seed)}
    assert kinds == (set() if ordered else {"write-after-read", "write-after-write"})


@pytest.mark.parametrize("released", ["flag", "gate"])
def test_a_thread_goes_on_publishing_what_it_knew_where_it_has_released(released: str) -> None:
    """A release sequence (PTX ISA 8.9.2) passes on what others did; at another flag nothing is released."""
    body = f"""
    @!%p1 bra DONE;
    setp.eq.u32 %p5, %r23, 1; setp.eq.u32 %p6, %r23, 2; mov.b32 %r1, 2; mov.b32 %r2, 1;
    @%p5 bra PASS; @%p6 bra READ;
    st.shared.u32 [tile], 1; st.release.cta.shared.u32 [gate+8], 1; bra DONE;
    PASS: ld.acquire.cta.shared.u32 %r3, [gate+8]; setp.eq.u32 %p7, %r3, 0; @%p7 bra PASS;
    st.release.cta.shared.u32 [{released}], 1; st.relaxed.cta.shared.u32 [flag], 2; bra DONE;
    READ: ld.acquire.cta.shared.u32 %r3, [flag]; setp.ne.u32 %p7, %r3, 2; @%p7 bra READ;
    ld.shared.u32 %r4, [tile];
    DONE:
    """
    races = {tuple(lines) for _, *lines in found(body, block=96)}
    assert races == (set() if released == "flag" else {(8, 4)})
