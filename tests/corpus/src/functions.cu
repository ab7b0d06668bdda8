// Calls: recursion, function pointers, virtual functions, structures by value, templates with mangled names.
struct Pair { double first; int second; short third[3]; };
struct Shape { float size; __device__ Shape(float s) : size(s) {} __device__ virtual float area() const = 0; };
struct Square : Shape { using Shape::Shape; __device__ float area() const override { return size * size; } };
struct Circle : Shape { using Shape::Shape; __device__ float area() const override { return 3.14159f * size * size; } };

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int odd(unsigned n);
__device__ __noinline__ int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
__device__ __noinline__ Pair swap(Pair p, char tag, bool flag) { return Pair{double(p.second) + tag, int(p.first) + flag, {p.third[2], p.third[1], p.third[0]}}; }
__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float multiply(float a, float b) { return a * b; }
__device__ float (*const operations[2])(float, float) = {add, multiply};
__device__ float (*chosen)(float, float) = add;

template <typename T, int N> struct Vector { T values[N]; };
template <typename T, int N> __device__ __noinline__ T dot(const Vector<T, N> &a, const Vector<T, N> &b) {
    T sum{};
    for (int i = 0; i < N; ++i) sum += a.values[i] * b.values[i];
    return sum;
}
namespace deep::inside {
template <typename F> __global__ void apply(F f, float *out) { out[threadIdx.x] = f(out[threadIdx.x]); }
struct Scale { float by; __device__ float operator()(float x) const { return x * by; } };
}
template __global__ void deep::inside::apply<deep::inside::Scale>(deep::inside::Scale, float *);

__global__ void calls(int *out, float *reals, int which, Pair pair) {
    const int i = threadIdx.x;
    out[i] = fibonacci(i % 10) + even(i);
    Pair swapped = swap(pair, 'c', which > 1);
    out[i + 32] = swapped.second + swapped.third[i % 3];
    reals[i] = operations[which & 1](reals[i], float(swapped.first)) + chosen(reals[i], 1.0f);
    Square square(reals[i]);
    Circle circle(reals[i]);
    const Shape *shape = i % 2 ? static_cast<const Shape *>(&square) : &circle;
    reals[i + 32] = shape->area();
    Vector<double, 5> a, b;
    for (int j = 0; j < 5; ++j) { a.values[j] = reals[j]; b.values[j] = out[j]; }
    reals[i + 64] = dot(a, b);
}
