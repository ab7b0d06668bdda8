"""The blocks of the machine and those of the control-flow graph: each of the first lies within one of the others.

They are cut for different ends: the machine also cuts before and behind what lanes do together, and behind calls. Where
control goes, both must say alike, for uniformity is worked out on the graph.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import ptxloom as pl
from ptxloom.flow import flow_graphs
from ptxloom.machine.plan.planner import plan
from ptxloom.machine.semantics import BlockCuts

ROOT = Path(__file__).parents[3]
FILES = [*sorted((ROOT / "examples").glob("*.ptx")), *sorted((ROOT / "tests" / "kernels" / "ptx").glob("*.ptx"))]


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_block_of_the_machine_is_a_part_of_one_of_the_graph(file: Path) -> None:
    module = pl.load(file)
    blocks = [block for graph in flow_graphs(module) for block in graph.blocks if block.instructions]
    places = {id(node): number for number, block in enumerate(blocks) for node in block.instructions}
    firsts = {id(block.instructions[0]) for block in blocks}
    for function in module.functions.values():
        if function.kind != "entry" or function.body is None:
            continue
        for block in plan(module, function.name, BlockCuts()).blocks:
            written = [id(op.node) for op in block.ops if id(op.node) in places]
            assert len({places[node] for node in written}) <= 1
            assert firsts.isdisjoint(written[1:])
