// Kernels that normalise by sums and maxima of rows and columns, right (BUG 0) and wrong: test_statistics.py has what `why`
// must say of each. `python tools/corpus/diagnosed.py` compiles it to ../ptx/statistics.ptx. A comment names the bug of its line.

#define KERNEL extern "C" __global__ void

// A row for each warp, in float4; w goes with the columns.
template <int BUG> __device__ void rms(const float *X, const float *w, float *Y, int cols) {
    int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    const float4 *x = (const float4 *)(X + row * cols);
    float s = 0;
#pragma unroll 1
    for (int i = lane; i < (BUG == 1 ? cols / 4 - 1 : cols / 4); i += 32) { // bug 1
        float4 v = x[i];
        s += v.x * v.x + v.y * v.y + v.z * v.z + (BUG == 2 ? v.z * v.z : v.w * v.w); // bug 2
    }
    for (int d = 16; d > 0; d /= 2)
        s += BUG == 3 ? __shfl_down_sync(~0u, s, d) : __shfl_xor_sync(~0u, s, d); // bug 3
    float r = rsqrtf(s / cols + 1e-5f);
#pragma unroll 1
    for (int i = lane; i < cols / 4; i += 32) {
        float4 v = x[i], g = ((const float4 *)w)[i];
        ((float4 *)(Y + (BUG == 4 ? row ^ 1 : row) * cols))[i] = // bug 4
            make_float4(v.x * r * g.x, v.y * r * g.y, v.z * r * g.z, v.w * r * g.w);
    }
}
KERNEL rms0(const float *X, const float *w, float *Y, int cols) { rms<0>(X, w, Y, cols); }
KERNEL rms1(const float *X, const float *w, float *Y, int cols) { rms<1>(X, w, Y, cols); }
KERNEL rms2(const float *X, const float *w, float *Y, int cols) { rms<2>(X, w, Y, cols); }
KERNEL rms3(const float *X, const float *w, float *Y, int cols) { rms<3>(X, w, Y, cols); }
KERNEL rms4(const float *X, const float *w, float *Y, int cols) { rms<4>(X, w, Y, cols); }

// A softmax along columns: 32 columns and 8 threads for each, which exchange through shared memory.
template <int BUG> __device__ void columns(const float *X, float *Y, int rows, int cols) {
    __shared__ float most[8][32], sums[8][32];
    int x = threadIdx.x, y = threadIdx.y, c = blockIdx.x * 32 + x;
    float m = -INFINITY, s = 0;
#pragma unroll 1
    for (int r = y; r < rows; r += 8)
        m = fmaxf(m, X[r * cols + c]);
    most[y][x] = m;
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < 8; j++)
        m = fmaxf(m, most[j][x]);
#pragma unroll 1
    for (int r = BUG == 1 ? y + 8 : y; r < rows; r += 8) // bug 1
        s += expf(X[r * cols + c] - m);
    sums[y][x] = s;
    __syncthreads();
    s = 0;
#pragma unroll 1
    for (int j = 0; j < (BUG == 2 ? 7 : 8); j++) // bug 2
        s += sums[j][BUG == 3 ? x ^ 1 : x]; // bug 3
#pragma unroll 1
    for (int r = y; r < rows; r += 8)
        Y[r * cols + c] = expf(X[r * cols + c] - m) / (BUG == 4 ? sums[0][x] : s); // bug 4
}
KERNEL columns0(const float *X, float *Y, int rows, int cols) { columns<0>(X, Y, rows, cols); }
KERNEL columns1(const float *X, float *Y, int rows, int cols) { columns<1>(X, Y, rows, cols); }
KERNEL columns2(const float *X, float *Y, int rows, int cols) { columns<2>(X, Y, rows, cols); }
KERNEL columns3(const float *X, float *Y, int rows, int cols) { columns<3>(X, Y, rows, cols); }
KERNEL columns4(const float *X, float *Y, int rows, int cols) { columns<4>(X, Y, rows, cols); }

// The logarithm of a sum of exponentials, online: each thread rescales its own sum whenever its maximum grows.
template <int BUG> __device__ void entropy(const float *X, const int *label, float *L, int cols) {
    __shared__ float most[4], sums[4];
    int t = threadIdx.x, warp = t / 32, row = blockIdx.x;
    const float *x = X + row * cols;
    float m = -1e30f, s = 0;
#pragma unroll 1
    for (int i = t; i < cols; i += 128) {
        float v = x[BUG == 1 ? i & 127 : i], n = fmaxf(m, v); // bug 1
        s = s * expf(m - n) + expf(v - n);
        m = n;
    }
    for (int d = 16; d > 0; d /= 2) {
        float n = __shfl_xor_sync(~0u, m, d), z = __shfl_xor_sync(~0u, s, d), b = fmaxf(m, n);
        s = BUG == 2 ? s * expf(m - b) : s * expf(m - b) + z * expf(n - b); // bug 2
        m = b;
    }
    if (t % 32 == 0) most[warp] = m, sums[warp] = s;
    __syncthreads();
    m = most[0], s = sums[0];
#pragma unroll 1
    for (int j = 1; j < (BUG == 3 ? 3 : 4); j++) { // bug 3
        float b = fmaxf(m, most[j]);
        s = s * expf(m - b) + sums[j] * expf(most[j] - b);
        m = b;
    }
    if (t == 0) L[row] = m + logf(s) - X[(BUG == 4 ? 0 : row) * cols + label[row]]; // bug 4
}
KERNEL entropy0(const float *X, const int *label, float *L, int cols) { entropy<0>(X, label, L, cols); }
KERNEL entropy1(const float *X, const int *label, float *L, int cols) { entropy<1>(X, label, L, cols); }
KERNEL entropy2(const float *X, const int *label, float *L, int cols) { entropy<2>(X, label, L, cols); }
KERNEL entropy3(const float *X, const int *label, float *L, int cols) { entropy<3>(X, label, L, cols); }
KERNEL entropy4(const float *X, const int *label, float *L, int cols) { entropy<4>(X, label, L, cols); }
