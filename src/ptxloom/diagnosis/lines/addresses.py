"""What an address is made of: the instructions behind its register, as far as they are known without running them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from ptxloom.binding.effects import destinations
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.meaning.origins import ORIGINS, Origin
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op, Program

_MOST: Final = 200  # instructions that are looked at


def made_of(op: Op, program: Program) -> tuple[Op, ...]:
    """The instructions that make the address of a load, a store or a copy, those that are nearest first."""
    makers: defaultdict[str, list[Op]] = defaultdict(list)
    for other in program.ops:
        if other.function is op.function:
            for name, _ in destinations(other.node):
                makers[name.text].append(other)
    names = [
        node.text
        for operand in op.operands
        if isinstance(operand, tree.Address)
        for node in walk(operand)
        if isinstance(node, tree.Name)
    ]
    found: dict[Op, None] = {}
    known: set[str] = set()
    while names and len(found) < _MOST:
        name = names.pop(0)
        if name in known:
            continue
        known.add(name)
        for maker in makers[name]:
            if ORIGINS.get(maker.opcode) in {Origin.MEMORY, Origin.BEFORE}:
                continue
            found.setdefault(maker)
            names += [read.text for _, read in names_read(maker)]
    return tuple(found)
