// Rebuilt from the words of https://github.com/tile-ai/tilelang/issues/2381: k is divided by 16 and rounded down, and what remains is
// dropped.
#include <cuda_fp16.h>

__device__ unsigned pair(const half *at, bool is_in) { return is_in ? *reinterpret_cast<const unsigned *>(at) : 0; }

// C (m, n) = A (m, k) @ B (n, k).T, k in eights, a warp for each 16 x 8.
extern "C" __global__ void product(const half *A, const half *B, float *C, int n, int k) {
  int lane = threadIdx.x, row = blockIdx.y * 16 + lane / 4, column = blockIdx.x * 8;
  float d[4] = {};
#ifdef FAULT
  int steps = k / 16;  // here
#else
  int steps = (k + 15) / 16;
#endif
  for (int step = 0; step < steps; ++step) {  // here
    int at = step * 16 + lane % 4 * 2;
    const half *from = A + row * k + at, *with = B + (column + lane / 4) * k + at;
    bool more = step * 16 + 8 < k;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(pair(from, true)), "r"(pair(from + 8 * k, true)), "r"(pair(from + 8, more)), "r"(pair(from + 8 * k + 8, more)),
                   "r"(pair(with, true)), "r"(pair(with + 8, more)));
  }
  float *to = C + row * n + column + lane % 4 * 2;
  to[0] = d[0], to[1] = d[1];
  to[8 * n] = d[2], to[8 * n + 1] = d[3];
}
