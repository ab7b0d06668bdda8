"""The objects that a scene's kernel needs from the host, made by the driver: tensor maps, textures, surfaces."""

from __future__ import annotations

import ctypes as ct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.conformance.scenes.things import Maps, SurfaceObject, TextureObject
from ptxloom.descriptors.tensor_types import DATA_TYPES, INTERLEAVES, L2_PROMOTIONS, OOB_FILLS, SWIZZLES
from ptxloom.machine.port.image import ADDRESS_MODES, GEOMETRIES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from numpy.typing import NDArray

    from ptxloom.conformance.scenes.things import Thing
    from ptxloom.descriptors import TensorMap

    Ask = Callable[..., None]

_FORMATS: Final = {"u1": 0x01, "u2": 0x02, "u4": 0x03, "i1": 0x08, "i2": 0x09, "i4": 0x0A, "f2": 0x10, "f4": 0x20}
_LAYERED, _SURFACE, _CUBEMAP = 1, 2, 4
_AS_INTEGER, _NORMALIZED = 1, 2
_HOST, _ARRAY = 1, 3
_ARRAYS, _MIPMAPS, _LINEARS = 0, 1, 2
_MAP_BYTES, _MAP_ALIGNMENT = 128, 64


class _Array3D(ct.Structure):
    _fields_ = [
        *((name, ct.c_size_t) for name in ("width", "height", "depth")),
        *[("format", ct.c_int), ("channels", ct.c_uint), ("flags", ct.c_uint)],
    ]


_SIDE: Final = (
    *((name, ct.c_size_t) for name in ("x", "y", "z", "lod")),
    *[("type", ct.c_int), ("host", ct.c_void_p), ("device", ct.c_uint64), ("array", ct.c_void_p)],
    *[("reserved", ct.c_void_p), ("pitch", ct.c_size_t), ("height", ct.c_size_t)],
)


class _Copy3D(ct.Structure):
    _fields_ = [
        *((f"{side}_{name}", kind) for side in ("src", "dst") for name, kind in _SIDE),
        *[("width_bytes", ct.c_size_t), ("rows", ct.c_size_t), ("slices", ct.c_size_t)],
    ]


class _Linear(ct.Structure):
    _fields_ = [("pointer", ct.c_uint64), ("format", ct.c_int), ("channels", ct.c_uint), ("size_bytes", ct.c_size_t)]


class _Choice(ct.Union):
    _fields_ = [("array", ct.c_void_p), ("linear", _Linear), ("reserved", ct.c_int * 32)]


class _Resource(ct.Structure):
    _fields_ = [("type", ct.c_int), ("of", _Choice), ("flags", ct.c_uint)]


class _Sampler(ct.Structure):
    _fields_ = [
        *[("address", ct.c_int * 3), ("filter", ct.c_int), ("flags", ct.c_uint), ("anisotropy", ct.c_uint)],
        *[("mip_filter", ct.c_int), ("bias", ct.c_float), ("least", ct.c_float), ("most", ct.c_float)],
        *[("border", ct.c_float * 4), ("reserved", ct.c_int * 12)],
    ]


@contextmanager
def made(ask: Ask, thing: Thing | None, out: int, given: int) -> Generator[int]:
    """The third argument of a scene's kernel, which exists within this context.

    Args:
        ask: Calls a function of the driver, and raises an error if that fails.
        thing: The object to make.
        out: The address of `out` on the GPU.
        given: The address of `in` on the GPU.
    """
    objects = _Objects(ask)
    try:
        match thing:
            case Maps(maps, written):
                yield objects.uploaded(np.stack([encoded(ask, one, out if written else given) for one in maps]))
            case TextureObject(geometry, levels, sampling):
                yield objects.texture(geometry, levels, sampling)
            case SurfaceObject(geometry, array):
                yield objects.surface(geometry, array)
            case None:
                yield 0
    finally:
        objects.free()


def encoded(ask: Ask, one: TensorMap, base: int) -> NDArray[np.uint8]:
    """The 128 bytes of a map by the driver, with its address relative to a base."""
    room = np.zeros(_MAP_BYTES + _MAP_ALIGNMENT, np.uint8)
    place = room[-room.ctypes.data % _MAP_ALIGNMENT :][:_MAP_BYTES]
    kind = list(DATA_TYPES).index(one.data_type)
    head: list[Any] = [ct.c_void_p(place.ctypes.data), kind, ct.c_uint(one.rank)]
    head += [ct.c_void_p(base + one.global_address), _numbers(ct.c_uint64, one.global_dim)]
    head.append(_numbers(ct.c_uint64, one.global_strides or (0,)))
    steps = _numbers(ct.c_uint32, one.element_strides)
    tail = [
        *(list(INTERLEAVES).index(one.interleave), SWIZZLES.index(one.swizzle)),
        *(L2_PROMOTIONS.index(one.l2_promotion), OOB_FILLS.index(one.oob_fill)),
    ]
    if one.im2col is None:
        ask("cuTensorMapEncodeTiled", *head, _numbers(ct.c_uint32, one.box_dim), steps, *tail)
    else:
        corners = (one.im2col.pixel_box_lower_corner, one.im2col.pixel_box_upper_corner)
        sizes = (ct.c_uint(one.im2col.channels_per_pixel), ct.c_uint(one.im2col.pixels_per_column))
        low, high = (_numbers(ct.c_int, corner) for corner in corners)
        ask("cuTensorMapEncodeIm2col", *head, low, high, *sizes, steps, *tail)
    return place.copy()


