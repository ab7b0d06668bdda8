"""Extended-precision arithmetic: sums and products that set and use the carry flag CC.CF (PTX ISA 9.7.2).

A difference is computed as a + ~b + CC.CF, so the flag is 0 on a borrow; `sub.cc` followed by `addc`, which the
manual leaves undefined, shows it on an H200.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.family import Family

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_WORDS: Final = "s32 u32 s64 u64"


def _sets_carry(op: Op) -> bool:
    return op.has("cc")


def _carry_in(b: Words[W], op: Op, like: W) -> W | None:
    """The carry-in of `addc`, `subc` and `madc`, 0 or 1 in each lane; None for other opcodes."""
    if op.opcode not in {"addc", "subc", "madc"}:
        return None
    return b.convert("zext", b.lanes(b.carry()), like.element)


def _sum(b: Words[W], x: W, y: W, carry: W | None) -> tuple[W, W]:
    """X + y + carry, and the lanes in which it overflows."""
    total = b.apply("add", x, y)
    over = b.compare("ult", total, x)
    if carry is None:
        return total, over
    more = b.apply("add", total, carry)
    return more, b.apply("or", over, b.compare("ult", more, total))


def _difference(b: Words[W], x: W, y: W, carry: W | None) -> tuple[W, W]:
    """X - y, less 1 where the carry is 0, and the lanes without a borrow."""
    rest = b.apply("sub", x, y)
    enough = b.compare("uge", x, y)
    if carry is None:
        return rest, enough
    borrow = b.apply("xor", carry, b.constant(carry.type, 1))
    less = b.apply("sub", rest, borrow)
    return less, b.apply("and", enough, b.compare("uge", rest, borrow))


@family("add", "sub", types=_WORDS, when=_sets_carry)
@family("addc", "subc", types=_WORDS)
def add_sub(b: Words[W], op: Op) -> None:
    """D = a ± b ± carry; `.cc` sets the carry."""
    target, left, right = op.operands
    x, y = b.read(left, op.type), b.read(right, op.type)
    compute = _sum if op.opcode.startswith("add") else _difference
    result, carry = compute(b, x, y, _carry_in(b, op, x))
    if op.has("cc"):
        b.set_carry(b.mask_of(carry))
    b.write(target, result)


@family("mad", types=_WORDS, when=_sets_carry)
@family("madc", types=_WORDS)
def mad(b: Words[W], op: Op) -> None:
    """D = half of a * b, + c + carry; `.cc` sets the carry."""
    target, left, right, addend = op.operands
    x, y, z = (b.read(o, op.type) for o in (left, right, addend))
    if op.has("lo"):
        half = b.apply("mul", x, y)
    else:
        bits = op.type.bits
        product = b.apply("mul", *(b.resize(v, 2 * bits, op.type.signed) for v in (x, y)))
        half = b.resize(b.apply("lshr", product, b.constant(product.type, bits)), bits)
    result, carry = _sum(b, half, z, _carry_in(b, op, x))
    if op.has("cc"):
        b.set_carry(b.mask_of(carry))
    b.write(target, result)
