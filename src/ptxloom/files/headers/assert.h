// Under NVRTC: `assert`, as kernels have it.
#include <cuda/std/cassert>
