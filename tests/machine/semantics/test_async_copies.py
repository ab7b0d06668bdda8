"""`cp.async` and `cp.async.bulk`: sizes, zeros, ignored sources, bounds and completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from machine.small_kernels import entry
from ptxloom.machine import LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOM = ".shared .align 16 .b8 room[1024]; .shared .align 8 .b64 bar;"
Bytes = NDArray[np.uint8]
CHECKS = ("memcheck", "synccheck", "racecheck", "racecheck:global", "initcheck")
PARAMS = ".param .u64 out, .param .u64 in"
START = """ld.param.u64 %rd2, [in]; mov.u32 %r10, room; shl.b32 %r11, %r0, 4; add.u32 %r10, %r10, %r11;
mul.wide.u32 %rd3, %r0, 16; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3; mov.u32 %r9, -1;
st.shared.v4.u32 [%r10], {%r9, %r9, %r9, %r9};"""
STORE = "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r10]; st.global.v4.u32 [%rd5], {%r1, %r2, %r3, %r4};"


def run(body: str, threads: int = 32, elements: int = 128, *, unchecked: bool = False) -> tuple[Bytes, Bytes]:
    given = np.arange(1, elements + 1, dtype=np.uint32)
    out = np.zeros((threads, 4), np.uint32)
    whole = f"{START}\n{body}\ncp.async.wait_all;\n{STORE}"
    entry(whole, PARAMS, ROOM, unchecked=unchecked).launch(1, threads, [out, given], timeout=300)
    return out.view(np.uint8), np.resize(given, (threads, 4)).view(np.uint8)


FORMS = [
    (where, size, take)
    for where, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16))
    for take in (None, 0, 1, 3, 4, 7, 8, 13, 16)
    if take is None or take <= size
]


@pytest.mark.parametrize(("where", "size", "take"), FORMS)
def test_a_copy_takes_so_many_bytes_and_fills_with_zeros(where: str, size: int, take: int | None) -> None:
    hint = "createpolicy.fractional.L2::evict_last.b64 %rd9, 1.0;" if take == 4 else ""
    rest = "" if take is None else f", {take}"
    quals = f"{where}.shared.global{'.L2::cache_hint' if hint else ''}{'.L2::128B' if take is None else ''}"
    out, given = run(f"{hint} cp.async.{quals} [%r10], [%rd4], {size}{rest}{', %rd9' if hint else ''};")
    kept = size if take is None else take
    assert (out[:, :kept] == given[:, :kept]).all()
    assert (out[:, kept:size] == 0).all()
    assert (out[:, size:] == 255).all()


def test_the_bytes_taken_and_the_lanes_that_copy_may_differ_lane_by_lane() -> None:
    body = """and.b32 %r5, %r0, 15; setp.ne.u32 %p1, %r5, 3;
    @%p1 cp.async.cg.shared.global [%r10], [%rd4], 16, %r5; cp.async.commit_group; cp.async.wait_group 0;"""
    out, given = run(body)
    for lane in range(32):
        take = lane & 15
        expected = [*given[lane, :take], *[0] * (16 - take)] if take != 3 else [255] * 16
        assert out[lane].tolist() == expected


def test_an_ignored_source_is_not_read() -> None:
    body = "and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 1; selp.b64 %rd4, 16, %rd4, %p1;\n"
    out, given = run(body + "cp.async.ca.shared.global [%r10], [%rd4], 16, %p1;")
    assert (out[::2] == given[::2]).all()
    assert (out[1::2] == 0).all()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("cp.async.cg.shared.global [%r10+1024], [%rd4], 16;", "out-of-bounds"),
        ("cp.async.cg.shared.global [%r10], [%rd4+512], 16;", "out-of-bounds"),
        ("cp.async.cg.shared.global [%r10+4], [%rd4], 16;", "misaligned"),
        ("cp.async.ca.shared.global [%r10], [%rd4+4], 8;", "misaligned"),
        ("cp.async.ca.shared.global [%r10], [%rd4], 8, 9;", "invalid"),
        ("mov.u64 %rd4, room; cvta.shared.u64 %rd4, %rd4; cp.async.ca.shared.global [%r10], [%rd4], 8;", "wrong-space"),
        ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%rd4], 16, [bar];", "no-mbarrier"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r10], 8;", "misaligned"),
    ],
)
def test_what_cannot_be_copied_ends_the_kernel(body: str, kind: str) -> None:
    with pytest.raises(LaunchError) as caught:
        run(body, unchecked=True)
    assert caught.value.hazards[0].kind == kind


def test_the_last_bytes_of_an_array_can_be_copied_and_filled() -> None:
    body = """mov.u32 %r5, 16; setp.eq.u32 %p1, %r0, 31; selp.u32 %r5, 8, %r5, %p1;
    cp.async.cg.shared.global [%r10], [%rd4], 16, %r5;"""
    out, given = run(body, elements=126)
    assert (out[:31] == given[:31]).all()
    assert out[31].tolist() == [*given[31, :8], *[0] * 8]


def test_arrivals_of_copies_complete_a_phase() -> None:
    body = """setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.warp.sync -1;
    cp.async.ca.shared.global [%r10], [%rd4], 4; cp.async.mbarrier.arrive.shared.b64 [bar];
    mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; @%p2 trap;
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
    WAIT: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra WAIT;"""
    out, given = run(body)
    assert (out[:, :4] == given[:, :4]).all()


def test_a_bulk_copy_tells_its_mbarrier_and_comes_back() -> None:
    out = np.zeros(64, np.uint32)
    given = np.arange(64, dtype=np.uint32)
    body = """ld.param.u64 %rd2, [in]; mov.u32 %r20, bar; mov.u32 %r21, room;
    setp.ne.u32 %p1, %r0, 0; @%p1 bra WAIT;
    mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 256;
    cp.async.bulk.prefetch.L2.global [%rd2], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd2], 128, [%r20];
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r21+128], [%rd2+128], 128, [bar];
    WAIT: bar.warp.sync -1; mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 trap;
    shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r21; ld.shared.u32 %r2, [%r1]; add.u32 %r2, %r2, 5;
    st.shared.u32 [%r1], %r2;
    fence.proxy.async.shared::cta; bar.warp.sync -1; @%p1 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r21], 256;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; DONE:"""
    entry(body, PARAMS, ROOM).launch(1, 32, [out, given])
    assert out.tolist() == [n + 5 if n < 32 else n for n in range(64)]


@pytest.mark.parametrize(
    ("fence", "kinds"),
    [("", {"cross-proxy"}), ("fence.proxy.async;", set[str]()), ("fence.proxy.async.global;", set[str]())],
)
def test_a_bulk_copy_may_not_find_what_threads_wrote_without_a_fence(fence: str, kinds: set[str]) -> None:
    body = f"""ld.param.u64 %rd2, [in]; mov.u32 %r20, bar; mov.u32 %r21, room; setp.ne.u32 %p1, %r0, 0;
    @!%p1 mbarrier.init.shared.b64 [bar], 1; mul.wide.u32 %rd3, %r0, 4; add.u64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r0; {fence} bar.sync 0; @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared.b64 %rd5, [bar], 128;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r21], [%rd2], 128, [bar];
    WAIT: bar.warp.sync -1; AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra AGAIN;"""
    out, given = np.zeros(4, np.uint32), np.zeros(64, np.uint32)
    found = entry(body, PARAMS, ROOM).launch(1, 32, [out, given], checks=CHECKS, timeout=300).hazards
    assert {one.kind for one in found} == kinds


def test_a_multicast_reaches_the_named_blocks_of_a_cluster() -> None:
    out = np.zeros(4, np.uint32)
    given = np.arange(7, 15, dtype=np.uint32)
    body = """ld.param.u64 %rd2, [in]; mov.u32 %r20, bar; mov.u32 %r21, room; mov.u32 %r5, %cluster_ctarank;
    mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 16;
    barrier.cluster.arrive; barrier.cluster.wait; setp.ne.u32 %p1, %r5, 1; @%p1 bra REST; mov.u16 %h1, 13;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
        [%r21], [%rd2], 16, [%r20], %h1;
    REST: barrier.cluster.arrive; barrier.cluster.wait; mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;
    ld.shared.u32 %r1, [room+4]; selp.u32 %r2, 100, 0, %p2; add.u32 %r1, %r1, %r2;
    mul.wide.u32 %rd3, %r5, 4; add.u64 %rd3, %rd3, %rd1; st.global.u32 [%rd3], %r1;"""
    entry(body, PARAMS, ROOM).launch(4, 1, [out, given], cluster=4)
    assert out.tolist() == [108, 0, 108, 108]


REDUCTIONS = [
    *((name, kind) for name in ("add", "min", "max") for kind in ("u32", "s32", "u64")),
    ("min", "s64"),
    ("max", "s64"),
    *((name, kind) for name in ("and", "or", "xor") for kind in ("b32", "b64")),
    ("inc", "u32"),
    ("dec", "u32"),
    ("add", "f32"),
    ("add", "f64"),
    *((name, kind) for name in ("add.noftz", "min", "max") for kind in ("f16", "bf16")),
]


KINDS = {"u": "u", "s": "i", "b": "u", "f": "f"}
COMBINED: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]] = {
    "add": np.add,
    "add.noftz": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "inc": lambda there, given: np.where(there >= given, 0, there + 1),
    "dec": lambda there, given: np.where((there == 0) | (there > given), given, there - 1),
}


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(("name", "kind"), REDUCTIONS)
def test_a_bulk_reduction_combines_every_element_with_what_is_there(name: str, kind: str) -> None:
    dtype = ml_dtypes.bfloat16 if kind == "bf16" else np.dtype(KINDS[kind[0]] + str(int(kind[1:]) // 8))
    rng = np.random.default_rng(5)
    there, given = (rng.integers(0, 9, 48).astype(dtype) - np.array(4 * (kind[0] not in "ub"), dtype) for _ in range(2))
    there[0] = 0
    out = there.copy()
    size = 32 * out.itemsize
    body = f"""ld.param.u64 %rd2, [in]; cvta.to.global.u64 %rd2, %rd2; mov.u32 %r20, bar; mov.u32 %r21, room;
    mbarrier.init.shared.b64 [%r20], 1; mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r20], {size};
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r21], [%rd2], {size}, [%r20];
    mbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0; @!%p2 trap; fence.proxy.async.shared::cta;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.{name}.{kind} [%rd1], [%r21], {size};
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""
    result = entry(body, PARAMS, ROOM).launch(1, 1, [out, given], checks=CHECKS)
    assert not result.hazards
    assert np.array_equal(out[:32], COMBINED[name](there, given)[:32])
    assert np.array_equal(out[32:], there[32:])


