/* What a processor does without a warp: the loops of `limits.py`, as one writes them. */
#include <math.h>
#include <stdint.h>
#include <string.h>

void copy(const float *in, float *out, long n) { memcpy(out, in, n * sizeof *in); }

void add(const float *a, const float *b, float *out, long n) {
    for (long i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

float sum(const float *in, long n) {
    float all = 0;
    for (long i = 0; i < n; ++i) all += in[i];
    return all;
}

void sgemm(const float *restrict a, const float *restrict b, float *restrict c, long n) {
    for (long i = 0; i < n; ++i) {
        for (long j = 0; j < n; ++j) c[i * n + j] = 0;
        for (long k = 0; k < n; ++k)
            for (long j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

void transpose(const float *restrict in, float *restrict out, long n) {
    for (long i = 0; i < n; i += 32)
        for (long j = 0; j < n; j += 32)
            for (long y = i; y < i + 32; ++y)
                for (long x = j; x < j + 32; ++x) out[x * n + y] = in[y * n + x];
}

void stencil(const double *restrict in, double *restrict out, long n) {
    for (long z = 0; z < n; ++z)
        for (long y = 0; y < n; ++y)
            for (long x = 0; x < n; ++x) {
                long i = (z * n + y) * n + x;
                double sum = (z ? in[i - n * n] : 0) + (z + 1 < n ? in[i + n * n] : 0) + (x ? in[i - 1] : 0)
                    + (x + 1 < n ? in[i + 1] : 0) + (y ? in[i - n] : 0) + (y + 1 < n ? in[i + n] : 0);
                out[i] = in[i] + 0.125 * (sum - 6 * in[i]);
            }
}

void nbody(const float *bodies, float *out, long n, float step) {
    for (long i = 0; i < n; ++i) {
        const float *me = bodies + 4 * i;
        float ax = 0, ay = 0, az = 0;
        for (long j = 0; j < n; ++j) {
            const float *one = bodies + 4 * j;
            float dx = one[0] - me[0], dy = one[1] - me[1], dz = one[2] - me[2], d = dx * dx + dy * dy + dz * dz + 0.01f;
            float pull = one[3] / (d * sqrtf(d));
            ax += dx * pull, ay += dy * pull, az += dz * pull;
        }
        out[4 * i] = me[0] + ax * step, out[4 * i + 1] = me[1] + ay * step, out[4 * i + 2] = me[2] + az * step;
        out[4 * i + 3] = me[3];
    }
}

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int by) { return x >> by | x << (32 - by); }

/* Messages of n bytes, at most 55: one block each. */
void sha256(const uint8_t *in, uint32_t *out, long count, long n) {
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (long t = 0; t < count; ++t) {
        uint32_t w[64], s[8];
        for (int i = 0; i < 16; ++i) {
            w[i] = 0;
            for (int b = 0; b < 4; ++b) {
                long at = i * 4 + b;
                w[i] = w[i] << 8 | (at < n ? in[t * n + at] : at == n ? 0x80 : 0);
            }
        }
        w[15] = (uint32_t)n * 8;
        for (int i = 16; i < 64; ++i)
            w[i] = w[i - 16] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7]
                + (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
        memcpy(s, first, sizeof s);
        for (int i = 0; i < 64; ++i) {
            uint32_t a = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i];
            uint32_t b = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + a; s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = a + b;
        }
        for (int i = 0; i < 8; ++i) out[t * 8 + i] = first[i] + s[i];
    }
}
