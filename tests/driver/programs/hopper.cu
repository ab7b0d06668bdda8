// What programs for sm_90a ask: products of warpgroups, which a module for sm_90 lacks, and large clusters.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include "claims.h"

enum { M = 64, N = 8, K = 16 };

__global__ void product(float *d, int *made_for) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    __shared__ alignas(128) __half b[2][N][8]; // two core matrices of 8 columns, each 16 bytes of k
    const unsigned t = threadIdx.x, lane = t % 32, row = t / 32 * 16 + lane / 4, k = lane % 4 * 2;
    if (t < N * K) b[t / 8 % 2][t / 16][t % 8] = __float2half(float(t / 16) - float(t % 16));
    __syncthreads();
    asm volatile("fence.proxy.async;" ::: "memory");
    unsigned a[4];
    for (int i = 0; i < 4; i++) {
        const unsigned r = row + i % 2 * 8, c = k + i / 2 * 8;
        const __half2 both = __floats2half2_rn(float(r % 7 + c), float(r % 7 + c + 1));
        a[i] = reinterpret_cast<const unsigned &>(both);
    }
    const unsigned long long where = __cvta_generic_to_shared(b) >> 4, apart = 128 >> 4;
    const unsigned long long description = where | apart << 16 | apart << 32;
    float sums[4];
    asm volatile("wgmma.fence.sync.aligned;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 0, 1, 1, 0;\n"
                 "wgmma.commit_group.sync.aligned;\n"
                 "wgmma.wait_group.sync.aligned 0;\n"
                 : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(description));
    for (int i = 0; i < 4; i++) d[(row + i / 2 * 8) * N + k + i % 2] = sums[i];
    *made_for = 901;
#else
    *made_for = 900;
#endif
}

static void products() {
    float *d = nullptr, found[M][N];
    int *made_for = nullptr, made = 0, wrong = 0;
    OK(cudaMalloc(&d, sizeof found));
    OK(cudaMalloc(&made_for, 4));
    product<<<1, 128>>>(d, made_for);
    OK(cudaMemcpy(&made, made_for, 4, cudaMemcpyDeviceToHost));
    CLAIM(made == 901);
    OK(cudaMemcpy(found, d, sizeof found, cudaMemcpyDeviceToHost));
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += float(m % 7 + k) * float(n - k);
            wrong += found[m][n] != sum;
        }
    CLAIM(wrong == 0);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, product));
    CLAIM(attributes.ptxVersion == 90 && attributes.binaryVersion == 90);
}

__global__ void ranks(unsigned *seen) {
    extern __shared__ unsigned room[];
    auto cluster = cooperative_groups::this_cluster();
    room[0] = cluster.block_rank();
    cluster.sync();
    if (threadIdx.x == 0) seen[blockIdx.x] = *cluster.map_shared_rank(room, 7 - cluster.block_rank());
    cluster.sync();
}

static void clusters() {
    unsigned *seen = nullptr, told[16] = {};
    int count = 0;
    const int bytes = 200 << 10;
    OK(cudaMalloc(&seen, sizeof told));
    OK(cudaFuncSetAttribute(ranks, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaLaunchAttribute of_eight = {};
    of_eight.id = cudaLaunchAttributeClusterDimension;
    of_eight.val.clusterDim = {8, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(16);
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = bytes;
    config.attrs = &of_eight;
    config.numAttrs = 1;
    OK(cudaOccupancyMaxActiveClusters(&count, ranks, &config));
    CLAIM(count >= 1); // as many as a persistent kernel starts: one CTA a multiprocessor, eight of them together
    OK(cudaLaunchKernelEx(&config, ranks, seen));
    OK(cudaMemcpy(told, seen, sizeof told, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 16; i++) CLAIM(told[i] == 7 - i % 8);
}

static void places() {
    for (std::size_t bytes : {std::size_t(1) << 20, std::size_t(3) << 20, (std::size_t(4) << 20) + 1}) {
        void *first = nullptr, *second = nullptr;
        OK(cudaMalloc(&first, bytes));
        OK(cudaMalloc(&second, bytes));
        const std::size_t least = bytes > 1 << 20 ? 2 << 20 : 1 << 20;
        CLAIM(std::size_t(first) % least == 0 && std::size_t(second) % least == 0);
    }
}

int main(int count, char **arguments) {
    return told({{"products", products}, {"clusters", clusters}, {"places", places}}, count, arguments);
}
