"""Native functions (`native/language.py`) to LLVM IR: each node of Python's syntax tree becomes a few instructions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from ptxloom.machine.native.language import BOOL, LITERAL, SCALARS, U8, U32, U64, VOID, Kind, kind_of, record

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Native:
    """A function of the run-time: its name in object code, its types and its IR."""

    name: str
    arguments: tuple[Kind, ...]
    result: Kind
    calls: tuple[str, ...]
    ir: str

    @property
    def declaration(self) -> str:
        """How a module that calls it declares it."""
        return f"declare {self.result.llvm} @{self.name}({', '.join(k.llvm for k in self.arguments)})"


def symbol(function: Callable[..., object]) -> str:
    """The name under which object code knows a native function."""
    return f"ptxloom_{function.__name__}"


@cache
def translate(function: Callable[..., object]) -> Native:
    """Compile a native function to IR.

    Raises:
        TypeError: It uses something the language does not have, or mixes integer types.
    """
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return _Translator(tree, cast("dict[str, object]", function.__globals__)).run()  # pyright: ignore[reportFunctionMemberAccess]


@dataclass(frozen=True, slots=True)
class Operand:
    """A value while translating: IR text and kind."""

    text: str
    kind: Kind


_OPERATORS: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("add", "add"),
    ast.Sub: ("sub", "sub"),
    ast.Mult: ("mul", "mul"),
    ast.FloorDiv: ("udiv", "sdiv"),
    ast.Mod: ("urem", "srem"),
    ast.BitAnd: ("and", "and"),
    ast.BitOr: ("or", "or"),
    ast.BitXor: ("xor", "xor"),
    ast.LShift: ("shl", "shl"),
    ast.RShift: ("lshr", "ashr"),
}
_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("eq", "eq"),
    ast.NotEq: ("ne", "ne"),
    ast.Lt: ("ult", "slt"),
    ast.LtE: ("ule", "sle"),
    ast.Gt: ("ugt", "sgt"),
    ast.GtE: ("uge", "sge"),
}
_ATOMIC = "seq_cst"
_LANES = "<32 x i32>"


class _Translator:
    """One function on its way to IR; locals live in allocas, which LLVM promotes."""

    def __init__(self, tree: ast.FunctionDef, names: dict[str, object]) -> None:
        self.tree = tree
        self.names = names
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.variables: dict[str, Kind] = {}
        self.loops: list[tuple[str, str]] = []
        self.calls: list[str] = []
        self.counter = 0
        self.result = kind_of(tree.returns or ast.Constant(value=None), names)

    def run(self) -> Native:
        kinds = tuple(kind_of(cast("ast.expr", a.annotation), self.names) for a in self.tree.args.args)
        for argument, kind in zip(self.tree.args.args, kinds, strict=True):
            self.declare(argument.arg, kind)
            self.lines.append(f"store {kind.llvm} %{argument.arg}, ptr %v.{argument.arg}")
        self.body(self.tree.body)
        self.lines.append("ret void" if self.result is VOID else f"ret {self.result.llvm} zeroinitializer")
        parameters = ", ".join(f"{k.llvm} %{a.arg}" for a, k in zip(self.tree.args.args, kinds, strict=True))
        name = f"ptxloom_{self.tree.name}"
        head = f"define {self.result.llvm} @{name}({parameters}) #0 {{\nentry:"
        ir = "\n".join([head, *self.allocas, *self.lines, "}"])
        return Native(name, kinds, self.result, tuple(dict.fromkeys(self.calls)), ir)

    # -- statements

    def body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self.expression(value)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, self.expression(value))
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value) if value is not None:
                kind = kind_of(annotation, self.names)
                self.declare(name, kind)
                self.assign(node.target, self.expression(value, kind))
            case ast.AugAssign(target=target, op=operator, value=value):
                load = ast.parse(ast.unparse(target), mode="eval").body
                self.assign(target, self.expression(ast.BinOp(load, operator, value)))
            case ast.Return(value=None):
                self.end("ret void")
            case ast.Return(value=value) if value is not None:
                self.end(f"ret {self.result.llvm} {self.expression(value, self.result).text}")
            case _:
                self.control(node)

    def control(self, node: ast.stmt) -> None:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                then, other, done = self.label(), self.label(), self.label()
                self.end(f"br i1 {self.condition(test)}, label %{then}, label %{other}", then)
                self.body(body)
                self.end(f"br label %{done}", other)
                self.body(orelse)
                self.end(f"br label %{done}", done)
            case ast.While(test=test, body=body):
                self.loop(test, body, None)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=bounds), body=body):
                start, stop = (ast.Constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
                if name not in self.variables:
                    self.declare(name, U32)
                self.assign(ast.Name(name), self.expression(start, self.variables[name]))
                step = ast.parse(f"{name} += {ast.unparse(bounds[2]) if bounds[3 - 1 :] else 1}").body[0]
                self.loop(ast.Compare(ast.Name(name), [ast.Lt()], [stop]), body, step)
            case ast.Break():
                self.end(f"br label %{self.loops[-1][1]}")
            case ast.Continue():
                self.end(f"br label %{self.loops[-1][0]}")
            case _:
                raise TypeError(f"{self.tree.name}: no native statement: {ast.unparse(node)}")

    def loop(self, test: ast.expr, body: list[ast.stmt], step: ast.stmt | None) -> None:
        head, inside, after, done = self.label(), self.label(), self.label(), self.label()
        self.end(f"br label %{head}", head)
        self.end(f"br i1 {self.condition(test)}, label %{inside}, label %{done}", inside)
        self.loops.append((after, done))
        self.body(body)
        self.loops.pop()
        self.end(f"br label %{after}", after)
        if step is not None:
            self.statement(step)
        self.end(f"br label %{head}", done)

    def assign(self, target: ast.expr, value: Operand) -> None:
        if isinstance(target, ast.Name):
            if target.id not in self.variables:
                self.declare(target.id, U32 if value.kind is LITERAL else value.kind)
            kind = self.variables[target.id]
            self.lines.append(f"store {kind.llvm} {self.convert(value, kind).text}, ptr %v.{target.id}")
            return
        place, kind = self.place(target)
        self.lines.append(f"store {kind.llvm} {self.convert(value, kind).text}, ptr {place}")

    # -- expressions

    def expression(self, node: ast.expr, wanted: Kind | None = None) -> Operand:
        value = self.bare(node)
        return value if wanted is None else self.convert(value, wanted)

    def bare(self, node: ast.expr) -> Operand:  # noqa: C901, PLR0911 - one case a node
        match node:
            case ast.Constant(value=bool(flag)):
                return Operand("true" if flag else "false", BOOL)
            case ast.Constant(value=int(number)):
                return Operand(str(number), LITERAL)
            case ast.Name(id=name) if name in self.variables:
                kind = self.variables[name]
                return self.emit(f"load {kind.llvm}, ptr %v.{name}", kind)
            case ast.Name(id=name) if isinstance(self.names.get(name), int):
                return Operand(str(int(cast("int", self.names[name]))), LITERAL)
            case ast.Attribute() | ast.Subscript():
                place, kind = self.place(node)
                if kind.count or (kind.struct is not None and isinstance(node, ast.Subscript)):
                    return Operand(place, Kind("Ptr", element=kind.element) if kind.count else kind)
                return self.emit(f"load {kind.llvm}, ptr {place}", kind)
            case ast.BinOp(left=left, op=operator, right=right):
                return self.binary(operator, self.bare(left), self.bare(right))
            case ast.UnaryOp(op=operator, operand=inner):
                return self.unary(operator, inner)
            case ast.Compare() | ast.BoolOp():
                return Operand(self.condition(node), BOOL)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                first, second = self.unify(self.bare(body), self.bare(orelse))
                llvm = first.kind.llvm
                condition = self.condition(test)
                return self.emit(f"select i1 {condition}, {llvm} {first.text}, {llvm} {second.text}", first.kind)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call(name, arguments)
            case _:
                pass
        raise TypeError(f"{self.tree.name}: no native expression: {ast.unparse(node)}")

    def unary(self, operator: ast.unaryop, inner: ast.expr) -> Operand:
        if isinstance(operator, ast.Not):
            return self.emit(f"xor i1 {self.condition(inner)}, true", BOOL)
        value = self.bare(inner)
        if value.kind is LITERAL:
            return Operand(str(-int(value.text) if isinstance(operator, ast.USub) else ~int(value.text)), LITERAL)
        if isinstance(operator, ast.USub):
            return self.emit(f"sub {value.kind.llvm} 0, {value.text}", value.kind)
        return self.emit(f"xor {value.kind.llvm} {value.text}, -1", value.kind)

    def binary(self, operator: ast.operator, left: Operand, right: Operand) -> Operand:
        if left.kind is LITERAL and right.kind is LITERAL:
            code = ast.Expression(ast.BinOp(ast.Constant(int(left.text)), operator, ast.Constant(int(right.text))))
            number = eval(compile(ast.fix_missing_locations(code), "<literal>", "eval"))  # noqa: S307 - two integers
            return Operand(str(number), LITERAL)
        left, right = self.unify(left, right)
        name = _OPERATORS[type(operator)][left.kind.signed]
        return self.emit(f"{name} {left.kind.llvm} {left.text}, {right.text}", left.kind)

    def condition(self, node: ast.expr) -> str:
        match node:
            case ast.BoolOp(op=operator, values=values):
                return self.short_circuit(isinstance(operator, ast.And), values)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                first, second = self.unify(self.bare(left), self.bare(right))
                name = _COMPARISONS[type(operator)][first.kind.signed]
                return self.emit(f"icmp {name} {first.kind.llvm} {first.text}, {second.text}", BOOL).text
            case _:
                value = self.bare(node)
                if value.kind is not BOOL:
                    raise TypeError(f"{self.tree.name}: {ast.unparse(node)} is not a condition; compare it")
                return value.text

    def short_circuit(self, conjunction: bool, values: list[ast.expr]) -> str:
        self.counter += 1
        slot = f"%b.{self.counter}"
        self.allocas.append(f"{slot} = alloca i1")
        done = self.label()
        for value in values:
            text = self.condition(value)
            self.lines.append(f"store i1 {text}, ptr {slot}")
            following = self.label()
            targets = (following, done) if conjunction else (done, following)
            self.end(f"br i1 {text}, label %{targets[0]}, label %{targets[1]}", following)
        self.end(f"br label %{done}", done)
        return self.emit(f"load i1, ptr {slot}", BOOL).text

    def call(self, name: str, arguments: list[ast.expr]) -> Operand:
        if name in SCALARS:
            return self.cast(self.bare(arguments[0]), SCALARS[name])
        builtin = getattr(self, f"call_{name}", None)
        if builtin is not None:
            return builtin(arguments)
        native = translate(cast("Callable[..., object]", self.names[name])) if name != self.tree.name else None
        if native is None:
            raise TypeError(f"{name}: a native function does not call itself")
        self.calls.append(name)
        texts = [
            f"{kind.llvm} {self.expression(argument, kind).text}"
            for argument, kind in zip(arguments, native.arguments, strict=True)
        ]
        code = f"call {native.result.llvm} @{native.name}({', '.join(texts)})"
        if native.result is VOID:
            self.lines.append(code)
            return Operand("", VOID)
        return self.emit(code, native.result)

    def call_pointer(self, arguments: list[ast.expr]) -> Operand:
        kind = kind_of(arguments[0], self.names)
        value = self.expression(arguments[1], U64)
        result = kind if kind.struct is not None else Kind("Ptr", element=kind)
        if kind.struct is not None:
            result = Kind("Ptr", element=kind)
        return self.emit(f"inttoptr i64 {value.text} to ptr", result)

    def call_address(self, arguments: list[ast.expr]) -> Operand:
        return self.emit(f"ptrtoint ptr {self.bare(arguments[0]).text} to i64", U64)

    def call_invoke(self, arguments: list[ast.expr]) -> Operand:
        code = self.emit(f"inttoptr i64 {self.expression(arguments[0], U64).text} to ptr", U64)
        return self.emit(f"call i32 {code.text}(ptr {self.bare(arguments[1]).text})", U32)

    def call_min(self, arguments: list[ast.expr]) -> Operand:
        return self.extreme("min", arguments)

    def call_max(self, arguments: list[ast.expr]) -> Operand:
        return self.extreme("max", arguments)

    def extreme(self, name: str, arguments: list[ast.expr]) -> Operand:
        left, right = self.unify(self.bare(arguments[0]), self.bare(arguments[1]))
        llvm, letter = left.kind.llvm, "s" if left.kind.signed else "u"
        return self.emit(f"call {llvm} @llvm.{letter}{name}.{llvm}({llvm} {left.text}, {llvm} {right.text})", left.kind)

    def call_popcount(self, arguments: list[ast.expr]) -> Operand:
        return self.bits("ctpop", arguments, "")

    def call_trailing_zeros(self, arguments: list[ast.expr]) -> Operand:
        return self.bits("cttz", arguments, ", i1 false")

    def call_leading_zeros(self, arguments: list[ast.expr]) -> Operand:
        return self.bits("ctlz", arguments, ", i1 false")

    def bits(self, name: str, arguments: list[ast.expr], extra: str) -> Operand:
        value = self.bare(arguments[0])
        llvm = value.kind.llvm
        return self.emit(f"call {llvm} @llvm.{name}.{llvm}({llvm} {value.text}{extra})", value.kind)

    def call_atomic(self, arguments: list[ast.expr]) -> Operand:
        operation = cast("str", cast("ast.Constant", arguments[0]).value)
        place = self.bare(arguments[1])
        kind = cast("Kind", place.kind.element)
        value = self.expression(arguments[2], kind)
        return self.emit(f"atomicrmw {operation} ptr {place.text}, {kind.llvm} {value.text} {_ATOMIC}", kind)

    def call_compare_exchange(self, arguments: list[ast.expr]) -> Operand:
        place = self.bare(arguments[0])
        kind = cast("Kind", place.kind.element)
        old, new = (self.expression(a, kind).text for a in arguments[1:])
        pair = f"cmpxchg ptr {place.text}, {kind.llvm} {old}, {kind.llvm} {new} {_ATOMIC} {_ATOMIC}"
        both = self.emit(pair, kind)
        return self.emit(f"extractvalue {{ {kind.llvm}, i1 }} {both.text}, 0", kind)

    def call_lowest(self, arguments: list[ast.expr]) -> Operand:
        values, lanes = self.lanes(arguments[0]), self.selected(arguments[1])
        rest = f"{_LANES} splat (i32 -1)"
        kept = self.emit(f"select <32 x i1> {lanes}, {_LANES} {values.text}, {rest}", U32)
        return self.emit(f"call i32 @llvm.vector.reduce.umin.v32i32({_LANES} {kept.text})", U32)

    def call_lanes_equal(self, arguments: list[ast.expr]) -> Operand:
        return self.compared("eq", arguments)

    def call_lanes_above(self, arguments: list[ast.expr]) -> Operand:
        return self.compared("ugt", arguments)

    def call_set_lanes(self, arguments: list[ast.expr]) -> Operand:
        place = self.bare(arguments[0]).text
        old, lanes, new = self.lanes(arguments[0]), self.selected(arguments[1]), self.spread(arguments[2])
        value = self.emit(f"select <32 x i1> {lanes}, {_LANES} {new}, {_LANES} {old.text}", U32)
        self.lines.append(f"store {_LANES} {value.text}, ptr {place}, align 4")
        return Operand("", VOID)

    def compared(self, predicate: str, arguments: list[ast.expr]) -> Operand:
        values, other = self.lanes(arguments[0]), self.spread(arguments[1])
        bits = self.emit(f"icmp {predicate} {_LANES} {values.text}, {other}", U32)
        return self.emit(f"bitcast <32 x i1> {bits.text} to i32", U32)

    def lanes(self, values: ast.expr) -> Operand:
        return self.emit(f"load {_LANES}, ptr {self.bare(values).text}, align 4", U32)

    def spread(self, value: ast.expr) -> str:
        one = self.emit(f"insertelement {_LANES} poison, i32 {self.expression(value, U32).text}, i64 0", U32)
        zeros = "<32 x i32> zeroinitializer"
        return self.emit(f"shufflevector {_LANES} {one.text}, {_LANES} poison, {zeros}", U32).text

    def selected(self, mask: ast.expr) -> str:
        bits = ", ".join(f"i32 {1 << lane}" for lane in range(32))
        masked = self.emit(f"and {_LANES} {self.spread(mask)}, <{bits}>", U32)
        return self.emit(f"icmp ne {_LANES} {masked.text}, zeroinitializer", U32).text

    def call_copy(self, arguments: list[ast.expr]) -> Operand:
        target, source, size = (self.expression(a, U64).text for a in arguments)
        into = self.emit(f"inttoptr i64 {target} to ptr", U64).text
        out = self.emit(f"inttoptr i64 {source} to ptr", U64).text
        self.lines.append(f"call void @llvm.memcpy.p0.p0.i64(ptr {into}, ptr {out}, i64 {size}, i1 false)")
        return Operand("", VOID)

    def call_fill(self, arguments: list[ast.expr]) -> Operand:
        target = self.expression(arguments[0], U64).text
        value = self.expression(arguments[1], U8).text
        size = self.expression(arguments[2], U64).text
        into = self.emit(f"inttoptr i64 {target} to ptr", U64).text
        self.lines.append(f"call void @llvm.memset.p0.i64(ptr {into}, i8 {value}, i64 {size}, i1 false)")
        return Operand("", VOID)

    # -- pieces

    def place(self, node: ast.expr) -> tuple[str, Kind]:
        match node:
            case ast.Attribute(value=base, attr=field):
                owner = self.bare(base)
                if owner.kind.struct is None:
                    raise TypeError(f"{self.tree.name}: {ast.unparse(base)} is not a struct")
                layout = record(owner.kind.struct)
                place = self.emit(f"getelementptr i8, ptr {owner.text}, i64 {layout.offsets[field]}", U64)
                return place.text, layout.kinds[field]
            case ast.Subscript(value=base, slice=index):
                owner = self.bare(base)
                element = owner.kind.element
                if element is None:
                    raise TypeError(f"{self.tree.name}: {ast.unparse(base)} is not a pointer")
                at = self.cast(self.bare(index), U64).text
                bytes_ = self.emit(f"mul i64 {at}, {element.stride}", U64).text
                return self.emit(f"getelementptr i8, ptr {owner.text}, i64 {bytes_}", U64).text, element
            case _:
                raise TypeError(f"{self.tree.name}: {ast.unparse(node)} is not a place")

    def unify(self, left: Operand, right: Operand) -> tuple[Operand, Operand]:
        if left.kind is LITERAL and right.kind is LITERAL:
            return Operand(left.text, U32), Operand(right.text, U32)
        if left.kind is LITERAL:
            return self.convert(left, right.kind), right
        return left, self.convert(right, left.kind)

    def convert(self, value: Operand, kind: Kind) -> Operand:
        if value.kind is LITERAL:
            return Operand(value.text if kind.llvm != "ptr" else "null", kind)
        if value.kind.llvm != kind.llvm or (value.kind.signed != kind.signed):
            raise TypeError(f"{self.tree.name}: {value.kind.name} used as {kind.name}; write {kind.name}(...)")
        return value

    def cast(self, value: Operand, kind: Kind) -> Operand:
        if value.kind is LITERAL or value.kind.bits == kind.bits:
            return Operand(value.text, kind)
        signed = value.kind.signed
        name = "trunc" if kind.bits < value.kind.bits else "sext" if signed else "zext"
        return self.emit(f"{name} {value.kind.llvm} {value.text} to {kind.llvm}", kind)

    def declare(self, name: str, kind: Kind) -> None:
        if name in self.variables:
            return
        self.variables[name] = kind
        self.allocas.append(f"%v.{name} = alloca {kind.llvm}")

    def label(self) -> str:
        self.counter += 1
        return f"L{self.counter}"

    def emit(self, code: str, kind: Kind) -> Operand:
        self.counter += 1
        name = f"%t{self.counter}"
        self.lines.append(f"{name} = {code}")
        return Operand(name, kind)

    def end(self, code: str, following: str | None = None) -> None:
        self.lines.append(code)
        self.lines.append(f"{following or self.label()}:")
