"""Registers that stand where another was meant."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, cast

from ptxloom.diagnosis.suspects.changes import Change, with_operand
from ptxloom.machine.analysis.uniform_values import written
from ptxloom.machine.program.symbols import Register
from ptxloom.readings.effects import stores
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ptxloom.machine.program.model import Op, Program

CAUSE: Final = "wrong-operand"
_NEAREST: Final = 24  # registers that are tried in the place of one


def _kind(register: Register) -> tuple[bool, bool, int]:
    return register.type.kind == "p", register.type.kind == "f", register.type.bits


class Operands:
    """The registers of a program: who writes them, and where they are mentioned."""

    def __init__(self, program: Program, line_of: Mapping[int, object]) -> None:
        self._program = program
        self._names: dict[tuple[int, bool, bool, int], list[tuple[int, str]]] = {}
        self._line_of = line_of
        first: dict[str, tuple[int, Register]] = {}
        at: defaultdict[str, list[int]] = defaultdict(list)
        for op in program.ops:
            for name in _names(op):
                found = op.scope.find(name)
                if isinstance(found, Register) and found.vector == 1:
                    at[name].append(op.site)
            for register in written(op):
                for name in _names(op):
                    if op.scope.find(name) == register:
                        first.setdefault(name, (op.site, register))
        self._first, self._at = first, at

    def others(self, op: Op) -> Iterator[Change]:
        """An instruction with other registers of the same kind, which hold something there, in place of its own."""
        for place, operand in enumerate(op.operands):
            if isinstance(operand, tree.Name):
                yield from self._instead(op, place, operand.text)
            elif isinstance(operand, tree.Integer) and place and op.types and len(op.operands) < 5:
                yield from self._of_literal(op, place)
            elif isinstance(operand, tree.Vector) and stores(op.node):
                for number, element in enumerate(operand.elements):
                    if isinstance(element, tree.Name):
                        for name in self.near(op, element.text):
                            elements = (*operand.elements[:number], tree.Name(name), *operand.elements[number + 1 :])
                            yield _change(op, place, operand.replace(elements=elements), element.text, name)
            elif isinstance(operand, tree.Address) and isinstance(operand.base, tree.Name) and not operand.extra:
                for name in self.near(op, operand.base.text):
                    yield _change(op, place, operand.replace(base=tree.Name(name)), operand.base.text, name)

    def _instead(self, op: Op, place: int, own: str) -> Iterator[Change]:
        found = op.scope.find(own)
        if not isinstance(found, Register) or (place == 0 and found in written(op)):
            return
        for name in self.near(op, own):
            yield _change(op, place, tree.Name(name), own, name)

    def _of_literal(self, op: Op, place: int) -> Iterator[Change]:
        sources = [one for one in op.operands[1:] if isinstance(one, tree.Name)]
        if sources and isinstance(op.scope.find(sources[0].text), Register):
            for name in self.near(op, sources[0].text):
                yield _change(op, place, tree.Name(name), "the literal", name)

    def near(self, op: Op, own: str) -> Sequence[str]:
        """Registers of the kind of one that are written ahead of a site, those mentioned near it first."""
        register = op.scope.find(own)
        if not isinstance(register, Register):
            return ()
        kind = _kind(register)
        fitting = [
            name
            for name, (site, one) in self._first.items()
            if site < op.site and name != own and _kind(one) == kind and op.scope.find(name) == one
        ]
        return sorted(fitting, key=lambda name: self._distance(op, name))[:_NEAREST]

    def _distance(self, op: Op, name: str) -> tuple[bool, int]:
        line = self._line_of.get(op.site)
        near = min(abs(site - op.site) for site in self._at[name])
        same = any(self._line_of.get(site) == line for site in self._at[name])
        return not same, near


def _change(op: Op, place: int, operand: tree.Operand, own: str, name: str) -> Change:
    return Change(CAUSE, f"`{own}` -> `{name}`", ((op, with_operand(op, place, operand)),), 2)


def _names(op: Op) -> set[str]:
    found: set[str] = set()
    waiting: list[object] = list(op.operands)
    while waiting:
        one = waiting.pop()
        if isinstance(one, tree.Name):
            found.add(one.text)
        elif isinstance(one, tuple):
            waiting.extend(cast("tuple[object, ...]", one))
    return found
