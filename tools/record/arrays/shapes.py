"""Which arrays there are: sizes, formats, flags, levels, and the answers on them."""

from __future__ import annotations

import ctypes as ct
from typing import TYPE_CHECKING

from calls import (
    CUBE,
    DEFERRED,
    F32,
    GATHER,
    LAYERED,
    SPARSE,
    SURFACE,
    U8,
    U32,
    Array2D,
    Array3D,
    Requirements,
    SparseProperties,
    array,
    ask,
    description,
    made_array,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_ATTRIBUTES = (14, *range(21, 31), *range(42, 75), 77)
_SHAPES = (
    *((0, 0, 0), (16, 0, 0), (16, 8, 0), (16, 8, 4), (16, 0, 4), (0, 8, 0), (0, 8, 4), (0, 0, 4)),
    *((8, 8, 6), (8, 8, 12), (8, 8, 5), (8, 4, 6), (8, 8, 0), (1, 1, 1), (8, 0, 6)),
)
_FLAGS = (
    *range(16), 0x10, 0x12, 0x20, 0x22, SPARSE, DEFERRED, SPARSE | DEFERRED, SPARSE | LAYERED, DEFERRED | SURFACE,
    DEFERRED | LAYERED, 0x200, 0x8000_0000,
)  # fmt: skip
_LIMITS = {
    0: (
        *((131072, 0, 0), (131073, 0, 0), (131072, 1, 0), (131073, 1, 0), (1, 65536, 0), (1, 65537, 0), (1, 131073, 0)),
        *((16384, 1, 1), (16385, 1, 1), (1, 16384, 1), (1, 16385, 1), (1, 1, 16384), (1, 1, 16385), (1, 1, 32768)),
        *((1, 1, 32769), (8192, 1, 16385), (8193, 1, 16385), (1, 8193, 16385), (16385, 1, 16385)),
        *((1 << 31, 0, 0), (1 << 32, 0, 0), (1 << 40, 1 << 40, 0), ((1 << 64) - 1, 0, 0), (1, (1 << 64) - 1, 0)),
        ((1 << 64) - 1, (1 << 64) - 1, (1 << 64) - 1),
    ),
    LAYERED: (
        *((32768, 0, 1), (32769, 0, 1), (1, 0, 2048), (1, 0, 2049), (32768, 1, 1), (32769, 1, 1), (1, 32768, 1)),
        *((1, 32769, 1), (1, 1, 2048), (1, 1, 2049)),
    ),
    SURFACE: (
        *((32768, 0, 0), (32769, 0, 0), (65536, 0, 0), (131072, 0, 0), (131072, 1, 0), (131073, 1, 0), (1, 65536, 0)),
        *((1, 65537, 0), (16384, 1, 1), (16385, 1, 1), (1, 32768, 1), (1, 1, 16384), (1, 1, 16385), (1, 1, 32768)),
    ),
    SURFACE | LAYERED: ((32768, 0, 1), (32769, 0, 1), (1, 0, 2048), (1, 0, 2049), (32768, 1, 1), (1, 1, 2049)),
    GATHER: ((32768, 1, 0), (32769, 1, 0), (1, 32768, 0), (1, 32769, 0), (16, 0, 0), (8, 8, 8)),
    CUBE | LAYERED: ((4, 4, 2046), (4, 4, 2052), (4, 4, 2047)),
}


def ask_all() -> None:
    """Every question."""
    _attributes()
    _created()
    _formats()
    _flat()
    _mipmaps()
    _requirements()


def _attributes() -> None:
    value, width = ct.c_int(), ct.c_size_t()
    for number in _ATTRIBUTES:
        tell(f"attribute {number}", ask("cuDeviceGetAttribute", ct.byref(value), number, 0), value.value)
    name = "cuDeviceGetTexture1DLinearMaxWidth"
    for of in (0, 1, 2, 3, 8, 0x0A, 0x10, 0x20, 0xC0, 0x91):
        for channels in range(6):
            width.value = 0
            tell(f"linear width {of:#x} {channels}", ask(name, ct.byref(width), of, channels, 0), width.value)
    tell("linear width of no device", ask(name, ct.byref(width), 1, 1, 99))
    tell("linear width for nobody", ask(name, None, 1, 1, 0))


def _told(question: str, shape: Sequence[int], *, of: int, channels: int, flags: int) -> None:
    status, made = array(*shape, of=of, channels=channels, flags=flags)
    if status:
        tell(question, status)
        return
    tell(question, status, *description(made), ask("cuArrayDestroy", made))


def _created() -> None:
    for flags in _FLAGS:
        for shape in _SHAPES:
            _told(f"array {shape} flags {flags:#x}", shape, of=U32, channels=1, flags=flags)
    for flags, shapes in _LIMITS.items():
        for shape in shapes:
            _told(f"limit {shape} flags {flags:#x}", shape, of=U8, channels=1, flags=flags)
    _told("array larger than the device", (131072, 65536, 0), of=F32, channels=4, flags=0)
    made = ct.c_void_p()
    about = Array3D(16, 8, 0, U32, 1, 0)
    tell("array for nobody", ask("cuArray3DCreate_v2", None, ct.byref(about)))
    tell("array of nothing", ask("cuArray3DCreate_v2", ct.byref(made), None))
    there = made_array(16, 8)
    tell("description for nobody", ask("cuArray3DGetDescriptor_v2", None, there))
    tell("description of no array", ask("cuArray3DGetDescriptor_v2", ct.byref(about), None))
    tell("destroy no array", ask("cuArrayDestroy", None))


def _formats() -> None:
    for of in (*range(0x24), *range(0x40, 0x60), *range(0x90, 0xD4), 0x7FFFFFFF):
        statuses: list[object] = []
        for channels in (0, 1, 2, 3, 4, 5, 16):
            status, made = array(16, 8, of=of, channels=channels)
            statuses.append(status)
            if not status:
                statuses.append(description(made)[3:5])
                ask("cuArrayDestroy", made)
        tell(f"format {of:#x}", *statuses)


def _flat() -> None:
    for width, height, of, channels in (
        *(
            (16, 8, U32, 1),
            (16, 0, U32, 1),
            (0, 0, U32, 1),
            (0, 8, U32, 1),
            (16, 8, U8, 4),
            (16, 8, U8, 3),
            (16, 8, 0, 1),
        ),
        *((131072, 1, U8, 1), (131073, 1, U8, 1), (131073, 0, U8, 1), (1, 65537, U8, 1), (1 << 40, 1 << 40, U8, 1)),
    ):
        made, found = ct.c_void_p(), Array2D()
        question = f"flat array {width} {height} {of:#x} {channels}"
        status = ask("cuArrayCreate_v2", ct.byref(made), ct.byref(Array2D(width, height, of, channels)))
        if status:
            tell(question, status)
            continue
        got = ask("cuArrayGetDescriptor_v2", ct.byref(found), made)
        tell(question, status, got, found.told(), description(made))
    found = Array2D()
    for shape, flags in (
        ((8, 4, 3), 0),
        ((8, 0, 3), LAYERED),
        ((8, 4, 3), LAYERED),
        ((8, 8, 6), CUBE),
        ((8, 4), SURFACE),
    ):
        made = made_array(*shape, flags=flags)
        found = Array2D()
        tell(
            f"flat description of {shape} {flags}", ask("cuArrayGetDescriptor_v2", ct.byref(found), made), found.told()
        )
    tell("flat array for nobody", ask("cuArrayCreate_v2", None, ct.byref(found)))
    tell("flat array of nothing", ask("cuArrayCreate_v2", ct.byref(ct.c_void_p()), None))
    tell("flat description of no array", ask("cuArrayGetDescriptor_v2", ct.byref(found), None))


_MIPMAPS = (
    *((64, 0, 0, 0), (64, 32, 0, 0), (5, 3, 0, 0), (16, 8, 4, 0), (64, 0, 3, LAYERED), (64, 16, 3, LAYERED)),
    *((16, 16, 6, CUBE), (16, 16, 12, CUBE | LAYERED), (64, 32, 0, SURFACE), (64, 32, 0, GATHER), (0, 0, 0, 0)),
    *((64, 32, 0, SPARSE), (64, 32, 0, DEFERRED), (8, 4, 6, CUBE), (1, 1, 0, 0)),
    *((32768, 0, 0, 0), (32769, 0, 0, 0), (16384, 1, 0, 0), (32768, 1, 0, 0), (32769, 1, 0, 0), (1, 32769, 0, 0)),
)


def _mipmaps() -> None:
    for width, height, depth, flags in _MIPMAPS:
        for count in (0, 1, 3, 4, 7, 8, 40):
            made, level = ct.c_void_p(), ct.c_void_p()
            question = f"mipmap {width} {height} {depth} {flags:#x} of {count}"
            about = Array3D(width, height, depth, U8, 1, flags)
            status = ask("cuMipmappedArrayCreate", ct.byref(made), ct.byref(about), count)
            if status:
                tell(question, status)
                continue
            levels: list[object] = []
            for number in range(20):
                status = ask("cuMipmappedArrayGetLevel", ct.byref(level), made, number)
                levels.append(status or description(level)[:3])
                if status:
                    break
            tell(question, 0, levels, description(level), ask("cuMipmappedArrayDestroy", made))
    made = ct.c_void_p()
    about = Array3D(16, 8, 0, U32, 1, 0)
    tell("mipmap for nobody", ask("cuMipmappedArrayCreate", None, ct.byref(about), 2))
    tell("mipmap of nothing", ask("cuMipmappedArrayCreate", ct.byref(made), None, 2))
    tell("mipmap of channels", ask("cuMipmappedArrayCreate", ct.byref(made), ct.byref(Array3D(16, 8, 0, U32, 3, 0)), 2))
    tell("mipmap of format", ask("cuMipmappedArrayCreate", ct.byref(made), ct.byref(Array3D(16, 8, 0, 0, 1, 0)), 2))
    tell("level of no mipmap", ask("cuMipmappedArrayGetLevel", ct.byref(made), None, 0))
    tell("destroy no mipmap", ask("cuMipmappedArrayDestroy", None))
    must_be_there = ct.c_void_p()
    ask("cuMipmappedArrayCreate", ct.byref(must_be_there), ct.byref(about), 2)
    first, second = ct.c_void_p(), ct.c_void_p()
    ask("cuMipmappedArrayGetLevel", ct.byref(first), must_be_there, 1)
    ask("cuMipmappedArrayGetLevel", ct.byref(second), must_be_there, 1)
    tell("a level twice is one", first.value == second.value)
    tell("level for nobody", ask("cuMipmappedArrayGetLevel", None, must_be_there, 0))


def _requirements() -> None:
    cases = {
        "plain": made_array(16, 8),
        "wide": made_array(1000, 300),
        "deep": made_array(16, 8, 4),
        "layers": made_array(16, 8, 4, flags=LAYERED),
        "line": made_array(100),
    }
    for flags in (SPARSE, DEFERRED):
        for shape in ((16, 8, 0), (1000, 300, 0), (100, 100, 4)):
            status, made = array(*shape, of=U32, channels=1, flags=flags)
            if not status:
                cases[f"{shape} {flags:#x}"] = made
    for name, made in cases.items():
        needs, sparse, plane = Requirements(), SparseProperties(), ct.c_void_p()
        tell(f"requirements {name}", ask("cuArrayGetMemoryRequirements", ct.byref(needs), made, 0), needs.told())
        tell(f"sparse {name}", ask("cuArrayGetSparseProperties", ct.byref(sparse), made), sparse.told())
        tell(f"plane {name}", ask("cuArrayGetPlane", ct.byref(plane), made, 0))
    plain = cases["plain"]
    tell("requirements for nobody", ask("cuArrayGetMemoryRequirements", None, plain, 0))
    tell("requirements of no array", ask("cuArrayGetMemoryRequirements", ct.byref(Requirements()), None, 0))
    tell("requirements of no device", ask("cuArrayGetMemoryRequirements", ct.byref(Requirements()), plain, 99))
    tell("sparse for nobody", ask("cuArrayGetSparseProperties", None, plain))
    for flags in (0, SPARSE, DEFERRED):
        made, needs, sparse = ct.c_void_p(), Requirements(), SparseProperties()
        about = Array3D(256, 128, 0, U32, 1, flags)
        if ask("cuMipmappedArrayCreate", ct.byref(made), ct.byref(about), 4):
            continue
        question = f"mipmap {flags:#x}"
        status = ask("cuMipmappedArrayGetMemoryRequirements", ct.byref(needs), made, 0)
        tell(f"requirements {question}", status, needs.told())
        status = ask("cuMipmappedArrayGetSparseProperties", ct.byref(sparse), made)
        tell(f"sparse {question}", status, sparse.told())
