"""The vocabulary semantics are written in: operands of a whole warp in, operands out, under the active lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.binding.constants import simplified
from ptxloom.isa.limits import LANES
from ptxloom.machine.analysis.uniform_values import literal_bits
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.instrument import Instrument
from ptxloom.machine.codegen.special_registers import PREDICATES, read_special
from ptxloom.machine.codegen.unpacked_operands import Images
from ptxloom.machine.native import language, translation
from ptxloom.machine.native.ir import Emitter, Value, constant_vector, count, vector
from ptxloom.machine.program.symbols import FunctionName, Register, Symbol, Variable
from ptxloom.machine.program.types import Type, ptx_type
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.access import access_name, parameters
from ptxloom.syntax import print_operand, tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.codegen.access import Access
    from ptxloom.machine.codegen.strips import Strip
    from ptxloom.machine.program.model import BasicBlock, Op, Program

W: Final = Value("ptr", "%w")
ALL: Final = Value("i32", "-1")
LANE_BITS: Final = constant_vector("i32", ((1 << lane) - ((lane == 31) << 32) for lane in range(LANES)))
_FIELDS: Final = language.record(state.Warp).offsets
_COMPONENTS: Final = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


class Builder(Emitter):
    """Builds one variant of a kernel, instruction by instruction.

    Attributes:
        program: What is built.
        whole: This variant runs whole warps only: every lane is active but for predicates.
        checks: The tools that watch this run, by compute-sanitizer's names; memcheck always does.
        instruments: What looks on: racecheck, initcheck, the profile, the trace.
        entered: They have been told that the lanes are in this block.
        op: The instruction being built.
        mask: The lanes that run in this block (i32).
        active: The lanes that execute this instruction (i32): `mask` under the predicate; None if that is all 32.
        strip: The strip of lanes that is being computed; None for whole warps.
        images: Multiplicands of this block that are unpacked already.
        sums: Sums that loads and stores make as they need them, by their sites; empty where others look on.
        scalars: Values of uniform registers (by place) that this stretch of code has at hand.
        follows: This variant follows poison: bits of registers that nobody has written.
        poisoned: While an instruction is built to compute with poison, the operands that are read so, by identity; its
            results are poison then. None while it is built as it is.
    """

    def __init__(
        self, program: Program, whole: bool, checks: frozenset[str] = frozenset(), instruments: Instrument | None = None
    ) -> None:
        super().__init__()
        self.checks = checks
        self.instruments = Instrument() if instruments is None else instruments
        self.entered = False
        self.program = program
        self.whole = whole
        self.block: BasicBlock = program.blocks[0]
        self._op: Op | None = None
        self.mask = ALL
        self.active: Value | None = None
        self.strip: Strip | None = None
        self.images = Images(program)
        self.scalars: dict[int, Value] = {}
        self.sums = program.sums if instruments is None else {}
        self.ended = False
        self.follows = False
        self.poisoned: frozenset[int] | None = None
        self.natives: dict[str, Callable[..., object]] = {}
        self.accesses: set[str] = set()
        self.helpers: dict[str, str] = {}

    @property
    def op(self) -> Op:
        """The instruction being built."""
        assert self._op is not None
        return self._op

    def begin(self, op: Op) -> None:
        """Turn to the next instruction: work out which lanes execute it."""
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

    @property
    def active_mask(self) -> Value:
        """The lanes that execute this instruction, as i32."""
        return ALL if self.active is None else self.active

    # -- operands

    def read(self, operand: tree.Operand, type_: Type | str) -> Value:
        """The value of an operand in every lane, as `<32 x T>` (packed types: `<64 x half>` and so on).

        Registers wider than the type are truncated; special registers are zero-extended; names of variables and
        functions give their addresses within their space; literals are converted to the type.
        """
        wanted = ptx_type(type_) if isinstance(type_, str) else type_
        if self.poisoned is not None and id(operand) in self.poisoned:
            return self.read_poison(operand, wanted)
        match operand:
            case tree.Name(text=name):
                return self._read_name(name, wanted, operand)
            case tree.Component(base=base, field=field):
                found = self.op.scope.find(base.text)
                if isinstance(found, Register) and field in _COMPONENTS:
                    return self._load_register(found, wanted, _COMPONENTS[field])
                return self._fit(read_special(self, f"{base.text}.{field}"), wanted)
            case tree.Float() | tree.Integer():
                return self._literal(operand, wanted)
            case _:
                return self._expression(operand, wanted)

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[Value, ...]:
        """The elements of a vector expression (or vector register); a plain operand gives one."""
        match operand:
            case tree.Vector(elements=elements):
                return tuple(self.read(e, type_) for e in elements)
            case tree.Name(text=name) if isinstance(r := self.op.scope.find(name), Register) and r.vector > 1:
                wanted = ptx_type(type_) if isinstance(type_, str) else type_
                return tuple(self._load_register(r, wanted, n) for n in range(r.vector))
            case _:
                return (self.read(operand, type_),)

    def read_poison(self, operand: tree.Operand, wanted: Type) -> Value:
        """The bits of an operand that nobody has written; a predicate's as a mask. No vector register has any."""
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
        """The integer an operand is known to hold in every lane: a literal, or a register that only ever holds one."""
        match operand:
            case tree.Name(text=name) if isinstance(found := self.find(name), Register):
                return self.program.knowledge.literals.get(found.offset)
            case _:
                return constant(operand)

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

    def store_lanes(self, value: Value, place: Value, alignment: int) -> None:
        """Store a vector of 32 lanes to memory, in the active lanes only."""
        if self.active is not None:
            bits = count(value.type) * value.bits // self.width
            plain = self.bitcast(value, self.vector(f"i{bits}"))
            old = self.load(plain.type, place, alignment)
            value = self.select(self.lanes(self.active), plain, old)
        self.store(value, place, alignment)

    # -- lanes and masks

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

    # -- registers and addresses

    def find(self, name: str) -> Symbol | None:
        """What a name stands for at this instruction."""
        return self.op.scope.find(name)

    def register(self, operand: tree.Operand) -> tuple[Register, int]:
        """The register an operand names, and which element of a vector register."""
        match operand:
            case tree.Name(text=name) if isinstance(found := self.find(name), Register):
                return found, 0
            case tree.Component(base=base, field=field) if isinstance(found := self.find(base.text), Register):
                return found, _COMPONENTS[field]
            case _:
                raise self.op.unsupported(f"`{print_operand(operand)}` is not a register")

    def register_place(self, register: Register, index: int = 0) -> Value:
        """Where a register of the warp lies: 32 lanes side by side (a predicate: one i32)."""
        scalar = self._slot(register, index)
        if register.offset not in self.program.knowledge.scalars or self.width != LANES:
            return scalar
        place = self.offset(W, state.REGISTERS + register.offset)
        self.store(self.splat(self.load(f"i{register.type.bits}", scalar, 8)), place, 64)
        return place

    def poison_place(self, register: Register, index: int = 0) -> Value:
        """Where the poison of a register of the warp lies, as the register does."""
        at = register.poison + index * register.bytes
        return self.offset(W, state.REGISTERS + self.program.register_bytes + at)

    def value_place(self, register: Register, index: int = 0) -> Value:
        """Where an operand's value lies, or where a result goes; its poison while the instruction computes with it."""
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
        return self.offset(W, state.REGISTERS + self.program.knowledge.scalars.get(register.offset, place))

    def field(self, name: str) -> Value:
        """Where a field of the warp's state lies."""
        return self.offset(W, _FIELDS[name])

    def scratch(self, byte_offset: int = scratch.ADDRESSES) -> Value:
        """A place in the warp's scratch (`codegen/scratch.py` says what lies where)."""
        return self.offset(W, _FIELDS["scratch"] + byte_offset)

    def address_of(self, symbol: Variable | FunctionName, offset: int = 0) -> Value:
        """The address of a variable or function within its space, `<32 x i64>`."""
        if isinstance(symbol, FunctionName):
            return self.constant(self.vector("i64"), state.CODE_WINDOW + (symbol.code + 1) * 16)
        if symbol.space in {"global", "const"}:
            return self.splat(self.host_address(symbol, offset))
        if symbol.space == "local" and not self.op.function.is_entry:
            frame = self.resize(self.load(vector("i32"), self.field("sp"), 4), 64)
            return self.apply("add", frame, self.constant(frame.type, symbol.offset + offset))
        return self.constant(self.vector("i64"), symbol.offset + offset)

    def host_address(self, symbol: Variable, offset: int = 0) -> Value:
        """The host address of a global or const variable of the module, i64."""
        table = self.load("ptr", self.field("symbols"), 8)
        at = self.load("i64", self.offset(table, symbol.offset * 8), 8)
        return self.emit("i64", f"add {at}, {offset}") if offset else at

    # -- run-time calls

    def runtime(self, function: Callable[..., object], *operands: Value | int) -> Value:
        """Call a native function (`native/language.py`) of the run-time; integers take the parameter's type."""
        compiled = translation.translate(function)
        self.natives[compiled.name] = function
        values = [
            o if isinstance(o, Value) else Value(k.llvm, str(o))
            for o, k in zip(operands, compiled.arguments, strict=True)
        ]
        return self.call(compiled.name, *values, result=compiled.result.llvm)

    def helper(self, name: str, ir: str) -> None:
        """Have an LLVM function of your own compiled (optimised, once) and linked; call it with `call`."""
        if self.helpers.setdefault(name, ir) != ir:
            raise TypeError(f"two helpers are called {name}")

    def access(
        self,
        verb: str,
        window: str,
        places: tuple[Value, ...],
        addresses: Value,
        offset: int | Value,
        *,
        bits: int,
        space: int,
    ) -> None:
        """Call a warp-wide load or store of `runtime.access` and stop after a fault.

        Args:
            verb: load or store.
            window: shared (32-bit addresses) or global (64-bit ones).
            places: Where the 32 values of each part lie, or go.
            addresses: Where the 32 addresses lie.
            offset: Bytes added to each.
            bits: The size of one value.
            space: The state space, for reports.
        """
        if isinstance(offset, int):
            offset = Value("i64", str(offset))
        name = access_name(verb, window, bits, len(places))
        self.accesses.add(name)
        self.declarations[name] = f"declare i32 @{name}({parameters(len(places)).replace('%', '%d.')})"
        values = "".join(f", {p}" for p in places)
        arguments = f"{W}, {addresses}, {offset}, {self.active_mask}, i32 {space}, i32 {self.op.site}{values}"
        self.check(self.emit("i32", f"call i32 @{name}({arguments})"))

    def touch(self, access: Access) -> None:
        """Tell all who look on of an access that the active lanes are about to make."""
        self.instruments.access(self, access)

    def check(self, failed: Value) -> None:
        """Leave the kernel with a fault if an i32 is not zero."""
        bad = self.compare("ne", failed, Value("i32", "0"))
        following = self.fresh("L")
        self.do(f"br {bad}, label %fault, label %{following}")
        self.label(following)

    def when(self, condition: Value, action: Callable[[], object]) -> None:
        """Emit code that runs only where an i1 holds."""
        then, following = self.fresh("L"), self.fresh("L")
        self.do(f"br {condition}, label %{then}, label %{following}")
        self.label(then)
        action()
        self.do(f"br label %{following}")
        self.label(following)

    # -- control flow: each of these ends the block

    @property
    def following(self) -> int:
        """The number of the block after this one."""
        return self.block.number + 1

    def goto(self, target: int) -> None:
        """All running lanes go to a block."""
        self.ended = True
        if not self.whole:
            pending = self.load("i32", self.field("pending"), 4)
            first = self.compare("ult", Value("i32", str(target)), pending)
            direct, slow = self.fresh("L"), self.fresh("L")
            self.do(f"br {first}, label %{direct}, label %{slow}")
            self.label(slow)
            self.resume(self.native_call("go", W, Value("i32", str(target))))
            self.label(direct)
        if target > self.block.number:
            self.do(f"br label %B{target}")
            return
        self.within_budget(state.LOOP_COST, Value("i32", str(target)), f"B{target}")

    def spend(self, cost: int) -> Value:
        """Take from the warp's budget; gives what is left, negative if it is spent."""
        budget = self.field("budget")
        left = self.apply("sub", self.load("i32", budget, 4), Value("i32", str(cost)))
        self.store(left, budget, 4)
        return left

    def within_budget(self, cost: int, target: Value, label: str) -> None:
        """Go on at a label, on the way to the block `target`, if the budget allows it; else let others run."""
        spent, on = self.compare("slt", self.spend(cost), Value("i32", "0")), self.fresh("L")
        self.do(f"br {spent}, label %{on}, label %{label}")
        self.label(on)
        chosen = self.native_call("tick", W, target)
        none = self.compare("eq", chosen, Value("i32", "-1"))
        self.do(f"br {none}, label %yield, label %dispatch")

    def branch(self, taken: Value, target: int) -> None:
        """The lanes in `taken` (part of the running lanes) go to a block, the rest fall through."""
        self.ended = True
        all_, some, one, none = (self.fresh("L") for _ in range(4))
        if self.whole:
            self.do(f"switch {taken}, label %{some} [ i32 -1, label %{all_} i32 0, label %{none} ]")
        else:
            self.do(f"br {self.compare('eq', taken, self.mask)}, label %{all_}, label %{one}")
            self.label(one)
            self.do(f"br {self.compare('eq', taken, Value('i32', '0'))}, label %{none}, label %{some}")
        self.label(some)
        self.instruments.diverged(self)
        self.resume(self.native_call("diverge", W, taken, Value("i32", str(target)), Value("i32", str(self.following))))
        self.label(all_)
        self.goto(target)
        self.label(none)
        self.goto(self.following)

    def resume(self, chosen: Value) -> None:
        """Go on with the block that a run-time function chose; it has placed every lane."""
        self.ended = True
        none = self.compare("eq", chosen, Value("i32", "-1"))
        self.do(f"br {none}, label %stop, label %dispatch")

    def native_call(self, name: str, *operands: Value) -> Value:
        """Call a scheduling function by name."""
        from ptxloom.machine.runtime import scheduler  # noqa: PLC0415 - the builder serves it too

        return self.runtime(vars(scheduler)[name], *operands)

    # -- helpers

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
                return self._fit(read_special(self, name), wanted)

    def llvm(self, type_: Type) -> str:
        """The LLVM type of an operand of a PTX type in every lane."""
        return vector(type_.llvm, self.width * type_.packed)

    def vector(self, scalar: str) -> str:
        """The LLVM type of one scalar a lane."""
        return vector(scalar, self.width)

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
