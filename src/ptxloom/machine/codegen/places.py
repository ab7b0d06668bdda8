"""The places of a warp's registers and of a module's variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen.warp import W, WarpEmitter
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.symbols import FunctionName, Register, Variable
from ptxloom.machine.runtime import state
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Program

COMPONENTS: Final = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


class Places(WarpEmitter):
    """Resolves the names in operands.

    Attributes:
        scalars: Values of uniform registers (by place) that are available in this stretch of code.
        poisoned: While an instruction is built to compute with poison, the operands that are read so, by identity; its
            results are poison then. None while it is built as it is.
        numbered: Functions of the run-time receive numbers for the places of registers, and access them there.
    """

    def __init__(self, program: Program, whole: bool) -> None:
        super().__init__(program, whole)
        self.scalars: dict[int, Value] = {}
        self.poisoned: frozenset[int] | None = None
        self.numbered = False

    def within(self, place: int, by: int = 0) -> Value:
        """`by` bytes after the place of a register."""
        return self.offset(W, state.REGISTERS + place + by)

    def register_number(self, place: int) -> int:
        """The offset of a register in the warp's state, for a function of the run-time that accesses it there."""
        self.numbered = True
        return state.REGISTERS + place

    def register(self, operand: tree.Operand) -> tuple[Register, int]:
        """The register that an operand names, and the element of a vector register."""
        match operand:
            case tree.Name(text=name) if isinstance(found := self.find(name), Register):
                return found, 0
            case tree.Component(base=base, field=field) if isinstance(found := self.find(base.text), Register):
                return found, COMPONENTS[field]
            case _:
                raise self.op.unsupported(f"`{print_operand(operand)}` is not a register")

    def register_place(self, register: Register, index: int = 0) -> Value:
        """The place of a register of the warp: 32 lanes side by side (a predicate: one i32)."""
        scalar = self._slot(register, index)
        if register.offset not in self.program.knowledge.scalars or self.width != LANES:
            return scalar
        place = self.within(register.offset)
        self.store(self.splat(self.load(f"i{register.type.bits}", scalar, 8)), place, 64)
        return place

    def poison_place(self, register: Register, index: int = 0) -> Value:
        """The place of a register's poison, laid out like the register."""
        at = register.poison + index * register.bytes
        return self.offset(W, state.REGISTERS + self.program.register_bytes + at)

    def value_place(self, register: Register, index: int = 0) -> Value:
        """The place of an operand's value or of a result; of its poison while the instruction computes with it."""
        return self.register_place(register, index) if self.poisoned is None else self.poison_place(register, index)

    def _result(self, register: Register, index: int) -> Value:
        return self._slot(register, index) if self.poisoned is None else self.poison_place(register, index)

    def scalar(self, register: Register) -> Value:
        """The value of a uniform register."""
        if register.offset not in self.scalars:
            self.scalars[register.offset] = self.load(f"i{register.type.bits}", self._slot(register), 8)
        return self.scalars[register.offset]

    def _slot(self, register: Register, index: int = 0) -> Value:
        place = register.offset + index * register.bytes
        return self.within(self.program.knowledge.scalars.get(register.offset, place))

    def address_of(self, symbol: Variable | FunctionName, offset: int = 0) -> Value:
        """The address of a variable or function within its space, `<32 x i64>`."""
        if isinstance(symbol, FunctionName):
            return self.constant(self.vector("i64"), state.CODE_WINDOW + (symbol.code + 1) * state.FUNCTION_STEP)
        if symbol.space in {"global", "const"}:
            return self.splat(self.host_address(symbol, offset))
        if symbol.space == "local" and not self.op.function.is_entry:
            frame = self.resize(self.load(vector("i32"), self.field("sp"), 4), 64)
            return self.apply("add", frame, self.constant(frame.type, symbol.offset + offset))
        inside = self.constant(self.vector("i64"), symbol.offset + offset)
        if symbol.space != "shared" or not self.program.is_paired:
            return inside
        return self.apply("add", inside, self.splat(self.resize(self.load("i32", self.field("rank_bits"), 4), 64)))

    def host_address(self, symbol: Variable, offset: int = 0) -> Value:
        """The host address of a global or const variable of the module, i64."""
        table = self.load("ptr", self.field("symbols"), 8)
        at = self.load("i64", self.offset(table, symbol.offset * 8), 8)
        return self.emit("i64", f"add {at}, {offset}") if offset else at
