// Kernels without a product, right (BUG 0) and wrong: what `why` must say of each stands in test_relations.py.
// `python tools/corpus/diagnosed.py` compiles it to ../ptx/elementwise.ptx. A comment names the bug of its line.

#define KERNEL extern "C" __global__ void

template <int BUG> __device__ void sum(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (BUG == 1 ? n - 1 : n)) // bug 1
        C[i] = A[i] + B[BUG == 2 ? i ^ 1 : i]; // bug 2
}
KERNEL sum0(const float *A, const float *B, float *C, int n) { sum<0>(A, B, C, n); }
KERNEL sum1(const float *A, const float *B, float *C, int n) { sum<1>(A, B, C, n); }
KERNEL sum2(const float *A, const float *B, float *C, int n) { sum<2>(A, B, C, n); }

template <int BUG> __device__ void transpose(const float *X, float *Y, int rows, int cols) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows)
            tile[threadIdx.y + j][threadIdx.x] = X[(y + j) * (BUG == 1 ? rows : cols) + x]; // bug 1
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols)
            Y[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
KERNEL transpose0(const float *X, float *Y, int rows, int cols) { transpose<0>(X, Y, rows, cols); }
KERNEL transpose1(const float *X, float *Y, int rows, int cols) { transpose<1>(X, Y, rows, cols); }

template <int BUG> __device__ void stencil(const float *X, float *Y, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    float s = X[y * w + x] * -4.f;
    s += X[(y - 1) * w + x];
    s += X[(y + 1) * (BUG == 1 ? h : w) + x]; // bug 1
    s += X[y * w + x - 1];
    s += X[y * w + x + (BUG == 2 ? 2 : 1)]; // bug 2
    Y[y * w + x] = s;
}
KERNEL stencil0(const float *X, float *Y, int h, int w) { stencil<0>(X, Y, h, w); }
KERNEL stencil1(const float *X, float *Y, int h, int w) { stencil<1>(X, Y, h, w); }
KERNEL stencil2(const float *X, float *Y, int h, int w) { stencil<2>(X, Y, h, w); }

template <int BUG> __device__ void rows(const float *X, float *Y, int cols) {
    __shared__ float part[128];
    float s = 0;
#pragma unroll 1
    for (int c = threadIdx.x; c < (BUG == 1 ? cols - 1 : cols); // bug 1
         c += (BUG == 2 ? blockDim.x + 1 : blockDim.x)) // bug 2
        s += X[blockIdx.x * (BUG == 3 ? cols - 1 : cols) + c]; // bug 3
    part[threadIdx.x] = s;
    __syncthreads();
#pragma unroll 1
    for (int d = blockDim.x / 2; d > (BUG == 4 ? 1 : 0); d /= 2) { // bug 4
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) Y[blockIdx.x] = part[0];
}
KERNEL rows0(const float *X, float *Y, int cols) { rows<0>(X, Y, cols); }
KERNEL rows1(const float *X, float *Y, int cols) { rows<1>(X, Y, cols); }
KERNEL rows2(const float *X, float *Y, int cols) { rows<2>(X, Y, cols); }
KERNEL rows3(const float *X, float *Y, int cols) { rows<3>(X, Y, cols); }
KERNEL rows4(const float *X, float *Y, int cols) { rows<4>(X, Y, cols); }

template <int BUG> __device__ void added(const float *X, float *Y, int cols) {
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) s += X[blockIdx.x * cols + c];
    for (int d = BUG == 1 ? 8 : 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d); // bug 1
    if (threadIdx.x % 32 == 0) atomicAdd(Y + blockIdx.x, s);
}
KERNEL added0(const float *X, float *Y, int cols) { added<0>(X, Y, cols); }
KERNEL added1(const float *X, float *Y, int cols) { added<1>(X, Y, cols); }

template <int BUG> __device__ void biased(const float *X, const float *b, float *Y, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    Y[i] = fmaxf(X[i] + b[BUG == 1 ? i / cols : i % cols], 0.f); // bug 1
}
KERNEL biased0(const float *X, const float *b, float *Y, int r, int c) { biased<0>(X, b, Y, r, c); }
KERNEL biased1(const float *X, const float *b, float *Y, int r, int c) { biased<1>(X, b, Y, r, c); }

template <int BUG> __device__ void filtered(const float *X, const float *F, float *Y, int n) {
    __shared__ float t[128 + 8];
    int i = blockIdx.x * 128 + threadIdx.x;
    t[threadIdx.x + 4] = i < n ? X[i] : 0;
    if (threadIdx.x < 4) t[threadIdx.x] = i >= 4 ? X[i - (BUG == 1 ? 3 : 4)] : 0; // bug 1
    if (threadIdx.x >= 124) t[threadIdx.x + 8] = i + 4 < n ? X[i + 4] : 0;
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 9; k++) s += F[k] * t[threadIdx.x + k];
    if (i < n) Y[i] = s;
}
KERNEL filtered0(const float *X, const float *F, float *Y, int n) { filtered<0>(X, F, Y, n); }
KERNEL filtered1(const float *X, const float *F, float *Y, int n) { filtered<1>(X, F, Y, n); }

// C (M x N) = A (M x K) B (K x N), tiles of 16 x 16 in shared memory.
template <int BUG> __device__ void tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[16][17], Bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = k0 + tx < K && row < M ? A[row * (BUG == 1 ? M : K) + k0 + tx] : 0; // bug 1
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(BUG == 2 ? ty : k0 + ty) * N + col] : 0; // bug 2
        __syncthreads();
        for (int k = 0; k < 16; k++) s += As[ty][k] * Bs[BUG == 4 ? k ^ 1 : k][tx]; // bug 4
        __syncthreads();
    }
    if (row < M && col < N) C[BUG == 3 ? col * M + row : row * N + col] = s; // bug 3
}
KERNEL tiled0(const float *A, const float *B, float *C, int M, int N, int K) { tiled<0>(A, B, C, M, N, K); }
KERNEL tiled1(const float *A, const float *B, float *C, int M, int N, int K) { tiled<1>(A, B, C, M, N, K); }
KERNEL tiled2(const float *A, const float *B, float *C, int M, int N, int K) { tiled<2>(A, B, C, M, N, K); }
KERNEL tiled3(const float *A, const float *B, float *C, int M, int N, int K) { tiled<3>(A, B, C, M, N, K); }
KERNEL tiled4(const float *A, const float *B, float *C, int M, int N, int K) { tiled<4>(A, B, C, M, N, K); }
