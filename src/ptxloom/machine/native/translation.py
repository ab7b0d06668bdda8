"""Native functions (`native/language.py`) to LLVM IR: each node of Python's syntax tree becomes a few instructions."""

from __future__ import annotations

import ast
import linecache
import sys
import textwrap
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from ptxloom.dataclass import dataclass
from ptxloom.machine.native.declared_bounds import bound_of, bounding
from ptxloom.machine.native.intrinsics import Intrinsics
from ptxloom.machine.native.language import BOOL, LITERAL, SCALARS, U32, U64, VOID, NativeType, Sealed, kind_of
from ptxloom.machine.native.signature import NativeSignature, names_of, signature
from ptxloom.machine.native.standalone import attributes
from ptxloom.machine.native.writer import Operand

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType


@dataclass(frozen=True, slots=True)
class Native:
    """A function of the run-time: its IR, and the names of its callees."""

    signature: NativeSignature
    calls: tuple[str, ...]
    ir: str


@cache
def translate(function: Callable[..., object]) -> Native:
    """Compile a native function to IR.

    Raises:
        TypeError: It uses something that the language does not have, or mixes integer types.
    """
    tree = ast.parse(textwrap.dedent(source_of(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return _Translator(tree, names_of(function), signature(function), attributes(function)).run()


def source_of(function: Callable[..., object]) -> str:
    """The text of a function with its decorators: up to the next line that is not indented more.

    `inspect.getsource` takes as long as the rest of the translation: it reads tokens.
    """
    plain = cast("FunctionType", function)
    code = plain.__code__
    lines = linecache.getlines(code.co_filename, plain.__globals__)[code.co_firstlineno - 1 :]
    outside = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    inner = (outside + " ", outside + "\t", outside + ")")  # `)` ends a long signature
    body = next(number for number, line in enumerate(lines) if line.startswith(outside + "def "))
    rest = enumerate(lines[body + 1 :], body + 1)
    end = next((number for number, line in rest if line.strip() and not line.startswith(inner)), len(lines))
    return "".join(lines[:end])


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
_OWNER: Final = "<owner>"  # the struct with the field of a bound


class _Translator(Intrinsics):
    """One function on its way to IR."""

    def __init__(self, tree: ast.FunctionDef, names: dict[str, object], own: NativeSignature, attributes: str) -> None:
        super().__init__(tree, names)
        self.own = own
        self.attributes = attributes
        self.loops: list[tuple[str, str]] = []
        self.calls: list[str] = []
        self.owners: list[Operand] = []
        self.arguments: dict[str, Operand] = {}
        self.result = own.result

    def run(self) -> Native:
        parameters = tuple(zip(self.own.names, self.own.arguments, strict=True))
        bound: list[tuple[str, NativeType]] = []
        for name, kind in parameters:
            if kind.bound:
                bound.append((name, kind))
                continue
            self.declare(name, kind)
            self.lines.append(f"store {kind.llvm} %{name}, ptr %v.{name}")
        for name, kind in bound:
            count = self.cast(self.bare(bound_of(kind.bound, self.names, ast.Name)), U64)
            self.assign(ast.Name(name), self.some(f"%{name}", count.text, kind))
        self.body(self.tree.body)
        self.lines.append("ret void" if self.result is VOID else f"ret {self.result.llvm} zeroinitializer")
        if self.traps:
            self.lines += ["trap:", "call void @llvm.trap()", "unreachable"]
        listed = ", ".join(f"{kind.llvm} %{name}" for name, kind in parameters)
        head = f"define {self.result.llvm} @{self.own.name}({listed}) {self.attributes} {{\nentry:"
        ir = "\n".join([head, *self.allocas, *self.lines, "}"])
        return Native(self.own, tuple(dict.fromkeys(self.calls)), ir)

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
            case ast.Assert(test=test):
                self.demand(self.condition(test))
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
        if isinstance(target, ast.Attribute):
            self.keep_bounds(target, value, kind)
        text = self.start(value) if kind.bound else self.convert(value, kind).text
        self.lines.append(f"store {kind.llvm} {text}, ptr {place}")

    def keep_bounds(self, target: ast.Attribute, value: Operand, kind: NativeType) -> None:
        """Storing a pointer also stores its count; nothing else changes a count.

        Raises:
            TypeError: The field is part of a bound, or a pointer whose bound is not a single field.
        """
        struct = self.bare(target.value).kind.struct
        if struct is not None and issubclass(cast("type[object]", struct), Sealed) and not self.may_make:
            raise TypeError(f"{self.tree.name}: {ast.unparse(target)} is sealed")
        if struct is not None and target.attr in bounding(struct):
            raise TypeError(f"{self.tree.name}: {ast.unparse(target)} holds the number of elements of a table")
        if not kind.bound:
            return
        if kind.element != value.kind.element or not (kind.bound.isdecimal() or kind.bound.isidentifier()):
            raise TypeError(f"{self.tree.name}: {value.kind.name} stored in {ast.unparse(target)}")
        if kind.bound.isdecimal():
            self.check("uge", self.room(value), kind.bound)
            return
        place, count = self.place(ast.Attribute(target.value, kind.bound))
        self.lines.append(f"store {count.llvm} {self.cast(Operand(self.room(value), U64), count).text}, ptr {place}")

    # -- expressions

    def expression(self, node: ast.expr, wanted: NativeType | None = None) -> Operand:
        value = self.bare(node)
        return value if wanted is None else self.convert(value, wanted)

    def bare(self, node: ast.expr) -> Operand:  # noqa: C901, PLR0911 - one case a node
        match node:
            case ast.Constant(value=bool(flag)):
                return Operand("true" if flag else "false", BOOL)
            case ast.Constant(value=int(number)):
                return Operand(str(number), LITERAL)
            case ast.Name(id=name):
                return self.named(name)
            case ast.Attribute(value=base, attr=name):
                return self.loaded(self.bare(base), name)
            case ast.Subscript():
                place, kind = self.place(node)
                whole = kind.struct is not None
                return Operand(place, kind) if whole else self.emit(f"load {kind.llvm}, ptr {place}", kind)
            case ast.BinOp(left=left, op=operator, right=right):
                return self.binary(operator, self.bare(left), self.bare(right))
            case ast.UnaryOp(op=operator, operand=inner):
                return self.unary(operator, inner)
            case ast.Compare() | ast.BoolOp():
                return Operand(self.condition(node), BOOL)
            case ast.IfExp():
                return self.chosen(node)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call(name, arguments)
            case _:
                pass
        raise TypeError(f"{self.tree.name}: no native expression: {ast.unparse(node)}")

    def loaded(self, owner: Operand, name: str) -> Operand:
        """The value of a field; an array stays in place."""
        place, kind = self.field(owner, name)
        if kind.count:
            return Operand(place, kind)
        value = self.emit(f"load {kind.llvm}, ptr {place}", kind)
        return self.counted(owner, value) if kind.bound else value

    def chosen(self, node: ast.IfExp) -> Operand:
        """One of two values; both are computed."""
        first, second = self.unify(self.bare(node.body), self.bare(node.orelse))
        llvm = first.kind.llvm
        condition = self.condition(node.test)
        return self.emit(f"select i1 {condition}, {llvm} {first.text}, {llvm} {second.text}", first.kind)

    def named(self, name: str) -> Operand:
        """A local, a constant of the module, or a substitute in a bound."""
        if name in self.variables:
            kind = self.variables[name]
            return self.emit(f"load {kind.llvm}, ptr %v.{name}", kind)
        if name == _OWNER:
            return self.owners[-1]
        if name[:1] == "<" and name[1:-1] in self.arguments:
            return self.arguments[name[1:-1]]
        known = self.names.get(name)
        if not isinstance(known, int):
            raise TypeError(f"{self.tree.name}: {name} is no number")
        return Operand(str(int(known)), LITERAL)

    def unary(self, operator: ast.unaryop, inner: ast.expr) -> Operand:
        if isinstance(operator, ast.Not):
            return self.emit(f"xor i1 {self.condition(inner)}, true", BOOL)
        value = self.bare(inner)
        if value.kind is LITERAL:
            return Operand(str(-int(value.text) if isinstance(operator, ast.USub) else ~int(value.text)), LITERAL)
        if value.kind.name not in SCALARS:
            raise TypeError(f"{self.tree.name}: no arithmetic on {value.kind.name}")
        if isinstance(operator, ast.USub):
            return self.emit(f"sub {value.kind.llvm} 0, {value.text}", value.kind)
        return self.emit(f"xor {value.kind.llvm} {value.text}, -1", value.kind)

    def binary(self, operator: ast.operator, left: Operand, right: Operand) -> Operand:
        if left.kind is LITERAL and right.kind is LITERAL:
            code = ast.Expression(ast.BinOp(ast.Constant(int(left.text)), operator, ast.Constant(int(right.text))))
            number = eval(compile(ast.fix_missing_locations(code), "<literal>", "eval"))  # noqa: S307 - two integers
            return Operand(str(number), LITERAL)
        left, right = self.unify(left, right)
        if left.kind.name not in SCALARS:
            raise TypeError(f"{self.tree.name}: no arithmetic on {left.kind.name}")
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
        if name == self.tree.name:
            raise TypeError(f"{name}: a native function does not call itself")
        native = signature(cast("Callable[..., object]", self.names[name]))
        self.calls.append(name)
        texts = [f"{k.llvm} {t}" for k, t in zip(native.arguments, self.given(native, arguments), strict=True)]
        code = f"call {native.result.llvm} @{native.name}({', '.join(texts)})"
        if native.result is VOID:
            self.lines.append(code)
            return Operand("", VOID)
        return self.emit(code, native.result)

    def given(self, native: NativeSignature, arguments: list[ast.expr]) -> list[str]:
        """The arguments of a call; a pointer bounded by other arguments must have that many elements, or be null."""
        values = [
            self.bare(argument) if kind.bound else self.expression(argument, kind)
            for argument, kind in zip(arguments, native.arguments, strict=True)
        ]
        self.arguments = dict(zip(native.names, values, strict=True))
        texts: list[str] = []
        for value, kind in zip(values, native.arguments, strict=True):
            if kind.bound:
                if value.kind.element != kind.element:
                    raise TypeError(f"{self.tree.name}: {value.kind.name} given to {native.name}")
                expression = bound_of(kind.bound, self.names, lambda name: ast.Name(f"<{name}>"))
                wanted = self.cast(self.bare(expression), U64).text
                start = self.start(value)
                none = self.emit(f"icmp eq ptr {start}, null", BOOL).text
                self.check("uge", self.room(value), self.emit(f"select i1 {none}, i64 0, i64 {wanted}", U64).text)
                texts.append(start)
            else:
                texts.append(value.text)
        return texts

    def counted(self, owner: Operand, loaded: Operand) -> Operand:
        """The elements of a pointer field, by its bound; no elements if it is null."""
        self.owners.append(owner)
        names = vars(sys.modules[cast("type", owner.kind.struct).__module__])
        expression = bound_of(loaded.kind.bound, names, lambda name: ast.Attribute(ast.Name(_OWNER), name))
        count = self.cast(self.bare(expression), U64).text
        self.owners.pop()
        return self.some(loaded.text, count, loaded.kind)

    def some(self, start: str, count: str, kind: NativeType) -> Operand:
        """`count` elements; no elements at a null pointer."""
        none = self.emit(f"icmp eq ptr {start}, null", BOOL).text
        return self.slice(start, self.emit(f"select i1 {none}, i64 0, i64 {count}", U64).text, kind)

    def place(self, node: ast.expr) -> tuple[str, NativeType]:
        match node:
            case ast.Attribute(value=base, attr=name):
                return self.field(self.bare(base), name)
            case ast.Subscript(value=base, slice=index):
                owner = self.elements(base)
                at = self.cast(self.bare(index), U64).text
                self.check("ult", at, self.room(owner))
                return self.element(owner, at), cast("NativeType", owner.kind.element)
            case _:
                raise TypeError(f"{self.tree.name}: {ast.unparse(node)} is not a place")
