// B = transpose of A, both row-major fp32, n x n, n a multiple of 32, through a tile in shared memory.
//
// The tile is written along its rows and read down its columns, which all lie in one bank: a 32-way conflict, left in
// on purpose. `ptxloom run examples/transpose.toml --profile` finds it and says what to do.
//
// Launch: grid (n / 32, n / 32), block (32, 8), no dynamic shared memory.
constexpr int TILE = 32;
constexpr int ROWS = 8;

extern "C" __global__ void transpose(const float *__restrict__ A, float *__restrict__ B, int n) {
    __shared__ float tile[TILE][TILE];
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        tile[threadIdx.y + i][threadIdx.x] = A[size_t(row + i) * n + column];
    __syncthreads();
    column = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        B[size_t(row + i) * n + column] = tile[threadIdx.x][threadIdx.y + i];
}
