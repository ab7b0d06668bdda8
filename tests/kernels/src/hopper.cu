// Hopper's way to multiply: tensor copies into a ring of stages, a warpgroup that copies, warpgroups that multiply.
#include "hopper.cuh"

constexpr int STAGES = 4, ROWS = 128, CONSUMERS = 2, TILE_BYTES = ROWS * 128, STAGE_BYTES = 2 * TILE_BYTES;

struct Ring {
    uint32_t stages, full, empty;
    DEVICE uint32_t a(int at) const { return stages + at % STAGES * STAGE_BYTES; }
    DEVICE uint32_t b(int at) const { return a(at) + TILE_BYTES; }
    DEVICE uint32_t filled(int at) const { return full + at % STAGES * 8; }
    DEVICE uint32_t emptied(int at) const { return empty + at % STAGES * 8; }
    static DEVICE uint32_t phase(int at) { return at / STAGES & 1; }
};

// Fills the ring: an own tile of a; b's tile half by half, each half for both CTAs of the cluster.
template <class Product>
DEVICE void produce(const Ring &ring, const CUtensorMap &a, const CUtensorMap &b, int row, int column, int tiles) {
    uint32_t cta = cta_of_cluster();
    for (int at = 0; at < tiles; ++at) {
        if (at >= STAGES) wait_for(ring.emptied(at), Ring::phase(at) ^ 1);
        expect_bytes(ring.filled(at), STAGE_BYTES);
        load_tile(ring.a(at), a, at * Product::ROW, row, ring.filled(at));
        load_tile_for_all(ring.b(at) + cta * (TILE_BYTES / 2), b, at * Product::ROW, column + cta * (ROWS / 2), ring.filled(at), 3);
    }
}

// Multiplies 64 rows; a stage is given back, to both CTAs, when the products after it have begun.
template <class Product>
DEVICE void consume(const Ring &ring, typename Product::Sum (&sums)[64], int warpgroup, int tiles) {
    for (int at = 0; at < tiles; ++at) {
        wait_for(ring.filled(at), Ring::phase(at));
        wgmma_begin();
#pragma unroll
        for (int step = 0; step < 4; ++step)
            Product::multiply(sums, describe(ring.a(at) + warpgroup * 64 * 128 + step * 32), describe(ring.b(at) + step * 32), at + step > 0);
        wgmma_commit();
        if (at > 0) {
            wgmma_wait<1>();
            if (threadIdx.x % 128 < 2) arrive_at_cta(ring.emptied(at - 1), threadIdx.x % 128);
        }
    }
    wgmma_wait<0>();
}

template <class Product, class Store>
DEVICE void product(const CUtensorMap &a, const CUtensorMap &b, int k, Store store) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ __align__(8) uint64_t barriers[2 * STAGES];
    Ring ring{shared_address(memory), shared_address(barriers), shared_address(barriers + STAGES)};
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            init_barrier(ring.filled(stage), 1);
            init_barrier(ring.emptied(stage), 2 * CONSUMERS);
        }
        barriers_are_set();
    }
    cluster_sync();
    int warpgroup = threadIdx.x / 128, tiles = k / Product::ROW;
    if (warpgroup == CONSUMERS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x % 128 == 0) produce<Product>(ring, a, b, blockIdx.x * ROWS, blockIdx.y * ROWS, tiles);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        typename Product::Sum sums[64];
#pragma unroll
        for (int i = 0; i < 64; ++i) sums[i] = 0;
        consume<Product>(ring, sums, warpgroup, tiles);
        store(sums, warpgroup, ring.stages);
    }
    cluster_sync();
}

#define GEMM(name, Product)                                                                                                               \
    extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384)                                                           \
        name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, Product::Sum *c, int n, int k) {               \
        product<Product>(a, b, k, [=](Product::Sum (&sums)[64], int warpgroup, uint32_t) {                                                \
            int thread = threadIdx.x % 128, row = blockIdx.x * ROWS + warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;                 \
            for (int i = 0; i < 64; ++i)                                                                                                  \
                c[(row + (i & 2) * 4) * n + blockIdx.y * ROWS + i / 4 * 8 + thread % 4 * 2 + (i & 1)] = sums[i];                            \
        });                                                                                                                               \
    }
GEMM(gemm_bf16, Brain)
GEMM(gemm_tf32, Tf32)
GEMM(gemm_fp8, E4m3)
GEMM(gemm_int8, Int8)

// The result in halves: stmatrix into swizzled rows of 128 bytes, and a tensor copy out of them.
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384)
    gemm_f16(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c, int k) {
    product<Half>(a, b, k, [&](float (&sums)[64], int warpgroup, uint32_t memory) {
        int thread = threadIdx.x % 128, lane = thread % 32;
        uint32_t tile = memory + STAGES * STAGE_BYTES + warpgroup * (64 * 256), row = thread / 32 * 16 + lane % 16;
#pragma unroll
        for (int part = 0; part < 8; ++part) {
            uint32_t words[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                half2 both = __floats2half2_rn(sums[part * 8 + i * 2], sums[part * 8 + i * 2 + 1]);
                words[i] = *reinterpret_cast<uint32_t *>(&both);
            }
            uint32_t chunk = (part % 4 * 2 + lane / 16) ^ (row & 7), at = tile + part / 4 * (64 * 128) + row * 128 + chunk * 16;
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
        }
        shown_to_async_proxy();
        meet(1 + warpgroup, 128);
        if (thread == 0) {
            for (int half = 0; half < 2; ++half)
                store_tile(c, blockIdx.y * ROWS + half * 64, blockIdx.x * ROWS + warpgroup * 64, tile + half * (64 * 128));
            stores_are_done();
        }
    });
}
