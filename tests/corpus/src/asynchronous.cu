// Asynchronous copies into shared memory with groups and mbarriers, through PTX and through libcu++ pipelines.
#include <cuda/barrier>
#include <cuda/pipeline>
#define S(x) static_cast<unsigned>(__cvta_generic_to_shared(x))
extern "C" __global__ void groups(const float *in, float *out, int valid) {
    __shared__ __align__(16) float stage[2][512];
    __shared__ unsigned long long barrier;
    unsigned s = S(stage[0] + threadIdx.x * 4), b = S(&barrier);
    unsigned long long state;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(s), "l"(in) : "memory");
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8;" ::"r"(s), "l"(in) : "memory");
    asm volatile("cp.async.cg.shared::cta.global.L2::256B [%0], [%1], 16, %2;" ::"r"(s), "l"(in), "r"(valid) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, 4;" ::"r"(s), "l"(in) : "memory");
    asm volatile("{\n.reg .pred p;\nsetp.eq.s32 p, %2, 0;\ncp.async.cg.shared.global [%0], [%1], 16, p;\n}" ::"r"(s), "l"(in), "r"(valid) : "memory");
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;\ncp.async.wait_all;" ::: "memory");
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(blockDim.x));
    __syncthreads();
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b) : "memory");
    asm volatile("cp.async.mbarrier.arrive.b64 [%0];" ::"l"(&barrier) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
    asm volatile("mbarrier.arrive_drop.noComplete.shared.b64 %0, [%1], 1;" : "=l"(state) : "r"(b) : "memory");
    asm volatile("mbarrier.arrive.noComplete.b64 %0, [%1], 2;" : "=l"(state) : "l"(&barrier) : "memory");
    asm volatile("{\n.reg .pred p;\nwaiting:\nmbarrier.test_wait.shared.b64 p, [%0], %1;\n@!p bra waiting;\nmbarrier.pending_count.b64 %2, %1;\n}" ::"r"(b), "l"(state), "r"(valid) : "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;\nmbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 16;" ::"r"(b) : "memory");
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], 1, 1000;\nmbarrier.test_wait.parity.shared.b64 p, [%0], 0;\n}" ::"r"(b) : "memory");
#endif
    out[threadIdx.x] = stage[0][threadIdx.x] + stage[1][threadIdx.x];
}
extern "C" __global__ void pipelined(const float4 *in, float4 *out, int tiles) {
    __shared__ float4 stage[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block_rank = threadIdx.x;
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int compute = 0, fetch = 0; compute < tiles; ++compute) {
        for (; fetch < tiles && fetch < compute + 2; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[fetch % 2][block_rank], &in[fetch * 64 + block_rank], cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        out[compute * 64 + block_rank] = stage[compute % 2][block_rank];
        pipe.consumer_release();
    }
    (void)state;
}
extern "C" __global__ void phases(int *data) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    auto token = barrier.arrive();
    data[threadIdx.x] += 1;
    barrier.wait(std::move(token));
    barrier.arrive_and_wait();
}
