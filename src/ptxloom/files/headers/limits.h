// Under NVRTC: the macros of <climits>.
#pragma once
#include <cuda/std/climits>
