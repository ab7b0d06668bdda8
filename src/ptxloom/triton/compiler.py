"""Compiles kernels with Triton's own compiler for NVIDIA, up to the PTX."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

# a module, not its class: Triton uses every back end among the names here
import triton.backends.nvidia.compiler as nvidia
from triton.backends import compiler as base

from ptxloom.triton import properties, selection

PTX_VERSION = 90
"""The PTX version of its LLVM, times ten: no ptxas is needed."""
FUSED_END = "\n// contract: fused\n"
"""The end of PTX whose products and sums must be fused, which tells the loader before it plans anything."""


class PtxloomBackend(nvidia.CUDABackend):
    """NVIDIA's back end, with PTX as its binaries."""

    def __init__(self, target: base.GPUTarget) -> None:
        """For a target, or for the device if PyTorch's compiler requests kernels for the CPU."""
        super().__init__(base.GPUTarget("cuda", properties.capability(), 32) if target.backend == "cpu" else target)

    @staticmethod
    def supports_target(target: base.GPUTarget) -> bool:
        """Whether it compiles for a target: any of NVIDIA's, or the CPU, while ptxloom runs kernels."""
        return target.backend in {"cuda", "cpu"} and selection.is_selected()

    def parse_options(self, opts: dict[str, Any]) -> Any:
        """The options of a kernel, with the PTX version to emit."""
        return super().parse_options({"ptx_version": PTX_VERSION, **opts})

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any) -> None:
        """Add the stages from source to the input of `load_binary`: PTX, under the name that Triton requires."""
        super().add_stages(stages, options, language)
        stages["cubin"] = _as_bytes

    def hash(self) -> str:
        """A key of what compiled kernels depend on besides their source."""
        return f"ptxloom-{version('ptxloom')}-{PTX_VERSION}-{self.target.arch}"


def _as_bytes(ptx: str, metadata: dict[str, Any]) -> bytes:
    return (ptx + FUSED_END if metadata["enable_fp_fusion"] else ptx).encode()
