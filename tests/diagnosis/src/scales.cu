// Products with weights of few bits that have a scale and a zero point a block, right and with blocks of others:
// what `why` must say of each stands in test_scales.py. `python tools/corpus/diagnosed.py` compiles it to ../ptx/scales.ptx.
#include <cuda_fp16.h>
#include <stdint.h>

__device__ unsigned pair(const half *p) { return *reinterpret_cast<const unsigned *>(p); }

__device__ unsigned packed(float low, float high) {
    const half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned *>(&both);
}

__device__ void multiply(float (&d)[4], const half *A, int pitch, int row, int k, const unsigned (&b)[2]) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;
    unsigned a[4];
    for (int r = 0; r < 4; r++)
        a[r] = pair(A + (row + g + r % 2 * 8) * pitch + k + t + r / 2 * 8);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// C (M x N) = A (M x K) times W^T: N x K nibbles, those of 32 k with one scale and one zero point, N x K/32.
#define NIBBLES(NAME, SCALE, ZERO, LOW)                                                                                \
    extern "C" __global__ void NAME(const half *A, const uint8_t *W, const float *S, const uint8_t *Z, float *C,       \
                                    int N, int K) {                                                                    \
        const int row = blockIdx.y * 16, column = blockIdx.x * 8, g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;        \
        const int n = column + g, groups = K / 32;                                                                     \
        float d[4] = {};                                                                                               \
        _Pragma("unroll 1") for (int k = 0; k < K; k += 16) {                                                          \
            unsigned b[2];                                                                                             \
            const float s = S[SCALE];                                                                                  \
            const int z = Z[ZERO];                                                                                     \
            for (int r = 0; r < 2; r++) {                                                                              \
                const int w = W[n * (K / 2) + (k + t + r * 8) / 2];                                                    \
                b[r] = packed(((w >> LOW & 15) - z) * s, ((w >> (4 - LOW) & 15) - z) * s);                             \
            }                                                                                                          \
            multiply(d, A, K, row, k, b);                                                                              \
        }                                                                                                              \
        for (int r = 0; r < 4; r++)                                                                                    \
            C[(row + g + r / 2 * 8) * N + column + t + r % 2] = d[r];                                                  \
    }

NIBBLES(right, n *groups + k / 32, n *groups + k / 32, 0)
NIBBLES(scales_of_64, n *groups + k / 64, n *groups + k / 32, 0)
NIBBLES(first_scale, n *groups, n *groups + k / 32, 0)
NIBBLES(scales_of_the_next, (n + 1) % N * groups + k / 32, n *groups + k / 32, 0)
NIBBLES(scales_exchanged, k / 32 * N + n, n *groups + k / 32, 0)
NIBBLES(scales_at_another_pitch, (n * 2 + k / 32) % (N * groups), n *groups + k / 32, 0)
NIBBLES(zeros_of_the_tile, n *groups + k / 32, column *groups + k / 32, 0)
NIBBLES(zeros_too_early, n *groups + k / 32, n *groups + (k + 16) / 32 % groups, 0)
NIBBLES(scales_by_no_rule, n *groups + (k / 32 * 5 + n * 3) % groups, n *groups + k / 32, 0)
NIBBLES(high_nibble_first, n *groups + k / 32, n *groups + k / 32, 4)
