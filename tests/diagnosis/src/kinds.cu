// Right kernels of kinds that no law was made for: `why` must accuse none of them (test_kinds.py).
// `python tools/corpus/diagnosed.py` compiles it to ../ptx/kinds.ptx.
#include <cuda_fp16.h>
#include <stdint.h>

#define KERNEL extern "C" __global__ void

KERNEL q8(const signed char *W, const float *S, const float *X, float *Y, int N, int K) {
    int n = blockIdx.x * 8 + threadIdx.y, m = blockIdx.y, t = threadIdx.x;
    float sum = 0;
    for (int k = t; k < K; k += 32) sum += X[m * K + k] * (W[n * K + k] * S[n * (K / 32) + k / 32]);
    for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
    if (t == 0) Y[m * N + n] = sum;
}

KERNEL q4_zero(const uint8_t *W, const half *S, const uint8_t *Z, const float *X, float *Y, int N, int K) {
    int n = threadIdx.x, m = blockIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) {
        int g = k / 64, q = W[k / 2 * N + n] >> (k % 2 * 4) & 15, z = Z[g * (N / 2) + n / 2] >> (n % 2 * 4) & 15;
        sum += X[m * K + k] * ((q - z) * __half2float(S[g * N + n]));
    }
    Y[m * N + n] = sum;
}

KERNEL conv(const float *X, const float *F, float *Y, int C, int H, int W, int OH, int OW) {
    int x = threadIdx.x, y = threadIdx.y, o = blockIdx.x;
    float sum = 0;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s) {
                int iy = y * 2 - 2 + r * 2, ix = x * 2 - 2 + s * 2;
                if (iy >= 0 && iy < H && ix >= 0 && ix < W) sum += X[(c * H + iy) * W + ix] * F[((o * C + c) * 3 + r) * 3 + s];
            }
    Y[(o * OH + y) * OW + x] = sum;
}

KERNEL grouped(const float *A, const float *B, const int *len, float *C, int M, int N, int K) {
    int g = blockIdx.z, m = blockIdx.x, n = threadIdx.x;
    float sum = 0;
    int l = len[g];
    for (int k = 0; k < K; ++k) sum += A[(g * M + m) * K + k] * B[(g * K + k) * N + n];
    C[(g * M + m) * N + n] = m < l ? sum : 0.f;
}

KERNEL scan(const float *X, float *Y, int n) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = X[i];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        float v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    Y[i] = s[t];
}

KERNEL top2(const float *X, float *V, int *I, int n) {
    int row = blockIdx.x, t = threadIdx.x;
    float a = -1e30f, b = -1e30f;
    int ia = 0, ib = 0;
    for (int i = t; i < n; i += 32) {
        float v = X[row * n + i];
        if (v > a) {
            b = a;
            ib = ia;
            a = v;
            ia = i;
        } else if (v > b) {
            b = v;
            ib = i;
        }
    }
    for (int o = 16; o; o >>= 1) {
        float oa = __shfl_xor_sync(~0u, a, o), ob = __shfl_xor_sync(~0u, b, o);
        int ja = __shfl_xor_sync(~0u, ia, o), jb = __shfl_xor_sync(~0u, ib, o);
        if (oa > a) {
            float na = oa, nb = a > ob ? a : ob;
            int ma = ja, mb = a > ob ? ia : jb;
            a = na;
            b = nb;
            ia = ma;
            ib = mb;
        } else if (oa > b) {
            b = oa;
            ib = ja;
        }
    }
    if (t == 0) {
        V[row * 2] = a;
        V[row * 2 + 1] = b;
        I[row * 2] = ia;
        I[row * 2 + 1] = ib;
    }
}

KERNEL bag(const float *E, const int *I, float *Y, int D, int L) {
    int b = blockIdx.x, d = threadIdx.x;
    float s = 0;
    for (int l = 0; l < L; ++l) s += E[I[b * L + l] * D + d];
    Y[b * D + d] = s / L;
}

