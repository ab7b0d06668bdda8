// Fifth-generation tensor cores: tensor memory, its loads, stores and copies, and the matrix instructions.
extern "C" __global__ void __launch_bounds__(128) tensor_memory(unsigned *out, unsigned long long da, unsigned long long db, unsigned idesc) {
    __shared__ unsigned base;
    __shared__ __align__(8) unsigned long long barrier;
    unsigned b = static_cast<unsigned>(__cvta_generic_to_shared(&barrier)), r[8] = {};
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&base))) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b));
    asm volatile("tcgen05.fence::before_thread_sync;");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;");
    unsigned t = base;
    if (threadIdx.x == 0) {
        asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(t), "l"(da));
        asm volatile("tcgen05.cp.cta_group::1.4x256b [%0], %1;" ::"r"(t), "l"(da));
        asm volatile("tcgen05.cp.cta_group::1.128x128b [%0], %1;" ::"r"(t), "l"(da));
        asm volatile("tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%0], %1;" ::"r"(t), "l"(da));
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(t), "l"(da));
        asm volatile("tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [%0], %1;" ::"r"(t), "l"(da));
        asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(t));
#define MMA(kind) asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, p;\n}" ::"r"(t), "l"(da), "l"(db), "r"(idesc), "r"(1) : "memory");
        MMA("f16") MMA("tf32") MMA("f8f6f4")
#if __CUDA_ARCH__ == 1000
        MMA("i8")
#endif
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, {%5, %5, %5, %5}, p;\n}" ::"r"(t), "r"(t + 64), "l"(db), "r"(idesc), "r"(1), "r"(0) : "memory");
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%5], [%6], p;\n}" ::"r"(t), "l"(da), "l"(db), "r"(idesc), "r"(1), "r"(t + 16), "r"(t + 32) : "memory");
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%5], [%6], p;\n}" ::"r"(t), "l"(da), "l"(db), "r"(idesc), "r"(1), "r"(t + 16), "r"(t + 32) : "memory");
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %2, [%5], %3, p;\n}" ::"r"(t), "l"(da), "l"(db), "r"(idesc), "r"(1), "r"(t + 96) : "memory");
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill [%0], %1, %2, %3, p;\n}" ::"r"(t), "l"(da), "l"(db), "r"(idesc), "r"(1) : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(b) : "memory");
    }
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(r[0]) : "r"(t));
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(t));
    asm volatile("tcgen05.ld.sync.aligned.16x64b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(t));
    asm volatile("tcgen05.ld.sync.aligned.16x128b.x2.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(t));
    asm volatile("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(t));
    asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%0, %1}, [%2], 8;" : "=r"(r[4]), "=r"(r[5]) : "r"(t));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    asm volatile("tcgen05.st.sync.aligned.32x32b.x4.b32 [%4], {%0, %1, %2, %3};" ::"r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(t) : "memory");
    asm volatile("tcgen05.st.sync.aligned.16x64b.x2.unpack::16b.b32 [%2], {%0, %1};" ::"r"(r[0]), "r"(r[1]), "r"(t) : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    for (int i = 0; i < 8; ++i) out[i * 128 + threadIdx.x] = r[i];
    __syncthreads();
    if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(t));
}
