// Thrust and CUB, whose kernels are chosen by what the driver says of a function: `./algorithms TOPIC`.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "claims.h"

static const int COUNT = 5000;

struct doubled {
    __host__ __device__ int operator()(int x) const { return 2 * x; }
};

struct is_odd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};

static thrust::host_vector<int> mixed() {
    thrust::host_vector<int> values(COUNT);
    for (int i = 0; i < COUNT; i++) values[i] = (i * 7919) % COUNT;
    return values;
}

static void thrust_calls() {
    thrust::device_vector<int> values = mixed(), twice(COUNT), sums(COUNT);
    CLAIM(thrust::reduce(values.begin(), values.end()) == COUNT * (COUNT - 1) / 2);
    thrust::sort(values.begin(), values.end());
    thrust::transform(values.begin(), values.end(), twice.begin(), doubled());
    thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
    thrust::host_vector<int> sorted = values, doubles = twice, scanned = sums;
    int wrong = 0, sum = 0;
    for (int i = 0; i < COUNT; i++) wrong += sorted[i] != i || doubles[i] != 2 * i || scanned[i] != (sum += i);
    CLAIM(wrong == 0);
}

static void cub_calls() {
    thrust::device_vector<int> from = mixed(), to(COUNT), count(1);
    const int *in = thrust::raw_pointer_cast(from.data());
    int *out = thrust::raw_pointer_cast(to.data()), *told = thrust::raw_pointer_cast(count.data());
    thrust::device_vector<char> room(1 << 20);
    void *there = thrust::raw_pointer_cast(room.data());
    std::size_t bytes = room.size();
    OK(cub::DeviceReduce::Sum(there, bytes, in, told, COUNT));
    CLAIM(count[0] == COUNT * (COUNT - 1) / 2);
    OK(cub::DeviceScan::ExclusiveSum(there, bytes = room.size(), in, out, COUNT));
    CLAIM(to[0] == 0 && to[1] == from[0] && to[COUNT - 1] == count[0] - from[COUNT - 1]);
    OK(cub::DeviceSelect::If(there, bytes = room.size(), in, out, told, COUNT, is_odd()));
    CLAIM(count[0] == COUNT / 2 && to[0] % 2 == 1);
    OK(cub::DeviceRadixSort::SortKeys(there, bytes = room.size(), in, out, COUNT));
    CLAIM(to[0] == 0 && to[1] == 1 && to[COUNT - 1] == COUNT - 1);
    int version = 0;
    OK(cub::PtxVersion(version));
    CLAIM(version == 800);
}

int main(int count, char **arguments) { return told({{"thrust", thrust_calls}, {"cub", cub_calls}}, count, arguments); }
