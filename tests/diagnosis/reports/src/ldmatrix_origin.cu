// Rebuilt from the words of https://github.com/tracel-ai/cubek/pull/599: where a lane's matrix begins is found by dividing the extent of
// k, not of rows, so that at m16n8k8 both matrices of A begin at row 0.
#include <cuda_fp16.h>

__device__ unsigned shared_at(const void *at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

// C (m, n) = A (m, k) @ B (n, k).T, a warp for each 16 x 8, 8 of k at a time.
extern "C" __global__ void product(const half *A, const half *B, float *C, int n, int k) {
  __shared__ __align__(16) half tile[16 * 16];
  int lane = threadIdx.x, first = blockIdx.y * 16, column = blockIdx.x * 8;
  float d[4] = {};
  for (int at = 0; at < k; at += 8) {
    for (int i = lane; i < 16 * 8; i += 32) tile[i / 8 * 16 + i % 8] = A[(first + i / 8) * k + at + i % 8];
    for (int i = lane; i < 16 * 8; i += 32) tile[i / 8 * 16 + 8 + i % 8] = __float2half(0);
    __syncwarp();
    int matrix = lane / 8 % 2;
#ifdef FAULT
    int down = 8 / 8;  // here
#else
    int down = 16 / 8;
#endif
    int row = matrix % down * 8 + lane % 8;  // here
    int of_k = matrix / down * 8;            // here
    unsigned a0, a1;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a0), "=r"(a1) : "r"(shared_at(tile + row * 16 + of_k)));
    unsigned b = *reinterpret_cast<const unsigned *>(B + (column + lane / 4) * k + at + lane % 4 * 2);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(b));
    __syncwarp();
  }
  float *to = C + (first + lane / 4) * n + column + lane % 4 * 2;
  to[0] = d[0], to[1] = d[1];
  to[8 * n] = d[2], to[8 * n + 1] = d[3];
}
