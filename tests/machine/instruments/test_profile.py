from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kernels.catalog import cases
from ptxloom.banks import bank_conflicts
from ptxloom.machine import kernel
from ptxloom.syntax import parse
from recorded.profile.profile_examples import examples

if TYPE_CHECKING:
    from kernels.case import KernelCase
    from ptxloom.machine import Kernel, LaunchResult
    from ptxloom.machine.results.profile import Profile

HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"
CASES = {case.name: case for case in cases()}
SAMPLE = (
    "reductions.reduce_shuffle",
    "scans.scan_shuffle",
    "transposes.transpose_padded",
    "sorts.sort_bitonic",
    "control.collatz",
    "tensor.hgemm_half",
    "triton_softmax.softmax",
)


@cache
def compiled(text: str, name: str) -> Kernel:
    return kernel(parse(HEAD + text, "test.ptx"), name)


def run(text: str, block: int, *args: object, grid: int = 1, **rest: Any) -> Profile:
    result = compiled(text, "k").launch(grid, block, list(args), profile=True, **rest)
    assert result.profile is not None
    return result.profile


def launch(case: KernelCase, **rest: Any) -> tuple[LaunchResult, tuple[Any, ...]]:
    arguments = case.arguments()
    loaded = kernel(parse(case.ptx("sm_90"), case.name), case.kernel)
    return loaded.launch(case.grid, case.block, list(arguments), case.shared_bytes, **rest), arguments


BRANCHES = """
.visible .entry k(.param .u64 p) {
.reg .pred %q; .reg .b32 %t, %n; .reg .b64 %p, %x;
mov.u32 %t, %tid.x;
ld.param.u64 %p, [p];
and.b32 %n, %t, 3;
AGAIN:
sub.s32 %n, %n, 1;
setp.ge.s32 %q, %n, 0;
@%q bra AGAIN;
setp.lt.u32 %q, %t, 8;
@%q add.u32 %n, %t, 1;
mul.wide.u32 %x, %t, 4;
add.u64 %p, %p, %x;
@!%q st.global.b32 [%p], %n;
ret;
}
"""


def test_loops_predicates_and_divergence() -> None:
    profile = run(BRANCHES, 64, np.zeros(64, np.uint32))
    by_text = {row.instruction: row.counts for row in profile.rows}
    assert by_text["sub.s32 %n, %n, 1;"].executions == 2 * 4  # lanes with 0, 1, 2 and 3 more rounds, in two warps
    assert by_text["sub.s32 %n, %n, 1;"].lanes == 2 * 8 * (1 + 2 + 3 + 4)
    assert by_text["@%q bra AGAIN;"].divergent == 2 * 3
    assert by_text["@%q bra AGAIN;"].lanes == 2 * 8 * (1 + 2 + 3 + 4)
    add, store = by_text["@%q add.u32 %n, %t, 1;"], by_text["@!%q st.global.b32 [%p], %n;"]
    assert (add.executions, add.lanes) == (2, 8)
    assert (store.executions, store.lanes) == (2, 56)
    assert (store.sectors, store.ideal_sectors) == (3 + 4, 3 + 4)
    assert by_text["mul.wide.u32 %x, %t, 4;"].lanes == 64


def test_a_warp_that_waits_for_its_lanes_is_counted_once() -> None:
    text = """
.visible .entry k() {
.reg .pred %q; .reg .b32 %t, %n;
mov.u32 %t, %tid.x;
setp.lt.u32 %q, %t, 5;
@%q bra MEET;
add.u32 %n, %t, 1;
MEET:
bar.warp.sync 0xffffffff;
add.u32 %n, %t, 2;
ret;
}
"""
    rows = {row.instruction: row.counts for row in run(text, 32).rows}
    (barrier,) = (counts for name, counts in rows.items() if name.startswith("bar.warp"))
    assert (barrier.executions, barrier.lanes) == (1, 32)
    assert (rows["add.u32 %n, %t, 2;"].executions, rows["add.u32 %n, %t, 2;"].lanes) == (1, 32)
    assert (rows["add.u32 %n, %t, 1;"].executions, rows["add.u32 %n, %t, 1;"].lanes) == (1, 27)


def test_sectors_start_where_arrays_do() -> None:
    text = """
.visible .entry k(.param .u64 p) {
.reg .b32 %t; .reg .b64 %p, %x;
mov.u32 %t, %tid.x;
ld.param.u64 %p, [p];
mul.wide.u32 %x, %t, 4;
add.u64 %p, %p, %x;
ld.global.b32 %t, [%p+4];
ret;
}
"""
    room = np.zeros(256, np.uint32)
    for start in range(4):  # NumPy's arrays start at any multiple of 16, the device's at multiples of 256
        assert run(text, 32, room[4 * start : 4 * start + 64]).totals.sectors == 5


@pytest.mark.parametrize(("take", "sectors"), [(0, 0), (1, 16), (16, 16)])
def test_a_copy_that_takes_nothing_reads_no_sector(take: int, sectors: int) -> None:
    text = f"""
.visible .entry k(.param .u64 p) {{
.shared .align 16 .b8 room[512];
.reg .b32 %t, %s; .reg .b64 %p, %x;
mov.u32 %t, %tid.x;
shl.b32 %t, %t, 4;
mov.u32 %s, room;
add.u32 %s, %s, %t;
ld.param.u64 %p, [p];
cvt.u64.u32 %x, %t;
add.u64 %p, %p, %x;
cp.async.cg.shared.global [%s], [%p], 16, {take};
cp.async.wait_all;
ret;
}}
"""
    counts = run(text, 32, np.zeros(128, np.uint32)).totals
    assert (counts.wavefronts, counts.sectors) == (4, sectors)


