// Dense linear algebra without tensor cores: products, factorisations, solves, reductions of rows.
extern "C" __global__ void __launch_bounds__(64) sgemm_registers(const float *A, const float *B, float *C, int N, int K) {
    __shared__ __align__(16) float a[8][32], b[8][32];
    int t = threadIdx.x, tx = t % 8, ty = t / 8;
    float sums[4][4] = {};
    for (int k = 0; k < K; k += 8) {
        for (int i = t; i < 256; i += 64) {
            a[i % 8][i / 8] = A[(blockIdx.y * 32 + i / 8) * K + k + i % 8];
            b[i / 32][i % 32] = B[(k + i / 32) * N + blockIdx.x * 32 + i % 32];
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < 8; ++s) {
            float4 left = *reinterpret_cast<float4 *>(&a[s][ty * 4]), right = *reinterpret_cast<float4 *>(&b[s][tx * 4]);
            float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
            for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) sums[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        *reinterpret_cast<float4 *>(&C[(blockIdx.y * 32 + ty * 4 + i) * N + blockIdx.x * 32 + tx * 4]) = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}
extern "C" __global__ void matvec(const float4 *A, const float4 *x, float *y, int quads) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int q = threadIdx.x; q < quads; q += 32) {
        float4 a = __ldg(A + row * quads + q), v = __ldg(x + q);
        sum = fmaf(a.x, v.x, sum); sum = fmaf(a.y, v.y, sum); sum = fmaf(a.z, v.z, sum); sum = fmaf(a.w, v.w, sum);
    }
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) y[row] = sum;
}
extern "C" __global__ void lu(double *matrices, int n) {
    __shared__ double a[16][17];
    double *mine = matrices + blockIdx.x * n * n;
    int i = threadIdx.y, j = threadIdx.x;
    a[i][j] = mine[i * n + j];
    for (int k = 0; k < n - 1; ++k) {
        __syncthreads();
        if (i > k && j == k) a[i][k] /= a[k][k];
        __syncthreads();
        if (i > k && j > k) a[i][j] -= a[i][k] * a[k][j];
    }
    __syncthreads();
    mine[i * n + j] = a[i][j];
}
extern "C" __global__ void cholesky(float *matrix, int n) {
    extern __shared__ float l[];
    int t = threadIdx.x;
    for (int i = t; i < n * n; i += blockDim.x) l[i] = matrix[i];
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        if (t == k) l[k * n + k] = sqrtf(l[k * n + k]);
        __syncthreads();
        if (t > k && t < n) l[t * n + k] /= l[k * n + k];
        __syncthreads();
        if (t > k && t < n) for (int j = k + 1; j <= t; ++j) l[t * n + j] -= l[t * n + k] * l[j * n + k];
        __syncthreads();
    }
    for (int i = t; i < n * n; i += blockDim.x) matrix[i] = i % n <= i / n ? l[i] : 0;
}
extern "C" __global__ void tridiagonal(const double *below, const double *diagonal, const double *above, const double *right, double *x, int n) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    double c[32], d[32];
    c[0] = above[s * n] / diagonal[s * n];
    d[0] = right[s * n] / diagonal[s * n];
    for (int i = 1; i < n; ++i) {
        double scale = 1 / (diagonal[s * n + i] - below[s * n + i] * c[i - 1]);
        c[i] = above[s * n + i] * scale;
        d[i] = (right[s * n + i] - below[s * n + i] * d[i - 1]) * scale;
    }
    x[s * n + n - 1] = d[n - 1];
    for (int i = n - 2; i >= 0; --i) x[s * n + i] = d[i] - c[i] * x[s * n + i + 1];
}
__device__ float block_sum(float v) {
    __shared__ float warps[8];
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) sum += warps[w];
    return sum;
}
extern "C" __global__ void layer_norm(const float *in, const float *gain, const float *shift, float *out, int n) {
    const float *row = in + blockIdx.x * n;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
    float mean = block_sum(sum) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
    float scale = 1.0f / sqrtf(block_sum(squares) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = (row[i] - mean) * scale * gain[i] + shift[i];
}
extern "C" __global__ void softmax(const float *in, float *out, int n) {
    const float *row = in + blockIdx.x * n;
    float best = __int_as_float(0xff800000), sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) best = fmaxf(best, row[i]);
    for (int d = 16; d; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
    for (int i = threadIdx.x; i < n; i += 32) sum += expf(row[i] - best);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int i = threadIdx.x; i < n; i += 32) out[blockIdx.x * n + i] = expf(row[i] - best) / sum;
}
