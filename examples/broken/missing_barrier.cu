// Two warps store a 16x32 tile of halves with stmatrix; then every thread writes a piece of it to global memory.
// The barrier between the two is missing: each thread may read what the other warp has yet to store. Hardware raises
// no error and compute-sanitizer's racecheck is silent; ptxloom run examples/broken/missing_barrier.toml --checks all
// nvcc -ptx -arch=sm_90 -lineinfo missing_barrier.cu
#include <cuda_fp16.h>

__device__ void store_tile(unsigned at, const unsigned (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :: "r"(at), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}

extern "C" __global__ void epilogue(const unsigned *in, uint4 *out) {
  __shared__ alignas(16) __half tile[16][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned r[4];
  for (int i = 0; i < 4; ++i) r[i] = in[threadIdx.x * 4 + i];
  store_tile(__cvta_generic_to_shared(&tile[lane % 16][16 * warp + lane / 16 * 8]), r);
  out[threadIdx.x] = reinterpret_cast<const uint4 *>(tile)[threadIdx.x];
}
