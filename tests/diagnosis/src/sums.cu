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
