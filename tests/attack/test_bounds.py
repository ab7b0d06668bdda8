"""No address, count or offset reaches memory that a launch was not given, whichever tools watch."""

from __future__ import annotations

import ctypes
import itertools
from typing import Final

import pytest

from attack.edges import BEFORE, HEAD, REGISTERS, SHARED_BYTES, launches, statements
from attack.guarded import ROOM_BYTES, Attack, Outcome, Room, attack, failures, room
from ptxloom.machine.native.ir import Emitter, Value
from ptxloom.machine.native.jit import native_address
from ptxloom.machine.runtime.memory.bounds import inside, within
from sweeps import part_and_whole

TOOLS: Final = ((), ("racecheck",), ("initcheck",), ("racecheck:global",), ("initcheck:global",))
LAST: Final = (1 << 64) - 16


def body_of(body: str, more: str = "") -> str:
    """A kernel with `%r1` at `area`, `%r2` at the mbarrier `bar`, `%rd1` at an array, `%rd2` an address given."""
    start = (
        "mov.u32 %r0, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [at]; mov.u32 %r1, area; mov.u32 %r2, bar;"
    )
    params = f".param .u64 out, .param .u64 at{more}"
    return f"{HEAD}{BEFORE}.visible .entry k({params})\n{{\n{REGISTERS}{start}\n{body}\nret;\n}}\n"


def under_every_tool(body: str, at: int = 0, block: int = 32) -> dict[tuple[str, ...], Outcome]:
    """How a kernel ends under each tool, alone and as a cluster."""
    ways = [(tools, cluster) for tools in TOOLS for cluster in (None, 1)]
    text = body_of(body)
    ones = [
        Attack(text, (Room(), at), block=block, cluster=cluster, checks=("memcheck", "synccheck", *tools))
        for tools, cluster in ways
    ]
    return {
        (*tools, *["cluster"] * bool(cluster)): end for (tools, cluster), end in zip(ways, attack(ones), strict=True)
    }


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(
    "body",
    [
        "ld.const.v4.u32 {%r5, %r6, %r7, %r8}, [%rd2];",
        "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd2];",
        "st.global.v2.b64 [%rd2], {%rd1, %rd1};",
        "ld.v4.u32 {%r5, %r6, %r7, %r8}, [%rd2];",
        "atom.global.exch.b128 %q1, [%rd2], %q2;",
        "cp.async.ca.shared.global [%r1], [%rd2+12], 4; cp.async.wait_all;",
        "cp.async.cg.shared.global [%r1], [%rd2], 16; cp.async.wait_all;",
        "mov.u32 %r5, 16; cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], %r5;",
    ],
)
def test_an_address_at_the_end_of_all_addresses_is_out_of_bounds(body: str) -> None:
    for tools, end in under_every_tool(body, LAST).items():
        assert (end.kind, end.hazards[:1], end.broken) == ("fault", ("memcheck.out-of-bounds",), ()), (tools, end)


@pytest.mark.parametrize(
    ("body", "clean"),
    [
        ("mapa.shared::cluster.u32 %r5, %r1, 0; mad.lo.u32 %r5, %r0, 4, %r5; st.shared::cluster.u32 [%r5], %r0;", True),
        ("mapa.shared::cluster.u32 %r5, %r1, 0; st.shared::cluster.u32 [%r5], %r0;", False),
        ("mov.u32 %r5, 0; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r5;", True),
        ("mov.u32 %r5, 0; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], %r5;", True),
    ],
)
def test_the_tools_survive_what_runs(body: str, clean: bool) -> None:
    for tools, end in under_every_tool(body).items():
        assert (end.kind, end.broken) == ("done", ()), (tools, end)
        assert (end.hazards != ()) is ("racecheck" in tools and not clean), (tools, end)


def test_a_store_that_reports_to_no_mbarrier_ends_the_kernel_under_every_tool() -> None:
    body = """mapa.shared::cluster.u32 %r5, %r1, 0; mapa.shared::cluster.u32 %r6, %r2, 0;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r0, [%r6];"""
    for tools, end in under_every_tool(body).items():
        kind = "memcheck.no-mbarrier" if "cluster" in tools else "memcheck.no-cluster"
        assert (end.kind, end.hazards[0], end.broken) == ("fault", kind, ()), (tools, end)


