"""What kernels read through texture objects and do through surface objects: modes, formats, sRGB, views, levels."""

from __future__ import annotations

import ctypes as ct
import itertools
from typing import TYPE_CHECKING

from calls import (
    ARRAY,
    AS_INTEGER,
    CUBE,
    F16,
    F32,
    HOST,
    LAYERED,
    NORMALIZED,
    S8,
    S16,
    S32,
    SIZES,
    SRGB,
    SURFACE,
    U8,
    U16,
    U32,
    Copy2D,
    Resource,
    Sampler,
    View,
    allocate,
    array,
    ask,
    box,
    downloaded,
    float_bits,
    made_array,
    module,
    must,
    pattern,
    read,
    resource_of,
    run,
    sum_of,
    tell,
    texture,
    write,
)
from objects import linear, mipmapped, pitched

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACES_2D = [
    (float_bits(x), float_bits(y))
    for x, y in itertools.product(
        (-3.25, -0.5, 0.0, 0.49, 0.5, 1.3, 3.999, 7.5, 8.0, 9.75), (-1.5, 0.25, 0.5, 2.7, 4.0, 5.5)
    )
]
_PLACES_1D = [(float_bits(x / 8),) for x in range(-40, 120, 3)]
_NORMAL_2D = [
    (float_bits(x), float_bits(y))
    for x, y in itertools.product((-1.3, -0.01, 0.0, 0.11, 0.4999, 0.75, 0.99, 1.0, 1.6), (-0.4, 0.03, 0.5, 0.875, 1.2))
]
_TEX_2D = "tex.2d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1}];"
_INT_2D = "tex.2d.v4.u32.f32 {o0, o1, o2, o3}, [t, {c0, c1}];"
_FORMATS = (
    (U8, 1),
    (U8, 2),
    (U8, 4),
    (U16, 2),
    (U32, 1),
    (S8, 4),
    (S16, 1),
    (S32, 2),
    (F16, 1),
    (F16, 4),
    (F32, 1),
    (F32, 2),
    (F32, 4),
)
_BORDER = (0.25, -2.0, 0.75, 1.0)


def _sampler(flags: int = 0, mode: int = 1, filter_: int = 0, **how: object) -> Sampler:
    made = Sampler(modes=(ct.c_int * 3)(mode, mode, mode), filter=filter_, flags=flags, **how)
    made.border = (ct.c_float * 4)(*_BORDER)
    return made


def _look(
    question: str,
    code: ct.c_void_p,
    resource: Resource,
    how: Sampler,
    places: Sequence[Sequence[int]],
    *,
    view: View | None = None,
) -> None:
    status, made = texture(resource, how, view)
    tell(question, status, *([] if status else [run(code, made, places), ask("cuTexObjectDestroy", ct.c_uint64(made))]))


