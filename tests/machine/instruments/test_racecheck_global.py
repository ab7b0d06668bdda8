"""Races in global memory, `racecheck:global`: within a CTA and between CTAs, and what orders the latter."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.diagnostics import UsageError
from ptxloom.machine.launch.grid import Grid
from ptxloom.machine.runtime.state import EVENTS_KEPT
from ptxloom.machine.runtime.structs.histories import CELL_BYTES
from ptxloom.views.runs.hazard_reports import full

CHECKS = ("memcheck", "racecheck:global")


def found(body: str, grid: int = 2, block: int = 64, seed: int = 0) -> set[tuple[str, str, bool]]:
    """The races: rule, space, and whether two CTAs are part of it."""
    out = np.zeros(256, np.uint32)
    result = entry(body).launch(grid, block, [out], checks=CHECKS, timeout=300, schedule_seed=seed)
    return {(h.kind, h.space, h.other is not None and h.other.block != h.block) for h in result.hazards}


NEIGHBOUR = "xor.b32 %r2, %r0, 32; mul.wide.u32 %rd5, %r2, 4; add.u64 %rd6, %rd1, %rd5;\n"


@pytest.mark.parametrize("seed", [0, 3])
def test_threads_of_a_cta(seed: int) -> None:
    body = NEIGHBOUR + "st.global.u32 [%rd0], %r0;\n@\nld.global.u32 %r3, [%rd6];"
    assert found(body.replace("@", ""), 1, seed=seed) == {("read-after-write", "global", False)}
    assert found(body.replace("@", "bar.sync 0;"), 1, seed=seed) == set()
    assert found(body.replace("@", "bar.warp.sync -1;"), 1, seed=seed) == {("read-after-write", "global", False)}
    assert found(body.replace("ld.global.u32 %r3, [%rd6]", "ld.u32 %r3, [%rd6]").replace("@", ""), 1) != set()


def test_ctas_that_write_one_place() -> None:
    assert found("mov.u32 %r5, %ctaid.x; st.global.u32 [%rd0], %r5;") == {("write-after-write", "global", True)}
    assert found("st.global.u32 [%rd0], 7;") == set()
    assert found("atom.global.add.u32 %r3, [%rd0], 1;") == set()
    assert found("red.global.add.u32 [%rd0], 1;\nld.global.u32 %r3, [%rd0];") != set()
    assert found("mov.u32 %r5, %ctaid.x; mad.lo.u32 %r6, %r5, 64, %r0; mul.wide.u32 %rd5, %r6, 4;\n"
                 "add.u64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r5;") == set()  # fmt: skip


LAST = """
mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r0, 0; mul.wide.u32 %rd5, %r5, 4; add.u64 %rd6, %rd1, %rd5;
@%p1 st.global.u32 [%rd6+16], %r5;
FIRST
@%p1 ARRIVE %r6, [%rd1], 1;
@!%p1 bra E;
setp.ne.u32 %p2, %r6, 3;
@%p2 bra E;
SECOND
ld.global.u32 %r7, [%rd1+16];
ld.global.u32 %r8, [%rd1+20];
E:
"""


@pytest.mark.parametrize(
    ("first", "arrive", "second", "ordered"),
    [
        ("membar.gl;", "atom.global.add.u32", "membar.gl;", True),
        ("fence.acq_rel.gpu;", "atom.global.add.u32", "fence.acq_rel.gpu;", True),
        ("", "atom.acq_rel.gpu.global.add.u32", "", True),
        ("membar.gl;", "atom.global.add.u32", "", False),
        ("", "atom.global.add.u32", "membar.gl;", False),
        ("membar.cta;", "atom.global.add.u32", "membar.gl;", False),
        ("membar.gl;", "atom.cta.global.add.u32", "membar.gl;", False),
        ("", "atom.relaxed.gpu.global.add.u32", "", False),
        ("", "atom.release.gpu.global.add.u32", "", False),
        ("", "atom.release.gpu.global.add.u32", "fence.acq_rel.gpu;", True),
    ],
)
def test_the_last_cta_reads_what_the_others_have_written(
    first: str, arrive: str, second: str, *, ordered: bool
) -> None:
    body = LAST.replace("FIRST", first).replace("ARRIVE", arrive).replace("SECOND", second)
    wanted = set[tuple[str, str, bool]]() if ordered else {("read-after-write", "global", True)}
    if ".cta." in arrive:
        wanted.add(("write-after-write", "global", True))  # the counter itself: no scope holds two CTAs
    assert all(found(body, 4, seed=seed) == wanted for seed in range(3))


def test_shared_memory_is_left_to_the_other_tool() -> None:
    shared = ".shared .align 4 .b8 tile[256];\n"
    body = "mov.u32 %r5, tile; mad.lo.u32 %r5, %r0, 0, %r5; st.shared.u32 [%r5], %r0;"
    out = np.zeros(64, np.uint32)
    kernel = entry(body, before=shared)
    assert tuple(kernel.launch(1, 64, [out], checks=CHECKS).hazards) == ()
    assert tuple(kernel.launch(1, 64, [out], checks=("racecheck",)).hazards) != ()


@pytest.mark.parametrize("read", [(0, 8), (0, 4), (4, 4), (6, 2), (3, 1), (7, 1)])
@pytest.mark.parametrize("write", [(0, 8), (0, 4), (4, 4), (2, 2), (6, 2), (7, 1)])
def test_as_many_bytes_are_named_as_are_at_fault(write: tuple[int, int], read: tuple[int, int]) -> None:
    """A thread writes some bytes, those of another warp read some: the race is about what both touch."""
    (at, size), (from_, count) = write, read
    body = f"""setp.eq.u32 %p1, %r0, 0; setp.gt.u32 %p2, %r0, 31; mov.u64 %rd7, 5;
    @%p1 st.global.u{8 * size} [%rd1+{at}], %rd7;
    @%p2 ld.global.u{8 * count} %rd5, [%rd1+{from_}];"""
    out = np.zeros(64, np.uint32)
    hazards = entry(body).launch(1, 64, [out], checks=CHECKS).hazards
    start, end = max(at, from_), min(at + size, from_ + count)
    assert {(h.address - out.ctypes.data, h.size) for h in hazards} == (
        {(start, end - start)} if start < end else set()
    )


SIGNAL = """
mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r0, 0; setp.ne.u32 %p2, %r5, 0;
@%p2 bra READ;
st.global.u32 [%rd0+256], %r0;
FIRST
@!%p1 bra E;
membar.gl;
st.relaxed.gpu.global.u32 [%rd1], 1;
bra E;
READ:
@!%p1 bra D;
W: ld.relaxed.gpu.global.u32 %r6, [%rd1];
setp.eq.u32 %p3, %r6, 0; @%p3 bra W;
membar.gl;
D:
SECOND
ld.global.u32 %r7, [%rd0+256];
E:
"""


def test_a_flag_speaks_for_those_who_met_its_thread_at_a_barrier() -> None:
    """All threads write, one sets the flag; in the other CTA one waits for it and all read."""
    barrier, none = "bar.sync 0;", "bar.warp.sync -1;"
    assert found(SIGNAL.replace("FIRST", barrier).replace("SECOND", barrier)) == set()
    race = {("read-after-write", "global", True)}
    assert found(SIGNAL.replace("FIRST", none).replace("SECOND", barrier)) == race
    assert found(SIGNAL.replace("FIRST", barrier).replace("SECOND", none)) == race


@pytest.mark.parametrize("absent", range(4))
def test_each_reader_of_a_place_is_remembered(absent: int) -> None:
    """Three warps read, a fourth writes behind a barrier that one of them has no part in; at last all have."""
    body = f"""
    shr.u32 %r2, %r0, 5; setp.eq.u32 %p1, %r2, 3; setp.eq.u32 %p2, %r2, {absent if absent < 3 else 9};
    @%p1 bra W;
    ld.global.u32 %r3, [%rd1];
    @%p2 bra E;
    W: bar.sync 1, {96 if absent < 3 else 128};
    @%p1 st.global.u32 [%rd1], 7;
    E:
    """
    assert found(body, 1, 128) == ({("write-after-read", "global", False)} if absent < 3 else set())


def test_bytes_of_a_word_have_owners_of_their_own() -> None:
    bytes_ = "cvt.u64.u32 %rd5, %r0; add.u64 %rd6, %rd1, %rd5; cvt.u16.u32 %h1, %r0; st.global.u8 [%rd6], %h1;\n"
    read = "ld.global.u8 %h1, [%rd6];\nst.global.u8 [%rd6], %h1;\n"
    assert found(bytes_ + read, 1) == set()
    assert found(bytes_ + "ld.global.u32 %r5, [%rd1+60];", 1) != set()
    whole = "st.global.u32 [%rd0], %r0;\nbar.sync 0;\n" + bytes_
    assert found(whole, 1) == set()
    assert found(whole.replace("bar.sync 0;\n", ""), 1) != set()


def test_a_launch_leaves_no_memory_behind() -> None:
    gc.disable()
    try:
        before = {id(thing) for thing in gc.get_objects() if isinstance(thing, Grid)}
        assert found("st.global.u32 [%rd0], %r0;", 1) == set()
        assert {id(thing) for thing in gc.get_objects() if isinstance(thing, Grid)} <= before
    finally:
        gc.enable()


def test_between_ctas_the_later_line_is_named_and_the_help_speaks_of_flags() -> None:
    body = """
    mov.u32 %r5, %ctaid.x; setp.ne.u32 %p1, %r5, 0;
    @%p1 st.global.u32 [%rd1], 7;
    bar.sync 0;
    @!%p1 ld.global.u32 %r6, [%rd1];
    """
    (hazard,) = entry(body).launch(2, 32, [np.zeros(64, np.uint32)], checks=CHECKS).hazards
    assert hazard.kind == "read-after-write"
    assert hazard.other is not None
    assert (hazard.block, hazard.other.block) == ((0, 0, 0), (1, 0, 0))
    assert "no `bar.sync` reaches another CTA" in hazard.help


def test_what_a_loop_waits_for_is_written_first() -> None:
    """The load stands first in the text, and comes first in some schedules; yet it is the one that comes second."""
    body = """
    mov.u32 %r5, %ctaid.x; setp.ne.u32 %p1, %r5, 0; setp.ne.u32 %p2, %r0, 0;
    @%p2 bra E;
    @%p1 bra SET;
    W: ld.global.u32 %r6, [%rd1]; setp.eq.u32 %p3, %r6, 0;
    @%p3 bra W;
    bra E;
    SET: st.global.u32 [%rd1], 7;
    E:
    """
    for seed in range(3):
        assert found(body, seed=seed) == {("read-after-write", "global", True)}


def test_how_many_places_are_not_told_is_said() -> None:
    stores = "\n".join(f"st.global.u8 [%rd1+{number}], %r0;" for number in range(250))
    hazards = entry(stores).launch(1, 64, [np.zeros(64, np.uint32)], checks=CHECKS).hazards
    beyond = 2 * 250 - EVENTS_KEPT  # each store races between the warps, and within each
    assert beyond - 4 <= hazards.more <= beyond  # two may share a bit of those that count them
    assert str(hazards).endswith(f"\nand {hazards.more:,} more places")
    assert full(hazards).endswith(f"\nand {hazards.more:,} more places\n")
    assert entry("ret;").launch(1, 32, [np.zeros(64, np.uint32)], checks=CHECKS).hazards.more == 0


def test_memory_to_watch_arrays_is_asked_for_by_name() -> None:
    record = (256 + 1024) * CELL_BYTES  # the words and the bytes of the array
    with pytest.raises(UsageError, match=r"memory_limit is .* for racecheck's record of global memory"):
        entry("st.global.u32 [%rd0], %r0;").launch(
            1, 32, [np.zeros(256, np.uint32)], checks=CHECKS, memory_limit=record
        )
