"""Literals as operands of instructions (PTX ISA 4.5)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.meaning.types import Type


def literal_bits(operand: tree.Float | tree.Integer, type_: Type) -> int:
    """A literal as the bits of a type; floating-point ones are converted to it."""
    if isinstance(operand, tree.Integer):
        number = operand.value
    elif type_.llvm == "float" and operand.width == 64:
        number = int.from_bytes(_packed("<f", operand.value), "little")
    elif type_.llvm == "double" and operand.width == 32:
        number = int.from_bytes(_packed("<d", operand.value), "little")
    else:
        number = operand.bits
    return number & (1 << type_.bits) - 1


def _packed(form: str, value: float) -> bytes:
    try:
        return struct.pack(form, value)
    except OverflowError:
        return struct.pack(form, float("inf") if value > 0 else float("-inf"))
