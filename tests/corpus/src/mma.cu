// mma.sync and mma.sp.sync in every shape and type that the target has.
#define R2 "{%0, %1}"
#define R4 "{%0, %1, %2, %3}"
// Macro name: registers of D (F float, I integer, D double), A, B.
#define F4_2_1(form) asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
    : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#define F4_4_2(form) asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
    : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#define H2_2_1(form) asm volatile("mma.sync.aligned." form " {%0, %1}, {%2, %3}, {%4}, {%0, %1};" \
    : "+r"(r[0]), "+r"(r[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#define H2_4_2(form) asm volatile("mma.sync.aligned." form " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};" \
    : "+r"(r[0]), "+r"(r[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#define I2_1_1(form) asm volatile("mma.sync.aligned." form " {%0, %1}, {%2}, {%3}, {%0, %1};" \
    : "+r"(r[0]), "+r"(r[1]) : "r"(a[0]), "r"(b[0]));
#define I4_2_1(form) asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
    : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#define I4_4_2(form) asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
    : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#define SPF4_2_2(op, form) asm volatile(op form " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, 0x0;" \
    : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(meta));
#define SPF4_4_4(op, form, sel) asm volatile(op form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, " sel ";" \
    : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(meta));
#define SPI4_2_2(op, form) asm volatile(op form " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, 0x1;" \
    : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(meta));
#define SPI4_4_4(op, form) asm volatile(op form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;" \
    : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(meta));

#define PREPARE \
    unsigned a[4], b[4], r[4]; float f[4]; unsigned meta = in[threadIdx.x + 512]; \
    for (int i = 0; i < 4; ++i) { a[i] = in[i * 32 + threadIdx.x]; b[i] = in[i * 32 + threadIdx.x + 128]; r[i] = in[i * 32 + threadIdx.x + 256]; f[i] = __uint_as_float(r[i]); } \
    (void)meta;
#define FINISH for (int i = 0; i < 4; ++i) { out[i * 32 + threadIdx.x] = r[i]; out[i * 32 + threadIdx.x + 128] = __float_as_uint(f[i]); }

extern "C" __global__ void mma_half(const unsigned *in, unsigned *out) {
    PREPARE
    F4_2_1("m16n8k8.row.col.f32.f16.f16.f32")
    H2_2_1("m16n8k8.row.col.f16.f16.f16.f16")
#if __CUDA_ARCH__ >= 800
    F4_4_2("m16n8k16.row.col.f32.f16.f16.f32")
    H2_4_2("m16n8k16.row.col.f16.f16.f16.f16")
    F4_2_1("m16n8k8.row.col.f32.bf16.bf16.f32")
    F4_4_2("m16n8k16.row.col.f32.bf16.bf16.f32")
    F4_2_1("m16n8k4.row.col.f32.tf32.tf32.f32")
    F4_4_2("m16n8k8.row.col.f32.tf32.tf32.f32")
#endif
    FINISH
}

extern "C" __global__ void mma_integer(const unsigned *in, unsigned *out) {
    PREPARE
    I2_1_1("m8n8k16.row.col.s32.s8.s8.s32") I2_1_1("m8n8k16.row.col.satfinite.s32.u8.s8.s32") I2_1_1("m8n8k16.row.col.s32.u8.u8.s32")
    I2_1_1("m8n8k32.row.col.s32.s4.s4.s32") I2_1_1("m8n8k32.row.col.satfinite.s32.u4.s4.s32")
    I2_1_1("m8n8k128.row.col.s32.b1.b1.s32.xor.popc")
#if __CUDA_ARCH__ >= 800
    I2_1_1("m8n8k128.row.col.s32.b1.b1.s32.and.popc")
    I4_2_1("m16n8k16.row.col.s32.s8.u8.s32") I4_4_2("m16n8k32.row.col.satfinite.s32.s8.s8.s32")
    I4_2_1("m16n8k32.row.col.s32.s4.u4.s32") I4_4_2("m16n8k64.row.col.s32.u4.u4.s32")
    I4_2_1("m16n8k128.row.col.s32.b1.b1.s32.xor.popc") I4_4_2("m16n8k256.row.col.s32.b1.b1.s32.and.popc")
#endif
    FINISH
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void mma_double(const double *in, double *out) {
    double c0 = in[threadIdx.x], c1 = in[threadIdx.x + 32];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c0), "+d"(c1) : "d"(in[64 + threadIdx.x]), "d"(in[96 + threadIdx.x]));