def test_a_store_that_ran_before_at_another_place_is_compared_within_its_own_values() -> None:
    body = """mov.u32 %r5, 3000; mov.u32 %r7, 0;
    L: shl.b32 %r6, %r0, 2; xor.b32 %r6, %r6, %r7; add.u32 %r6, %r6, %r1; st.shared.u32 [%r6], %r5;
    add.u64 %rd3, %rd1, 0; mad.wide.u32 %rd3, %r7, 1, %rd3; st.global.u32 [%rd3], %r5;
    add.u32 %r7, %r7, 4; and.b32 %r7, %r7, 127; sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra L;"""
    for tools, end in under_every_tool(body).items():
        assert (end.kind, end.broken) == ("done", ()), (tools, end)


SIZES: Final = {"u8": 1, "u32": 4, "v2.b64": 16}
_VALUES: Final = {"u8": "%r5", "u32": "%r5", "v2.b64": "{%rd5, %rd6}"}


def test_loads_and_stores_run_where_all_lanes_are_inside_and_end_the_kernel_where_one_is_not() -> None:
    """Rows, equal addresses and scattered ones, around both ends of an array and of shared memory, against a model."""
    ones: list[Attack] = []
    legal: list[bool] = []
    for kind, size in SIZES.items():
        for space, start, end in (("global", room(0), room(0) + ROOM_BYTES), ("shared", 0, SHARED_BYTES)):
            window = 1 << (64 if space == "global" else 32)
            register = "%rd4" if space == "global" else "%r4"
            text = body_of(
                "ld.param.u64 %rd5, [by]; cvt.u64.u32 %rd3, %r0; mad.lo.u64 %rd4, %rd3, %rd5, %rd2; "
                f"cvt.u32.u64 %r4, %rd4; ld.{space}.{kind} {_VALUES[kind]}, [{register}]; "
                f"st.{space}.{kind} [{register}], {_VALUES[kind]};",
                ", .param .u64 by",
            )
            for lanes, stride in itertools.product((32, 7), (size, 0, 3 * size, -size)):
                places = {edge + by for edge in (start, end) for by in (0, -size, size, -1, 1, -lanes * abs(stride))}
                places |= {end - (lanes - 1) * stride - size, end - (lanes - 1) * stride, start - (lanes - 1) * stride}
                for at in sorted(places):
                    all_ = [(at + lane * stride) % window for lane in range(lanes)]
                    legal.append(all(start <= a <= end - size and a % size == 0 for a in all_))
                    label = f"{space} {kind} by {stride}, {lanes} lanes, from {at - start}"
                    args = (Room(), at % (1 << 64), stride % (1 << 64))
                    ones.append(Attack(text, args, block=lanes, label=label))
    assert any(legal)
    for one, end_, good in zip(ones, attack(ones), legal, strict=True):
        assert end_.holds, (one.label, end_)
        assert (end_.kind == "done") is good, (one.label, end_)


MODES: Final = (
    (("memcheck", "synccheck"), False, 1999),
    (("racecheck", "racecheck:global", "initcheck", "initcheck:global"), False, 4001),
    ((), True, 4001),
)
_BATCHES: Final = 6
_SPARSER: Final = 3


@pytest.mark.parametrize("mode", range(len(MODES)))
@pytest.mark.parametrize("whole", part_and_whole(False, True))
def test_every_instruction_with_an_address_holds_at_every_edge(mode: int, whole: bool) -> None:
    """A part of all launches, another for each instruction: each ends, with or without a report, and harms nothing."""
    checks, watch, every = MODES[mode]
    batches = [statements()[n::_BATCHES] for n in range(_BATCHES)]
    if not whole:  # every instruction in one mode, a few launches of each
        batches, every = batches[mode :: len(MODES)], every * _SPARSER
    ones = [
        one
        for number, batch in enumerate(batches)
        for one in launches(batch, number + mode, every=every, checks=checks, watch=watch)
    ]
    assert failures(ones) == []


def test_a_wrapped_sum_is_outside_in_native_code_and_in_ir_alike() -> None:
    room_of = (0, 1, 16, 1 << 32, (1 << 64) - 1)
    e = Emitter()
    inside(e, Value("i64", "%offset"), Value("i64", "%size"), Value("i64", "%room"))
    assert [line.split(" = ")[1].split()[0] for line in e.lines] == ["icmp", "sub", "icmp", "and"]
    call = ctypes.CFUNCTYPE(ctypes.c_uint32, *[ctypes.c_uint64] * 3)(native_address(within))
    for room_bytes in room_of:
        for size in (0, 1, 16, room_bytes, (1 << 64) - 1):
            for place in (0, 1, room_bytes, room_bytes - size, (1 << 64) - size, (1 << 64) - 1):
                offset = place % (1 << 64)
                expected = int(offset + size <= room_bytes)
                assert call(offset, size, room_bytes) == expected == within(offset, size, room_bytes)
