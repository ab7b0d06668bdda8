// Histograms: shared and global atomics, one update a group of equal values, byte counters.
extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1);
    __syncthreads();
    if (local[threadIdx.x]) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
extern "C" __global__ void histogram_matched(const int *in, unsigned *bins) {
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned peers = __match_any_sync(~0u, v);
    if (__ffs(peers) - 1 == threadIdx.x % 32) atomicAdd(&bins[v], __popc(peers));
}
extern "C" __global__ void histogram_divergent(const int *in, unsigned *bins) {
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    while (true) {
        unsigned active = __activemask();
        int leader = __ffs(active) - 1, chosen = __shfl_sync(active, v, leader);
        unsigned same = __ballot_sync(active, v == chosen);
        if (v == chosen) {
            if (threadIdx.x % 32 == leader) atomicAdd(bins + chosen, __popc(same));
            break;
        }
    }
}
