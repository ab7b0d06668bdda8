"""A copy by a map of `cuTensorMapEncodeIm2colWide`: which of its elements are not those that a loop over W brings.

Usage: `width_copies.py LOWER UPPER FIRST OFFSET HALO`: the corners of the bounding box in W, the first pixel, and what
the instruction says. It prints what the driver returned, and how many elements were compared and how many differ.
"""

import ctypes
import sys
from ctypes import c_int, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p

import driver_calls as cuda

UINT32, SWIZZLE_128B, MODE_W, LINE = 2, 3, 0, 32
CHANNELS, WIDTH, HEIGHT, IMAGES, PIXELS, ROOM = LINE, 9, 3, 5, 32, 8192
TEXT = f"""
.version 8.8
.target sm_100a
.address_size 64
.visible .entry copy(.param .u64 out, .param .align 64 .b8 map[128], .param .u32 w, .param .u32 h, .param .u32 n,
                     .param .u16 offset, .param .u16 halo, .param .u32 bytes)
{{
    .reg .b64 %tm, %to, %state, %far; .reg .b32 %c, %w, %h, %n, %t, %from, %size, %word; .reg .b16 %offset, %halo;
    .reg .pred %one, %more;
    .shared .align 1024 .b8 tile[{ROOM}];
    .shared .align 8 .b64 bar;
    mov.b64 %tm, map; cvta.param.u64 %tm, %tm; ld.param.u64 %to, [out]; mov.u32 %c, 0; mov.u32 %t, %tid.x;
    ld.param.u32 %w, [w]; ld.param.u32 %h, [h]; ld.param.u32 %n, [n]; ld.param.u32 %size, [bytes];
    ld.param.u16 %offset, [offset]; ld.param.u16 %halo, [halo]; setp.eq.u32 %one, %t, 0;
    @%one mbarrier.init.shared::cta.b64 [bar], 1;
    @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %size;
    fence.mbarrier_init.release.cluster; bar.sync 0;
    @%one cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes
        [tile], [%tm, {{%c, %w, %h, %n}}], [bar], {{%halo, %offset}};
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %more, [bar], 0; @!%more bra WAIT;
    mov.u32 %from, tile; shl.b32 %t, %t, 2;
NEXT:
    add.u32 %word, %from, %t; ld.shared.u32 %word, [%word]; cvt.u64.u32 %far, %t; add.u64 %far, %to, %far;
    st.global.u32 [%far], %word; add.u32 %t, %t, 128; setp.lt.u32 %more, %t, %size; @%more bra NEXT;
    ret;
}}
""".encode()

lower, upper, first, offset, halo = map(int, sys.argv[1:])
height, image, count = 1, 1, PIXELS + halo


def wanted() -> list[int]:
    """The elements of all pixels, in their order; beyond the images and their edges there are zeros."""
    low, high = lower + offset, WIDTH + upper + offset
    w, n, found = first + offset, image, list[int]()
    for _ in range(count):
        inside = 0 <= w < WIDTH and n < IMAGES
        start = ((n * HEIGHT + height) * WIDTH + w) * CHANNELS
        found += range(start + 1, start + 1 + CHANNELS) if inside else [0] * CHANNELS
        w += 1
        if w >= high:
            w, n = low, n + 1
    return found


cuda.begin()
elements = IMAGES * HEIGHT * WIDTH * CHANNELS
tensor, out = cuda.allocate(4 * elements), cuda.allocate(4 * count * CHANNELS)
cuda.write(tensor, *range(1, elements + 1))
made = (ctypes.c_char * 192)()
start = (ctypes.addressof(made) + 63) & -64
sizes = (c_uint64 * 4)(CHANNELS, WIDTH, HEIGHT, IMAGES)
strides = (c_uint64 * 3)(4 * CHANNELS, 4 * CHANNELS * WIDTH, 4 * CHANNELS * WIDTH * HEIGHT)
steps = (c_uint32 * 4)(1, 1, 1, 1)
cuda.call(
    "cuTensorMapEncodeIm2colWide", c_void_p(start), UINT32, 4, c_void_p(tensor.value), sizes, strides, lower, upper,
    CHANNELS, PIXELS, steps, 0, MODE_W, SWIZZLE_128B, 0, 0,
)  # fmt: skip
numbers = c_int(first), c_int(height), c_int(image), c_uint16(offset), c_uint16(halo), c_uint32(4 * count * CHANNELS)
given = (c_void_p * 8)(ctypes.addressof(out), start, *map(ctypes.addressof, numbers))
kernel = cuda.function(cuda.module(TEXT), b"copy")
print(cuda.answer("cuLaunchKernel", kernel, 1, 1, 1, LINE, 1, 1, 0, None, given, None), end=" ")
print(cuda.answer("cuCtxSynchronize"), end=" ")
brought = (c_uint32 * (count * CHANNELS))()
cuda.call("cuMemcpyDtoH_v2", brought, out, c_size_t(ctypes.sizeof(brought)))
plain = [brought[row * LINE + (at // 4 ^ row % 8) * 4 + at % 4] for row in range(count) for at in range(LINE)]
print(len(plain), sum(got != right for got, right in zip(plain, wanted(), strict=True)))
