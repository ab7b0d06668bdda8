"""Tensor memory and a product on its way, as native code, the tensor cores' code and Python share them (9.7.16.1).

Words of tensor memory lie column by column: the 128 lanes of a column next to each other. An address has the lane in
its upper half and the column in its lower one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.isa.limits import TENSOR_COLUMNS, TENSOR_LANES
from ptxloom.machine.native import language

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Array, Code, Slice, u8, u32, u64

WORDS: Final = TENSOR_LANES * TENSOR_COLUMNS
BLOCK_COLUMNS: Final = 32  # what is allocated at a time
BLOCKS: Final = TENSOR_COLUMNS // BLOCK_COLUMNS
QUARTERS: Final = 4  # of the lanes: each is for a warp of a warpgroup
QUARTER_LANES: Final = TENSOR_LANES // QUARTERS

REGISTER_BYTES: Final = 128  # of a warp: of a tile of eight lines and 16 bytes, as the tensor cores' code takes it
MOST_PARTS: Final = 4  # of 16 bytes, along k: of the dense factor of a sparse product
A_TILES: Final = 8  # of 16 rows, in a CTA
B_TILES: Final = 32  # of eight columns
A_TILE_BYTES: Final = 2 * MOST_PARTS * REGISTER_BYTES
B_TILE_BYTES: Final = MOST_PARTS * REGISTER_BYTES
IMAGE_BYTES: Final = 8192  # of a tile that is unpacked, at the most
SCALES_OF_WORD: Final = 4  # of a row, in a column of tensor memory
MOST_PLANS: Final = 256
MOST_PLACES: Final = A_TILES * B_TILES

TARGET, LEFT, RIGHT, DESCRIPTOR, METADATA, A_SCALES, B_SCALES, MASK, OPERANDS = range(9)  # of a product, a lane each
FROM_TENSOR, SCALED, SPARSE, PAIRED, SHIFTED, WEIGHTS_STAY = 1, 2, 4, 8, 16, 32  # what its code says of one
MAKES_MASK: Final = 1 << 39  # of the mask of columns of B that are taken as zeros

# Why an instruction of tensor memory cannot be executed.
(
    BAD_COLUMNS, RELINQUISHED, NOT_ALLOCATED, NO_PEER, BAD_SWIZZLE, BAD_PRODUCT, BAD_LANE, TOO_MANY_PLANS,
    PEER_MEMORY, BAD_LEADING, BAD_SCALE, BAD_ATOM,
) = range(101, 113)  # fmt: skip


class TensorMemory:
    """The tensor memory of a CTA."""

    words: Annotated[Array[u32], WORDS]
    written: Annotated[Array[u32], WORDS // QUARTER_LANES]  # by column, then quarter: a bit a lane
    owners: Annotated[Array[u32], BLOCKS]  # 1 + the first block of the allocation that a block belongs to; 0: free
    last: u32  # the columns of the last allocation
    relinquished: u32  # 1: the CTA allocates no more
    pairs: u32  # how often a warp has come to allocate for the pair
    site: u32  # of the last allocation
    used: u32  # 1: something has been allocated
    collected: u32  # a bit for each collector buffer that holds a factor: that of A, then those of B


class TensorPlan(language.Sealed):
    """A product of one kind and one instruction descriptor: what Python knows of it, and its code."""

    key: u64
    code: Code
    places: Annotated[
        Slice[u32], "place_count"
    ]  # of the tiles of D: column * 128 + lane, a row of tiles after the other
    place_count: u64
    ctas: u32
    a_tiles: u32  # of a CTA
    b_tiles: u32  # of all
    a_parts: u32  # of 16 bytes along k
    b_parts: u32
    a_across: u32  # bytes of an element, where rows lie next to each other in shared memory; 0: k does
    b_across: u32
    a_sign: u32  # the bits to turn in a word to negate its elements
    b_sign: u32
    a_packed: u32  # bits of an element that is unpacked to a byte; 0: elements are not packed
    b_packed: u32
    a_shift: u32  # where it starts in its byte
    b_shift: u32
    a_each: u32  # bytes of which provenance notes one tag
    b_each: u32
    d_each: u32
    a_columns: u32  # of tensor memory
    d_columns: u32
    d_lanes: u32  # from the lane of D's address on
    a_lanes: Annotated[Array[u32], A_TILES]  # where tiles of A begin in tensor memory
    folds: u32  # in how many parts the columns of D are cut, each with lanes of its own
    metadata: u32  # how metadata lie: see `sparsity`
    scales: u32  # bytes of a row and of a column
    scale_step: u32  # what the byte of the first one is a multiple of


class TensorJob:
    """A product on its way: its factors as the code takes them, and where D is."""

    a_image: Annotated[Array[u8], A_TILES * IMAGE_BYTES]  # first, so that they are aligned
    b_image: Annotated[Array[u8], B_TILES * IMAGE_BYTES]
    plan: TensorPlan
    memory: TensorMemory  # where D lies
    base: u32  # of D: column * 128 + lane
    adds: u32  # 0: D is not added
    lane: u32  # who issued it
    number: u32  # of the plan
    power: u32  # the `.f32` that D is multiplied with before
    metadata: Annotated[Array[u64], A_TILES * 16]  # of a row: four bits a chunk
    a_scales: Annotated[Array[u64], A_TILES * 16]  # of a row: a byte a block
    b_scales: Annotated[Array[u64], B_TILES * 8]  # of a column
    a: Annotated[Array[u8], A_TILES * A_TILE_BYTES]
    b: Annotated[Array[u8], B_TILES * B_TILE_BYTES]
    kept: Annotated[Array[u32], TENSOR_LANES * 256]  # D as it was, where lanes are not to be written


MEMORY_BYTES: Final = language.record(TensorMemory).size
PLAN_BYTES: Final = language.record(TensorPlan).size
JOB_BYTES: Final = language.record(TensorJob).size
