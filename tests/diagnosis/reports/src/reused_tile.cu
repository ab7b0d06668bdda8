// Rebuilt from the words of https://github.com/KnowingNothing/MatmulTutorial/issues/13: results are put where factors lie that other
// warps may still read.
#include <mma.h>
using namespace nvcuda;

// C (32, 16) = A (32, k) @ B (k, 16), a warp for each 16 rows.
extern "C" __global__ void product(const half *A, const half *B, float *C, int k) {
  __shared__ __align__(32) char room[32 * 16 * 4];
  half *a = reinterpret_cast<half *>(room), *b = a + 32 * 16;
  float *c = reinterpret_cast<float *>(room);
  int warp = threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
  wmma::fill_fragment(d, 0);
  for (int at = 0; at < k; at += 16) {
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * 16; i += 64) a[i] = A[i / 16 * k + at + i % 16];
    for (int i = threadIdx.x; i < 16 * 16; i += 64) b[i] = B[at * 16 + i];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::load_matrix_sync(left, a + warp * 16 * 16, 16);  // here
    wmma::load_matrix_sync(right, b, 16);                  // here
    wmma::mma_sync(d, left, right, d);
  }
#ifndef FAULT
  __syncthreads();
#endif
  wmma::store_matrix_sync(c + warp * 16 * 16, d, 16, wmma::mem_row_major);  // here
  __syncthreads();
  for (int i = threadIdx.x; i < 32 * 16; i += 64) C[i] = c[i];
}
