// Packed integer arithmetic: SIMD intrinsics, dot products, and the video instructions through inline PTX.
extern "C" __global__ void simd(const unsigned *in, unsigned *out) {
    unsigned a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
    unsigned r[] = {__vadd2(a, b), __vadd4(a, b), __vsub2(a, b), __vsub4(a, b), __vaddss4(a, b), __vaddus4(a, b), __vsubss2(a, b), __vabs2(a), __vabs4(a), __vabsdiffs4(a, b),
                    __vabsdiffu4(a, b), __vavgs2(a, b), __vavgu4(a, b), __vcmpeq4(a, b), __vcmpgts2(a, b), __vcmpltu4(a, b), __vmaxs2(a, b), __vmaxu4(a, b), __vmins4(a, b),
                    __vminu2(a, b), __vneg4(a), __vnegss2(a), __vsads4(a, b), __vsadu4(a, b), __vsetges4(a, b), __vhaddu4(a, b), __vabsss4(a),
                    unsigned(__dp4a(int(a), int(b), int(c))), __dp4a(a, b, c), unsigned(__dp2a_lo(int(a), int(b), int(c))), __dp2a_hi(a, b, c), __viaddmax_u32(a, b, c),
                    unsigned(__vimin3_s32(a, b, c)), __vimax_s16x2_relu(a, b), __byte_perm(a, b, 0x5140)};
    for (int i = 0; i < sizeof(r) / 4; ++i) out[i * 32 + threadIdx.x] = r[i];
}
#define V(i, text) asm(text : "=r"(out[(i) * 32 + threadIdx.x]) : "r"(a), "r"(b), "r"(c));
extern "C" __global__ void video(const unsigned *in, unsigned *out) {
    unsigned a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
    V(0, "vadd.s32.u32.s32 %0, %1.b0, %2.h1;") V(1, "vsub.u32.s32.s32.sat %0, %1.b3, %2;") V(2, "vabsdiff.s32.s32.s32.add %0, %1.h0, %2.h1, %3;")
    V(3, "vmin.u32.u32.u32 %0.b2, %1.b1, %2.b0, %3;") V(4, "vmax.s32.s32.s32.max %0, %1.b1, %2.b0, %3;") V(5, "vshl.u32.u32.u32.wrap %0, %1, %2.b0;")
    V(6, "vshr.s32.s32.u32.clamp.add %0, %1.h1, %2.b0, %3;") V(7, "vmad.s32.s32.u32.sat.shr7 %0, %1.h0, %2.h0, -%3;") V(8, "vset.u32.s32.lt %0, %1.b0, %2.b1;")
    V(9, "vset.s32.u32.ge.add %0, %1, %2, %3;") V(10, "vadd2.s32.s32.u32.sat %0.h10, %1.h32, %2.h10, %3;") V(11, "vsub4.s32.s32.s32 %0.b3210, %1.b0123, %2.b7654, %3;")
    V(12, "vavrg4.u32.u32.u32.add %0, %1, %2, %3;") V(13, "vabsdiff2.u32.u32.u32.add %0.h1, %1.h10, %2.h32, %3;") V(14, "vset4.u32.u32.eq %0.b20, %1, %2, %3;") V(15, "vmax2.s32.s32.s32 %0, %1, %2, %3;")
}
