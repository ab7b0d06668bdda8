"""How instructions that multiply and add use the sources that provenance records for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.machine.instruments.tag_places import TagPlaces
from ptxloom.readings.computed import adds, converts, multiplies_operands, negates, products_of_parts
from ptxloom.readings.effects import updates_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.machine.program.model import Op, Program

OPAQUE: Final = 0
SUM: Final = 1
MULTIPLY: Final = 2
PASS: Final = 3
BEND: Final = 4

_ADDEND: Final = 2  # the operand that a product is added to


class Role(NamedTuple):
    """How an instruction uses the sources of its nodes.

    Attributes:
        kind: `SUM`: it adds them all; `MULTIPLY`: the first two, and adds the third; `PASS`: it is its source; `BEND`:
            a function of it, such as one that cuts off values below 0.
        slots: The number of the source of factors and addend; -1: it has no origin, as literals and counters.
        packed: Elements of a word that are multiplied at once.
    """

    kind: int
    slots: tuple[int, int, int] = (-1, -1, -1)
    packed: int = 1


def roles_of(program: Program, sites: list[int]) -> Mapping[int, Role]:
    """The roles of instructions by their sites."""
    places = TagPlaces(program)
    return {site: _role(places, program.ops[site]) for site in sites}


def _role(places: TagPlaces, op: Op) -> Role:
    if adds(op.node) or (updates_memory(op.node) and op.has("add")):
        return Role(SUM)
    if converts(op.node) or negates(op.node):
        return Role(PASS)
    if not multiplies_operands(op.node):
        sources = {place for operand in op.operands[1:] if (place := places.held(op, operand)) is not None}
        return Role(BEND if len(sources) == 1 else OPAQUE)
    slots: dict[object, int] = {}
    found: list[int] = []
    for operand in op.operands[1:]:
        held = places.held(op, operand)
        found.append(-1 if held is None else slots.setdefault(held, len(slots)))
    addend = found[_ADDEND] if len(found) > _ADDEND else -1
    return Role(MULTIPLY, (found[0], found[1], addend), max(products_of_parts(op.node), 1))