def test_bulk_reductions_of_several_blocks_meet_in_one_of_their_cluster() -> None:
    out = np.zeros(32, np.uint32)
    body = """mov.u32 %r20, bar; mov.u32 %r21, room; mov.u32 %r5, %cluster_ctarank; setp.ne.u32 %p1, %r5, 0;
    setp.ne.u32 %p3, %r0, 0; shl.b32 %r6, %r0, 2; add.u32 %r6, %r6, %r21; mov.u32 %r7, 1000;
    @!%p1 st.shared.u32 [%r6], %r7; mad.lo.u32 %r7, %r5, 100, %r0; @%p1 st.shared.u32 [%r6], %r7;
    @!%p3 mbarrier.init.shared.b64 [bar], 1; fence.proxy.async.shared::cta;
    @!%p3 mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 384;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r22, %r21, 0; mapa.shared::cluster.u32 %r23, %r20, 0;
    @%p3 bra REST; @!%p1 bra REST;
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r22], [%r21], 128, [%r23];
    REST: bar.warp.sync -1; @%p1 bra OUT;
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
    ld.shared.u32 %r1, [%r6]; st.global.u32 [%rd0], %r1;
    OUT: barrier.cluster.arrive; barrier.cluster.wait;"""
    result = entry(body, PARAMS, ROOM).launch(4, 32, [out, out], cluster=4, checks=CHECKS)
    assert not result.hazards
    assert out.tolist() == [1600 + 3 * n for n in range(32)]


