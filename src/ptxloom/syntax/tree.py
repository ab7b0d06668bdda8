"""The tree of a PTX module: one class for each construct of the grammar in PTX ISA chapters 4, 5, 7 and 11.

Instructions are opcode-agnostic: an unknown opcode is a node like any other. Qualifiers carry no leading dot.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, TypeAlias

from ptxloom.syntax.node import Node, StatementNode

# --- operands (PTX ISA 4.4, 4.5, 6) ---


class Name(Node):
    """A register, variable, label, function, special register, section, `_` or `WARP_SZ`."""

    text: str

    if not TYPE_CHECKING:

        @property
        def end(self) -> int:
            """The end of the name's text."""
            return self.start + len(self.text)


class Component(Node):
    """An element or a part of a name: `%tid.x`, `%v.y`, `%r1.b0`."""

    base: Name
    field: str


class Integer(Node):
    """An integer literal; a sign before it belongs to it. `unsigned`: it has a `U`."""

    value: int
    radix: int = 10
    unsigned: bool = False


class Float(Node):
    """A floating-point literal, kept as its bit pattern: `0f...` is 32 bits wide, `0d...` and decimal ones 64."""

    bits: int
    width: int = 64
    decimal: bool = False

    @property
    def value(self) -> float:
        """The number that the bits represent."""
        if self.width == 32:
            (number,) = struct.unpack("<f", self.bits.to_bytes(4, "little"))
        else:
            (number,) = struct.unpack("<d", self.bits.to_bytes(8, "little"))
        return float(number)


class String(Node):
    """A string; `value` is the text between the quotes, escapes included."""

    value: str


class Unary(Node):
    """An operator before an operand: `!%p1`, `-%r1`, `~5`."""

    operator: str
    operand: Operand


class Binary(Node):
    """Two operands with an operator between them: `buffer+4`."""

    operator: str
    left: Operand
    right: Operand


class Ternary(Node):
    """A choice in a constant expression: `1 ? 2 : 3`."""

    condition: Operand
    then: Operand
    otherwise: Operand


class Cast(Node):
    """A conversion in a constant expression: `(.u64) 5`; `type` has no dot."""

    type: str
    operand: Operand


class Vector(Node):
    """A vector expression or a braced initialiser: `{a, b}`; elements may nest."""

    elements: tuple[Operand, ...]


class Address(Node):
    """An address: `[a]`, `[a+4]`, `[a+-4]` (offset -4), `[a-4]` (minus, offset 4), `[4]`.

    `extra` holds operands after a comma in the brackets: coordinates, a sampler, an mbarrier. `zero`: an offset of 0
    is written, `[a+0]`: without optimisation, ptxas computes that sum.
    """

    base: Operand
    offset: int = 0
    minus: bool = False
    extra: tuple[Operand, ...] = ()
    zero: bool = False


class Pair(Node):
    """Two destinations: `%p1|%p2`, `{%f1, %f2, %f3, %f4}|%p1`."""

    first: Operand
    second: Operand


class Arguments(Node):
    """A parenthesised list of `call`."""

    elements: tuple[Operand, ...]


class Indexed(Node):
    """An element of an array: `a[3]`."""

    base: Operand
    index: Operand


class Apply(Node):
    """An operator of an initialiser: `generic(x)`, `mask(x)`, `0xFF(x)`."""

    function: Name | Integer
    argument: Operand


Operand: TypeAlias = (
    Name
    | Component
    | Integer
    | Float
    | String
    | Unary
    | Binary
    | Ternary
    | Cast
    | Vector
    | Address
    | Pair
    | Arguments
    | Indexed
    | Apply
)


def elements_of(operand: Operand) -> tuple[Operand, ...]:
    """The elements of a vector expression; any other operand itself."""
    return operand.elements if isinstance(operand, Vector) else (operand,)


# --- module directives (PTX ISA 11.1) ---


class Version(StatementNode):
    """`.version 9.0`."""

    major: int
    minor: int


class Target(StatementNode):
    """`.target sm_90a, debug`."""

    names: tuple[str, ...]


class AddressSize(StatementNode):
    """`.address_size 64`."""

    bits: int


# --- instructions and control flow (PTX ISA 9) ---


class Predicate(Node):
    """A guard: `@%p1`, `@!%p1`. It ends where its name ends."""

    name: str
    negated: bool = False


