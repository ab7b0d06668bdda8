// Y[row] = t * tanh(t) of the row's sum t, whose slices are put in memory by some threads and added by others.
__device__ __forceinline__ void sliced(const float *X, float *W, float *Y, int rows, int cols, int slices, int read) {
  int t = threadIdx.x, own = rows - 1 - t, size = cols / slices;
  for (int s = 0; s < slices; ++s) {
    float part = 0;
    for (int c = s * size; c < (s + 1) * size; ++c) part += X[t * cols + c];
    W[s * rows + t] = part;
  }
  __syncthreads();
  float total = 0;
#pragma unroll 1
  for (int s = 0; s < read; ++s) total += W[s * rows + own];
  Y[own] = total * tanhf(total);
}

extern "C" __global__ void all(const float *X, float *W, float *Y, int rows, int cols, int slices) {
  sliced(X, W, Y, rows, cols, slices, slices);
}

extern "C" __global__ void one_less(const float *X, float *W, float *Y, int rows, int cols, int slices) {
  sliced(X, W, Y, rows, cols, slices, slices - 1);
}
