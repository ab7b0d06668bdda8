// Bits: checksums and hashes, SHA-256, random numbers, string search, base64, wide integers.
extern "C" __global__ void crc32(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned c = i;
        for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = ~0u;
    for (int i = 0; i < n; ++i) crc = table[(crc ^ in[t * n + i]) & 255] ^ (crc >> 8);
    out[t] = ~crc;
}
extern "C" __global__ void murmur(const unsigned *in, unsigned *out, int words) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = t;
    for (int i = 0; i < words; ++i) {
        unsigned k = in[t * words + i] * 0xcc9e2d51u;
        k = __funnelshift_l(k, k, 15) * 0x1b873593u;
        h = __funnelshift_l(h ^ k, h ^ k, 13) * 5 + 0xe6546b64u;
    }
    h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
    out[t] = h;
}
__constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
extern "C" __global__ void sha256(const unsigned char *in, unsigned *out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, s[8];
    for (int i = 0; i < 16; ++i) {
        w[i] = 0;
        for (int b = 0; b < 4; ++b) { int at = i * 4 + b; w[i] = w[i] << 8 | (at < n ? in[t * n + at] : at == n ? 0x80 : 0); }
    }
    w[15] = n * 8;
#define ROTATE(x, k) __funnelshift_r(x, x, k)
    for (int i = 16; i < 64; ++i) w[i] = w[i - 16] + (ROTATE(w[i - 15], 7) ^ ROTATE(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] + (ROTATE(w[i - 2], 17) ^ ROTATE(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < 8; ++i) s[i] = h[i];
#pragma unroll 1
    for (int i = 0; i < 64; ++i) {
        unsigned a = s[7] + (ROTATE(s[4], 6) ^ ROTATE(s[4], 11) ^ ROTATE(s[4], 25)) + (s[4] & s[5] ^ ~s[4] & s[6]) + rounds[i] + w[i];
        unsigned b = (ROTATE(s[0], 2) ^ ROTATE(s[0], 13) ^ ROTATE(s[0], 22)) + (s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]);
        s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + a; s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = a + b;
    }
    for (int i = 0; i < 8; ++i) out[t * 8 + i] = h[i] + s[i];
}
extern "C" __global__ void philox(unsigned *out, unsigned key) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, c[4] = {t, 0, 1, 2}, k0 = key, k1 = ~key;
    for (int r = 0; r < 10; ++r) {
        unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        unsigned n[4] = {unsigned(b >> 32) ^ c[1] ^ k0, unsigned(b), unsigned(a >> 32) ^ c[3] ^ k1, unsigned(a)};
        for (int i = 0; i < 4; ++i) c[i] = n[i];
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; ++i) out[t * 4 + i] = c[i];
}
extern "C" __global__ void monte_carlo(unsigned *inside, float *samples, int rounds) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, state = t * 2654435761u + 12345u, hits = 0;
    float last = 0;
    for (int i = 0; i < rounds; ++i) {
        float p[2];
        for (int j = 0; j < 2; ++j) { state ^= state << 13; state ^= state >> 17; state ^= state << 5; p[j] = (state >> 8) * 5.9604645e-8f; }
        last = p[0] * p[0] + p[1] * p[1];
        hits += last < 1;
    }
    samples[t] = last;
    hits = __reduce_add_sync(~0u, hits);
    if (threadIdx.x % 32 == 0) atomicAdd(inside, hits);
}
extern "C" __global__ void search(const char *text, const char *pattern, int *positions, int *count, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool found = i + m <= n;
    for (int k = 0; found && k < m; ++k) found = text[i + k] == pattern[k];
    positions[i] = found;
    int total = __syncthreads_count(found);
    if (threadIdx.x == 0) atomicAdd(count, total);
}
extern "C" __global__ void base64(const unsigned char *in, char4 *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = in[t * 3] << 16 | in[t * 3 + 1] << 8 | in[t * 3 + 2];
    auto letter = [](unsigned v) -> char { return v < 26 ? 'A' + v : v < 52 ? 'a' + v - 26 : v < 62 ? '0' + v - 52 : v == 62 ? '+' : '/'; };
    out[t] = make_char4(letter(word >> 18), letter(word >> 12 & 63), letter(word >> 6 & 63), letter(word & 63));
}
extern "C" __global__ void bit_tricks(const unsigned long long *in, unsigned long long *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long v = in[t];
    unsigned lo = v, hi = v >> 32, r;
    asm("bfe.s32 %0, %1, 5, 9;" : "=r"(r) : "r"(lo));
    asm("bfi.b32 %0, %1, %2, 7, 11;" : "=r"(lo) : "r"(hi), "r"(lo));
    asm("{\nmad.lo.cc.u32 %0, %1, %2, %0;\nmadc.hi.u32 %1, %1, %2, 5;\n}" : "+r"(r), "+r"(hi) : "r"(lo));
    out[t] = __brevll(v) ^ __popcll(v) ^ (unsigned long long)__clzll(v) << 8 ^ (unsigned long long)__ffsll(v) << 16 ^ __umul64hi(v, v) ^ (unsigned long long)__byte_perm(lo, hi, 0x3175) << 24 ^ r ^ (unsigned long long)__sad(int(lo), int(hi), 3)
        ^ (unsigned long long)__rhadd(int(lo), int(hi)) << 30 ^ __funnelshift_rc(lo, hi, r & 63) ^ (unsigned long long)(lo & ~hi | r ^ lo) << 20;
}
extern "C" __global__ void modular_power(const unsigned *base, const unsigned *exponent, unsigned *out, unsigned modulus) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long result = 1, b = base[t] % modulus;
    for (unsigned e = exponent[t]; e; e >>= 1) {
        if (e & 1) result = result * b % modulus;
        b = b * b % modulus;
    }
    out[t] = result;
}
extern "C" __global__ void wide_product(const unsigned __int128 *a, const unsigned __int128 *b, unsigned __int128 *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t * 2] = a[t] * b[t] + (a[t] >> 17);
    out[t * 2 + 1] = b[t] ? a[t] / b[t] ^ a[t] % b[t] << 3 : 0;
}
