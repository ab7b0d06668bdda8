"""The hazard of each record of native code, and the words for its sides."""

from __future__ import annotations

from typing import Final

from ptxloom.isa.spaces import MEMORY
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.structs import texture
from ptxloom.machine.runtime.tensor_boxes import model as tensor_copy
from ptxloom.machine.runtime.tensor_cores import model as tensor_memory

FAULTS: Final = {  # what ends a kernel; all are memcheck's
    state.OUT_OF_BOUNDS: "out-of-bounds",
    state.MISALIGNED: "misaligned",
    state.READ_ONLY: "read-only",
    state.WRONG_SPACE: "wrong-space",
    state.TRAP: "trap",
    state.STACK_OVERFLOW: "stack-overflow",
    state.BAD_CALL: "bad-call",
    state.ASSERTION: "assertion",
    state.INVALID: "invalid",
    state.UNINITIALISED: "no-mbarrier",
    state.OVERRUN: "mbarrier-overrun",
    state.NO_CLUSTER: "no-cluster",
    state.CALL_MISMATCH: "call-mismatch",
    state.BAD_TOKEN: "bad-token",
    state.BAD_BRANCH: "bad-branch",
    state.NO_TENSOR_MAP: "no-tensor-map",
    state.ILLEGAL_TENSOR_COPY: "illegal-tensor-copy",
    state.NO_TEXTURE: "no-texture",
    state.ILLEGAL_SURFACE_ACCESS: "illegal-surface-access",
    state.ILLEGAL_TENSOR_MEMORY: "illegal-tensor-memory",
}
REASONS: Final = {  # why there is no tensor map, or no copy by one; no texture, or no look-up of it
    tensor_copy.WRONG_RANK: "they hold more than 5 dimensions",
    tensor_copy.WRONG_TYPE: "they hold an unknown type of elements",
    tensor_copy.WRONG_INTERLEAVE: "they hold an unknown interleave layout",
    tensor_copy.PART_OF_CHUNK: "the rows of the box are not a multiple of 16 bytes",
    tensor_copy.WIDER_THAN_SWIZZLE: "the rows of the box are wider than the swizzle",
    tensor_copy.FEW_DIMENSIONS: "an interleaved tensor, and one for im2col, has 3 dimensions or more",
    tensor_copy.OTHER_RANK: "the tensor map has another number of dimensions",
    tensor_copy.OTHER_MODE: "the tensor map is for the other mode, tile or im2col",
    tensor_copy.BETWEEN_CHUNKS: "the coordinate in the innermost dimension is not a multiple of 16 bytes",
    tensor_copy.BEFORE_START: "a coordinate is negative, which loads alone can take",
    tensor_copy.CORNERS_OUTSIDE: "the corners of the tensor map reach outside, which loads alone can take",
    tensor_copy.BEYOND_CORNERS: "a coordinate of the first pixel is outside the bounding box",
    tensor_copy.HALO_GOES_ON: (
        "its halo extends past an image, or past every 32 pixels: only figures that we have not seen define where"
    ),
    tensor_copy.WIDE_HALO: "its halo has more than 511 pixels",
    tensor_copy.NOT_ALONG_WIDTH: "a copy along the width has a swizzle, no slices and no exchanged halves",
    tensor_copy.WRONG_ATOM: "more than 16 bytes stay together only where 128 bytes are swizzled",
    tensor_copy.WRONG_PADDING: "a row of padded elements has 128 of them, and no slices or exchanged halves",
    tensor_copy.BETWEEN_PADDED: "the coordinate in the innermost dimension is not a multiple of 128 padded elements",
    tensor_copy.BOX_OF_ROWS: "four rows are named, and the tensor map's box has more than one",
    tensor_copy.LOADED_ONLY: "4-bit elements with padding are loaded, not stored",
    tensor_copy.NO_SUCH_REDUCTION: "the type in the tensor map has no such reduction",
    texture.NO_OBJECT: "the launch was not given such an object",
    texture.OTHER_OBJECT: "it is of the other kind, a surface for a texture or a texture for a surface",
    texture.OTHER_GEOMETRY: "it has another geometry than the instruction names",
    texture.OUTSIDE: "a coordinate is outside, and it has `.trap`",
    tensor_memory.BAD_COLUMNS: "the number of columns is not a power of 2 from 32 to 512",
    tensor_memory.RELINQUISHED: "the CTA has given up the right to allocate",
    tensor_memory.NOT_ALLOCATED: "no allocation of as many columns begins there",
    tensor_memory.BAD_SWIZZLE: "the matrix descriptor names a swizzling mode that there is not",
    tensor_memory.BAD_LEADING: "a leading offset that is an address goes with a K of 96 and a swizzle of 128 bytes",
    tensor_memory.BAD_SCALE: "the scale factor id cannot be the first of that many scales of a row",
    tensor_memory.BAD_ATOM: "32 bytes at a time are swizzled only where lines of `.tf32` are contiguous",
    tensor_memory.BAD_LANE: "its lanes reach beyond those that it may touch",
    texture.BETWEEN_ACCESSES: "the first coordinate counts bytes, and is not a multiple of the bytes that are accessed",
}
AS_MISALIGNED: Final = REASONS[texture.BETWEEN_ACCESSES]
"""The reason for which hardware reports a misaligned address, though the access is a surface's."""
UNEVEN_REGISTERS: Final = "synccheck.uneven-registers"  # `UNEVEN` where there are no products
EVENTS: Final = {  # after these it goes on
    state.ENDED: "racecheck.early-exit",
    state.UNFENCED: "racecheck.cross-proxy",
    state.STALE_MAP: "racecheck.stale-tensor-map",
    state.REUSED: "racecheck.proxy-reuse",
    state.TENSOR_UNFENCED: "racecheck.tensor-fence",
    state.DIVERGENT: "synccheck.divergent",
    state.EXITED: "synccheck.exited",
    state.PREDICATED: "synccheck.predicated",
    state.MISSING: "synccheck.partial-warp",
    state.IN_FLIGHT: "racecheck.product-register",
    state.NO_PRODUCT_FENCE: "racecheck.product-fence",
    state.UNEVEN: "synccheck.partial-warpgroup",
    state.ABSENT: "synccheck.absent",
    state.MISMATCH: "synccheck.mask-mismatch",
    state.STUCK: "synccheck.elsewhere",
    state.GONE: "synccheck.exited-members",
    state.MISCOUNT: "synccheck.barrier-count",
    state.LEFT: "synccheck.exited-barrier",
    state.REQUESTED_AGAIN: "synccheck.requested-again",
    state.NOT_CANCELED: "synccheck.not-canceled",
    state.WRITE_WRITE: "racecheck.write-after-write",
    state.READ_WRITE: "racecheck.write-after-read",
    state.WRITE_READ: "racecheck.read-after-write",
    state.WARP_WRITE_WRITE: "racecheck.warp-order",
    state.WARP_READ_WRITE: "racecheck.warp-order",
    state.WARP_WRITE_READ: "racecheck.warp-order",
    state.OWN_WRITE_WRITE: "racecheck.not-waited",
    state.OWN_READ_WRITE: "racecheck.not-waited",
    state.OWN_WRITE_READ: "racecheck.not-waited",
    state.NOT_READ_ONLY: "racecheck.not-read-only",
    state.STRAYED: "memcheck.overrun",
    state.NOT_FREED: "memcheck.tensor-memory-kept",
    state.OTHER_QUARTER: "memcheck.other-quarter",
    state.EMPTY_COLLECTOR: "memcheck.empty-collector",
    state.UNWRITTEN: "initcheck.uninitialised",
    state.UNWRITTEN_REGISTER: "initcheck.uninitialised-register",
}
# What is done with unwritten bytes: `instruments.poison.GUARD`, `ADDRESS`, `VALUE`.
USES: Final = (
    "whether `{instruction}` is executed depends on",
    "the address of `{instruction}` depends on",
    "`{instruction}` is given what depends on",
)
# What the two sides of a race do: this warp's access, and the one before it.
SIDES: Final = {
    state.WRITE_WRITE: ("write", "write"),
    state.READ_WRITE: ("write", "read"),
    state.WRITE_READ: ("read", "write"),
    state.WARP_WRITE_WRITE: ("write", "write"),
    state.WARP_READ_WRITE: ("write", "read"),
    state.WARP_WRITE_READ: ("read", "write"),
    state.OWN_WRITE_WRITE: ("write", "write"),
    state.OWN_READ_WRITE: ("write", "read"),
    state.OWN_WRITE_READ: ("read", "write"),
    state.NOT_READ_ONLY: ("read", "write"),
    state.ENDED: ("access", "exit"),
    state.UNFENCED: ("access", "write"),
    state.STALE_MAP: ("access", "write"),
    state.REUSED: ("write", "read"),
    state.TENSOR_UNFENCED: ("access", "access"),
}
REVERSED: Final = {  # the same race with its sides in the other order
    state.READ_WRITE: state.WRITE_READ,
    state.WRITE_READ: state.READ_WRITE,
    state.WARP_READ_WRITE: state.WARP_WRITE_READ,
    state.WARP_WRITE_READ: state.WARP_READ_WRITE,
    state.OWN_READ_WRITE: state.OWN_WRITE_READ,
    state.OWN_WRITE_READ: state.OWN_READ_WRITE,
}
SPACES: Final = {
    state.GENERIC: "generic",
    state.TENSOR: "tensor",
    **{space.number: name for name, space in MEMORY.items()},
}
