"""The code of a kernel: nothing leaves it, and nothing in it can go on for ever without a look at the budget."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ptxloom as pl
from machine.plan.call_programs import program
from machine.small_kernels import entry
from ptxloom.machine import semantics
from ptxloom.machine.compile import variant
from ptxloom.machine.compile.needs import SYMBOL
from ptxloom.machine.native import language
from ptxloom.machine.plan import planner
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.turns import LOST

KERNELS = sorted((Path(__file__).parents[2] / "kernels" / "ptx").glob("*-sm_90.ptx"))
BUDGET = language.record(state.Warp).offsets["budget"]


def code(module: pl.Module, name: str, *, whole: bool) -> str:
    """The IR of a kernel."""
    return variant.translate(planner.plan(module, name, semantics.BlockCuts()), whole=whole).ir


def ways(ir: str) -> dict[str, tuple[str, ...]]:
    """Where each block of the kernel's function goes; blocks that spend of the budget are left out.

    So are the ways of a strip of lanes to the next strip: they are counted, and few.
    """
    found: dict[str, tuple[str, ...]] = {}
    body = ir[ir.index(f"@{SYMBOL}(") :]
    for block in re.split(r"\n(?=[\w.]+:\n)", body):
        name = block.partition(":")[0] if re.match(r"[\w.]+:\n", block) else "entry"
        fields = re.findall(rf"(%\S+) = getelementptr i8, ptr %w, i64 {BUDGET}\n", block)
        if not any(re.search(rf"store i32 \S+, ptr {re.escape(field)},", block) for field in fields):
            targets = re.findall(r"label %([\w.]+)", block)
            found[name] = tuple(t for t in targets if t != name or not re.fullmatch(r"S\d+", name))
    return found


def a_circle(ways_: dict[str, tuple[str, ...]]) -> list[str]:
    """Blocks that lie on a way in a circle, or behind one; none if there is no circle."""
    left = dict(ways_)
    while ends := [name for name, targets in left.items() if not any(target in left for target in targets)]:
        for name in ends:
            del left[name]
    return list(left)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_way_back_costs_budget_and_no_branch_is_indirect(path: Path) -> None:
    module = pl.load(path)
    for function in [f for f in module.functions.values() if f.kind == "entry"]:
        for whole in (True, False):
            ir = code(module, function.name, whole=whole)
            assert "indirectbr" not in ir
            assert "blockaddress" not in ir
            assert len(ways(ir)) > 1
            assert not a_circle(ways(ir))


@pytest.mark.parametrize("seed", range(6))
def test_so_it_is_of_calls(seed: int) -> None:
    module = pl.parse(program(seed).text())
    for whole in (True, False):
        ir = code(module, "k", whole=whole)
        assert "indirectbr" not in ir
        assert not a_circle(ways(ir))


def test_a_circle_would_be_found() -> None:
    ir = f"define i32 @{SYMBOL}(ptr %w) {{\nentry:\nbr label %a\na:\nbr label %b\nb:\nbr label %a\n}}"
    assert a_circle(ways(ir)) == ["entry", "a", "b"]


@pytest.mark.parametrize("block", [3, 1000, 0x7FFFFFFF, 0xFFFFFFFE])
def test_a_block_that_the_kernel_does_not_have_is_never_gone_to(block: int) -> None:
    kernel = entry("mov.u32 %r1, 5; st.global.u32 [%rd0], %r1;", name=f"lost_at_{block}")
    assert len(kernel.program.blocks) <= 3
    kernel.needs = replace(kernel.needs, entry=block)
    with pytest.raises(AssertionError, match=f"internal error: status {LOST}"):
        kernel.launch(1, 32, [np.zeros(32, np.uint32)])
