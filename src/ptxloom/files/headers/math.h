// Under NVRTC: the functions of mathematics, which kernels have without a header.
#pragma once
