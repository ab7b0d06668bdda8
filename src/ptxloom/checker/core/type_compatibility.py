"""Which registers and constants fit an instruction type: the tables of PTX ISA 9.4 as ptxas applies them."""

from __future__ import annotations

from functools import lru_cache

from ptxloom.isa.types import ElementType, Kind, element_type, is_type

_INTEGERS = (Kind.BITS, Kind.UNSIGNED, Kind.SIGNED)
_PLAIN_FLOATS = ("f16", "f32", "f64", "f16x2")
_WORD = 32  # bits


@lru_cache(maxsize=4096)
def register_fits(register: str, wanted: str, wider: bool = False, fixed: bool = False) -> bool:
    """Whether a register may hold an operand.

    Args:
        register: The type that it is declared with.
        wanted: The type that the instruction requires of the operand.
        wider: Whether the register may be wider than the operand (PTX ISA 9.4.1).
        fixed: Whether the manual fixes the type, not the instruction: then packed halves are not an integer.

    Example:
        >>> register_fits("b32", "f32"), register_fits("u32", "f32"), register_fits("s64", "u8", wider=True)
        (True, False, True)
    """
    if not is_type(register) or not is_type(wanted):
        return False
    have, need = element_type(register), element_type(wanted)
    if Kind.PREDICATE in (have.kind, need.kind):
        return have.kind is need.kind
    bits = need.register_bits
    if have.storage_bits != bits and not (wider and have.storage_bits > bits):
        return False
    return _kinds_agree(have, need, fixed=fixed)


def _kinds_agree(have: ElementType, need: ElementType, *, fixed: bool) -> bool:
    if have.kind is Kind.BITS:
        return True
    if need.count > 1 or need.kind is Kind.FLOAT:
        halves = need.count > 1 and need.bits == _WORD // 2 and need.name != "bf16x2"
        return (have.name == need.name and need.name in _PLAIN_FLOATS) or (halves and have.name == "f16x2")
    if have.kind in _INTEGERS:
        return True
    if have.name == "f16x2":  # for ptxas it is no more than 32 bits
        return not fixed
    return need.kind is Kind.BITS and not fixed


@lru_cache(maxsize=4096)
def constant_fits(constant: str, wanted: str, fixed: bool = False) -> bool:
    """Whether a constant may stand for an operand.

    Args:
        constant: "" for an integer; "f32" for the bits of a single, "f64" for other floating-point constants.
        wanted: The type that the instruction requires of the operand.
        fixed: Whether the manual fixes the type, not the instruction.

    Example:
        >>> constant_fits("", "u32"), constant_fits("", "f32"), constant_fits("f64", "f32"), constant_fits("f32", "b32")
        (True, False, True, True)
    """
    if not is_type(wanted):
        return False
    need = element_type(wanted)
    if need.count > 1:
        return False
    if need.kind is Kind.FLOAT:
        return bool(constant) and need.name in {"f32", "f64"}
    if not constant:
        return True
    return not fixed and need.kind is Kind.BITS and need.storage_bits == int(constant[1:])


def value_fits(value: int, wanted: str) -> bool:
    """Whether an integer keeps its value in a type that takes integers, read as signed or as unsigned."""
    need = element_type(wanted)
    return need.kind not in _INTEGERS or -(1 << (need.bits - 1)) <= value < 1 << need.bits
