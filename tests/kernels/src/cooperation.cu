// Threads that wait for each other: groups, whole-grid rounds, locks, producers and consumers, asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define S(p) static_cast<unsigned>(__cvta_generic_to_shared(p))

extern "C" __global__ void group_tiles(const int *in, int *out) {
    auto block = cg::this_thread_block();
    auto eight = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    int r = cg::reduce(eight, v, cg::plus<int>()) * 3 + cg::inclusive_scan(warp, v) + cg::exclusive_scan(eight, v, cg::plus<int>()) + eight.shfl_xor(v, 3) + eight.meta_group_rank();
    if (v & 1) {
        auto odd = cg::coalesced_threads();
        r += cg::reduce(odd, v, cg::greater<int>());
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = r;
}
extern "C" __global__ void grid_rounds(int *data, int *next, int rounds) {
    auto grid = cg::this_grid();
    int n = grid.size(), i = grid.thread_rank();
    for (int r = 0; r < rounds; ++r) {
        next[i] = data[i] * 3 + data[(i + 1) % n] - data[(i + n - 1) % n];
        grid.sync();
        data[i] = next[i] % 1009;
        grid.sync();
    }
}
__device__ void lock(int *mutex) { while (atomicCAS(mutex, 0, 1) != 0) __nanosleep(20); __threadfence(); }
__device__ void unlock(int *mutex) { __threadfence(); atomicExch(mutex, 0); }
extern "C" __global__ void spin_lock(int *mutex, volatile int *shared_total, int rounds) {
    for (int r = 0; r < rounds; ++r)
        if (threadIdx.x == 0) {
            lock(mutex);
            shared_total[0] = shared_total[0] + blockIdx.x + 1;
            shared_total[1] = shared_total[1] ^ (blockIdx.x << r);
            unlock(mutex);
        }
}
extern "C" __global__ void lane_lock(int *mutex, volatile int *total) {
    bool done = false;
    while (!done)
        if (atomicCAS(mutex + threadIdx.x % 3, 0, 1) == 0) {
            total[threadIdx.x % 3] = total[threadIdx.x % 3] * 1 + threadIdx.x;
            __threadfence();
            atomicExch(mutex + threadIdx.x % 3, 0);
            done = true;
        }
}
extern "C" __global__ void ticket_lock(unsigned *ticket, unsigned *serving, volatile unsigned *log) {
    if (threadIdx.x % 32 == 0) {
        unsigned mine = atomicAdd(ticket, 1);
        while (*(volatile unsigned *)serving != mine) __nanosleep(10);
        __threadfence();
        log[mine] = mine * 7 + log[mine ? mine - 1 : 0];
        __threadfence();
        atomicAdd(serving, 1);
    }
}
// Warp 0 produces, the others consume, through named barriers: 1 + stage is "full", 3 + stage is "empty".
extern "C" __global__ void producer_named(const int *in, int *out, int tiles) {
    __shared__ int stage[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    if (warp == 0) {
        for (int t = 0; t < tiles; ++t) {
            if (t >= 2) asm volatile("bar.sync %0, 96;" ::"r"(3 + t % 2) : "memory");
            stage[t % 2][lane] = in[t * 32 + lane] * 2;
            asm volatile("bar.arrive %0, 96;" ::"r"(1 + t % 2) : "memory");
        }
    } else {
        for (int t = 0; t < tiles; ++t) {
            asm volatile("bar.sync %0, 96;" ::"r"(1 + t % 2) : "memory");
            sum = sum * 31 + stage[t % 2][warp == 1 ? lane : 31 - lane];
            if (t + 2 < tiles) asm volatile("bar.arrive %0, 96;" ::"r"(3 + t % 2) : "memory");
        }
        out[threadIdx.x - 32] = sum;
    }
}
__device__ __forceinline__ void wait_phase(unsigned barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
#else
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
#endif
}
// The same through mbarriers, the producer's copies asynchronous.
extern "C" __global__ void producer_mbarrier(const int4 *in, int *out, int tiles) {
    __shared__ __align__(16) int4 stage[2][32];
    __shared__ unsigned long long full[2], empty[2];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x < 2) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(S(full + threadIdx.x)));
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(S(empty + threadIdx.x)));
    }
    __syncthreads();
    if (warp == 0) {
        for (int t = 0; t < tiles; ++t) {
            if (t >= 2) wait_phase(S(empty + t % 2), (t / 2 - 1) & 1);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(S(&stage[t % 2][lane])), "l"(in + t * 32 + lane) : "memory");
            asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(S(full + t % 2)) : "memory");
        }
    } else {
        for (int t = 0; t < tiles; ++t) {
            wait_phase(S(full + t % 2), t / 2 & 1);
            int4 v = stage[t % 2][(lane + warp * 7) % 32];
            sum = sum * 17 + v.x - v.y * 3 + (v.z ^ v.w);
            asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(S(empty + t % 2)) : "memory");
        }
        out[threadIdx.x - 32] = sum;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}
extern "C" __global__ void async_zero_fill(const float *in, float *out, int n) {
    __shared__ __align__(16) float tile[3][256];
    int t = threadIdx.x;
    for (int s = 0; s < 3; ++s) {
        int at = (s * 64 + t) * 4, left = max(0, min(16, (n - at) * 4));
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(S(&tile[s][t * 4])), "l"(in + (left ? at : 0)), "r"(left) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int s = 0; s < 3; ++s) {
        if (s == 0) asm volatile("cp.async.wait_group 2;" ::: "memory");
        else if (s == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
        else asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        for (int k = 0; k < 4; ++k) out[s * 256 + k * 64 + t] = tile[s][255 - k * 64 - t];
    }
}
extern "C" __global__ void atomic_medley(unsigned *u, int *i, unsigned long long *l, float *f, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicInc(u, 100); atomicDec(u + 1, 50); atomicXor(u + 2, t * 2654435761u); atomicOr(u + 3, 1u << t % 32); atomicAnd(u + 4, ~(1u << t % 7)); atomicSub(u + 5, t);
    atomicMin(i, 500 - t); atomicMax(i + 1, t * 3 % 1000 - 500); atomicAdd(i + 2, -t);
    atomicMax(l, (unsigned long long)t << 33); atomicAdd(l + 1, 1ull << 40); atomicMin(l + 2, ~0ull - t); atomicXor(l + 3, (unsigned long long)t * t << 20);
    float v = t % 97 * 0.5f - 20;
    int *cell = reinterpret_cast<int *>(f), old = *cell;
    while (__int_as_float(old) < v) {
        int seen = atomicCAS(cell, old, __float_as_int(v));
        if (seen == old) break;
        old = seen;
    }
    atomicAdd(f + 1, 0.25f * (t % 8));
    if (t < n) atomicExch(u + 6 + t, t * t);
}
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_histogram(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned bins[32];
    auto cluster = cg::this_cluster();
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = in[i] & 63;
        atomicAdd(cluster.map_shared_rank(bins, bin / 32) + bin % 32, 1);
    }
    cluster.sync();
    if (threadIdx.x < 32) atomicAdd(out + cluster.block_rank() * 32 + threadIdx.x, bins[threadIdx.x]);
}
#endif
