"""The descriptor that reads the right elements, computed from their places in shared memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.matrix import GENERATIONS, MatrixDescriptor
from ptxloom.descriptors.operand import CHUNK_BITS
from ptxloom.descriptors.swizzling import CHUNK_BYTES, swizzle_mode
from ptxloom.diagnosis.described.held import MAJORS, addresses, plain_addresses, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ptxloom.descriptors.swizzling import SwizzleMode
    from ptxloom.diagnosis.origins.tiles import Integers

_HALF_BITS: Final = 16  # of elements that may be contiguous along M or N
_OFFSET_LIMIT: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a descriptor, or the major-ness of its instruction, that is wrong.

    Attributes:
        name: "start", "leading", "stride", "base", "swizzle" or "major".
        held: What it is.
        wanted: What it should be.
    """

    name: str
    held: int | str
    wanted: int | str


@dataclass(frozen=True, slots=True)
class Solved:
    """A descriptor that reads the right elements.

    Attributes:
        descriptor: It.
        wrong: The fields in which the used one differs from it.
    """

    descriptor: MatrixDescriptor
    wrong: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The elements that should be read, and those that are.

    Attributes:
        offset: (bytes,) the element that begins at each address.
        rows: (rows,) which rows of the operand are known, in ascending order.
        element_bits: The width of an element.
        used: The descriptor that is used.
        major: The major-ness in the instruction.
        wanted: The offsets that should be read, (rows, columns), from the element (row, column) at the descriptor's
            start, if no other operand decides them; None if there are none.
    """

    offset: Integers
    rows: Integers
    element_bits: int
    used: MatrixDescriptor
    major: str
    wanted: Callable[[int], Integers | None]


def solved(asked: Question) -> tuple[Solved, ...]:
    """The descriptors with the fewest changed fields that read the right elements; empty if none does."""
    found = list(_all(asked))
    fewest = min((len(one.wrong) for one in found), default=0)
    return tuple(one for one in found if len(one.wrong) == fewest)


def _all(asked: Question) -> Iterator[Solved]:
    majors = MAJORS if asked.element_bits == _HALF_BITS else (asked.major,)
    codes = GENERATIONS[asked.used.generation].codes
    for swizzle in codes:
        mode = swizzle_mode(swizzle)
        if mode.atom_bytes != CHUNK_BYTES:
            continue
        for base in dict.fromkeys((asked.used.base_offset, 0)):
            first = asked.used.start_address
            at = int(read(asked.offset, np.array([mode(first, base)]))[0])
            wanted = asked.wanted(at)
            if wanted is None:
                continue
            places = _places(asked.offset, wanted, first)
            if places is None:
                continue
            for major in majors:
                one = _solve(asked, replace(asked.used, swizzle=swizzle, base_offset=base), major, places)
                if one is not None and (read(asked.offset, _addresses(asked, one, major, wanted)) == wanted).all():
                    yield Solved(one, tuple(_differences(asked, one, major)))


def _addresses(asked: Question, one: MatrixDescriptor, major: str, wanted: Integers) -> Integers:
    return addresses(one, major, asked.element_bits, asked.rows, wanted.shape[1])


def _places(offset: Integers, wanted: Integers, near: int) -> Integers | None:
    """The place of each wanted element: of several places the nearest; None if one has no place."""
    known = np.flatnonzero(offset >= 0)
    distance = np.abs(known - near)
    order = np.lexsort((distance, offset[known]))
    values = offset[known][order]
    at = np.searchsorted(values, wanted)
    if not len(values) or (at >= len(values)).any() or (values[np.minimum(at, len(values) - 1)] != wanted).any():
        return None
    return known[order][at]


def _solve(asked: Question, one: MatrixDescriptor, major: str, places: Integers) -> MatrixDescriptor | None:
    """A mode's start address and offsets, from the elements' places; None if no descriptor can express them."""
    mode = one.mode
    plain = np.asarray(mode(places, one.base_offset), np.int64)
    rows, columns = asked.rows, plain.shape[1]
    per_chunk = CHUNK_BITS // asked.element_bits
    pitch, group = per_chunk * mode.chunks, mode.pattern_rows
    down, right = (group, pitch) if major == "k" else (pitch, group)
    by_row = _step(plain[:, 0], rows, down)
    inner = mode.span_bytes if major == "k" else asked.element_bits // 8
    first = int(rows[0])
    start = int(plain[0, 0]) - (first // down * (by_row or 0) + first % down * inner)
    by_column = _step(plain[0], np.arange(columns, dtype=np.int64), right)
    stride, leading = (by_row, by_column) if major == "k" else (by_column, by_row)
    if major == "mn" and mode.chunks == 1:
        leading, stride = stride, leading
    fields = {"start_address": start, "leading_byte_offset": leading, "stride_byte_offset": stride}
    said = {name: value for name, value in fields.items() if value is not None}
    if any(value % CHUNK_BYTES or not 0 <= value < _OFFSET_LIMIT for value in said.values()):
        return None
    return replace(one, **said)


def _step(along: Integers, lines: Integers, group: int) -> int | None:
    """The distance from one group of lines to the next; None if there is only one."""
    at = np.flatnonzero(lines == lines[0] + group)
    return int(along[at[0]] - along[0]) if len(at) else None


def _differences(asked: Question, one: MatrixDescriptor, major: str) -> Iterator[Field]:
    used = asked.used
    for name, field in (
        ("start", "start_address"),
        ("leading", "leading_byte_offset"),
        ("stride", "stride_byte_offset"),
        ("base", "base_offset"),
        ("swizzle", "swizzle"),
    ):
        held, wanted = getattr(used, field), getattr(one, field)
        if held != wanted:
            yield Field(name, held, wanted)
    if major != asked.major:
        yield Field("major", asked.major, major)


def swizzled_by_writer(asked: Question) -> tuple[str, ...]:
    """The writer's swizzles, other than the descriptor's, with which the descriptor would read the right elements."""
    found: list[str] = []
    for name in GENERATIONS[asked.used.generation].codes:
        other = swizzle_mode(name)
        if other.atom_bytes != CHUNK_BYTES or name == asked.used.swizzle:
            continue
        if any(_reads(asked, other, pitch) for pitch in {asked.used.mode.span_bytes, other.span_bytes}):
            found.append(name)
    return tuple(found)


def _reads(asked: Question, other: SwizzleMode, pitch: int) -> bool:
    """Whether the descriptor would read the right elements if the writer, with rows of `pitch` bytes, swizzled so."""
    span, start = asked.used.mode.span_bytes, asked.used.start_address
    tile = start // span * span

    def there(plain: Integers) -> Integers:
        line, inside = np.divmod(plain - tile, span)
        return np.asarray(other(tile + line * pitch + inside), np.int64)

    wanted = asked.wanted(int(read(asked.offset, there(np.array([start])))[0]))
    if wanted is None:
        return False
    plain = plain_addresses(asked.used, asked.major, asked.element_bits, asked.rows, wanted.shape[1])
    return bool((read(asked.offset, there(plain)) == wanted).all())
