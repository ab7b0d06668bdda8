// Integer arithmetic of every width, carry chains, bit fields, funnel shifts, lop3, prmt, saturation.
extern "C" __global__ void wide(const unsigned long long *a, const unsigned *b, __int128 *c, long long *out) {
    const int i = threadIdx.x;
    c[i] = c[i] * c[i + 32] + a[i];
    c[i + 64] = c[i] / 7 + (c[i] >> 3);
    out[i] = (long long)(a[i] / a[i + 32]) + (long long)(a[i] % 1000) + __mul64hi(a[i], b[i]) + __umul64hi(a[i], a[i + 1]);
    out[i + 32] = __popcll(a[i]) + __clzll(a[i]) + __ffsll(a[i]) + __brevll(a[i]);
    out[i + 64] = (long long)(int(b[i]) / int(b[i + 1])) + b[i] % 10u + (short)b[i] / 3 + (unsigned char)b[i] % 5;
    out[i + 96] = (a[i] << (b[i] & 63)) | (out[i] >> 5) | (a[i] >> b[i]);
}
#define ASM2(i, text) asm(text : "=r"(out[(i) * 32 + threadIdx.x]) : "r"(a), "r"(b));
#define ASM3(i, text) asm(text : "=r"(out[(i) * 32 + threadIdx.x]) : "r"(a), "r"(b), "r"(c));
extern "C" __global__ void bits(const unsigned *in, unsigned *out) {
    unsigned a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
    out[threadIdx.x + 4096] = __popc(a) + __clz(b) + __ffs(c) + __brev(a) + __funnelshift_l(a, b, c) + __funnelshift_rc(a, b, c) + __mulhi(int(a), int(b)) + __umul24(a, b) + __mul24(int(a), int(b))
        + __usad(a, b, c) + __sad(a, b, c) + __hadd(int(a), int(b)) + __urhadd(a, b) + __umulhi(a, b) + __fns(a, b & 31, 1) + (a ^ b & ~c | b) + __byte_perm(a, b, c) + min(max(int(a), -100), 100);
    ASM3(0, "{\nadd.cc.u32 %0, %1, %2;\naddc.cc.u32 %0, %0, %3;\naddc.u32 %0, %0, 0;\n}") ASM3(1, "{\nsub.cc.s32 %0, %1, %2;\nsubc.cc.s32 %0, %0, %3;\nsubc.s32 %0, %0, 0;\n}")
    ASM3(2, "{\nmad.lo.cc.u32 %0, %1, %2, %3;\nmadc.hi.cc.u32 %0, %1, %2, %3;\nmadc.lo.s32 %0, %1, %2, %3;\n}") ASM3(3, "mad.hi.sat.s32 %0, %1, %2, %3;")
    ASM2(4, "add.sat.s32 %0, %1, %2;") ASM2(5, "sub.sat.s32 %0, %1, %2;") ASM3(6, "bfe.s32 %0, %1, %2, %3;") ASM3(7, "bfe.u32 %0, %1, 4, 8;") ASM3(8, "bfi.b32 %0, %1, %2, %3, 9;")
    ASM2(9, "bfind.u32 %0, %1;") ASM2(10, "bfind.shiftamt.s32 %0, %1;") ASM2(11, "bmsk.wrap.b32 %0, %1, %2;") ASM2(12, "bmsk.clamp.b32 %0, %1, %2;") ASM2(13, "szext.wrap.s32 %0, %1, %2;")
    ASM2(14, "szext.clamp.u32 %0, %1, %2;") ASM3(15, "lop3.b32 %0, %1, %2, %3, 0x96;") ASM3(16, "prmt.b32.f4e %0, %1, %2, %3;") ASM3(17, "prmt.b32.rc16 %0, %1, %2, %3;") ASM3(18, "shf.l.wrap.b32 %0, %1, %2, %3;")
    ASM3(19, "shf.r.clamp.b32 %0, %1, %2, %3;") ASM2(20, "cnot.b32 %0, %1;") ASM2(21, "set.lt.u32.s32 %0, %1, %2;") ASM3(22, "slct.u32.s32 %0, %1, %2, %3;") ASM2(23, "mul24.hi.u32 %0, %1, %2;")
    ASM3(24, "mad24.hi.sat.s32 %0, %1, %2, %3;") ASM3(25, "fns.b32 %0, %1, %2, %3;") ASM3(26, "sad.u32 %0, %1, %2, %3;") ASM2(27, "rem.s32 %0, %1, %2;")
    ASM3(28, "{\n.reg .pred p, q;\nsetp.lt.and.s32 p|q, %1, %2, q;\nlop3.or.b32 %0|p, %1, %2, %3, 0x3f, q;\nselp.b32 %0, %1, %2, p;\n}")
    ASM2(29, "{\n.reg .b16 h, l;\nmov.b32 {l, h}, %1;\nmul.wide.s16 %0, h, l;\nmad.wide.u16 %0, l, h, %2;\n}") ASM2(30, "{\n.reg .pred p;\nsetp.hs.u32 p, %1, %2;\n@!p not.b32 %0, %1;\n@p abs.s32 %0, %2;\n}")
#if __CUDA_ARCH__ >= 900
    ASM2(31, "min.s16x2 %0, %1, %2;") ASM2(32, "max.relu.s16x2 %0, %1, %2;") ASM2(33, "add.u16x2 %0, %1, %2;") ASM2(34, "min.relu.s32 %0, %1, %2;")
#endif
}
