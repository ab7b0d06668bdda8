"""C = A * B in Triton: fp16 inputs, fp32 output, all row-major; M, N and K are multiples of the tile.

Triton compiles it without a GPU: `python tools/corpus/examples.py` wrote `triton_matmul.ptx` for sm_80. The launch is
grid (M / 64, N / 64), block 128, and as much dynamic shared memory as the compiler says: 8192 bytes. The kernel's last
two parameters are Triton's scratch pointers, which this kernel does not use; pass null.
"""

import triton
import triton.language as tl

SIGNATURES = {"matmul": "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16, 64, 64, 32"}
OPTIONS = {"matmul": {"num_warps": 4, "num_stages": 2}}


@triton.jit
def matmul(A, B, C, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    """One program computes one TILE_M x TILE_N tile of C."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    left = A + rows[:, None] * K + inner[None, :]
    right = B + inner[:, None] * N + columns[None, :]
    sums = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(0, K, TILE_K):
        sums = tl.dot(tl.load(left), tl.load(right), sums)
        left += TILE_K
        right += TILE_K * N
    tl.store(C + rows[:, None] * N + columns[None, :], sums)
