// Rebuilt from the words of https://github.com/kekzl/imp/pull/352: the weights of the first product, packed as a factor of the second,
// stand by row before half of k instead of by half of k before row.
#include <cuda_fp16.h>

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned pair(const half *at) { return *reinterpret_cast<const unsigned *>(at); }

__device__ unsigned packed(float low, float high) {
  half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<unsigned *>(&both);
}

__device__ unsigned down(const half *at, int pitch) {
  half2 both = __halves2half2(at[0], at[pitch]);
  return *reinterpret_cast<unsigned *>(&both);
}

// O (m, 16) = exp(Q (m, 16) @ K (32, 16).T / 4) @ V (32, 16) over the sums of its rows, a warp for 16 rows.
extern "C" __global__ void attention(const half *Q, const half *K, const half *V, float *O) {
  int lane = threadIdx.x, row = blockIdx.x * 16 + lane / 4, two = lane % 4 * 2;
  const half *from = Q + row * 16 + two;
  unsigned q[4] = {pair(from), pair(from + 8 * 16), pair(from + 8), pair(from + 8 * 16 + 8)};
  float s[4][4] = {}, o[2][4] = {}, upper = 0, lower = 0;
  for (int j = 0; j < 4; ++j) {
    const half *with = K + (j * 8 + lane / 4) * 16 + two;
    multiply(s[j], q, pair(with), pair(with + 8));
    for (int i = 0; i < 4; ++i) s[j][i] = __expf(s[j][i] * 0.25f);
    upper += s[j][0] + s[j][1];
    lower += s[j][2] + s[j][3];
  }
  for (int step = 1; step < 4; step *= 2) {
    upper += __shfl_xor_sync(~0u, upper, step);
    lower += __shfl_xor_sync(~0u, lower, step);
  }
  for (int j = 0; j < 2; ++j) {
    unsigned p[4];
    p[0] = packed(s[2 * j][0], s[2 * j][1]);
#ifdef FAULT
    p[1] = packed(s[2 * j + 1][0], s[2 * j + 1][1]);  // here
    p[2] = packed(s[2 * j][2], s[2 * j][3]);          // here
#else
    p[1] = packed(s[2 * j][2], s[2 * j][3]);
    p[2] = packed(s[2 * j + 1][0], s[2 * j + 1][1]);
#endif
    p[3] = packed(s[2 * j + 1][2], s[2 * j + 1][3]);
    for (int i = 0; i < 2; ++i) {
      const half *v = V + (j * 16 + two) * 16 + i * 8 + lane / 4;
      multiply(o[i], p, down(v, 16), down(v + 8 * 16, 16));
    }
  }
  for (int i = 0; i < 2; ++i) {
    float *to = O + row * 16 + i * 8 + two;
    to[0] = o[i][0] / upper, to[1] = o[i][1] / upper;
    to[8 * 16] = o[i][2] / lower, to[8 * 16 + 1] = o[i][3] / lower;
  }
}
