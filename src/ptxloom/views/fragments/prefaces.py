"""The preface of a fragment's map: its subject, the meaning of a place, and the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.descriptors.tensor_instruction import tensor_instruction
from ptxloom.fragments import Axis, Evidence
from ptxloom.fragments.tensor_operands import layout_of
from ptxloom.isa.matrix import matrix_move
from ptxloom.isa.products import matrix_form
from ptxloom.isa.tensor_products import PUBLISHED
from ptxloom.views.fragments.folding import block_of, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.fragments import Fragment
    from ptxloom.isa.matrix import MatrixMove
    from ptxloom.isa.products import MatrixForm


_PART: Final = "part of tensor memory"
_SOURCE: Final = "part of shared memory"
_ALONE: Final = (_PART, _SOURCE, "A", "D")
_SCALES: Final = ("sfa", "sfb")
_AXES: Final = {
    "a": ("m", "k"),
    "b": ("k", "n"),
    "c": ("m", "n"),
    "d": ("m", "n"),
    "e": ("row", "group"),
    "sfa": ("m", "block"),
    "sfb": ("n", "block"),
}
_MEMORY_AXES: Final = ("lane of tensor memory", "column of tensor memory")


def preface(fragment: Fragment) -> list[str]:
    """A few sentences on how to read the table, and its evidence."""
    what = f"{counted(fragment)}, each" if fragment.matrices > 1 else f"One {_nouns(fragment)[0]},"
    if fragment.in_tensor_memory:
        if fragment.operand in ("a", "d"):
            what = f"{fragment.operand.upper()}:"
        extent = f"{what} {fragment.rows} rows x {fragment.columns} columns of {_element(fragment)}."
        return [extent, *_in_tensor_memory(fragment), *block_of(fragment).repeats, evidence(fragment)]
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
    """The nouns for one matrix, and for several."""
    if fragment.operand in _SCALES:
        return (_PART, "parts") if _has_two_words(fragment) else ("scale factor id", "scale factor ids")
    if fragment.in_tensor_memory and fragment.operand == "r":
        return "CTA" if fragment.matrices > 1 else _PART if is_shift(fragment) else _SOURCE, "CTAs"
    if fragment.in_tensor_memory and fragment.operand != "e":
        return f"{fragment.operand.upper()}", "matrices"
    if fragment.operand == "e":
        return "selector", "selectors"
    if _opcode(fragment) == "tcgen05":
        return "half" if fragment.matrices > 1 else _PART, "halves"
    return "matrix", "matrices"


def matrix_title(fragment: Fragment, matrix: int | str) -> str:
    """The name of a matrix, from its number or a formula for it."""
    one, _ = _nouns(fragment)
    return (
        one
        if fragment.matrices == 1 and one in _ALONE
        else f"{one} {id_of(fragment, matrix) if isinstance(matrix, int) else matrix}"
    )


def id_of(fragment: Fragment, matrix: int) -> int:
    """The number by which a matrix is known: a scale factor id counts bytes, where several scales belong together."""
    return matrix * fragment.columns if fragment.operand in _SCALES else matrix


def is_shift(fragment: Fragment) -> bool:
    """Whether an instruction moves rows within tensor memory."""
    return fragment.in_tensor_memory and ".shift." in fragment.spelling


def axis_names(fragment: Fragment) -> tuple[str, str]:
    """The nouns for rows and columns."""
    if fragment.operand == "r":
        if fragment.in_tensor_memory:
            return ("row", "word" if fragment.stride == fragment.register_bits else "element")
        return _MEMORY_AXES if fragment.spelling.startswith("tcgen05") else ("row", "column")
    down, across = _AXES.get(fragment.operand, ("row", "column"))
    return down, "byte" if _has_two_words(fragment) else across


def _has_two_words(fragment: Fragment) -> bool:
    """Whether a row's scales can be in two words: if K is 96."""
    return fragment.operand in _SCALES and tensor_instruction(fragment.spelling).told.k_96


def _opcode(fragment: Fragment) -> str:
    return fragment.spelling.partition(".")[0]


def _meaning(fragment: Fragment) -> Iterator[str]:
    """Sentences on rows, columns and elements that are not simply those of a matrix."""
    if fragment.addressed:
        yield from _memory(matrix_move(fragment.spelling))
    if fragment.copies > 1:
        first = fragment.registers // fragment.copies
        yield f"A lane holds each element {fragment.copies} times: registers from R{first} on repeat those before."
    match _opcode(fragment):
        case "tcgen05":
            yield from _tensor_memory(fragment)
        case "wmma":
            yield (
                "The manual does not define which lane holds what; `.row` and `.col` only describe the layout in "
                "memory."
            )
        case "wgmma":
            yield "B, and A without registers, are in shared memory; `ptxloom descriptor` draws how."
        case _:
            pass
    if fragment.operand == "e":
        yield from _metadata(fragment)


