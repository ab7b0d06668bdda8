// C = A * B in fp32 without tensor cores, all row-major: 16 x 16 threads, one element of C a thread, tiles of 16.
//
// M, N and K are multiples of 16. Launch: grid (N / 16, M / 16), block (16, 16), no dynamic shared memory.
constexpr int TILE = 16;

extern "C" __global__ void __launch_bounds__(TILE *TILE)
    sgemm(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M, int N, int K) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        a[threadIdx.y][threadIdx.x] = A[size_t(row) * K + start + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[size_t(start + threadIdx.y) * N + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    C[size_t(row) * N + column] = sum;
}