STRETCH = """ld.param.u64 %rd2, [in]; mov.u32 %r20, bar; mov.u32 %r21, room; setp.ne.u32 %p1, %r0, {lane};
mov.u32 %r9, -1;
shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r21; st.shared.u32 [%r1], %r9; mov.u32 %r5, {left}; mov.u32 %r6, {right};
@!%p1 mbarrier.init.shared.b64 [bar], 1; @!%p1 mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 32;
fence.proxy.async.shared::cta; bar.sync 0;
@!%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r21], [%rd2+{by}], 32, %r5, %r6, [bar];
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd0], %r2;"""


def stretch(left: int, right: int, missing: int = 0, said: int = 32, lane: int = 0) -> Bytes:
    """A copy by a lane of 32 bytes of which some at the ends do not exist; of the first, it says at most `said`."""
    buffer = np.arange(1, 97, dtype=np.uint8)
    start = -buffer.ctypes.data % 16 + 16 + left
    given = buffer[start : start + 32 - left - right - missing]
    out = np.zeros(32, np.uint32)
    body = STRETCH.format(left=min(left, said), right=right, by=-left, lane=lane)
    entry(body, PARAMS, ROOM).launch(1, 32, [out, given], timeout=300, checks=CHECKS)
    got = out[:8].view(np.uint8)
    assert (out[8:] == 0xFFFFFFFF).all()
    assert got[left : 32 - right].tolist() == given.tolist()
    return np.concatenate((got[:left], got[32 - right :]))


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(("left", "right"), [(0, 0), (4, 0), (0, 7), (15, 1), (15, 15), (3, 13)])
def test_bytes_at_both_ends_may_lie_outside(left: int, right: int) -> None:
    assert (stretch(left, right) == 255).all()  # left as they were


