// Rebuilt from the words of https://github.com/gittensor-ai-lab/sparkinfer/pull/300: scores are stored by the width of a head and read by
// that of the tile.
#include <mma.h>
using namespace nvcuda;

constexpr int HEAD = 64, TOKENS = 32;

// S (16, 32) = 0.125 * Q (16, 64) @ K (32, 64).T, a warp.
extern "C" __global__ void scores(const signed char *Q, const signed char *K, float *S) {
  __shared__ int tile[16 * HEAD];
  for (int j = 0; j < TOKENS / 16; ++j) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> d;
    wmma::fill_fragment(d, 0);
    for (int at = 0; at < HEAD; at += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
      wmma::load_matrix_sync(a, Q + at, HEAD);
      wmma::load_matrix_sync(b, K + j * 16 * HEAD + at, HEAD);
      wmma::mma_sync(d, a, b, d);
    }
#ifdef FAULT
    wmma::store_matrix_sync(tile + j * 16, d, HEAD, wmma::mem_row_major);  // here
#else
    wmma::store_matrix_sync(tile + j * 16, d, TOKENS, wmma::mem_row_major);
#endif
  }
  __syncwarp();
  for (int i = threadIdx.x; i < 16 * TOKENS; i += 32) S[i] = 0.125f * static_cast<float>(tile[i]);
}
