"""What the recorder of textures needs of the CUDA driver, through ctypes: arrays of every geometry, objects, launch."""

from __future__ import annotations

import ctypes as ct
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FORMATS: Final = {"u1": 0x01, "u2": 0x02, "u4": 0x03, "i1": 0x08, "i2": 0x09, "i4": 0x0A, "f2": 0x10, "f4": 0x20}
_DIMENSIONS: Final = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 3, "linear": 1}
_LAYERED, _SURFACE, _CUBEMAP = 1, 2, 4
_MODES: Final = ("wrap", "clamp", "mirror", "border")
_AS_INTEGER, _NORMALIZED = 1, 2
_HOST, _ARRAY = 1, 3


class _Array3D(ct.Structure):
    _fields_ = [
        ("width", ct.c_size_t),
        ("height", ct.c_size_t),
        ("depth", ct.c_size_t),
        ("format", ct.c_int),
        ("channels", ct.c_uint),
        ("flags", ct.c_uint),
    ]


_SIDE: Final = (
    ("x", ct.c_size_t),
    ("y", ct.c_size_t),
    ("z", ct.c_size_t),
    ("lod", ct.c_size_t),
    ("type", ct.c_int),
    ("host", ct.c_void_p),
    ("device", ct.c_uint64),
    ("array", ct.c_void_p),
    ("reserved", ct.c_void_p),
    ("pitch", ct.c_size_t),
    ("height", ct.c_size_t),
)


class _Copy3D(ct.Structure):
    _fields_ = [
        *((f"{side}_{name}", kind) for side in ("src", "dst") for name, kind in _SIDE),
        ("width_bytes", ct.c_size_t),
        ("rows", ct.c_size_t),
        ("slices", ct.c_size_t),
    ]


class _Linear(ct.Structure):
    _fields_ = [
        ("pointer", ct.c_uint64),
        ("format", ct.c_int),
        ("channels", ct.c_uint),
        ("size_bytes", ct.c_size_t),
    ]


class _Choice(ct.Union):
    _fields_ = [("array", ct.c_void_p), ("linear", _Linear), ("reserved", ct.c_int * 32)]


class _Resource(ct.Structure):
    _fields_ = [("type", ct.c_int), ("of", _Choice), ("flags", ct.c_uint)]


class _Sampler(ct.Structure):
    _fields_ = [
        ("address", ct.c_int * 3),
        ("filter", ct.c_int),
        ("flags", ct.c_uint),
        ("anisotropy", ct.c_uint),
        ("mip_filter", ct.c_int),
        ("bias", ct.c_float),
        ("least", ct.c_float),
        ("most", ct.c_float),
        ("border", ct.c_float * 4),
        ("reserved", ct.c_int * 12),
    ]


