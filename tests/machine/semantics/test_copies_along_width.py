"""Copies by tensor maps that walk W alone: `.im2col::w` and `.im2col::w::128` (PTX ISA 5.5.5), by the manual."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.descriptors import TensorMap, encode_im2col_wide

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANNELS, ROOM = 64, 32768
_TEXT = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128], .param .u64 tensor, .param .u32 w, .param .u32 h,
                  .param .u32 n, .param .u32 offset, .param .u32 halo) {{
  .reg .pred p<3>; .reg .b32 r<12>; .reg .b64 d<6>; .reg .b16 h<3>;
  .shared .align 1024 .b8 tile[{room}]; .shared .align 8 .b64 bar;
  mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0; mov.b64 d2, map; cvta.param.u64 d2, d2; ld.param.u64 d1, [out];
  ld.param.u32 r1, [w]; ld.param.u32 r2, [h]; ld.param.u32 r3, [n]; ld.param.u16 h0, [halo]; ld.param.u16 h1, [offset];
  @p0 mbarrier.init.shared.b64 [bar], 1; @p0 mbarrier.arrive.expect_tx.shared.b64 d3, [bar], {bytes};
  fence.mbarrier_init.release.cluster; bar.sync 0; mov.u32 r4, 0;
  @p0 cp.async.bulk.tensor.{rank}d.shared::cta.global.{mode}.mbarrier::complete_tx::bytes
    [tile], [d2, {{{coordinates}}}], [bar], {{h0, h1}};
W: mbarrier.try_wait.parity.shared.b64 p1, [bar], 0; @!p1 bra W;
  mov.u32 r5, tile; shl.b32 r6, r0, 2; add.u32 r5, r5, r6; cvt.u64.u32 d4, r6; add.u64 d1, d1, d4; mov.u32 r7, 0;
C: ld.shared.u32 r8, [r5]; st.global.u32 [d1], r8; add.u32 r5, r5, 128; add.u64 d1, d1, 128; add.u32 r7, r7, 128;
  setp.lt.u32 p1, r7, {bytes}; @p1 bra C;
  ret;
}}
"""
_COORDINATES = {3: "r4, r1, r3", 4: "r4, r1, r2, r3", 5: "r4, r1, r2, r4, r3"}


class Walk(NamedTuple):
    """What a map and an instruction say: corners of W, pixels, the stride, where (W, H, N), the offset and the halo."""

    corners: tuple[int, int] = (0, 0)
    pixels: int = 16
    step: int = 1
    at: tuple[int, int, int] = (0, 0, 0)
    offset: int = 0
    halo: int = 0


def tensor_of(rank: int, width: int, images: int = 40) -> NDArray[np.float16]:
    """Images, 3 high and 1 deep where they are, whose elements say where they are."""
    between = (1, 3)[5 - rank :]
    shape = (images, *between, width, CHANNELS)
    return (np.arange(np.prod(shape)) % 2039).reshape(shape).astype(np.float16)


def map_of(tensor: NDArray[np.float16], walk: Walk) -> TensorMap:
    steps = (1, walk.step, *(1,) * (tensor.ndim - 2))
    dims, strides, box = tensor.shape[::-1], tensor.strides[-2::-1], (*walk.corners, CHANNELS, walk.pixels)
    made = encode_im2col_wide("FLOAT16", 0, dims, strides, *box, steps, swizzle="128B")
    return replace(made, global_address=tensor.ctypes.data)


def walked(tensor: NDArray[np.float16], walk: Walk, count: int) -> NDArray[np.float16]:
    """Pixels by 5.5.5: along W within the box, then of the next image; the offset moves the box and the first pixel."""
    low, high = walk.corners[0] + walk.offset, tensor.shape[-2] + walk.corners[1] + walk.offset
    w, h, n = walk.at
    w += walk.offset
    found: list[NDArray[np.float16]] = []
    for _ in range(count):
        width = tensor.shape[-2] if n < len(tensor) else 0
        row = tensor[n].reshape(-1, *tensor.shape[-2:])[h] if width else tensor
        found.append(row[w] if 0 <= w < width else np.zeros(CHANNELS, np.float16))
        w += walk.step
        if w >= high:
            w, n = low, n + 1
    return np.stack(found)


