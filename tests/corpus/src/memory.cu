// Loads and stores of every width, space, cache policy and order; initialised variables of every kind.
struct Record { int id; float weights[3]; const char *name; };
__device__ int counter = 7;
__device__ const char greeting[] = "hello, world";
__device__ Record records[2] = {{1, {1.5f, 2.5f, -0.0f}, greeting}, {2, {1e30f, 1e-40f, 3.0f}, greeting + 7}};
__constant__ double table[4] = {1.0, 0.5, 0.25, 1e308};
__constant__ unsigned char small[5] = {1, 2, 3, 4, 255};
__device__ unsigned short matrix[2][3] = {{1, 2, 3}, {65535, 5, 6}};
__device__ int *pointer = &counter;
__device__ __managed__ long long managed = -1;
__device__ bool flags[3];
static __device__ float hidden = 0.1f;

extern "C" __global__ void loads(const int *__restrict__ in, const int4 *quad, volatile int *vol, const double2 *pairs, const unsigned char *bytes, long long *out, int n) {
    extern __shared__ __align__(16) char dynamic[];
    int local[16];
    for (int i = 0; i < 16; ++i) local[i] = in[i];
    int4 q = quad[threadIdx.x];
    double2 p = pairs[threadIdx.x];
    out[0] = __ldg(in + n) + q.x + q.w + vol[n] + (long long)p.y + bytes[n] + local[n & 15] + records[n].id + table[n] * 2 + small[n] + matrix[n][1] + *pointer + managed + flags[n] + hidden + greeting[n];
    out[1] = __ldcg(in) + __ldca(in) + __ldcs(in) + __ldlu(in) + __ldcv(in) + __ldg(quad).y + __ldcs(quad).z;
    __stwb(out, 1ll); __stcg(out, 2ll); __stcs(out, 3ll); __stwt(out, 4ll);
    reinterpret_cast<float4 *>(dynamic)[threadIdx.x] = make_float4(1, 2, 3, 4);
    vol[n + 1] = dynamic[n];
    counter += 1;
    managed = q.z;
}
extern "C" __global__ void ordered(int *p, unsigned long long *out) {
    int v; unsigned long long policy; unsigned a;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p));
    asm volatile("ld.acquire.sys.s32 %0, [%1+8];" : "=r"(v) : "l"(p));
    asm volatile("st.release.cta.global.s32 [%0+-4], %1;" ::"l"(p), "r"(v) : "memory");
    asm volatile("st.relaxed.sys.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
    asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(v) : "l"(p));
    asm volatile("ldu.global.b32 %0, [%1];" : "=r"(v) : "l"(p));
    asm volatile("ld.weak.global.ca.b32 %0, [%1];" : "=r"(v) : "l"(p));
    asm volatile("ld.mmio.relaxed.sys.global.b32 %0, [%1];" : "=r"(v) : "l"(p));
    asm volatile("prefetch.global.L1 [%0];\nprefetch.global.L2 [%0+128];\nprefetchu.L1 [%0];" ::"l"(p));
    asm volatile("{\n.reg .pred p;\nisspacep.shared p, %1;\nisspacep.local p, %1;\nisspacep.const p, %1;\nisspacep.global p, %1;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(a) : "l"(p));
#if __CUDA_ARCH__ >= 800
    asm volatile("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("createpolicy.range.global.L2::evict_last.b64 %0, [%1], 1024, 4096;" : "=l"(policy) : "l"(p));
    asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(policy) : "l"(out[5]));
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.L2::128B.b32 %0, [%1], %2;" : "=r"(v) : "l"(p), "l"(policy));
    asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %1}, %2;" ::"l"(p), "r"(v), "l"(policy) : "memory");
    asm volatile("prefetch.global.L2::evict_last [%0];\napplypriority.global.L2::evict_normal [%0], 128;\ndiscard.global.L2 [%0], 128;" ::"l"(p) : "memory");
#endif
#if __CUDA_ARCH__ >= 1000
    asm volatile("{\n.reg .b32 r<8>;\nld.global.v8.b32 {r0, r1, r2, r3, r4, r5, r6, r7}, [%0];\nst.global.v8.b32 [%0], {r7, r6, r5, r4, r3, r2, r1, r0};\n}" ::"l"(p) : "memory");
    asm volatile("{\n.reg .b64 d<4>;\nld.global.L2::evict_last.v4.b64 {d0, d1, d2, d3}, [%0];\nst.global.v4.b64 [%0], {d3, d2, d1, d0};\n}" ::"l"(p) : "memory");
#endif
    asm volatile("{\n.reg .u64 s;\nstacksave.u64 s;\nalloca.u64 %0, %1, 16;\nstackrestore.u64 s;\n}" : "=l"(out[1]) : "l"(64ull + (a & 32)));
    out[0] = v + a;
}
