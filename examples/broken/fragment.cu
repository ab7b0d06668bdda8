// C = A * B on tensor cores, all row-major: a warp computes 16 x 16 elements of C, 16 of k at a time. A's fragments come
// out of shared memory as they lie, and so do B's: but B lies with n along its rows, and the product wants k along them.
// `ldmatrix.trans` would turn it. Nothing faults, nothing races, and what comes out is wrong.
// ptxloom why examples/why.toml
// nvcc -ptx -arch=sm_80 -lineinfo fragment.cu
#include <cuda_fp16.h>

constexpr int TILE = 16, PITCH = TILE + 8;  // 48 bytes from row to row: no bank conflicts

__device__ void load(unsigned (&r)[4], const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))) : "memory");
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void product(const half *A, const half *B, float *C, int N, int K) {
    __shared__ __align__(16) half a[TILE * PITCH], b[TILE * PITCH];
    const int lane = threadIdx.x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    const int row = lane / 2, column = lane % 2 * 8;
    float sums[2][4] = {};
#pragma unroll 1
    for (int k = 0; k < K; k += TILE) {
        *reinterpret_cast<uint4 *>(a + row * PITCH + column) =
            *reinterpret_cast<const uint4 *>(A + (top + row) * K + k + column);
        *reinterpret_cast<uint4 *>(b + row * PITCH + column) =
            *reinterpret_cast<const uint4 *>(B + (k + row) * N + left + column);
        __syncthreads();
        unsigned of_a[4], of_b[4];
        load(of_a, a + lane % 16 * PITCH + lane / 16 * 8);
        load(of_b, b + lane % 16 * PITCH + lane / 16 * 8);
        multiply(sums[0], of_a, of_b[0], of_b[1]);
        multiply(sums[1], of_a, of_b[2], of_b[3]);
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j)
            C[(top + lane / 4 + i / 2 * 8) * N + left + j * 8 + lane % 4 * 2 + i % 2] = sums[j][i];
}