def copied(
    made: TensorMap, tensor: NDArray[np.float16], mode: str, walk: Walk, count: int
) -> tuple[NDArray[np.float16], Any]:
    """What a copy has brought, its swizzle undone, and the hazards."""
    whole = count * CHANNELS * 2
    text = _TEXT.format(room=ROOM, bytes=whole, rank=tensor.ndim, mode=mode, coordinates=_COORDINATES[tensor.ndim])
    out = np.zeros(whole, np.uint8)
    arguments = [out, made.to_bytes(), tensor, *walk.at, walk.offset, walk.halo]
    done = pl.kernel(pl.parse(text), "k").launch(1, 32, arguments, checks=["racecheck", "initcheck"], timeout=600.0)
    rows = out.reshape(count, 8, 16)
    plain = np.stack([rows[row, np.arange(8) ^ row % 8] for row in range(count)])
    return plain.reshape(count, -1).view(np.float16), done.hazards


@pytest.mark.parametrize(
    ("rank", "walk"),
    [
        (4, Walk(pixels=128, at=(2, 1, 0))),  # the manual's example, without its halo
        (4, Walk((-1, 0), 64, 2, (1, 2, 3), 1)),
        (4, Walk((-1, -1), 32, 3, (-2, 0, 0), 2)),  # begins before the box
        (3, Walk((-2, 2), 96, 1, (8, 0, 37))),  # runs out of images
        (5, Walk((0, -1), 16, 1, (5, 2, 1))),
    ],
)
@pytest.mark.parametrize("mode", ["im2col::w", "im2col::w::128"])
def test_pixels_are_walked_along_the_width_of_each_image(mode: str, rank: int, walk: Walk) -> None:
    tensor = tensor_of(rank, 9)
    count = 128 if mode.endswith("128") else walk.pixels
    found, hazards = copied(map_of(tensor, walk), tensor, mode, walk, count)
    assert hazards == ()
    assert (found == walked(tensor, walk, count)).all()


@pytest.mark.parametrize(
    ("rank", "walk"),
    [
        (4, Walk(pixels=16, at=(0, 1, 0), halo=2)),  # ends with the image
        (4, Walk((-1, 0), 63, 2, (1, 2, 3), 1, 1)),
        (3, Walk((-1, -1), 3, 1, (-2, 0, 0), 1, 4)),  # in the first image, begun before the box
        (5, Walk((0, -1), 16, 1, (5, 2, 1), 0, 2)),
    ],
)
def test_a_halo_that_stays_in_the_last_image_lies_behind_its_pixels(rank: int, walk: Walk) -> None:
    tensor, count = tensor_of(rank, 9), walk.pixels + walk.halo
    found, hazards = copied(map_of(tensor, walk), tensor, "im2col::w", walk, count)
    assert hazards == ()
    assert (found == walked(tensor, walk, count)).all()


@pytest.mark.parametrize(
    ("mode", "swizzle", "walk", "said"),
    [
        ("im2col::w", "128B", Walk(halo=3), "its halo extends past an image"),
        ("im2col::w::128", "128B", Walk(halo=1), "past every 32 pixels"),
        ("im2col::w", "128B", Walk(halo=512), "more than 511 pixels"),
        ("im2col::w", "none", Walk(), "a copy along the width has a swizzle"),
        ("im2col::w", "128B", Walk(at=(9, 0, 0)), "outside the bounding box"),
    ],
)
def test_what_cannot_be_walked_is_refused_with_its_reason(mode: str, swizzle: str, walk: Walk, said: str) -> None:
    tensor = tensor_of(4, 9)
    made = replace(map_of(tensor, walk), swizzle=swizzle)
    with pytest.raises(pl.LaunchError, match=said):
        copied(made, tensor, mode, walk, 128)
