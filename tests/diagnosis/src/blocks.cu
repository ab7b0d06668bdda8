// Products whose arrays are no plain matrices: blocks, packed words, padded batches, scales inside of sums, each right and
// wrong. What `why` must say of each stands in test_blocked.py. `python tools/corpus/diagnosed.py` compiles it to ../ptx/blocks.ptx.
#include <cuda_fp16.h>
#include <stdint.h>

__device__ unsigned pair(const half *p) { return *reinterpret_cast<const unsigned *>(p); }

__device__ unsigned both(half low, half high) {
    const half2 joined = __halves2half2(low, high);
    return *reinterpret_cast<const unsigned *>(&joined);
}

// C (16 x 8 a CTA) = A (16 x K) times weights that W(n, k) gives.
#define PRODUCT(NAME, TYPE, W) JOINED(NAME, TYPE, W, d[i])
#define JOINED(NAME, TYPE, W, RESULT)                                                                                  \
    extern "C" __global__ void NAME(const half *A, const TYPE *B, const float *P, const float *Q, float *C, int N,     \
                                    int K) {                                                                           \
        const int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2, n = blockIdx.x * 8 + g;                                \
        float d[4] = {};                                                                                               \
        _Pragma("unroll 1") for (int at = 0; at < K; at += 16) {                                                       \
            unsigned a[4], b[2];                                                                                       \
            for (int r = 0; r < 4; r++)                                                                                \
                a[r] = pair(A + (g + r % 2 * 8) * K + at + t + r / 2 * 8);                                             \
            for (int r = 0; r < 2; r++) {                                                                              \
                half w[2];                                                                                             \
                for (int i = 0; i < 2; i++) {                                                                          \
                    const int k = at + t + r * 8 + i;                                                                  \
                    w[i] = W;                                                                                          \
                }                                                                                                      \
                b[r] = both(w[0], w[1]);                                                                               \
            }                                                                                                          \
            asm volatile(                                                                                              \
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "            \
                "{%0,%1,%2,%3};"                                                                                       \
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                       \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                   \
        }                                                                                                              \
        for (int i = 0; i < 4; i++) {                                                                                  \
            const int row = g + i / 2 * 8, column = blockIdx.x * 8 + t + i % 2;                                        \
            C[row * N + column] = RESULT;                                                                              \
        }                                                                                                              \
    }

PRODUCT(blocks_of_columns, half, B[(n / 4 * K + k) * 4 + n % 4])
PRODUCT(first_block_of_columns, half, B[(n % 8 / 4 * K + k) * 4 + n % 4])
PRODUCT(halves_of_blocks, uint8_t, __int2half_rn((B[n * (K / 2) + k / 32 * 16 + k % 16] >> (k % 32 / 16 * 4) & 15) - 8))
PRODUCT(lower_halves, uint8_t, __int2half_rn((B[n * (K / 2) + k / 32 * 16 + k % 16] & 15) - 8))
PRODUCT(every_second, unsigned, __int2half_rn((B[n * (K / 8) + k / 8] >> (k % 2 * 16 + k % 8 / 2 * 4) & 15) - 8))
PRODUCT(word_of_the_tile, unsigned, __int2half_rn((B[n * (K / 8) + k / 16 * 2] >> (k % 2 * 16 + k % 8 / 2 * 4) & 15) - 8))

__device__ float curve(float x) { return x * (1 + tanhf(x * (1 + 0.5f * x * x))); }

JOINED(joined, half, B[n * K + k], curve(d[i] + P[column]) + Q[row * N + column])
JOINED(joined_at_the_row, half, B[n * K + k], curve(d[i] + P[row]) + Q[row * N + column])
JOINED(joined_of_the_tile, half, B[n * K + k], curve(d[i] + P[column % 8]) + Q[row * N + column])
JOINED(joined_at_another_pitch, half, B[n * K + k], curve(d[i] + P[column]) + Q[row * 8 + column])

// C (M x N) = the sum over blocks of 16 k of what A and B (N x K) give there, times a scale of either.
#define SCALED(NAME, SA, SB)                                                                                           \
    extern "C" __global__ void NAME(const float *A, const float *B, const float *P, const float *Q, float *C, int N,   \
                                    int K) {                                                                           \
        const int n = threadIdx.x, m = threadIdx.y, count = K / 16;                                                    \
        float sum = 0;                                                                                                 \
        for (int block = 0; block < count; block++) {                                                                  \
            float part = 0;                                                                                            \
            for (int k = block * 16; k < block * 16 + 16; k++)                                                         \
                part += A[m * K + k] * B[n * K + k];                                                                   \
            sum += part * P[SA] * Q[SB];                                                                               \
        }                                                                                                              \
        C[m * N + n] = sum;                                                                                            \
    }

SCALED(scaled_blocks, m *count + block, block *N + n)
SCALED(scaled_by_the_first, m *count, block *N + n)
SCALED(scaled_transposed, m *count + block, n *count + block)

// C (batch, M, N) = A (batch, M, pitch) times B (batch, K, N), of which A has K columns.
#define BATCHED(NAME, STRIDE, PITCH)                                                                                   \
    extern "C" __global__ void NAME(const float *A, const float *B, float *C, int M, int N, int K, int pitch) {        \
        const int n = threadIdx.x, m = threadIdx.y, batch = blockIdx.x;                                                \
        float sum = 0;                                                                                                 \
        for (int k = 0; k < K; k++)                                                                                    \
            sum += A[batch * (STRIDE) + m * (PITCH) + k] * B[(batch * K + k) * N + n];                                 \
        C[(batch * M + m) * N + n] = sum;                                                                              \
    }

BATCHED(padded_batches, M *pitch, pitch)
BATCHED(batches_at_k, M *K, pitch)
BATCHED(rows_at_k, M *pitch, K)

// C = the sum over i of exp(the sum over d of A[i, d] B[j, d]) V[i, d']: no product of A and B, nor of A and V.
extern "C" __global__ void functions(const float *A, const float *B, const float *V, float *C, int N) {
    const int d = threadIdx.x, j = threadIdx.y;
    float sum = 0;
    for (int i = 0; i < N; i++) {
        float inner = 0;
        for (int k = 0; k < N; k++)
            inner += A[i * N + k] * B[j * N + k];
        sum += __expf(inner) * V[i * N + d];
    }
    C[j * N + d] = sum;
}

// C = A (M x K) times B (K x N), a slice of k a CTA, added to what the others have stored.
#define SLICED(NAME, ADD)                                                                                              \
    extern "C" __global__ void NAME(const float *A, const float *B, float *C, int N, int K) {                          \
        const int n = threadIdx.x, m = threadIdx.y, slice = K / gridDim.x;                                             \
        float sum = 0;                                                                                                 \
        for (int k = blockIdx.x * slice; k < (blockIdx.x + 1) * slice; k++)                                            \
            sum += A[m * K + k] * B[k * N + n];                                                                        \
        ADD;                                                                                                           \
    }

SLICED(added_atomically, atomicAdd(C + m * N + n, sum))
SLICED(added_plainly, C[m * N + n] += sum)
