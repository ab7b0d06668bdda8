// Rebuilt from the words of https://github.com/tile-ai/tilelang/issues/2522: two warpgroups of two products each take 64 rows in turn,
// and store as if each had 128 rows that follow each other.
#include <cuda_bf16.h>

__device__ unsigned long long described(const void *at) {
  unsigned long long start = __cvta_generic_to_shared(at) >> 4 & 0x3fff;
  return start | 1ull << 16 | 64ull << 32 | 1ull << 62;  // rows of 128 bytes, swizzled; eights of them 1,024 bytes apart
}

__device__ void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}

// C (256, 8) = A (256, 64) @ B (8, 64).T, two warpgroups.
extern "C" __global__ void product(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C) {
  extern __shared__ __align__(1024) __nv_bfloat16 a[];
  __nv_bfloat16 *b = a + 256 * 64;
  int thread = threadIdx.x, lane = thread % 32, group = thread / 128, warp = thread / 32 % 4;
  for (int i = thread; i < 264 * 8; i += 256) {
    const __nv_bfloat16 *from = i < 256 * 8 ? A + i * 8 : B + (i - 256 * 8) * 8;
    *reinterpret_cast<uint4 *>(a + i / 8 * 64 + (i % 8 ^ i / 8 % 8) * 8) = *reinterpret_cast<const uint4 *>(from);
  }
  asm volatile("fence.proxy.async;");
  __syncthreads();
  float d[2][4] = {};
  for (int half = 0; half < 2; ++half)
    for (int at = 0; at < 64; at += 16) multiply(d[half], described(a + (half * 128 + group * 64) * 64 + at), described(b + at));
  asm volatile("wgmma.commit_group.sync.aligned;");
  asm volatile("wgmma.wait_group.sync.aligned 0;");
  for (int half = 0; half < 2; ++half) {
#ifdef FAULT
    int row = group * 128 + half * 64 + warp * 16 + lane / 4;  // here
#else
    int row = half * 128 + group * 64 + warp * 16 + lane / 4;
#endif
    float *to = C + row * 8 + lane % 4 * 2;  // here
    to[0] = d[half][0], to[1] = d[half][1];  // here
    to[64] = d[half][2], to[65] = d[half][3];  // here
  }
}
