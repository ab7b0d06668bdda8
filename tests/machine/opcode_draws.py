"""The operands of input number n, as PTX: whoever runs it, machine or hardware, gets the same.

Operands of at most 32 bits together are enumerated, in an order in which the first inputs are spread over all. Wider
ones are hashes of n in a shape that the thread has: fractions that begin or end in zeros or ones, exponents near each
other or near that of 1, integers that are small, or near each other.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from machine.opcode_inputs import FLOATS, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator

THREADS: Final = 65536  # each has a shape of its own
MASKS: Final = ("keep", "share", "fill")  # bits that are the hash's; the first operand's; ones
_ODD: Final = 0x9E3779B1  # n times an odd number is a permutation of the lowest bits of n, however many
_KEYS: Final = (0x5851F42D, 0x14057B7E, 0x2545F491, 0x4F6CDD1D, 0x7C3A1B65, 0x3243F6A8, 0x0B4711C3, 0x6A09E667)


def bits_of(kind: str) -> int:
    """Bits of an operand that vary; a narrow integer has those of its register."""
    return {"pred": 1, "pred32": 1, "count": 8}.get(kind) or max(width_of(kind), 16)


def enumerated(sources: tuple[str, ...]) -> bool:
    """Whether every combination of operands is run."""
    return sum(map(bits_of, sources)) <= 32


def declarations(sources: tuple[str, ...]) -> str:
    """PTX: the registers of the operands, and those that making them takes."""
    operands = "".join(f" .reg .{register(kind)} {letter};" for letter, kind in _named(sources))
    shaped = "".join(
        f" .reg .{_shaped(kind)} hash{at}, " + ", ".join(f"{name}{at}" for name in MASKS) + ";"
        for at, kind in enumerate(sources)
    )
    return f".reg .b32 n, word, low, high, shared_b32; .reg .b64 weight, shared_b64;{operands}{shaped}\n"


def masks(sources: tuple[str, ...]) -> str:
    """PTX: the `MASKS` of thread `t`, whose offset is `at`, from arrays `shape0`, `shape1`, `shape2`."""
    return "" if enumerated(sources) else "".join(_masks(at, kind) for at, kind in enumerate(sources))


def _masks(at: int, kind: str) -> str:
    loads = (f"ld.global.{_shaped(kind)} {mask}{at}, [address+{8 * THREADS * row}];" for row, mask in enumerate(MASKS))
    return f"ld.param.u64 address, [shape{at}]; add.u64 address, address, at; {' '.join(loads)}\n"


def weight() -> str:
    """PTX: `weight` is an odd hash of `n`, 64 bits."""
    return _hash("weight", 6) + "or.b64 weight, weight, 1;\n"


def draws(sources: tuple[str, ...]) -> str:
    """PTX: the operands `a`, `b`, `c` of input number `n`."""
    if enumerated(sources):
        return f"mul.lo.u32 low, n, {_ODD};\n" + "".join(_fields(sources))
    first = _shaped(sources[0])
    return "".join(_hashed(at, letter, kind, first) for at, (letter, kind) in enumerate(_named(sources)))


def _named(sources: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    return zip("abc", sources, strict=False)


def register(kind: str) -> str:
    """The type of an operand's register."""
    return "pred" if kind == "pred" else "b32" if kind == "count" else f"b{max(width_of(kind), 16)}"


def _shaped(kind: str) -> str:
    """The type of the registers in which a hash gets its shape."""
    return "b64" if register(kind) == "b64" else "b32"


def _fields(sources: tuple[str, ...]) -> Iterator[str]:
    """Each operand is the next bits of `low`."""
    for letter, kind in _named(sources):
        bits = bits_of(kind)
        yield f"and.b32 word, low, {(1 << bits) - 1}; shr.u32 low, low, {bits}; "
        yield _operand(letter, kind, "word")


def _hashed(at: int, letter: str, kind: str, first: str) -> str:
    """A hash in the operand's shape; what it shares is the first operand's, if that is as wide."""
    own, keep, share, fill = (f"{name}{at}" for name in ("hash", *MASKS))
    t = _shaped(kind)
    text = _hash(own, 2 * at) if t == "b64" else _mix(own, _KEYS[2 * at])
    text += f"and.{t} {own}, {own}, {keep}; or.{t} {own}, {own}, {fill}; "
    if at and t == first:
        text += f"and.{t} shared_{t}, hash0, {share}; or.{t} {own}, {own}, shared_{t}; "
    return text + _operand(letter, kind, own)