def _in_tensor_memory(fragment: Fragment) -> Iterator[str]:
    """Sentences on how to read a map of tensor memory."""
    example = fragment.at(1, min(1, fragment.values_per_lane - 1)) if fragment.reaches(1) else fragment.at(32, 1)
    part = f", its bits {example.bit + fragment.width - 1} to {example.bit}" * (fragment.stride < 32)
    yield (
        f"{fragment.label(example)} reads: lane {example.lane} of tensor memory, "
        f"column {example.register} from where the address points{part}."
    )
    if is_shift(fragment):
        yield "So it is before: each row goes to the lane of the row before it. Row 0 is gone, row 31 stays."
        yield "`tcgen05.cp.4x256b` brings a new row 31, to an address of lane 31."
        if fragment.matrices > 1:
            yield "Each CTA of the pair moves its own."
    elif fragment.operand == "r":
        yield "Rows are those of the matrix descriptor in shared memory; `ptxloom descriptor` draws their places."
        if fragment.matrices > 1:
            yield "Each CTA of the pair copies from its own shared memory to its own tensor memory."
    else:
        yield from _of_product(fragment)
    if fragment.copies > 1:
        yield f"Each element is there {fragment.copies} times; the table names the first place, the picture all."
    if any(digit.axis is Axis.ADDRESS for digit in fragment.lanes):
        yield "An address with another lane moves all of it by that many lanes, into lanes that are free here."
    yield "Warp w of a CTA reaches lanes 32 * (w % 4) to 32 * (w % 4) + 31 with `tcgen05.ld` and `tcgen05.st`."


def _of_product(fragment: Fragment) -> Iterator[str]:
    """Sentences on an operand of a product."""
    one = tensor_instruction(fragment.spelling)
    match fragment.operand:
        case "d":
            layout = layout_of(one)
            yield (
                f"M = {layout.m} {'in a pair of CTAs' if layout.ctas == 2 else 'in one CTA'}"
                f"{' with `.ws`' * one.product.ws} is layout {layout.name} of PTX ISA 9.7.16.10.5."
            )
            if fragment.width < fragment.register_bits:
                yield "An element takes the low half of its column."
        case "e":
            yield from _metadata_of(one.form)
        case "sfa" | "sfb":
            yield (
                f"A row has {one.form.scales} scale{'s' * (one.form.scales > 1)} for the K of one instruction; "
                "the scale factor id in the instruction descriptor selects the first byte."
            )
            if one.told.k_96:
                yield "Of K = 96 they can run on into the next four bytes: a column here is a byte of both words."
        case _:
            yield (
                "A is laid out like this if its operand is an address of tensor memory; else `ptxloom descriptor` "
                "draws it."
            )
    yield f"M, N and types are not part of the spelling but of the instruction descriptor, here {one.told}."


def _memory(move: MatrixMove) -> Iterator[str]:
    """Sentences on a row in shared memory."""
    yield f"A row is {move.row_bytes} bytes of shared memory; the lane at its left passes the row's address."
    if move.source.bits != move.destination.bits:
        padding = f", and the row ends in {move.source.padding_bits} bits of padding" * bool(move.source.padding_bits)
        extended = "sign-extended" if move.source.signed else "with zeros above it"
        yield f"There an element takes {move.source.bits} bits{padding}; in its register it stands {extended}."


def _tensor_memory(fragment: Fragment) -> Iterator[str]:
    """Sentences on rows and columns in tensor memory."""
    yield "Rows are lanes of tensor memory and columns its columns of 32 bits, counted from where the address points."
    if fragment.matrices > 1:
        yield "The columns of half 1 begin further by the operand after the address."
    if fragment.width < fragment.register_bits:
        yield "Of each column it is the low half that is moved."
    yield "Warp w of a CTA reaches lanes 32 * (w % 4) to 32 * (w % 4) + 31 of tensor memory."


def _metadata(fragment: Fragment) -> Iterator[str]:
    """The meaning of a group of metadata."""
    yield from _metadata_of(matrix_form(fragment.spelling))
    if fragment.matrices > 1:
        yield "A selector chooses the lanes whose registers are read; those of the others do not matter."


def _metadata_of(form: MatrixForm) -> Iterator[str]:
    """The meaning of a group of metadata, for its chunk."""
    chunk = form.chunk
    stored = {
        2: "which one of them is stored: 0100 the first, 1110 the second",
        4: "which two of them are stored, the place of the lower one in its low two bits",
        8: "which two pairs of them are stored, the place of the lower one in its low two bits",
    }[chunk]
    yield f"The element in column c is about columns {chunk}c to {chunk}c + {chunk - 1} of A: {stored}."


def evidence(fragment: Fragment) -> str:
    """The evidence for the map, as a sentence."""
    confirmed = fragment.confirmed is Evidence.SILICON
    found = f"{'Confirmed' if confirmed else 'Not run on silicon by us'}: {fragment.confirmed}."
    sums = fragment.in_tensor_memory and fragment.operand == "d"
    if sums and tensor_instruction(fragment.spelling).product.is_published:
        found += f" The sums in it are {PUBLISHED}."
    return found


def title(fragment: Fragment) -> str:
    """The instruction, and the operand where it has several."""
    return fragment.spelling if fragment.operand == "r" else f"{fragment.spelling}, operand {fragment.operand}"


def _element(fragment: Fragment) -> str:
    """The width of an element, and of its container if that is wider."""
    if fragment.width == fragment.stride:
        return f"{fragment.width}-bit elements"
    return f"{fragment.width}-bit elements, each in {fragment.stride} bits of its register"
