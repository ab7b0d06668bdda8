"""What the questions about arrays need of a CUDA driver, whichever it is: structures, a context, kernels, answers."""

from __future__ import annotations

import ctypes as ct
import json
import sys
import zlib
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

LAYERED, SURFACE, CUBE, GATHER, DEPTH, COLOR, SPARSE, DEFERRED, VIDEO = (1 << n for n in range(9))
U8, U16, U32, S8, S16, S32, F16, F32 = 0x01, 0x02, 0x03, 0x08, 0x09, 0x0A, 0x10, 0x20
SIZES: Final = {U8: 1, U16: 2, U32: 4, S8: 1, S16: 2, S32: 4, F16: 2, F32: 4}
HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4
WHOLE: Final = "--whole" in sys.argv  # whether all words of results are shown
_SHOWN: Final = 8
AS_INTEGER, NORMALIZED, SRGB = 1, 2, 0x10


class Structure(ct.Structure):
    """A structure whose members are given in order."""

    def told(self) -> list[Any]:
        """What it holds, without what is reserved and without pointers."""
        found: list[Any] = []
        for name, *_ in self._fields_:
            value = getattr(self, name)
            if name in {"reserved", "host", "address"} or isinstance(value, (ct.Union, Structure)):
                continue
            found.append(list(cast("ct.Array[ct.c_int]", value)) if isinstance(value, ct.Array) else value)
        return found


class Array2D(Structure):
    """`CUDA_ARRAY_DESCRIPTOR`."""

    _fields_ = (("width", ct.c_size_t), ("height", ct.c_size_t), ("format", ct.c_int), ("channels", ct.c_uint))


class Array3D(Structure):
    """`CUDA_ARRAY3D_DESCRIPTOR`."""

    _fields_ = (
        *(("width", ct.c_size_t), ("height", ct.c_size_t), ("depth", ct.c_size_t)),
        *(("format", ct.c_int), ("channels", ct.c_uint), ("flags", ct.c_uint)),
    )


class Requirements(Structure):
    """`CUDA_ARRAY_MEMORY_REQUIREMENTS`."""

    _fields_ = (("size", ct.c_size_t), ("alignment", ct.c_size_t), ("reserved", ct.c_uint * 4))


class SparseProperties(Structure):
    """`CUDA_ARRAY_SPARSE_PROPERTIES`."""

    _fields_ = (
        *(("tile", ct.c_uint * 3), ("first", ct.c_uint)),
        *(("size", ct.c_ulonglong), ("flags", ct.c_uint), ("reserved", ct.c_uint * 4)),
    )


def _side(name: str, *, deep: bool) -> tuple[tuple[str, Any], ...]:
    place = (("x", ct.c_size_t), ("y", ct.c_size_t), *((("z", ct.c_size_t), ("lod", ct.c_size_t)) if deep else ()))
    memory = (("type", ct.c_int), ("host", ct.c_void_p), ("device", ct.c_uint64), ("array", ct.c_void_p))
    last = (
        (("reserved", ct.c_void_p), ("pitch", ct.c_size_t), ("height", ct.c_size_t))
        if deep
        else (("pitch", ct.c_size_t),)
    )
    return tuple((f"{name}_{one}", kind) for one, kind in (*place, *memory, *last))


class Copy2D(Structure):
    """`CUDA_MEMCPY2D`."""

    _fields_ = (*_side("src", deep=False), *_side("dst", deep=False), ("width", ct.c_size_t), ("rows", ct.c_size_t))


class Copy3D(Structure):
    """`CUDA_MEMCPY3D`."""

    _fields_ = (
        *_side("src", deep=True),
        *_side("dst", deep=True),
        *(("width", ct.c_size_t), ("rows", ct.c_size_t), ("slices", ct.c_size_t)),
    )


class Memory(Structure):
    """The linear or pitched memory of a resource; linear memory has its size as its width."""

    _fields_ = (
        *(("address", ct.c_uint64), ("format", ct.c_int), ("channels", ct.c_uint)),
        *(("width", ct.c_size_t), ("height", ct.c_size_t), ("pitch", ct.c_size_t)),
    )


class Choice(ct.Union):
    """What a resource is."""

    _fields_ = (("array", ct.c_void_p), ("memory", Memory), ("reserved", ct.c_int * 32))


class Resource(Structure):
    """`CUDA_RESOURCE_DESC`."""

    _fields_ = (("type", ct.c_int), ("of", Choice), ("flags", ct.c_uint))


