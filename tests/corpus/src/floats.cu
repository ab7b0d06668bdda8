// Floating point through inline PTX: rounding modes, ftz, saturation, approximations, tests, mixed precision.
#define F1(i, text) asm(text : "=f"(out[(i) * 32 + threadIdx.x]) : "f"(a));
#define F2(i, text) asm(text : "=f"(out[(i) * 32 + threadIdx.x]) : "f"(a), "f"(b));
#define F3(i, text) asm(text : "=f"(out[(i) * 32 + threadIdx.x]) : "f"(a), "f"(b), "f"(c));
extern "C" __global__ void singles(const float *in, float *out) {
    float a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
    F2(0, "add.rn.f32 %0, %1, %2;") F2(1, "add.rz.ftz.sat.f32 %0, %1, %2;") F2(2, "sub.rm.f32 %0, %1, %2;") F2(3, "mul.rp.ftz.f32 %0, %1, %2;") F3(4, "fma.rn.sat.f32 %0, %1, %2, %3;")
    F3(5, "mad.rz.f32 %0, %1, %2, %3;") F2(6, "div.full.f32 %0, %1, %2;") F2(7, "div.approx.ftz.f32 %0, %1, %2;") F2(8, "div.rm.f32 %0, %1, %2;") F1(9, "rcp.approx.f32 %0, %1;")
    F1(10, "rcp.rp.ftz.f32 %0, %1;") F1(11, "sqrt.rn.f32 %0, %1;") F1(12, "sqrt.approx.ftz.f32 %0, %1;") F1(13, "rsqrt.approx.f32 %0, %1;") F1(14, "sin.approx.f32 %0, %1;")
    F1(15, "cos.approx.ftz.f32 %0, %1;") F1(16, "ex2.approx.f32 %0, %1;") F1(17, "lg2.approx.ftz.f32 %0, %1;") F1(18, "tanh.approx.f32 %0, %1;") F2(19, "copysign.f32 %0, %1, %2;")
    F1(20, "neg.ftz.f32 %0, %1;") F1(21, "abs.f32 %0, %1;") F1(22, "cvt.rni.f32.f32 %0, %1;") F1(23, "cvt.rzi.sat.f32.f32 %0, %1;") F2(24, "min.ftz.f32 %0, %1, %2;") F2(25, "max.f32 %0, %1, %2;")
    F1(26, "{\n.reg .pred p;\ntestp.subnormal.f32 p, %1;\nselp.f32 %0, %1, 0f3F800000, p;\n}") F1(27, "{\n.reg .pred p;\ntestp.finite.f32 p, %1;\nselp.f32 %0, 0F7FC00000, %1, p;\n}")
    F2(28, "set.nan.f32.f32 %0, %1, %2;") F2(29, "{\n.reg .pred p;\nsetp.gtu.ftz.f32 p, %1, %2;\nselp.f32 %0, %1, %2, p;\n}") F3(30, "slct.ftz.f32.f32 %0, %1, %2, %3;")
#if __CUDA_ARCH__ >= 800
    F2(31, "min.NaN.f32 %0, %1, %2;") F2(32, "max.ftz.NaN.f32 %0, %1, %2;")
#endif
#if __CUDA_ARCH__ >= 860
    F2(33, "min.xorsign.abs.f32 %0, %1, %2;") F2(34, "max.NaN.xorsign.abs.f32 %0, %1, %2;")
#endif
#if __CUDA_ARCH__ >= 1000
    F3(35, "max.NaN.f32 %0, %1, %2, %3;") F3(36, "min.abs.f32 %0, %1, %2, %3;")
    asm("{\n.reg .b64 x, y;\nmov.b64 x, {%0, %1};\nadd.rn.f32x2 y, x, x;\nmul.rz.ftz.f32x2 y, y, x;\nfma.rn.f32x2 x, y, x, x;\nmov.b64 {%0, %1}, x;\n}" : "+f"(out[0]), "+f"(out[1]));
    asm("{\n.reg .b16 h, g;\ncvt.rn.f16.f32 h, %1;\nadd.rn.f32.f16 %0, h, %2;\nfma.rz.sat.f32.f16 %0, h, h, %2;\nsub.rm.f32.bf16 %0, h, %2;\n}" : "=f"(out[2]) : "f"(a), "f"(b));
#endif
}
#define D2(i, text) asm(text : "=d"(out[(i) * 32 + threadIdx.x]) : "d"(a), "d"(b));
extern "C" __global__ void doubles(const double *in, double *out) {
    double a = in[threadIdx.x], b = in[threadIdx.x + 32];
    D2(0, "add.rp.f64 %0, %1, %2;") D2(1, "mul.rm.f64 %0, %1, %2;") D2(2, "fma.rz.f64 %0, %1, %2, 0d3FF0000000000000;") D2(3, "div.rn.f64 %0, %1, %2;") D2(4, "rcp.rz.f64 %0, %1;") D2(5, "sqrt.rp.f64 %0, %1;")
    D2(6, "rcp.approx.ftz.f64 %0, %1;") D2(7, "rsqrt.approx.ftz.f64 %0, %1;") D2(8, "rsqrt.approx.f64 %0, %1;") D2(9, "min.f64 %0, %1, %2;") D2(10, "cvt.rmi.f64.f64 %0, %1;") D2(11, "copysign.f64 %0, %1, %2;")
    D2(12, "{\n.reg .pred p;\ntestp.infinite.f64 p, %1;\nselp.f64 %0, %1, 1.5, p;\n}") D2(13, "{\n.reg .s64 l;\ncvt.rpi.s64.f64 l, %1;\ncvt.rz.f64.s64 %0, l;\n}") D2(14, "{\n.reg .f32 f;\ncvt.rm.f32.f64 f, %1;\ncvt.f64.f32 %0, f;\n}")
}
extern "C" __global__ void conversions(const float *in, unsigned *out) {
    float a = in[threadIdx.x], b = in[threadIdx.x + 32];
    unsigned char c8 = a; signed char s8 = b; unsigned short u16 = a; short s16 = b;
    out[threadIdx.x] = __float2int_rn(a) + __float2uint_ru(b) + __float2ll_rd(a) + c8 + s8 + u16 + s16;
    out[threadIdx.x + 32] = __float_as_uint(__ll2float_rz(__float_as_int(a)) + __uint2float_rd(threadIdx.x) + __int2float_ru(s16) + float(s8));
    asm("cvt.rzi.sat.u8.f32 %0, %1;" : "=r"(out[64]) : "f"(a));
    asm("cvt.rni.sat.s16.f32 %0, %1;" : "=h"(s16) : "f"(a));
    asm("{\n.reg .b16 h;\ncvt.rz.f16.f32 h, %1;\ncvt.f32.f16 %0, h;\n}" : "=f"(b) : "f"(a));
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(out[65]) : "r"(out[3]), "r"(out[4]));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(out[66]) : "r"(out[3]), "r"(out[4]), "r"(out[5]));
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(out[67]) : "f"(a), "f"(b));
    asm("cvt.rz.bf16x2.f32 %0, %1, %2;" : "=r"(out[68]) : "f"(a), "f"(b));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out[69]) : "f"(a));
#endif
#if __CUDA_ARCH__ >= 900
    asm("cvt.rn.relu.tf32.f32 %0, %1;" : "=r"(out[70]) : "f"(a));
#endif
    out[threadIdx.x + 96] = s16 + __float_as_uint(b);
}
