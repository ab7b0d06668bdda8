"""The shared address of each element of a matrix operand: the canonical layouts (PTX ISA 9.7.15.5.1.2).

The matrix is made of core matrices: eight rows of 16 bytes each, the rows along the major coordinate. Their distances
are CuTe's canonical layout (T elements are 16 bytes, W times 16 bytes a row of the swizzle):

- K-major: ((8,m),(T,W,n)) : ((W*16B,SBO),(1,16B,LBO)); without a swizzle W is 1; with one, a K of up to a row needs no
  leading offset.
- MN-major: ((T,W,m),(8,n)) : ((1,16B,LBO),(W*16B,SBO)); without a swizzle LBO and SBO are exchanged.

Confirmed on an H200 for any start address and offsets; for tcgen05 it follows the manual and CUTLASS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.matrix import GENERATIONS
from ptxloom.descriptors.swizzling import CHUNK_BYTES, SwizzleMode
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.display import mimebundle
from ptxloom.isa.types import element_type
from ptxloom.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.descriptors.matrix import MatrixDescriptor

CHUNK_BITS: Final = 8 * CHUNK_BYTES
CORE_ROWS: Final = 8
STEP_BITS: Final = 256
"""The bytes of K of one product, for dense operands."""
MAJORS: Final = ("k", "mn")
MOST_ROWS: Final = 256
"""The largest M or N of any instruction."""
MOST_K_BYTES: Final = 128
"""The largest K, large enough for a sparse B."""


def canonical_layout(
    major: str, mode: SwizzleMode, element_bits: int, extent: tuple[int, int], offsets: tuple[int, int]
) -> Layout:
    """The places of elements before swizzling: (M or N, K) -> elements from the start address.

    Args:
        major: "k" or "mn", the coordinate along which elements are contiguous.
        mode: The swizzle.
        element_bits: The width of an element in memory.
        extent: The number of elements along M or N, and along K.
        offsets: The leading and the stride dimension byte offset.

    Returns:
        A layout of at least that extent, in elements.

    Example:
        >>> from ptxloom.descriptors.swizzling import swizzle_mode
        >>> print(canonical_layout("k", swizzle_mode("128B"), 16, (64, 16), (16, 1024)))
        ((8,8),(8,8,1)):((64,512),(1,8,8))
    """
    must_be(str, "major", major, "k or mn")
    must_be(SwizzleMode, "mode", mode, "a mode, as `swizzle_mode` returns it")
    must_be(int, "element_bits", element_bits, "a whole number")
    must_be(tuple, "extent", extent, "two whole numbers")
    must_be(tuple, "offsets", offsets, "two whole numbers")
    leading, stride = (8 * offset // element_bits for offset in offsets)
    per_chunk, rows = CHUNK_BITS // element_bits, mode.pattern_rows
    along, across = extent[::-1] if major == "k" else extent
    pitch = per_chunk * mode.chunks
    if major == "mn" and mode.chunks == 1:
        leading, stride = stride, leading
    contiguous = Layout((per_chunk, mode.chunks, -(-along // pitch)), (1, per_chunk, leading))
    strided = Layout((rows, -(-across // rows)), (pitch, stride))
    mn, k = (strided, contiguous) if major == "k" else (contiguous, strided)
    return Layout((mn.shape, k.shape), (mn.stride, k.stride))


@dataclass(frozen=True, slots=True)
class CoreMatrix:
    """Eight rows of 16 bytes, the tensor core's unit.

    Attributes:
        row: M or N of its first element.
        k: K of its first element.
        addresses: The address of each of its eight rows of 16 bytes in shared memory.
    """

    row: int
    k: int
    addresses: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SharedOperand:
    """A matrix operand in shared memory: a descriptor and its instruction together.

    Attributes:
        descriptor: The 64 bits.
        rows: The number of elements along M (for A) or N (for B).
        columns: The number along K; for a sparse A, of stored elements.
        element: Their type, such as "f16".
        major: "k" or "mn": the coordinate along which they are contiguous; "mn" is a transposed operand.

    Example:
        >>> from ptxloom.descriptors import MatrixDescriptor
        >>> operand = SharedOperand(MatrixDescriptor(0, 16, 1024, "128B"), 64, 16)
        >>> [hex(operand.address(row, 8)) for row in range(4)]
        ['0x10', '0x80', '0x130', '0x1a0']
    """

    descriptor: MatrixDescriptor
    rows: int
    columns: int
    element: str = "f16"
    major: str = "k"

    _repr_mimebundle_ = mimebundle

    def __post_init__(self) -> None:
        if self.major not in MAJORS:
            raise UsageError("major", self.major, "k or mn: the coordinate along which elements are contiguous")
        width = element_type(self.element).container_bits
        for name, most in (("rows", MOST_ROWS), ("columns", 8 * MOST_K_BYTES // width)):
            must_be(int, name, getattr(self, name), "a number of elements")
            if not 1 <= getattr(self, name) <= most:
                raise UsageError(name, getattr(self, name), f"1 to {most} elements of {self.element}")
        if self.descriptor.leading_is_address:
            raise UsageError(
                "descriptor",
                hex(self.descriptor.bits),
                "one whose leading offset is not an address (bit 52 is 0) to be drawn",
            )

    @property
    def element_bits(self) -> int:
        """The width of an element in memory."""
        return element_type(self.element).container_bits

    @property
    def chunk_elements(self) -> int:
        """The number of elements in 16 bytes."""
        return CHUNK_BITS // self.element_bits

    @property
    def layout(self) -> Layout:
        """(M or N, K) -> elements from the start address, before swizzling."""
        words = self.descriptor
        offsets = words.leading_byte_offset, words.stride_byte_offset
        return canonical_layout(self.major, words.mode, self.element_bits, (self.rows, self.columns), offsets)

    def address(self, row: int, column: int) -> int:
        """The shared address of an element's first byte.

        Args:
            row: Along M or N.
            column: Along K.
        """
        return self._swizzled(self.layout(row, column))

    def _swizzled(self, element: int) -> int:
        unswizzled = self.descriptor.start_address + element * self.element_bits // 8
        return self.descriptor.mode(unswizzled, self.descriptor.base_offset)

    @property
    def core_matrices(self) -> tuple[CoreMatrix, ...]:
        """All of them, along K first."""
        return tuple(self._core_matrices())

    def _core_matrices(self) -> Iterator[CoreMatrix]:
        layout, per_row = self.layout, self.chunk_elements
        tall, wide = (CORE_ROWS, per_row) if self.major == "k" else (per_row, CORE_ROWS)
        for row in range(0, self.rows, tall):
            for k in range(0, self.columns, wide):
                places = ((row + i, k) if self.major == "k" else (row, k + i) for i in range(CORE_ROWS))
                yield CoreMatrix(row, k, tuple(self._swizzled(layout(*place)) for place in places))

    @property
    def evidence(self) -> str:
        """The evidence for the addresses, as a sentence."""
        if self.descriptor.generation == "wgmma":
            return "Confirmed on an H200: CuTe's canonical layouts, swizzled by the absolute address."
        section = GENERATIONS[self.descriptor.generation].section
        return f"Not run on silicon by us: the manual ({section}) and CUTLASS say so."


def assumed_operand(descriptor: MatrixDescriptor, element: str = "f16", major: str = "k") -> SharedOperand:
    """The most common operand that the descriptor allows, if the instruction is not known.

    Args:
        descriptor: The 64 bits.
        element: The type of its elements.
        major: The coordinate along which they are contiguous.
    """
    rows = 64 if descriptor.generation == "wgmma" else 128
    return SharedOperand(descriptor, rows, STEP_BITS // element_type(element).container_bits, element, major)
