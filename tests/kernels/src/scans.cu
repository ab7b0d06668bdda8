// Prefix sums: Blelloch in shared memory, shuffles, single-pass decoupled look-back, stream compaction.
extern "C" __global__ void scan_blelloch(const int *in, int *out) {
    __shared__ int tree[512 + 16];
    int t = threadIdx.x, base = blockIdx.x * 512;
#define AT(i) tree[(i) + (i) / 32]
    AT(2 * t) = in[base + 2 * t];
    AT(2 * t + 1) = in[base + 2 * t + 1];
    int offset = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) AT(offset * (2 * t + 2) - 1) += AT(offset * (2 * t + 1) - 1);
        offset *= 2;
    }
    if (t == 0) AT(511) = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, kept = AT(left);
            AT(left) = AT(right);
            AT(right) += kept;
        }
    }
    __syncthreads();
    out[base + 2 * t] = AT(2 * t);
    out[base + 2 * t + 1] = AT(2 * t + 1);
}
extern "C" __global__ void scan_shuffle(const float *in, float *out) {
    __shared__ float totals[32];
    int t = threadIdx.x, lane = t % 32;
    float v = in[blockIdx.x * blockDim.x + t];
    for (int d = 1; d < 32; d *= 2) {
        float below = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += below;
    }
    if (lane == 31) totals[t / 32] = v;
    __syncthreads();
    float before = 0;
    for (int w = 0; w < t / 32; ++w) before += totals[w];
    out[blockIdx.x * blockDim.x + t] = before + v;
}
// state[b] = flag << 32 | sum; flag 1: the block's own sum, 2: everything up to and with the block.
extern "C" __global__ void scan_lookback(const unsigned *in, unsigned *out, unsigned long long *state, unsigned *ticket) {
    __shared__ unsigned block, warps[8], exclusive;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    unsigned i = block * blockDim.x + threadIdx.x, v = in[i], lane = threadIdx.x % 32, sum = v;
    for (int d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += below;
    }
    if (lane == 31) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    unsigned total = 0, before = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
        if (w < threadIdx.x / 32) before += warps[w];
        total += warps[w];
    }
    if (threadIdx.x == 0) {
        volatile unsigned long long *cells = state;
        unsigned running = 0;
        cells[block] = (block == 0 ? 2ull : 1ull) << 32 | total;
        for (int b = int(block) - 1; b >= 0;) {
            unsigned long long seen = cells[b];
            unsigned flag = seen >> 32;
            if (flag == 0) continue;
            running += unsigned(seen);
            if (flag == 2) break;
            --b;
        }
        __threadfence();
        if (block) cells[block] = 2ull << 32 | (running + total);
        exclusive = running;
    }
    __syncthreads();
    out[i] = exclusive + before + sum;
}
extern "C" __global__ void compact(const int *in, int *out, int *count, int n) {
    __shared__ int base, warps[32];
    if (threadIdx.x == 0) base = 0;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int start = 0; start < n; start += blockDim.x) {
        int i = start + threadIdx.x, v = i < n ? in[i] : 0;
        bool keep = i < n && v % 3 != 0;
        unsigned mask = __ballot_sync(~0u, keep);
        if (lane == 0) warps[warp] = __popc(mask);
        __syncthreads();
        int before = base;
        for (int w = 0; w < warp; ++w) before += warps[w];
        if (keep) out[before + __popc(mask & ((1u << lane) - 1))] = v;
        __syncthreads();
        if (threadIdx.x == 0) for (int w = 0; w < blockDim.x / 32; ++w) base += warps[w];
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = base;
}
