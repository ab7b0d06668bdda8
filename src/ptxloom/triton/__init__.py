"""A back end of Triton that needs no GPU: `@triton.jit` kernels run on CPU tensors, bit for bit as on NVIDIA's GPUs.

Triton finds it by the entry point `triton.backends`, in two modules of which each holds one class, as it asks for:
`compiler` (NVIDIA's own, up to the PTX) and `driver` (the launches). It is used where there is no GPU, or if
`TRITON_DEFAULT_BACKEND=ptxloom` asks for it; see docs/triton.md.
"""

from ptxloom.triton.arrays import ArrayArgument, from_numpy

__all__ = ["ArrayArgument", "from_numpy"]
