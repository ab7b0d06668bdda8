"""What is poison of the result of an instruction, by what is poison of the registers that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.native.ir import Value, vector
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.program.symbols import Register

#: What only moves bits: which operands these are; the others say where to. It computes poison as it computes values.
_MOVES: Final = {
    "mov": (1,), "cvta": (1,), "selp": (1, 2), "prmt": (1, 2), "shl": (1,), "shr": (1,), "shf": (1, 2),
    "bfe": (1,), "bfi": (1, 2), "brev": (1,), "shfl": (1,), "movmatrix": (1,),
}  # fmt: skip
_SUMS: Final = frozenset(("add", "sub"))  # what is poison makes poison of the bits above

NONE: Final = Value("i32", "0")


def poisoned_lanes(b: Builder, registers: Iterable[Register]) -> Value:
    """The lanes in which any of some registers is poison."""
    total = NONE
    for register in {r.poison: r for r in registers}.values():
        place = b.poison_place(register)
        if register.type.kind == "p":
            lanes = b.load("i32", place, 4)
        else:
            held = b.load(vector(f"i{register.type.bits}"), place, 64)
            lanes = b.mask_of(b.compare("ne", held, b.constant(held.type, 0)))
        total = lanes if total is NONE else b.apply("or", total, lanes)
    return total


def open_bits(b: Builder, value: Value, taint: Value) -> Value:
    """Where an operand of `and` (`or`) leaves the result to the other one: where it is 1 (0), or poison."""
    if b.op.opcode == "or" or b.op.has("or"):
        value = b.apply("xor", value, b.constant(value.type, -1))
    return b.apply("or", value, taint)


def moved_operands(op: Op) -> tuple[int, ...]:
    """The operands whose bits an instruction only moves."""
    if op.opcode == "cvt":
        whole = len(op.types) == 2 and all(t.kind in "su" for t in op.types) and not op.has("sat", "pack")
        return (1,) if whole else ()
    return _MOVES.get(op.opcode, ())


def spread(b: Builder, values: list[Register], result: Register) -> Value:
    """A result that depends on all of its operands: of packed types, element by element; of sums, upwards."""
    op = b.op
    lanes = poisoned_lanes(b, values)
    if result.type.kind == "p":
        return lanes
    alike = all(value.type.bits == result.type.bits for value in values)
    packed = max((type_.packed for type_ in op.types), default=1)
    if alike and (packed > 1 or (op.opcode in _SUMS and op.type.kind in "su" and not op.has("cc", "sat"))):
        return _united(b, values, result, packed)
    chosen = b.constant(vector(f"i{result.type.bits}"), 0)
    return b.select(b.lanes(lanes), b.constant(chosen.type, -1), chosen)


def _united(b: Builder, values: list[Register], result: Register, packed: int) -> Value:
    bits = result.type.bits
    total = b.constant(vector(f"i{bits}"), 0)
    for value in values:
        total = b.apply("or", total, b.load(total.type, b.poison_place(value), 64))
    if packed == 1:
        return b.apply("or", total, b.apply("sub", b.constant(total.type, 0), total))
    elements = b.bitcast(total, vector(f"i{bits // packed}", LANES * packed))
    some = b.compare("ne", elements, b.constant(elements.type, 0))
    return b.bitcast(b.convert("sext", some, f"i{bits // packed}"), total.type)


def in_addresses(op: Op) -> frozenset[int]:
    """The names that stand in addresses, by identity."""
    kinds = (tree.Address, tree.Indexed)
    return frozenset(id(node) for operand in op.operands if isinstance(operand, kinds) for node in walk(operand))