class Driver:
    """The driver, with a context of its own on the first device."""

    def __init__(self) -> None:
        self.library = ct.CDLL("libcuda.so.1")
        device, context, version = ct.c_int(), ct.c_void_p(), ct.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ct.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ct.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ct.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        self.call("cuDriverGetVersion", ct.byref(version))
        self.about = f"{name.value.decode()}, driver {version.value}"

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver.

        Raises:
            RuntimeError: It gives an error.
        """
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ct.c_char_p()
            self.library.cuGetErrorName(status, ct.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

    def function(self, ptx: str) -> ct.c_void_p:
        """The kernel `k` of a module, assembled by ptxas."""
        with tempfile.TemporaryDirectory() as scratch:
            source, cubin = Path(scratch) / "case.ptx", Path(scratch) / "case.cubin"
            source.write_text(ptx)
            subprocess.run(["ptxas", "-arch=sm_90", "-o", str(cubin), str(source)], check=True)
            image = cubin.read_bytes()
        module, function = ct.c_void_p(), ct.c_void_p()
        self.call("cuModuleLoadData", ct.byref(module), image)
        self.call("cuModuleGetFunction", ct.byref(function), module, b"k")
        return function

    def upload(self, data: NDArray[Any]) -> int:
        """The device's address of a copy."""
        pointer = ct.c_uint64()
        self.call("cuMemAlloc_v2", ct.byref(pointer), ct.c_size_t(data.nbytes))
        self.call("cuMemcpyHtoD_v2", pointer, ct.c_void_p(data.ctypes.data), ct.c_size_t(data.nbytes))
        return pointer.value

    def run(self, ptx: str, handle: int, words: NDArray[np.uint32], threads: int) -> NDArray[np.uint32]:
        """Run a kernel of (object, places, results, count); gives the results."""
        results = np.zeros((len(words), 4), np.uint32)
        given, taken = self.upload(np.ascontiguousarray(words)), self.upload(results)
        boxes = [ct.c_uint64(handle), ct.c_uint64(given), ct.c_uint64(taken), ct.c_uint32(len(words))]
        pointers = (ct.c_void_p * 4)(*(ct.cast(ct.byref(box), ct.c_void_p) for box in boxes))
        grid = -(-len(words) // threads)
        self.call("cuLaunchKernel", self.function(ptx), grid, 1, 1, threads, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", ct.c_void_p(results.ctypes.data), ct.c_uint64(taken), ct.c_size_t(results.nbytes))
        return results

    def texture(self, levels: Sequence[NDArray[Any]], geometry: str, sampling: dict[str, Any]) -> int:
        """A texture object; `sampling` is what `pl.texture` takes."""
        resource = _Resource()
        if geometry == "linear":
            description = self._description(levels[0], geometry)
            resource.type = 2
            resource.of.linear = _Linear(
                self.upload(levels[0]), description.format, description.channels, levels[0].nbytes
            )
        elif len(levels) > 1:
            resource.type = 1
            resource.of.array = self._mipmap(levels, geometry).value
        else:
            resource.of.array = self.array(levels[0], geometry).value
        mode = sampling.get("address_mode", "wrap")
        as_integer = sampling.get("read_mode", "element_type") == "element_type"
        sampler = _Sampler(
            address=(ct.c_int * 3)(*[_MODES.index(mode)] * 3),
            filter=int(sampling.get("filter_mode") == "linear"),
            flags=_AS_INTEGER * as_integer | _NORMALIZED * bool(sampling.get("normalized_coords")),
            mip_filter=int(sampling.get("mipmap_filter_mode") == "linear"),
            bias=sampling.get("mipmap_level_bias", 0.0),
            least=sampling.get("min_mipmap_level_clamp", 0.0),
            most=sampling.get("max_mipmap_level_clamp", len(levels) - 1.0),
            border=(ct.c_float * 4)(*sampling.get("border_color", (0, 0, 0, 0))),
        )
        handle = ct.c_uint64()
        self.call("cuTexObjectCreate", ct.byref(handle), ct.byref(resource), ct.byref(sampler), None)
        return handle.value

    def surface(self, array: ct.c_void_p) -> int:
        """A surface object."""
        resource, handle = _Resource(), ct.c_uint64()
        resource.of.array = array.value
        self.call("cuSurfObjectCreate", ct.byref(handle), ct.byref(resource))
        return handle.value

    def array(self, data: NDArray[Any], geometry: str) -> ct.c_void_p:
        """A CUDA array with a copy of the data."""
        array = ct.c_void_p()
        self.call("cuArray3DCreate_v2", ct.byref(array), ct.byref(self._description(data, geometry)))
        self._copy(array, data, geometry, to_array=True)
        return array

    def read(self, array: ct.c_void_p, like: NDArray[Any], geometry: str) -> NDArray[Any]:
        """What a CUDA array holds."""
        found = np.empty_like(like)
        self._copy(array, found, geometry, to_array=False)
        return found

    def _mipmap(self, levels: Sequence[NDArray[Any]], geometry: str) -> ct.c_void_p:
        array = ct.c_void_p()
        description = self._description(levels[0], geometry)
        self.call("cuMipmappedArrayCreate", ct.byref(array), ct.byref(description), ct.c_uint(len(levels)))
        for number, level in enumerate(levels):
            one = ct.c_void_p()
            self.call("cuMipmappedArrayGetLevel", ct.byref(one), array, ct.c_uint(number))
            self._copy(one, level, geometry, to_array=True)
        return array

    @staticmethod
    def _description(data: NDArray[Any], geometry: str) -> _Array3D:
        shape = data.shape[: _DIMENSIONS[geometry]]
        channels = data.shape[-1] if data.ndim > len(shape) else 1
        is_cube = geometry.endswith("cube")
        height = shape[-2] if geometry in {"2d", "3d", "a2d"} or is_cube else 0
        depth = shape[0] if geometry in {"3d", "a1d", "a2d"} or is_cube else 0
        flags = _LAYERED * (geometry[0] == "a") | _CUBEMAP * is_cube | _SURFACE * (geometry != "linear")
        return _Array3D(shape[-1], height, depth, FORMATS[data.dtype.str[1:]], channels, flags)

    def _copy(self, array: ct.c_void_p, data: NDArray[Any], geometry: str, *, to_array: bool) -> None:
        about = self._description(data, geometry)
        host, there = ("src", "dst") if to_array else ("dst", "src")
        row_bytes = about.width * about.channels * data.itemsize
        facts = {
            f"{host}_type": _HOST,
            f"{host}_host": data.ctypes.data,
            f"{host}_pitch": row_bytes,
            f"{host}_height": max(about.height, 1),
            f"{there}_type": _ARRAY,
            f"{there}_array": array,
            "width_bytes": row_bytes,
            "rows": max(about.height, 1),
            "slices": max(about.depth, 1),
        }
        self.call("cuMemcpy3D_v2", ct.byref(_Copy3D(**facts)))
