// Under NVRTC: `malloc` and `free`, which kernels have without a header.
#pragma once
#include <stddef.h>
