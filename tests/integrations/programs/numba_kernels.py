"""numba's CUDA target, as its users write it: arrays of the device, shared memory, atomics, a sum over the grid."""

import numpy as np
from numba import cuda, float32


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def transposed(source, to):
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = source[y, x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * 16 + cuda.threadIdx.x, cuda.blockIdx.x * 16 + cuda.threadIdx.y
    to[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def histogram(values, counts):
    cuda.atomic.add(counts, values[cuda.grid(1)], 1)


@cuda.reduce
def total(a, b):
    return a + b


a = np.arange(1000, dtype=np.float32)
out = np.zeros_like(a)
add[8, 128](a, 2 * a, out)
print("add", bool((out == 3 * a).all()))

matrix = np.arange(1024, dtype=np.float32).reshape(32, 32)
device = cuda.device_array_like(matrix)
transposed[(2, 2), (16, 16)](cuda.to_device(matrix), device)
print("transposed", bool((device.copy_to_host() == matrix.T).all()))

values = np.random.default_rng(0).integers(0, 10, 256)
counts = cuda.to_device(np.zeros(10, np.int64))
histogram[4, 64](values, counts)
print("histogram", bool((counts.copy_to_host() == np.bincount(values, minlength=10)).all()))
print("total", bool(total(np.arange(1000.0)) == 499500))
