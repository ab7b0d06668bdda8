"""Outlined instructions: one function for all that differ only in their registers, and a call for each.

A call compiles in a tenth of the time of an inlined instruction, and takes some nanoseconds more to run: it suits long
code that no loop repeats. A function receives the places of the registers in the warp, and nothing else about the
instruction: neither its site nor the use of its result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.machine.codegen import strips
from ptxloom.machine.codegen.builder import Builder
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime import state
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from ptxloom.machine.codegen.family import Row
    from ptxloom.machine.program.model import Op, Program

_NOWHERE: Final = -1  # the site of an instruction that stands for many
_MASK: Final = Value("i32", "%mask")


class _Place(NamedTuple):
    """A place that a function receives: of the n-th register of its instruction, or of a value shared by all lanes."""

    register: int
    is_scalar: bool


class _Outlined(NamedTuple):
    """A function: its name, and its parameters besides the warp and the mask."""

    name: str
    places: tuple[_Place, ...]


class _Body(Builder):
    """Builds the functions of one variant, whose registers are at places that they receive."""

    def __init__(self, b: Builder) -> None:
        super().__init__(b.program, b.whole, b.checks)
        self.mask = b.mask if b.whole else _MASK
        self.natives, self.accesses, self.helpers, self.declarations = b.natives, b.accesses, b.helpers, b.declarations
        self._places: dict[int, _Place] = {}  # by where the registers of the instruction that is built lie
        self._given: dict[_Place, Value] = {}

    def within(self, place: int, by: int = 0) -> Value:
        """`by` bytes after the place of a register, which the function receives."""
        given = self._places[place]
        start = self._given.setdefault(given, Value("ptr", f"%at{len(self._given)}"))
        return self.offset(start, by)

    def build(self, name: str, op: Op, row: Row, registers: tuple[int, ...]) -> tuple[_Outlined, str]:
        """A function for an instruction like this one, and its IR.

        Args:
            name: The function's.
            op: The instruction.
            row: Its meaning.
            registers: The places of the registers that it names.
        """
        scalars = self.program.knowledge.scalars
        self._places = {scalars[at]: _Place(n, is_scalar=True) for n, at in enumerate(registers) if at in scalars}
        self._places |= {at: _Place(n, is_scalar=False) for n, at in enumerate(registers)}
        self._given = {}
        self.lines, self.scalars, self._count = [], {}, 0
        strips.unrolled(self, [(replace(op, site=_NOWHERE), row)])
        offsets = [Value("i64", f"%offset{n}") for n in range(len(self._given))]
        parameters = ", ".join(str(v) for v in (W, *(() if self.whole else (_MASK,)), *offsets))
        places = (
            f"{at.text} = getelementptr i8, {W}, {by}" for at, by in zip(self._given.values(), offsets, strict=True)
        )
        body = "\n".join((*places, *self.lines))
        text = f"define internal void @{name}({parameters}) #0 {{\n{body}\nret void\n}}"
        return _Outlined(name, tuple(self._given)), text


class Outlines:
    """The outlined instructions of one variant.

    Attributes:
        functions: Their IR.
    """

    def __init__(self, b: Builder) -> None:
        self.functions: list[str] = []
        self._b = b
        self._body = _Body(b)
        self._known: dict[Hashable, _Outlined] = {}

    def call(self, op: Op, row: Row) -> None:
        """Call the function of an instruction that can be part of a strip."""
        b = self._b
        form = _Form(b.program, op)
        key = (row.build, op.node.qualifiers, op.node.opcode, op.used, tuple(form.parts()))
        registers = tuple(form.registers)
        if key not in self._known:
            self._known[key], text = self._body.build(f"ptxloom_outlined_{len(self._known)}", op, row, registers)
            self.functions.append(text)
        found = self._known[key]
        b.images.note(op)
        scalars = b.program.knowledge.scalars
        places = ((registers[n], is_scalar) for n, is_scalar in found.places)
        given = [f"i64 {state.REGISTERS + (scalars[at] if is_scalar else at)}" for at, is_scalar in places]
        several = ", ".join((str(W), *(() if b.whole else (str(b.mask),)), *given))
        b.do(f"call void @{found.name}({several})")


class _Form:
    """Everything that the code of an instruction depends on, except the places of its registers.

    Attributes:
        registers: Their places, each once, in the order of mention.
    """

    def __init__(self, program: Program, op: Op) -> None:
        self.registers: list[int] = []
        self._known = program.knowledge
        self._op = op

    def parts(self) -> Iterator[Hashable]:
        """The instruction without its registers; to be read to its end before these are all known."""
        predicate = self._op.node.predicate
        if predicate is not None:
            yield predicate.negated, self._name(predicate.name)
        for operand in self._op.operands:
            yield self._operand(operand)

    def _operand(self, operand: tree.Operand) -> Hashable:
        match operand:
            case tree.Name(text=name):
                return self._name(name)
            case tree.Unary(operand=inner):
                return "!", self._operand(inner)
            case tree.Pair(first=first, second=second):
                return "|", self._operand(first), self._operand(second)
            case tree.Vector(elements=elements):
                return "{", *map(self._operand, elements)
            case _:
                return operand  # nodes are equal wherever they stand

    def _name(self, name: str) -> Hashable:
        found = self._op.scope.find(name)
        if not isinstance(found, Register):
            return name
        at, known = found.offset, self._known
        if at not in self.registers:
            self.registers.append(at)
        uniform = at in known.uniform, at in known.scalars, known.literals.get(at)
        return found.type, self.registers.index(at), uniform
