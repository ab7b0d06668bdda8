// Atomics and reductions in every operation, type, space and scope.
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T> __device__ void integers(T *p, T v) {
    atomicAdd(p, v); atomicMin(p, v); atomicMax(p, v); atomicAnd(p, v); atomicOr(p, v); atomicXor(p, v);
    p[1] = atomicAdd(p, v); p[2] = atomicMin(p, v); p[3] = atomicMax(p, v); p[4] = atomicAnd(p, v); p[5] = atomicOr(p, v); p[6] = atomicXor(p, v);
    p[7] = atomicExch(p, v); p[8] = atomicCAS(p, v, T(v + 1));
}
extern "C" __global__ void global_atomics(int *i, unsigned *u, unsigned long long *ul, long long *l, float *f, double *d, half2 *h2) {
    integers(i, 3); integers(u, 5u); integers(ul, 7ull);
    atomicMin(l, -1ll); atomicMax(l, 1ll);
    u[9] = atomicInc(u, 31); u[10] = atomicDec(u, 31); u[11] = atomicSub(u, 2u);
    f[1] = atomicAdd(f, 1.5f); d[1] = atomicAdd(d, 2.5); f[2] = atomicExch(f, 1.0f);
    h2[1] = atomicAdd(h2, half2(1.0f, 2.0f));
    atomicAdd(f, 1.0f); atomicAdd(d, 1.0); atomicAdd(h2, half2(1.0f, 1.0f));
    atomicAdd(reinterpret_cast<half *>(h2) + 7, half(1.0f));
    atomicAdd_block(i, 1); atomicAdd_system(u, 1u); atomicCAS_block(ul, 1ull, 2ull); atomicExch_system(i, 4); atomicMax_block(l, 9ll);
    unsigned short *s = reinterpret_cast<unsigned short *>(u + 20);
    s[1] = atomicCAS(s, (unsigned short)1, (unsigned short)2);
#if __CUDA_ARCH__ >= 800
    atomicAdd(reinterpret_cast<__nv_bfloat162 *>(h2) + 1, __nv_bfloat162(1.0f, 1.0f));
    atomicAdd(reinterpret_cast<__nv_bfloat16 *>(h2) + 5, __nv_bfloat16(1.0f));
#endif
#if __CUDA_ARCH__ >= 900
    float4 old = atomicAdd(reinterpret_cast<float4 *>(f + 16), make_float4(1, 2, 3, 4));
    atomicAdd(reinterpret_cast<float2 *>(f + 16), make_float2(old.x, old.y));
    asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(h2), "r"(u[3]) : "memory");
    asm volatile("{\n.reg .b128 q, r;\nmov.b128 q, {%1, %1};\natom.global.exch.b128 r, [%0], q;\natom.global.cas.b128 r, [%0], r, q;\n}" ::"l"(ul), "l"(ul[3]) : "memory");
#endif
}
extern "C" __global__ void shared_atomics(int *out) {
    __shared__ int counts[32]; __shared__ unsigned u[32]; __shared__ unsigned long long ul[16]; __shared__ float f[4];
    integers(counts, int(threadIdx.x)); integers(u, threadIdx.x); integers(ul, 3ull);
    atomicAdd(f, 1.0f);
    __syncthreads();
    out[threadIdx.x] = counts[threadIdx.x] + u[threadIdx.x] + ul[threadIdx.x % 16] + f[threadIdx.x % 4];
}
extern "C" __global__ void ordered(int *p, cuda::atomic<int, cuda::thread_scope_device> *a, cuda::atomic<unsigned long long, cuda::thread_scope_system> *b) {
    a->store(1, cuda::std::memory_order_release);
    p[0] = a->load(cuda::std::memory_order_acquire) + a->fetch_add(2, cuda::std::memory_order_acq_rel) + a->exchange(5, cuda::std::memory_order_relaxed);
    int expected = 5;
    p[1] = a->compare_exchange_strong(expected, 6, cuda::std::memory_order_seq_cst);
    p[2] = b->fetch_max(9) + b->fetch_xor(3);
    cuda::atomic_ref<int, cuda::thread_scope_block> r(p[3]);
    r.fetch_sub(1);
    cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_device);
}
