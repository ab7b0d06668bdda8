// Rebuilt from the words of https://github.com/thecodacus/llama.cpp/pull/12: a tile is written line by line and read through an XOR.
#include <cuda_fp16.h>

constexpr int WIDE = 64;

__device__ unsigned shared_at(const void *at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }
__device__ int swizzled(int row, int chunk) { return row * WIDE + (chunk ^ (row % 8)) * 8; }

__device__ void load4(unsigned (&r)[4], const half *at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_at(at)));
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// S (m, n) = Q (m, 64) @ K (n, 64).T, four warps for 64 x 32.
extern "C" __global__ void scores(const half *Q, const half *K, float *S, int n) {
  __shared__ __align__(128) half queries[64 * WIDE], keys[32 * WIDE];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    int row = i / 8, chunk = i % 8;
    *reinterpret_cast<uint4 *>(queries + swizzled(row, chunk)) = *reinterpret_cast<const uint4 *>(Q + (blockIdx.y * 64 + row) * WIDE + chunk * 8);
  }
  for (int i = threadIdx.x; i < 32 * 8; i += 128) {
    int row = i / 8, chunk = i % 8;
    uint4 eight = *reinterpret_cast<const uint4 *>(K + (blockIdx.x * 32 + row) * WIDE + chunk * 8);
#ifdef FAULT
    *reinterpret_cast<uint4 *>(keys + row * WIDE + chunk * 8) = eight;  // here
#else
    *reinterpret_cast<uint4 *>(keys + swizzled(row, chunk)) = eight;
#endif
  }
  __syncthreads();
  float d[4][4] = {};
  for (int step = 0; step < 4; ++step) {
    unsigned a[4], b[4];
    load4(a, queries + swizzled(warp * 16 + lane % 16, step * 2 + lane / 16));
    for (int j = 0; j < 2; ++j) {
      load4(b, keys + swizzled(j * 16 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
      multiply(d[2 * j], a, b[0], b[1]);
      multiply(d[2 * j + 1], a, b[2], b[3]);
    }
  }
  for (int j = 0; j < 4; ++j) {
    float *to = S + (blockIdx.y * 64 + warp * 16 + lane / 4) * n + blockIdx.x * 32 + j * 8 + lane % 4 * 2;
    to[0] = d[j][0], to[1] = d[j][1];
    to[8 * n] = d[j][2], to[8 * n + 1] = d[j][3];
  }
}
