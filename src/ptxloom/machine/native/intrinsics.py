"""The intrinsics of the native language: operations of LLVM, and all operations on pointers."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import cast

from ptxloom.machine.native.language import BOOL, CODE, SCALARS, U8, U32, U64, VOID, NativeType, kind_of, record
from ptxloom.machine.native.writer import LANE_COUNT, Operand, Writer

_ATOMIC = "seq_cst"
_LANES = "<32 x i32>"


class Intrinsics(Writer, ABC):
    """A function being written, with calls of intrinsics."""

    @abstractmethod
    def expression(self, node: ast.expr, wanted: NativeType | None = None) -> Operand:
        """The value of an expression, with an expected type."""

    @abstractmethod
    def bare(self, node: ast.expr) -> Operand:
        """The value of an expression, of its own type."""

    @abstractmethod
    def place(self, node: ast.expr) -> tuple[str, NativeType]:
        """The address of a field or an element."""

    # -- pointers

    def call_pointer(self, arguments: list[ast.expr]) -> Operand:
        """`pointer(kind, address, count)`."""
        if not self.may_make:
            raise TypeError(f"{self.tree.name} may make no pointer of a number")
        start, count = (self.expression(a, U64).text for a in arguments[1:])
        at = self.emit(f"inttoptr i64 {start} to ptr", U64).text
        return self.slice(at, count, kind_of(arguments[0], self.names))

    def call_nothing(self, arguments: list[ast.expr]) -> Operand:
        """`nothing(kind)`."""
        return self.slice("null", "0", kind_of(arguments[0], self.names))

    def call_null(self, arguments: list[ast.expr]) -> Operand:
        """`null(kind)`."""
        return Operand("null", kind_of(arguments[0], self.names))

    def call_part(self, arguments: list[ast.expr]) -> Operand:
        """`part(elements, start, count)`."""
        whole = self.elements(arguments[0])
        start, count = (self.cast(self.bare(a), U64).text for a in arguments[1:])
        room = self.room(whole)
        self.check("ule", start, room)
        constant = start.isdecimal() and room.isdecimal()
        left = str(int(room) - int(start)) if constant else self.emit(f"sub i64 {room}, {start}", U64).text
        self.check("ule", count, left)
        return self.slice(self.element(whole, start), count, whole.kind)

    def call_view(self, arguments: list[ast.expr]) -> Operand:
        """`view(kind, elements)`."""
        kind, value = kind_of(arguments[0], self.names), self.bare(arguments[1])
        if kind.name not in SCALARS or value.kind.element is None or value.kind.element.name not in SCALARS:
            raise TypeError(f"{self.tree.name}: {value.kind.name} seen as {kind.name}; both have to be numbers")
        count = self.emit(f"udiv i64 {self.bytes(value)}, {kind.size}", U64).text
        return self.slice(self.start(value), count, kind)

    def call_lanes(self, arguments: list[ast.expr]) -> Operand:
        """`lanes(elements)`."""
        value = self.elements(arguments[0])
        self.check("uge", self.room(value), str(LANE_COUNT))
        return Operand(self.start(value), NativeType("Ptr", element=value.kind.element))

    def call_length(self, arguments: list[ast.expr]) -> Operand:
        """`length(elements)`."""
        return Operand(self.room(self.elements(arguments[0])), U64)

    def elements(self, node: ast.expr) -> Operand:
        """A slice, an array or a pointer to one element per lane."""
        value = self.bare(node)
        if value.kind.element is None:
            raise TypeError(f"{self.tree.name}: {ast.unparse(node)} is no pointer")
        return value

    def call_address(self, arguments: list[ast.expr]) -> Operand:
        """`address(place)`."""
        match arguments[0]:
            case ast.Attribute(value=base, attr=name) if (
                record((owner := self.bare(base)).kind.struct).kinds[name].bound
            ):
                place, _ = self.field(owner, name)
                return self.emit(f"load i64, ptr {place}", U64)
            case _:
                return self.emit(f"ptrtoint ptr {self.start(self.bare(arguments[0]))} to i64", U64)

    def call_invoke(self, arguments: list[ast.expr]) -> Operand:
        """`invoke(code, argument)`."""
        code = self.emit(f"inttoptr i64 {self.expression(arguments[0], CODE).text} to ptr", U64)
        return self.emit(f"call i32 {code.text}(ptr {self.start(self.bare(arguments[1]))})", U32)

    def call_copy(self, arguments: list[ast.expr]) -> Operand:
        """`copy(target, source, size)`."""
        target, source = (self.bare(a) for a in arguments[:2])
        size = self.expression(arguments[2], U64).text
        into, out = (side.kind.element or side.kind for side in (target, source))
        if into != out and not (into.name in SCALARS and out.name in SCALARS):
            raise TypeError(f"{self.tree.name}: {out.name} copied to {into.name}")
        for side in (target, source):
            self.check("ule", size, self.bytes(side))
        places = f"ptr {self.start(target)}, ptr {self.start(source)}"
        self.lines.append(f"call void @llvm.memcpy.p0.p0.i64({places}, i64 {size}, i1 false)")
        return Operand("", VOID)

    def call_fill(self, arguments: list[ast.expr]) -> Operand:
        """`fill(target, value)`."""
        target, value = self.bare(arguments[0]), self.expression(arguments[1], U8).text
        if (target.kind.element or target.kind).name not in SCALARS and value != "0":
            raise TypeError(f"{self.tree.name}: {target.kind.name} filled with more than zeros")
        size, into = self.bytes(target), self.start(target)
        fill = f"call void @llvm.memset.p0.i64(ptr {into}, i8 {value}, i64 {size}, i1 false)"
        if size.isdecimal():
            self.lines.append(fill)
            return Operand("", VOID)
        # not at address 0: the C library's masked store of no bytes faults there inside the processor, for 50 ns
        some, done = self.label(), self.label()
        self.end(f"br i1 {self.emit(f'icmp ne i64 {size}, 0', BOOL).text}, label %{some}, label %{done}", some)
        self.lines.append(fill)
        self.end(f"br label %{done}", done)
        return Operand("", VOID)

    def call_atomic(self, arguments: list[ast.expr]) -> Operand:
        """`atomic(operation, place, value)`."""
        operation = cast("str", cast("ast.Constant", arguments[0]).value)
        place, kind = self.place(arguments[1])
        value = self.expression(arguments[2], kind)
        return self.emit(f"atomicrmw {operation} ptr {place}, {kind.llvm} {value.text} {_ATOMIC}", kind)

    def call_compare_exchange(self, arguments: list[ast.expr]) -> Operand:
        """`compare_exchange(place, expected, value)`."""
        place, kind = self.place(arguments[0])
        old, new = (self.expression(a, kind).text for a in arguments[1:])
        pair = f"cmpxchg ptr {place}, {kind.llvm} {old}, {kind.llvm} {new} {_ATOMIC} {_ATOMIC}"
        both = self.emit(pair, kind)
        return self.emit(f"extractvalue {{ {kind.llvm}, i1 }} {both.text}, 0", kind)

    # -- numbers

    def call_min(self, arguments: list[ast.expr]) -> Operand:
        """`min(left, right)`."""
        return self.extreme("min", arguments)

    def call_max(self, arguments: list[ast.expr]) -> Operand:
        """`max(left, right)`."""
        return self.extreme("max", arguments)

    def extreme(self, name: str, arguments: list[ast.expr]) -> Operand:
        """The smaller or larger of two numbers."""
        if len(arguments) != 2:
            raise TypeError(f"native code takes `{name}` of two numbers")
        left, right = self.unify(self.bare(arguments[0]), self.bare(arguments[1]))
        llvm, letter = left.kind.llvm, "s" if left.kind.signed else "u"
        return self.emit(f"call {llvm} @llvm.{letter}{name}.{llvm}({llvm} {left.text}, {llvm} {right.text})", left.kind)

    def call_cycles(self, _arguments: list[ast.expr]) -> Operand:
        """`cycles()`."""
        return self.emit("call i64 @llvm.readcyclecounter()", U64)

    def call_popcount(self, arguments: list[ast.expr]) -> Operand:
        """`popcount(value)`."""
        return self.bits("ctpop", arguments, "")

    def call_trailing_zeros(self, arguments: list[ast.expr]) -> Operand:
        """`trailing_zeros(value)`."""
        return self.bits("cttz", arguments, ", i1 false")

    def call_leading_zeros(self, arguments: list[ast.expr]) -> Operand:
        """`leading_zeros(value)`."""
        return self.bits("ctlz", arguments, ", i1 false")

    def bits(self, name: str, arguments: list[ast.expr], extra: str) -> Operand:
        """A count of bits."""
        value = self.bare(arguments[0])
        if value.kind.name not in SCALARS:
            raise TypeError(f"{self.tree.name}: no bits of {value.kind.name}")
        llvm = value.kind.llvm
        return self.emit(f"call {llvm} @llvm.{name}.{llvm}({llvm} {value.text}{extra})", value.kind)

    # -- a value per lane

    def call_lowest(self, arguments: list[ast.expr]) -> Operand:
        """`lowest(values, lanes)`."""
        values, lanes = self.lanes(arguments[0]), self.selected(arguments[1])
        rest = f"{_LANES} splat (i32 -1)"
        kept = self.emit(f"select <32 x i1> {lanes}, {_LANES} {values.text}, {rest}", U32)
        return self.emit(f"call i32 @llvm.vector.reduce.umin.v32i32({_LANES} {kept.text})", U32)

    def call_lanes_equal(self, arguments: list[ast.expr]) -> Operand:
        """`lanes_equal(values, value)`."""
        return self.compared("eq", arguments)

    def call_lanes_above(self, arguments: list[ast.expr]) -> Operand:
        """`lanes_above(values, value)`."""
        return self.compared("ugt", arguments)

    def call_set_lanes(self, arguments: list[ast.expr]) -> Operand:
        """`set_lanes(values, lanes, value)`."""
        place = self.call_lanes(arguments).text
        old = self.emit(f"load {_LANES}, ptr {place}, align 4", U32)
        lanes, new = self.selected(arguments[1]), self.spread(arguments[2])
        value = self.emit(f"select <32 x i1> {lanes}, {_LANES} {new}, {_LANES} {old.text}", U32)
        self.lines.append(f"store {_LANES} {value.text}, ptr {place}, align 4")
        return Operand("", VOID)

    def compared(self, predicate: str, arguments: list[ast.expr]) -> Operand:
        """The mask of lanes for which a comparison with a value holds."""
        values, other = self.lanes(arguments[0]), self.spread(arguments[1])
        bits = self.emit(f"icmp {predicate} {_LANES} {values.text}, {other}", U32)
        return self.emit(f"bitcast <32 x i1> {bits.text} to i32", U32)

    def lanes(self, values: ast.expr) -> Operand:
        """The values of all lanes."""
        return self.emit(f"load {_LANES}, ptr {self.call_lanes([values]).text}, align 4", U32)

    def spread(self, value: ast.expr) -> str:
        """One value in every lane."""
        one = self.emit(f"insertelement {_LANES} poison, i32 {self.expression(value, U32).text}, i64 0", U32)
        zeros = "<32 x i32> zeroinitializer"
        return self.emit(f"shufflevector {_LANES} {one.text}, {_LANES} poison, {zeros}", U32).text

    def selected(self, mask: ast.expr) -> str:
        """A mask as a condition for each lane."""
        bits = ", ".join(f"i32 {1 << lane}" for lane in range(32))
        masked = self.emit(f"and {_LANES} {self.spread(mask)}, <{bits}>", U32)
        return self.emit(f"icmp ne {_LANES} {masked.text}, zeroinitializer", U32).text
