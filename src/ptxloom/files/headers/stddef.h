// Under NVRTC: `size_t` and its like, by the names of C.
#pragma once
#include <cuda/std/cstddef>
using cuda::std::size_t; using cuda::std::ptrdiff_t;
