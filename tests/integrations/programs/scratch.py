"""A tensor descriptor that the kernel makes, in memory of the launch's own: it lives until the launch is over."""

from __future__ import annotations

import weakref

import numpy as np
import triton
import triton.language as tl

from ptxloom.machine.port.launch import Prepared
from ptxloom.triton import from_numpy

told: list[str] = []
launch = Prepared.launch


def launched(self: Prepared, *args: object, **options: object) -> object:
    result = launch(self, *args, **options)
    told.append("launched")
    return result


def allocate(size: int, align: int, stream: object) -> object:
    made = from_numpy(np.zeros(size + align, np.uint8))
    made.array = made.array[-made.data_ptr() % align :][:size]
    weakref.finalize(made, told.append, "given back")
    return made


@triton.jit
def doubled(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    into = tl.make_tensor_descriptor(out, [ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    into.store([0, 0], source.load([0, 0]) * 2)


Prepared.launch = launched
triton.set_allocator(allocate)
x, out = np.arange(256, dtype=np.int32).reshape(8, 32), np.zeros((8, 32), np.int32)
doubled[(1,)](from_numpy(x), from_numpy(out), 8, 32)
print(*told, "right" if (out == 2 * x).all() else "wrong")
