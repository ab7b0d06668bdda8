"""cuBLAS as in Triton's binding, for its programs and tests: PyTorch computes the products on the CPU."""

from __future__ import annotations

from typing import Any, TypeAlias

Tensor: TypeAlias = Any


class CublasLt:
    """Replaces `triton._C.libtriton.nvidia.cublas.CublasLt`.

    Products are summed in f32 and rounded once; B is passed transposed.
    """

    def __init__(self, workspace: Tensor) -> None:
        """Ignore the workspace."""

    def matmul(self, a: Tensor, b: Tensor, c: Tensor) -> None:
        """C = A times the transpose of B."""
        c.copy_(a.float() @ b.float().T)

    def gemm(  # noqa: PLR0917 - in the original's order
        self, a: Tensor, b: Tensor, c: Tensor, d: Tensor, alpha: float, beta: float
    ) -> None:
        """D = alpha times A times the transpose of B, plus beta times C."""
        d.copy_(alpha * (a.float() @ b.float().T) + beta * c.float())


def put_in_place() -> None:
    """Replace the class in Triton's binding, which finds no library."""
    from triton._C.libtriton import nvidia  # noqa: PLC0415 - compiled, and large

    nvidia.cublas.CublasLt = CublasLt
