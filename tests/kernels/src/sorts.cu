// Sorting: bitonic in shared memory, radix with ballots, odd-even, a warp network, ranks, and merging by merge path.
extern "C" __global__ void sort_bitonic(int *keys) {
    extern __shared__ int tile[];
    int t = threadIdx.x;
    tile[t] = keys[blockIdx.x * blockDim.x + t];
    for (int size = 2; size <= blockDim.x; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int other = t ^ step;
            if (other > t) {
                int a = tile[t], b = tile[other];
                if ((a > b) == ((t & size) == 0)) tile[t] = b, tile[other] = a;
            }
        }
    __syncthreads();
    keys[blockIdx.x * blockDim.x + t] = tile[t];
}
extern "C" __global__ void sort_radix(unsigned *keys, unsigned *values) {
    __shared__ unsigned k[256], v[256], zeros[9];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    k[t] = keys[blockIdx.x * 256 + t];
    v[t] = t;
    __syncthreads();
    for (int bit = 0; bit < 32; ++bit) {
        unsigned key = k[t], value = v[t];
        bool zero = !(key >> bit & 1);
        unsigned mask = __ballot_sync(~0u, zero);
        if (lane == 0) zeros[warp] = __popc(mask);
        __syncthreads();
        if (t == 0) {
            unsigned sum = 0;
            for (int w = 0; w < 8; ++w) { unsigned n = zeros[w]; zeros[w] = sum; sum += n; }
            zeros[8] = sum;
        }
        __syncthreads();
        unsigned before = zeros[warp] + __popc(mask & ((1u << lane) - 1));
        unsigned to = zero ? before : zeros[8] + t - before;
        k[to] = key;
        v[to] = value;
        __syncthreads();
    }
    keys[blockIdx.x * 256 + t] = k[t];
    values[blockIdx.x * 256 + t] = v[t];
}
extern "C" __global__ void sort_odd_even(short *keys, int n) {
    __shared__ short tile[256];
    int t = threadIdx.x;
    tile[2 * t] = keys[blockIdx.x * n + 2 * t];
    tile[2 * t + 1] = keys[blockIdx.x * n + 2 * t + 1];
    for (int round = 0; round < n; ++round) {
        __syncthreads();
        int i = 2 * t + (round & 1);
        if (i + 1 < n && tile[i] > tile[i + 1]) { short kept = tile[i]; tile[i] = tile[i + 1]; tile[i + 1] = kept; }
    }
    __syncthreads();
    keys[blockIdx.x * n + 2 * t] = tile[2 * t];
    keys[blockIdx.x * n + 2 * t + 1] = tile[2 * t + 1];
}
extern "C" __global__ void sort_warp(float *keys) {
    int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = keys[i];
    for (int size = 2; size <= 32; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            float other = __shfl_xor_sync(~0u, v, step);
            bool low = ((lane & step) == 0) == ((lane & size) == 0);
            v = low ? fminf(v, other) : fmaxf(v, other);
        }
    keys[i] = v;
}
extern "C" __global__ void sort_ranks(const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int rank = 0;
    for (int j = 0; j < n; ++j) rank += in[j] < in[i] || (in[j] == in[i] && j < i);
    out[rank] = in[i];
}
extern "C" __global__ void merge_path(const int *a, const int *b, int *out, int na, int nb) {
    int total = na + nb, each = (total + blockDim.x - 1) / blockDim.x, diagonal = min(int(threadIdx.x) * each, total);
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    int i = low, j = diagonal - low;
    for (int k = diagonal; k < min(diagonal + each, total); ++k)
        out[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}
