// Products whose arrays have more than two axes, each right and with a wrong stride. What `why` must say of each stands in
// test_strides.py. `python tools/corpus/diagnosed.py` compiles it to ../ptx/strides.ptx.
#include <cuda_fp16.h>

__device__ unsigned both(half low, half high) {
    const half2 joined = __halves2half2(low, high);
    return *reinterpret_cast<const unsigned *>(&joined);
}

// C (16 rows by 8 columns a CTA) = what A(m, k) gives times what B(k, n) gives.
#define PRODUCT(NAME, A_OF, B_OF)                                                                                      \
    extern "C" __global__ void NAME(const half *A, const half *B, float *C, int N, int K, int H, int W) {              \
        const int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2, n = blockIdx.x * 8 + g, D = 16;                        \
        float d[4] = {};                                                                                               \
        _Pragma("unroll 1") for (int at = 0; at < K; at += 16) {                                                       \
            half a[8], b[4];                                                                                           \
            for (int i = 0; i < 8; i++) {                                                                              \
                const int m = blockIdx.y * 16 + g + i / 2 % 2 * 8, k = at + t + i / 4 * 8 + i % 2;                     \
                const int dy = at / D / 3 - 1, dx = at / D % 3 - 1, y = m / W + dy, x = m % W + dx;                    \
                a[i] = A_OF;                                                                                           \
            }                                                                                                          \
            for (int i = 0; i < 4; i++) {                                                                              \
                const int k = at + t + i / 2 * 8 + i % 2;                                                              \
                b[i] = B_OF;                                                                                           \
            }                                                                                                          \
            asm volatile(                                                                                              \
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "            \
                "{%0,%1,%2,%3};"                                                                                       \
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                       \
                : "r"(both(a[0], a[1])), "r"(both(a[2], a[3])), "r"(both(a[4], a[5])), "r"(both(a[6], a[7])),          \
                  "r"(both(b[0], b[1])), "r"(both(b[2], b[3])));                                                       \
        }                                                                                                              \
        for (int i = 0; i < 4; i++)                                                                                    \
            C[(blockIdx.y * 16 + g + i / 2 * 8) * N + blockIdx.x * 8 + t + i % 2] = d[i];                              \
    }

PRODUCT(blocks, A[m * K + k], B[(n / 8 * K + k) * 8 + n % 8])
PRODUCT(blocks_too_near, A[m * K + k], B[(n / 8 * 32 + k) * 8 + n % 8])

PRODUCT(heads, A[m * K + k], B[k * N + n])
PRODUCT(first_head, A[m * K + k], B[k * N + n % 8])

#define PIXEL(Y, X, PITCH) (Y) >= 0 && (Y) < H && (X) >= 0 && (X) < W ? A[((Y) * PITCH + (X)) * D + k % D] : __ushort_as_half(0)
PRODUCT(image, PIXEL(y, x, W), B[k * N + n])
PRODUCT(image_of_columns, PIXEL(y, x, H), B[k * N + n])
PRODUCT(taps_turned, PIXEL(m / W + dx, m % W + dy, W), B[k * N + n])
