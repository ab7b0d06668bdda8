"""Texture and surface objects: which exist, and the answers on them."""

from __future__ import annotations

import ctypes as ct
from typing import Any

from calls import (
    AS_INTEGER,
    CUBE,
    F16,
    F32,
    GATHER,
    LAYERED,
    NORMALIZED,
    S8,
    SRGB,
    SURFACE,
    U8,
    U16,
    U32,
    Array3D,
    Resource,
    Sampler,
    View,
    allocate,
    ask,
    made_array,
    must,
    resource_of,
    tell,
    texture,
)


def linear(address: int, size: int, of: int = F32, channels: int = 1) -> Resource:
    """Linear memory as a resource."""
    made = Resource(type=2)
    made.of.memory.address, made.of.memory.width = address, size
    made.of.memory.format, made.of.memory.channels = of, channels
    return made


def pitched(address: int, width: int, height: int, pitch: int, *, of: int = F32, channels: int = 1) -> Resource:
    """Pitched memory as a resource."""
    made = linear(address, width, of, channels)
    made.type = 3
    made.of.memory.height, made.of.memory.pitch = height, pitch
    return made


def mipmapped(levels: int, *shape: int, of: int = F32, channels: int = 1, flags: int = 0) -> ct.c_void_p:
    """A mipmapped array."""
    made = ct.c_void_p()
    width, height, depth = (*shape, 0, 0)[:3]
    about = Array3D(width, height, depth, of, channels, flags)
    must("cuMipmappedArrayCreate", ct.byref(made), ct.byref(about), levels)
    return made


def _told(question: str, resource: Resource, sampler: Sampler, view: View | None = None) -> None:
    status, made = texture(resource, sampler, view)
    if status:
        tell(question, status)
        return
    found, how, seen = Resource(), Sampler(), View()
    answers: list[Any] = [ask("cuTexObjectGetResourceDesc", ct.byref(found), ct.c_uint64(made))]
    answers += [found.type, found.flags]
    if found.type >= 2:
        answers.append(found.of.memory.told())
        answers.append(found.of.memory.address == resource.of.memory.address)
    else:
        answers.append(found.of.array == resource.of.array)
    answers += [ask("cuTexObjectGetTextureDesc", ct.byref(how), ct.c_uint64(made)), how.told()]
    status = ask("cuTexObjectGetResourceViewDesc", ct.byref(seen), ct.c_uint64(made))
    answers += [status, *([] if status else [seen.told()])]
    tell(question, 0, *answers, ask("cuTexObjectDestroy", ct.c_uint64(made)))


def _sampler(**how: Any) -> Sampler:
    modes, border = how.pop("modes", (1, 1, 1)), how.pop("border", (0, 0, 0, 0))
    return Sampler(modes=(ct.c_int * 3)(*modes), border=(ct.c_float * 4)(*border), **how)


def _resources() -> dict[str, Resource]:
    memory = allocate(1 << 16)
    arrays = {
        "bytes": made_array(16, 8, of=U8, channels=4),
        "signed": made_array(16, 8, of=S8),
        "shorts": made_array(16, 8, of=U16, channels=2),
        "words": made_array(16, 8, of=U32),
        "halves": made_array(16, 8, of=F16),
        "floats": made_array(16, 8, of=F32),
        "line": made_array(16, of=F32),
        "deep": made_array(8, 4, 3, of=F32),
        "layers": made_array(8, 4, 3, of=F32, flags=LAYERED),
        "cube": made_array(8, 8, 6, of=F32, flags=CUBE),
        "surface": made_array(16, 8, of=F32, flags=SURFACE),
        "gather": made_array(16, 8, of=F32, flags=GATHER),
    }
    return {name: resource_of(one) for name, one in arrays.items()} | {
        "mipmap": resource_of(mipmapped(4, 32, 16), 1),
        "linear": linear(memory, 256),
        "linear bytes": linear(memory, 256, U8, 4),
        "pitched": pitched(memory, 16, 8, 512),
        "pitched bytes": pitched(memory, 16, 8, 512, of=U8, channels=4),
    }


