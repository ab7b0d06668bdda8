"""A CUDA driver that needs no GPU: `libcuda.so.1` in C, and the server in which its kernels run."""
