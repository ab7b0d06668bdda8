"""Remarks on a descriptor or a box: impossible and surprising settings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.box import COPY_ALIGNMENT, INNER_BYTES
from ptxloom.descriptors.encoding import encode_again
from ptxloom.descriptors.matrix import GENERATIONS
from ptxloom.descriptors.pixels import outside_corners
from ptxloom.descriptors.swizzling import CHUNK_BYTES, LINE_BITS
from ptxloom.descriptors.tensor_types import PADDED_ELEMENTS
from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import SHARED_BYTES
from ptxloom.isa.products import matrix_forms
from ptxloom.isa.tensor_products import TensorProduct, refusal
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.descriptors.box import Box
    from ptxloom.descriptors.instruction import InstructionDescriptor
    from ptxloom.descriptors.matrix import MatrixDescriptor
    from ptxloom.descriptors.operand import SharedOperand
    from ptxloom.descriptors.tensor_map import TensorMap

_WINDOW_BYTES: Final = SHARED_BYTES + 1024
"""Shared addresses of a CTA end here; the first 1,024 bytes are the system's."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a descriptor, a map or a copy.

    Attributes:
        name: Kebab-case.
        wrong: Whether it must be a mistake.
        text: The remark, a sentence without its full stop.
        advice: What to do.
    """

    name: str
    wrong: bool
    text: str
    advice: str


def of_operand(operand: SharedOperand) -> tuple[Remark, ...]:
    """Remarks on a matrix operand in shared memory.

    Example:
        >>> from ptxloom.descriptors import MatrixDescriptor, SharedOperand
        >>> swapped = SharedOperand(MatrixDescriptor(0, 1024, 16, "128B"), 64, 16)
        >>> [remark.name for remark in of_operand(swapped)]
        ['offsets-swapped']
    """
    words = operand.descriptor
    return (*_of_words(words), *_of_places(operand), *_of_start(operand), *_of_type(operand))


def _of_words(words: MatrixDescriptor) -> Iterator[Remark]:
    """Remarks on the bits only."""
    version = GENERATIONS[words.generation].version
    if words.stray_bits:
        where = ", ".join(str(bit) for bit in range(64) if words.stray_bits >> bit & 1)
        constant = f" (bits 46 to 48 are {version:#05b})" if version else ""
        text = f"bits that belong to no word are set, or a constant is wrong: bit {where}"
        advice = f"clear them{constant}: were address and offsets divided by 16 and masked to 14 bits?"
        yield Remark("stray-bits", True, text, advice)
    if words.base_offset and words.swizzle == "none":
        yield Remark("base-offset", True, "a base offset without a swizzle means nothing", "set bits 49 to 51 to 0")


def _of_places(operand: SharedOperand) -> Iterator[Remark]:
    """Whether the core matrices are disjoint, and in shared memory."""
    words = operand.descriptor
    shared = _overlapping(operand)
    if shared:
        first, second, at = shared
        swapped = replace(
            words, leading_byte_offset=words.stride_byte_offset, stride_byte_offset=words.leading_byte_offset
        )
        offsets = f"leading {words.leading_byte_offset:,}, stride {words.stride_byte_offset:,} bytes"
        if not _overlapping(replace(operand, descriptor=swapped)):
            text = f"the leading and the stride offset look swapped ({offsets}): as they are, core matrices overlap"
            yield Remark("offsets-swapped", True, text, f"exchange them: 0x{swapped.bits:016x}")
        else:
            text = f"core matrices overlap ({offsets}): {first} and {second} are both at 0x{at:05x}"
            yield Remark("overlap", True, text, _wanted_offsets(operand))
    last = max(at for core in operand.core_matrices for at in core.addresses) + CHUNK_BYTES
    if last > _WINDOW_BYTES:
        text = f"the matrix ends at 0x{last:05x}, and shared memory at 0x{_WINDOW_BYTES:05x}"
        yield Remark("outside", True, text, "check the start address and the offsets: are they in units of 16 bytes?")


def _overlapping(operand: SharedOperand) -> tuple[str, str, int] | None:
    """Two core matrices that share a row of 16 bytes, and its address."""
    seen: dict[int, str] = {}
    for core in operand.core_matrices:
        name = f"the one at ({core.row}, {core.k})"
        for at in core.addresses:
            if seen.setdefault(at, name) != name:
                return seen[at], name, at
    return None


def _wanted_offsets(operand: SharedOperand) -> str:
    """The least legal offsets, in words."""
    group = operand.descriptor.mode.pattern_rows * operand.descriptor.mode.span_bytes
    what = "M or N" if operand.major == "k" else "K"
    if operand.descriptor.mode.chunks == 1:
        return f"core matrices are {group} bytes: both offsets must be multiples of {group} that keep them apart"
    return f"the stride offset leads to the next 8 of {what}: at least {group:,} bytes with this swizzle"


def _of_start(operand: SharedOperand) -> Iterator[Remark]:
    """Whether the swizzle's pattern starts at the operand's start."""
    words, mode = operand.descriptor, operand.descriptor.mode
    if mode.chunks == 1:
        return
    rows = (1 << mode.swizzle.bits) - 1
    row = words.start_address >> LINE_BITS & rows
    aligned = f"a multiple of {mode.alignment_bytes:,}"
    if words.base_offset & rows and not row:
        text = f"the base offset is {words.base_offset}, but the start address is at the beginning of a pattern"
        yield Remark("base-offset", True, text, "set bits 49 to 51 to 0")
    elif row != words.base_offset & rows:
        text = f"the start address 0x{words.start_address:05x} is not at the beginning of a {mode} pattern ({aligned})"
        advice = (
            f"align the tile to {mode.alignment_bytes:,} bytes; TMA swizzles by the absolute address, which this "
            f"descriptor agrees with, but code that swizzles offsets from the tile's beginning needs base offset {row}"
        )
        yield Remark("pattern-start", False, text, advice)
    if operand.major == "k":
        inside = words.start_address % mode.span_bytes
        width = min(operand.columns * operand.element_bits // 8, mode.span_bytes)
        if inside and inside + width > mode.span_bytes:
            text = f"K runs past the end of its {mode} row: it begins {inside} bytes into it and takes {width}"
            yield Remark("past-the-row", True, text, "step by 32 bytes within a row, then to the next tile along K")


def _of_type(operand: SharedOperand) -> Iterator[Remark]:
    """Whether the instruction supports such an operand."""
    if operand.descriptor.generation != "wgmma":
        return
    if operand.element not in factor_types():
        text = f"wgmma does not multiply {operand.element}"
        yield Remark("type", True, text, f"its types are {', '.join(sorted(factor_types()))}")
    elif operand.major == "mn" and element_type(operand.element).bits != 16:
        text = f"wgmma takes MN-major operands of 16-bit types only, not of {operand.element}"
        yield Remark("transposed-type", True, text, "lay the tile out K-major")
    if operand.rows % 8:
        text = f"{operand.rows} is neither an M nor an N of wgmma"
        yield Remark("extent", True, text, "M is 64; N is a multiple of 8 up to 256")


@cache
def factor_types() -> frozenset[str]:
    """The types of wgmma's factors."""
    return frozenset(kind for form in matrix_forms("wgmma") for kind in (form.a_type, form.b_type))


