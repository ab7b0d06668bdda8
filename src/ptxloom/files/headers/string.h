// Under NVRTC: `memcpy` and `memset`, which kernels have without a header.
#pragma once
#include <stddef.h>