@pytest.mark.parametrize("lane", [1, 15, 16, 20, 31])
def test_any_lane_may_copy_what_is_partly_outside(lane: int) -> None:
    assert (stretch(3, 13, lane=lane) == 255).all()


@pytest.mark.parametrize(
    ("copy", "kind"), [((4, 0, 0, 3), "out-of-bounds"), ((0, 7, 1), "out-of-bounds"), ((0, 16), "invalid")]
)
def test_what_is_not_left_out_must_be_there(copy: tuple[int, ...], kind: str) -> None:
    with pytest.raises(LaunchError) as caught:
        stretch(*copy)
    assert caught.value.hazards[0].kind == kind


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("mask", [0x0001, 0x8001, 0xFFFF, 0x0FF0, 0x5555, 0])
@pytest.mark.parametrize("verb", ["cp", "multimem.cp"])
def test_of_every_16_bytes_a_mask_chooses(verb: str, mask: int) -> None:
    out = np.full(12, 0xEEEEEEEE, np.uint32)
    body = f"""mov.u32 %r21, room; shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r21;
    mad.lo.u32 %r2, %r0, 0x01010101, 0x03020100;
    st.shared.u32 [%r1], %r2; fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 ret;
    mov.b16 %h1, {mask}; {verb}.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r21], 48, %h1;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""
    entry(body, before=ROOM).launch(1, 12, [out], checks=CHECKS)
    given = (np.arange(12)[:, None] + np.arange(4)).astype(np.uint8).ravel()
    chosen = np.array([mask >> n % 16 & 1 for n in range(48)], bool)
    assert out.view(np.uint8).tolist() == np.where(chosen, given, 0xEE).tolist()


OWN_COPY = """mov.u32 %r21, room; mov.u32 %r1, 3; mov.u32 %r2, 4;
mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 16;
st.shared.v4.u32 [%r21], {{%r1, %r1, %r1, %r1}}; fence.proxy.async; {copy} cp.async.bulk.commit_group; {before} {access}
cp.async.bulk.wait_group 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], {phase}; @!%p2 bra WAIT;"""
OUT_OF = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r21], [%rd1], 16, [bar];"
OUT_TO = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r21], 16;"


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize(
    ("copy", "access", "is_wrong"),
    [
        (OUT_OF, "st.global.u32 [%rd1], %r2;", True),
        (OUT_OF, "ld.global.u32 %r1, [%rd1];", False),
        (OUT_TO, "st.global.u32 [%rd1], %r2;", True),
        (OUT_TO, "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+64], %r1;", True),
    ],
)
def test_a_thread_waits_for_its_own_copy_before_it_writes_or_reads_there(
    copy: str, access: str, waits: bool, is_wrong: bool
) -> None:
    to_global = copy is OUT_TO
    done = (
        "cp.async.bulk.wait_group 0;"
        if to_global
        else "FIRST: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra FIRST;"
    )
    body = OWN_COPY.format(copy=copy, access=access, before=done if waits else "", phase=1 if to_global else 0)
    out = np.zeros(32, np.uint32)
    found = entry(body, before=ROOM).launch(1, 1, [out], checks=("racecheck:global",), timeout=300).hazards
    assert [one.kind for one in found] == ["not-waited"] * (is_wrong and not waits)
