"""A product whose second factor is not transposed, twice: the kernel is a file's, and nothing is checked here."""

import sys
from ctypes import addressof, c_uint32, c_uint64, c_void_p
from pathlib import Path

import driver_calls as cuda

M, N, K = 16, 32, 48
ONES = tuple(0x3C003C00 + (one % 7 << 16) + one % 5 for one in range(K * N // 2))

cuda.begin()
product = cuda.function(cuda.module(Path(sys.argv[1]).read_bytes()), b"product")
left, right, result = cuda.allocate(2 * M * K), cuda.allocate(2 * K * N), cuda.allocate(4 * M * N)
cuda.write(left, *ONES[: M * K // 2])
cuda.write(right, *ONES)
arguments: list[c_uint64 | c_uint32] = [left, right, result, c_uint32(N), c_uint32(K)]
pointers = (c_void_p * len(arguments))(*map(addressof, arguments))
for _ in range(2):
    cuda.call("cuLaunchKernel", product, N // 16, M // 16, 1, 32, 1, 1, 0, None, pointers, None)
cuda.call("cuCtxSynchronize")
print("done", len(cuda.read(result, M * N)))
