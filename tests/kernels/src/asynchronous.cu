// Asynchronous copies and stores as libcu++ writes them: groups, mbarriers, the async proxy, clusters.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void stages_of_a_thread(const int *in, int *out, int n) {
    __shared__ int buffers[2][128];
    auto pipe = cuda::make_pipeline();
    int sum = 0;
    for (int fetched = 0, done = 0; done < n; done++) {
        for (; fetched < n && fetched < done + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffers[fetched % 2][threadIdx.x], in + fetched * 128 + threadIdx.x, sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        sum += buffers[done % 2][threadIdx.x * 7 % 128];
        __syncthreads();
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void copies_at_a_barrier(const int *in, int *out, int n) {
    __shared__ alignas(16) int buffer[128];
    __shared__ Barrier barrier;
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    int sum = 0;
    for (int i = 0; i < n; i++) {
        cuda::memcpy_async(block, buffer, in + i * 128, cuda::aligned_size_t<16>(sizeof(buffer)), barrier);
        barrier.arrive_and_wait();
        sum += buffer[threadIdx.x * 7 % 128];
        block.sync();
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void copies_of_a_group(const int *in, int *out, int n) {
    __shared__ alignas(16) int buffer[128];
    auto block = cg::this_thread_block();
    int sum = 0;
    for (int i = 0; i < n; i++) {
        cg::memcpy_async(block, buffer, in + i * 128, sizeof(buffer));
        cg::wait(block);
        sum += buffer[threadIdx.x * 7 % 128];
        block.sync();
    }
    out[threadIdx.x] = sum;
}
#if __CUDA_ARCH__ >= 900
#include <cuda/ptx>
namespace cde = cuda::device::experimental;
extern "C" __global__ void bulk_there_and_back(const int *in, int *out, int n) {
    __shared__ alignas(128) int buffer[128];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    for (int i = 0; i < n; i++) {
        Barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cde::cp_async_bulk_wait_group_read<0>();
            cde::cp_async_bulk_global_to_shared(buffer, in + i * 128, sizeof(buffer), barrier);
            token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof(buffer));
        } else
            token = barrier.arrive();
        barrier.wait(std::move(token));
        buffer[threadIdx.x] += threadIdx.x;
        cde::fence_proxy_async_shared_cta();
        __syncthreads();
        if (threadIdx.x == 0) {
            cde::cp_async_bulk_shared_to_global(out + i * 128, buffer, sizeof(buffer));
            cde::cp_async_bulk_commit_group();
        }
    }
    if (threadIdx.x == 0) cde::cp_async_bulk_wait_group_read<0>();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) loads_from_a_peer(const int *in, int *out, int n) {
    __shared__ int buffer[128];
    auto cluster = cg::this_cluster();
    buffer[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
    cluster.sync();
    int found = cluster.map_shared_rank(buffer, cluster.block_rank() ^ 1)[127 - threadIdx.x];
    cluster.sync();
    out[blockIdx.x * 128 + threadIdx.x] = found + n;
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) counts_in_a_cluster(const int *in, int *out, int n) {
    __shared__ int bins[64];
    auto cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = n;
    cluster.sync();
    int value = in[blockIdx.x * 128 + threadIdx.x] & 127;
    atomicAdd(cluster.map_shared_rank(bins, value / 64) + value % 64, 1);
    cluster.sync();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) out[cluster.block_rank() * 64 + i] = bins[i];
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) stores_to_a_peer(const int *in, int *out, int n) {
    __shared__ alignas(16) int received[128];
    __shared__ alignas(8) uint64_t barrier;
    auto cluster = cg::this_cluster();
    using namespace cuda::ptx;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init(sem_release, scope_cluster);
    }
    cluster.sync();
    int peer = cluster.block_rank() ^ 1;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (threadIdx.x == 0) mbarrier_arrive_expect_tx(sem_release, scope_cluster, space_shared, &barrier, sizeof(received));
        int *into = cluster.map_shared_rank(&received[threadIdx.x], peer);
        st_async(into, in[i * 128 + threadIdx.x], cluster.map_shared_rank(&barrier, peer));
        while (!mbarrier_try_wait_parity(&barrier, i & 1)) {}
        sum += received[127 - threadIdx.x];
        cluster.sync();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
#endif
