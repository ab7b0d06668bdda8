// Conversions to and from fp8, and fp6 and fp4 where the target has them.
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
extern "C" __global__ void fp8(const float2 *in, half2 *halves, unsigned short *out, __nv_fp8_e4m3 *single) {
    const int i = threadIdx.x;
    out[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
    out[i + 32] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E5M2);
    out[i + 64] = __nv_cvt_halfraw2_to_fp8x2(halves[i], __NV_SATFINITE, __NV_E4M3);
    out[i + 96] = __nv_cvt_float2_to_fp8x2(in[i], __NV_NOSAT, __NV_E5M2);
    halves[i + 32] = half2(__nv_cvt_fp8x2_to_halfraw2(out[i], __NV_E4M3)) + half2(__nv_cvt_fp8x2_to_halfraw2(out[i], __NV_E5M2));
    single[i] = __nv_fp8_e4m3(in[i].x);
    halves[i + 64] = half2(half(single[i + 32]), half(float(single[i])));
    __nv_fp8x4_e5m2 four(make_float4(in[i].x, in[i].y, in[i + 1].x, in[i + 1].y));
    out[i + 128] = four.__x >> 8;
}
extern "C" __global__ void fp6_and_fp4(const float2 *in, half2 *halves, unsigned short *out) {
    const int i = threadIdx.x;
    out[i] = __nv_cvt_float2_to_fp6x2(in[i], __NV_E2M3, cudaRoundNearest);
    out[i + 32] = __nv_cvt_float2_to_fp6x2(in[i], __NV_E3M2, cudaRoundNearest);
    out[i + 64] = __nv_cvt_float2_to_fp4x2(in[i], __NV_E2M1, cudaRoundNearest);
    halves[i] = half2(__nv_cvt_fp6x2_to_halfraw2(out[i], __NV_E2M3)) + half2(__nv_cvt_fp6x2_to_halfraw2(out[i], __NV_E3M2)) + half2(__nv_cvt_fp4x2_to_halfraw2(out[i] & 255, __NV_E2M1));
    __nv_fp8_e8m0 scale(in[i].x);
    out[i + 96] = scale.__x;
}
