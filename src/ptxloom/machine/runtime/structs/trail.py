"""What provenance keeps, as structs that native code and Python share, and what the bits of a tag mean.

Every byte of a register and of shared, local and global memory has a tag of 64 bits beside it. A tag of 0 means that
nothing is known; for a byte of global memory that the kernel has not written, it means that the byte is its own origin.
A tag consists of a kind, the path that the byte has taken, and its origin. Byte i of a value has the tag of byte 0 plus
i: for EXACT bytes because the origin is their place in memory, for all others because the lowest bits hold the number
of the byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native import language
from ptxloom.machine.runtime.tensor_cores.model import WORDS

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Array, Slice, u8, u32, u64

# The fields of a tag, from the top: 3 bits of kind, 19 of path, 1 for "written twice", 41 of origin.
KIND_SHIFT: Final = 61
PATH_SHIFT: Final = 42
PATH_LIMIT: Final = 1 << KIND_SHIFT - PATH_SHIFT
PATH_FIELD: Final = PATH_LIMIT - 1 << PATH_SHIFT
TWICE: Final = 1 << PATH_SHIFT - 1  # of a byte in global memory: the kernel has written it before
ORIGIN: Final = TWICE - 1

# Kinds, shifted to their field.
EXACT: Final = 1 << KIND_SHIFT  # the byte is one of global memory: its place there, all pieces laid end to end
CONVERTED: Final = 2 << KIND_SHIFT  # a value made from an element: like BITS, with the byte of the value at the end
COMPUTED: Final = 3 << KIND_SHIFT  # made from others: node << BYTE_BITS | byte of the value
PRODUCT: Final = 4 << KIND_SHIFT  # of a matrix product: (event << SLOT_BITS | slot) << BYTE_BITS | byte of the value
BITS: Final = 5 << KIND_SHIFT  # a byte that holds 8 bits from (place << 3 | bit) on, kept from a bit of its own on:
#   (place << BIT_BITS | bit) << BYTE_BITS | first bit that is kept
MIXED: Final = 6 << KIND_SHIFT  # a value of bytes that do not belong together: a node that holds two of their tags
WRITTEN: Final = 7 << KIND_SHIFT  # of a byte in memory: the kernel has written there what nothing is known about
KIND: Final = 7 << KIND_SHIFT

BYTE_BITS: Final = 3
BIT_BITS: Final = 3
ELEMENT_SHIFT: Final = 2  # what `Trail.made` counts as an element, as a shift of byte numbers
PLACE_SHIFT: Final = BYTE_BITS + BIT_BITS
SLOT_BITS: Final = 15  # of an element of D among those that a warp holds: by register, lane, and place in the register;
#   of those of a CTA in tensor memory, by row and column
PLACE_LIMIT: Final = 1 << 41 - PLACE_SHIFT  # bytes of global memory
EVENT_LIMIT: Final = 1 << 41 - BYTE_BITS - SLOT_BITS

PATH_STEPS: Final = 24  # of a path at most: further steps are not reported
PAGE_SHIFT: Final = 12  # what `Trail.changed` counts as a page, as a shift of byte numbers: larger than one store
WORD_TAGS: Final = 4  # of a word of tensor memory
MOST_WORDS: Final = 128  # registers that an instruction moves to or from tensor memory
RECENT: Final = 64
STAGE: Final = 2048  # tags that an instruction can stage
BIT_SHIFT: Final = 16  # in a map, above the number of a byte: the bit at which an element starts in its byte
UNPACKED: Final = 1 << 20  # in a map, too: the element has fewer than 8 bits


class PathStep:
    """A path: another path and one more instruction."""

    before: u32
    site: u32


class KnownStep:
    """A step that was looked up before: the path that an instruction leads to from another."""

    key: u64  # 1 + (path << 32 | site); 0 while free
    path: u32
    spare: u32


class Node:
    """A value made from others."""

    site: u32
    spare: u32
    sources: Annotated[Array[u64], 3]  # their tags; 0 for no origin


class ProductEvent:
    """A matrix product that a warp has executed."""

    site: u32
    warp: u32
    cta: u64  # by its number in the grid
    lanes: u32
    plan: u32  # 1 + the plan of a product into tensor memory; 0 for any other product
    start: u64  # of the tags of A, B and C in the pool
    tags: u64  # the number of them


class Trail:
    """What a launch with provenance keeps, beside the tags."""

    stage: Annotated[Array[u64], STAGE]  # first, so that it is aligned
    zeros: Annotated[Array[u64], 32]  # never written
    newest: Annotated[Array[u64], 32]  # where the newest sources of what 32 lanes compute are (`nodes`)
    paths: Annotated[Slice[PathStep], "path_limit"]  # number 0 is the path without a step
    path_limit: u64
    path_count: u64
    known: Annotated[Slice[KnownStep], "known_slots"]
    known_slots: u64  # a power of two
    known_count: u64
    recent: Annotated[Array[KnownStep], RECENT]  # those looked up last, by the lowest bits of their keys
    nodes: Annotated[Slice[Node], "node_limit"]  # number 0 represents all that there was no room for
    node_limit: u64
    node_count: u64
    made: Annotated[Slice[u32], "made_count"]  # by newest source: the first node made of it; 0: none (`nodes`)
    made_count: u64
    made_words: u64  # the number of words of global memory that come first in `made`, after number 0
    slots: Annotated[Slice[u64], "slot_count"]  # where nodes are found (`nodes`): upper half of a hash, number; 0: free
    slot_count: u64  # a power of two
    slots_used: u64  # the first ones, which are in use: 0, or a power of two
    slots_taken: u64  # the number that hold a node
    events: Annotated[Slice[ProductEvent], "event_limit"]
    event_limit: u64
    event_count: u64
    event_missed: u64  # products that there was no room for
    pool: Annotated[Slice[u64], "pool_limit"]
    pool_limit: u64
    pool_count: u64
    recording: u64  # 1 + the event whose operands are being noted; 0: no event
    last_step: u64  # as in `KnownStep`: the key of the last step,
    last_path: u64  # and the path that it led to
    changed: Annotated[Slice[u8], "page_count"]  # [page] 1: some byte of this page of global memory has a tag
    page_count: u64
    warps: u32  # whose products are recorded, one bit per warp
    spare: u32
    ctas: Annotated[Slice[u64], "cta_count"]  # whose products are recorded, by their numbers, in order
    cta_count: u64
    maps: Annotated[Slice[u32], "map_count"]  # of instructions that exchange bytes between lanes (`instruments`)
    map_count: u64
    kept: Annotated[Slice[u64], "kept_count"]  # the CTAs whose shared memory is kept, by their numbers, in order
    kept_count: u64
    moments: u32  # the number of moments of each CTA that are kept: number 0 is its end, the others are at instructions
    shared_bytes: u32
    taken: Annotated[Slice[u8], "kept_count * moments"]  # [CTA][moment] 1: the moment has come
    pictures: Annotated[Slice[u64], "kept_count * moments * shared_bytes"]  # [CTA][moment][byte] tags
    contents: Annotated[Slice[u8], "kept_count * moments * shared_bytes"]  # [CTA][moment][byte] the bytes themselves


class TensorTags:
    """The tags of a CTA's tensor memory."""

    staged: Annotated[Array[u64], MOST_WORDS * 32 * WORD_TAGS]  # what an instruction moves: by register and lane
    tags: Annotated[Array[u64], WORDS * WORD_TAGS]  # column by column, as the words


TRAIL_BYTES: Final = language.record(Trail).size
PATH_BYTES: Final = language.record(PathStep).size
KNOWN_BYTES: Final = language.record(KnownStep).size
NODE_BYTES: Final = language.record(Node).size
EVENT_BYTES: Final = language.record(ProductEvent).size
TENSOR_TAG_BYTES: Final = language.record(TensorTags).size
