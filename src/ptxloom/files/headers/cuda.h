// Under NVRTC: what device code uses of the driver's header, whose functions are the host's.
#pragma once
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
typedef unsigned long long CUdeviceptr;
typedef struct CUtensorMap_st {
  alignas(64) unsigned long long opaque[16];
} CUtensorMap;
