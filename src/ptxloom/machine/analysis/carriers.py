"""Which registers may hold data from memory: the others have no origin for provenance to report.

A register is a carrier if an instruction may load it, or compute it from another carrier. Addresses, counters and
indices are not, unless they are loaded; their instructions can be skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ptxloom.binding.effects import destinations
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.machine.program.symbols import Register, Variable
from ptxloom.readings.effects import takes
from ptxloom.solver import reached
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.symbols import Key

_FOUND: Final[WeakKeyDictionary[Program, frozenset[Key]]] = WeakKeyDictionary()


def carriers(program: Program) -> frozenset[Key]:
    """The registers whose contents may have an origin; computed once per program."""
    found = _FOUND.get(program)
    if found is None:
        found = _FOUND[program] = _find(program)
    return found


def carried(program: Program, op: Op, name: str) -> Register | None:
    """The register that a name means, if it is a carrier."""
    place = op.scope.place(name)
    if place is None or place not in carriers(program):
        return None
    found = place[0].names.get(place[1])
    return found if isinstance(found, Register) else None


def brings(op: Op) -> bool:
    """Whether an instruction may write data with an origin to registers."""
    if op.function.is_entry and op.has("param", "param::entry"):
        return any(_is_passed(op, node) for operand in op.operands[1:] for node in walk(operand))
    return takes(op.node)


def _is_passed(op: Op, node: tree.Node) -> bool:
    """Whether a name is that of a variable that a call returns or takes, not of a parameter of the entry."""
    found = op.scope.find(node.text) if isinstance(node, tree.Name) else None
    return isinstance(found, Variable) and found.space == "local"


def _find(program: Program) -> frozenset[Key]:
    made: dict[Key, set[Key]] = {}  # from a register to those that are made of it
    brought: list[Key] = []
    for op in program.ops:
        results = list(_keys(op, (name.text for name, _ in destinations(op.node))))
        if brings(op):
            brought += results
        for source in _keys(op, (name.text for _, name in names_read(op))):
            made.setdefault(source, set()).update(results)
    return frozenset(reached(brought, lambda key: made.get(key, ())))


def _keys(op: Op, names: Iterator[str]) -> Iterator[Key]:
    """The registers among some names, except for predicates."""
    for name in names:
        place = op.scope.place(name)
        found = None if place is None else place[0].names.get(place[1])
        if place is not None and isinstance(found, Register) and found.type.kind != "p":
            yield place
