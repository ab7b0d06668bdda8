// half and bfloat16, one and two at a time: arithmetic, comparison, conversion, math.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_math(const half *x, half *y, int *n) {
    const int i = threadIdx.x;
    half a = x[i], b = x[i + 32], c = x[i + 64];
    y[i] = a + b * c - a / b;
    y[i + 32] = __hfma_sat(a, b, c);
    y[i + 64] = __hfma_relu(a, b, c);
    y[i + 96] = hsqrt(a) + hrcp(b) + hrsqrt(c) + hexp2(a) + hlog2(b) + hsin(c) + hcos(a) + hexp(b) + hlog10(c);
    y[i + 128] = hfloor(a) + hceil(b) + htrunc(c) + hrint(a) + __habs(b) + __hneg(c);
    y[i + 160] = __hmax(a, b) + __hmin_nan(b, c) + __hadd_sat(a, c) + __hmul_rn(a, c);
    n[i] = __half2int_rn(a) + __half2uint_rz(b) + __half2ll_rd(c) + __half2short_ru(a) + (a < b) + __hisnan(c) + __hequ(a, c) + __half2char_rz(a);
    y[i + 192] = __int2half_rn(n[i]) + __ull2half_rz(7ull) + __ushort2half_rd(3) + __float2half_ru(__half2float(a)) + __double2half(1.5);
    y[i + 224] = htanh(a) + __shfl_xor_sync(~0u, a, 1);
}
extern "C" __global__ void half2_math(const half2 *x, half2 *y, unsigned *n) {
    const int i = threadIdx.x;
    half2 a = x[i], b = x[i + 32], c = x[i + 64];
    y[i] = __hfma2(a, b, c) - a * b / c;
    y[i + 32] = __hmax2(a, b) + __hmin2_nan(b, c) + __habs2(a) + __hfma2_relu(a, b, c);
    y[i + 64] = h2exp2(a) + h2rcp(b) + h2sqrt(c) + h2rint(a) + __lows2half2(a, b) + __highs2half2(a, c) + __lowhigh2highlow(c);
    n[i] = __hgt2_mask(a, b) + __hequ2_mask(b, c) + __hbeq2(a, c);
    y[i + 96] = __heq2(a, b) + __hneg2(c) + __hcmadd(a, b, c) + __float22half2_rn(__half22float2(a)) + h2tanh(b);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
extern "C" __global__ void brain(const __nv_bfloat16 *x, __nv_bfloat162 *y, float *f, int *n) {
    const int i = threadIdx.x;
    __nv_bfloat16 a = x[i], b = x[i + 32], c = x[i + 64];
    __nv_bfloat162 d(a, b), e(b, c);
    y[i] = __hfma2(d, e, d) + d * e - d / e;
    y[i + 32] = __hmax2(d, e) + __hmin2_nan(d, e) + __habs2(d) + __hneg2(e) + __hfma2_relu(d, e, d) + h2exp2(d);
    f[i] = __bfloat162float(a + b * c) + __bfloat162float(__float2bfloat16_rz(f[i + 32])) + __low2float(d);
    n[i] = __bfloat162int_rz(a) + (a > b) + __hisnan(c) + __bfloat162ull_rn(c) + __bfloat16_as_ushort(__int2bfloat16_rn(n[i + 32]));
    y[i + 64] = __floats2bfloat162_rn(f[i], f[i + 1]) + __nv_bfloat162(hrint(a), htanh(b));
}
#endif
