// Thread block clusters: distributed shared memory, cluster barriers, special registers, dependent launches.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int *in, int *out) {
    __shared__ int sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), in[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.barrier_arrive();
    int neighbour = *cluster.map_shared_rank(&sum, (cluster.block_rank() + 1) % cluster.num_blocks());
    cluster.barrier_wait();
    if (threadIdx.x == 0) out[blockIdx.x] = sum + neighbour + cluster.thread_rank() + cluster.dim_blocks().x;
}

extern "C" __global__ void __cluster_dims__(2, 2, 1) __launch_bounds__(128, 1) cluster_ptx(unsigned *out) {
    __shared__ unsigned long long barrier;
    __shared__ unsigned word;
    unsigned local = static_cast<unsigned>(__cvta_generic_to_shared(&word)), remote, rank, x, value, is, b = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    unsigned long long generic;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;\nmov.u32 %0, %%cluster_nctaid.y;\nmov.u32 %0, %%cluster_nctarank;\nmov.u32 %0, %%clusterid.x;\nmov.u32 %0, %%nclusterid.z;" : "=r"(x));
    asm volatile("{\n.reg .pred p;\nmov.pred p, %%is_explicit_cluster;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" ::"r"(b));
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank ^ 1));
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&word), "r"(rank ^ 1));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(x) : "memory");
    asm volatile("red.release.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(remote) : "memory");
    asm volatile("atom.acquire.cluster.shared::cluster.exch.b32 %0, [%1], %2;" : "=r"(value) : "r"(remote), "r"(x) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote + b - local) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(remote), "r"(x), "r"(remote + b - local) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(remote), "r"(x), "r"(remote + b - local) : "memory");
    asm volatile("{\n.reg .pred p;\nisspacep.shared::cluster p, %1;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is) : "l"(generic));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(x) : "l"(generic));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(x) : "r"(remote));
    asm volatile("fence.acq_rel.cluster;\nfence.sc.cluster;");
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    out[threadIdx.x] = value + x + is;
}

extern "C" __global__ void dependent(int *out) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[threadIdx.x] += 1;
    asm volatile("griddepcontrol.launch_dependents;");
    unsigned leader;
    asm volatile("{\n.reg .pred p;\nelect.sync %0|p, 0xffffffff;\n@p add.u32 %0, %0, 1;\n}" : "=r"(leader));
    out[threadIdx.x + 32] = leader;
#if defined(__CUDA_ARCH_SPECIFIC__)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
}
