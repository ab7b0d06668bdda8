// Products whose tiles reach beyond the edges of B and of k: most of an operand is filled with zeros.
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned pair(const half *p, bool inside) { return inside ? *(const unsigned *)p : 0; }

// C[16, N] = the sum over blocks of 16 k of (A[16, K] B[N, K]^T) S[block, N], 16 columns per CTA.
__device__ __forceinline__ void slices(const half *A, const half *B, const float *S, float *C, int N, int K, int by) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4 * 2;
  float sum[2][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    int k = k0 + t;
    unsigned a0 = pair(A + g * K + k, k < K), a1 = pair(A + (g + 8) * K + k, k < K);
    unsigned a2 = pair(A + g * K + k + 8, k + 8 < K), a3 = pair(A + (g + 8) * K + k + 8, k + 8 < K);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      int n = blockIdx.x * 16 + j * 8 + g, at = blockIdx.x * 16 + j * 8 + t;
      unsigned b0 = pair(B + n * K + k, n < N && k < K), b1 = pair(B + n * K + k + 8, n < N && k + 8 < K);
      float d[4] = {};
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
      for (int i = 0; i < 4; ++i) sum[j][i] += d[i] * (at + i % 2 < N ? S[k0 / 16 * by + at + i % 2] : 0);
    }
  }
#pragma unroll
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 4; ++i) {
      int n = blockIdx.x * 16 + j * 8 + t + i % 2;
      if (n < N) C[(g + i / 2 * 8) * N + n] = sum[j][i];
    }
}

extern "C" __global__ void right(const half *A, const half *B, const float *S, float *C, int N, int K) {
  slices(A, B, S, C, N, K, N);
}

extern "C" __global__ void first_block(const half *A, const half *B, const float *S, float *C, int N, int K) {
  slices(A, B, S, C, N, K, 0);
}
