"""How to read the map of a fragment, in words: what it is of, what a place means, what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.fragments import Evidence
from ptxloom.isa.matrix import matrix_move
from ptxloom.isa.products import matrix_form
from ptxloom.views.fragments.folding import block_of, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.fragments import Fragment
    from ptxloom.isa.matrix import MatrixMove


_PART = "part of tensor memory"


def preface(fragment: Fragment) -> list[str]:
    """How to read the table, in a few sentences and what it rests on."""
    what = f"{counted(fragment)}, each" if fragment.matrices > 1 else f"One {_nouns(fragment)[0]},"
    example = fragment.at(5, min(1, fragment.values_per_lane - 1))
    value = fragment.value_of(example)
    held = f"{many(fragment.values_per_lane, 'value')} in {many(fragment.registers, 'register')}"
    place = f"as its value {value}, in its register {example.register}"
    who = "a lane" if fragment.lane_count == 32 else f"each of {fragment.lane_count} lanes"
    lines = [
        f"{what} {fragment.rows} rows x {fragment.columns} columns of {_element(fragment)}; {who} holds {held}.",
        f"{fragment.label(example)} reads: lane 5 holds this element, {place}.",
        f"Value V starts at bit {fragment.stride} * V of the lane's registers laid end to end.",
    ]
    return [*lines, *_meaning(fragment), *block_of(fragment).repeats, evidence(fragment)]


def counted(fragment: Fragment) -> str:
    """How many matrices a fragment has, or what it has instead of them.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> counted(fragment("m8n8.x1.b16")), counted(fragment("mma.sp.m16n8k16.row.col.f32.f16.f16.f32", "e"))
        ('1 matrix', '4 selectors')
    """
    return f"{fragment.matrices} {_nouns(fragment)[fragment.matrices > 1]}"


def _nouns(fragment: Fragment) -> tuple[str, str]:
    """What a matrix is called, and what several are."""
    if fragment.operand == "e":
        return "selector", "selectors"
    if _opcode(fragment) == "tcgen05":
        return "half" if fragment.matrices > 1 else _PART, "halves"
    return "matrix", "matrices"


def matrix_title(fragment: Fragment, matrix: int | str) -> str:
    """What a matrix is called, by its number or a formula for it."""
    one, _ = _nouns(fragment)
    return one if one == _PART else f"{one} {matrix}"


def _opcode(fragment: Fragment) -> str:
    return fragment.spelling.partition(".")[0]


def _meaning(fragment: Fragment) -> Iterator[str]:
    """What rows, columns and elements are where they are not simply those of a matrix."""
    if fragment.addressed:
        yield from _memory(matrix_move(fragment.spelling))
    if fragment.copies > 1:
        first = fragment.registers // fragment.copies
        yield f"A lane holds each element {fragment.copies} times: registers from R{first} on repeat those before."
    match _opcode(fragment):
        case "tcgen05":
            yield from _tensor_memory(fragment)
        case "wmma":
            yield "The manual leaves open who holds what; `.row` and `.col` say only how memory lies."
        case "wgmma":
            yield "B, and A where no registers are given, lie in shared memory; `ptxloom descriptor` draws how."
        case _:
            pass
    if fragment.operand == "e":
        yield from _metadata(fragment)


def _memory(move: MatrixMove) -> Iterator[str]:
    """What a row is in shared memory."""
    yield f"A row is {move.row_bytes} bytes of shared memory; the lane at its left passes the row's address."
    if move.source.bits != move.destination.bits:
        padding = f", and the row ends in {move.source.padding_bits} bits of padding" * bool(move.source.padding_bits)
        extended = "sign-extended" if move.source.signed else "with zeros above it"
        yield f"There an element takes {move.source.bits} bits{padding}; in its register it stands {extended}."


def _tensor_memory(fragment: Fragment) -> Iterator[str]:
    """What rows and columns are in tensor memory."""
    yield "Rows are lanes of tensor memory and columns its columns of 32 bits, counted from where the address points."
    if fragment.matrices > 1:
        yield "The columns of half 1 begin as many further as the operand after the address says."
    if fragment.width < fragment.register_bits:
        yield "Of each column it is the low half that is moved."
    yield "Warp w of a CTA reaches lanes 32 * (w % 4) to 32 * (w % 4) + 31 of tensor memory."


def _metadata(fragment: Fragment) -> Iterator[str]:
    """What a group of metadata says."""
    chunk = matrix_form(fragment.spelling).chunk
    stored = {
        2: "which one of them is stored: 0100 the first, 1110 the second",
        4: "which two of them are stored, the place of the lower one in its low two bits",
        8: "which two pairs of them are stored, the place of the lower one in its low two bits",
    }[chunk]
    yield f"The element in column c is about columns {chunk}c to {chunk}c + {chunk - 1} of A: {stored}."
    if fragment.matrices > 1:
        yield "A selector chooses the lanes whose registers are read; those of the others do not matter."


def evidence(fragment: Fragment) -> str:
    """What the map rests on, as a sentence."""
    confirmed = fragment.confirmed is Evidence.SILICON
    return f"{'Confirmed' if confirmed else 'Not run on silicon by us'}: {fragment.confirmed}."


def title(fragment: Fragment) -> str:
    """The instruction, and the operand where it has several."""
    return fragment.spelling if fragment.operand == "r" else f"{fragment.spelling}, operand {fragment.operand}"


def _element(fragment: Fragment) -> str:
    """How wide an element is, and what it stands in where that is wider."""
    if fragment.width == fragment.stride:
        return f"{fragment.width}-bit elements"
    return f"{fragment.width}-bit elements, each in {fragment.stride} bits of its register"
