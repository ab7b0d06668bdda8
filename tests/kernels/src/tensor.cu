// Tensor cores: GEMMs in every input type, the WMMA functions, flash attention, epilogues through stmatrix.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
__device__ __forceinline__ unsigned address_of(const void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void load4(unsigned (&r)[4], const void *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address_of(p)) : "memory");
}
__device__ __forceinline__ void load4t(unsigned (&r)[4], const void *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address_of(p)) : "memory");
}
#define MMA_F32(form) asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
// One warp, one 16x8 tile of C; A row-major 16xK, B column-major (8 columns of K), both read straight from memory as words.
#define FRAGMENTS(words_a, words_b, pitch) \
    int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4; \
    unsigned a[4] = {words_a[g * pitch + q], words_a[(g + 8) * pitch + q], words_a[g * pitch + q + 4], words_a[(g + 8) * pitch + q + 4]}, b[2] = {words_b[g * pitch + q], words_b[g * pitch + q + 4]}
#define STORE(c, n) c[g * n + q * 2] = d[0], c[g * n + q * 2 + 1] = d[1], c[(g + 8) * n + q * 2] = d[2], c[(g + 8) * n + q * 2 + 1] = d[3]
extern "C" __global__ void mma_bf16(const unsigned *A, const unsigned *B, float *C, int steps) {
    float d[4] = {};
    for (int s = 0; s < steps; ++s) { FRAGMENTS((A + s * 8), (B + s * 8), steps * 8); MMA_F32("m16n8k16.row.col.f32.bf16.bf16.f32"); if (s == steps - 1) STORE(C, 8); }
}
extern "C" __global__ void mma_tf32(const unsigned *A, const unsigned *B, float *C, int steps) {
    float d[4] = {};
    for (int s = 0; s < steps; ++s) { FRAGMENTS((A + s * 8), (B + s * 8), steps * 8); MMA_F32("m16n8k8.row.col.f32.tf32.tf32.f32"); if (s == steps - 1) STORE(C, 8); }
}
extern "C" __global__ void mma_int8(const unsigned *A, const unsigned *B, int *C, int steps) {
    int d[4] = {};
    for (int s = 0; s < steps; ++s) {
        FRAGMENTS((A + s * 8), (B + s * 8), steps * 8);
        asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        if (s == steps - 1) STORE(C, 8);
    }
}
extern "C" __global__ void mma_double(const double *A, const double *B, double *C, int steps) {
    int lane = threadIdx.x, g = lane / 4, q = lane % 4;
    double d0 = 0, d1 = 0;
    for (int s = 0; s < steps; ++s)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d0), "+d"(d1) : "d"(A[g * steps * 4 + s * 4 + q]), "d"(B[g * steps * 4 + s * 4 + q]));
    C[g * 8 + q * 2] = d0;
    C[g * 8 + q * 2 + 1] = d1;
}
extern "C" __global__ void hgemm_half(const half *A, const half *B, half *C, int N, int K) {
    __shared__ __align__(16) half a[32 * 24], b[16 * 40];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, g = lane / 4, q = lane % 4;
    unsigned sums[4][2] = {};
    for (int k = 0; k < K; k += 16) {
        *reinterpret_cast<uint4 *>(a + t / 2 * 24 + t % 2 * 8) = *reinterpret_cast<const uint4 *>(A + (blockIdx.y * 32 + t / 2) * K + k + t % 2 * 8);
        *reinterpret_cast<uint4 *>(b + t / 4 * 40 + t % 4 * 8) = *reinterpret_cast<const uint4 *>(B + (k + t / 4) * N + blockIdx.x * 32 + t % 4 * 8);
        __syncthreads();
        unsigned l[4], r[4];
        load4(l, a + (warp * 16 + lane % 16) * 24 + lane / 16 * 8);
        for (int j = 0; j < 4; ++j) {
            if (j % 2 == 0) load4t(r, b + lane % 16 * 40 + j * 8 + lane / 16 * 8);
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                : "+r"(sums[j][0]), "+r"(sums[j][1]) : "r"(l[0]), "r"(l[1]), "r"(l[2]), "r"(l[3]), "r"(r[j % 2 * 2]), "r"(r[j % 2 * 2 + 1]));
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) {
        unsigned *to = reinterpret_cast<unsigned *>(C + (blockIdx.y * 32 + warp * 16 + g) * N + blockIdx.x * 32 + j * 8 + q * 2);
        to[0] = sums[j][0];
        to[4 * N] = sums[j][1];
    }
}
extern "C" __global__ void wmma_gemm(const half *A, const half *B, float *C, int N, int K) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, row_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += 16) {
        load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
        load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
        mma_sync(c, a, b, c);
    }
    for (int i = 0; i < c.num_elements; ++i) c.x[i] *= 2;
    store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, mem_row_major);
}
// Causal attention, one warp a 16-row tile, width 32: S = Q K^T by mma, online softmax in base 2, O = P V by mma.
extern "C" __global__ void flash_attention(const half *Q, const half *K, const half *V, half *O, float scale, int length) {
    __shared__ __align__(16) half q[16 * 40], k[16 * 40], v[16 * 40];
    int lane = threadIdx.x, g = lane / 4, c = lane % 4, first = blockIdx.x * 16;
    size_t head = size_t(blockIdx.y) * length * 32;
    for (int i = lane; i < 64; i += 32) *reinterpret_cast<uint4 *>(q + i / 4 * 40 + i % 4 * 8) = *reinterpret_cast<const uint4 *>(Q + head + (first + i / 4) * 32 + i % 4 * 8);
    float out[4][4] = {}, best[2] = {-1e30f, -1e30f}, total[2] = {};
    for (int start = 0; start <= first; start += 16) {
        __syncwarp();
        for (int i = lane; i < 64; i += 32) {
            *reinterpret_cast<uint4 *>(k + i / 4 * 40 + i % 4 * 8) = *reinterpret_cast<const uint4 *>(K + head + (start + i / 4) * 32 + i % 4 * 8);
            *reinterpret_cast<uint4 *>(v + i / 4 * 40 + i % 4 * 8) = *reinterpret_cast<const uint4 *>(V + head + (start + i / 4) * 32 + i % 4 * 8);
        }
        __syncwarp();
        float s[2][4] = {};
        for (int w = 0; w < 2; ++w) {
            unsigned a[4], r[4];
            load4(a, q + lane % 16 * 40 + w * 16 + lane / 16 * 8);
            load4(r, k + (lane % 8 + lane / 16 * 8) * 40 + w * 16 + lane / 8 % 2 * 8);
            for (int j = 0; j < 2; ++j) { float(&d)[4] = s[j]; unsigned b[2] = {r[j * 2], r[j * 2 + 1]}; MMA_F32("m16n8k16.row.col.f32.f16.f16.f32"); }
        }
        for (int j = 0; j < 2; ++j)
            for (int e = 0; e < 4; ++e) {
                s[j][e] *= scale;
                if (start + j * 8 + c * 2 + e % 2 > first + g + e / 2 * 8) s[j][e] = -1e30f;
            }
        float shrink[2];
        for (int h = 0; h < 2; ++h) {
            float top = fmaxf(fmaxf(s[0][h * 2], s[0][h * 2 + 1]), fmaxf(s[1][h * 2], s[1][h * 2 + 1]));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            float next = fmaxf(best[h], top);
            shrink[h] = exp2f(best[h] - next);
            best[h] = next;
            float sum = 0;
            for (int j = 0; j < 2; ++j) for (int e = 0; e < 2; ++e) sum += s[j][h * 2 + e] = exp2f(s[j][h * 2 + e] - next);
            sum += __shfl_xor_sync(~0u, sum, 1);
            sum += __shfl_xor_sync(~0u, sum, 2);
            total[h] = total[h] * shrink[h] + sum;
        }
        unsigned a[4];
        for (int j = 0; j < 2; ++j) for (int h = 0; h < 2; ++h) { half2 p = __floats2half2_rn(s[j][h * 2], s[j][h * 2 + 1]); a[j * 2 + h] = reinterpret_cast<unsigned &>(p); }
        for (int w = 0; w < 2; ++w) {
            unsigned r[4];
            load4t(r, v + lane % 16 * 40 + w * 16 + lane / 16 * 8);
            for (int j = 0; j < 2; ++j) {
                float(&d)[4] = out[w * 2 + j];
                for (int e = 0; e < 4; ++e) d[e] *= shrink[e / 2];
                unsigned b[2] = {r[j * 2], r[j * 2 + 1]};
                MMA_F32("m16n8k16.row.col.f32.f16.f16.f32");
            }
        }
    }
    for (int j = 0; j < 4; ++j)
        for (int h = 0; h < 2; ++h)
            *reinterpret_cast<half2 *>(O + head + (first + g + h * 8) * 32 + j * 8 + c * 2) = __floats2half2_rn(out[j][h * 2] / total[h], out[j][h * 2 + 1] / total[h]);
}
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void stmatrix_epilogue(const half *A, const half *B, half *C, int K) {
    __shared__ __align__(16) half tile[16 * 24];
    int lane = threadIdx.x, g = lane / 4, q = lane % 4;
    float d[4] = {}, e[4] = {};
    const unsigned *words_a = reinterpret_cast<const unsigned *>(A), *words_b = reinterpret_cast<const unsigned *>(B);
    for (int s = 0; s < K / 16; ++s) {
        int p = K / 2;
        unsigned a[4] = {words_a[g * p + q + s * 8], words_a[(g + 8) * p + q + s * 8], words_a[g * p + q + 4 + s * 8], words_a[(g + 8) * p + q + 4 + s * 8]};
        { unsigned b[2] = {words_b[g * p + q + s * 8], words_b[g * p + q + 4 + s * 8]}; MMA_F32("m16n8k16.row.col.f32.f16.f16.f32"); }
        { float(&d)[4] = e; unsigned b[2] = {words_b[(g + 8) * p + q + s * 8], words_b[(g + 8) * p + q + 4 + s * 8]}; MMA_F32("m16n8k16.row.col.f32.f16.f16.f32"); }
    }
    half2 h[4] = {__floats2half2_rn(d[0], d[1]), __floats2half2_rn(d[2], d[3]), __floats2half2_rn(e[0], e[1]), __floats2half2_rn(e[2], e[3])};
    unsigned *r = reinterpret_cast<unsigned *>(h);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0, %1, %2, %3};" ::"r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(address_of(tile + (lane % 16) * 24 + lane / 16 * 8)) : "memory");
    __syncwarp();
    reinterpret_cast<uint4 *>(C)[lane] = *reinterpret_cast<uint4 *>(tile + lane / 2 * 24 + lane % 2 * 8);
}
#endif
