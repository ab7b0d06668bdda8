// Reductions: shuffle trees, shared memory trees, redux, pairs, votes.
extern "C" __global__ void reduce_shuffle(const float *in, float *out, int n) {
    __shared__ float warps[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}
extern "C" __global__ void reduce_shared(const int *in, int *out) {
    extern __shared__ int tree[];
    int t = threadIdx.x;
    tree[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) tree[t] += tree[t + s];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, tree[0]);
}
extern "C" __global__ void reduce_redux(const int *in, int *out) {
    int v = in[blockIdx.x * 32 + threadIdx.x];
    int r[6] = {__reduce_add_sync(~0u, v), __reduce_min_sync(~0u, v), __reduce_max_sync(~0u, v), int(__reduce_and_sync(~0u, unsigned(v))), int(__reduce_or_sync(~0u, unsigned(v))), int(__reduce_xor_sync(~0u, unsigned(v)))};
    if (threadIdx.x < 6) out[blockIdx.x * 6 + threadIdx.x] = r[threadIdx.x];
}
extern "C" __global__ void argmax(const double *in, double *best, int *where, int n) {
    double value = -1e300;
    int index = -1;
    for (int i = threadIdx.x; i < n; i += 32)
        if (in[i + blockIdx.x * n] > value) value = in[i + blockIdx.x * n], index = i;
    for (int d = 16; d; d /= 2) {
        double other = __shfl_down_sync(~0u, value, d);
        int from = __shfl_down_sync(~0u, index, d);
        if (other > value || (other == value && from < index)) value = other, index = from;
    }
    if (threadIdx.x == 0) best[blockIdx.x] = value, where[blockIdx.x] = index;
}
extern "C" __global__ void votes(const int *in, unsigned *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, v = in[t];
    unsigned ballot = __ballot_sync(~0u, v & 1), match = __match_any_sync(~0u, v % 5);
    int same;
    unsigned all = __match_all_sync(~0u, v / 1000, &same);
    out[t] = ballot ^ (match << 1) ^ (all << 2) ^ (same << 3) ^ (__any_sync(~0u, v == 7) << 4) ^ (__all_sync(~0u, v >= 0) << 5);
    if (v % 3 == 0) out[t] += 17;
    else out[t] += 1000 * __ffs(match);
    out[t] += __syncthreads_count(v > 50) + (__syncthreads_or(v == 3) << 8) + (__syncthreads_and(v < 99) << 9);
}
