// Narrow numbers: dp4a products, quantisation, fp8 and half conversions, packed half arithmetic.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
extern "C" __global__ void matvec_int8(const int *A, const int *x, int *y, int words) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int w = 0; w < words; ++w) sum = __dp4a(A[row * words + w], x[w], sum);
    y[row] = sum;
}
extern "C" __global__ void dot_mixed(const int *a, const unsigned *b, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = __dp2a_lo(a[i], int(b[i]), 7) ^ __dp2a_hi(a[i], int(b[i]), -7);
    asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(r) : "r"(a[i]), "r"(b[i]));
    asm("dp2a.hi.u32.s32 %0, %1, %2, %0;" : "+r"(r) : "r"(b[i]), "r"(a[i]));
    out[i] = r;
}
extern "C" __global__ void quantise(const float *in, signed char *out, float *scales, int n) {
    float worst = 0;
    for (int i = threadIdx.x; i < n; i += 32) worst = fmaxf(worst, fabsf(in[blockIdx.x * n + i]));
    for (int d = 16; d; d /= 2) worst = fmaxf(worst, __shfl_xor_sync(~0u, worst, d));
    float scale = worst / 127.0f;
    if (threadIdx.x == 0) scales[blockIdx.x] = scale;
    for (int i = threadIdx.x; i < n; i += 32) out[blockIdx.x * n + i] = max(-127, min(127, __float2int_rn(in[blockIdx.x * n + i] / scale)));
}
extern "C" __global__ void fp8_round_trip(const float2 *in, unsigned short *e4m3, unsigned short *e5m2, half2 *back) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    e4m3[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
    e5m2[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E5M2);
    back[i] = __hadd2(half2(__nv_cvt_fp8x2_to_halfraw2(e4m3[i], __NV_E4M3)), half2(__nv_cvt_fp8x2_to_halfraw2(e5m2[i], __NV_E5M2)));
}
extern "C" __global__ void half_polynomial(const half2 *x, half2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half2 v = x[i], sum = __float2half2_rn(0.25f);
    sum = __hfma2(sum, v, __float2half2_rn(-0.5f));
    sum = __hfma2(sum, v, __float2half2_rn(1.0f));
    sum = __hadd2(sum, __hmul2(v, __lowhigh2highlow(v)));
    y[i] = __hmax2(__hmin2(sum, __float2half2_rn(8.0f)), __hneg2(__habs2(v)));
}
extern "C" __global__ void bf16_scale(const __nv_bfloat162 *x, __nv_bfloat162 *y, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 v = __bfloat1622float2(x[i]);
    y[i] = __hfma2(x[i], __floats2bfloat162_rn(by, -by), __floats2bfloat162_rn(v.x * by, v.y + by));
}
extern "C" __global__ void half_sums(const half *x, half2 *sums, float *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sums + i % 4, __halves2half2(x[i], __hneg(x[i])));
    atomicAdd(total, __half2float(x[i]));
}
extern "C" __global__ void rounding(const float *in, int *out, double *wide) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    out[i] = __float2int_rn(v) ^ __float2int_rd(v) << 1 ^ __float2int_ru(v) << 2 ^ __float2int_rz(v) << 3 ^ int(__float2uint_rn(v)) << 4 ^ int(__float2ll_rd(v * 1e6f)) ^ __half_as_ushort(__float2half_rz(v)) << 5;
    wide[i] = __dadd_ru(v, 1e-9) + __dmul_rd(v, 3.3) + __ddiv_rz(1.0, v + 100) + __dsqrt_ru(fabsf(v)) + double(__fmaf_rd(v, v, v)) + double(__fdiv_ru(v, 3.0f)) + rint(v * 10.0) + __longlong_as_double(__double_as_longlong(v) ^ 1);
}