def _hash(target: str, key: int) -> str:
    """PTX: 64 bits that are a hash of `n`, with two keys."""
    return _mix("low", _KEYS[key]) + _mix("high", _KEYS[key + 1]) + f"mov.b64 {target}, {{low, high}};\n"


def _mix(target: str, key: int) -> str:
    """PTX: a permutation of 32 bits, after C. Wellons's search for good ones."""
    return (
        f"xor.b32 {target}, n, {key}; shr.u32 word, {target}, 16; xor.b32 {target}, {target}, word; "
        f"mul.lo.u32 {target}, {target}, 0x21f0aaad; shr.u32 word, {target}, 15; xor.b32 {target}, {target}, word; "
        f"mul.lo.u32 {target}, {target}, 0x735a2d97; shr.u32 word, {target}, 15; xor.b32 {target}, {target}, word;\n"
    )


def _operand(letter: str, kind: str, word: str) -> str:
    """PTX: the operand from the register that its hash has got its shape in."""
    name = register(kind)
    if name == "pred":
        return f"setp.ne.b32 {letter}, {word}, 0;\n"
    return f"cvt.u16.u32 {letter}, {word};\n" if name == "b16" else f"mov.{name} {letter}, {word};\n"


# --------------------------------------------------------------------------------------------------------------- shapes


@cache
def shapes(kind: str, position: int) -> np.ndarray:
    """The `MASKS` of operand number `position`, by thread: (3, THREADS) uint64."""
    rng = np.random.default_rng(zlib.crc32(f"shape {kind}/{position}".encode()))
    row = rng.integers(0, 1 << 64, THREADS, dtype=np.uint64)
    element = kind.removesuffix("x2")
    if element not in FLOATS:
        return _integers(row, bits_of(kind), position)
    masks = _floats(row, *FLOATS[element], position)
    return masks | masks << np.uint64(16) if kind.endswith("x2") else masks


def _below(row: np.ndarray, bit: int, count: int) -> np.ndarray:
    """Numbers below `count`, from 16 bits of each row."""
    return (row >> np.uint64(bit) & np.uint64(0xFFFF)) % np.uint64(count)


def _floats(row: np.ndarray, exponent_bits: int, fraction_bits: int, position: int) -> np.ndarray:
    """Half of the fractions begin or end in zeros or ones; of the exponent, the highest bits may be given.

    They are then the first operand's, or those of 1.
    """
    every = np.uint64((1 << 1 + exponent_bits + fraction_bits) - 1)
    fraction = np.uint64((1 << fraction_bits) - 1)
    exponent, one = (np.uint64((1 << bits) - 1 << fraction_bits) for bits in (exponent_bits, exponent_bits - 1))
    end = fraction >> _below(row, 16, fraction_bits + 1)
    alike = np.where(row & np.uint64(1), end, fraction & ~end)
    alike = np.where(row & np.uint64(2), alike, np.uint64(0))
    ones = np.where(row & np.uint64(4), alike, np.uint64(0))
    given = exponent << _below(row, 32, exponent_bits + 1) & exponent
    choice = _below(row, 48, 4)  # the exponent is free; free; the first operand's; that of 1
    share = np.where((choice == 2) & (position > 0), given, np.uint64(0))
    near_one = np.where(choice == 3, given, np.uint64(0))
    return np.stack((every & ~alike & ~share & ~near_one, share, ones | near_one & one))


def _integers(row: np.ndarray, bits: int, position: int) -> np.ndarray:
    """Any; small; negative and small; near the first operand, which then ends in zeros."""
    every = np.uint64((1 << bits) - 1)
    choice, zeros = _below(row, 48, 4), _below(row, 16, bits)
    small = every >> zeros
    keep = np.where(choice == 0, every, small)
    if position == 0:
        keep = np.where(choice == 3, every << zeros & every, keep)
    share = np.where((choice == 3) & (position > 0), every & ~small, np.uint64(0))
    return np.stack((keep, share, np.where(choice == 2, every & ~small, np.uint64(0))))
