"""How kernels are compiled: by Triton's own compiler for NVIDIA, which stops at the PTX."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

# a module, not its class: Triton takes every back end among the names here
import triton.backends.nvidia.compiler as nvidia
from triton.backends import compiler as base

from ptxloom.triton import properties, selection

PTX_VERSION = 90
"""What its LLVM knows of PTX, times ten: no ptxas is asked."""
FUSED_END = "\n// contract: fused\n"
"""How PTX ends whose products and sums are to be fused: who loads it knows so, and plans nothing else before."""


class PtxloomBackend(nvidia.CUDABackend):
    """NVIDIA's, whose binaries are PTX."""

    def __init__(self, target: base.GPUTarget) -> None:
        """For a target, or for the device where PyTorch's compiler asks for kernels on the CPU."""
        super().__init__(base.GPUTarget("cuda", properties.capability(), 32) if target.backend == "cpu" else target)

    @staticmethod
    def supports_target(target: base.GPUTarget) -> bool:
        """Whether it compiles for a target: for any of NVIDIA's, and the CPU, while ptxloom is who runs kernels."""
        return target.backend in {"cuda", "cpu"} and selection.is_selected()

    def parse_options(self, opts: dict[str, Any]) -> Any:
        """The options of a kernel, with the version of PTX that is written."""
        return super().parse_options({"ptx_version": PTX_VERSION, **opts})

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any) -> None:
        """The steps from source to what `load_binary` takes: PTX, under the name that Triton asks for."""
        super().add_stages(stages, options, language)
        stages["cubin"] = _as_bytes

    def hash(self) -> str:
        """What compiled kernels depend on beside their source."""
        return f"ptxloom-{version('ptxloom')}-{PTX_VERSION}-{self.target.arch}"


def _as_bytes(ptx: str, metadata: dict[str, Any]) -> bytes:
    return (ptx + FUSED_END if metadata["enable_fp_fusion"] else ptx).encode()