KERNEL layernorm(const float *X, const float *G, const float *B, float *Y, int n) {
    int row = blockIdx.x, t = threadIdx.x;
    float s = 0, q = 0;
    for (int i = t; i < n; i += 32) {
        float x = X[row * n + i];
        s += x;
        q += x * x;
    }
    for (int o = 16; o; o >>= 1) {
        s += __shfl_xor_sync(~0u, s, o);
        q += __shfl_xor_sync(~0u, q, o);
    }
    float m = s / n, r = rsqrtf(q / n - m * m + 1e-5f);
    for (int i = t; i < n; i += 32) Y[row * n + i] = (X[row * n + i] - m) * r * G[i] + B[i];
}

KERNEL softmax(const float *X, float *Y, int n) {
    __shared__ float s[128];
    int row = blockIdx.x, t = threadIdx.x;
    float m = -1e30f;
    for (int i = t; i < n; i += 128) m = fmaxf(m, X[row * n + i]);
    s[t] = m;
    __syncthreads();
    for (int o = 64; o; o /= 2) {
        if (t < o) s[t] = fmaxf(s[t], s[t + o]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float q = 0;
    for (int i = t; i < n; i += 128) q += __expf(X[row * n + i] - m);
    s[t] = q;
    __syncthreads();
    for (int o = 64; o; o /= 2) {
        if (t < o) s[t] += s[t + o];
        __syncthreads();
    }
    for (int i = t; i < n; i += 128) Y[row * n + i] = __expf(X[row * n + i] - m) / s[0];
}

KERNEL groupnorm(const float *X, float *Y, int n) {
    int row = blockIdx.x, g = threadIdx.y, t = threadIdx.x;
    float x = X[row * n + g * 32 + t], s = x;
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    float d = x - s / 32, q = d * d;
    for (int o = 16; o; o >>= 1) q += __shfl_xor_sync(~0u, q, o);
    Y[row * n + g * 32 + t] = d * rsqrtf(q / 32 + 1e-5f);
}

KERNEL splitk_ws(const float *A, const float *B, float *W, unsigned *count, float *C, int M, int N, int K, int slice) {
    __shared__ bool last;
    int n = threadIdx.x, m = blockIdx.x, z = blockIdx.z;
    float sum = 0;
    for (int k = z * slice; k < (z + 1) * slice; ++k) sum += A[m * K + k] * B[k * N + n];
    W[(z * M + m) * N + n] = sum;
    __threadfence();
    __syncthreads();
    if (n == 0) last = atomicAdd(&count[m], 1) == gridDim.z - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        float s = 0;
        for (int i = 0; i < gridDim.z; ++i) s += ((volatile float *)W)[(i * M + m) * N + n];
        C[m * N + n] = s;
    }
}

KERNEL streamk(const float *A, const float *B, float *C, int M, int N, int K, int per, int total) {
    int n = threadIdx.x, kt = K / 8;
    for (int u = blockIdx.x * per; u < min((blockIdx.x + 1) * per, total); ++u) {
        int m = u / kt, k0 = u % kt * 8;
        float sum = 0;
        for (int k = k0; k < k0 + 8; ++k) sum += A[m * K + k] * B[k * N + n];
        atomicAdd(&C[m * N + n], sum);
    }
}

KERNEL q8_mma(const int *A, const int *B, const half *SA, const half *SB, float *C, int N, int K) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4, row = blockIdx.y * 16, col = blockIdx.x * 8;
    float c[4] = {};
    for (int k = 0; k < K / 32; ++k) {
        int a[4], b[2], d[4] = {};
        for (int r = 0; r < 4; ++r) a[r] = A[((row + g + r % 2 * 8) * K + k * 32 + r / 2 * 16) / 4 + t];
        for (int r = 0; r < 2; ++r) b[r] = B[((col + g) * K + k * 32 + r * 16) / 4 + t];
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        for (int r = 0; r < 4; ++r)
            c[r] +=
                d[r] * (__half2float(SA[(row + g + r / 2 * 8) * (K / 32) + k]) * __half2float(SB[(col + t * 2 + r % 2) * (K / 32) + k]));
    }
    for (int r = 0; r < 4; ++r) C[(row + g + r / 2 * 8) * N + col + t * 2 + r % 2] = c[r];
}
