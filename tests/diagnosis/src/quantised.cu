// Right products with weights of few bits in blocks of 32 along k, each in an order of its own: `why` must accuse none of
// them (test_quantised.py). `python tools/corpus/diagnosed.py` compiles it to ../ptx/quantised.ptx.
#include <cuda_fp16.h>
#include <stdint.h>

#define KERNEL extern "C" __global__ void

struct Q4 {
    half d;
    uint8_t q[16]; // the first half of the block in the lower nibbles
};

struct Q8 {
    half d;
    int8_t q[32];
};

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ unsigned packed(float low, float high) {
    const half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned *>(&both);
}

// Two weights of row n of W: k and k + 1 of a block.
__device__ unsigned weights(const uint8_t *W, const half *S, int n, int block, int k, int K) {
    const int at = n * (K / 32) + block, half_ = k / 16 * 4;
    const float d = __half2float(S[at]);
    const uint8_t *q = W + at * 16 + k % 16;
    return packed((int(q[0] >> half_ & 15) - 8) * d, (int(q[1] >> half_ & 15) - 8) * d);
}

KERNEL second(const half *X, const uint8_t *W, const half *S, float *Y, int N, int K) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2, m0 = blockIdx.y * 16, n0 = blockIdx.x * 8;
    float d[4] = {};
    for (int block = 0; block < K / 32; ++block)
        for (int k = 0; k < 32; k += 16) {
            unsigned a[4], b[2];
            for (int r = 0; r < 4; ++r) a[r] = *(const unsigned *)(X + (m0 + g + r % 2 * 8) * K + block * 32 + k + r / 2 * 8 + t);
            for (int r = 0; r < 2; ++r) b[r] = weights(W, S, n0 + g, block, k + r * 8 + t, K);
            multiply(d, a, b);
        }
    for (int r = 0; r < 4; ++r) Y[(m0 + g + r / 2 * 8) * N + n0 + t + r % 2] = d[r];
}

KERNEL first(const half *X, const uint8_t *W, const half *S, float *Y, int N, int K) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2, n0 = blockIdx.x * 16, m0 = blockIdx.y * 8;
    float d[4] = {};
    for (int block = 0; block < K / 32; ++block)
        for (int k = 0; k < 32; k += 16) {
            unsigned a[4], b[2];
            for (int r = 0; r < 4; ++r) a[r] = weights(W, S, n0 + g + r % 2 * 8, block, k + r / 2 * 8 + t, K);
            for (int r = 0; r < 2; ++r) b[r] = *(const unsigned *)(X + (m0 + g) * K + block * 32 + k + r * 8 + t);
            multiply(d, a, b);
        }
    for (int r = 0; r < 4; ++r) Y[(m0 + t + r % 2) * N + n0 + g + r / 2 * 8] = d[r];
}

KERNEL by_element(const half *X, const uint8_t *W, const half *S, float *Y, int N, int K) {
    const int n = threadIdx.x, m = blockIdx.x;
    float sum = 0;
    for (int block = 0; block < K / 32; ++block) {
        const float d = __half2float(S[n * (K / 32) + block]);
        for (int j = 0; j < 16; ++j) {
            const unsigned w = W[(n * (K / 32) + block) * 16 + j];
            sum += __half2float(X[m * K + block * 32 + j]) * (int(w & 15) - 8) * d;
            sum += __half2float(X[m * K + block * 32 + j + 16]) * (int(w >> 4) - 8) * d;
        }
    }
    Y[m * N + n] = sum;
}

KERNEL by_block(const half *X, const Q4 *W, float *Y, int N, int K) {
    const int n = threadIdx.x, m = blockIdx.x;
    float sum = 0;
    for (int block = 0; block < K / 32; ++block) {
        const Q4 &w = W[n * (K / 32) + block];
        float part = 0;
        for (int j = 0; j < 16; ++j) {
            part += __half2float(X[m * K + block * 32 + j]) * ((w.q[j] & 15) - 8);
            part += __half2float(X[m * K + block * 32 + j + 16]) * ((w.q[j] >> 4) - 8);
        }
        sum += part * __half2float(w.d);
    }
    Y[m * N + n] = sum;
}

KERNEL of_structs(const Q8 *X, const Q8 *W, float *Y, int N, int K) {
    const int n = threadIdx.x, m = blockIdx.x;
    float sum = 0;
    for (int block = 0; block < K / 32; ++block) {
        const Q8 &w = W[n * (K / 32) + block], &x = X[m * (K / 32) + block];
        int part = 0;
        for (int j = 0; j < 32; ++j) part += w.q[j] * x.q[j];
        sum += part * (__half2float(w.d) * __half2float(x.d));
    }
    Y[m * N + n] = sum;
}

KERNEL of_table(const half *X, const uint8_t *W, const float *S, const float *code, float *Y, int N, int K) {
    const int n = threadIdx.x, m = blockIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) {
        const int q = W[(n * K + k) / 2] >> (k % 2 ? 0 : 4) & 15;
        sum += __half2float(X[m * K + k]) * (code[q] * S[(n * K + k) / 32]);
    }
    Y[m * N + n] = sum;
}

// Byte j of a block holds k j, j + 8, j + 16 and j + 24, of two bits each.
KERNEL quarters(const half *X, const uint8_t *W, const half *S, float *Y, int N, int K) {
    const int n = threadIdx.x, m = blockIdx.x;
    float sum = 0;
    for (int block = 0; block < K / 32; ++block) {
        const int at = n * (K / 32) + block;
        float part = 0;
        for (int j = 0; j < 32; ++j)
            part += __half2float(X[m * K + block * 32 + j]) * (int(W[at * 8 + j % 8] >> j / 8 * 2 & 3) - 1);
        sum += part * __half2float(S[at]);
    }
    Y[m * N + n] = sum;
}

// Each slice of k with the scales of its block. Bugs: 1: SA of the upper rows, 2: SB of the first block, 3: SB of the first
// column of two; with 4 more, the scales are multiplied by each other first.
KERNEL slices(const int *A, const int *B, const float *SA, const float *SB, float *C, int N, int K, int bug) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4, n0 = blockIdx.x * 8;
    float c[4] = {};
#pragma unroll 1
    for (int k = 0; k < K; k += 32) {
        int a[4], b[2], d[4] = {};
        for (int r = 0; r < 4; ++r) a[r] = A[((g + r % 2 * 8) * K + k + r / 2 * 16) / 4 + t];
        for (int r = 0; r < 2; ++r) b[r] = B[((n0 + g) * K + k + r * 16) / 4 + t];
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        for (int r = 0; r < 4; ++r) {
            const int m = g + (bug % 4 == 1 ? 0 : r / 2 * 8), n = n0 + t * 2 + (bug % 4 == 3 ? 0 : r % 2);
            const float sa = SA[m * (K / 32) + k / 32], sb = SB[(bug % 4 == 2 ? 0 : k / 32) * N + n];
            c[r] += bug & 4 ? d[r] * (sa * sb) : d[r] * sa * sb;
        }
    }
    for (int r = 0; r < 4; ++r) C[(g + r / 2 * 8) * N + n0 + t * 2 + r % 2] = c[r];
}
