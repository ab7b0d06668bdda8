// Rebuilt from the words of https://github.com/NVIDIA/cutlass/pull/2740: the third register of A is named twice, the second never.
#include <cuda_fp16.h>

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef FAULT
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"  // here
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[2]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));  // here
#else
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__device__ unsigned pair(const half *at) { return *reinterpret_cast<const unsigned *>(at); }

// C (m, n) = A (m, k) @ B (n, k).T, a warp for each 16 x 8.
extern "C" __global__ void product(const half *A, const half *B, float *C, int n, int k) {
  int lane = threadIdx.x, row = blockIdx.y * 16 + lane / 4, column = blockIdx.x * 8;
  float d[4] = {};
  for (int at = 0; at < k; at += 16) {
    const half *from = A + row * k + at + lane % 4 * 2;
    const half *with = B + (column + lane / 4) * k + at + lane % 4 * 2;
    unsigned a[4] = {pair(from), pair(from + 8 * k), pair(from + 8), pair(from + 8 * k + 8)};
    unsigned b[2] = {pair(with), pair(with + 8)};
    multiply(d, a, b);
  }
  float *to = C + row * n + column + lane % 4 * 2;
  to[0] = d[0], to[1] = d[1];
  to[8 * n] = d[2], to[8 * n + 1] = d[3];
}
