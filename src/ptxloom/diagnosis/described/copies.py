"""The copy of a tile that a descriptor describes, if the copy is wrong and not the descriptor; its coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.culprits import Culprit, copies_of
from ptxloom.diagnosis.model import Repair
from ptxloom.diagnosis.slicing.makers import parts_of
from ptxloom.syntax import print_statements, tree

if TYPE_CHECKING:
    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.permutations import Named
    from ptxloom.diagnosis.origins.stacks import Stack
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord

_MOVED: Final = frozenset({"rows-shifted", "columns-shifted", "k-tile-mismatch"})
_PLANE: Final = 2  # coordinates of a map of rows and columns


def by_copy(named: Named, suspect: Suspect, stack: Stack, record: ProvenanceRecord) -> Culprit | None:
    """The copy that brings the wrong tile; None if there is another cause, or the tile arrives in another way.

    Args:
        named: The cause.
        suspect: The operand.
        stack: Its elements.
        record: Knows their paths.
    """
    if suspect.tile.role not in suspect.evidence.described:
        return None
    copies = copies_of(stack.path[suspect.events].ravel(), record)
    if not copies:
        return None
    changed = [_coordinate(copy, named, suspect, record) for copy in copies]
    edits = tuple(dict.fromkeys(one for one in changed if one is not None))
    nodes = {op.node.start: op for op in record.program.ops}
    op = nodes[edits[0][0].start] if edits else copies[0]
    repair = Repair(record.program.module, edits) if edits and None not in changed else None
    products = record.program.ops[suspect.evidence.site]
    return Culprit(named.cause, op, repair, tuple(dict.fromkeys((op, *copies, products))))


def _coordinate(
    copy: Op, named: Named, suspect: Suspect, record: ProvenanceRecord
) -> tuple[tree.Instruction, str] | None:
    """The edit that removes the constant by which a coordinate of a tensor copy is off."""
    vectors = [one for operand in copy.operands if isinstance(operand, tree.Address) for one in operand.extra]
    coordinates = next((one.elements for one in vectors if isinstance(one, tree.Vector)), ())
    if named.cause not in _MOVED or not named.distance or len(coordinates) != _PLANE:
        return None
    tile = suspect.tile
    by_row = named.cause == "rows-shifted" or (named.cause == "k-tile-mismatch" and tile.role == "b")
    place = int(by_row == tile.plane.slow_rows)
    for part in parts_of(copy, coordinates[place], record.program):
        if part.operand >= 0 and part.bits == named.distance:
            operands = list(part.op.operands)
            operands[part.operand] = tree.Integer(0)
            node = part.op.node
            return node, " ".join(print_statements((node.replace(operands=tuple(operands)),)).split())
    return None
