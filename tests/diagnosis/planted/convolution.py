"""A convolution as a product that is never laid out: 3x3 taps over 16 channels, a warp for each row of 16 pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.model import Argument, Array, RightKernel
from diagnosis.planted.writer import Writer, registers

if TYPE_CHECKING:
    from collections.abc import Sequence

CHANNELS = 16
FILTERS = 16
SIZE = 16  # pixels, both ways
PITCH = 48
WEIGHTS = SIZE * PITCH  # where they begin in shared memory


def convolution(name: str) -> RightKernel:
    """The kernel: image (y, x, channel), weights (filter, r, s, channel), result (y, x, filter)."""
    w = Writer()
    w.start("X", "W", "Y")
    w("mov.u32 %tiles, tiles")
    w("mov.u32 %y, %ctaid.x")
    for e in range(8):
        w(f"mov.b32 %d{e}, 0")
    w("mov.u32 %r, 0")
    w.label("ROWS")
    w("mov.u32 %s, 0")
    w.label("COLUMNS")
    w("shr.u32 %row, %lane, 1", "copy-row")
    w("and.b32 %chunk, %lane, 1", "copy-chunk")
    _image(w)
    _weights(w)
    w("cp.async.commit_group")
    w("cp.async.wait_group 0")
    w("bar.sync 0", "barrier")
    _multiply(w)
    w("bar.sync 0", "barrier")
    w("add.u32 %s, %s, 1", "s-next")
    w("setp.lt.u32 %p_more, %s, 3")
    w("@%p_more bra COLUMNS")
    w("add.u32 %r, %r, 1", "r-next")
    w("setp.lt.u32 %p_more, %r, 3")
    w("@%p_more bra ROWS")
    _store(w)
    text = w.kernel(("X", "W", "Y"), (), 2 * SIZE * PITCH, "sm_80")
    return RightKernel(name, text, (SIZE,), 32, _arguments, ("X", "W", "Y"), 2, _convolved)


def _image(w: Writer) -> None:
    """A row's pixels at this tap; those beyond the image are zeros."""
    w("add.u32 %in_y, %y, %r", "image-y")
    w("sub.u32 %in_y, %in_y, 1", "image-y-pad")
    w("add.u32 %in_x, %row, %s", "image-x")
    w("sub.u32 %in_x, %in_x, 1", "image-x-pad")
    w(f"setp.lt.u32 %p_in, %in_y, {SIZE}")
    w(f"setp.lt.and.u32 %p_in, %in_x, {SIZE}, %p_in", "image-x-mask")
    w("selp.u32 %filled, 16, 0, %p_in", "image-mask")
    w(f"mad.lo.u32 %pixel, %in_y, {SIZE}, %in_x", "image-width")
    w(f"mul.lo.u32 %g_byte, %pixel, {2 * CHANNELS}", "image-channels")
    w("mad.lo.u32 %g_byte, %chunk, 16, %g_byte", "image-chunk")
    w("selp.u32 %g_byte, %g_byte, 0, %p_in")
    w("cvt.u64.u32 %rd_byte, %g_byte")
    w("add.u64 %rd_from, %rd_X, %rd_byte")
    w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", "image-write-pitch")
    w("mad.lo.u32 %at, %chunk, 16, %at")
    w("cp.async.cg.shared.global [%at], [%rd_from], 16, %filled", "image-copy")


def _weights(w: Writer) -> None:
    w("mad.lo.u32 %tap, %r, 3, %s", "tap")
    w("mad.lo.u32 %tap, %row, 9, %tap", "weights-leading-dimension")
    w(f"mul.lo.u32 %g_byte, %tap, {2 * CHANNELS}", "weights-channels")
    w("mad.lo.u32 %g_byte, %chunk, 16, %g_byte")
    w("cvt.u64.u32 %rd_byte, %g_byte")
    w("add.u64 %rd_from, %rd_W, %rd_byte")
    w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", "weights-write-pitch")
    w("mad.lo.u32 %at, %chunk, 16, %at")
    w(f"cp.async.cg.shared.global [%at+{WEIGHTS}], [%rd_from], 16", "weights-copy")


def _multiply(w: Writer) -> None:
    w("and.b32 %row, %lane, 15", "a-lane")
    w("shr.u32 %chunk, %lane, 4", "a-lane-chunk")
    w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", "a-read-pitch")
    w("mad.lo.u32 %at, %chunk, 16, %at")
    w(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers('a', 4)}, [%at]", "a-load")
    w("and.b32 %row, %lane, 7", "b-lane")
    w("shr.u32 %chunk, %lane, 4")
    w("mad.lo.u32 %row, %chunk, 8, %row", "b-lane-row")
    w("shr.u32 %chunk, %lane, 3")
    w("and.b32 %chunk, %chunk, 1", "b-lane-chunk")
    w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", "b-read-pitch")
    w("mad.lo.u32 %at, %chunk, 16, %at")
    w(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers('b', 4)}, [%at+{WEIGHTS}]", "b-load")
    for half in range(2):
        d = "{" + ", ".join(f"%d{4 * half + e}" for e in range(4)) + "}"
        b = f"{{%b{2 * half}, %b{2 * half + 1}}}"
        w(f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {registers('a', 4)}, {b}, {d}", "mma")


def _store(w: Writer) -> None:
    for half in range(2):
        w("shr.u32 %row, %lane, 2", "y-lane-row")
        w(f"add.u32 %row, %row, {8 * half}", f"y-row-{half}")
        w(f"mad.lo.u32 %pixel, %y, {SIZE}, %row", "y-width")
        w("and.b32 %column, %lane, 3")
        w("shl.b32 %column, %column, 1")
        w(f"mad.lo.u32 %at, %pixel, {FILTERS}, %column", "y-leading-dimension")
        w("mul.wide.u32 %rd_to, %at, 4")
        w("add.u64 %rd_to, %rd_Y, %rd_to")
        for n in range(2):
            pair = f"{{%d{4 * n + 2 * half}, %d{4 * n + 2 * half + 1}}}"
            w(f"st.global.v2.b32 [%rd_to+{32 * n}], {pair}", f"y-store-{half}")


def _arguments() -> Sequence[Argument]:
    rng = np.random.default_rng(3)
    image = rng.integers(-3, 4, (SIZE, SIZE, CHANNELS)).astype(np.float16)
    weights = rng.integers(-3, 4, (FILTERS, 3, 3, CHANNELS)).astype(np.float16)
    return image, weights, np.zeros((SIZE, SIZE, FILTERS), np.float32)


def _convolved(image: Array, weights: Array, _: Array) -> Array:
    padded = np.pad(image.astype(np.float32), ((1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (0, 1))  # (y, x, channel, r, s)
    return np.einsum("yxcrs,frsc->yxf", windows, weights.astype(np.float32))
