"""Operands of a whole warp: read as vectors of 32 lanes, written under the lanes that execute an instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.constants import simplified
from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen.places import COMPONENTS, Places
from ptxloom.machine.codegen.special_registers import PREDICATES, read_special
from ptxloom.machine.codegen.unpacked_operands import RegisterImages
from ptxloom.machine.codegen.warp import ALL
from ptxloom.machine.native.ir import Value, count, vector
from ptxloom.machine.program.symbols import FunctionName, Register, Variable
from ptxloom.machine.runtime.memory.access_code import LANE_BITS
from ptxloom.meaning.literals import literal_bits
from ptxloom.meaning.types import Type, ptx_type
from ptxloom.syntax import print_operand, tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from ptxloom.machine.codegen.strip import Strip
    from ptxloom.machine.program.model import Op, Program


class Operands(Places):
    """Reads and writes the operands of an instruction.

    Attributes:
        strip: The strip of lanes that is being computed; None for whole warps.
        images: Multiplicands of this block that are unpacked already.
    """

    def __init__(self, program: Program, whole: bool) -> None:
        super().__init__(program, whole)
        self.strip: Strip | None = None
        self.images = RegisterImages(program)

    def begin(self, op: Op) -> None:
        """Begin the next instruction: compute the lanes that execute it."""
        self._op = op
        self.images.note(op)
        self.width = LANES if self.strip is None else self.strip.lanes
        predicate = op.node.predicate
        if op.site in self.program.knowledge.uniform_ops:
            self.width = 1  # every lane's value is the same: computed once, whoever is active
            self.active = None
            return
        if predicate is None:
            self.active = None if self.whole else self.mask
            return
        lanes = self._predicate(predicate.name)
        if predicate.negated:
            lanes = self.emit(lanes.type, f"xor {lanes}, -1")
        self.active = lanes if self.whole else self._and(lanes, self.mask)

    def label(self, name: str) -> None:
        """Start an LLVM basic block."""
        self.scalars.clear()
        super().label(name)

    # -- values

    def read(self, operand: tree.Operand, type_: Type | str) -> Value:
        """The value of an operand in every lane, as `<32 x T>` (packed types: `<64 x half>` and so on).

        Registers wider than the type are truncated; special registers are zero-extended; names of variables and
        functions yield their addresses within their space; literals are converted to the type.
        """
        wanted = ptx_type(type_) if isinstance(type_, str) else type_
        if self.poisoned is not None and id(operand) in self.poisoned:
            return self.read_poison(operand, wanted)
        match operand:
            case tree.Name(text=name):
                return self._read_name(name, wanted, operand)
            case tree.Component(base=base, field=field):
                found = self.op.scope.find(base.text)
                if isinstance(found, Register) and field in COMPONENTS:
                    return self._load_register(found, wanted, COMPONENTS[field])
                return self._fit(read_special(self, self.strip, f"{base.text}.{field}"), wanted)
            case tree.Float() | tree.Integer():
                return self._literal(operand, wanted)
            case _:
                return self._expression(operand, wanted)

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[Value, ...]:
        """The elements of a vector expression (or vector register); a plain operand is the only one."""
        match operand:
            case tree.Vector(elements=elements):
                return tuple(self.read(e, type_) for e in elements)
            case tree.Name(text=name) if isinstance(r := self.op.scope.find(name), Register) and r.vector > 1:
                wanted = ptx_type(type_) if isinstance(type_, str) else type_
                return tuple(self._load_register(r, wanted, n) for n in range(r.vector))
            case _:
                return (self.read(operand, type_),)

    def read_poison(self, operand: tree.Operand, wanted: Type) -> Value:
        """The unwritten bits of an operand; for a predicate, a mask. Vector registers have no poison."""
        none = self.constant(self.llvm(wanted) if wanted.kind != "p" else "i32", 0)
        register = self.find(operand.text) if isinstance(operand, tree.Name) else None
        if not isinstance(register, Register) or register.vector > 1:
            return none
        if register.offset in self.program.knowledge.uniform and register.apart < 0:
            return none
        place = self.poison_place(register)
        if register.type.kind == "p":
            return self.load("i32", place, 4)
        whole = self.load(self.vector(f"i{register.type.bits}"), place, 64)
        return self.bitcast(self.resize(whole, wanted.bits), self.llvm(wanted))

    def literal(self, operand: tree.Operand) -> int | None:
        """The integer that an operand holds in every lane: a literal, or a register that only ever holds one."""
        match operand:
            case tree.Name(text=name) if isinstance(found := self.find(name), Register):
                return self.program.knowledge.literals.get(found.offset)
            case _:
                return constant(operand)

    def write(self, operand: tree.Operand, value: Value, signed: bool = False) -> None:
        """Store a result in the active lanes; a wider register takes it zero-extended, or sign-extended if `signed`."""
        if isinstance(operand, tree.Name) and operand.text == "_":
            return
        register, index = self.register(operand)
        bits = count(value.type) * value.bits // self.width
        if register.type.kind == "p":
            raise self.op.unsupported("a value cannot be stored in a predicate")
        if bits != register.type.bits:
            plain = self.bitcast(value, self.vector(f"i{bits}"))
            value = self.resize(plain, register.type.bits, signed)
        if self.width == 1 and register.offset in self.program.knowledge.scalars:
            one = self.extract(value, 0)
            self.scalars[register.offset] = one if one.element[0] == "i" else self.bitcast(one, f"i{one.bits}")
            self.store(one, self._slot(register), 8)
        elif self.strip is None:
            self.store_lanes(value, self._result(register, index), 64)
        else:
            if self.active is not None:
                plain = self.bitcast(value, self.vector(f"i{register.type.bits}"))
                value = self.select(self.lanes(self.active), plain, self.strip.read(register, plain.type))
            self.strip.write(register, value)

    def write_all(self, operand: tree.Operand, values: tuple[Value, ...], signed: bool = False) -> None:
        """Store the elements of a vector expression (or vector register); one value for a plain operand."""
        match operand:
            case tree.Vector(elements=elements):
                if len(elements) != len(values):
                    raise self.op.unsupported(f"{len(values)} elements are needed, {len(elements)} are given")
                for element, value in zip(elements, values, strict=True):
                    self.write(element, value, signed)
            case tree.Name(text=name) if isinstance(r := self.op.scope.find(name), Register) and r.vector > 1:
                for n, value in enumerate(values):
                    self.store_lanes(value, self._result(r, n), 64)
            case _:
                self.write(operand, values[0], signed)

    def store_lanes(self, value: Value, place: Value, alignment: int) -> None:
        """Store a vector of 32 lanes to memory, in the active lanes only."""
        if self.active is not None:
            bits = count(value.type) * value.bits // self.width
            plain = self.bitcast(value, self.vector(f"i{bits}"))
            old = self.load(plain.type, place, alignment)
            value = self.select(self.lanes(self.active), plain, old)
        self.store(value, place, alignment)

    # -- predicates and masks

    def read_mask(self, operand: tree.Operand) -> Value:
        """A predicate operand (`%p1`, `!%p1`, or a literal) as an i32: bit l is lane l's."""
        if self.poisoned is not None and id(operand) in self.poisoned:
            return self.read_poison(operand.operand if isinstance(operand, tree.Unary) else operand, ptx_type("pred"))
        match operand:
            case tree.Name(text=name):
                return self._predicate(name)
            case tree.Unary(operator="!", operand=inner):
                mask = self.read_mask(inner)
                return self.emit(mask.type, f"xor {mask}, -1")
            case tree.Integer(value=value):
                return Value(f"i{self.width}", "-1" if value else "0")
            case _:
                raise self.op.unsupported(f"`{print_operand(operand)}` is not a predicate")

    def write_mask(self, operand: tree.Operand, mask: Value) -> None:
        """Store a predicate result (i32, bit l is lane l's) for the active lanes."""
        if isinstance(operand, tree.Name) and operand.text == "_":
            return
        register, index = self.register(operand)
        if register.type.kind != "p":
            raise self.op.unsupported(f"`{print_operand(operand)}` is not a predicate register")
        if self.active is not None:
            kept = self.poisoned is None
            old = self._mask_in(register, index) if kept else self.load("i32", self.poison_place(register, index), 4)
            changed = self._and(self.apply("xor", old, mask), self.active)
            mask = self.apply("xor", old, changed)
        if self.strip is None:
            self.store(mask, self.value_place(register, index), 4)
        else:
            self.strip.write_mask(register, mask)

    def lanes(self, mask: Value) -> Value:
        """A mask (i32) as `<32 x i1>`; of a strip likewise."""
        if self.strip is not None:
            return self.strip.spread(mask)
        bits = self.emit(vector("i32"), f"and {self.splat(mask)}, {LANE_BITS.text}")
        return self.compare("ne", bits, self.constant(bits.type, 0))

    def mask_of(self, lanes: Value) -> Value:
        """`<32 x i1>` as a mask (i32); of a strip likewise."""
        if self.strip is not None:
            return self.strip.gather(lanes)
        return self.emit("i32", f"bitcast {lanes} to i32")

    def _and(self, left: Value, right: Value) -> Value:
        return left if right == ALL else self.emit(left.type, f"and {left}, {right.text}")

    def _predicate(self, name: str) -> Value:
        found = self.find(name)
        if not isinstance(found, Register) or found.type.kind != "p":
            if found is None and name in PREDICATES:
                return PREDICATES[name](self)
            raise self.op.unsupported(f"`{name}` is not a predicate register")
        return self._mask_in(found, 0)

    def _mask_in(self, register: Register, index: int) -> Value:
        if self.strip is not None:
            return self.strip.read_mask(register)
        return self.load("i32", self.register_place(register, index), 4)

    # -- helpers

    def _read_name(self, name: str, wanted: Type, operand: tree.Operand) -> Value:
        found = self.find(name)
        match found:
            case Register():
                return self._load_register(found, wanted, 0)
            case Variable() | FunctionName():
                return self._fit(self.address_of(found), wanted)
            case None if self.op.scope.label(name) is not None:
                raise self.op.unsupported(f"the label `{print_operand(operand)}` is used as a value")
            case None if name == "WARP_SZ":
                return self.constant(self.llvm(wanted), LANES)
            case None:
                return self._fit(read_special(self, self.strip, name), wanted)

    def _load_register(self, register: Register, wanted: Type, index: int) -> Value:
        if register.type.kind == "p":
            raise self.op.unsupported("a predicate is used as a value")
        known = self.program.knowledge
        bits = register.type.bits
        if register.offset in known.literals:
            number = known.literals[register.offset] & (1 << wanted.bits) - 1
            return self.bitcast(self.constant(self.vector(f"i{wanted.bits}"), number), self.llvm(wanted))
        if register.offset in known.uniform:
            return self.bitcast(self.splat(self.resize(self.scalar(register), wanted.bits)), self.llvm(wanted))
        plain = self.llvm(wanted) if bits == wanted.bits else self.vector(f"i{bits}")
        whole = self.strip.read(register, plain) if self.strip else self.load(plain, self._slot(register, index), 64)
        if bits == wanted.bits:
            return whole
        return self.bitcast(self.resize(whole, wanted.bits), self.llvm(wanted))

    def _fit(self, value: Value, wanted: Type) -> Value:
        """An integer vector as another type of any width."""
        return self.bitcast(self.resize(value, wanted.bits), self.llvm(wanted))

    def _literal(self, operand: tree.Float | tree.Integer, wanted: Type) -> Value:
        bits = self.constant(self.vector(f"i{wanted.bits}"), literal_bits(operand, wanted))
        return self.bitcast(bits, self.llvm(wanted))

    def _expression(self, operand: tree.Operand, wanted: Type) -> Value:
        """A constant expression, or a variable's address with an offset."""
        match simplified(operand):
            case tree.Integer() | tree.Float() as literal:
                return self._literal(literal, wanted)
            case (name, offset) if isinstance(found := self.find(name), Variable):
                return self._fit(self.address_of(found, offset), wanted)
            case _:
                raise self.op.unsupported(f"the operand `{print_operand(operand)}` is not understood")
