"""No loop of the run-time or of a kernel's code goes on as long as a kernel likes: each ends or spends."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

import pytest

from attack.kernel_loops import endless as endless_code
from attack.kernel_loops import without_looks
from attack.loop_audit import Audit, audits, failing_without
from attack.made_loops import endless as endless_made
from attack.made_loops import loops as loops_of
from attack.test_audit import ACCESSES, LOOKS, TOOLS, attacked, variants_of
from attack.test_native_bounds import child_of
from ptxloom.machine.native.closure import ATTRIBUTES
from ptxloom.machine.runtime import library

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The scheduler's: they go on as long as compiled code does, whose ways back spend (`codegen.builder`).
RUNS = {"run_warp: while status == SWITCH:", "run_worker: while True:"}


def endless(found: Sequence[Audit]) -> set[str]:
    return {f"{a.tree.name}: {ast.unparse(loop).splitlines()[0]}" for a in found for loop in a.endless()}


def test_every_loop_of_a_native_function_has_an_end_or_spends() -> None:
    found = audits()
    loops = [one for audit in found for one in ast.walk(audit.tree) if isinstance(one, ast.While | ast.For)]
    assert len(loops) > 350
    assert endless(found) == RUNS


def test_the_proof_fails_without_what_it_rests_on() -> None:
    spending = failing_without("spend")
    assert len(spending) >= 12
    assert {"meet_cell", "meet_history", "has_trace", "hand_over", "wait_group"} <= set(spending)
    assert len(failing_without("assert")) >= 18


WAYS_BACK = """.version 8.0
.target sm_80
.address_size 64
.func (.reg .u32 out) again(.reg .u32 n) {
  .reg .pred %p; .reg .u32 %r<2>;
  setp.eq.u32 %p, n, 0; @%p ret;
  sub.u32 %r0, n, 1; call (%r1), again, (%r0);
}
.visible .entry k(.param .u64 p) {
  .reg .u32 %r<4>; .reg .pred %p<3>; .reg .u64 %d;
  T: .branchtargets A, B;
  ld.param.u64 %d, [p]; mov.u32 %r1, %tid.x;
  A: add.u32 %r1, %r1, 1; ld.global.u32 %r2, [%d]; bar.warp.sync -1; setp.lt.u32 %p1, %r1, 99; @%p1 bra A;
  B: bar.sync 0; call (%r3), again, (%r2); setp.lt.u32 %p2, %r2, %r3;
  C: @%p2 bra C;
  @%p1 brx.idx %r1, T;
  bra A;
}
"""


@pytest.mark.parametrize("tools", TOOLS)
def test_every_cycle_of_a_kernel_looks_at_the_budget(tools: tuple[str, ...]) -> None:
    for variant, _ in variants_of(WAYS_BACK, "k", tools):
        assert endless_code(variant.ir) == []
        without = list(map(endless_code, without_looks(variant.ir)))
        assert sum(map(bool, without)) >= 3


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("tools", TOOLS)
def test_no_instruction_with_an_address_goes_round_without_end(tools: tuple[str, ...]) -> None:
    for variant, _ in attacked(tools):
        assert endless_code(variant.ir) == []


# -------------------------------------------------------------------- what kernels call that is written as IR by hand

_D: Final = "{%f0, %f1, %f2, %f3}"
_A: Final = "{%r0, %r1, %r2, %r3}"
PRODUCTS: Final = f""".version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .f64 %d<8>;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {_D}, {_A}, {{%r4, %r5}}, {_D};
  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {_D}, {_A}, {{%r4, %r5}}, {_D};
  mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {{%r6, %r7, %r8, %r9}}, {_A}, {{%r4, %r5}}, {{%r6, %r7, %r8, %r9}};
  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{%d0, %d1}}, {{%d2}}, {{%d3}}, {{%d0, %d1}};
  mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {_D}, {_A}, {{%r4, %r5, %r6, %r7}}, {_D}, %r8, 0;
  ret;
}}
"""


def written_by_hand() -> dict[str, str]:
    """The IR of all looks and accesses of a warp, and of the functions that kernels bring along."""
    found = {name: library.made(name)[0] + ATTRIBUTES for name in (*ACCESSES, *LOOKS)}
    for tools in TOOLS:
        for variant, _ in (*attacked(tools), *variants_of(PRODUCTS, "k", tools)):
            found |= variant.builder.helpers
    return found


def test_every_cycle_of_what_kernels_call_ends_after_as_many_rounds_as_no_kernel_decides() -> None:
    found = written_by_hand()
    assert {one for ir in found.values() for one in endless_made(ir)} == set()
    assert {name.split("_")[1].split(".")[0] for name in found if loops_of(found[name])} >= {
        "race",
        "init",
        "atom",
        "combine",
    }
    assert sum(map(loops_of, found.values())) > 100


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ptxloom_race_write_shared_32x1", "%r = and i32 %left, %less", "%r = or i32 %left, %less"),
        ("ptxloom_race_write_shared_32x1", "%y1 = and i32 %y, %y.less", "%y1 = and i32 %y, %young.mask"),
        ("ptxloom_race_write_shared_32x1", "%k1 = add i32 %k, 8", "%k1 = add i32 %k, 0"),
        ("ptxloom_race_write_shared_32x1", "icmp uge i32 %k, %s.summaries", "icmp uge i32 %k, %site"),
        ("ptxloom_race_read_shared_32x1", "%r = and i32 %others, %unlike", "%r = xor i32 %left, %g"),
        ("ptxloom_race_read_shared_32x1", "%f1 = and i32 %f, %f.less", "%f1 = and i32 %f, %near"),
        ("ptxloom_init_read_shared_4", "%rest0 = and i32 %left0, %less0", "%rest0 = and i32 %left0, %mask"),
        ("ptxloom_atom_add_f32_global", "%each.next = and i32 %each.left, ", "%each.next = or i32 %each.left, "),
        ("ptxloom_atom_add_f32_global", "br i1 %swapped, ", "br i1 false, "),
        ("ptxloom_combine_add_u32_global", "icmp ult i64 %at, %bytes", "icmp ult i64 %at, -1"),
    ],
)
def test_the_proof_sees_a_cycle_by_hand_that_nothing_ends(name: str, old: str, new: str) -> None:
    helpers = {k: v for variant, _ in attacked(()) for k, v in variant.builder.helpers.items()}
    ir = helpers[name] if name in helpers else library.made(name)[0] + ATTRIBUTES
    assert ir.count(old) == 1
    assert endless_made(ir) == []
    assert len(endless_made(ir.replace(old, new))) == 1


COUNTER = """%x1 = phi i32 [ 0, %ahead ], [ {next}, %again ]
%x2 = add i32 %x1, 1
%x3 = icmp ult i32 %x2, {bound}
br i1 %x3, label %again, label %go.on"""
NO_SPENDING = """%x1 = load i32, ptr %w, align 4
%x2 = icmp slt i32 %x1, 0
br i1 %x2, label %again, label %go.on"""


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("br label %again", False),
        (NO_SPENDING, False),
        (COUNTER.format(next="%x2", bound="32"), True),
        (COUNTER.format(next="%x2", bound="%x1"), False),
        (COUNTER.format(next="%x2", bound="99"), False),
        (COUNTER.format(next="0", bound="32"), False),
    ],
)
def test_the_proof_sees_a_cycle_that_nothing_ends(line: str, *, ends: bool) -> None:
    [variant, _] = variants_of(WAYS_BACK, "k", ())
    loop = f"br label %ahead\nahead:\nbr label %again\nagain:\n{line}\ngo.on:\nbr label %dispatch\n"
    ir = variant[0].ir.replace("br label %dispatch\n", loop, 1)
    assert len(endless_code(ir)) == (not ends)


def test_a_box_that_reaches_beyond_its_tensor_is_not_walked_through() -> None:
    child = child_of("from attack.far_boxes import main; sys.exit(main())", seconds=300)
    assert child.stdout.splitlines() == [
        *["outside: [0, 0, 0, 0]"] * 2,
        *["touched by its first row: [1, 2, 3, 4]"] * 2,
        *["inside: memcheck.out-of-bounds"] * 2,
    ], child.stderr[-500:]
