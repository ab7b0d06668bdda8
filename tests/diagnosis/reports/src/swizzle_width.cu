// Rebuilt from the words of https://github.com/deepseek-ai/DeepGEMM/pull/379: rows of 64 bytes are written by the swizzle of 64 bytes and
// read by that of 128.
#include <cuda_fp16.h>

constexpr int WIDE = 32;  // 64 bytes

__device__ unsigned shared_at(const void *at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

template <int BYTES> __device__ unsigned swizzled(unsigned byte) { return byte ^ (byte >> 3 & (BYTES == 128 ? 0x70 : 0x30)); }

__device__ void load4(unsigned (&r)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// S (m, n) = Q (m, 32) @ K (n, 32).T, two warps for 32 x 32.
extern "C" __global__ void scores(const half *Q, const half *K, float *S, int n) {
  __shared__ __align__(1024) half queries[32 * WIDE], keys[32 * WIDE];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, into_q = shared_at(queries), into_k = shared_at(keys);
  for (unsigned i = threadIdx.x; i < 32 * 4; i += 64) {
    unsigned byte = swizzled<64>(i * 16);
    *reinterpret_cast<uint4 *>(reinterpret_cast<char *>(queries) + byte) = reinterpret_cast<const uint4 *>(Q + blockIdx.y * 32 * WIDE)[i];
    *reinterpret_cast<uint4 *>(reinterpret_cast<char *>(keys) + byte) = reinterpret_cast<const uint4 *>(K + blockIdx.x * 32 * WIDE)[i];
  }
  __syncthreads();
  float d[4][4] = {};
  for (unsigned step = 0; step < 2; ++step) {
    unsigned a[4], b[4];
    load4(a, into_q + swizzled<64>((warp * 16 + lane % 16) * 64 + step * 32 + lane / 16 * 16));
    for (unsigned j = 0; j < 2; ++j) {
      unsigned byte = (j * 16 + lane / 16 * 8 + lane % 8) * 64 + step * 32 + lane / 8 % 2 * 16;
#ifdef FAULT
      load4(b, into_k + swizzled<128>(byte));  // here
#else
      load4(b, into_k + swizzled<64>(byte));
#endif
      multiply(d[2 * j], a, b[0], b[1]);
      multiply(d[2 * j + 1], a, b[2], b[3]);
    }
  }
  for (int j = 0; j < 4; ++j) {
    float *to = S + (blockIdx.y * 32 + warp * 16 + lane / 4) * n + blockIdx.x * 32 + j * 8 + lane % 4 * 2;
    to[0] = d[j][0], to[1] = d[j][1];
    to[8 * n] = d[j][2], to[8 * n + 1] = d[j][3];
  }
}
