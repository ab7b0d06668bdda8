// Rebuilt from the words of https://github.com/xlite-dev/LeetCUDA/pull/514: behind the loop over two buffers the last tile is read from
// buffer 1, which holds it only if the tiles are even in number.
constexpr int T = 16;

// C (m, n) = A (m, k) @ B (k, n), 16 x 16 threads for as many elements.
extern "C" __global__ void product(const float *A, const float *B, float *C, int n, int k) {
  __shared__ float a[2][T][T], b[2][T][T];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x, tiles = k / T;
  a[0][y][x] = A[row * k + x];
  b[0][y][x] = B[y * n + column];
  __syncthreads();
  float sum = 0;
  for (int tile = 1; tile < tiles; ++tile) {
    int now = (tile - 1) & 1, next = tile & 1;
    a[next][y][x] = A[row * k + tile * T + x];
    b[next][y][x] = B[(tile * T + y) * n + column];
    for (int i = 0; i < T; ++i) sum += a[now][y][i] * b[now][i][x];
    __syncthreads();
  }
#ifdef FAULT
  int last = 1;  // here
#else
  int last = (tiles - 1) & 1;
#endif
  for (int i = 0; i < T; ++i) sum += a[last][y][i] * b[last][i][x];  // here
  C[row * n + column] = sum;
}
