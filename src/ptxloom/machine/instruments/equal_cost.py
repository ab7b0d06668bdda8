"""Accesses at a constant distance from those of an earlier instruction: they cost the same and need no counting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.effects import destinations
from ptxloom.binding.touches import READS, WRITES, touches
from ptxloom.machine.codegen.addresses import base_and_offset, space_of
from ptxloom.machine.runtime import state
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.symbols import Scope

_OPERANDS: Final = 2  # the address and what is moved: nothing else decides where an access goes
_STEPS: Final = {state.SHARED: 4, state.GLOBAL: 32}  # bytes: what moves by as many costs the same


class Twin(NamedTuple):
    """The instruction that is counted instead, and its distance."""

    site: int
    bytes: int


def twins(program: Program) -> dict[int, Twin]:
    """Twins by site: instructions of one basic block with the same registers in their addresses."""
    found: dict[int, Twin] = {}
    for block in program.blocks:
        known: dict[tuple[object, ...], Twin] = {}
        for op in block.ops:
            key = _key(op)
            if key is not None:
                base, offset, step = key
                first = known.setdefault((base, op.opcode, op.qualifiers, offset % step), Twin(op.site, offset))
                if first.site != op.site:
                    found[op.site] = Twin(first.site, offset - first.bytes)
            for name, _ in destinations(op.node):
                changed = _identity(op, name.text)
                known = {held: twin for held, twin in known.items() if held[0] != changed}
    return found


def _key(op: Op) -> tuple[tuple[Scope | None, str], int, int] | None:
    """The base and the offset of an access, and the legal distances; None if it has no twin."""
    step = _STEPS.get(space_of(op))
    if op.node.predicate is not None or step is None or len(op.operands) != _OPERANDS:
        return None
    touched = touches(op.node)
    if len(touched) != 1 or touched[0].does not in {READS, WRITES}:
        return None
    address = op.operands[touched[0].place]
    if not isinstance(address, tree.Address) or address.extra:
        return None
    base, offset = base_and_offset(op, address)
    return (_identity(op, base.text), offset, step) if isinstance(base, tree.Name) else None


def _identity(op: Op, name: str) -> tuple[Scope | None, str]:
    """The braces that declare a name, and its normalised name."""
    return op.scope.place(name) or (None, name)