def textures() -> None:
    """Each kind of resource with each way to read it."""
    for name, resource in _resources().items():
        for flags in (
            0,
            AS_INTEGER,
            NORMALIZED,
            AS_INTEGER | NORMALIZED,
            SRGB,
            SRGB | NORMALIZED,
            SRGB | AS_INTEGER,
            4,
            8,
            0x20,
            0x40,
            0x42,
            0x80,
        ):
            for filter_ in (0, 1):
                _told(
                    f"texture {name} flags {flags:#x} filter {filter_}", resource, _sampler(flags=flags, filter=filter_)
                )


def modes() -> None:
    """How a texture is read, right and wrong."""
    resources = _resources()
    for name in ("floats", "linear", "mipmap", "pitched", "deep", "line", "layers", "cube"):
        resource = resources[name]
        for modes in ((0, 0, 0), (1, 2, 3), (3, 3, 3), (4, 1, 1), (1, 4, 1), (1, 1, 4), (1, 1, -1), (-1, 1, 1)):
            _told(f"texture {name} modes {modes}", resource, _sampler(modes=modes, flags=NORMALIZED))
            _told(f"texture {name} modes {modes} as they are", resource, _sampler(modes=modes))
        for what, how in {
            "filter 2": {"filter": 2},
            "filter -1": {"filter": -1},
            "levels' filter 1": {"mip_filter": 1},
            "levels' filter 2": {"mip_filter": 2},
            "anisotropy 1": {"anisotropy": 1},
            "anisotropy 16": {"anisotropy": 16},
            "anisotropy 17": {"anisotropy": 17},
            "anisotropy 1000": {"anisotropy": 1000},
            "bias": {"bias": 1.5},
            "bias of 1000": {"bias": 1000.0},
            "bias of no number": {"bias": float("nan")},
            "levels": {"least": 1.0, "most": 2.5},
            "levels turned": {"least": 3.0, "most": 1.0},
            "levels beyond": {"least": -5.0, "most": 500.0},
            "border": {"border": (0.5, -1.0, 3.0, 1.0)},
            "border that is used": {"border": (0.5, -1.0, 3.0, 1.0), "modes": (3, 3, 3)},
            "border of the first": {"border": (0.5, -1.0, 3.0, 1.0), "modes": (3, 1, 1)},
            "border of the last": {"border": (0.5, -1.0, 3.0, 1.0), "modes": (1, 1, 3)},
        }.items():
            sampler = _sampler(flags=NORMALIZED if name != "linear" else 0, **how)
            if what == "bias of no number":
                status, made = texture(resource, sampler)
                tell(
                    f"texture {name} {what}", status, ask("cuTexObjectDestroy", ct.c_uint64(made)) if not status else 0
                )
            else:
                _told(f"texture {name} {what}", resource, sampler)


