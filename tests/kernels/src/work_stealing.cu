// Blocks and clusters that take over the work of those that have not started: what libcu++ makes of it, for sm_100a.
#include <cooperative_groups.h>
#include <cuda/ptx>
#include <cuda/work_stealing>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

extern "C" __global__ void scales_tiles(const int* given, int* out, int* by, int factor) {
  cuda::device::for_each_canceled_block<3>([=](dim3 block) {
    int tile = block.x + gridDim.x * (block.y + gridDim.y * block.z);
    int at = tile * blockDim.x + threadIdx.x;
    out[at] = given[at] * factor + tile;
    if (threadIdx.x == 0) by[tile] = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  });
}

// A response is asked for ahead: while one tile is worked on, the next is on its way.
extern "C" __global__ void sums_tiles(const int* given, int* out, int* by, int length) {
  __shared__ uint4 response;
  __shared__ uint64_t bar;
  __shared__ int partial[32];
  if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
  unsigned phase = 0;
  int tile = blockIdx.x;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_acquire, ptx::space_cluster, ptx::scope_cluster);
      ptx::clusterlaunchcontrol_try_cancel(&response, &bar);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, sizeof(uint4));
    }
    int sum = 0;
    for (int i = threadIdx.x; i < length; i += blockDim.x) sum += given[tile * length + i];
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      int total = 0;
      for (int w = 0; w < blockDim.x / 32; ++w) total += partial[w];
      out[tile] = total;
      by[tile] = blockIdx.x;
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &bar, phase)) {}
    phase ^= 1;
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(response)) break;
    tile = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(response);
    ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_release, ptx::space_shared, ptx::scope_cluster);
  }
}

// Two blocks of a cluster: one asks for both, and each is told.
extern "C" __global__ void __cluster_dims__(2, 1, 1) counts_in_clusters(const int* given, int* out, int* by, int length) {
  __shared__ uint4 response;
  __shared__ uint64_t bar;
  __shared__ int counts[64];
  auto cluster = cg::this_cluster();
  int rank = cluster.block_rank();
  if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
  unsigned phase = 0;
  int tile = blockIdx.x;
  while (true) {
    if (threadIdx.x < 64) counts[threadIdx.x] = 0;
    if (threadIdx.x == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, sizeof(uint4));
    cluster.sync();  // the mbarriers expect the response, and the one before has been read
    if (rank == 0 && threadIdx.x == 0) {
      ptx::fence_proxy_async();
      ptx::clusterlaunchcontrol_try_cancel_multicast(&response, &bar);
    }
    int* near = cluster.map_shared_rank(counts, 0);  // the first block counts for both
    for (int i = threadIdx.x; i < length; i += blockDim.x) atomicAdd(&near[given[tile * length + i] & 63], 1);
    cluster.sync();
    if (rank == 0 && threadIdx.x < 64) out[tile / 2 * 64 + threadIdx.x] = counts[threadIdx.x];
    if (threadIdx.x == 0) by[tile] = blockIdx.x;
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, phase)) {}
    phase ^= 1;
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(response)) break;
    tile = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(response) + rank;
    ptx::fence_proxy_async();
    __syncthreads();
  }
}
