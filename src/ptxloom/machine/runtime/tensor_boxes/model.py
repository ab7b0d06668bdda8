"""A tensor copy on its way: what the 128 bytes of its map mean, and how far it has come.

A copy moves rows: runs of bytes that lie side by side in the tensor and in shared memory. A row is what a box takes of
the innermost dimension; of an interleaved tensor it is one slice. The other dimensions are walked through, the first
one fastest; what a tile and what the columns of im2col walk through differs in where a dimension ends and begins
anew. Four rows that an instruction names are walked through as it names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native import language

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Array, i64, u8, u32, u64

MAP_WORDS: Final = 32
MAP_BYTES: Final = 4 * MAP_WORDS
MAP_ALIGNMENT: Final = 64
CHUNK_BYTES: Final = 16  # what a swizzle moves, and what rows are made of
MOST_ROW_BYTES: Final = 256 * 8  # of a box
MOST_PIECES: Final = MOST_ROW_BYTES // CHUNK_BYTES  # of a row: rows with smaller ones have 128 bytes at most
MOST_ROWS: Final = 1 << 20  # that shared memory can hold: an address within a CTA has 24 bits
MOST_DIMENSIONS: Final = 5
COORDINATES: Final = 8  # of an instruction: at most this many, with the offsets of im2col behind the first five
OFFSETS: Final = 5

# The types of elements, by their numbers.
U8, U16, U32, S32, U64, S64, F16, F32, F32_FTZ, F64, BF16 = range(11)
B4, B4_PADDED, B6_PADDED = range(11, 14)  # 16 of 4 bits in 8 bytes; 16 of 4 or of 6 bits, in 16 bytes of a box
SHIFTS: Final = 0x13221332210  # by type up to BF16, four bits each: its size is 1 << shift
PADDED_ELEMENTS: Final = 128  # of a row of padded types
PIXELS_ALONG_WIDTH: Final = 128  # of `.im2col::w::128`, whatever the map says
MOST_HALO: Final = 511  # pixels, of `.im2col::w`
PICKED_ROWS: Final = 4  # that `.tile::gather4` and `.tile::scatter4` name

# Why a tensor copy cannot be made: of the map, then of the copy.
(
    WRONG_RANK, WRONG_TYPE, WRONG_INTERLEAVE, PART_OF_CHUNK, WIDER_THAN_SWIZZLE, FEW_DIMENSIONS,
    OTHER_RANK, OTHER_MODE, BETWEEN_CHUNKS, BEFORE_START, CORNERS_OUTSIDE, NO_SUCH_REDUCTION, BEYOND_CORNERS,
    WRONG_ATOM, WRONG_PADDING, BOX_OF_ROWS, BETWEEN_PADDED, LOADED_ONLY, HALO_GOES_ON, NOT_ALONG_WIDTH,
    WIDE_HALO,
) = range(1, 22)  # fmt: skip


class TensorRow:
    """A row on its way."""

    bytes: Annotated[Array[u8], MOST_ROW_BYTES]
    facts: Annotated[Array[u64], 4]  # what combining code takes: target, source, bytes, type


class TensorCopy:
    """The map of a copy, taken apart, and where the copy stands."""

    words: Annotated[Array[u32], 32]  # the map
    base: u64  # where the tensor lies
    kind: u32  # of elements
    rank: u32
    in_columns: u32  # 1: a map for im2col
    along_width: u32  # 1: the copy walks W alone, then N; 2: 128 pixels
    halo: u32  # pixels that such a copy adds
    interleave: u32  # slices of this many times 16 bytes; 0: no slices
    chunk_mask: u32  # which bits of an address, from bit 7 up, are added to bit `atom_shift` and up; 0: no swizzle
    atom_shift: u32  # what stays together has 1 << atom_shift bytes
    flips: u32  # 1: the halves of 16 bytes change places in every other line of 128
    packed: u32  # bytes of the tensor that 16 bytes of a box hold: fewer than 16 where they are padded
    piece: u32  # bytes of the tensor that lie side by side in a box, whatever the swizzle does
    pieces: u32  # of a row
    fills_nan: u32
    rounds: u32  # 1: to tf32
    taken_bytes: u64  # of the tensor, that a row has
    row_bytes: u64  # in shared memory: more than these where they are padded
    pitch: u64  # from row to row in shared memory
    rows: u64  # that the walk comes by
    number: u64  # of the row where it stands, counted through the whole box
    element: i64  # bits of one; of an interleaved tensor, of a slice
    inner: i64  # where a row begins in the innermost dimension, in bytes
    partial: u32  # how many bits that is behind a multiple of 16 bytes
    inner_bytes: i64  # how long that is
    outer: u32  # how many dimensions are walked through; each has:
    sizes: Annotated[Array[i64], 5]
    strides: Annotated[Array[u64], 5]  # in bytes
    steps: Annotated[Array[i64], 5]
    begins: Annotated[Array[i64], 5]  # where it goes on after its end
    ends: Annotated[Array[i64], 5]
    skipped: Annotated[Array[u64], 5]  # rows of the box that are left out where it ends
    shifts: Annotated[Array[i64], 5]  # what is added to where the walk stands: offsets of im2col
    first: Annotated[Array[i64], 5]  # where the walk begins
    picks: u32  # 1: four rows of a matrix are named, and walked through
    picked: Annotated[Array[i64], 4]  # which
    point: Annotated[Array[i64], 5]  # where it stands


TENSOR_COPY_BYTES: Final = language.record(TensorCopy).size
