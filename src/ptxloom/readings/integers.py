"""The integer words: functions of the bits of numbers and their width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


def mask(bits: int) -> int:
    """The bits below a width."""
    return (1 << bits) - 1


def signed(value: int, bits: int) -> int:
    """The number that bits represent in two's complement."""
    return value - (value >> bits - 1 << bits)


def divided(name: str, a: int, b: int, bits: int) -> int:
    """The quotient toward zero, or the remainder, of the bits of two numbers; by zero all ones."""
    if b == 0:
        return -1
    if name[0] == "s":
        a, b = signed(a, bits), signed(b, bits)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if name.endswith("div") else a - quotient * b


def looked_up(table: int, x: int, y: int, z: int, bits: int) -> int:
    """Bitwise, entry 4x + 2y + z of a table."""
    sides = [(one, ~one & mask(bits)) for one in (x, y, z)]
    found = 0
    for place in range(8):
        if table >> place & 1:
            found |= sides[0][not place & 4] & sides[1][not place & 2] & sides[2][not place & 1]
    return found


def digits(code: int, mode: str) -> tuple[int, ...]:
    """The index of each of four bytes among eight, plus 8 for its sign (PTX ISA 9.7.9.7)."""
    return tuple(_MODES[mode](code & 3, at) if mode else code >> 4 * at & 15 for at in range(4))


_MODES: Final[dict[str, Callable[[int, int], int]]] = {
    "f4e": lambda n, at: n + at,
    "b4e": lambda n, at: n - at & 7,
    "rc8": lambda n, _: n,
    "ecl": max,
    "ecr": min,
    "rc16": lambda n, at: 2 * (n & 1) + (at & 1),
}


def permuted(eight: int, chosen: tuple[int, ...]) -> int:
    """Four bytes of eight."""
    found = 0
    for n, digit in enumerate(chosen):
        byte = eight >> 8 * (digit & 7) & 255
        found |= (255 * (byte >> 7) if digit & 8 else byte) << 8 * n
    return found


def _clamped(value: int, bits: int) -> int:
    return max(-(1 << bits - 1), min(value, (1 << bits - 1) - 1))


OPERATIONS: Final[dict[str, Callable[[int, int, int], int]]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "xor": lambda a, b, _: a ^ b,
    "shl": lambda a, b, bits: a << b if b < bits else 0,
    "lshr": lambda a, b, bits: a >> b if b < bits else 0,
    "ashr": lambda a, b, bits: signed(a, bits) >> min(b, bits),
}
COMPARISONS: Final[dict[str, Callable[[int, int], bool]]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
FUNCTIONS: Final[dict[str, Callable[[int, int, int], int]]] = {
    "llvm.umin": lambda a, b, _: min(a, b),
    "llvm.umax": lambda a, b, _: max(a, b),
    "llvm.smin": lambda a, b, bits: min(signed(a, bits), signed(b, bits)),
    "llvm.smax": lambda a, b, bits: max(signed(a, bits), signed(b, bits)),
    "llvm.sadd.sat": lambda a, b, bits: _clamped(signed(a, bits) + signed(b, bits), bits),
    "llvm.ssub.sat": lambda a, b, bits: _clamped(signed(a, bits) - signed(b, bits), bits),
    "llvm.usub.sat": lambda a, b, _: max(a - b, 0),
    "llvm.abs": lambda a, _, bits: abs(signed(a, bits)),
    "llvm.ctpop": lambda a, _b, _: a.bit_count(),
    "llvm.ctlz": lambda a, _, bits: bits - a.bit_length(),
    "llvm.bitreverse": lambda a, _, bits: int(f"{a:0{bits}b}"[::-1], 2),
}
