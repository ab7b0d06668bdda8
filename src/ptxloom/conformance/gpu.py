"""The judge `gpu`: kernels on an NVIDIA GPU, using only its driver's library and compiler."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.conformance.gpu_objects import made
from ptxloom.conformance.kernel_text import BLOCK, module_text
from ptxloom.conformance.scenes import Scene
from ptxloom.conformance.suite import arrays_of, cases_of, ctas_of, text_of
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.target import Target, targets
from ptxloom.isa.version import PtxVersion, versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.conformance.inputs import Words
    from ptxloom.conformance.scenes.things import Thing
    from ptxloom.conformance.suite import Subject

    Bytes = NDArray[np.uint8]

_NAMES: Final = ("libcuda.so.1", "nvcuda.dll")
_LOG_BYTES: Final = 8192
_ERROR_LOG, _ERROR_LOG_BYTES, _LEVEL = 5, 6, 7  # of CUjit_option
_MAJOR, _MINOR = 75, 76  # of CUdevice_attribute: the compute capability


class GpuError(PtxloomError):
    """There is no GPU, or its driver refused."""


class Lacking(PtxloomError):  # noqa: N818 - a reason, not a fault
    """The driver lacks something that a path needs."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU, as its driver describes it.

    Attributes:
        device: Its name.
        driver: The driver's version of CUDA, such as "13.0".
        target: The target of kernels, such as sm_90a.
        version: The newest version of PTX that the driver's compiler reads.
    """

    device: str
    driver: str
    target: Target
    version: PtxVersion


class Driver:
    """The driver of the first GPU, a context on it open until `close`.

    Raises:
        GpuError: There is no driver, or no GPU.
    """

    def __init__(self, level: int | None = None) -> None:
        self._cuda = _library()
        self._level = level
        self._ask("cuInit", 0)
        device, context, version = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
        self._ask("cuDeviceGet", ctypes.byref(device), 0)
        self._ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._ask("cuCtxSetCurrent", context)
        self._ask("cuDriverGetVersion", ctypes.byref(version))
        self._device = device
        name = ctypes.create_string_buffer(256)
        self._ask("cuDeviceGetName", name, 256, device)
        capability = 10 * self._attribute(_MAJOR) + self._attribute(_MINOR)
        newest = self._newest()
        self.gpu = Gpu(
            name.value.decode(errors="replace"),
            f"{version.value // 1000}.{version.value % 1000 // 10}",
            _target_of(capability),
            newest,
        )

    def reset(self) -> None:
        """Discard the context that a kernel left unusable; the next driver has a new one."""
        self._cuda.cuDevicePrimaryCtxReset_v2(self._device)

    def close(self) -> None:
        """Release the context."""
        self._ask("cuDevicePrimaryCtxRelease_v2", self._device)

    def run(self, paths: Sequence[Subject], cases: int) -> Iterator[tuple[Subject, Words | str]]:
        """Yield the results of each path: the words of its parameter `out`, or why the driver's compiler refuses it."""
        if not paths:
            return
        texts = [text_of(f"k{at}", path, cases) for at, path in enumerate(paths)]
        module, log = self._load(module_text(self.gpu.version, self.gpu.target, texts).encode())
        if module is None:
            if len(paths) == 1:
                yield paths[0], log
                return
            half = len(paths) // 2
            yield from self.run(paths[:half], cases)
            yield from self.run(paths[half:], cases)
            return
        for at, path in enumerate(paths):
            yield path, self._launched(module, f"k{at}", path, cases)
        self._ask("cuModuleUnload", module)

    def _launched(self, module: ctypes.c_void_p, name: str, path: Subject, cases: int) -> Words:
        out, given = arrays_of(path, cases)
        shape, thing = (ctas_of(path, cases), BLOCK), None
        if isinstance(path, Scene):
            thing = path.thing(cases_of(path, cases))
        self._launch(module, name, shape, (out, given), thing)
        return out.view(np.uint64)

    def run_image(
        self,
        image: bytes,
        name: str,
        shape: tuple[int, int],
        arrays: tuple[Bytes, Bytes],
        thing: Thing | None = None,
    ) -> str:
        """Run a kernel of PTX or of a cubin; its parameters are arrays; it fills the first.

        Args:
            image: The PTX, or the cubin.
            name: The kernel's.
            shape: CTAs, and threads of one.
            arrays: The data copied to the GPU for its two parameters.
            thing: The object that the driver makes for a third parameter.

        Returns:
            Why the driver did not load it; empty if the kernel ran.

        Raises:
            GpuError: It did not finish; this driver's context is no longer usable.
        """
        module, log = self._load(image)
        if module is None:
            return log
        self._launch(module, name, shape, arrays, thing)
        self._ask("cuModuleUnload", module)
        return ""

    def _launch(
        self,
        module: ctypes.c_void_p,
        name: str,
        shape: tuple[int, int],
        arrays: tuple[NDArray[Any], NDArray[Any]],
        thing: Thing | None = None,
    ) -> None:
        function, (out, given) = ctypes.c_void_p(), arrays
        self._ask("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        left, inputs = self._copied(out), self._copied(given)
        with made(self._ask, thing, left.value, inputs.value) as more:
            taken = (left, inputs, ctypes.c_uint64(more))
            parameters = (ctypes.c_void_p * len(taken))(*map(ctypes.addressof, taken))
            grid, block = shape
            self._ask("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, parameters, None)
            self._ask("cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), left, ctypes.c_size_t(out.nbytes))
        for memory in (left, inputs):
            self._ask("cuMemFree_v2", memory)

    def _copied(self, array: NDArray[Any]) -> ctypes.c_uint64:
        memory, size = ctypes.c_uint64(), ctypes.c_size_t(array.nbytes)
        self._ask("cuMemAlloc_v2", ctypes.byref(memory), size)
        self._ask("cuMemcpyHtoD_v2", memory, array.ctypes.data_as(ctypes.c_void_p), size)
        return memory

    def _load(self, content: bytes) -> tuple[ctypes.c_void_p | None, str]:
        """A module, or the error of the driver's compiler."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(_LOG_BYTES)
        given: list[tuple[int, int | None]] = [
            (_ERROR_LOG, ctypes.addressof(log)),
            (_ERROR_LOG_BYTES, _LOG_BYTES),
            *([(_LEVEL, self._level)] if self._level is not None else []),
        ]
        names = (ctypes.c_int * len(given))(*(name for name, _ in given))
        values = (ctypes.c_void_p * len(given))(*(value for _, value in given))
        image = ctypes.create_string_buffer(content)
        status = self._cuda.cuModuleLoadDataEx(ctypes.byref(module), image, len(given), names, values)
        said = log.value.decode(errors="replace").strip()
        return (None, said or self._words(status)) if status else (module, "")

    def _newest(self) -> PtxVersion:
        for version in sorted(versions(), reverse=True):
            asked = f".version {version}\n.target sm_75\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
            module, _ = self._load(asked.encode())
            if module is not None:
                self._ask("cuModuleUnload", module)
                return version
        raise GpuError("the driver's compiler accepts no PTX version that ptxloom knows")

    def _attribute(self, which: int) -> int:
        value = ctypes.c_int()
        self._ask("cuDeviceGetAttribute", ctypes.byref(value), which, self._device)
        return value.value

    def _ask(self, name: str, *arguments: Any) -> None:
        called = getattr(self._cuda, name, None)
        if called is None:
            raise Lacking(f"the driver has no {name}")
        status = called(*arguments)
        if status:
            raise GpuError(f"{name} returned {self._words(status)}")

    def _words(self, status: int) -> str:
        name = ctypes.c_char_p()
        found = self._cuda.cuGetErrorName(status, ctypes.byref(name)) == 0 and name.value
        return f"{found.decode()} ({status})" if found else str(status)


def _library() -> Any:
    for name in _NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise GpuError("no NVIDIA driver was found (libcuda.so.1): the judge `gpu` needs a GPU")


def _target_of(capability: int) -> Target:
    """The target with the most instructions that runs on a compute capability."""
    fitting = [one for one in targets() if one.runs_on(capability)]
    if not fitting:
        raise GpuError(f"ptxloom knows no target of compute capability {capability // 10}.{capability % 10}")
    return max(fitting, key=lambda one: one.closeness)
