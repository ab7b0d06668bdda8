"""Data movement between registers: `mov`, `cvta`, `isspacep` (PTX ISA 9.7.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.spaces import CLUSTER_SHIFT, QUALIFIERS, WINDOW_BYTES
from ptxloom.meaning.family import Family
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.meaning.types import Type
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_WINDOWS: Final = {word: space.window for word, space in QUALIFIERS.items() if space.window}


@family("mov", types="pred", lanewise=True)
def mov_predicate(b: Words[W], op: Op) -> None:
    """Copy a predicate."""
    b.write_mask(op.operands[0], b.read_mask(op.operands[1]))


@family("mov", when=lambda op: any(isinstance(o, tree.Vector) for o in op.operands), lanewise=True)
def mov_packed(b: Words[W], op: Op) -> None:
    """Pack elements into a register, or take it apart; element 0 is in the low bits."""
    target, source = op.operands
    if isinstance(source, tree.Vector):
        if isinstance(target, tree.Vector):
            b.write_all(target, tuple(_element(b, e, op.type.bits // len(source.elements)) for e in source.elements))
            return
        b.write(target, packed(b, source, op.type.bits))
        return
    assert isinstance(target, tree.Vector)
    part = op.type.bits // len(target.elements)
    whole = b.read(source, f"b{op.type.bits}")
    for n, element in enumerate(target.elements):
        shifted = b.apply("lshr", whole, b.constant(whole.type, n * part)) if n else whole
        b.write(element, b.resize(shifted, part))


def is_copy(op: Op) -> bool:
    """Whether an instruction only copies its operand to its register."""
    return op.opcode == "mov"


def packed(b: Words[W], source: tree.Vector, bits: int) -> W:
    """The packed elements of a vector expression, element 0 in the low bits."""
    part = bits // len(source.elements)
    total: W | None = None
    for n, element in enumerate(source.elements):
        wide = b.resize(_element(b, element, part), bits)
        shifted = b.apply("shl", wide, b.constant(wide.type, n * part)) if n else wide
        total = shifted if total is None else b.apply("or", total, shifted)
    assert total is not None
    return total


def _element(b: Words[W], operand: tree.Operand, bits: int) -> W:
    return b.read(operand, f"b{bits}")


@family("mov", lanewise=True)
def mov(b: Words[W], op: Op) -> None:
    """Copy a register, a literal, a special register or an address."""
    target, source = op.operands
    if b.elements_in(target) > 1:
        b.write_all(target, b.read_all(source, f"b{op.type.bits}"))
        return
    b.write(target, _value(b, source, op.type))


def _value(b: Words[W], operand: tree.Operand, type_: Type) -> W:
    """The value of an operand; for an element of an array, its address."""
    if isinstance(operand, tree.Indexed):
        return b.resize(b.address(operand), type_.bits)
    return b.read(operand, type_)


def _space(op: Op) -> str:
    return next((q for q in op.qualifiers if q in QUALIFIERS), "")


@family("cvta", lanewise=True)
def cvta(b: Words[W], op: Op) -> None:
    """Convert an address of a space to a generic one, or back."""
    target, source = op.operands
    at = _value(b, source, op.type)
    window = _WINDOWS.get(_space(op), 0)
    if window and op.type.bits == 64:
        if op.has("to"):
            at = b.apply("and", at, b.constant(at.type, WINDOW_BYTES - 1))
        else:
            at = b.apply("or", at, b.constant(at.type, window))
    b.write(target, at)


@family("isspacep")
def isspacep(b: Words[W], op: Op) -> None:
    """Whether a generic address is in a space's window."""
    target, source = op.operands
    at = b.read(source, "u64")
    space = _space(op)
    window = _WINDOWS.get(space)
    if window is None:
        inside = b.compare("ult", at, b.constant(at.type, _WINDOWS["shared"]))
        if space == "const":
            inside = b.compare("eq", at, b.constant(at.type, -1))
    else:
        low = b.apply("sub", at, b.constant(at.type, window))
        if space in {"shared", "shared::cta"}:
            low = b.within_cta(low)
        size = 1 << CLUSTER_SHIFT if space in {"shared", "shared::cta"} else WINDOW_BYTES
        inside = b.compare("ult", low, b.constant(at.type, size))
    b.write_mask(target, b.mask_of(inside))


@family(
    "cvt",
    when=lambda op: len(op.types) == 2 and all(t.kind in "su" for t in op.types) and not op.has("pack"),
    lanewise=True,
    converts=True,
)
def cvt_integer(b: Words[W], op: Op) -> None:
    """Truncate or extend an integer; `.sat` clamps to the target's range."""
    target_type, source_type = op.types
    value = b.read(op.operands[1], source_type)
    if op.has("sat"):
        value = _saturated(b, b.resize(value, 128, source_type.signed), target_type)
    b.write(op.operands[0], b.resize(value, target_type.bits, source_type.signed), target_type.signed)


def _saturated(b: Words[W], wide: W, type_: Type) -> W:
    bits = type_.bits - int(type_.signed)
    low = -(1 << bits) if type_.signed else 0
    above = b.intrinsic("llvm.smax", wide, b.constant(wide.type, low))
    return b.intrinsic("llvm.smin", above, b.constant(wide.type, (1 << bits) - 1))


@family("mapa")
def mapa(b: Words[W], op: Op) -> None:
    """The address of a shared variable in another CTA of the cluster."""
    target, source, rank = op.operands
    at = b.read(source, op.type)
    mapped = b.of_cta(at, b.resize(b.read(rank, "u32"), op.type.bits))
    generic = op.type.bits == 64 and not op.has("shared::cluster")
    b.write(target, b.apply("or", mapped, b.constant(at.type, _WINDOWS["shared"])) if generic else mapped)


@family("getctarank")
def getctarank(b: Words[W], op: Op) -> None:
    """The rank in its cluster of the CTA whose shared memory holds an address."""
    at = b.read(op.operands[1], op.type)
    named = b.apply("lshr", at, b.constant(at.type, CLUSTER_SHIFT))
    member = b.resize(b.apply("and", named, b.constant(at.type, 0xFF)), 32)
    if b.is_paired:
        b.write(op.operands[0], member)
        return
    own = b.compare("eq", member, b.constant(member.type, 0))
    rank = b.select(own, b.special("%cluster_ctarank"), b.apply("sub", member, b.constant(member.type, 1)))
    b.write(op.operands[0], rank)
