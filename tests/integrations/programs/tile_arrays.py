# ruff: noqa: ANN001, ANN201, ANN202, N812, T201 - TileLang's dialect of Python
"""Kernels of TileLang on PyTorch's tensors: a sum, and a product of matrices by tensor cores."""

import tilelang
import tilelang.language as T
import torch

HOW = {"target": "cuda", "execution_backend": "cython", "compile_flags": ["-cudart", "shared"]}


@tilelang.jit(out_idx=[-1], **HOW)
def add(n, block):
    @T.prim_func
    def kernel(a: T.Tensor((n,), "float32"), b: T.Tensor((n,), "float32"), c: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, block), threads=128) as bx:
            for i in T.Parallel(block):
                c[bx * block + i] = a[bx * block + i] + b[bx * block + i]

    return kernel


@tilelang.jit(out_idx=[-1], **HOW)
def multiply(m, n, k, block):
    @T.prim_func
    def kernel(a: T.Tensor((m, k), "float16"), b: T.Tensor((k, n), "float16"), c: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, block), T.ceildiv(m, block), threads=128) as (bx, by):
            a_tile = T.alloc_shared((block, 32), "float16")
            b_tile = T.alloc_shared((32, block), "float16")
            sums = T.alloc_fragment((block, block), "float32")
            T.clear(sums)
            for step in T.Pipelined(T.ceildiv(k, 32), num_stages=2):
                T.copy(a[by * block, step * 32], a_tile)
                T.copy(b[step * 32, bx * block], b_tile)
                T.gemm(a_tile, b_tile, sums)
            T.copy(sums, c[by * block, bx * block])

    return kernel


torch.manual_seed(0)
a, b = torch.randn(1024, device="cuda"), torch.randn(1024, device="cuda")
print("sum", torch.equal(add(1024, 256)(a, b), a + b))
a, b = (torch.randint(-4, 5, (64, 64), device="cuda").half() for _ in range(2))
print("product", torch.equal(multiply(64, 64, 64, 64)(a, b), a.float() @ b.float()))
