"""Two questions, one notion: what is the same for a CTA is the same for each warp."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxloom.flow import flow_graph
from ptxloom.flow.uniformity import Uniformity
from ptxloom.machine import semantics
from ptxloom.machine.plan.planner import plan
from ptxloom.syntax import parse
from ptxloom.syntax.tree import Name

ROOT = Path(__file__).parents[3]
FILES = [
    *(f"examples/{name}.ptx" for name in ("hgemm", "sgemm", "reduce", "transpose", "triton_matmul")),
    "tests/corpus/triton_scans-sm_80.ptx",
]


@pytest.mark.parametrize("file", FILES)
def test_what_a_cta_shares_its_warps_share(file: str) -> None:
    module = parse((ROOT / file).read_text(encoding="utf-8"))
    seen = 0
    for function in module.functions.values():
        if function.kind != "entry" or function.body is None:
            continue
        program = plan(module, function.name, semantics.BlockCuts())
        uniform = {program.ops[site].node.start for site in program.knowledge.uniform_ops}
        graph = flow_graph(function)
        lanes = Uniformity(graph)
        for block in graph.blocks:
            for position, one in enumerate(block.instructions[:-1]):
                written = one.operands[0] if one.operands else None
                if one.start in uniform and isinstance(written, Name):
                    seen += 1
                    assert lanes.register(block.number, position + 1, written.text).uniform, one
    assert seen > 3


def test_the_other_way_round_it_is_not_so() -> None:
    """In a loop of one warp a counter is the same in all lanes, but not all of the time."""
    loop = "L: add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 9; @%p bra L;"
    text = f".entry k() {{ .reg .b32 %n; .reg .pred %p; mov.b32 %n, 0; {loop} ret; }}"
    module = parse(text)
    graph = flow_graph(module.functions["k"])
    assert Uniformity(graph).register(1, 1, "%n").uniform
    assert not plan(module, "k", semantics.BlockCuts()).knowledge.uniform
