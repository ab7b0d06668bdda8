// Irregular memory: sparse products, breadth-first search, union-find, shortest paths, k-means, dynamic programs.
extern "C" __global__ void spmv_csr(const int *rows, const int *columns, const float *values, const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0;
    for (int k = rows[row] + lane; k < rows[row + 1]; k += 32) sum += values[k] * x[columns[k]];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}
extern "C" __global__ void spmv_scalar(const int *rows, const int *columns, const double *values, const double *x, double *y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    double sum = 0;
    for (int k = rows[row]; k < rows[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
}
extern "C" __global__ void breadth_first(const int *rows, const int *columns, int *level, int n) {
    __shared__ int queue[2][256], size[2];
    for (int i = threadIdx.x; i < n; i += blockDim.x) level[i] = i == 0 ? 0 : -1;
    if (threadIdx.x == 0) queue[0][0] = 0, size[0] = 1, size[1] = 0;
    __syncthreads();
    for (int depth = 1, now = 0; size[now] > 0; ++depth, now ^= 1) {
        for (int q = threadIdx.x; q < size[now]; q += blockDim.x)
            for (int k = rows[queue[now][q]]; k < rows[queue[now][q] + 1]; ++k)
                if (atomicCAS(&level[columns[k]], -1, depth) == -1) queue[now ^ 1][atomicAdd(&size[now ^ 1], 1)] = columns[k];
        __syncthreads();
        if (threadIdx.x == 0) size[now] = 0;
        __syncthreads();
    }
}
__device__ int root_of(int *parent, int i) {
    while (true) {
        int p = *(volatile int *)(parent + i);
        if (p == i) return i;
        i = p;
    }
}
extern "C" __global__ void union_find(int *parent, const int2 *edges, int count, int n) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int a = edges[i].x, b = edges[i].y;
        while (true) {
            a = root_of(parent, a);
            b = root_of(parent, b);
            if (a == b) break;
            if (a < b) { int kept = a; a = b; b = kept; }
            if (atomicCAS(parent + a, a, b) == a) break;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) parent[i] = root_of(parent, i);
}
extern "C" __global__ void floyd_warshall(int *distance, int n) {
    for (int k = 0; k < n; ++k) {
        for (int i = threadIdx.y; i < n; i += blockDim.y) {
            int j = threadIdx.x, through = distance[i * n + k] + distance[k * n + j];
            if (through < distance[i * n + j]) distance[i * n + j] = through;
        }
        __syncthreads();
    }
}
extern "C" __global__ void kmeans(const float2 *points, const float2 *centres, int *labels, int *counts, unsigned long long *sums, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 1e30f;
    int label = 0;
    for (int c = 0; c < k; ++c) {
        float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
        if (d < best) best = d, label = c;
    }
    labels[i] = label;
    atomicAdd(counts + label, 1);
    atomicAdd(sums + label * 2, (unsigned long long)(long long)rintf(points[i].x * 1048576.0f));
    atomicAdd(sums + label * 2 + 1, (unsigned long long)(long long)rintf(points[i].y * 1048576.0f));
}
extern "C" __global__ void edit_distance(const char *a, const char *b, int *out, int n) {
    __shared__ short rows[3][130];
    const char *mine = a + blockIdx.x * n, *other = b + blockIdx.x * n;
    int t = threadIdx.x;
    for (int diagonal = 0; diagonal <= 2 * n; ++diagonal) {
        int i = t, j = diagonal - i;
        if (i <= n && j >= 0 && j <= n) {
            short *now = rows[diagonal % 3], *last = rows[(diagonal + 2) % 3], *before = rows[(diagonal + 1) % 3];
            if (i == 0 || j == 0) now[i] = i + j;
            else now[i] = min(min(last[i - 1], last[i]) + 1, before[i - 1] + (mine[i - 1] != other[j - 1]));
        }
        __syncthreads();
    }
    if (t == n) out[blockIdx.x] = rows[2 * n % 3][n];
}
extern "C" __global__ void knapsack(const int *weights, const int *values, int *best, int items, int capacity) {
    extern __shared__ int table[];
    int w = threadIdx.x;
    table[w] = 0;
    for (int i = 0; i < items; ++i) {
        __syncthreads();
        int candidate = w >= weights[i] ? table[w - weights[i]] + values[i] : 0;
        __syncthreads();
        table[w] = max(table[w], candidate);
    }
    if (w <= capacity) best[w] = table[w];
}
extern "C" __global__ void sieve(unsigned *composite, int n) {
    for (int p = 2; p * p < n; ++p) {
        if (!(*(volatile unsigned *)(composite + p / 32) >> p % 32 & 1))
            for (int m = p * p + threadIdx.x * p; m < n; m += blockDim.x * p) atomicOr(composite + m / 32, 1u << m % 32);
        __syncthreads();
    }
}
