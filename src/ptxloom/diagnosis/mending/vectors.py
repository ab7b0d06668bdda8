"""The vector of a matrix load in its right order, if its matrices go to registers of several products.

The vector is wrong, or the row addresses of lanes are: each register holds one matrix of the load, and another order of
the vector mends both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.model import Repair
from ptxloom.diagnosis.origins.bases import way
from ptxloom.fragments import fragment
from ptxloom.isa.matrix import MOVES
from ptxloom.readings.effects import loads
from ptxloom.syntax import print_operand, print_statements, tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord

_PLACE: Final = {"a": 1, "b": 2}  # of an operand in a product


class _Held(NamedTuple):
    """A register that a load has filled: the first element that it holds, and the one that it should hold."""

    load: Op
    register: str
    held: tuple[int, int]
    wanted: tuple[int, int]


def of_vectors(group: Sequence[Suspect], record: ProvenanceRecord) -> Repair | None:
    """The loads with their vectors in the order that gives each register its matrix; None if no order fits all.

    Args:
        group: The operands with one cause of error.
        record: Knows the paths of their elements.
    """
    firsts = [_first(suspect) for suspect in group]
    products = [record.products[number] for number in firsts]
    if not group[0].explained or len({(one.cta, one.warp) for one in products}) > 1:
        return None
    by_load: dict[int, list[_Held]] = {}
    for suspect in group:
        for one in _registers(suspect, record):
            by_load.setdefault(one.load.site, []).append(one)
    edits: list[tuple[tree.Instruction, str]] = []
    for several in by_load.values():
        text = _reordered(several)
        if text is None:
            return None
        edits.append((several[0].load.node, text))
    return Repair(record.program.module, tuple(edits)) if edits else None


def _first(suspect: Suspect) -> int:
    """The number of the first product that is wrong."""
    return int(suspect.evidence.numbers[suspect.events].min())


def _registers(suspect: Suspect, record: ProvenanceRecord) -> Iterator[_Held]:
    """The registers of an operand in the first product that is wrong, as lane 0 holds them."""
    role, form = suspect.tile.role, suspect.evidence.form
    product = record.program.ops[suspect.evidence.site]
    operand = product.operands[_PLACE[role]] if role in _PLACE else None
    if form.is_opaque or not suspect.explained or not isinstance(operand, tree.Vector):
        return
    names = tuple(map(print_operand, operand.elements))
    numbers = suspect.evidence.numbers[suspect.events]
    at = int(np.argmin(numbers))
    stack = next(one for one in suspect.evidence.stacks if one.role == role)
    mended = suspect.explained[0].repaired
    seen: set[int] = set()
    for element in fragment(form, role):
        if element.lane or element.register in seen or element.register >= len(names):
            continue
        seen.add(element.register)
        place = at, element.row, element.column
        sites = way(record, int(stack.path[suspect.events][place]))
        ops = (record.program.ops[site] for site in reversed(sites))
        load = next((op for op in ops if op.opcode in MOVES and loads(op.node)), None)
        if load is not None:
            held, wanted = ((int(one.rows[place]), int(one.columns[place])) for one in (suspect.tile, mended))
            yield _Held(load, names[element.register], held, wanted)


def _reordered(several: Sequence[_Held]) -> str | None:
    """A load with its vector in the order that gives each register the right matrix; None if there is none."""
    load = several[0].load
    vector = load.operands[0]
    by_name = {one.register: one for one in several}
    if not isinstance(vector, tree.Vector):
        return None
    names = tuple(map(print_operand, vector.elements))
    own = {name: by_name[name] for name in names if name in by_name}
    place = {one.held: names.index(name) for name, one in own.items()}
    wanted = {one.wanted for one in own.values()}
    if len(place) < len(own) or len(own) < len(by_name) or wanted != place.keys() or len(set(names)) < len(names):
        return None
    elements = list(vector.elements)
    for name, one in own.items():
        elements[place[one.wanted]] = vector.elements[names.index(name)]
    operands = (vector.replace(elements=tuple(elements)), *load.operands[1:])
    return " ".join(print_statements((load.node.replace(operands=operands),)).split())
