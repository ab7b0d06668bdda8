// Rebuilt from the words of https://github.com/NVIDIA/cutlass/issues/3536: a counter that went on past the end decides whether anything
// remains, so what remains behind whole tiles is dropped.
constexpr int TILE = 64, STAGES = 2;

// y (m) = A (m, k) @ x (k), a warp for each row.
extern "C" __global__ void gemv(const float *A, const float *x, float *y, int k) {
  int lane = threadIdx.x, row = blockIdx.x, tiles = k / TILE, ahead = 0, done = 0;
  float sum = 0;
  for (int tile = 0; tile < tiles; tile += STAGES) {
    for (int stage = 0; stage < STAGES; ++stage) {
      if (tile + stage < tiles) {
        for (int i = lane; i < TILE; i += 32) sum += A[row * k + ahead + i] * x[ahead + i];
        done += TILE;
      }
      ahead += TILE;
    }
  }
  ahead += TILE * STAGES;
#ifdef FAULT
  if (ahead < k)  // here
#else
  if (done < k)
#endif
    for (int i = done + lane; i < k; i += 32) sum += A[row * k + i] * x[i];  // here
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) y[row] = sum;
}
