// Rebuilt from the words of https://github.com/tile-ai/tilelang/issues/2964: a factor that is a slice of rows finds its second panel of k
// by the rows of the slice, not by those of the buffer.
#include <cuda_bf16.h>

constexpr int ROWS = 16, SLICE = 8;

__device__ unsigned long long described(const void *at) {
  unsigned long long start = __cvta_generic_to_shared(at) >> 4 & 0x3fff;
  return start | 1ull << 16 | 64ull << 32 | 1ull << 62;  // rows of 128 bytes, swizzled; eights of them 1,024 bytes apart
}

__device__ void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}

// Two panels of 64 of k, each of so many rows of 128 bytes.
__device__ void copied(__nv_bfloat16 *to, const __nv_bfloat16 *from, int rows) {
  for (int i = threadIdx.x; i < rows * 16; i += 128) {
    int row = i / 16, panel = i / 8 % 2, chunk = i % 8;
    *reinterpret_cast<uint4 *>(to + (panel * rows + row) * 64 + (chunk ^ row % 8) * 8) = *reinterpret_cast<const uint4 *>(from + i * 8);
  }
}

// C (64, 16) = A (64, 128) @ B (16, 128).T, a warpgroup.
extern "C" __global__ void product(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C) {
  extern __shared__ __align__(1024) __nv_bfloat16 a[];
  __nv_bfloat16 *b = a + 64 * 128;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  copied(a, A, 64);
  copied(b, B, ROWS);
  asm volatile("fence.proxy.async;");
  __syncthreads();
  float d[2][4] = {};
  for (int slice = 0; slice < 2; ++slice)
    for (int at = 0; at < 128; at += 16) {
#ifdef FAULT
      const __nv_bfloat16 *from = b + slice * SLICE * 64 + at / 64 * SLICE * 64 + at % 64;  // here
#else
      const __nv_bfloat16 *from = b + slice * SLICE * 64 + at / 64 * ROWS * 64 + at % 64;
#endif
      multiply(d[slice], described(a + at / 64 * 64 * 64 + at % 64), described(from));  // here
    }
  asm volatile("wgmma.commit_group.sync.aligned;");
  asm volatile("wgmma.wait_group.sync.aligned 0;");
  for (int slice = 0; slice < 2; ++slice) {
    float *to = C + (warp * 16 + lane / 4) * 16 + slice * 8 + lane % 4 * 2;
    to[0] = d[slice][0], to[1] = d[slice][1];
    to[8 * 16] = d[slice][2], to[8 * 16 + 1] = d[slice][3];
  }
}