class Sampler(Structure):
    """`CUDA_TEXTURE_DESC`."""

    _fields_ = (
        *(("modes", ct.c_int * 3), ("filter", ct.c_int), ("flags", ct.c_uint), ("anisotropy", ct.c_uint)),
        *(("mip_filter", ct.c_int), ("bias", ct.c_float), ("least", ct.c_float), ("most", ct.c_float)),
        *(("border", ct.c_float * 4), ("reserved", ct.c_int * 12)),
    )


class View(Structure):
    """`CUDA_RESOURCE_VIEW_DESC`."""

    _fields_ = (
        *(("format", ct.c_int), ("width", ct.c_size_t), ("height", ct.c_size_t), ("depth", ct.c_size_t)),
        *(("first_level", ct.c_uint), ("last_level", ct.c_uint)),
        *(("first_layer", ct.c_uint), ("last_layer", ct.c_uint), ("reserved", ct.c_uint * 16)),
    )


LIBRARY: Final = ct.CDLL("libcuda.so.1")


def ask(name: str, *arguments: Any) -> int:
    """What a function answers; -1 if the driver has none of that name."""
    try:
        function = getattr(LIBRARY, name)
    except AttributeError:
        return -1
    return int(function(*arguments))


def must(name: str, *arguments: Any) -> None:
    """Call a function that has to answer 0.

    Raises:
        RuntimeError: It does not.
    """
    status = ask(name, *arguments)
    if status:
        raise RuntimeError(f"{name}: {status}")


def tell(question: str, *answer: Any) -> None:
    """Print what was asked and what was answered."""
    shown = answer if WHOLE else [brief(one) for one in answer]
    sys.stdout.write(json.dumps([question, *shown]) + "\n")
    sys.stdout.flush()


def brief(value: object) -> object:
    """A long list of words as its first ones and a sum of all."""
    words = cast("list[Any]", value) if isinstance(value, list) else []
    if len(words) <= 2 * _SHOWN or not all(isinstance(one, int) for one in words):
        return cast("object", value)
    return [*words[:_SHOWN], sum_of(b"".join(one.to_bytes(8, "little") for one in words))]


def begin() -> str:
    """Make a context current; says what the device is."""
    context, name, version = ct.c_void_p(), ct.create_string_buffer(100), ct.c_int()
    must("cuInit", 0)
    must("cuDevicePrimaryCtxRetain", ct.byref(context), 0)
    must("cuCtxSetCurrent", context)
    must("cuDeviceGetName", name, 100, 0)
    must("cuDriverGetVersion", ct.byref(version))
    return f"{name.value.decode()}, driver {version.value}"


def array(
    width: int, height: int = 0, depth: int = 0, *, of: int = U32, channels: int = 1, flags: int = 0
) -> tuple[int, ct.c_void_p]:
    """A new array, or the error against it."""
    made = ct.c_void_p()
    return ask("cuArray3DCreate_v2", ct.byref(made), ct.byref(Array3D(width, height, depth, of, channels, flags))), made


def made_array(*shape: int, of: int = U32, channels: int = 1, flags: int = 0) -> ct.c_void_p:
    """A new array, which there has to be."""
    width, height, depth = (*shape, 0, 0)[:3]
    status, made = array(width, height, depth, of=of, channels=channels, flags=flags)
    if status:
        raise RuntimeError(f"cuArray3DCreate_v2: {status}")
    return made


def description(of: ct.c_void_p) -> list[Any]:
    """The answer on an array: an error, or what it is."""
    found = Array3D()
    status = ask("cuArray3DGetDescriptor_v2", ct.byref(found), of)
    return [status] if status else found.told()


def pattern(size: int, seed: int = 0) -> ct.Array[ct.c_char]:
    """Bytes that differ."""
    return ct.create_string_buffer(bytes((7 * n + 31 * (n >> 8) + 13 * seed + 3) & 255 for n in range(size)), size)


def allocate(size: int, data: bytes | ct.Array[Any] | None = None) -> int:
    """Memory of the device."""
    made = ct.c_uint64()
    must("cuMemAlloc_v2", ct.byref(made), ct.c_size_t(size))
    must("cuMemsetD8_v2", made, 0, ct.c_size_t(size))
    if data is not None:
        must("cuMemcpyHtoD_v2", made, data, ct.c_size_t(len(data)))
    return int(made.value)


def downloaded(address: int, size: int) -> bytes:
    """What lies in the device's memory."""
    found = ct.create_string_buffer(size)
    must("cuMemcpyDtoH_v2", found, ct.c_uint64(address), ct.c_size_t(size))
    return found.raw


def box(of: ct.c_void_p) -> tuple[int, int, int]:
    """An array's rows in bytes, and how many rows and slices there are."""
    about = Array3D()
    must("cuArray3DGetDescriptor_v2", ct.byref(about), of)
    return about.width * about.channels * SIZES[about.format], max(about.height, 1), max(about.depth, 1)