def test_a_generic_access_is_counted_where_it_goes() -> None:
    text = """
.visible .entry k(.param .u64 p) {
.shared .align 16 .b8 tile[256];
.reg .pred %q; .reg .b32 %t; .reg .b64 %p, %s, %x;
mov.u32 %t, %tid.x;
ld.param.u64 %p, [p];
mov.u64 %s, tile;
cvta.shared.u64 %s, %s;
setp.lt.u32 %q, %t, 8;
selp.b64 %p, %s, %p, %q;
mul.wide.u32 %x, %t, 8;
add.u64 %p, %p, %x;
st.b32 [%p], %t;
ret;
}
"""
    counts = run(text, 32, np.zeros(64, np.uint32)).totals
    assert (counts.wavefronts, counts.sectors, counts.ideal_sectors) == (1, 6, 3)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", SAMPLE)
def test_a_profile_changes_no_result_and_depends_on_no_schedule(name: str) -> None:
    case = CASES[name]
    plain, wanted = launch(case)
    first, found = launch(case, profile=True, threads=1)
    second, _ = launch(case, profile=True, threads=2, schedule_seed=7)
    assert plain.profile is None
    assert first.profile is not None
    assert second.profile is not None
    for one, other in zip(wanted, found, strict=True):
        assert not hasattr(one, "tobytes") or one.tobytes() == other.tobytes()
    totals = first.profile.totals
    assert totals.executions <= plain.instructions
    assert totals.wavefronts == second.profile.totals.wavefronts
    assert totals.sectors == second.profile.totals.sectors
    assert totals.lanes == second.profile.totals.lanes


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_instruction_of_an_example_is_counted(example: KernelCase) -> None:
    result, _ = launch(example, profile=True)
    assert result.profile is not None
    assert result.profile.totals.executions == result.instructions
    assert result.profile.totals.cost > 0
    assert sum(row.counts.cost for row in result.profile.by_source) == pytest.approx(result.profile.totals.cost, 0.1)
    assert {row.line for row in result.profile.by_cost} <= {row.line for row in result.profile.rows}


def test_accesses_by_one_register_are_counted_together_and_yet_each() -> None:
    text = """
.visible .entry k(.param .u64 p) {
.shared .align 128 .b8 tile[8192];
.reg .pred %q; .reg .b16 %h; .reg .b32 %t, %a, %v; .reg .b64 %p, %x;
mov.u32 %t, %tid.x;
mov.u32 %a, tile;
mad.lo.u32 %a, %t, 8, %a;
ld.shared.b32 %v, [%a];
ld.shared.b32 %v, [%a+64];
ld.shared.b16 %h, [%a+2];
ld.shared.b16 %h, [%a+4];
mad.lo.u32 %a, %t, 56, %a;
ld.shared.b32 %v, [%a+64];
ld.shared.b32 %v, [%a+68];
setp.lt.u32 %q, %t, 4;
@%q ld.shared.b32 %v, [%a+72];
ld.param.u64 %p, [p];
mul.wide.u32 %x, %t, 12;
add.u64 %p, %p, %x;
st.global.b32 [%p], %t;
st.global.b32 [%p+4], %t;
st.global.b32 [%p+32], %t;
ld.global.b32 %v, [%p+64];
ret;
}
"""
    profile = run(text, 32, np.zeros(256, np.uint32))
    costs = {row.instruction: row.counts for row in profile.rows}
    lanes = np.arange(32)
    for instruction, addresses in {
        "ld.shared.b32 %v, [%a];": 8 * lanes,
        "ld.shared.b16 %h, [%a+2];": 8 * lanes + 2,
        "ld.shared.b16 %h, [%a+4];": 8 * lanes + 4,
        "ld.shared.b32 %v, [%a+68];": 64 * lanes + 68,
    }.items():
        report = bank_conflicts(instruction.split()[0], addresses)
        assert (costs[instruction].wavefronts, costs[instruction].conflicts) == (report.wavefronts, report.conflicts)
    assert costs["@%q ld.shared.b32 %v, [%a+72];"].wavefronts == 2
    found = [row.counts.wavefronts for row in profile.rows if row.instruction == "ld.shared.b32 %v, [%a+64];"]
    assert found == [2, 16]
    for instruction, offset in (("st.global.b32 [%p];", 0), ("st.global.b32 [%p+4], %t;", 4)):
        sectors = len({(12 * lane + offset) // 32 for lane in range(32)})
        assert costs[instruction.replace("];", "], %t;")].sectors == sectors
    assert costs["st.global.b32 [%p+32], %t;"].sectors == costs["st.global.b32 [%p], %t;"].sectors
    samples = {row.instruction: row.samples for row in profile.rows}["ld.shared.b32 %v, [%a+68];"]
    assert samples is not None
    assert samples.addresses[0].tolist() == (64 * lanes + 68).tolist()
