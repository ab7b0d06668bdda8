// The warp matrix functions of mma.h: half, bf16, tf32, double, integers, every layout.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <int M, int N, int K, typename In, typename Out, typename ALayout, typename BLayout, typename Raw>
__device__ void multiply(const Raw *a, const Raw *b, Out *c, wmma::layout_t layout) {
    wmma::fragment<wmma::matrix_a, M, N, K, In, ALayout> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, In, BLayout> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Out> fc;
    wmma::load_matrix_sync(fc, c, N, layout);
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, N, layout);
}

extern "C" __global__ void wmma_half(const half *a, const half *b, float *c, half *d) {
    __shared__ half tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> shared_a;
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    wmma::load_matrix_sync(shared_a, tile, 16);
    d[threadIdx.x + 1024] = shared_a.x[threadIdx.x % 4];
    multiply<16, 16, 16, half, float, wmma::row_major, wmma::col_major>(a, b, c, wmma::mem_row_major);
    multiply<32, 8, 16, half, float, wmma::col_major, wmma::row_major>(a, b, c, wmma::mem_col_major);
    multiply<8, 32, 16, half, half, wmma::row_major, wmma::row_major>(a, b, d, wmma::mem_row_major);
    multiply<16, 16, 16, half, half, wmma::col_major, wmma::col_major>(a, b, d, wmma::mem_col_major);
}

extern "C" __global__ void wmma_integer(const signed char *a, const unsigned char *b, int *c) {
    multiply<16, 16, 16, signed char, int, wmma::row_major, wmma::col_major>(a, a, c, wmma::mem_row_major);
    multiply<32, 8, 16, unsigned char, int, wmma::row_major, wmma::col_major>(b, b, c, wmma::mem_row_major);
    multiply<8, 8, 32, wmma::experimental::precision::s4, int, wmma::row_major, wmma::col_major>(reinterpret_cast<const int *>(a), reinterpret_cast<const int *>(a), c, wmma::mem_row_major);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
extern "C" __global__ void wmma_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c) {
    multiply<16, 16, 16, __nv_bfloat16, float, wmma::row_major, wmma::row_major>(a, b, c, wmma::mem_row_major);
}
extern "C" __global__ void wmma_tf32(const float *a, const float *b, float *c) {
    multiply<16, 16, 8, wmma::precision::tf32, float, wmma::row_major, wmma::col_major>(a, b, c, wmma::mem_row_major);
}
extern "C" __global__ void wmma_double(const double *a, const double *b, double *c) {
    multiply<8, 8, 4, double, double, wmma::row_major, wmma::col_major>(a, b, c, wmma::mem_row_major);
}
#endif