def write(to: ct.c_void_p, data: bytes | ct.Array[Any]) -> None:
    """Fill an array."""
    width, rows, slices = box(to)
    held = ct.create_string_buffer(bytes(data), width * rows * slices)
    copy = Copy3D(
        src_type=HOST, src_host=ct.addressof(held), src_pitch=width, src_height=rows, dst_type=ARRAY, dst_array=to,
        width=width, rows=rows, slices=slices,
    )  # fmt: skip
    must("cuMemcpy3D_v2", ct.byref(copy))


def read(of: ct.c_void_p) -> bytes:
    """What an array holds."""
    width, rows, slices = box(of)
    held = ct.create_string_buffer(width * rows * slices)
    copy = Copy3D(
        dst_type=HOST, dst_host=ct.addressof(held), dst_pitch=width, dst_height=rows, src_type=ARRAY, src_array=of,
        width=width, rows=rows, slices=slices,
    )  # fmt: skip
    must("cuMemcpy3D_v2", ct.byref(copy))
    return held.raw


def sum_of(data: bytes) -> int:
    """A number for bytes."""
    return zlib.crc32(data)


def resource_of(of: ct.c_void_p, kind: int = 0) -> Resource:
    """An array as a resource."""
    made = Resource(type=kind)
    made.of.array = of.value
    return made


def texture(resource: Resource, sampler: Sampler, view: View | None = None) -> tuple[int, int]:
    """A texture object, or the error against it."""
    made = ct.c_uint64()
    status = ask(
        "cuTexObjectCreate",
        ct.byref(made),
        ct.byref(resource),
        ct.byref(sampler),
        None if view is None else ct.byref(view),
    )
    return status, int(made.value)


HEAD: Final = """.version 7.8
.target sm_80
.address_size 64
"""
_KERNEL: Final = """.visible .entry k(.param .u64 object, .param .u64 words, .param .u64 results, .param .u32 count)
{
    .reg .b64 t, a, r; .reg .b32 i, n, c0, c1, c2, c3, o0, o1, o2, o3; .reg .pred p; .reg .b16 h0, h1;
    ld.param.u64 t, [object]; ld.param.u64 a, [words]; ld.param.u64 r, [results]; ld.param.u32 n, [count];
    mov.u32 i, %tid.x; setp.ge.u32 p, i, n; @p ret;
    mad.wide.u32 a, i, 16, a; mad.wide.u32 r, i, 16, r;
    ld.global.v4.b32 {c0, c1, c2, c3}, [a];
    mov.b32 o0, 0; mov.b32 o1, 0; mov.b32 o2, 0; mov.b32 o3, 0;
    BODY
    st.global.v4.b32 [r], {o0, o1, o2, o3};
    ret;
}
"""


def module(body: str, before: str = "") -> ct.c_void_p:
    """A module whose kernel runs `body` for four words of each thread."""
    made = ct.c_void_p()
    text = HEAD + before + _KERNEL.replace("BODY", body)
    must("cuModuleLoadData", ct.byref(made), ct.c_char_p(text.encode()))
    return made


def run(of: ct.c_void_p, handle: int, words: Sequence[Sequence[int]]) -> list[Any]:
    """What the kernel of a module gives for an object and places: an error, or four words a thread."""
    kernel = ct.c_void_p()
    must("cuModuleGetFunction", ct.byref(kernel), of, b"k")
    flat = (ct.c_uint32 * (4 * len(words)))(*(number for place in words for number in (*place, 0, 0, 0, 0)[:4]))
    given, taken = allocate(ct.sizeof(flat), bytes(flat)), allocate(ct.sizeof(flat))
    values = [ct.c_uint64(handle), ct.c_uint64(given), ct.c_uint64(taken), ct.c_uint32(len(words))]
    pointers = (ct.c_void_p * 4)(*(ct.addressof(value) for value in values))
    threads = -(-len(words) // 32) * 32
    status = ask("cuLaunchKernel", kernel, 1, 1, 1, threads, 1, 1, 0, None, pointers, None) or ask("cuCtxSynchronize")
    if status:
        return [status]
    found = (ct.c_uint32 * len(flat)).from_buffer_copy(downloaded(taken, ct.sizeof(flat)))
    for address in (given, taken):
        must("cuMemFree_v2", ct.c_uint64(address))
    return list(found)


def float_bits(value: float) -> int:
    """A number as the bits of an f32."""
    return int.from_bytes(bytes(ct.c_float(value)), "little")
