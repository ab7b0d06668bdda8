// Products with weights in an order of the caller's, bit by bit; attention with a mask; words of nibbles: what `why` must
// say of each stands in test_orders.py. `python tools/corpus/diagnosed.py` compiles it to ../ptx/orders.ptx.
#include <cuda_fp16.h>

// Where the bits of k and of n stand in the number of an element.
struct Order {
    int k[8], n[8];
};

__device__ int at(const Order &order, int k, int n) {
    int place = 0;
#pragma unroll 1
    for (int i = 0; i < 8; ++i)
        place |= (k >> i & 1) << order.k[i] | (n >> i & 1) << order.n[i];
    return place;
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ unsigned packed(float low, float high) {
    const half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned *>(&both);
}

__device__ float element(const unsigned *B, int place) { return int(B[place / 8] >> (place % 8 * 4) & 15) - 8; }
__device__ float element(const signed char *B, int place) { return B[place]; }

// C (M x N) = A (M x K) B, a warp a tile of 16 x 8. Bugs: 1: A's k tiles in pairs exchanged, 2: every second one of A
// twice, 3: likewise of B, 4: always the first columns of B, 5: rows of A exchanged in tiles.
template <class Word>
__device__ void product(const unsigned short *A, const Word *B, float *C, int N, int K, const Order &order, int bug) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4 * 2;
    float d[4] = {};
#pragma unroll 1
    for (int k = 0; k < K; k += 16) {
        const int of_a = bug == 1 ? k ^ 16 : bug == 2 ? k & ~16 : k, of_b = bug == 3 ? k & ~16 : k;
        const int row = bug == 5 ? (blockIdx.y ^ 1) * 16 : blockIdx.y * 16, column = bug == 4 ? 0 : blockIdx.x * 8;
        unsigned a[4], b[2];
        for (int r = 0; r < 4; ++r)
            a[r] = *reinterpret_cast<const unsigned *>(A + (row + g + r % 2 * 8) * K + of_a + r / 2 * 8 + t);
        for (int r = 0; r < 2; ++r)
            b[r] = packed(element(B, at(order, of_b + r * 8 + t, column + g)),
                          element(B, at(order, of_b + r * 8 + t + 1, column + g)));
        multiply(d, a, b);
    }
    for (int r = 0; r < 4; ++r)
        C[(blockIdx.y * 16 + g + r / 2 * 8) * N + blockIdx.x * 8 + t + r % 2] = d[r];
}

extern "C" __global__ void words(const unsigned short *A, const unsigned *B, float *C, int N, int K,
                                 const __grid_constant__ Order order, int bug) {
    product(A, B, C, N, K, order, bug);
}

extern "C" __global__ void bytes(const unsigned short *A, const signed char *B, float *C, int N, int K,
                                 const __grid_constant__ Order order, int bug) {
    product(A, B, C, N, K, order, bug);
}

// O = softmax(Q K^T, causal) V, online, 16 x 16 a head, a warp 16 rows; `late`: V's tile is that of the step before.
extern "C" __global__ void attention(const unsigned short *Q, const unsigned short *K, const unsigned short *V, float *O,
                                     int late) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4 * 2, row = blockIdx.x * 16;
    float o[2][4] = {}, sum[2] = {}, top[2] = {-1e30f, -1e30f};
    unsigned q[4];
    for (int r = 0; r < 4; ++r)
        q[r] = *reinterpret_cast<const unsigned *>(Q + (row + g + r % 2 * 8) * 16 + r / 2 * 8 + t);
#pragma unroll 1
    for (int k = 0; k <= row; k += 16) {
        float s[2][4] = {};
        for (int j = 0; j < 2; ++j) {
            unsigned b[2];
            for (int r = 0; r < 2; ++r)
                b[r] = *reinterpret_cast<const unsigned *>(K + (k + j * 8 + g) * 16 + r * 8 + t);
            multiply(s[j], q, b);
            for (int i = 0; i < 4; ++i)
                if (k + j * 8 + t + i % 2 > row + g + i / 2 * 8)
                    s[j][i] = -1e30f;
        }
        for (int h = 0; h < 2; ++h) {
            float most = top[h];
            for (int j = 0; j < 2; ++j)
                most = fmaxf(most, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
            const float less = __expf(top[h] - most);
            top[h] = most;
            sum[h] *= less;
            for (int j = 0; j < 2; ++j)
                for (int i = 2 * h; i < 2 * h + 2; ++i) {
                    o[j][i] *= less;
                    s[j][i] = __expf(s[j][i] - most);
                    sum[h] += s[j][i];
                }
        }
        const unsigned p[4] = {packed(s[0][0], s[0][1]), packed(s[0][2], s[0][3]), packed(s[1][0], s[1][1]),
                               packed(s[1][2], s[1][3])};
        const unsigned short *v = V + (late && k ? k - 16 : k) * 16;
        for (int j = 0; j < 2; ++j) {
            unsigned b[2];
            for (int r = 0; r < 2; ++r)
                b[r] = v[(r * 8 + t) * 16 + j * 8 + g] | v[(r * 8 + t + 1) * 16 + j * 8 + g] << 16;
            multiply(o[j], p, b);
        }
    }
    for (int h = 0; h < 2; ++h) {
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
        sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
    }
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 4; ++i)
            O[(row + g + i / 2 * 8) * 16 + j * 8 + t + i % 2] = o[j][i] / sum[i / 2];
}

// C[n] = sum of A[n][k] W[n][k]: a word of W has four k in the low nibbles of its bytes, and the four 16 further in the
// high ones.
extern "C" __global__ void nibbles(const signed char *A, const unsigned char *W, float *C, int K) {
    const int n = threadIdx.x;
    int sum = 0;
    for (int block = 0; block < K; block += 32)
        for (int i = 0; i < 16; i += 4) {
            const int four = *reinterpret_cast<const int *>(W + (n * K + block) / 2 + i);
            const signed char *a = A + n * K + block + i;
            sum = __dp4a(four & 0x0f0f0f0f, *reinterpret_cast<const int *>(a), sum);
            sum = __dp4a(four >> 4 & 0x0f0f0f0f, *reinterpret_cast<const int *>(a + 16), sum);
        }
    C[n] = sum;
}
