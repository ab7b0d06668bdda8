// Sums whose addresses are computed on several lines, right (BUG 0) and wrong: the line that `why` must name bears the
// number of the mistake; test_indices.py says what else. `python tools/corpus/diagnosed.py` compiles it to ../ptx/indices.ptx.
#include <cuda_fp16.h>

// C (batches x M x N) = A (batches x M x K) B (batches x K x N), matrices `stride` elements apart.
template <int BUG>
__device__ void batched(const float *A, int strideA, const float *B, int strideB, float *C, int M, int N, int K) {
    const float *a = A + blockIdx.z * (BUG == 2 ? M * K : strideA);          // mistake 2
    const float *b = B + (BUG == 1 ? blockIdx.x : blockIdx.z) * strideB;     // mistake 1
    float *c = C + blockIdx.z * M * N;
    const int m = blockIdx.y * 8 + threadIdx.y, n = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < K; ++i)
        sum = fmaf(a[m * K + i], b[i * N + n], sum);
    c[m * N + n] = sum;
}

// C (M x N) = A (M x K) B (K x N), two columns a thread.
template <int BUG>
__device__ void columns(const float *A, const float *B, float *C, int N, int K) {
    const int n = threadIdx.x * 2, m = blockIdx.x;
    float left = 0, right = 0;
#pragma unroll 1
    for (int k = 0; k < K; ++k) {
        const float *b = B + (BUG == 3 ? k / 8 * 8 : k) * N + n;             // mistake 3
        const float a = A[m * K + k];
        left += a * b[0];
        right += a * b[1];
    }
    C[m * N + n] = left;
    C[m * N + n + 1] = right;
}

// The same, slices of k added in memory.
template <int BUG>
__device__ void slices(const float *A, const float *B, float *C, int N, int K, int slice) {
    const int n = threadIdx.x, m = blockIdx.x;
    const int begin = blockIdx.z * (BUG == 4 ? 8 : slice);                   // mistake 4
    const int end = begin + slice;
    float sum = 0;
#pragma unroll 1
    for (int k = begin; k < end; ++k)
        sum += A[m * K + k] * B[k * N + n];
    atomicAdd(&C[m * N + n], sum);
}

// The same with eight nibbles of B, along k, in each word.
template <int BUG>
__device__ void nibbles(const float *A, const unsigned *W, float *C, int N, int K) {
    const int n = threadIdx.x, m = blockIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < K; k += 8) {
        const unsigned w = W[k / 8 * N + n];
        for (int i = 0; i < 8; ++i)
            sum += A[m * K + k + i] * (int)(w >> (BUG == 5 ? 28 - 4 * i : 4 * i) & 15);  // mistake 5
    }
    C[m * N + n] = sum;
}

#define BATCHED(NAME, BUG)                                                                                             \
    extern "C" __global__ void NAME(const float *A, int strideA, const float *B, int strideB, float *C, int M, int N,  \
                                    int K) {                                                                           \
        batched<BUG>(A, strideA, B, strideB, C, M, N, K);                                                              \
    }
#define COLUMNS(NAME, BUG)                                                                                             \
    extern "C" __global__ void NAME(const float *A, const float *B, float *C, int N, int K) {                          \
        columns<BUG>(A, B, C, N, K);                                                                                   \
    }
#define SLICES(NAME, BUG)                                                                                              \
    extern "C" __global__ void NAME(const float *A, const float *B, float *C, int N, int K, int slice) {               \
        slices<BUG>(A, B, C, N, K, slice);                                                                             \
    }
#define NIBBLES(NAME, BUG)                                                                                             \
    extern "C" __global__ void NAME(const float *A, const unsigned *W, float *C, int N, int K) {                       \
        nibbles<BUG>(A, W, C, N, K);                                                                                   \
    }

BATCHED(batched_0, 0)
BATCHED(batched_1, 1)
BATCHED(batched_2, 2)
COLUMNS(columns_0, 0)
COLUMNS(columns_3, 3)
SLICES(slices_0, 0)
SLICES(slices_4, 4)
NIBBLES(nibbles_0, 0)
NIBBLES(nibbles_5, 5)

// C (M x N) = A (M x K) B^T (N x K) of bytes, those of 32 k of a row of B with one scale, N x K/32: each slice of k is
// scaled when its product is made.
extern "C" __global__ void scaled_slices(const int *A, const int *B, const float *S, float *C, int N, int K) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4, row = blockIdx.y * 16, column = blockIdx.x * 8;
    float c[4] = {};
#pragma unroll 1
    for (int k = 0; k < K / 32; ++k) {
        int a[4], b[2], d[4] = {};
        for (int r = 0; r < 4; ++r)
            a[r] = A[((row + g + r % 2 * 8) * K + k * 32 + r / 2 * 16) / 4 + t];
        for (int r = 0; r < 2; ++r)
            b[r] = B[((column + g) * K + k * 32 + r * 16) / 4 + t];
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        for (int r = 0; r < 4; ++r)
            c[r] += d[r] * S[(column + t * 2 + r % 2) * (K / 32) + k];
    }
    for (int r = 0; r < 4; ++r)
        C[(row + g + r / 2 * 8) * N + column + t * 2 + r % 2] = c[r];
}
