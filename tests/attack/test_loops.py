"""No loop of the run-time or of a kernel's code goes on as long as a kernel likes: each ends or spends."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from attack.kernel_loops import endless as endless_code
from attack.kernel_loops import without_looks
from attack.loop_audit import Audit, audits, failing_without
from attack.test_audit import TOOLS, attacked, variants_of
from attack.test_native_bounds import child_of

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
    assert {"meet_cell", "meet_crowd", "has_trace", "hand_over", "wait_group"} <= set(spending)
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
