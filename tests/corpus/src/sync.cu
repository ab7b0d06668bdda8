// Barriers, votes, shuffles, matches, fences, sleeps: everything that threads of a block say to each other.
extern "C" __global__ void warps(const int *in, int *out, float *f, double *d) {
    const int i = threadIdx.x;
    int v = in[i];
    out[i] = __shfl_sync(~0u, v, 3) + __shfl_up_sync(~0u, v, 1, 16) + __shfl_down_sync(~0u, v, 2) + __shfl_xor_sync(~0u, v, 4, 8) + __ballot_sync(~0u, v > 1) + __any_sync(~0u, v > 2)
        + __all_sync(~0u, v > 3) + __activemask() + __match_any_sync(~0u, v);
    int all;
    out[i + 32] = __match_all_sync(~0u, v, &all) + all + __syncthreads_count(v) + __syncthreads_and(v) + __syncthreads_or(v) + __match_any_sync(~0u, (unsigned long long)v << 33);
    f[i] = __shfl_xor_sync(~0u, f[i], 16);
    d[i] = __shfl_down_sync(~0u, d[i], 8);
#if __CUDA_ARCH__ >= 800
    out[i + 64] = __reduce_add_sync(~0u, v) + __reduce_min_sync(~0u, v) + __reduce_max_sync(~0u, unsigned(v)) + __reduce_and_sync(~0u, unsigned(v)) + __reduce_or_sync(~0u, unsigned(v)) + __reduce_xor_sync(~0u, unsigned(v));
#endif
    __syncwarp(0xffff);
    __nanosleep(100);
    asm volatile("{\n.reg .pred p, q;\nsetp.ne.s32 p, %1, 0;\nshfl.sync.idx.b32 %0|q, %1, 5, 0x1f, -1;\n@q add.s32 %0, %0, 1;\nvote.sync.uni.pred q, p, -1;\nvote.sync.ballot.b32 %0, !p, 0xffffffff;\n}" : "=r"(out[i + 96]) : "r"(v));
}
extern "C" __global__ void barriers(int *out) {
    __shared__ int data[256];
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 128) asm volatile("bar.sync 1, 128;" ::: "memory");
    else asm volatile("barrier.sync.aligned 2, 128;" ::: "memory");
    if (threadIdx.x < 64) asm volatile("bar.arrive 3, 256;" ::: "memory");
    else asm volatile("barrier.sync 3, 256;" ::: "memory");
    asm volatile("barrier.cta.sync.aligned %0;\nbar.cta.sync 4;\nbar.warp.sync 0xffffffff;" ::"r"(5) : "memory");
    asm volatile("{\n.reg .pred p;\nsetp.gt.s32 p, %1, 4;\nbar.red.popc.u32 %0, 6, 256, p;\nbarrier.cta.red.and.pred p, 7, !p;\n@p add.u32 %0, %0, 1;\nbar.red.or.pred p, 0, p;\n}" : "=r"(data[threadIdx.x]) : "r"(out[threadIdx.x]) : "memory");
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    asm volatile("membar.gl;\nmembar.cta;\nmembar.sys;\nfence.sc.gpu;\nfence.acq_rel.cta;\nfence.sys;" ::: "memory");
    out[threadIdx.x] = data[255 - threadIdx.x];
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;\nfence.release.sync_restrict::shared::cta.cluster;\nfence.proxy.alias;\nfence.proxy.async.global;");
#endif
}
