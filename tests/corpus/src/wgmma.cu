// wgmma on Hopper: descriptors and registers as A, several widths and types, sparse, and the fences around them.
#define D8 "{%0, %1, %2, %3}"
__device__ __forceinline__ unsigned long long describe(const void *p) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(p));
    return (static_cast<unsigned long long>(1) << 62) | (64ull << 32) | (1ull << 16) | ((address & 0x3ffff) >> 4);
}
#define SS(form, tail) asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned." form " {%0, %1, %2, %3}, %4, %5, p" tail ";\n}" \
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(db), "r"(scale));
#define SI(form) asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned." form " {%0, %1, %2, %3}, %4, %5, p;\n}" \
    : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) : "l"(da), "l"(db), "r"(scale));
#define RS(form, tail) asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\nwgmma.mma_async.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p" tail ";\n}" \
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db), "r"(scale));
#define SH(form, tail) asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\nwgmma.mma_async.sync.aligned." form " {%0, %1}, %2, %3, p" tail ";\n}" \
    : "+r"(r[0]), "+r"(r[1]) : "l"(da), "l"(db), "r"(scale));
#define SP(form, tail) asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %7, 0;\nwgmma.mma_async.sp.sync.aligned." form " {%0, %1, %2, %3}, %4, %5, %6, 0, p" tail ";\n}" \
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(db), "r"(r[0]), "r"(scale));

extern "C" __global__ void __launch_bounds__(128) wgmma_small(const unsigned *in, float *out, int scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    float d[4] = {};
    unsigned r[4];
    for (int i = 0; i < 4; ++i) r[i] = in[i * 128 + threadIdx.x];
    unsigned long long da = describe(memory), db = describe(memory + 8192);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    SS("m64n8k16.f32.f16.f16", ", 1, 1, 0, 0") SS("m64n8k16.f32.bf16.bf16", ", 1, -1, 1, 1") SS("m64n8k8.f32.tf32.tf32", ", -1, 1")
    SS("m64n8k32.f32.e4m3.e4m3", ", 1, 1") SS("m64n8k32.f32.e5m2.e4m3", ", 1, 1")
    SH("m64n8k16.f16.f16.f16", ", 1, 1, 0, 1") SH("m64n8k32.f16.e4m3.e5m2", ", 1, 1")
    SI("m64n8k32.s32.s8.s8") SI("m64n8k32.s32.u8.s8.satfinite") SI("m64n8k256.s32.b1.b1.and.popc")
    RS("m64n8k16.f32.f16.f16", ", 1, 1, 1") RS("m64n8k8.f32.tf32.tf32", ", 1, 1")
    SP("m64n8k32.f32.f16.f16", ", 1, 1, 0, 0") SP("m64n8k64.f32.e4m3.e4m3", ", 1, 1")
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; ++i) out[i * 128 + threadIdx.x] = d[i] + r[i];
}

#define E(i) "+f"(d[i])
#define E8(i) E(i), E(i + 1), E(i + 2), E(i + 3), E(i + 4), E(i + 5), E(i + 6), E(i + 7)
extern "C" __global__ void __launch_bounds__(128) wgmma_wide(float *out, int scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    float d[64] = {};
    unsigned long long da = describe(memory), db = describe(memory + 8192);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1, 0, 1;\n}"
        : E8(0), E8(8), E8(16), E8(24), E8(32), E8(40), E8(48), E8(56) : "l"(da), "l"(db), "r"(scale));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 64; ++i) out[i * 128 + threadIdx.x] = d[i];
}
