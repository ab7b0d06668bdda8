// What Hopper's kernels are written with: mbarriers, tensor copies, wgmma and the descriptors that it reads through.
#pragma once
#include <cuda.h>
#include <cuda_fp16.h>
#include <stdint.h>

#define DEVICE __device__ __forceinline__

DEVICE uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

DEVICE void init_barrier(uint32_t barrier, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
DEVICE void expect_bytes(uint32_t barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE void arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
DEVICE void arrive_at_cta(uint32_t barrier, uint32_t cta) {
    asm volatile("{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}"
                 ::"r"(barrier), "r"(cta) : "memory");
}
DEVICE void wait_for(uint32_t barrier, uint32_t parity) {
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}"
                 ::"r"(barrier), "r"(parity) : "memory");
}
DEVICE void barriers_are_set() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
DEVICE uint32_t cta_of_cluster() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
DEVICE void shown_to_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE void meet(uint32_t barrier, uint32_t threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

DEVICE void load_tile(uint32_t into, const CUtensorMap &map, int x, int y, uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(into), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
DEVICE void load_tile_for_all(uint32_t into, const CUtensorMap &map, int x, int y, uint32_t barrier, uint16_t ctas) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(into), "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(ctas) : "memory");
}
DEVICE void store_tile(const CUtensorMap &map, int x, int y, uint32_t from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
}
DEVICE void stores_are_done() {
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Rows of 128 bytes with the 128-byte swizzle, eight rows in 1,024 bytes.
DEVICE uint64_t describe(uint32_t address) {
    return 1ull << 62 | 64ull << 32 | 1ull << 16 | (address & 0x3ffff) >> 4;
}

DEVICE void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT> DEVICE void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory"); }

#define E(c, i) c(d[i])
#define E4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define E16(c, i) E4(c, i), E4(c, i + 4), E4(c, i + 8), E4(c, i + 12)
#define REGISTERS_32 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define REGISTERS_64 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
                     "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"

// A kind of product: what its wgmma is called, the type of its sums, and how many elements 128 bytes hold.
#define PRODUCT(name, form, sum, letter, tail, row)                                                                              \
    struct name {                                                                                                              \
        using Sum = sum;                                                                                                       \
        static constexpr int ROW = row;                                                                                        \
        static DEVICE void multiply(sum (&d)[64], uint64_t a, uint64_t b, int adds) {                                          \
            asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %66, 0;\nwgmma.mma_async.sync.aligned." form " " REGISTERS_64 \
                         ", %64, %65, adds" tail ";\n}"                                                                        \
                         : E16(letter, 0), E16(letter, 16), E16(letter, 32), E16(letter, 48)                                   \
                         : "l"(a), "l"(b), "r"(adds));                                                                         \
        }                                                                                                                      \
    };
#define F(x) "+f"(x)
#define R(x) "+r"(x)
PRODUCT(Half, "m64n128k16.f32.f16.f16", float, F, ", 1, 1, 0, 0", 64)
PRODUCT(Brain, "m64n128k16.f32.bf16.bf16", float, F, ", 1, 1, 0, 0", 64)
PRODUCT(Tf32, "m64n128k8.f32.tf32.tf32", float, F, ", 1, 1", 32)
PRODUCT(E4m3, "m64n128k32.f32.e4m3.e5m2", float, F, ", 1, 1", 128)
PRODUCT(Int8, "m64n128k32.s32.s8.s8", int, R, "", 128)
