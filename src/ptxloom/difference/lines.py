"""A function's statements without everything that does not matter: spaces, `.loc`, and arbitrary names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.names import Scope, labelled
from ptxloom.binding.sizes import size_of, type_bytes
from ptxloom.isa.types import element_type, is_type
from ptxloom.meaning.effects import STORES
from ptxloom.meaning.origins import ORIGINS, Origin
from ptxloom.readings.computed import alike
from ptxloom.readings.effects import issues, moves_matrix, stores
from ptxloom.syntax import print_operand
from ptxloom.syntax.printer import print_line
from ptxloom.syntax.tree import (
    Address,
    Arguments,
    Block,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Component,
    Declaration,
    Float,
    Indexed,
    Instruction,
    Integer,
    Label,
    Malformed,
    Name,
    Pair,
    Pragma,
    Unary,
    Vector,
)
from ptxloom.syntax.visitor import instructions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.syntax.tree import Declarator, Function, Operand, Statement

_KINDS: Final = ("b", "u")  # what types are called that mean the same, the plainest first


class LocalName(NamedTuple):
    """Something with a name of the function's own: what it is, and which."""

    kind: str
    key: str


class Line(NamedTuple):
    """A statement that counts.

    Attributes:
        node: The statement.
        number: Its line.
        spelling: Opcode and qualifiers as far as they mean anything; "" for what is not an instruction.
        shape: The statement without literals and names: lines are aligned by it.
        literals: Its literals, in order.
        names: Its names, in order.
    """

    node: Statement
    number: int
    spelling: str
    shape: str
    literals: tuple[str, ...]
    names: tuple[LocalName, ...]

    @property
    def text(self) -> str:
        """The statement as PTX."""
        return print_line(self.node)


class _Known(NamedTuple):
    kind: str
    bits: int = 0


def lines_of(function: Function, outside: Mapping[str, str]) -> tuple[Line, ...]:
    """The significant lines of a function.

    Args:
        function: A function with a body.
        outside: The names of the module's variables and functions that are common to both modules.
    """
    return tuple(_Reader(function, outside).read()) if function.body is not None else ()


def same_bits(instruction: Instruction, bits: int) -> str:
    """Opcode and qualifiers, all types one that mean the same: what `mov.u32` does, `mov.b32` does.

    Args:
        instruction: The instruction.
        bits: Of the register that it writes first; 0 if it writes no register.

    Example:
        >>> from ptxloom.syntax import parse
        >>> def one(text): return parse(text).statements[0]
        >>> same_bits(one("ld.global.f32 %f1, [%rd1];"), 32), same_bits(one("ld.global.s16 %r1, [%rd1];"), 32)
        ('ld.global.b32', 'ld.global.s16')
        >>> same_bits(one("add.s32 %r1, %r2, %r3;"), 32), same_bits(one("add.sat.s32 %r1, %r2, %r3;"), 32)
        ('add.u32', 'add.sat.s32')
    """
    opcode, words = instruction.opcode, instruction.qualifiers
    if ORIGINS.get(opcode) is Origin.MEMORY:  # as wide as the register: nothing is extended
        words = tuple(_of_kind(word, "b") if _width(word) == bits else word for word in words)
    elif (stores(instruction) and not moves_matrix(instruction)) or STORES in issues(instruction):
        words = tuple(_of_kind(word, "b") for word in words)
    else:
        called = (tuple(_of_kind(word, kind) for word in words) for kind in _KINDS)
        words = next((others for others in called if alike(instruction, others)), words)
    return ".".join((opcode, *words))


def _width(word: str) -> int:
    return element_type(word).bits if word[:1] in {"u", "s", "b", "f"} and is_type(word) else 0


def _of_kind(word: str, kind: str) -> str:
    width = _width(word) if word[1:].isdecimal() else 0
    return f"{kind}{width}" if width else word


