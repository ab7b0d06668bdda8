"""The inputs of a case: a pure function of suite version, path and case number, the same on every machine.

Every word is a hash of these (SplitMix64), so that a case can be made alone. Operands are drawn in styles: random bits;
zeros, infinities, NaN with payloads, subnormals and extremes; values near one, or spread; few significant bits, which
make ties; integers that are small, extreme, or powers of two. Half of the cases give all operands one style.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.isa.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ptxloom.conformance.operands import Operand
    from ptxloom.conformance.paths import Path
    from ptxloom.isa.types import ElementType

    Words = NDArray[np.uint64]

SUITE: Final = 1
"""The version of the suite: it changes when any input does."""

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
STYLES: Final = 16
"""The number of styles."""
_DRAWS: Final = 1 << 12  # the most words per thread


def words(path: str, threads: Words, draw: int) -> Words:
    """Word number `draw` of each of these threads: `(threads,)` hashes of 64 bits."""
    seed = int.from_bytes(blake2b(f"{SUITE} {path}".encode(), digest_size=8).digest(), "little")
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + (threads * np.uint64(_DRAWS) + np.uint64(draw)) * _GOLDEN
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def registers(path: Path, first: int, count: int) -> list[Words]:
    """The input registers of threads `first` to `first + count`, each `(count,)`: those of each drawn operand in turn.

    Followed by the carry, if the path reads it: one register of 0 or 1.
    """
    threads = np.arange(first, first + count, dtype=np.uint64)
    made = _Draws(path, threads)
    found = [one for operand in path.operands if operand.role == "drawn" for one in made.operand(operand)]
    if path.reads_carry:
        found.append(made.word() & np.uint64(1))
    return found


def cells(path: Path, type_: ElementType, first: int, count: int) -> Words:
    """The contents of these threads' cells, elements of a type: `(count, 4)` words of 64 bits."""
    threads = np.arange(first, first + count, dtype=np.uint64)
    made = _Draws(path, threads, _DRAWS // 2)
    bits = type_.bits if type_.count > 1 else type_.storage_bits
    rows = [made.packed(type_, (64, min(max(bits, 8), 64), 0)) for _ in range(4)]
    return np.stack(rows, axis=1)


class _Draws:
    """The words of threads, one after the other, and values made of them."""

    def __init__(self, path: Path, threads: Words, start: int = 0) -> None:
        self.path, self.threads, self.next = path, threads, start
        cases = threads // np.uint64(path.lanes)
        choice = words(path.name, cases, _DRAWS - 1)
        self.common = choice % np.uint64(STYLES)
        self.alike = (choice >> np.uint64(32)) % np.uint64(2) == 0
        self.cases = cases
        self.anchor = words(path.name, cases, _DRAWS - 2)

    def word(self) -> Words:
        """The next word of each thread."""
        self.next += 1
        return words(self.path.name, self.threads, self.next - 1)

    def operand(self, operand: Operand) -> Iterator[Words]:
        """The registers of an operand."""
        if operand.name == "e" and self.path.form.filling.get("sparse"):
            yield _metadata(self.path, self.word())
            return
        style = self.style()
        for _ in range(operand.registers):
            if operand.register_bits == 1:
                yield self.word() & np.uint64(1)
            else:
                places = operand.register_bits, operand.container_bits, operand.shift
                yield self.packed(operand.type, places, style)

    def style(self) -> Words:
        """The style of the next operand, per case."""
        self.next += 1
        own = words(self.path.name, self.cases, self.next - 1) % np.uint64(STYLES)
        return np.where(self.alike, self.common, own)

    def packed(self, type_: ElementType, places: tuple[int, int, int], style: Words | None = None) -> Words:
        """A register full of elements; `places`: its bits, a container's, an element's offset there."""
        style = self.style() if style is None else style
        bits, container, shift = places
        result = np.zeros(len(self.threads), np.uint64)
        for at in range(max(1, bits // container)):
            value = self.element(type_, container, style)
            result |= (value << np.uint64(shift)) << np.uint64(at * container)
        return result if bits == 64 else result & np.uint64((1 << bits) - 1)

    def element(self, type_: ElementType, container: int, style: Words) -> Words:
        """One element for each thread."""
        if (split := parts_of_float(type_)) is not None:
            return float_words((self.word(), style, self.anchor), *split)
        return integer_words(self.word(), style, self.anchor, container)


def parts_of_float(type_: ElementType) -> tuple[int, int, bool] | None:
    """The bits of a float's exponent and fraction, and whether it has a sign; None if the type is not a float."""
    if type_.kind is not Kind.FLOAT:
        return None
    name = type_.name.partition("x")[0]
    form = FLOAT_FORMATS.get("f32" if name == "tf32" else name)  # the bits below a tf32 are drawn, too
    return None if form is None else (form.exponent, form.fraction, form.signed)


def float_words(drawn: tuple[Words, Words, Words], exponent_bits: int, fraction_bits: int, signed: bool) -> Words:
    """Floats by style, from each thread's word, style, and its case's word, which brings values near each other."""
    word, style, anchor = drawn
    u = np.uint64
    top, bias = (1 << exponent_bits) - 1, (1 << exponent_bits - 1) - 1
    every = u((1 << exponent_bits + fraction_bits + signed) - 1)
    sign = (word >> u(63)) << u(exponent_bits + fraction_bits) if signed else np.zeros_like(word)
    fraction = word & u((1 << fraction_bits) - 1)
    free = (word >> u(53)) & u(0x3FF)
    few = fraction & ~u((1 << max(fraction_bits - 3, 0)) - 1)
    span = min(14, max(bias // 2, 1))
    near = _clip(u(bias) + free % u(7), 3, top)
    spread = _clip(u(bias) + free % u(2 * span + 1), span, top)
    shared = _clip(u(1) + anchor % u(max(top - 2, 1)) + free % u(3), 1, top)
    tiny, huge = np.minimum(free % u(4), u(top)), u(top) - np.minimum(free % u(3), u(top))
    special = _specials(exponent_bits, fraction_bits)[free % u(12)]

    def made(exponent: Words, part: Words) -> Words:
        return sign | (exponent << u(fraction_bits)) | part

    rows = (
        *(((0, 1, 2, 3), word & every), ((4, 5), made(near, fraction)), ((6, 7), made(spread, fraction))),
        *(((8,), made(shared, fraction)), ((9,), made(tiny, fraction)), ((10,), made(huge, fraction))),
        *(((11, 12), made(near, few)), ((13,), made(spread, few)), ((14, 15), sign | special)),
    )
    return _chosen(style, rows)


def _clip(exponent: Words, less: int, top: int) -> Words:
    """An exponent less a number, from 0 to that of the largest finite value."""
    return np.clip(exponent.astype(np.int64) - less, 0, max(top - 1, 0)).astype(np.uint64)


def _specials(exponent_bits: int, fraction_bits: int) -> Words:
    """Zeros, the least and largest subnormals, the least and largest normal numbers, infinity, NaNs."""
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    least, quiet = 1 << fraction_bits, 1 << max(fraction_bits - 1, 0)
    mask = (1 << exponent_bits + fraction_bits) - 1
    one = ((1 << exponent_bits - 1) - 1) << fraction_bits
    found = (0, 0, 1, least - 1, least, infinity - 1, infinity, infinity, infinity | 1, infinity | quiet, mask, one)
    return np.array([each & mask for each in found], np.uint64)


def integer_words(word: Words, style: Words, anchor: Words, bits: int) -> Words:
    """Integers by style, likewise."""
    u = np.uint64
    every = u((1 << bits) - 1)
    small = word >> u(60)
    power = u(1) << ((word >> u(40)) % u(bits))
    extremes = np.array([0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << bits) - 2], np.uint64)
    with np.errstate(over="ignore"):
        rows = (
            *(((0, 1, 2, 3, 4), word), ((5, 6), small), ((7,), ~small), ((8,), power)),
            *(((9,), power - u(1)), ((10, 11), word >> (word % u(64))), ((12, 13), anchor + small)),
            ((14, 15), extremes[(word >> u(32)) % u(len(extremes))]),
        )
    return _chosen(style, rows) & every


def _chosen(style: Words, rows: tuple[tuple[tuple[int, ...], Words], ...]) -> Words:
    order = np.empty(STYLES, np.int64)
    for at, (styles, _) in enumerate(rows):
        order[list(styles)] = at
    return np.choose(order[style.astype(np.int64)], [values for _, values in rows])


def _metadata(path: Path, word: Words) -> Words:
    """The kept elements of a sparse row: a legal choice per group, in 4 bits (PTX ISA 9.7.14.6.1)."""
    if path.form.filling.get("atype") == "tf32":
        choices = [0b0100, 0b1110]
    else:
        ordered = path.form.filling["sparse"] != "sp"
        choices = [a | b << 2 for a in range(4) for b in range(4) if (a < b if ordered else a != b)]
    table = np.array(choices, np.uint64)
    result = np.zeros_like(word)
    for at in range(8):
        result |= table[(word >> np.uint64(7 * at)) % np.uint64(len(choices))] << np.uint64(4 * at)
    return result
