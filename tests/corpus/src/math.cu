// The math library, single and double precision.
extern "C" __global__ void single(const float *x, float *y) {
    const int i = threadIdx.x;
    float a = x[i], b = x[i + 32];
    y[i] = sinf(a) + expf(b) + logf(a) + powf(a, b) + tanhf(a);
    y[i + 32] = erff(a) + sqrtf(b) + rsqrtf(a) + cbrtf(b) + fmodf(a, b) + atan2f(a, b);
    y[i + 64] = floorf(a) + rintf(b) + truncf(a) + ldexpf(a, 3) + fdimf(a, b) + hypotf(a, b) + a / b + 1.0f / a;
    y[i + 96] = __sinf(a) + __expf(b) + __logf(a) + __fdividef(a, b) + __powf(a, b) + __saturatef(a) + __fmaf_rz(a, b, a) + __frcp_ru(a) + __fsqrt_rd(b) + __fadd_rd(a, b);
    int e; float m = frexpf(a, &e);
    y[i + 128] = m + e + isnan(a) + isinf(b) + signbit(a) + lroundf(a) + normcdff(b);
}
extern "C" __global__ void twice(const double *x, double *y) {
    const int i = threadIdx.x;
    double a = x[i], b = x[i + 32];
    y[i] = exp(a) + sqrt(b) + a / b + fma(a, b, a) + floor(a) + __dmul_rd(a, b) + rsqrt(a);
    y[i + 32] = log(a) + fmin(a, b) + (long long)a + (unsigned)b;
}
