// Under NVRTC: the macros of <cfloat>.
#pragma once
#include <cuda/std/cfloat>
