"""The CuTe DSL, as its users write it: an elementwise sum and a product by tensor cores, on buffers of the device."""

from __future__ import annotations

import cutlass
import numpy as np
from cuda.core import Device, LegacyPinnedMemoryResource
from cutlass import cute
from cutlass.cute.runtime import make_ptr

M, N, K = 64, 32, 48


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    width, _, _ = cute.arch.block_dim()
    at = block * width + thread
    if at < cute.size(c):
        c[at] = a[at] + b[at]


@cute.jit
def add(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer, count: cutlass.Constexpr):
    layout = cute.make_layout(count)
    tensors = [cute.make_tensor(pointer, layout) for pointer in (a, b, c)]
    add_kernel(*tensors).launch(grid=(-(-count // 64), 1, 1), block=(64, 1, 1))


@cute.kernel
def product_kernel(mma: cute.TiledMma, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    row, column, _ = cute.arch.block_idx()
    mine = mma.get_slice(thread)
    of_a = mine.partition_A(cute.local_tile(a, (16, K), (row, 0)))
    of_b = mine.partition_B(cute.local_tile(b, (8, K), (column, 0)))
    of_c = mine.partition_C(cute.local_tile(c, (16, 8), (row, column)))
    left, right, sums = mma.make_fragment_A(of_a), mma.make_fragment_B(of_b), mma.make_fragment_C(of_c)
    cute.autovec_copy(of_a, left)
    cute.autovec_copy(of_b, right)
    sums.fill(0.0)
    cute.gemm(mma, sums, left, right, sums)
    cute.autovec_copy(sums, of_c)


@cute.jit
def product(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer):
    atom = cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    left = cute.make_tensor(a, cute.make_layout((M, K), stride=(K, 1)))
    right = cute.make_tensor(b, cute.make_layout((N, K), stride=(K, 1)))
    into = cute.make_tensor(c, cute.make_layout((M, N), stride=(N, 1)))
    mma = cute.make_tiled_mma(atom)
    product_kernel(mma, left, right, into).launch(grid=(M // 16, N // 8, 1), block=(32, 1, 1))


device = Device()
device.set_current()
pinned = LegacyPinnedMemoryResource()
held = []


def on_device(array: np.ndarray) -> object:
    """A buffer of the device with what an array holds, and where the host finds it again."""
    host, buffer = pinned.allocate(array.nbytes), device.allocate(array.nbytes, stream=device.default_stream)
    np.from_dlpack(host).view(array.dtype)[:] = array.ravel()
    host.copy_to(buffer, stream=device.default_stream)
    held.append((host, buffer))
    kind = {"float16": cutlass.Float16, "float32": cutlass.Float32}[array.dtype.name]
    return make_ptr(kind, int(buffer.handle), cute.AddressSpace.gmem, assumed_align=16)


def result(number: int) -> np.ndarray:
    host, buffer = held[number]
    buffer.copy_to(host, stream=device.default_stream)
    device.default_stream.sync()
    return np.from_dlpack(host).view(np.float32)


random = np.random.default_rng(0)
x, y = (random.integers(-9, 9, 250).astype(np.float32) for _ in range(2))
add(*map(on_device, (x, y, np.zeros_like(x))), 250)
print("sum", bool((result(2) == x + y).all()))
left, right = (random.integers(-4, 4, shape).astype(np.float16) for shape in ((M, K), (N, K)))
product(*map(on_device, (left, right, np.zeros((M, N), np.float32))))
print("product", bool((result(5).reshape(M, N) == left.astype(np.float32) @ right.astype(np.float32).T).all()))
