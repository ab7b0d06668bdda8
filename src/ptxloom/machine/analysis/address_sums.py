"""Sums that are used only as addresses: the loads and stores that use them add the parts.

Compilers write `add.s64 %rd6, %rd4, %rd5; ld.global.f32 %f1, [%rd6];` where one summand is the same in every lane, the
start of an array. A load takes 32 addresses and a number that it adds to all of them, so the `add` can be omitted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from ptxloom.isa.spaces import Owner, spelled
from ptxloom.machine.program.knowledge import AddressSum
from ptxloom.machine.program.mentions import mentioned, written
from ptxloom.machine.program.parts import LOADS, is_store, is_whole
from ptxloom.machine.program.symbols import Register
from ptxloom.readings.computed import signs
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.machine.program.model import BasicBlock, Op

_SPACES: Final = spelled(Owner.MODULE)
_SUMMANDS: Final = 2
_OTHER_SPACES: Final = spelled(Owner.CTA, Owner.THREAD, Owner.CALL)


def find_sums(blocks: Sequence[BasicBlock], uniform: frozenset[int]) -> dict[int, AddressSum]:
    """The sums that can be omitted, by the site of each load and store that uses one.

    Args:
        blocks: The program's blocks.
        uniform: The places of registers that hold one value for a whole warp.
    """
    used = [(made, sum_, sites) for block in blocks for made, sum_, sites in _used(block, uniform) if sites]
    if not used:
        return {}
    mentions = Counter(register.offset for block in blocks for op in block.ops for register in mentioned(op))
    found: dict[int, AddressSum] = {}
    for made, sum_, sites in used:
        (target,) = written(made)
        if mentions[target.offset] == 1 + len(sites):
            found |= dict.fromkeys(sites, sum_)
    return found


def _used(block: BasicBlock, uniform: frozenset[int]) -> Iterator[tuple[Op, AddressSum, list[int]]]:
    """The sums of a block, each with its instruction and the sites that use it as an address before a part changes."""
    alive: dict[int, tuple[Op, AddressSum, list[int]]] = {}
    for op in block.ops:
        if alive:
            base = _address(op)
            if base is not None and base.offset in alive:
                alive[base.offset][2].append(op.site)
            changed = {register.offset for register in written(op)}
            for place, (made, sum_, sites) in tuple(alive.items()):
                if place in changed or _register(made, sum_.varying).offset in changed:
                    yield made, sum_, sites
                    del alive[place]
        sum_ = _sum(op, uniform)
        if sum_ is not None:
            alive[_register(op, op.operands[0]).offset] = op, sum_, []
    yield from alive.values()


def _address(op: Op) -> Register | None:
    """The register that a load or store of global memory has as its address."""
    stores = is_store(op)
    if not (stores or op.opcode in LOADS) or op.has(*_OTHER_SPACES) or not op.types or op.type.bits > 64:
        return None
    if not op.has(*_SPACES) and not op.function.is_entry:
        return None  # it may name the frame
    if not is_whole(op):
        return None
    place = 0 if stores else 1
    match op.operands[place : place + 1]:
        case (tree.Address(base=tree.Name(text=name), extra=()),):
            found = op.scope.find(name)
            return found if isinstance(found, Register) and found.type.bits == 64 else None
        case _:
            return None


def _sum(op: Op, uniform: frozenset[int]) -> AddressSum | None:
    if signs(op.node) != (1, 1) or op.node.predicate is not None or op.qualifiers not in {("s64",), ("u64",)}:
        return None
    if len(op.operands) != _SUMMANDS + 1:
        return None
    target, left, right = op.operands
    if not _is_plain(op, target) or _register(op, target).offset in uniform:
        return None
    for varying, common in ((left, right), (right, left)):
        if not _is_plain(op, varying) or _register(op, varying).offset in uniform:
            continue
        same = _register(op, varying).offset == _register(op, target).offset
        steady = isinstance(common, tree.Integer) or (_is_plain(op, common) and _register(op, common).offset in uniform)
        if steady and not same and isinstance(varying, tree.Name):
            return AddressSum(op.site, varying, common)
    return None


def _is_plain(op: Op, operand: tree.Operand) -> bool:
    found = op.scope.find(operand.text) if isinstance(operand, tree.Name) else None
    return isinstance(found, Register) and found.vector == 1 and found.type.bits == 64


def _register(op: Op, operand: tree.Operand) -> Register:
    found = op.scope.find(operand.text) if isinstance(operand, tree.Name) else None
    assert isinstance(found, Register)
    return found