#if __CUDA_ARCH__ >= 900
    double d[4] = {c0, c1, c1, c0}, a[8], b[4];
    for (int i = 0; i < 8; ++i) a[i] = in[i * 32 + threadIdx.x];
    for (int i = 0; i < 4; ++i) b[i] = in[i * 32 + threadIdx.x + 256];
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(b[0]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.rz.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    out[64 + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
#endif
    out[threadIdx.x] = c0;
    out[threadIdx.x + 32] = c1;
}

extern "C" __global__ void mma_sparse(const unsigned *in, unsigned *out) {
    PREPARE
    SPF4_2_2("mma.sp.sync.aligned.", "m16n8k16.row.col.f32.f16.f16.f32") SPF4_2_2("mma.sp.sync.aligned.", "m16n8k16.row.col.f32.bf16.bf16.f32")
    SPF4_2_2("mma.sp.sync.aligned.", "m16n8k8.row.col.f32.tf32.tf32.f32")
    SPF4_4_4("mma.sp.sync.aligned.", "m16n8k32.row.col.f32.f16.f16.f32", "0x1") SPF4_4_4("mma.sp.sync.aligned.", "m16n8k32.row.col.f32.bf16.bf16.f32", "0x0")
    SPF4_4_4("mma.sp::ordered_metadata.sync.aligned.", "m16n8k16.row.col.f32.tf32.tf32.f32", "0x0")
    SPI4_2_2("mma.sp.sync.aligned.", "m16n8k32.row.col.s32.s8.u8.s32") SPI4_4_4("mma.sp.sync.aligned.", "m16n8k64.row.col.satfinite.s32.s8.s8.s32")
    SPI4_2_2("mma.sp::ordered_metadata.sync.aligned.", "m16n8k64.row.col.s32.s4.s4.s32") SPI4_4_4("mma.sp.sync.aligned.", "m16n8k128.row.col.s32.u4.s4.s32")
#if __CUDA_ARCH__ >= 890
    SPF4_4_4("mma.sp::ordered_metadata.sync.aligned.", "m16n8k64.row.col.f32.e4m3.e5m2.f32", "0x0")
#endif
    FINISH
}
#endif

#if __CUDA_ARCH__ >= 890
extern "C" __global__ void mma_fp8(const unsigned *in, unsigned *out) {
    PREPARE
    F4_4_2("m16n8k32.row.col.f32.e4m3.e4m3.f32") F4_4_2("m16n8k32.row.col.f32.e4m3.e5m2.f32") F4_4_2("m16n8k32.row.col.f32.e5m2.e5m2.f32")
    F4_2_1("m16n8k16.row.col.f32.e5m2.e4m3.f32") H2_4_2("m16n8k32.row.col.f16.e4m3.e4m3.f16") H2_2_1("m16n8k16.row.col.f16.e5m2.e5m2.f16")
    FINISH
}
#endif

#if __CUDA_ARCH__ >= 1200 && (defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__))
#define SCALED(form) asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {0, 1}, %11, {2, 3};" \
    : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(meta), "r"(meta));
#define SCALED4(form) asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};" \
    : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(meta), "r"(meta));
extern "C" __global__ void mma_narrow(const unsigned *in, unsigned *out) {
    PREPARE
    F4_4_2("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32") F4_4_2("m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32")
    F4_4_2("m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32") H2_4_2("m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e5m2.f16")
    SCALED("m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0")
    SCALED4("m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0")
    SCALED4("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3")
    SPF4_4_4("mma.sp::ordered_metadata.sync.aligned.", "m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", "0x0")
    FINISH
}
#endif
