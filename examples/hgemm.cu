// C = A * B on tensor cores: fp16 inputs, fp32 accumulation and output, all row-major.
//
// One block of 128 threads (2 x 2 warps) computes a 64 x 64 tile of C, 32 columns of A at a time. Tiles are copied
// with cp.async into two buffers, so that the copy of the next tile overlaps the arithmetic on this one. Fragments
// come out of shared memory through ldmatrix: A as it lies (K-major), B through ldmatrix.trans (N-major). The tiles
// are swizzled in 16-byte chunks, which makes every ldmatrix free of bank conflicts.
//
// M and N are multiples of 64, K of 32. Launch: grid (N / 64, M / 64), block 128, no dynamic shared memory.
#include <cuda_fp16.h>

constexpr int TILE_M = 64;
constexpr int TILE_N = 64;
constexpr int TILE_K = 32;
constexpr int THREADS = 128;

struct Tiles {
    half a[TILE_M * TILE_K];  // 64 rows of 64 bytes: four chunks a row
    half b[TILE_K * TILE_N];  // 32 rows of 128 bytes: eight chunks a row
};

__device__ __forceinline__ int a_offset(int row, int chunk) { return row * TILE_K + (chunk ^ ((row >> 1) & 3)) * 8; }
__device__ __forceinline__ int b_offset(int row, int chunk) { return row * TILE_N + (chunk ^ (row & 7)) * 8; }

__device__ __forceinline__ unsigned shared_address(const void *pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void copy16(half *to, const half *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void load4(unsigned (&r)[4], const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void load4_transposed(unsigned (&r)[4], const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void fetch(Tiles &tiles, const half *a, const half *b, int n, int k, int start) {
    for (int part = 0; part < TILE_M * TILE_K / 8 / THREADS; ++part) {
        const int i = part * THREADS + threadIdx.x;
        const int row = i / 4, chunk = i % 4;
        copy16(tiles.a + a_offset(row, chunk), a + size_t(row) * k + start + chunk * 8);
    }
    for (int part = 0; part < TILE_K * TILE_N / 8 / THREADS; ++part) {
        const int i = part * THREADS + threadIdx.x;
        const int row = i / 8, chunk = i % 8;
        copy16(tiles.b + b_offset(row, chunk), b + size_t(start + row) * n + chunk * 8);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS)
    hgemm(const half *__restrict__ A, const half *__restrict__ B, float *__restrict__ C, int M, int N, int K) {
    __shared__ __align__(128) Tiles tiles[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
    const half *a = A + size_t(blockIdx.y) * TILE_M * K;
    const half *b = B + blockIdx.x * TILE_N;
    float sums[2][4][4] = {};

    fetch(tiles[0], a, b, N, K, 0);
    for (int start = 0, current = 0; start < K; start += TILE_K, current ^= 1) {
        if (start + TILE_K < K) {
            fetch(tiles[current ^ 1], a, b, N, K, start + TILE_K);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        const Tiles &now = tiles[current];
#pragma unroll
        for (int step = 0; step < TILE_K / 16; ++step) {
            unsigned left[2][4], right[2][4];
            for (int i = 0; i < 2; ++i)
                load4(left[i], now.a + a_offset(warp_row + i * 16 + lane % 16, step * 2 + lane / 16));
            for (int j = 0; j < 2; ++j)
                load4_transposed(right[j], now.b + b_offset(step * 16 + lane % 16, warp_column / 8 + j * 2 + lane / 16));
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 4; ++j)
                    multiply(sums[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }

    float *c = C + size_t(blockIdx.y * TILE_M + warp_row + lane / 4) * N + blockIdx.x * TILE_N + warp_column + lane % 4 * 2;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) {
            float *to = c + size_t(i) * 16 * N + j * 8;
            *reinterpret_cast<float2 *>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
            *reinterpret_cast<float2 *>(to + size_t(8) * N) = make_float2(sums[i][j][2], sums[i][j][3]);
        }
}
