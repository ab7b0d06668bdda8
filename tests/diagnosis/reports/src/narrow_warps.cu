// Rebuilt from the words of https://github.com/tile-ai/tilelang/issues/2537: each warp takes the columns divided by the warps, rounded
// down, and the last columns are nobody's.
#include <cuda_fp16.h>

constexpr int WARPS = 4;

__device__ unsigned pair(const half *at) { return *reinterpret_cast<const unsigned *>(at); }

// C (16, n) = A (16, k) @ B (n, k).T, n in eights over four warps.
extern "C" __global__ void product(const half *A, const half *B, float *C, int n, int k) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#ifdef FAULT
  int each = n / 8 / WARPS;  // here
#else
  int each = (n / 8 + WARPS - 1) / WARPS;
#endif
  for (int j = warp * each; j < min(n / 8, (warp + 1) * each); ++j) {
    float d[4] = {};
    for (int at = 0; at < k; at += 16) {
      const half *from = A + lane / 4 * k + at + lane % 4 * 2, *with = B + (j * 8 + lane / 4) * k + at + lane % 4 * 2;
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(pair(from)), "r"(pair(from + 8 * k)), "r"(pair(from + 8)), "r"(pair(from + 8 * k + 8)), "r"(pair(with)), "r"(pair(with + 8)));
    }
    float *to = C + lane / 4 * n + j * 8 + lane % 4 * 2;
    to[0] = d[0], to[1] = d[1];
    to[8 * n] = d[2], to[8 * n + 1] = d[3];
  }
}
