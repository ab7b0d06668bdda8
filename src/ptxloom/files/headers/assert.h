// Under NVRTC: `assert` for kernels.
#include <cuda/std/cassert>
