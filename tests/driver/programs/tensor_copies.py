"""Copies by a tensor map, each in a process of its own: what the driver returns once the kernel has ended.

Usage: `tensor_copies.py COPY COLUMN ROW`, where COPY is `load`, `store`, `other-rank` or `no-map`.
"""

import ctypes
import sys
from ctypes import byref, c_uint64, c_void_p

import driver_calls as cuda

FLOAT32, ROWS, COLUMNS, BOX = 7, 32, 32, 8
LOAD = "shared::cta.global.tile.mbarrier::complete_tx::bytes [stage], [%tm, {{{}}}], [bar];"
COPIES = {
    "load": "cp.async.bulk.tensor.2d." + LOAD.format("%x, %y"),
    "store": "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%tm, {%x, %y}], [stage];",
    "other-rank": "cp.async.bulk.tensor.3d." + LOAD.format("%x, %y, %y"),
}
COPIES["no-map"] = COPIES["load"]


def text(copy: str) -> bytes:
    """A module whose kernel makes one copy; all but a store wait for it."""
    wait = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    if copy != "store":
        wait = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done bra WAIT;"
    return f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry copy(.param .align 64 .b8 map[128], .param .u32 column, .param .u32 row)
{{
    .reg .b64 %tm, %state; .reg .b32 %x, %y; .reg .pred %done;
    .shared .align 128 .b8 stage[{4 * BOX * BOX}];
    .shared .align 8 .b64 bar;
    mov.b64 %tm, map; cvta.param.u64 %tm, %tm;
    ld.param.u32 %x, [column]; ld.param.u32 %y, [row];
    mbarrier.init.shared::cta.b64 [bar], 1; fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], {4 * BOX * BOX};
    {COPIES[copy]}
    {wait}
    ret;
}}
""".encode()


copy, column, row = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
cuda.begin()
tensor = cuda.allocate(4 * ROWS * COLUMNS)
cuda.write(tensor, *range(ROWS * COLUMNS))
made = (ctypes.c_char * 192)()
start = (ctypes.addressof(made) + 63) & -64
sizes, strides = (c_uint64 * 2)(COLUMNS, ROWS), (c_uint64 * 1)(4 * COLUMNS)
box, steps = (ctypes.c_uint32 * 2)(BOX, BOX), (ctypes.c_uint32 * 2)(1, 1)
if copy != "no-map":
    where = c_void_p(start)
    cuda.call(
        "cuTensorMapEncodeTiled", where, FLOAT32, 2, c_void_p(tensor.value), sizes, strides, box, steps, 0, 0, 0, 0
    )
numbers = ctypes.c_int(column), ctypes.c_int(row)
parameters = (c_void_p * 3)(start, *map(ctypes.addressof, numbers))
kernel = cuda.function(cuda.module(text(copy)), b"copy")
print(cuda.answer("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, parameters, None), end=" ")
print(cuda.answer("cuCtxSynchronize"), cuda.answer("cuMemAlloc_v2", byref(c_uint64()), ctypes.c_size_t(4)))