def of_map(made: TensorMap) -> tuple[Remark, ...]:
    """Remarks on a tensor map."""
    return tuple(_of_map(made))


def _of_map(made: TensorMap) -> Iterator[Remark]:
    try:
        encode_again(made)
    except UsageError as error:
        yield Remark("refused", True, f"the driver would not make this map: {error}", "encode it with other values")
    if made.element_strides[0] != 1 and made.interleave == "none":
        text = f"the element stride {made.element_strides[0]} of dimension 0 is ignored: the map is not interleaved"
        yield Remark("element-stride", False, text, "take every element, or put the dimension elsewhere")
    if made.interleave != "none" and made.im2col is None and made.box_dim[made.slice_dimension] != 1:
        place = made.slice_dimension
        text = f"the box's extent {made.box_dim[place]} of dimension {place} is ignored: a copy takes one slice"
        yield Remark("slices", False, text, "copy the slices one by one, and expect the bytes of one")
    for place, stride, below in _strides(made):
        if stride < below:
            text = f"dimension {place} steps by {stride:,} bytes, but one step holds {below:,}"
            yield Remark("strides-overlap", False, text, "is the stride in bytes, and of this dimension?")


def _strides(made: TensorMap) -> Iterator[tuple[int, int, int]]:
    """The number, stride and inner extent of each dimension with more than one element."""
    below = -(-made.global_dim[0] * made.element_bits // 8)
    for place, (stride, extent) in enumerate(zip(made.global_strides, made.global_dim[1:], strict=True), 1):
        if extent > 1:
            yield place, stride, below
            below = stride * extent


def of_instruction(told: InstructionDescriptor) -> tuple[Remark, ...]:
    """Remarks on an instruction descriptor."""
    return tuple(_of_instruction(told))


def _of_instruction(told: InstructionDescriptor) -> Iterator[Remark]:
    if told.stray_bits:
        text = f"bits 0x{told.stray_bits:08x} are set, which belong to no word"
        yield Remark("stray-bits", True, text, "leave them 0")
    reasons = [refusal(one, told.m, told.n, told.sparse, told.transpose_b, k_96=told.k_96) for one in _products(told)]
    if all(reasons):
        text = f"no tcgen05.mma of kind::{told.kind} has such a D: {reasons[0]}"
        yield Remark("no-such-shape", True, text, "for .cta_group::2 and .ws other sizes are legal")
    if told.d_type == "f16" and "bf16" in (told.a_type, told.b_type):
        yield Remark("result-type", True, "D is .f16, and a factor is .bf16", "take .f32 for D")
    for name, kind, turned in (("A", told.a_type, told.transpose_a), ("B", told.b_type, told.transpose_b)):
        if turned and element_type(kind).packed_bits < 8:
            text = f"{name} has elements of {element_type(kind).packed_bits} bits, which are always K-major"
            yield Remark("transposed", True, text, f"leave the transpose bit of {name} 0")
    if told.kind == "i8" and (told.negate_a or told.negate_b):
        yield Remark("negated", True, "integers are not negated", "leave the negate bits 0")
    if told.saturate and told.kind != "i8":
        yield Remark("saturate", True, "only integers saturate", "leave the bit 0")


def _products(told: InstructionDescriptor) -> Iterator[TensorProduct]:
    """The instructions that could use a descriptor: with one or two CTAs, and with `.ws`."""
    for ctas, ws in ((1, False), (2, False), (1, True)):
        if not (ws and told.is_scaled):
            yield TensorProduct(told.kind, ctas, told.sparse, ws, "1X" if told.is_scaled else "", shifts=False)


def of_box(box: Box) -> tuple[Remark, ...]:
    """Remarks on a copy."""
    return (*of_map(box.map), *_of_box(box))


def _of_box(box: Box) -> Iterator[Remark]:
    columns = box.map.im2col
    if columns is not None and outside_corners(box.map, columns, box.coordinate):
        text = f"the first pixel {box.coordinate} is outside the bounding box: an illegal instruction"
        yield Remark(
            "pixel-outside", True, text, "begin between the lower corner and the tensor's end plus the upper one"
        )
    inner = box.coordinate[0] * box.map.box_bits
    if box.map.type.is_padded and box.coordinate[0] % PADDED_ELEMENTS:
        text = f"coordinate {box.coordinate[0]} of dimension 0 is not a multiple of {PADDED_ELEMENTS} (its type)"
        yield Remark("inner-coordinate", True, text, f"take a multiple of {PADDED_ELEMENTS}")
    elif box.map.interleave == "none" and inner % (8 * INNER_BYTES):
        per = 8 * INNER_BYTES // box.map.box_bits
        text = f"coordinate {box.coordinate[0]} of dimension 0 is not at a multiple of 16 bytes: an illegal instruction"
        yield Remark("inner-coordinate", True, text, f"take a multiple of {per}")
    if box.shared_address % COPY_ALIGNMENT:
        text = f"shared address 0x{box.shared_address:05x} is not a multiple of {COPY_ALIGNMENT}: a misaligned address"
        yield Remark("shared-address", True, text, f"align the buffer to {COPY_ALIGNMENT} bytes")
    elif box.begins_within_pattern:
        align = f"{box.mode.alignment_bytes:,}"
        text = f"{box.mode} patterns begin at multiples of {align}, not at shared address 0x{box.shared_address:05x}"
        advice = f"align the buffer to {align} bytes, as matrix descriptors require"
        yield Remark("pattern-start", False, text, advice)
    if box.shared_bytes > SHARED_BYTES:
        text = f"the copy reaches over {box.shared_bytes:,} bytes of shared memory, and a CTA has {SHARED_BYTES:,}"
        yield Remark("too-large", True, text, "take a smaller box")
    if box.padding_bytes:
        text = (
            f"rows of {box.row_bytes} bytes are {box.pitch_bytes} apart, as wide as the swizzle: the copy reaches over "
            f"{box.shared_bytes:,} bytes, and its mbarrier counts {box.map.transaction_bytes:,}"
        )
        yield Remark("padding", False, text, "leave space for the padding in the buffer; expect the bytes without it")
    if box.map.oob_fill == "nan" and box.filled:
        text = "the fill is 0x7ff7 in every 16 bits"
        yield Remark("nan-fill", False, text, "")
