// What Thrust makes of a transform and a reduction: long mangled names, structures as parameters.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>
#include <thrust/for_each.h>
struct Saxpy { float a; __host__ __device__ float operator()(float x, float y) const { return a * x + y; } };
void saxpy(float a, float *x, float *y, int n) {
    thrust::transform(thrust::device, thrust::device_pointer_cast(x), thrust::device_pointer_cast(x) + n, y, y, Saxpy{a});
}
