"""The rules by opcode that initcheck had before poison was read from rows: kept as a law, rows are never coarser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ptxloom.machine.program.model import Op

Lanes = tuple[int, ...]

_MOVES: Final = {
    "mov": (1,), "cvta": (1,), "selp": (1, 2), "prmt": (1, 2), "shl": (1,), "shr": (1,), "shf": (1, 2),
    "bfe": (1,), "bfi": (1, 2), "brev": (1,),
}  # fmt: skip
_LOGIC: Final = frozenset(("and", "or", "xor", "not", "lop3"))


def moved_operands(op: Op) -> tuple[int, ...]:
    """The operands whose bits an instruction only moves."""
    if op.opcode == "cvt":
        whole = len(op.types) == 2 and all(t.kind in "su" for t in op.types) and not op.has("sat", "pack")
        return (1,) if whole else ()
    return _MOVES.get(op.opcode, ())


def hand_poison(
    op: Op,
    values: Mapping[str, Lanes],
    poison: Mapping[str, Lanes],
    bits: int,
    run: Callable[[Mapping[str, Lanes]], Lanes],
) -> Lanes:
    """The poison of the one result, `bits` wide (1: a predicate); `run` is the instruction on other values."""
    read = [[node.text for node in walk(one) if isinstance(node, tree.Name)] for one in op.operands[1:]]
    sources = [name for names in read for name in names if name in poison]
    moved = moved_operands(op)
    if moved:
        data = {name for at in moved for name in read[at - 1]}
        found = run({**values, **{name: poison[name] for name in data if name in poison}})
        return _overwhelmed(found, [poison[name] for name in sources if name not in data], bits)
    if op.opcode in _LOGIC:
        return _logic(op, values, poison, read)
    if op.opcode == "setp" and len(op.operands) > 3:
        return _joined(op, values, poison, read)
    return _spread(op, [poison[name] for name in sources], bits)


def _logic(op: Op, values: Mapping[str, Lanes], poison: Mapping[str, Lanes], read: list[list[str]]) -> Lanes:
    taken = read[:3] if op.opcode == "lop3" else read
    taints = [poison[names[0]] if names else (0,) * LANES for names in taken]
    total = [0] * LANES
    for lane in range(LANES):
        for taint in taints:
            total[lane] |= taint[lane]
        for names, taint in zip(taken, taints, strict=True) if op.opcode in {"and", "or"} else ():
            value = values[names[0]][lane]
            total[lane] &= (~value if op.opcode == "or" else value) | taint[lane]
    return tuple(total)


def _joined(op: Op, values: Mapping[str, Lanes], poison: Mapping[str, Lanes], read: list[list[str]]) -> Lanes:
    *compared, joined = (names[0] if names else "" for names in read[:3])
    found: list[int] = []
    for lane in range(LANES):
        taint = any(poison[name][lane] for name in compared if name)
        theirs = poison[joined][lane]
        total = int(taint) | theirs
        if op.has("and", "or"):
            value = values[joined][lane]
            total &= ((1 - value) if op.has("or") else value) | theirs
        found.append(total)
    return tuple(found)


def _spread(op: Op, taints: list[Lanes], bits: int) -> Lanes:
    whole = (1 << bits) - 1
    packed = max((type_.packed for type_ in op.types), default=1)
    found: list[int] = []
    for lane in range(LANES):
        total = 0
        for taint in taints:
            total |= taint[lane]
        if bits > 1 and packed > 1:
            part = (1 << bits // packed) - 1
            total = sum(part << at for at in range(0, bits, bits // packed) if total >> at & part)
        elif bits > 1 and op.opcode in {"add", "sub"} and op.type.kind in "su" and not op.has("cc", "sat"):
            total = (total | -total) & whole
        else:
            total = whole if total else 0
        found.append(total)
    return tuple(found)


def _overwhelmed(found: Lanes, steering: list[Lanes], bits: int) -> Lanes:
    whole = (1 << bits) - 1
    return tuple(whole if any(taint[lane] for taint in steering) else one for lane, one in enumerate(found))
