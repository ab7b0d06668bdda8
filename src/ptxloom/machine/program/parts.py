"""The bytes of a vector that a load or store moves, which may not be all (PTX ISA 9.7.9.8, 9.7.9.12, 12).

An element `_` is skipped, and `.pragma "used_bytes_mask 0xff0f";` selects the bytes of the next load that are used. No
other byte is accessed: it may be outside every array, unwritten, or being written by others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.touches import touches
from ptxloom.meaning.origins import ORIGINS, Origin
from ptxloom.readings.effects import moves_matrix, stores
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.program.model import Op

_MASK: Final = re.compile(r"\s*used_bytes_mask\s+(0[xX][0-9a-fA-F]+|[1-9][0-9]*)\s*")
LOADS: Final = frozenset(opcode for opcode, origin in ORIGINS.items() if origin is Origin.MEMORY)


def is_store(op: Op) -> bool:
    """Whether an instruction stores registers, each lane at its own address."""
    at = touches(op.node)
    plain = bool(op.types) and [touch.base for touch in at] == ["address"]
    return plain and stores(op.node) and not moves_matrix(op.node)


class Part(NamedTuple):
    """Bytes that are moved together: a power of two, naturally aligned."""

    at: int
    bytes: int


def used_bytes(strings: tuple[str, ...]) -> int:
    """The bytes that the next load uses by the strings of a `.pragma`, as a mask; -1 if they do not select any."""
    found = next((match for match in map(_MASK.fullmatch, strings) if match), None)
    return int(found[1], 0) if found else -1


def parts_of(op: Op) -> int:
    """The number of elements that a lane moves: `.v2`, `.v4`, `.v8`."""
    return int(op.one_of(("v2", "v4", "v8"), "v1")[1:])


def is_whole(op: Op) -> bool:
    """Whether a load or store moves all of its bytes."""
    return moved_mask(op) == (1 << _bytes(op)) - 1


def moved(op: Op) -> tuple[Part, ...]:
    """The bytes that a load or store moves, in ascending order."""
    return tuple(_parts(moved_mask(op)))


def _bytes(op: Op) -> int:
    return op.type.bits // 8 * parts_of(op)


def moved_mask(op: Op) -> int:
    """The bytes that a load or store moves, as a mask."""
    size = op.type.bits // 8
    mask = op.used & (1 << _bytes(op)) - 1
    for number, element in enumerate(_elements(op)):
        if is_sink(element):
            mask &= ~((1 << size) - 1 << number * size)
    return mask


def copied_bytes(op: Op) -> int:
    """The bytes that a lane of a `cp.async` copies by its text; 16 if that is not a number."""
    size = op.operands[2] if len(op.operands) > 2 else None
    return size.value if isinstance(size, tree.Integer) else 16


def _parts(mask: int) -> Iterator[Part]:
    """The bits of a mask, in the largest possible pieces."""
    while mask:
        at = (mask & -mask).bit_length() - 1
        size = 1
        while at % (2 * size) == 0 and _has(mask, at, 2 * size):
            size *= 2
        yield Part(at, size)
        mask &= ~((1 << size) - 1 << at)


def _has(mask: int, at: int, size: int) -> bool:
    wanted = (1 << size) - 1 << at
    return mask & wanted == wanted


def _elements(op: Op) -> tuple[tree.Operand, ...]:
    """The elements of the loaded or stored vector, if it is one."""
    at = 0 if op.opcode in LOADS else 1
    match op.operands[at : at + 1]:
        case (tree.Vector(elements=elements),):
            return elements
        case _:
            return ()


def is_sink(operand: tree.Operand) -> bool:
    """Whether an operand is `_`."""
    return isinstance(operand, tree.Name) and operand.text == "_"