def memory() -> None:
    """Linear and pitched memory: addresses, sizes, formats."""
    memory = allocate(1 << 16)
    plain = _sampler()
    for at in (0, 4, 16, 32, 64, 128, 256, 512, 1):
        _told(f"linear at {at}", linear(memory + at, 256), plain)
        _told(f"pitched at {at}", pitched(memory + at, 16, 8, 512), plain)
    for size in (
        0,
        1,
        3,
        4,
        5,
        255,
        65536,
        65537,
        1 << 20,
        1 << 27,
        1 << 28,
        (1 << 28) + 4,
        1 << 30,
        (1 << 30) + 4,
        1 << 32,
        (1 << 32) + 3,
        (1 << 32) + 4,
        1 << 33,
        1 << 40,
    ):
        _told(f"linear of {size}", linear(memory, size), plain)
    for of in (0, 1, 2, 3, 4, 8, 9, 0x0A, 0x10, 0x20, 0xC0, 0xC2, 0x91):
        for channels in (0, 1, 2, 3, 4, 5):
            _told(f"linear of {of:#x} {channels}", linear(memory, 256, of, channels), plain)
            _told(f"pitched of {of:#x} {channels}", pitched(memory, 8, 8, 512, of=of, channels=channels), plain)
    for width, height, pitch in (
        *((0, 8, 512), (16, 0, 512), (16, 8, 0), (16, 8, 64), (16, 8, 32), (16, 8, 63), (16, 8, 65), (16, 8, 96)),
        *(
            (16, 8, 80),
            (128, 8, 512),
            (129, 8, 512),
            (16, 128, 512),
            (16, 129, 512),
            (16, 65000, 512),
            (16, 65001, 512),
        ),
        *((131072, 1, 524288), (131073, 1, 524320), (16, 1, 1 << 21), (16, 1, (1 << 21) - 32), (16, 1, (1 << 21) - 16)),
        *((16, 1, 1 << 32), (1 << 40, 1, 1 << 42), (16, 131072, 512), (131072, 65000, 524288)),
    ):
        _told(f"pitched {width} {height} {pitch}", pitched(memory, width, height, pitch), plain)
    _told("linear of nobody's", linear(0, 256), plain)
    _told("linear of no address", linear(0x1234_5600_0000, 256), plain)
    host = ct.create_string_buffer(1 << 12)
    _told("linear of the host's", linear((ct.addressof(host) + 511) // 512 * 512, 256), plain)
    _told("pitched of nobody's", pitched(0, 16, 8, 512), plain)


def views() -> None:
    """Arrays seen in another way."""
    words = resource_of(made_array(16, 8, of=U32))
    four = resource_of(made_array(16, 8, of=U8, channels=4))
    wide = resource_of(made_array(16, 8, of=U32, channels=2))
    layers = resource_of(made_array(8, 4, 5, of=F32, flags=LAYERED))
    mipmap = resource_of(mipmapped(4, 32, 16), 1)
    plain = _sampler(flags=NORMALIZED)
    integers = _sampler(flags=AS_INTEGER)
    for name, resource in {"words": words, "four": four, "pairs": wide}.items():
        for of in range(0x24):
            width, height = (64, 32) if of >= 0x19 else (16, 8)
            _told(f"view of {name} as {of:#x}", resource, integers, View(format=of, width=width, height=height))
    for what, how in {
        "as it is": {"width": 16, "height": 8},
        "narrower": {"width": 15, "height": 8},
        "wider": {"width": 17, "height": 8},
        "of no size": {},
        "deep": {"width": 16, "height": 8, "depth": 1},
        "level": {"width": 16, "height": 8, "last_level": 1},
        "layer": {"width": 16, "height": 8, "last_layer": 1},
    }.items():
        _told(f"view {what}", words, integers, View(format=0x0D, **how))
        _told(f"view {what} of no format", words, integers, View(format=0, **how))
    for what, how in {
        "all levels": {"width": 32, "height": 16, "last_level": 3},
        "two levels": {"width": 32, "height": 16, "first_level": 1, "last_level": 2},
        "two levels by their size": {"width": 16, "height": 8, "first_level": 1, "last_level": 2},
        "a level too many": {"width": 32, "height": 16, "last_level": 4},
        "two levels too many": {"width": 32, "height": 16, "last_level": 5},
        "many levels too many": {"width": 32, "height": 16, "last_level": 100},
        "levels beyond": {"width": 32, "height": 16, "first_level": 4, "last_level": 4},
        "levels turned": {"width": 32, "height": 16, "first_level": 2, "last_level": 1},
    }.items():
        _told(f"view {what}", mipmap, plain, View(format=0x16, **how))
    for what, how in {
        "all layers": {"width": 8, "height": 4, "depth": 5, "last_layer": 4},
        "two layers": {"width": 8, "height": 4, "depth": 5, "first_layer": 1, "last_layer": 2},
        "two layers by their number": {"width": 8, "height": 4, "depth": 2, "first_layer": 1, "last_layer": 2},
        "two layers, no depth": {"width": 8, "height": 4, "first_layer": 1, "last_layer": 2},
        "a layer too many": {"width": 8, "height": 4, "depth": 5, "last_layer": 5},
        "many layers too many": {"width": 8, "height": 4, "depth": 5, "last_layer": 100},
        "layers beyond": {"width": 8, "height": 4, "depth": 5, "first_layer": 5, "last_layer": 5},
        "layers turned": {"width": 8, "height": 4, "depth": 5, "first_layer": 2, "last_layer": 1},
    }.items():
        _told(f"view {what}", layers, plain, View(format=0x16, **how))
    memory = allocate(4096)
    _told("view of linear memory", linear(memory, 256), _sampler(), View(format=0x16, width=64))
    _told("view of pitched memory", pitched(memory, 16, 8, 512), _sampler(), View(format=0x16, width=16, height=8))


def _surface(question: str, resource: Resource | None) -> None:
    made, found = ct.c_uint64(), Resource()
    status = ask("cuSurfObjectCreate", ct.byref(made), None if resource is None else ct.byref(resource))
    if status:
        tell(question, status)
        return
    got = ask("cuSurfObjectGetResourceDesc", ct.byref(found), made)
    same = resource is not None and found.of.array == resource.of.array
    tell(question, status, got, found.type, found.flags, same, ask("cuSurfObjectDestroy", made))


def surfaces() -> None:
    """Surfaces of each kind of resource."""
    for name, one in {
        "with the flag": made_array(16, 8, flags=SURFACE),
        "without it": made_array(16, 8),
        "line": made_array(16, flags=SURFACE),
        "deep": made_array(8, 4, 3, flags=SURFACE),
        "layers": made_array(8, 4, 3, flags=SURFACE | LAYERED),
        "lines": made_array(8, 0, 3, flags=SURFACE | LAYERED),
        "cube": made_array(8, 8, 6, flags=SURFACE | CUBE),
        "cubes": made_array(8, 8, 12, flags=SURFACE | CUBE | LAYERED),
        "gather": made_array(16, 8, flags=GATHER),
    }.items():
        _surface(f"surface {name}", resource_of(one))
    level = ct.c_void_p()
    must("cuMipmappedArrayGetLevel", ct.byref(level), mipmapped(3, 16, 8, flags=SURFACE), 1)
    _surface("surface of a level", resource_of(level))
    must("cuMipmappedArrayGetLevel", ct.byref(level), mipmapped(3, 16, 8), 1)
    _surface("surface of a level without the flag", resource_of(level))
    memory = allocate(4096)
    _surface("surface of a mipmap", resource_of(mipmapped(3, 16, 8, flags=SURFACE), 1))
    _surface("surface of linear memory", linear(memory, 256))
    _surface("surface of pitched memory", pitched(memory, 16, 8, 512))
    _surface("surface of nothing", None)
    _surface("surface of no array", Resource(type=0))
    flagged = resource_of(made_array(16, 8, flags=SURFACE))
    flagged.flags = 1
    _surface("surface with flags", flagged)
    tell("surface for nobody", ask("cuSurfObjectCreate", None, ct.byref(flagged)))


def wrong() -> None:
    """Objects that never were, that have no output pointer, or that are gone."""
    good = resource_of(made_array(16, 8, of=F32))
    plain = _sampler()
    made = ct.c_uint64()
    tell("texture for nobody", ask("cuTexObjectCreate", None, ct.byref(good), ct.byref(plain), None))
    tell("texture of nothing", ask("cuTexObjectCreate", ct.byref(made), None, ct.byref(plain), None))
    tell("texture read in no way", ask("cuTexObjectCreate", ct.byref(made), ct.byref(good), None, None))
    for kind in (-1, 4, 5, 100):
        _told(f"texture of kind {kind}", resource_of(made_array(16, 8, of=F32), kind), plain)
    _told("texture of no array", Resource(type=0), plain)
    _told("texture of no mipmap", Resource(type=1), plain)
    good.flags = 1
    _told("texture with flags", good, plain)
    level = ct.c_void_p()
    must("cuMipmappedArrayGetLevel", ct.byref(level), mipmapped(3, 16, 8), 1)
    _told("texture of a level", resource_of(level), plain)
    found, _how, _seen = Resource(), Sampler(), View()
    good.flags = 0
    _, handle_number = texture(good, plain)
    handle = ct.c_uint64(handle_number)
    tell("resource for nobody", ask("cuTexObjectGetResourceDesc", None, handle))
    tell("sampler for nobody", ask("cuTexObjectGetTextureDesc", None, handle))
    tell("view for nobody", ask("cuTexObjectGetResourceViewDesc", None, handle))
    tell("destroy", ask("cuTexObjectDestroy", handle))
    tell("destroy again", ask("cuTexObjectDestroy", handle))
    tell("resource of what is destroyed", ask("cuTexObjectGetResourceDesc", ct.byref(found), handle))
    gone = made_array(16, 8, of=F32)
    status, handle_number = texture(resource_of(gone), plain)
    tell("array destroyed before its texture", status, ask("cuArrayDestroy", gone))
    status = ask("cuTexObjectGetResourceDesc", ct.byref(found), ct.c_uint64(handle_number))
    tell("its texture", status, found.of.array == gone.value, ask("cuTexObjectDestroy", ct.c_uint64(handle_number)))
