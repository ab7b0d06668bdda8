"""The words in which rows define meanings: the operations on values that every reader provides.

A row is a function of a reader and an instruction. One reader emits LLVM IR (`machine.codegen`), another
computes with plain numbers (`readings.interpreter`); each is a class with a method per word. Types are LLVM's
(`meaning.vectors`); a value has one element per lane, two for packed types; masks are `i32` with bit l for lane l.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.meaning.types import Type
    from ptxloom.syntax import tree


class Word(Protocol):
    """A value as rows see it: nothing but its type."""

    @property
    def type(self) -> str:
        """Such as `i32`, `<32 x i32>`, `<64 x half>`."""
        ...

    @property
    def element(self) -> str:
        """The type of one element."""
        ...

    @property
    def bits(self) -> int:
        """The width of one element."""
        ...


W = TypeVar("W", bound=Word)


class Op(Protocol):
    """An instruction as rows see it; `machine.program.model.Op` describes each member."""

    @property
    def opcode(self) -> str:
        """Such as `ld`."""
        ...

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """Without dots."""
        ...

    @property
    def operands(self) -> tuple[tree.Operand, ...]:
        """As written: destinations first."""
        ...

    @property
    def types(self) -> tuple[Type, ...]:
        """Its type qualifiers, in order."""
        ...

    @property
    def type(self) -> Type:
        """The last of them."""
        ...

    def has(self, *qualifiers: str) -> bool:
        """Whether it has any of these qualifiers."""
        ...

    def one_of(self, qualifiers: Iterable[str], default: str = "") -> str:
        """The first of its qualifiers that is among these."""
        ...

    def unsupported(self, why: str = ...) -> Exception:
        """The exception for a form that a row does not support."""
        ...


class Arithmetic(Protocol[W]):
    """Operations on values alone."""

    def constant(self, type_: str, value: object) -> W:
        """A number in every element; floats as LLVM spells them (`"1.0"`, `"0xFFF8000000000000"`)."""
        ...

    def apply(self, name: str, *operands: W) -> W:
        """An instruction of LLVM whose result has its operands' type: add, lshr, fmul, ..."""
        ...

    def compare(self, predicate: str, left: W, right: W) -> W:
        """`i1` elements: slt, eq, olt, uno, ..."""
        ...

    def select(self, condition: W, then: W, otherwise: W) -> W:
        """Element by element: `then` where the condition holds."""
        ...

    def convert(self, name: str, value: W, scalar: str) -> W:
        """Elements of another type: sitofp, fptrunc, fpext, ..."""
        ...

    def bitcast(self, value: W, type_: str) -> W:
        """The same bits as another type."""
        ...

    def resize(self, value: W, bits: int, signed: bool = False) -> W:
        """Integers truncated, or extended by zeros or by their sign."""
        ...

    def shuffle(self, first: W, indices: Sequence[int], second: W | None = None) -> W:
        """Elements of two values in a fixed order."""
        ...

    def intrinsic(self, name: str, *operands: W, result: str | None = None, overload: str | None = None) -> W:
        """A function of LLVM: llvm.umin, llvm.fma, llvm.ctpop, ..."""
        ...


class Words(Arithmetic[W], Protocol[W]):
    """All words: for instructions whose results depend only on their operands."""

    def divide(self, name: str, left: W, right: W) -> W:
        """`sdiv`, `udiv`, `srem` or `urem` of any integers; by zero all ones, the most negative by -1 wraps."""
        ...

    def lookup(self, table: int, first: W, second: W, third: W) -> W:
        """A bitwise function of three operands: entry 4a + 2b + c of a table of eight bits."""
        ...

    def permute(self, first: W, second: W, selector: W | int, mode: str) -> W:
        """Four bytes of eight, by a digit per byte (bit 3: its sign), or by a mode of `prmt` and a number."""
        ...

    @property
    def width(self) -> int:
        """The lanes of a value."""
        ...

    def vector(self, scalar: str) -> str:
        """The type with one scalar per lane."""
        ...

    # -- operands and results

    def read(self, operand: tree.Operand, type_: Type | str) -> W:
        """The value of an operand."""
        ...

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[W, ...]:
        """The elements of a vector expression or a vector register; a plain operand is the only one."""
        ...

    def read_mask(self, operand: tree.Operand) -> W:
        """A predicate, a bit per lane."""
        ...

    def literal(self, operand: tree.Operand) -> int | None:
        """The integer that an operand is known to be in every lane; None if it is not known."""
        ...

    def elements_in(self, operand: tree.Operand) -> int:
        """The number of elements of an operand's register; 1 if it is not a vector register."""
        ...

    def address(self, operand: tree.Operand) -> W:
        """The address of an element of an array, 64 bits."""
        ...

    def special(self, name: str) -> W:
        """The value of a special register."""
        ...

    def write(self, operand: tree.Operand, value: W, signed: bool = False) -> None:
        """Write a result; in a wider register it is extended by zeros, or by its sign."""
        ...

    def write_all(self, operand: tree.Operand, values: tuple[W, ...], signed: bool = False) -> None:
        """Write the elements of a vector expression or a vector register."""
        ...

    def write_mask(self, operand: tree.Operand, mask: W) -> None:
        """Write a predicate."""
        ...

    # -- lanes and masks

    def lanes(self, mask: W) -> W:
        """A mask as `i1` elements."""
        ...

    def mask_of(self, lanes: W) -> W:
        """`i1` elements as a mask."""
        ...

    # -- the carry flag

    def carry(self) -> W:
        """CC.CF, a bit per lane."""
        ...

    def set_carry(self, mask: W) -> None:
        """Set CC.CF."""
        ...

    # -- floating point beyond LLVM's instructions

    def rounded(self, name: str, direction: str, *operands: W) -> W:
        """`fadd`, `fsub`, `fmul`, `fdiv`, `fma` or `sqrt`, rounded once: rn, rz, rm, rp."""
        ...

    def fixed_point(self, name: str, value: W, bits: int) -> W:
        """Floats as integers of a width, clamped to it: `fptosi` or `fptoui`; NaN yields 0."""
        ...

    def approximated(self, name: str, bits: W) -> W:
        """A function of the multi-function unit, on the bits of f32."""
        ...

    # -- dependent on the program and its target

    @property
    def is_paired(self) -> bool:
        """Whether the program is for pairs of CTAs: shared addresses carry the rank of their CTA in the cluster."""
        ...

    def within_cta(self, addresses: W) -> W:
        """Shared addresses with 0 in the rank's bits for the executing CTA, and 1 more than the rank for others."""
        ...

    def of_cta(self, addresses: W, rank: W) -> W:
        """Shared addresses of the executing CTA mapped to the same places in the CTA with a rank in the cluster."""
        ...

    @property
    def architecture(self) -> int:
        """The target's number, such as 90."""
        ...
