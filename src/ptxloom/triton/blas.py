"""cuBLAS, as Triton's programs and tests ask its binding for it: products that PyTorch makes on the CPU."""

from __future__ import annotations

from typing import Any, TypeAlias

Tensor: TypeAlias = Any


class CublasLt:
    """In the place of `triton._C.libtriton.nvidia.cublas.CublasLt`.

    Products are summed in f32 and rounded once; B is given transposed.
    """

    def __init__(self, workspace: Tensor) -> None:
        """A workspace is not needed."""

    def matmul(self, a: Tensor, b: Tensor, c: Tensor) -> None:
        """C = A times the transpose of B."""
        c.copy_(a.float() @ b.float().T)

    def gemm(  # noqa: PLR0917 - in its order
        self, a: Tensor, b: Tensor, c: Tensor, d: Tensor, alpha: float, beta: float
    ) -> None:
        """D = alpha times A times the transpose of B, plus beta times C."""
        d.copy_(alpha * (a.float() @ b.float().T) + beta * c.float())


def put_in_place() -> None:
    """Let Triton's binding have it: its own finds no library."""
    from triton._C.libtriton import nvidia  # noqa: PLC0415 - compiled, and large

    nvidia.cublas.CublasLt = CublasLt
