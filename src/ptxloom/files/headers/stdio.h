// Under NVRTC: `printf`, which kernels have without a header; there are no files.
#pragma once
