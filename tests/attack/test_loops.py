"""No loop of the run-time goes on for as long as a kernel likes: each has an end, or spends of the budget."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from attack.loop_audit import Audit, audits, failing_without
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


def test_a_box_that_reaches_beyond_its_tensor_is_not_walked_through() -> None:
    child = child_of("from attack.far_boxes import main; sys.exit(main())", seconds=300)
    assert child.stdout.splitlines() == [
        *["outside: [0, 0, 0, 0]"] * 2,
        *["touched by its first row: [1, 2, 3, 4]"] * 2,
        *["inside: memcheck.out-of-bounds"] * 2,
    ], child.stderr[-500:]