def _numbers(kind: Any, numbers: Sequence[int]) -> Any:
    return (kind * len(numbers))(*numbers)


class _Objects:
    """Objects, and their memory."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.kept: list[tuple[str, Any]] = []

    def free(self) -> None:
        """Free everything, the newest first."""
        for name, handle in reversed(self.kept):
            self.ask(name, handle)

    def uploaded(self, data: NDArray[Any]) -> int:
        """Copy data to the GPU; returns the address."""
        pointer, size = ct.c_uint64(), ct.c_size_t(data.nbytes)
        self.ask("cuMemAlloc_v2", ct.byref(pointer), size)
        self.kept.append(("cuMemFree_v2", pointer))
        self.ask("cuMemcpyHtoD_v2", pointer, ct.c_void_p(np.ascontiguousarray(data).ctypes.data), size)
        return pointer.value

    def texture(self, geometry: str, levels: Sequence[NDArray[Any]], sampling: dict[str, Any]) -> int:
        """A texture object."""
        resource = _Resource()
        if geometry == "linear":
            about = _description(levels[0], geometry)
            resource.type = _LINEARS
            resource.of.linear = _Linear(self.uploaded(levels[0]), about.format, about.channels, levels[0].nbytes)
        elif len(levels) > 1:
            resource.type = _MIPMAPS
            resource.of.array = self._mipmap(levels, geometry).value
        else:
            resource.of.array = self._array(levels[0], geometry).value
        as_integer = sampling.get("read_mode", "element_type") == "element_type"
        sampler = _Sampler(
            address=(ct.c_int * 3)(*[ADDRESS_MODES.index(sampling["address_mode"])] * 3),
            filter=int(sampling["filter_mode"] == "linear"),
            flags=_AS_INTEGER * as_integer | _NORMALIZED * bool(sampling["normalized_coords"]),
            mip_filter=int(sampling.get("mipmap_filter_mode") == "linear"),
            most=len(levels) - 1.0,
            border=(ct.c_float * 4)(*sampling["border_color"]),
        )
        handle = ct.c_uint64()
        self.ask("cuTexObjectCreate", ct.byref(handle), ct.byref(resource), ct.byref(sampler), None)
        self.kept.append(("cuTexObjectDestroy", handle))
        return handle.value

    def surface(self, geometry: str, array: NDArray[Any]) -> int:
        """A surface object."""
        resource, handle = _Resource(), ct.c_uint64()
        resource.of.array = self._array(array, geometry).value
        self.ask("cuSurfObjectCreate", ct.byref(handle), ct.byref(resource))
        self.kept.append(("cuSurfObjectDestroy", handle))
        return handle.value

    def _array(self, data: NDArray[Any], geometry: str) -> ct.c_void_p:
        array = ct.c_void_p()
        self.ask("cuArray3DCreate_v2", ct.byref(array), ct.byref(_description(data, geometry)))
        self.kept.append(("cuArrayDestroy", array))
        self._fill(array, data, geometry)
        return array

    def _mipmap(self, levels: Sequence[NDArray[Any]], geometry: str) -> ct.c_void_p:
        array = ct.c_void_p()
        about = _description(levels[0], geometry)
        self.ask("cuMipmappedArrayCreate", ct.byref(array), ct.byref(about), ct.c_uint(len(levels)))
        self.kept.append(("cuMipmappedArrayDestroy", array))
        for number, level in enumerate(levels):
            one = ct.c_void_p()
            self.ask("cuMipmappedArrayGetLevel", ct.byref(one), array, ct.c_uint(number))
            self._fill(one, level, geometry)
        return array

    def _fill(self, array: ct.c_void_p, data: NDArray[Any], geometry: str) -> None:
        about, whole = _description(data, geometry), np.ascontiguousarray(data)
        row = about.width * about.channels * data.itemsize
        copy = _Copy3D(
            src_type=_HOST,
            src_host=whole.ctypes.data,
            src_pitch=row,
            src_height=max(about.height, 1),
            dst_type=_ARRAY,
            dst_array=array,
            width_bytes=row,
            rows=max(about.height, 1),
            slices=max(about.depth, 1),
        )
        self.ask("cuMemcpy3D_v2", ct.byref(copy))


def _description(data: NDArray[Any], geometry: str) -> _Array3D:
    shape = data.shape[: GEOMETRIES[geometry].dimensions]
    channels = data.shape[-1] if data.ndim > len(shape) else 1
    cube = geometry.endswith("cube")
    height = shape[-2] if geometry in {"2d", "3d", "a2d"} or cube else 0
    depth = shape[0] if geometry in {"3d", "a1d", "a2d"} or cube else 0
    flags = _LAYERED * (geometry[0] == "a") | _CUBEMAP * cube | _SURFACE * (geometry != "linear")
    return _Array3D(shape[-1], height, depth, _FORMATS[data.dtype.str[1:]], channels, flags)
