// Control flow: divergent loops, jump tables, early exits, recursion, function pointers, virtual calls.
extern "C" __global__ void collatz(unsigned *out, unsigned first) {
    unsigned long long n = first + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned steps = 0;
    while (n > 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        ++steps;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = steps;
}
extern "C" __global__ void gcds(const int *a, const int *b, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], y = b[i];
    while (y) { int r = x % y; x = y; y = r; }
    out[i] = x;
}
extern "C" __global__ void interpreter(const unsigned char *program, const int *in, int *out, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, a = in[i], b = i, stack[8], top = 0;
    for (int pc = 0; pc < length; ++pc) {
        switch (program[(pc + (i & 3)) % length]) {
        case 0: a += b; break;
        case 1: a -= 3; break;
        case 2: a *= b | 1; break;
        case 3: b = a >> 2; break;
        case 4: if (top < 8) stack[top++] = a; break;
        case 5: if (top) a ^= stack[--top]; break;
        case 6: if (a & 1) pc += 2; break;
        case 7: b = b / (a | 1); break;
        case 8: { int kept = a; a = b; b = kept; break; }
        case 9: if (b > 5000) { out[i] = -1; return; } break;
        default: a = ~a;
        }
    }
    while (top) a += stack[--top];
    out[i] = a ^ b;
}
extern "C" __global__ void leavers(const int *in, int *out) {
    __shared__ int seen[4];
    int t = threadIdx.x, lane = t % 32, v = in[blockIdx.x * blockDim.x + t];
    if (t < 4) seen[t] = 0;
    __syncthreads();
    for (int round = 0; round < 8; ++round) {
        if (v == round) {
            out[blockIdx.x * blockDim.x + t] = round * 100 + lane;
            return;
        }
        unsigned rest = __activemask();
        if (lane == __ffs(rest) - 1) atomicAdd(&seen[t / 32], 1);
        v ^= round & 1;
    }
    out[blockIdx.x * blockDim.x + t] = 9999;
}
__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void fibonaccis(unsigned *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 16); }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
extern "C" __global__ void ackermanns(int *out) { out[threadIdx.x] = ackermann(threadIdx.x / 8 % 3, threadIdx.x % 8); }
__device__ __noinline__ void quicksort(int *first, int *last) {
    while (last - first > 1) {
        int pivot = first[(last - first) / 2], *i = first, *j = last - 1;
        while (i <= j) {
            while (*i < pivot) ++i;
            while (*j > pivot) --j;
            if (i <= j) { int kept = *i; *i++ = *j; *j-- = kept; }
        }
        quicksort(first, j + 1);
        first = i;
    }
}
extern "C" __global__ void quicksorts(int *data, int each) { quicksort(data + threadIdx.x * each, data + (threadIdx.x + 1) * each); }
__device__ int queens(int n, unsigned columns, unsigned left, unsigned right) {
    unsigned full = (1u << n) - 1;
    if (columns == full) return 1;
    int count = 0;
    for (unsigned free = full & ~(columns | left | right); free; free &= free - 1) {
        unsigned bit = free & -free;
        count += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}
extern "C" __global__ void queens_counts(int *out) { out[threadIdx.x] = queens(threadIdx.x % 8 + 1, 0, 0, 0); }

__device__ __noinline__ float twice(float x) { return x + x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float negate(float x) { return -x; }
__device__ __noinline__ float half_of(float x) { return x / 2; }
__device__ float (*const table[4])(float) = {twice, square, negate, half_of};
extern "C" __global__ void pointers(const float *in, const int *which, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float (*f)(float) = table[which[i] & 3];
    out[i] = f(in[i]) + table[which[i] >> 2 & 3](in[i]);
}
struct Account {
    int balance;
    __device__ Account(int b) : balance(b) {}
    __device__ virtual int fee(int amount) const { return 1; }
    __device__ virtual void withdraw(int amount) { balance -= amount + fee(amount); }
};
struct Gold : Account { using Account::Account; __device__ int fee(int) const override { return 0; } };
struct Strict : Account {
    using Account::Account;
    __device__ int fee(int amount) const override { return amount / 10; }
    __device__ void withdraw(int amount) override { if (amount <= balance) Account::withdraw(amount); }
};
extern "C" __global__ void accounts(const int *kinds, const int *amounts, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Account plain(100); Gold gold(200); Strict strict(50);
    Account *who = kinds[i] == 0 ? &plain : kinds[i] == 1 ? static_cast<Account *>(&gold) : &strict;
    for (int k = 0; k < n; ++k) who->withdraw(amounts[(i + k) % n]);
    out[i] = who->balance;
}
