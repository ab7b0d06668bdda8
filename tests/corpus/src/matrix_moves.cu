// Every legal ldmatrix and stmatrix form, in every state-space spelling, as far as the target has it.
#define LOAD1(n, form) asm volatile("ldmatrix.sync.aligned." form " {%0}, [%1];" : "=r"(r[0]) : n);
#define LOAD2(n, form) asm volatile("ldmatrix.sync.aligned." form " {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : n);
#define LOAD4(n, form) asm volatile("ldmatrix.sync.aligned." form " {%0, %1, %2, %3}, [%4];" \
    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : n);
#define STORE1(n, form) asm volatile("stmatrix.sync.aligned." form " [%1], {%0};" :: "r"(r[0]), n : "memory");
#define STORE2(n, form) asm volatile("stmatrix.sync.aligned." form " [%2], {%0, %1};" :: "r"(r[0]), "r"(r[1]), n : "memory");
#define STORE4(n, form) asm volatile("stmatrix.sync.aligned." form " [%4], {%0, %1, %2, %3};" \
    :: "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), n : "memory");
#define OUT for (int i = 0; i < 4; ++i) out[i * 32] ^= r[i];
#define L1(before, after) LOAD1("l"(generic), before after) OUT LOAD1("r"(shared), before ".shared" after) OUT LOAD1("r"(shared), before ".shared::cta" after) OUT
#define L2(before, after) LOAD2("l"(generic), before after) OUT LOAD2("r"(shared), before ".shared" after) OUT LOAD2("r"(shared), before ".shared::cta" after) OUT
#define L4(before, after) LOAD4("l"(generic), before after) OUT LOAD4("r"(shared), before ".shared" after) OUT LOAD4("r"(shared), before ".shared::cta" after) OUT
#define S1(before, after) STORE1("l"(generic), before after) STORE1("r"(shared), before ".shared" after) STORE1("r"(shared), before ".shared::cta" after)
#define S2(before, after) STORE2("l"(generic), before after) STORE2("r"(shared), before ".shared" after) STORE2("r"(shared), before ".shared::cta" after)
#define S4(before, after) STORE4("l"(generic), before after) STORE4("r"(shared), before ".shared" after) STORE4("r"(shared), before ".shared::cta" after)

#define PREPARE \
    __shared__ __align__(1024) unsigned memory[1024]; \
    unsigned r[4] = {}; \
    for (int i = threadIdx.x; i < 1024; i += 32) memory[i] = in[i]; \
    __syncthreads(); \
    const unsigned *generic = memory + threadIdx.x * 4; \
    unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(generic)); \
    out += threadIdx.x;

extern "C" __global__ void loads_m8n8(const unsigned *in, unsigned *out) {
    PREPARE
    L1("m8n8.x1", ".b16") L2("m8n8.x2", ".b16") L4("m8n8.x4", ".b16")
    L1("m8n8.x1.trans", ".b16") L2("m8n8.x2.trans", ".b16") L4("m8n8.x4.trans", ".b16")
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[0]) : "r"(r[1]));
    OUT
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void stores_m8n8(const unsigned *in, unsigned *out) {
    PREPARE
    S1("m8n8.x1", ".b16") S2("m8n8.x2", ".b16") S4("m8n8.x4", ".b16")
    S1("m8n8.x1.trans", ".b16") S2("m8n8.x2.trans", ".b16") S4("m8n8.x4.trans", ".b16")
    __syncthreads();
    for (int i = 0; i < 32; ++i) out[i * 32] = memory[i * 32 + threadIdx.x];
}
#endif

#if defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
extern "C" __global__ void loads_signed(const unsigned *in, unsigned *out) {
    PREPARE
    L1("m8n16.x1", ".s8.s4") L2("m8n16.x2", ".s8.s4") L4("m8n16.x4", ".s8.s4")
}

#if __CUDA_ARCH__ >= 1000
extern "C" __global__ void loads_m16n16(const unsigned *in, unsigned *out) {
    PREPARE
    L2("m16n16.x1.trans", ".b8") L4("m16n16.x2.trans", ".b8")
    L2("m16n16.x1.trans", ".b8x16.b6x16_p32") L4("m16n16.x2.trans", ".b8x16.b6x16_p32")
    L2("m16n16.x1.trans", ".b8x16.b4x16_p64") L4("m16n16.x2.trans", ".b8x16.b4x16_p64")
}

extern "C" __global__ void loads_m8n16(const unsigned *in, unsigned *out) {
    PREPARE
    L1("m8n16.x1", ".b8x16.b6x16_p32") L2("m8n16.x2", ".b8x16.b6x16_p32") L4("m8n16.x4", ".b8x16.b6x16_p32")
    L1("m8n16.x1", ".b8x16.b4x16_p64") L2("m8n16.x2", ".b8x16.b4x16_p64") L4("m8n16.x4", ".b8x16.b4x16_p64")
}

extern "C" __global__ void stores_m16n8(const unsigned *in, unsigned *out) {
    PREPARE
    S1("m16n8.x1.trans", ".b8") S2("m16n8.x2.trans", ".b8") S4("m16n8.x4.trans", ".b8")
    __syncthreads();
    for (int i = 0; i < 32; ++i) out[i * 32] = memory[i * 32 + threadIdx.x];
}
#endif
#endif
