"""A back end of Triton that needs no GPU: `@triton.jit` kernels run on CPU tensors, bit for bit as on NVIDIA's GPUs.

Triton finds it by the entry point `triton.backends`, in two modules with one class each, as Triton requires:
`compiler` (NVIDIA's own, up to the PTX) and `driver` (the launches). It is used without a GPU, or if
`TRITON_DEFAULT_BACKEND=ptxloom` selects it; see docs/triton.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.triton.arrays import ArrayArgument, from_numpy

__all__ = ["ArrayArgument", "from_numpy"]

OLDEST: Final = (3, 8)
"""The oldest supported Triton."""


def __getattr__(name: str) -> object:
    """Import these names, and NumPy with them, on first use: `import triton` imports this module."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ptxloom.extras import needed  # noqa: PLC0415 - only here

    with needed():
        from ptxloom.triton import arrays  # noqa: PLC0415 - see above
    return getattr(arrays, name)
