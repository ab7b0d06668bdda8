"""The registers and the memory of every program of the fuzzer, and their places in a thread's frame.

A thread's frame holds the initial contents of its registers and cells, and receives the final ones. Registers for
floats and for integers are separate banks: bits move between them only by `mov`, as in compilers' code. A cell is 32
bytes of memory private to a thread.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.conformance.operands import Operand

BLOCK: Final = 128
"""Threads of a CTA."""
FRAME_BYTES: Final = 224
"""The bytes of a thread's registers and cells in `in` and in `out`."""
CELL_BYTES: Final = 32
EXCHANGE: Final = BLOCK * CELL_BYTES
"""The place after the cells in shared memory where threads exchange words: 32 bytes per thread."""
OBJECTS: Final = 2 * BLOCK * CELL_BYTES
"""The addresses of counters and mbarriers in shared memory."""
SHARED_BYTES: Final = OBJECTS + 256


@dataclass(frozen=True, slots=True)
class Bank:
    """Registers of one type.

    Attributes:
        letter: Its registers are `%w0`, `%w1`, ... for the letter w.
        bits: The width of a register; 1 for a predicate.
        count: The number of registers.
        offset: The place of the first in a frame; the others follow. Predicates take 32 bits each.
        style: The kind of its inputs: a type's name.
    """

    letter: str
    bits: int
    count: int
    offset: int
    style: str

    def __iter__(self) -> Iterator[str]:
        return (f"%{self.letter}{at}" for at in range(self.count))

    @property
    def kind(self) -> str:
        """The type of its registers' declaration."""
        return "pred" if self.bits == 1 else f"b{self.bits}"

    @property
    def frame_bits(self) -> int:
        """The bits of a register in a frame."""
        return max(self.bits, 16) if self.bits > 1 else 32


BANKS: Final = {
    bank.letter: bank
    for bank in (
        Bank("w", 32, 4, 0, "u32"),
        Bank("x", 32, 4, 16, "f16x2"),
        Bank("f", 32, 4, 32, "f32"),
        Bank("d", 64, 2, 48, "u64"),
        Bank("e", 64, 2, 64, "f64"),
        Bank("h", 16, 4, 80, "u16"),
        Bank("k", 16, 4, 88, "f16"),
        Bank("p", 1, 4, 96, "u32"),
    )
}
CELLS: Final = {"ag": 128, "as": 160, "al": 192}
"""The places of a thread's cells in its frame, by the register with their address: global, shared, local memory."""
GENERIC: Final = {"gg": "ag", "gs": "as"}
"""Registers with generic addresses of the same cells."""

_NAMES: Final = re.compile(r"%([wxfdehkp])\d\b|%(ag|as|al|gg|gs|zw)\b")


def bank_of(operand: Operand) -> Bank | None:
    """The bank of an operand's registers; None for those of 8 bits."""
    floats = operand.type.kind is Kind.FLOAT
    scalar = floats and operand.type.count == 1 and operand.container_bits == operand.register_bits
    match operand.register_bits:
        case 1:
            return BANKS["p"]
        case 16:
            return BANKS["k" if scalar else "h"]
        case 32:
            return BANKS["f" if operand.type.name == "f32" else "x" if floats else "w"]
        case 64:
            return BANKS["e" if floats else "d"]
        case _:
            return None


def named_in(text: str) -> set[str]:
    """The banks' letters, and the registers with addresses of cells, used in a text."""
    found = {one[0] or one[1] for one in _NAMES.findall(text)}
    if "zw" in found:
        found = found - {"zw"} | {"as"}
    return found | {GENERIC[one] for one in found if one in GENERIC}


def cells_in(text: str) -> set[str]:
    """The registers with addresses that a text mentions: functions have none."""
    return named_in(text) - set(BANKS)
