"""Ways of the machine that few kernels take: rare operands, lanes that come late, and whose mistake is named first."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.machine import LaunchError

FIELDS = ("xyzw", "rgba")


@pytest.mark.parametrize("fields", FIELDS)
def test_elements_of_a_vector_register_have_two_names_each(fields: str) -> None:
    out = np.zeros((4, 32), np.uint32)
    for written in FIELDS:
        body = ".reg .v4 .u32 %v;\n"
        body += "".join(f"mad.lo.u32 %r1, %r0, 8, {n}; mov.u32 %v.{field}, %r1;\n" for n, field in enumerate(written))
        body += "".join(f"st.global.u32 [%rd0+{128 * n}], %v.{field};\n" for n, field in enumerate(fields))
        entry(body, unchecked=True).launch(1, 32, [out])
        assert out.T.tolist() == [[8 * lane + n for n in range(4)] for lane in range(32)]
        out[:] = 0


@pytest.mark.parametrize("space", ["shared", "global"])
@pytest.mark.parametrize(("type_", "shift"), [("u8", 0), ("u16", 1), ("u32", 2), ("u64", 3)])
def test_a_register_counts_elements_of_an_array_and_a_number_adds_to_it(space: str, type_: str, shift: int) -> None:
    out = np.zeros((2, 32), np.uint32)
    before = f".{space} .align 8 .{type_} table[40];\n"
    body = f"""
    mov.u64 %rd2, table; mul.wide.u32 %rd3, %r0, {1 << shift}; add.u64 %rd2, %rd2, %rd3;
    mad.lo.u32 %r1, %r0, 3, 5; cvt.u64.u32 %rd4, %r1; cvt.u16.u32 %h1, %r1;
    st.{space}.{type_} [%rd2], {"%rd4" if type_ == "u64" else "%h1" if type_ in ("u8", "u16") else "%r1"};
    bar.sync 0; sub.u32 %r2, 31, %r0; min.u32 %r3, %r0, 28;
    """
    register = "%rd5" if type_ == "u64" else "%h2" if type_ in ("u8", "u16") else "%r5"
    for number, place in enumerate(("%r2", "%r3+3")):
        body += f"ld.{space}.{type_} {register}, table[{place}]; cvt.u32.{type_} %r6, {register};"
        body += f"st.global.u32 [%rd0+{128 * number}], %r6;"
    entry(body, before=before).launch(1, 32, [out])
    lane = np.arange(32)
    assert out[0].tolist() == ((31 - lane) * 3 + 5).tolist()
    assert out[1].tolist() == ((np.minimum(lane, 28) + 3) * 3 + 5).tolist()


def test_an_atomic_of_a_generic_address_finds_shared_and_global_memory_in_one_warp() -> None:
    out, table = np.zeros(32, np.uint32), np.zeros(2, np.uint32)
    body = """
    ld.param.u64 %rd2, [table]; mov.u64 %rd3, cell; cvta.shared.u64 %rd3, %rd3; setp.eq.u32 %p1, %r0, 0;
    mov.u32 %r1, 100; @%p1 st.shared.u32 [cell], %r1; bar.sync 0;
    and.b32 %r2, %r0, 1; setp.eq.u32 %p2, %r2, 0; selp.b64 %rd4, %rd3, %rd2, %p2;
    atom.add.u32 %r3, [%rd4], 1; st.global.u32 [%rd0], %r3; bar.sync 0;
    @%p1 ld.shared.u32 %r4, [cell]; @%p1 st.global.u32 [%rd2+4], %r4;
    """
    params = ".param .u64 out, .param .u64 table"
    entry(body, params, ".shared .align 4 .u32 cell;").launch(1, 32, [out, table])
    assert sorted(out[::2].tolist()) == list(range(100, 116))
    assert sorted(out[1::2].tolist()) == list(range(16))
    assert table.tolist() == [16, 116]


@pytest.mark.parametrize("kind", ["", ".aligned"])
def test_lanes_that_come_late_to_the_barrier_of_a_cluster_do_nothing_twice(kind: str) -> None:
    out = np.zeros(32, np.uint32)
    body = f"""
    mov.u32 %r1, 0; mov.u32 %r2, 0; setp.lt.u32 %p1, %r0, 16; @%p1 bra HERE;
    LATE: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 50; @%p2 bra LATE;
    HERE: add.u32 %r1, %r1, 1; barrier.cluster.arrive{kind}; add.u32 %r1, %r1, 10;
    barrier.cluster.wait{kind}; st.global.u32 [%rd0], %r1;
    """
    entry(body).launch(1, 32, [out], timeout=300)
    assert out.tolist() == [11] * 32


@pytest.mark.parametrize(
    "statement",
    [
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        "barrier.cluster.arrive; barrier.cluster.wait.aligned;",
        "barrier.sync.aligned 0, 32;",
        "shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1;",
        "vote.sync.all.pred %p2, %p1, -1;",
        "match.any.sync.b32 %r2, %r0, -1;",
        "redux.sync.add.u32 %r2, %r0, -1;",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r0;",
    ],
)
def test_lanes_that_go_on_without_the_others_do_nothing_twice(statement: str) -> None:
    """Each half of a warp comes to an instruction of its own, at which none of the other half will ever come."""
    out = np.zeros(32, np.uint32)
    body = f"""
    mov.u32 %r1, 0; setp.lt.u32 %p1, %r0, 16; @%p1 bra FIRST;
    add.u32 %r1, %r1, 1; {statement} add.u32 %r1, %r1, 10; bra LAST;
    FIRST: add.u32 %r1, %r1, 1; {statement} add.u32 %r1, %r1, 10;
    LAST: st.global.u32 [%rd0], %r1;
    """
    entry(body).launch(1, 32, [out], checks=("memcheck",), timeout=300)
    assert out.tolist() == [11] * 32


@pytest.mark.parametrize("namer", [None, 0, 1, 15, 16, 29, 30])
def test_one_lane_that_names_a_member_that_has_exited_is_reported(namer: int | None) -> None:
    out = np.zeros(32, np.uint32)
    body = f"""
    setp.eq.u32 %p1, %r0, 31; @%p1 exit;
    mov.u32 %r2, 0x7fffffff; setp.eq.u32 %p2, %r0, {99 if namer is None else namer}; @%p2 mov.u32 %r2, -1;
    shfl.sync.idx.b32 %r1, %r0, 3, 31, %r2; st.global.u32 [%rd0], %r1;
    """
    found = entry(body).launch(1, 32, [out], checks=("synccheck",), timeout=300).hazards
    assert [one.kind for one in found] == ([] if namer is None else ["exited-members", "mask-mismatch"])
    assert out[:31].tolist() == [3] * 31


def test_members_that_wait_at_another_shuffle_are_reported_only_if_asked() -> None:
    out = np.zeros(32, np.uint32)
    body = """
    setp.lt.u32 %p1, %r0, 16; @%p1 bra FIRST;
    shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; bra LAST;
    FIRST: shfl.sync.bfly.b32 %r1, %r0, 2, 31, -1;
    LAST: st.global.u32 [%rd0], %r1;
    """
    kernel = entry(body)
    assert kernel.launch(1, 32, [out], checks=("synccheck",), timeout=300).hazards
    assert not kernel.launch(1, 32, [out], checks=("memcheck",), timeout=300).hazards


def test_lanes_of_an_aligned_instruction_do_not_wait_for_those_of_another_one_and_nothing_is_reported_unasked() -> None:
    out = np.zeros(32, np.uint32)
    body = """
    setp.lt.u32 %p1, %r0, 16; @%p1 bra FIRST;
    movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0; bra LAST;
    FIRST: movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;
    LAST: mov.u32 %r2, 1; st.global.u32 [%rd0], %r2;
    """
    for checks in (("memcheck",), ("synccheck",)):
        found = entry(body).launch(1, 32, [out], checks=checks, timeout=300).hazards
        assert {one.kind for one in found} == ({"divergent"} if checks == ("synccheck",) else set())
        assert out.all()
        out[:] = 0


BLOCKS = tuple(product(range(2), range(2), range(2)))


@pytest.mark.parametrize("early", BLOCKS[1:])
@pytest.mark.parametrize("late", BLOCKS[:-1])
def test_of_the_same_mistake_the_first_block_is_named_whichever_made_it_first(
    early: tuple[int, int, int], late: tuple[int, int, int]
) -> None:
    """Blocks are in order by z, y and x; of two blocks, one waits for the other."""
    number = {block: block[2] * 4 + block[1] * 2 + block[0] for block in BLOCKS}
    if number[early] == number[late]:
        return
    body = f"""
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ctaid.z; mad.lo.u32 %r2, %r3, 2, %r2;
    mad.lo.u32 %r2, %r4, 4, %r2; setp.eq.u32 %p1, %r2, {number[early]}; @%p1 bra DO;
    setp.ne.u32 %p1, %r2, {number[late]}; @%p1 ret;
    WAIT: ld.volatile.global.u32 %r5, [%rd1]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;
    DO: ld.shared.u32 %r6, [cell]; add.u32 %r6, %r6, 1; st.global.u32 [%rd1+4], %r6; membar.gl;
    st.volatile.global.u32 [%rd1], 1;
    """
    kernel = entry(body.replace("[%rd1], 1", "[%rd1], %r7").replace("DO:", "DO: mov.u32 %r7, 1;"), before=CELL)
    out = np.zeros(2, np.uint32)
    (found,) = kernel.launch((2, 2, 2), 1, [out], checks=("initcheck",), threads=1, timeout=300).hazards
    assert found.count == 2
    assert tuple(found.block) == min(early, late, key=lambda block: number[block])


CELL = ".shared .align 4 .u32 cell;\n"


def test_a_number_stored_beside_what_is_unwritten_is_written() -> None:
    """What was stored there before does not stick to it."""
    out = np.zeros(32, np.uint32)
    body = """
    .reg .u32 %never; mov.u32 %r20, tile; mad.lo.u32 %r2, %r0, 8, %r20; add.u32 %r3, %r2, 256;
    st.shared.v2.u32 [%r2], {%r0, %never}; st.shared.v2.u32 [%r3], {%never, 5};
    ld.shared.u32 %r4, [%r3+4]; st.global.u32 [%rd0], %r4;
    """
    before = ".shared .align 16 .b8 tile[512];\n"
    for place, kinds in ((4, set[str]()), (0, {"initcheck"})):
        kernel = entry(body.replace("[%r3+4]", f"[%r3+{place}]"), before=before, unchecked=True)
        found = kernel.launch(1, 32, [out], checks=("initcheck",)).hazards
        assert {one.tool for one in found} == kinds
        if not kinds:
            assert out.tolist() == [5] * 32


@pytest.mark.parametrize(
    ("access", "size"), [("u8 %h1", 1), ("u32 %r1", 4), ("v4.u32 {%r1, %r2, %r3, %r4}", 16), ("b128 %q", 16)]
)
def test_an_address_of_another_space_is_reported_with_as_many_bytes_as_are_touched(access: str, size: int) -> None:
    body = f".reg .b128 %q; mov.u64 %rd3, tile; cvta.shared.u64 %rd3, %rd3; ld.shared.{access}, [%rd3];"
    with pytest.raises(LaunchError) as caught:
        entry(body, before=".shared .align 16 .b8 tile[512];\n").launch(1, 32, [np.zeros(32, np.uint32)])
    assert [one.size for one in caught.value.hazards] == [size]
