"""The tags of results where an instruction exchanges, shifts or masks the bits of registers.

Each rule returns whether it knew the form; results of other forms are computed from what they read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.runtime.provenance import bit_tags, register_heads, register_tags
from ptxloom.readings.computed import truth
from ptxloom.readings.terms import words
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.instruments.tag_places import TagPlace, TagPlaces
    from ptxloom.machine.program.model import Op

_AHEAD: int = 64  # bits that native code counts before the first
_NONE = (0, 0)
_MASK: int = 1 << 31  # beside what a number of bits is masked with


class _By(NamedTuple):
    """The distance of a shift.

    Attributes:
        amount: The operand with the amount.
        start: The bit that comes first for an amount of 0.
        most: The largest amount; with `_MASK`, the mask of the amount.
        back: Whether it shifts back from `start`.
    """

    amount: tree.Operand
    start: int
    most: int
    back: bool


def permute(f: TagPlaces, b: Builder, op: Op) -> bool:
    """`prmt`: bytes are chosen from two registers."""
    if len(op.qualifiers) != 1:
        return False
    target, first, second, selector = op.operands
    sources = _held(f, op, (first, second))
    into = f.into(op, (target,), _some(sources), in_place=True)
    if into[0] is not None:
        b.store(b.read(selector, "b32"), b.scratch(scratch.VALUES), 64)
        facts = (into[0].place, *_facts(sources), b.scratch(scratch.VALUES))
        b.runtime(bit_tags.permute_tags, W, op.site, b.active_mask, *facts)
    f.settle(b, op, (target,), into)
    return True


def shift(f: TagPlaces, b: Builder, op: Op) -> bool:
    """`shl`, `shr`."""
    return _shifted(f, b, op, (op.operands[1],), _By(op.operands[2], 0, op.type.bits, _goes_up(op)))


def funnel(f: TagPlaces, b: Builder, op: Op) -> bool:
    """`shf`: two registers as one, shifted."""
    left = not op.has("r")
    by = _By(op.operands[3], 32 if left else 0, _MASK | 31 if op.has("wrap") else 32, left)
    return _shifted(f, b, op, op.operands[1:3], by)


def extract(f: TagPlaces, b: Builder, op: Op) -> bool:
    """`bfe` of a constant field: shifted down, and masked."""
    position, length = (b.literal(operand) for operand in op.operands[2:])
    if position is None or length is None:
        return False
    _shifted(f, b, op, op.operands[1:2], _By(tree.Integer(position & 255), 0, op.type.bits, back=False))
    held = f.held(op, op.operands[0])
    if held is not None:
        kept = (1 << min(length & 255, op.type.bits)) - 1
        b.runtime(bit_tags.mask_tags, W, op.site, b.active_mask, *held, *held, kept, kept)
    return True


def insert(f: TagPlaces, b: Builder, op: Op) -> bool:
    """`bfi` of a constant field of whole bytes."""
    position, length = (b.literal(operand) for operand in op.operands[3:])
    if position is None or length is None or position % 8 or length % 8 or position + length > op.type.bits:
        return False
    target, first, base = op.operands[:3]
    sources = _held(f, op, (first, base))
    into = f.into(op, (target,), _some(sources))
    if into[0] is not None:
        f.copy(b, op, into[0], sources[1], b.active_mask)
        at, count = position // 8, length // 8
        if sources[0] is not None:
            facts = (*into[0], at, *sources[0], 0, count)
            b.runtime(register_tags.move_tags, W, op.site, b.active_mask, *facts)
        else:
            b.runtime(register_heads.clear_tags, W, b.active_mask, *into[0], at, count)
    f.settle(b, op, (target,), into)
    return True


def logic(f: TagPlaces, b: Builder, op: Op) -> bool:
    """`and`, `or`, `xor`, `not`, `lop3`: with constants a mask; of several registers, byte by byte."""
    if op.has("pred"):
        return True
    target = op.operands[0].first if isinstance(op.operands[0], tree.Pair) else op.operands[0]
    found = truth(op.node)
    if found is None:
        return False
    places, table = found
    operands = [op.operands[place] for place in places]
    sources = _held(f, op, operands)
    into = f.into(op, (target,), _some(sources), in_place=True)
    if into[0] is None:
        return True
    masks = _masks(b, op, table, operands, sources)
    only = [source for source in sources if source is not None]
    if masks is not None:
        b.runtime(bit_tags.mask_tags, W, op.site, b.active_mask, *into[0], *only[0], *masks)
    else:
        facts = _facts((*sources, None, None, None)[:3])
        b.runtime(bit_tags.join_tags, W, op.site, b.active_mask, *into[0], *facts)
    f.settle(b, op, (target,), into)
    return True


def _masks(
    b: Builder, op: Op, table: int, operands: Sequence[tree.Operand], sources: Sequence[TagPlace | None]
) -> tuple[int, int] | None:
    """Which bits of the single source register decide the result's, and which are copied; else None."""
    if sum(source is not None for source in sources) != 1:
        return None
    width = op.type.bits
    fixed = [0 if source is not None else b.literal(operand) for operand, source in zip(operands, sources, strict=True)]
    place = next(n for n, source in enumerate(sources) if source is not None)
    kept = same = 0
    for bit in range(width):
        index = 0
        for number, value in enumerate(fixed):
            if value is None:
                return None
            index |= (value >> bit & 1) << len(fixed) - 1 - number
        low, high = (table >> (index | n << len(fixed) - 1 - place) & 1 for n in (0, 1))
        kept |= (low != high) << bit
        same |= (high > low) << bit
    return kept, same


def _goes_up(op: Op) -> bool:
    """Whether bits go to higher places."""
    return op.has("l") or words(op.node).isdisjoint(("lshr", "ashr"))


def _shifted(f: TagPlaces, b: Builder, op: Op, operands: Sequence[tree.Operand], by: _By) -> bool:
    """The result takes consecutive bits of adjacent registers, from a first one on."""
    target = op.operands[0]
    sources = _held(f, op, operands)
    into = f.into(op, (target,), _some(sources), in_place=True)
    if into[0] is not None:
        b.store(b.read(by.amount, "b32"), b.scratch(scratch.VALUES), 64)
        facts = (*into[0], *_facts((*sources, None)[:2]), _AHEAD + by.start, by.most, int(_goes_up(op)), int(by.back))
        b.runtime(bit_tags.shift_tags, W, op.site, b.active_mask, *facts, b.scratch(scratch.VALUES))
    f.settle(b, op, (target,), into)
    return True


def _held(f: TagPlaces, op: Op, operands: Sequence[tree.Operand]) -> list[TagPlace | None]:
    return [f.held(op, operand) for operand in operands]


def _some(sources: Sequence[TagPlace | None]) -> list[TagPlace]:
    return [source for source in sources if source is not None]


def _facts(sources: Sequence[TagPlace | None]) -> tuple[int, ...]:
    """Places and sizes for native code; a size of 0 for a missing source."""
    return tuple(fact for source in sources for fact in (source or _NONE))
