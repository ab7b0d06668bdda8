// Flash attention forward for Hopper: a warpgroup, 64 queries, keys and values by tensor copies in two stages.
#include "hopper.cuh"

constexpr int STAGES = 2, TILE = 64, TILE_BYTES = TILE * 128;

// 64 x 64 scores: both operands with the head's 64 elements, the length of the products, in a row.
DEVICE void scores_of(float (&d)[32], uint64_t a, uint64_t b, int adds) {
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " REGISTERS_32 ", %32, %33, adds, 1, 1, 0, 0;\n}"
                 : E16(F, 0), E16(F, 16) : "l"(a), "l"(b), "r"(adds));
}
// The weights stay in registers; the values' rows are the length of the products, so b is transposed.
DEVICE void weighted(float (&d)[32], const uint32_t (&a)[4], uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " REGISTERS_32 ", {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : E16(F, 0), E16(F, 16) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
DEVICE float power(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE float across(float x, float (*with)(float, float)) {
    x = with(x, __shfl_xor_sync(~0u, x, 1));
    return with(x, __shfl_xor_sync(~0u, x, 2));
}
DEVICE float larger(float x, float y) { return fmaxf(x, y); }
DEVICE float sum(float x, float y) { return __fadd_rn(x, y); }

extern "C" __global__ void __launch_bounds__(128)
    attention(const __grid_constant__ CUtensorMap queries, const __grid_constant__ CUtensorMap keys, const __grid_constant__ CUtensorMap values, float *out, int length, float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ __align__(8) uint64_t barriers[1 + STAGES];
    uint32_t q = shared_address(memory), ring = q + TILE_BYTES, barrier = shared_address(barriers);
    int thread = threadIdx.x, head = blockIdx.y * length, tiles = length / TILE;
    auto fetch = [&](int at) {
        uint32_t into = ring + at % STAGES * 2 * TILE_BYTES, told = barrier + 8 + at % STAGES * 8;
        expect_bytes(told, 2 * TILE_BYTES);
        load_tile(into, keys, 0, head + at * TILE, told);
        load_tile(into + TILE_BYTES, values, 0, head + at * TILE, told);
    };
    if (thread == 0) {
        for (int i = 0; i <= STAGES; ++i) init_barrier(barrier + 8 * i, 1);
        barriers_are_set();
        expect_bytes(barrier, TILE_BYTES);
        load_tile(q, queries, 0, head + blockIdx.x * TILE, barrier);
        fetch(0);
    }
    __syncthreads();
    wait_for(barrier, 0);
    float result[32] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
    for (int at = 0; at < tiles; ++at) {
        if (thread == 0 && at + 1 < tiles) fetch(at + 1);
        uint32_t k = ring + at % STAGES * 2 * TILE_BYTES;
        wait_for(barrier + 8 + at % STAGES * 8, at / STAGES & 1);
        float scores[32];
        wgmma_begin();
#pragma unroll
        for (int step = 0; step < 4; ++step) scores_of(scores, describe(q + step * 32), describe(k + step * 32), step > 0);
        wgmma_commit();
        wgmma_wait<0>();
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float top = most[half];
            for (int i = 0; i < 32; ++i) if ((i >> 1 & 1) == half) top = fmaxf(top, __fmul_rn(scores[i], scale));
            top = across(top, larger);
            float shrunk = power(__fsub_rn(most[half], top));
            most[half] = top;
            total[half] = __fmul_rn(total[half], shrunk);
            for (int i = 0; i < 32; ++i) if ((i >> 1 & 1) == half) {
                scores[i] = power(__fsub_rn(__fmul_rn(scores[i], scale), top));
                total[half] = __fadd_rn(total[half], scores[i]);
                result[i] = __fmul_rn(result[i], shrunk);
            }
        }
        uint32_t weights[4][4];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            half2 both = __floats2half2_rn(scores[2 * i], scores[2 * i + 1]);
            weights[i / 4][i % 4] = *reinterpret_cast<uint32_t *>(&both);
        }
        wgmma_begin();
#pragma unroll
        for (int step = 0; step < 4; ++step) weighted(result, weights[step], describe(k + TILE_BYTES + step * 2048));
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads();
    }
    int row = head + blockIdx.x * TILE + thread / 32 * 16 + thread % 32 / 4;
    float all[2] = {across(total[0], sum), across(total[1], sum)};
    for (int i = 0; i < 32; ++i)
        out[(row + (i & 2) * 4) * 64 + i / 4 * 8 + thread % 4 * 2 + (i & 1)] = __fdiv_rn(result[i], all[i >> 1 & 1]);
}