def _texels(of: int, size: int) -> bytes:
    """Bytes that make numbers: floats of moderate size."""
    if of == F32:
        return b"".join(bytes(ct.c_float(((n * 37) % 101 - 50) / 8)) for n in range(size // 4))
    if of == F16:
        return b"".join((0x3000 + (n * 73) % 0x1400 | (n & 1) << 15).to_bytes(2, "little") for n in range(size // 2))
    return bytes(pattern(size, 5))


def filled(*shape: int, of: int = U32, channels: int = 1, flags: int = 0) -> ct.c_void_p:
    """An array that holds something."""
    made = made_array(*shape, of=of, channels=channels, flags=flags)
    width, rows, slices = box(made)
    write(made, _texels(of, width * rows * slices))
    return made


def formats() -> None:
    """Each format, from arrays and from pitched memory, in each mode, filtered where that is."""
    whole, real = module(_INT_2D), module(_TEX_2D)
    for of, channels in _FORMATS:
        row = 8 * channels * SIZES[of]
        texels = _texels(of, row * 4)
        memory = allocate(512 * 4, b"".join(texels[row * y : row * (y + 1)].ljust(512, b"\xff") for y in range(4)))
        for name, resource in {
            "array": resource_of(filled(8, 4, of=of, channels=channels)),
            "pitched": pitched(memory, 8, 4, 512, of=of, channels=channels),
        }.items():
            for flags, filter_, mode in itertools.product(
                (0, AS_INTEGER, NORMALIZED, AS_INTEGER | NORMALIZED), (0, 1), range(4)
            ):
                places = _NORMAL_2D if flags & NORMALIZED else _PLACES_2D
                code = whole if flags & AS_INTEGER and of not in {F16, F32} else real
                _look(
                    f"{name} of {of:#x} {channels} flags {flags} filter {filter_} mode {mode}",
                    code,
                    resource,
                    _sampler(flags, mode, filter_),
                    places,
                )


def lines() -> None:
    """Linear memory by integers, lines by floats, in each format."""
    by_integers = module("tex.1d.v4.u32.s32 {o0, o1, o2, o3}, [t, {c0}];")
    as_floats = module("tex.1d.v4.f32.s32 {o0, o1, o2, o3}, [t, {c0}];")
    by_floats = module("tex.1d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0}];")
    asked = module("txq.width.b32 o0, [t]; txq.height.b32 o1, [t]; txq.depth.b32 o2, [t];")
    places = [(n & 0xFFFF_FFFF,) for n in range(-3, 20)]
    for of, channels in _FORMATS:
        size = 16 * channels * SIZES[of]
        memory = linear(allocate(size, _texels(of, size)), size, of, channels)
        for flags in (0, AS_INTEGER):
            code = by_integers if flags or of in {U32, S32} else as_floats
            _look(f"linear of {of:#x} {channels} flags {flags}", code, memory, _sampler(flags), places)
        _look(f"size of linear {of:#x} {channels}", asked, memory, _sampler(), [(0,)])
        line = resource_of(filled(16, of=of, channels=channels))
        if of not in {U32, S32}:
            for mode, filter_ in itertools.product(range(4), (0, 1)):
                _look(
                    f"line of {of:#x} {channels} mode {mode} filter {filter_}",
                    by_floats,
                    line,
                    _sampler(0, mode, filter_),
                    _PLACES_1D,
                )
        _look(f"size of a line {of:#x} {channels}", asked, line, _sampler(), [(0,)])


def srgb() -> None:
    """sRGB: each value alone, and combined."""
    real = module(_TEX_2D)
    table = made_array(256, 1, of=U8)
    write(table, bytes(range(256)))
    alone = [(float_bits(n + 0.5), float_bits(0.5)) for n in range(256)]
    _look("sRGB of each value", real, resource_of(table), _sampler(SRGB), alone)
    between = [(float_bits(n / 8), float_bits(0.5)) for n in range(0, 2048, 9)]
    _look("sRGB between values", real, resource_of(table), _sampler(SRGB, 1, 1), between)
    for of, channels in ((U8, 2), (U8, 4), (S8, 4), (U16, 4), (F32, 4)):
        some = resource_of(filled(8, 4, of=of, channels=channels))
        for filter_, mode in itertools.product((0, 1), (1, 3)):
            _look(
                f"sRGB of {of:#x} {channels} filter {filter_} mode {mode}",
                real,
                some,
                _sampler(SRGB, mode, filter_),
                _PLACES_2D,
            )
    write(dark := made_array(8, 8, of=U8, channels=4), pattern(256, 9))
    many = [(float_bits((n * 37 % 211) / 26), float_bits((n * 53 % 223) / 27)) for n in range(500)]
    _look("sRGB of many places", real, resource_of(dark), _sampler(SRGB, 1, 1), many)
    for low, count in (
        (0, 16),
        (0, 40),
        (20, 20),
        (28, 24),
        (40, 30),
        (60, 12),
        (88, 12),
        (125, 16),
        (180, 10),
        (240, 16),
    ):
        write(dark, bytes(low + (n * 73 + (n >> 3) * 41) % count for n in range(256)))
        _look(f"sRGB of {count} values from {low}", real, resource_of(dark), _sampler(SRGB, 1, 1), many[:200])
    deep = made_array(8, 4, 3, of=U8, channels=4)
    write(deep, pattern(8 * 4 * 4 * 3, 4))
    three = [
        (float_bits(n * 29 % 83 / 10), float_bits(n * 31 % 47 / 11), float_bits(n * 17 % 37 / 12)) for n in range(200)
    ]
    code = module("tex.3d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1, c2, c2}];")
    _look("sRGB in three dimensions", code, resource_of(deep), _sampler(SRGB, 1, 1), three)


def normalised_formats() -> None:
    """Formats that are normalised by their name."""
    real, whole = module(_TEX_2D), module(_INT_2D)
    for n, (of, channels) in enumerate((o, c) for o in (U8, U16, S8, S16) for c in (1, 2, 4)):
        made = made_array(8, 4, of=0xC0 + n, channels=channels) if _can(0xC0 + n, channels) else None
        if made is None:
            continue
        data = bytes(pattern(8 * 4 * channels * SIZES[of], 5))
        held = ct.create_string_buffer(data, len(data))
        row = 8 * channels * SIZES[of]
        copy = Copy2D(
            src_type=HOST, src_host=ct.addressof(held), src_pitch=row, dst_type=ARRAY, dst_array=made, width=row, rows=4
        )
        tell(f"format {0xC0 + n:#x} filled", ask("cuMemcpy2D_v2", ct.byref(copy)))
        for flags, filter_ in itertools.product((0, AS_INTEGER), (0, 1)):
            code = whole if flags else real
            _look(
                f"format {0xC0 + n:#x} flags {flags} filter {filter_}",
                code,
                resource_of(made),
                _sampler(flags, 1, filter_),
                _PLACES_2D,
            )


def _can(of: int, channels: int) -> bool:
    return array(8, 4, of=of, channels=channels)[0] == 0


def geometries() -> None:
    """Deep, layered, cube and mipmapped arrays; what they say of their sizes."""
    asked = module("txq.width.b32 o0, [t]; txq.height.b32 o1, [t]; txq.depth.b32 o2, [t];")
    three = [(*p, float_bits(z)) for p, z in itertools.product(_PLACES_2D[::3], (-0.5, 0.5, 1.25, 3.0))]
    layer = [(n, *p) for p, n in itertools.product(_PLACES_2D[::3], (0, 2, 5))]
    around = [tuple(map(float_bits, p)) for p in itertools.product((-1.0, -0.3, 0.2, 0.9), repeat=3)]
    cases = {
        "deep": ("tex.3d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1, c2, c2}];", (8, 4, 3), 0, three),
        "lines": ("tex.a1d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1}];", (8, 0, 3), LAYERED, layer),
        "layers": ("tex.a2d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1, c2, c2}];", (8, 4, 3), LAYERED, layer),
        "cube": ("tex.cube.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1, c2, c2}];", (4, 4, 6), CUBE, around),
        "cubes": (
            "tex.acube.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1, c2, c3}];",
            (4, 4, 12),
            CUBE | LAYERED,
            [(n & 1, *p) for n, p in enumerate(around)],
        ),
    }
    for name, (body, shape, flags, places) in cases.items():
        one = resource_of(filled(*shape, of=F32, channels=2, flags=flags))
        code = module(body)
        for how, filter_ in itertools.product((0, NORMALIZED), (0, 1)):
            if "cube" not in name or how:
                _look(f"{name} flags {how} filter {filter_}", code, one, _sampler(how, 1, filter_), places)
        _look(f"size of {name}", asked, one, _sampler(NORMALIZED), [(0,)])
    made = mipmapped(4, 16, 8, of=F32)
    level = ct.c_void_p()
    for number in range(4):
        must("cuMipmappedArrayGetLevel", ct.byref(level), made, number)
        width, rows, _ = box(level)
        write(level, _texels(F32, width * rows))
    code = module("tex.level.2d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1}], c2;")
    levels = [(*p, float_bits(z)) for p, z in itertools.product(_NORMAL_2D[::2], (-1.0, 0.0, 0.4, 0.5, 1.75, 3.0, 9.0))]
    for mip, bias, least, most in (
        (0, 0.0, 0.0, 3.0),
        (1, 0.0, 0.0, 3.0),
        (1, 0.3, 0.5, 2.2),
        (0, 0.0, 0.0, 0.0),
        (1, 0.0, 2.0, 1.0),
        (1, 200.0, -3.0, 99.0),
    ):
        how = _sampler(NORMALIZED, 1, 1, mip_filter=mip, bias=bias, least=least, most=most)
        _look(f"levels {mip} {bias} {least} {most}", code, resource_of(made, 1), how, levels)
        _look(f"number of levels {mip} {bias} {least} {most}", asked, resource_of(made, 1), how, [(0,)])
    must("cuMipmappedArrayGetLevel", ct.byref(level), made, 1)
    _look("a level by itself", module(_TEX_2D), resource_of(level), _sampler(), _PLACES_2D)
    every = _sampler(NORMALIZED, 1, 0, most=3.0)
    for first, last, width, height in ((0, 3, 16, 8), (1, 2, 16, 8), (1, 2, 8, 4), (2, 2, 4, 2)):
        view = View(format=0x16, width=width, height=height, first_level=first, last_level=last)
        _look(f"view of levels {first} {last} {width}", code, resource_of(made, 1), every, levels, view=view)
        _look(
            f"sizes in a view of levels {first} {last} {width}", asked, resource_of(made, 1), every, [(0,)], view=view
        )


def views() -> None:
    """Elements seen as others, layers as fewer."""
    whole, real = module(_INT_2D), module(_TEX_2D)
    words = resource_of(filled(8, 4, of=U32))
    for of in (0x03, 0x06, 0x08, 0x0B, 0x0D, 0x10, 0x14, 0x16):
        for flags in (0, AS_INTEGER):
            code = whole if flags and of < 0x13 else real
            _look(
                f"words as {of:#x} flags {flags}",
                code,
                words,
                _sampler(flags),
                _PLACES_2D[::2],
                view=View(format=of, width=8, height=4),
            )
    layers = resource_of(filled(8, 4, 5, of=F32, flags=LAYERED))
    places = [(n, *p) for p, n in itertools.product(_PLACES_2D[::7], range(6))]
    code = module("tex.a2d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1, c2, c2}];")
    asked = module("txq.width.b32 o0, [t]; txq.height.b32 o1, [t]; txq.depth.b32 o2, [t];")
    for first, last, depth in ((0, 4, 5), (1, 2, 5), (1, 2, 2), (3, 4, 2)):
        view = View(format=0x16, width=8, height=4, depth=depth, first_layer=first, last_layer=last)
        _look(f"layers {first} to {last} of {depth}", code, layers, _sampler(), places, view=view)
        _look(f"sizes in layers {first} to {last} of {depth}", asked, layers, _sampler(), [(0,)], view=view)


def surfaces() -> None:
    """Loads, stores and sizes; what a texture then reads."""
    stores = {
        "1d": ("{c0}", (16,), 0),
        "2d": ("{c0, c1}", (16, 8), 0),
        "3d": ("{c0, c1, c2, c2}", (8, 4, 3), 0),
        "a1d": ("{c1, c0}", (8, 0, 3), LAYERED),
        "a2d": ("{c2, c0, c1, c1}", (8, 4, 3), LAYERED),
        "cube": ("{c2, c0, c1, c1}", (4, 4, 6), CUBE),
    }
    places = [
        (4 * x & 0xFFFF_FFFF, y & 0xFFFF_FFFF, z & 0xFFFF_FFFF, 1000 * x + 10 * y + z & 0xFFFF_FFFF)
        for x, y, z in itertools.product((-1, 0, 3, 7, 15, 16), (-1, 0, 2, 8), (0, 2, 6))
    ]
    asked = "suq.width.b32 o0, [t]; suq.height.b32 o1, [t]; suq.depth.b32 o2, [t];"
    for name, (place, shape, flags) in stores.items():
        geometry = "a2d" if name == "cube" else name
        one = filled(*shape, of=S32, flags=flags | SURFACE)
        made, resource = ct.c_uint64(), resource_of(one)
        must("cuSurfObjectCreate", ct.byref(made), ct.byref(resource))
        handle = int(made.value)
        load = module(f"suld.b.{geometry}.b32.zero o0, [t, {place}]; suld.b.{geometry}.b32.clamp o1, [t, {place}];")
        tell(f"surface {name} read", run(load, handle, places))
        store = module(f"sust.b.{geometry}.b32.zero [t, {place}], c3;")
        used = {one[: 1 if name == "1d" else 2 if name == "2d" else 3]: one for one in places}
        distinct = [one for one in used.values() if name != "a1d" or one[2] == 0]
        if name == "a1d":
            distinct = list({(one[0], one[1]): one for one in distinct}.values())
        tell(f"surface {name} written", len(run(store, handle, distinct)), sum_of(read(one)))
        tell(f"sizes of surface {name}", run(module(asked), handle, [(0,)])[:3])
    level = ct.c_void_p()
    must("cuMipmappedArrayGetLevel", ct.byref(level), mipmapped(3, 16, 8, of=U32, flags=SURFACE), 1)
    write(level, pattern(8 * 4 * 4, 3))
    made, resource = ct.c_uint64(), resource_of(level)
    must("cuSurfObjectCreate", ct.byref(made), ct.byref(resource))
    load = module("suld.b.2d.b32.zero o0, [t, {c0, c1}];")
    tell("surface of a level read", run(load, int(made.value), places[::2]))
    both = filled(8, 4, of=F32, flags=SURFACE)
    resource = resource_of(both)
    must("cuSurfObjectCreate", ct.byref(made), ct.byref(resource))
    some = [(4 * n, n & 3, 0, float_bits(n / 2)) for n in range(8)]
    run(module("sust.b.2d.b32.zero [t, {c0, c1}], c3;"), int(made.value), some)
    _look("a texture of what a surface wrote", module(_TEX_2D), resource, _sampler(), _PLACES_2D)
    tell("copied of what a surface wrote", sum_of(read(both)))
    tell("memory stays", sum_of(downloaded(allocate(64, pattern(64)), 64)))
