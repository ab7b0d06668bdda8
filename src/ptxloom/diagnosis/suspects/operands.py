"""Registers used where another was intended."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.suspects.changes import READ, Change, held, with_operand
from ptxloom.diagnosis.suspects.sources import INDEX, SPECIAL, kind_of, names_of
from ptxloom.machine.program.mentions import written
from ptxloom.machine.program.symbols import Register
from ptxloom.readings.effects import stores
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ptxloom.diagnosis.suspects.sources import Kind, Source, Sources
    from ptxloom.machine.program.model import Op, Program

CAUSE: Final = "wrong-operand"
_NEAREST: Final = 8  # registers that are tried in the place of one
_FARTHEST: Final = 24  # those that are tried at last


class _Own(NamedTuple):
    """A register at a place, or in part of it: its name, and the operand with another register."""

    name: str
    made: Callable[[str], tree.Operand]
    called: str = ""
    part: int = 0


class DefUse:
    """The registers of a program: their writers, and where they are mentioned."""

    def __init__(self, program: Program, line_of: Mapping[int, object], sources: Sources) -> None:
        self._line_of = line_of
        self._sources = sources
        first: dict[str, tuple[Op, Register]] = {}
        at: defaultdict[str, list[int]] = defaultdict(list)
        self._copies: Counter[object] = Counter()
        for op in program.ops:
            self._copies[line_of.get(op.site) or op.site, op.spelling] += 1
            results = written(op)
            for name in names_of(op):
                found = op.scope.find(name)
                if isinstance(found, Register) and found.vector == 1:
                    at[name].append(op.site)
                    if found in results:
                        first.setdefault(name, (op, found))
        self._first, self._at = first, at

    def others(self, op: Op) -> Iterator[Change]:
        """An instruction with other values of the same kind, which are known there, in place of its own."""
        for place, operand in enumerate(op.operands):
            for own in self._own(op, place, operand):
                yield from self._instead(op, place, own)
            if isinstance(operand, tree.Component):
                yield from self._special(op, place, operand)
            if isinstance(operand, tree.Address):
                yield from self._parameters(op, place, operand)

    def farther(self, op: Op) -> Iterator[Change]:
        """The same with registers that are mentioned farther away."""
        for place, operand in enumerate(op.operands):
            for own in self._own(op, place, operand):
                yield from self._instead(op, place, own, _NEAREST)

    @staticmethod
    def _own(op: Op, place: int, operand: tree.Operand) -> Iterator[_Own]:
        """The registers at a place, or a literal that a register may replace."""
        match operand:
            case tree.Name(text=name) if place or op.scope.find(name) not in written(op):
                yield _Own(name, tree.Name)
            case tree.Integer() if place and op.types and len(op.operands) < 5:
                for one in op.operands[1:]:
                    if isinstance(one, tree.Name):
                        yield _Own(one.text, tree.Name, "the literal")
                        break
            case tree.Vector(elements=elements) if stores(op.node):
                for number, element in enumerate(elements):
                    if isinstance(element, tree.Name):
                        yield _Own(element.text, _element_of(operand, number), part=number)
            case tree.Address(base=tree.Name(text=name), extra=()):
                yield _Own(name, _base_of(operand))
            case _:
                pass

    def _instead(self, op: Op, place: int, own: _Own, beyond: int = 0) -> Iterator[Change]:
        register = op.scope.find(own.name)
        if not isinstance(register, Register):
            return
        bits = kind_of(register).bits
        most = _FARTHEST if beyond else _NEAREST
        for one in self.of_kind(op, kind_of(register), most, own.name, beyond):
            rewrite = with_operand(op, place, own.made(READ if one.reading else one.name), own.made(held(bits)))
            if one.reading:
                lines = one.reading, *rewrite.lines
                rewrite = rewrite._replace(lines=lines, own=(f"b{bits} {READ}",))
            what = f"{own.called or f'`{own.name}`'} -> `{one.name}`"
            slot, key = ("operand", place, own.part, bits), (place, own.part, one.number)
            yield Change(CAUSE, what, ((op, rewrite),), 2, source=one.number, key=key, slot=slot)

    def _special(self, op: Op, place: int, operand: tree.Component) -> Iterator[Change]:
        """Another of the numbers of threads, CTAs and their counts, a parameter, or what a register holds."""
        own = f"{operand.base.text}.{operand.field}"
        if own not in SPECIAL:
            return
        for one in self.of_kind(op, INDEX, _NEAREST):
            if one.name != own:
                base, _, field = one.name.partition(".")
                other = tree.Component(tree.Name(base), field) if field else tree.Name(one.name)
                rewrite = with_operand(op, place, other, tree.Name(held(32)))
                if one.reading and not field:
                    lines = one.reading, *with_operand(op, place, tree.Name(READ)).lines
                    rewrite = rewrite._replace(lines=lines, own=(f"b32 {READ}",))
                what = f"`{own}` -> `{one.name}`"
                slot, key = ("operand", place, 0, 32), (place, one.number)
                yield Change(CAUSE, what, ((op, rewrite),), 1, source=one.number, key=key, slot=slot)

    def _parameters(self, op: Op, place: int, operand: tree.Address) -> Iterator[Change]:
        """Another parameter of the same kind."""
        into = written(op)
        if len(into) != 1 or not isinstance(operand.base, tree.Name) or not isinstance(op.operands[0], tree.Name):
            return
        own = self._sources.parameter(operand.base.text)
        bits = kind_of(into[0]).bits
        for one in self._sources.entries(op, kind_of(into[0])) if own is not None else ():
            if one.reading.startswith("ld") and one != own:
                name = one.reading.partition("[")[2].rstrip("];")
                rewrite = with_operand(op, place, operand.replace(base=tree.Name(name)))
                rewrite = rewrite._replace(shared=(f"mov.b{bits} {op.operands[0].text}, {held(bits)};",))
                what, key = f"`{operand.base.text}` -> `{one.name}`", (place, one.number)
                slot = ("parameter", bits)
                yield Change(CAUSE, what, ((op, rewrite),), 1, source=one.number, key=key, slot=slot)

    def register(self, op: Op, name: str) -> Source:
        """A register that an instruction takes, as a value that it may take elsewhere."""
        return self._sources.register(op, name)

    def sources(self, op: Op, own: str, most: int) -> Iterator[Source]:
        """Values of the kind of a register that are known at an instruction, the nearest first."""
        register = op.scope.find(own)
        if isinstance(register, Register):
            yield from self.of_kind(op, kind_of(register), most, own)

    def of_kind(self, op: Op, kind: Kind, most: int, own: str = "", beyond: int = 0) -> Iterator[Source]:
        """Values of a kind that are known at an instruction, the nearest first; all but one of its registers.

        Beyond the first registers, special registers and parameters are left out.
        """
        seen: set[int] = set()
        several = self._copies[self._line_of.get(op.site) or op.site, op.spelling] > 1
        for name in self._near(op, kind, own)[beyond:most]:
            yield self._sources.register(op, name)
            role = self._sources.role(op, self._first[name][0]) if several else None
            if role is not None and role.number not in seen:
                seen.add(role.number)
                yield role
        if not beyond:
            yield from self._sources.entries(op, kind)

    def _near(self, op: Op, kind: Kind, own: str) -> list[str]:
        """Registers of a kind that are written before a site, those mentioned near it first."""
        fitting = [
            name
            for name, (made, one) in self._first.items()
            if made.site < op.site and name != own and kind_of(one) == kind and op.scope.find(name) == one
        ]
        return sorted(fitting, key=lambda name: self._distance(op, name))

    def _distance(self, op: Op, name: str) -> tuple[bool, int]:
        line = self._line_of.get(op.site)
        near = min(abs(site - op.site) for site in self._at[name])
        same = any(self._line_of.get(site) == line for site in self._at[name])
        return not same, near


def _element_of(vector: tree.Vector, number: int) -> Callable[[str], tree.Operand]:
    def made(name: str) -> tree.Operand:
        return vector.replace(elements=(*vector.elements[:number], tree.Name(name), *vector.elements[number + 1 :]))

    return made


def _base_of(address: tree.Address) -> Callable[[str], tree.Operand]:
    return lambda name: address.replace(base=tree.Name(name))
