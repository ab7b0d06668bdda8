"""Launches kernels: Triton's driver interface, implemented with `ptxloom.Device`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# modules, not their classes: Triton uses every driver among the names here
from triton.backends import driver as base
from triton.backends.compiler import GPUTarget

from ptxloom.extras import needed
from ptxloom.triton import awaited, blas, clock, properties, selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.triton import device

awaited.follow_torch()
if awaited.is_wanted():
    blas.put_in_place()


class PtxloomDriver(base.DriverBase):
    """Runs kernels on the CPU, on CPU tensors: one device, one stream, and launches that end before they return."""

    def __init__(self) -> None:
        super().__init__()
        selection.select()
        with needed():  # here, as `import triton` must be quick, and succeed without NumPy
            from ptxloom.triton import device, launcher  # noqa: PLC0415
        self.utils = device.Utilities()
        self.launcher_cls = launcher.Launcher
        self._scratch = device.Scratch
        clock.benchmark_graphs()

    @classmethod
    def is_active(cls) -> bool:
        """Whether Triton may use it."""
        return selection.is_wanted()

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C++ type of one of Triton's, for launchers in C, which ptxloom does not use."""
        raise NotImplementedError(f"ptxloom launches {ty} without C++")

    def get_current_target(self) -> GPUTarget:
        """The target of kernels: `PTXLOOM_DEVICE`, sm_80 by default."""
        return GPUTarget("cuda", properties.capability(), 32)

    def get_device_capability(self, _device: object = None) -> tuple[int, int]:
        """The target in CUDA's form: (8, 0)."""
        return divmod(properties.capability(), 10)

    def get_current_device(self) -> int:
        """The number of the only device."""
        return 0

    def set_current_device(self, number: int) -> None:
        """Do nothing: ptxloom has one device."""

    def get_current_stream(self, _device: object = None) -> int:
        """The number of the only stream."""
        return 0

    def get_active_torch_device(self) -> Any:
        """PyTorch's device for tensors: the CPU, or "cuda" if that stands for it."""
        import torch  # noqa: PLC0415 - who asks has it

        return torch.device("cuda:0") if awaited.is_wanted() else torch.device("cpu")

    def get_device_interface(self) -> type[clock.DeviceInterface]:
        """The part of `torch.cuda` that benchmarks use."""
        return clock.DeviceInterface

    def get_benchmarker(self) -> Callable[..., Any]:
        """The benchmark function for configurations."""
        return clock.benchmarker()

    def get_empty_cache_for_benchmark(self) -> None:
        """Return no buffer: nothing is cached."""

    def clear_cache(self, _cache: object) -> None:
        """Advance the modelled clock by a tenth of a second, so that a benchmark needs only one run."""
        clock.advance(clock.CLEARING_MS)

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: object) -> device.Scratch:
        """Memory for Triton's own profiler."""
        del stream
        return self._scratch(size, alignment)
