"""Static facts about registers: which hold a literal, which hold one value for a whole CTA.

A register that the program writes once, without a predicate, from operands that never change within a CTA, by a row
that may be built for any number of lanes, holds the same value in every lane whenever it is read; it is computed once
for the warp and kept in the first element of its place. nvcc and Triton write many such registers: parameters, block
indices, addresses of arrays.

So this is about a CTA and all of its run, and one pass suffices; `flow.uniformity` is about a warp at one place, along
every way. What is uniform here is uniform there, not the other way round (`tests/unit/machine/test_uniform_values.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.program.knowledge import Knowledge
from ptxloom.machine.program.mentions import written
from ptxloom.machine.program.parts import is_whole
from ptxloom.machine.program.symbols import FunctionName, Register, Variable
from ptxloom.meaning import table
from ptxloom.meaning.literals import literal_bits
from ptxloom.meaning.moves import is_copy
from ptxloom.meaning.origins import ORIGINS, Origin
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Op

_SPECIAL: Final = frozenset(
    f"%{name}.{axis}" for name in ("ntid", "ctaid", "nctaid", "cluster_nctaid", "nclusterid") for axis in "xyz"
)


def analyse(ops: Sequence[Op]) -> Knowledge:
    """Find the literals and the uniform registers of a program."""
    writes: dict[int, int] = {}
    results = [written(op) for op in ops]
    for registers in results:
        for register in registers:
            writes[register.offset] = writes.get(register.offset, 0) + 1
    literals: dict[int, int] = {}
    uniform = set[int]()
    sites = set[int]()
    for op, found in zip(ops, results, strict=True):  # one pass: compilers write a register before they read it
        if op.node.predicate is not None or not op.types:
            continue
        if len(found) != 1 or writes[found[0].offset] != 1 or not isinstance(op.operands[0], tree.Name):
            continue
        if found[0].type.kind == "p" or not _is_uniform(op, uniform):
            continue
        uniform.add(found[0].offset)
        sites.add(op.site)
        source = op.operands[-1]
        if is_copy(op) and isinstance(source, (tree.Integer, tree.Float)):
            literals[found[0].offset] = literal_bits(source, op.type)
    return Knowledge(literals, frozenset(uniform), frozenset(sites))


def _is_uniform(op: Op, uniform: set[int]) -> bool:
    if ORIGINS.get(op.opcode) is Origin.MEMORY and len(op.operands) > 1 and is_whole(op):
        source = op.operands[1]
        base = source.base if isinstance(source, tree.Address) else None
        variable = op.scope.find(base.text) if isinstance(base, tree.Name) else None
        return isinstance(variable, Variable) and variable.space == "param" and op.function.is_entry
    row = table.find(op)
    return (
        row is not None and row.lanewise and all(_is_uniform_operand(op, source, uniform) for source in op.operands[1:])
    )


def _is_uniform_operand(op: Op, operand: tree.Operand, uniform: set[int]) -> bool:  # noqa: PLR0911 - one case a node
    match operand:
        case tree.Integer() | tree.Float():
            return True
        case tree.Name(text=name):
            match op.scope.find(name):
                case Register(type=type_, offset=offset, vector=1):
                    return type_.kind != "p" and offset in uniform
                case Variable(space=space):
                    return space != "local" or op.function.is_entry
                case FunctionName():
                    return True
                case _:
                    return name == "WARP_SZ"
        case tree.Component(base=tree.Name(text=name), field=field):
            return f"{name}.{field}" in _SPECIAL and op.scope.find(name) is None
        case _:
            return False
