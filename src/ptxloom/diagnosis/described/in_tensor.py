"""Factors in tensor memory: the constant of the address by which a product reads other k than it should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.culprits import Culprit
from ptxloom.diagnosis.model import Repair
from ptxloom.diagnosis.slicing.makers import parts_of
from ptxloom.readings.effects import uses_tensor_memory
from ptxloom.syntax import print_statements, tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.permutations import Named
    from ptxloom.diagnosis.slicing.makers import Part
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord

_ALONG_K: Final = frozenset({"columns-shifted", "k-tile-mismatch"})  # where columns of tensor memory are k
_WORD_BITS: Final = 32  # of a column


def by_address(named: Sequence[Named], group: Sequence[Suspect], record: ProvenanceRecord) -> Culprit | None:
    """The constant in the tensor-memory addresses from which products read A; None if there is none, or k is right.

    Args:
        named: The cause, of each of the products.
        group: The products, of one cause.
        record: Knows the instructions.
    """
    products = [record.program.ops[one.evidence.site] for one in group]
    if group[0].tile.role != "a" or named[0].cause not in _ALONG_K or not all(map(_is_there, products)):
        return None
    made = [_parts(op, record) for op in products]
    distances = [one.distance for one in named]
    chosen = [_chosen(number, made, alike=len(set(distances)) == 1) for number in range(len(made))]
    if any(part is None for part in chosen):
        return None
    bits = group[0].evidence.form.container_bits("a")
    edits = [_edit(part, distance * bits) for part, distance in zip(chosen, distances, strict=True) if part is not None]
    told = tuple(dict.fromkeys(one for one in edits if one is not None))
    repair = Repair(record.program.module, told) if told and None not in edits else None
    makers = [part.op for part in chosen if part is not None]
    return Culprit(named[0].cause, makers[0], repair, tuple(dict.fromkeys((*makers, *products))))


def _is_there(op: Op) -> bool:
    """Whether a product reads A in tensor memory."""
    return uses_tensor_memory(op.node) and isinstance(op.operands[1], tree.Address)


def _parts(op: Op, record: ProvenanceRecord) -> tuple[Part, ...]:
    """The constants that make the address of A."""
    address = op.operands[1]
    found = parts_of(op, address.base, record.program) if isinstance(address, tree.Address) else ()
    return tuple(part for part in found if part.operand >= 0)


def _chosen(number: int, made: Sequence[tuple[Part, ...]], *, alike: bool) -> Part | None:
    """The constant of a product's address: one that all share if all are equally far off, else its own."""
    others = [{part.op.site for part in parts} for place, parts in enumerate(made) if place != number]
    if alike and others:
        return next((part for part in made[number] if all(part.op.site in sites for sites in others)), None)
    return next((part for part in made[number] if not any(part.op.site in sites for sites in others)), None)


def _edit(part: Part, bits: int) -> tuple[tree.Instruction, str] | None:
    """The instruction with its constant reduced by the columns that a number of bits takes."""
    value, rest = part.value - bits // _WORD_BITS, bits % _WORD_BITS
    if rest or part.shift or value < 0:
        return None
    operands = list(part.op.operands)
    operands[part.operand] = tree.Integer(value)
    node = part.op.node
    return node, " ".join(print_statements((node.replace(operands=tuple(operands)),)).split())
