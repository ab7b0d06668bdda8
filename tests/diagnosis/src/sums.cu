// Sums of products whose k end early, and zero points inside of them.

// C[M, N] = A[M, ld] B[N, ld]^T over the first K elements of each row, in steps of four.
__device__ __forceinline__ void product(const float *A, const float *B, float *C, int N, int end, int ld) {
  int n = threadIdx.x, m = threadIdx.y;
  float sum = 0;
  for (int k0 = 0; k0 < end; k0 += 4)
    for (int k = k0; k < k0 + 4; ++k) sum += A[m * ld + k] * B[n * ld + k];
  C[m * N + n] = sum;
}

extern "C" __global__ void rows_of_a_pitch(const float *A, const float *B, float *C, int M, int N, int K, int ld) {
  product(A, B, C, N, K, ld);
}

extern "C" __global__ void whole_eights(const float *A, const float *B, float *C, int M, int N, int K) {
  product(A, B, C, N, K / 8 * 8, K);
}

// C[M, N] = A[M, K] (B[K, N] - Z[K / G, N])
extern "C" __global__ void zeros_of_blocks(const float *A, const float *B, const float *Z, float *C, int N, int K, int G) {
  int n = threadIdx.x, m = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[m * K + k] * (B[k * N + n] - Z[k / G * N + n]);
  C[m * N + n] = sum;
}

extern "C" __global__ void zeros_by_rest(const float *A, const float *B, const float *Z, float *C, int N, int K, int G) {
  int n = threadIdx.x, m = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[m * K + k] * (B[k * N + n] - Z[k % (K / G) * N + n]);
  C[m * N + n] = sum;
}

// Y[N, O, P] = X[N, C, W] with weights F[O, C, S]: pixel p takes X at p * step + s - pad.
struct Places {
  int step, gap, pad, channel, taps;
};

__device__ __forceinline__ void slide(const float *X, const float *F, float *Y, int C, int W, int S, int O, Places by) {
  int p = threadIdx.x, o = threadIdx.y, n = blockIdx.x;
  float sum = 0;
  for (int c = 0; c < C; ++c)
    for (int s = 0; s < by.taps; ++s) {
      int w = p * by.step + s * by.gap - by.pad;
      float x = w >= 0 && w < W ? X[(n * C + c) * W + w] : 0;
      sum += x * F[o * C * S + c * by.channel + s];
    }
  Y[(n * O + o) * blockDim.x + p] = sum;
}

extern "C" __global__ void slid(const float *X, const float *F, float *Y, int C, int W, int S, int O) {
  slide(X, F, Y, C, W, S, O, {2, 1, 1, S, S});
}

extern "C" __global__ void slid_behind(const float *X, const float *F, float *Y, int C, int W, int S, int O) {
  slide(X, F, Y, C, W, S, O, {1, 1, S - 1, S, S});
}

extern "C" __global__ void slid_by_one(const float *X, const float *F, float *Y, int C, int W, int S, int O) {
  slide(X, F, Y, C, W, S, O, {1, 1, 1, S, S});
}

extern "C" __global__ void slid_far(const float *X, const float *F, float *Y, int C, int W, int S, int O) {
  slide(X, F, Y, C, W, S, O, {2, 3, 1, S, S});
}

extern "C" __global__ void one_channel(const float *X, const float *F, float *Y, int C, int W, int S, int O) {
  slide(X, F, Y, C, W, S, O, {2, 1, 1, 0, S});
}

extern "C" __global__ void a_tap_less(const float *X, const float *F, float *Y, int C, int W, int S, int O) {
  slide(X, F, Y, C, W, S, O, {2, 1, 1, S, S - 1});
}

extern "C" __global__ void turned(const float *X, const float *F, float *Y, int C, int W, int S, int O) {
  int p = threadIdx.x, o = threadIdx.y, n = blockIdx.x;
  float sum = 0;
  for (int c = 0; c < C; ++c)
    for (int s = 0; s < S; ++s) {
      int w = p + s;
      sum += X[(n * C + c) * W + w] * F[(o * C + c) * S + S - 1 - s];
    }
  Y[(n * O + o) * blockDim.x + p] = sum;
}

extern "C" __global__ void rows_further_on(const float *A, const float *B, float *C, int M, int N, int K) {
  product(A, B, C + (threadIdx.y < 8 ? 8 : -8) * N, N, K, K);
}

extern "C" __global__ void rows_of_others(const float *A, const float *B, float *C, int M, int N, int K) {
  product(A + (threadIdx.y < 8 ? 8 : 0) * K, B, C, N, K, K);
}
