"""Evaluates an instruction's row on chosen register values, to see how a result depends on one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.effects import destinations
from ptxloom.isa.limits import LANES
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.machine.program.symbols import Register
from ptxloom.meaning import table
from ptxloom.meaning.form import Form, Unreadable
from ptxloom.readings.interpreter import Cell, Interpreter

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op
    from ptxloom.syntax import tree


def computed(
    op: Op, node: tree.Instruction, result: str, varied: str = "", values: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """A result, lane by lane, if one register has these values and all others are 0.

    Args:
        op: The instruction.
        node: Its text, perhaps with other constants.
        result: A register that it writes.
        varied: The register that has the values; all are 0 without one.
        values: One a lane, cut to the register's width; further lanes have 0.

    Returns:
        Empty if no row of words defines the instruction, or one of the names is not a register.
    """
    row = table.find(Form(node))
    if row is None:
        return ()
    cells: dict[str, Cell] = {}
    for one in (*(found for _, found in names_read(op)), *(found for found, _ in destinations(node))):
        known = op.scope.find(one.text)
        if isinstance(known, Register):
            cells[one.text] = Cell(1 if known.type.kind == "p" else known.type.bits)
    if result not in cells or (varied and varied not in cells):
        return ()
    if varied:
        cell = cells[varied]
        cell.values = (*(value & (1 << cell.bits) - 1 for value in values), *(0,) * (LANES - len(values)))
    try:
        row.build(Interpreter(cells), Form(node))
    except Unreadable:
        return ()
    return cells[result].values