class Instruction(StatementNode):
    """An instruction: guard, opcode, qualifiers as written (without dots), operands."""

    predicate: Predicate | None
    opcode: str
    qualifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()

    @property
    def spelling(self) -> str:
        """Opcode and qualifiers as written: "ld.global.v2.f32"."""
        return ".".join((self.opcode, *self.qualifiers))


class Label(StatementNode):
    """`name:`; the directive it names, if any, is the next statement."""

    name: str


class Block(StatementNode):
    """A nested scope `{ ... }`."""

    statements: tuple[Statement, ...]


class BranchTargets(StatementNode):
    """`.branchtargets a, b;`, named by the label before it."""

    names: tuple[Name, ...]


class CallTargets(StatementNode):
    """`.calltargets f, g;`, named by the label before it."""

    names: tuple[Name, ...]


class PerformanceDirective(Node):
    """A directive between a function's parameters and its body: `.maxntid 128, 1, 1`."""

    name: str
    values: tuple[Operand, ...] = ()


class CallPrototype(StatementNode):
    """`.callprototype (returns) _ (params);`, named by the label before it."""

    returns: tuple[Declaration, ...] = ()
    params: tuple[Declaration, ...] = ()
    noreturn: bool = False
    directives: tuple[PerformanceDirective, ...] = ()


# --- declarations (PTX ISA 5) ---


class Attribute(Node):
    """One attribute of `.attribute(...)`: `.managed`, `.unified(1, 2)`."""

    name: str
    values: tuple[Operand, ...] = ()


class Pointer(Node):
    """`.ptr .global .align 16` of a kernel parameter; no space is "", no alignment is 0."""

    space: str = ""
    alignment: int = 0


class Declarator(Node):
    """One declared name: `%r<20>` has count 20, `a[4][]` dimensions (4, None). It starts where its name starts."""

    name: str
    count: int | None = None
    dimensions: tuple[int | None, ...] = ()
    initializer: Operand | None = None


class Declaration(StatementNode):
    """A declaration of variables or of a parameter: no linkage is "", no alignment 0, no vector 0, no type ""."""

    linkage: str
    space: str
    alignment: int
    vector: int
    type: str
    attributes: tuple[Attribute, ...]
    declarators: tuple[Declarator, ...]
    pointer: Pointer | None = None


class Alias(StatementNode):
    """`.alias name, target;`."""

    name: str
    target: str


class Function(StatementNode):
    """A kernel (`kind` "entry") or a device function ("func"); a prototype has no body."""

    linkage: str
    kind: str
    name: str
    returns: tuple[Declaration, ...] = ()
    params: tuple[Declaration, ...] = ()
    directives: tuple[PerformanceDirective, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    body: Block | None = None


# --- debugging directives (PTX ISA 11.5) and the rest ---


class Loc(StatementNode):
    """`.loc 1 12 3`, optionally `, function_name $L__info_string0+4, inlined_at 1 20 5`."""

    file: int
    line: int
    column: int
    function_name: str | None = None
    function_offset: int = 0
    inlined_at: tuple[int, int, int] | None = None


class LocIntermediate(StatementNode):
    """`.loc_intermediate 2 40 6`, after a `.loc`: the place in an intermediate language's file, with its index."""

    file: int
    line: int
    column: int


class File(StatementNode):
    """`.file 1 "kernel.cu", 1700000000, 4096`."""

    index: int
    name: str
    timestamp: int | None = None
    size: int | None = None


class Pragma(StatementNode):
    """`.pragma "nounroll";`."""

    strings: tuple[str, ...]


class Data(StatementNode):
    """A line of a section: `.b8 1, 2`, `.b64 $L__tmp1+4`; plain numbers are kept as integers."""

    type: str
    values: tuple[int | Operand, ...]


class Section(StatementNode):
    """`.section .debug_str { ... }`; the name keeps its dot."""

    name: str
    contents: tuple[Data | Label | Malformed, ...]


class Malformed(StatementNode):
    """Text that could not be read; a diagnostic at its place explains why."""

    text: str


Statement: TypeAlias = (
    Version
    | Target
    | AddressSize
    | Instruction
    | Label
    | Block
    | BranchTargets
    | CallTargets
    | CallPrototype
    | Declaration
    | Alias
    | Function
    | Loc
    | LocIntermediate
    | File
    | Pragma
    | Section
    | Malformed
)
