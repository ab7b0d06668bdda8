"""The registers that `wgmma` accesses asynchronously, and those that only pass such a value on.

Compilers rename accumulators by `mov` between two products: that is not an access, because ptxas assigns both the same
register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ptxloom.machine.analysis.definite_assignment import key_of
from ptxloom.meaning.effects import PRODUCTS
from ptxloom.readings.computed import signs
from ptxloom.readings.effects import issues
from ptxloom.solver import reached
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.symbols import Key

_FOUND: Final[WeakKeyDictionary[Program, Mapping[Key, int]]] = WeakKeyDictionary()


def product_registers(program: Program) -> Mapping[Key, int]:
    """A number for each of these registers; computed once per program."""
    found = _FOUND.get(program)
    if found is None:
        found = _FOUND[program] = _find(program)
    return found


def renamed(op: Op) -> tuple[str, str] | None:
    """The destination and source of a register copy; None for other instructions."""
    match op.operands:
        case (tree.Name(text=into), tree.Name(text=given)) if op.node.predicate is None and signs(op.node) == (1,):
            return into, given
        case _:
            return None


def fragments(op: Op) -> tuple[list[str], list[str]]:
    """The names of the registers of D, and of A if it is in registers, of a `wgmma.mma_async`."""
    d, a = ([e.text for e in _elements(operand) if isinstance(e, tree.Name)] for operand in op.operands[:2])
    return d, a


def _elements(operand: tree.Operand) -> tuple[tree.Operand, ...]:
    return operand.elements if isinstance(operand, tree.Vector) else ()


def _find(program: Program) -> dict[Key, int]:
    found: dict[Key, None] = {}
    for op in program.ops:
        if PRODUCTS in issues(op.node):
            d, a = fragments(op)
            for key in _keys(op, (*d, *a)):
                found[key] = None
    copies: dict[Key, list[Key]] = {}
    for op in program.ops if found else ():
        match tuple(_keys(op, renamed(op) or ())):
            case one, other:
                copies.setdefault(one, []).append(other)
                copies.setdefault(other, []).append(one)
            case _:
                pass
    return {key: number for number, key in enumerate(reached(found, lambda key: copies.get(key, ())))}


def _keys(op: Op, names: tuple[str, ...]) -> Iterator[Key]:
    for name in names:
        key = key_of(op.scope, name)
        if key is not None:
            yield key
