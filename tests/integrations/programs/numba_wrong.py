"""A product by numba that leaves out the last four k: nothing is checked here."""

import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def product(a, b, c):
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1] - 4):  # wrong
        total += a[row, k] * b[k, column]
    c[row, column] = total


rng = np.random.default_rng(1)
left = rng.integers(-4, 5, (32, 48)).astype(np.float32)
right = rng.integers(-4, 5, (48, 32)).astype(np.float32)
device = cuda.device_array((32, 32), np.float32)
product[(2, 2), (16, 16)](cuda.to_device(left), cuda.to_device(right), device)
print("launched", device.copy_to_host().shape)
