"""What fills the registers of a product's operand, and decides their order if the product is in a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.lines.addresses import readers_of, writers_of
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.readings.computed import source
from ptxloom.syntax import print_operand, tree
from ptxloom.syntax.places import origins_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Op, Program

_DEEPEST: Final = 8  # moves from register to register that are followed


def filler_of(product: Op, name: str, program: Program) -> Op | None:
    """The instruction that computes the value of a product's register, through plain moves; None if unknown.

    Args:
        product: The instruction that multiplies.
        name: The register.
        program: Theirs.
    """
    found, before = None, product
    for _ in range(_DEEPEST):
        own = (op for op in reversed(program.ops[: before.site]) if op.function is product.function)
        found = next((op for op in own if any(out.text == name for out, _ in destinations(op.node))), None)
        if found is None or source(found.node) is None:
            return found
        read = [one.text for _, one in names_read(found)]
        if len(read) != 1:
            return found
        name, before = read[0], found
    return found


def spares(product: Op, place: int, program: Program) -> dict[int, str]:
    """For registers of a product's operand, the result of the same instruction that should be there instead.

    This is for a register that also appears in another list, while one result of its writer is never read.

    Args:
        product: The instruction that multiplies.
        place: The operand's.
        program: Theirs.

    Returns:
        Registers by their places in the operand; empty if each of them belongs to this list alone, or all are read.
    """
    names = listed(product, place)
    found: dict[int, str] = {}
    for at, name in enumerate(names):
        makers = writers_of(product, name, program)
        filled = [out.text for maker in makers for out, _ in destinations(maker.node)]
        if len(makers) != 1 or len(filled) < 2 or any(len(writers_of(product, one, program)) > 1 for one in filled):
            continue
        left = [one for one in filled if not readers_of(product, one, program)]
        alike = (op for op in readers_of(product, name, program) if op.opcode == product.opcode)
        others = any(all(listed(op, n) != names for n in range(len(op.operands))) for op in alike)
        if others and len(left) == 1:
            found[at] = left[0]
    return found


def listed(op: Op, place: int) -> tuple[str, ...]:
    """The registers of an operand that is a list of them."""
    operand = op.operands[place]
    return tuple(map(print_operand, operand.elements)) if isinstance(operand, tree.Vector) else ()


def of_caller(product: Op, names: Sequence[str], program: Program) -> Op | None:
    """The instruction that fills registers, if the caller of the product's function decides their order.

    Args:
        product: The instruction that multiplies.
        names: The registers that are exchanged.
        program: Theirs.

    Returns:
        The first filler of another line than the product's; None if the product was not inlined, or no line is known.
    """
    origins = origins_in(program.module)
    there = origins.at(product.node.start)
    if there is None or there.into is None:
        return None
    for name in names:
        filler = filler_of(product, name, program)
        here = origins.at(filler.node.start) if filler is not None else None
        if here is not None and (here.home.file, here.home.line) != (there.file, there.line):
            return filler
    return None