class _Reader:
    """Reads the statements of one function, with the meanings of its names at each place."""

    def __init__(self, function: Function, outside: Mapping[str, str]) -> None:
        self.function = function
        self.outside = outside
        self.numbers: dict[int, int] = {}  # of braces, so that names in different ones are different
        self.scopes: list[Scope[_Known, None]] = []
        self.literals: list[str] = []
        self.names: list[LocalName] = []
        self.wanted = _labels_in_use(function)

    def read(self) -> Iterator[Line]:
        """The lines, in the order of the text."""
        body = self.function.body
        if body is None:
            return
        top = self._scope(None, body)
        for number, parameter in enumerate((*self.function.returns, *self.function.params)):
            self._declare(top, parameter, f"parameter {number} ")
        waiting = [(iter(body.statements), top)]
        while waiting:
            statements, scope = waiting.pop()
            for one in statements:
                match one:
                    case Block():
                        waiting += [(statements, scope), (iter(one.statements), self._scope(scope, one))]
                        break
                    case Declaration():
                        self._declare(scope, one)
                        if one.space != "reg":
                            yield self._declaration(one, scope)
                    case _:
                        yield from self._line(one, scope)

    def _scope(self, outer: Scope[_Known, None] | None, block: Block) -> Scope[_Known, None]:
        scope = Scope[_Known, None](outer)
        scope.labels.update(dict.fromkeys(name for name, _ in labelled(block.statements)))
        self.scopes.append(scope)  # kept, so that no other has its id
        self.numbers[id(scope)] = len(self.scopes)
        return scope

    @staticmethod
    def _declare(scope: Scope[_Known, None], declaration: Declaration, what: str = "") -> None:
        for one in declaration.declarators:
            bits = 8 * type_bytes(declaration.type) if declaration.type != "pred" else 1
            kind = f"{declaration.space}{bits}" + f"v{declaration.vector}" * bool(declaration.vector)
            if declaration.space != "reg" or what:
                kind = what or f"{declaration.space} {size_of(declaration, one)} bytes"
            scope.declare(one.name, _Known(kind, bits), one.count)

    def _declaration(self, one: Declaration, scope: Scope[_Known, None]) -> Line:
        """A variable: its name does not matter, everything else does."""
        texts = [f"{self._name(each.name, scope)}{_rest(each)}" for each in one.declarators]
        head = f".{one.space} align {one.alignment} .v{one.vector} .{one.type}"
        return self._made(one, "", f"{head} {', '.join(texts)}")

    def _line(self, one: Statement, scope: Scope[_Known, None]) -> Iterator[Line]:
        match one:
            case Instruction():
                yield self._instruction(one, scope)
            case Label(name) if name in self.wanted:
                yield self._made(one, "", f"{self._name(name, scope)}:")
            case BranchTargets(names) | CallTargets(names):
                yield self._made(one, "", ", ".join(self._name(each.text, scope) for each in names))
            case CallPrototype() | Pragma() | Malformed():
                yield self._made(one, "", print_line(one))
            case _:
                pass

    def _instruction(self, one: Instruction, scope: Scope[_Known, None]) -> Line:
        guard = ""
        if one.predicate is not None:
            guard = f"@{'!' * one.predicate.negated}{self._name(one.predicate.name, scope)} "
        spelling = same_bits(one, self._first_bits(one, scope))
        return self._made(one, spelling, f"{guard}{spelling} {self._several(one.operands, scope)}")

    def _made(self, node: Statement, spelling: str, shape: str) -> Line:
        line = Line(node, node.span.line, spelling, shape, tuple(self.literals), tuple(self.names))
        self.literals.clear()
        self.names.clear()
        return line

    @staticmethod
    def _first_bits(one: Instruction, scope: Scope[_Known, None]) -> int:
        """How wide the first register is that an instruction names; 0 if it names no register first."""
        first = one.operands[0] if one.operands else None
        while isinstance(first, (Vector, Pair)):
            first = (first.elements or (None,))[0] if isinstance(first, Vector) else first.first
        known = scope.find(first.text) if isinstance(first, Name) else None
        return 0 if known is None else known.bits

    def _several(self, operands: Iterable[Operand], scope: Scope[_Known, None]) -> str:
        return ", ".join(self._operand(one, scope) for one in operands)

    def _operand(self, one: Operand, scope: Scope[_Known, None]) -> str:  # noqa: C901, PLR0911 - one arm a node
        """An operand without its names and literals, which are noted."""
        match one:
            case Name(text):
                return self._name(text, scope)
            case Component(base, field):
                return f"{self._name(base.text, scope)}.{field}"
            case Integer(value):
                return self._literal(str(value))
            case Float(bits, width):
                return self._literal(f"{width}:{bits:x}")
            case Vector(elements):
                return f"{{{self._several(elements, scope)}}}"
            case Arguments(elements):
                return f"({self._several(elements, scope)})"
            case Pair(first, second):
                return f"{self._operand(first, scope)}|{self._operand(second, scope)}"
            case Unary(operator, operand):
                return operator + self._operand(operand, scope)
            case Indexed(base, index):
                return f"{self._operand(base, scope)}[{self._operand(index, scope)}]"
            case Address(base, offset, minus, extra):
                self.literals.append(str(-offset if minus else offset))
                return f"[{self._several((base, *extra), scope)}]"
            case _:
                return print_operand(one)

    def _literal(self, text: str) -> str:
        self.literals.append(text)
        return "#"

    def _name(self, text: str, scope: Scope[_Known, None]) -> str:
        """What a name is, if it is one of the function's own; else the name."""
        place = scope.place(text)
        if place is not None:
            braces, spelled = place
            known = braces.find(spelled) or _Known("")
            self.names.append(LocalName(known.kind, f"{self.numbers[id(braces)]} {spelled}"))
            return f"<{known.kind}>"
        for braces in scope.around():
            if text in braces.labels:
                self.names.append(LocalName("label", f"{self.numbers[id(braces)]} {text}"))
                return "<label>"
        return self.outside.get(text, text)


def _rest(one: Declarator) -> str:
    """The contents of a declarator, except its name."""
    value = "" if one.initializer is None else f" = {print_operand(one.initializer)}"
    return "".join(f"[{each}]" for each in one.dimensions) + value


def _labels_in_use(function: Function) -> frozenset[str]:
    """The names that instructions and lists of targets mention: other labels are there for debuggers."""
    found = set[str]()
    for one in instructions(function):
        waiting = list(one.operands)
        while waiting:
            match waiting.pop():
                case Name(text):
                    found.add(text)
                case Vector(elements) | Arguments(elements):
                    waiting += elements
                case _:
                    pass
    waiting_blocks = [function.body] if function.body is not None else []
    while waiting_blocks:
        for one in waiting_blocks.pop().statements:
            match one:
                case Block():
                    waiting_blocks.append(one)
                case BranchTargets(names) | CallTargets(names):
                    found.update(each.text for each in names)
                case _:
                    pass
    return frozenset(found)
