"""What may end a process, or its context: each in a process of its own."""

from __future__ import annotations

import ctypes as ct

from calls import (
    ARRAY,
    DEVICE,
    F32,
    HOST,
    SURFACE,
    Array3D,
    Copy2D,
    Sampler,
    allocate,
    array,
    ask,
    made_array,
    module,
    must,
    pattern,
    resource_of,
    run,
    tell,
    texture,
)
from lookups import filled
from objects import linear, mipmapped

TEX = "tex.2d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0, c1}];"


def _gone() -> ct.c_void_p:
    made = made_array(16, 8)
    must("cuArrayDestroy", made)
    return made


def _object(of: ct.c_void_p) -> int:
    return texture(resource_of(of), Sampler())[1]


def _surface(of: ct.c_void_p) -> int:
    made, resource = ct.c_uint64(), resource_of(of)
    must("cuSurfObjectCreate", ct.byref(made), ct.byref(resource))
    return int(made.value)


def _level(mipmap: ct.c_void_p) -> ct.c_void_p:
    level = ct.c_void_p()
    must("cuMipmappedArrayGetLevel", ct.byref(level), mipmap, 1)
    return level


def _destroyed_mipmap() -> ct.c_void_p:
    mipmap = mipmapped(3, 16, 8)
    level = _level(mipmap)
    must("cuMipmappedArrayDestroy", mipmap)
    return level


def _copy(**members: object) -> int:
    return ask("cuMemcpy2D_v2", ct.byref(Copy2D(**members)))


def _of_texture(name: str, number: int) -> int:
    room = ct.create_string_buffer(1024)
    return ask(name, room, ct.c_uint64(number))


def _device_copy_beyond() -> int:
    memory = allocate(256)
    facts = {"src_type": DEVICE, "src_device": memory, "src_pitch": 64, "dst_type": ARRAY}
    return _copy(**facts, dst_array=made_array(16, 8).value, width=64, rows=8) or ask("cuCtxSynchronize")


def _with_pitch(pitch: int) -> int:
    memory, one = allocate(4096), made_array(16, 8)
    facts = {"src_type": DEVICE, "src_device": memory, "src_pitch": pitch, "dst_type": ARRAY}
    return _copy(**facts, dst_array=one.value, width=64, rows=8) or ask("cuCtxSynchronize")


def _twice(name: str, handle: ct.c_void_p | ct.c_uint64) -> list[int]:
    return [ask(name, handle), ask(name, handle)]


def _used(number: int) -> object:
    code = module(TEX)
    must("cuTexObjectDestroy", ct.c_uint64(number))
    return run(code, number, [(0, 0)])


def _used_array() -> object:
    code, one = module(TEX), filled(8, 4, of=F32)
    number = _object(one)
    return [ask("cuArrayDestroy", one), run(code, number, [(0, 0)])]


def _used_memory() -> object:
    code = module("tex.1d.v4.f32.s32 {o0, o1, o2, o3}, [t, {c0}];")
    memory = allocate(256, pattern(256))
    number = texture(linear(memory, 256), Sampler())[1]
    return [ask("cuMemFree_v2", ct.c_uint64(memory)), run(code, number, [(0,)])]


def _many() -> int:
    for _ in range(1000):
        status, _made = array(16384, 16384, of=F32, channels=4)
        if status:
            return status
    return 0


RISKS = {
    "destroy an array twice": lambda: _twice("cuArrayDestroy", made_array(16, 8)),
    "destroy a mipmap twice": lambda: _twice("cuMipmappedArrayDestroy", mipmapped(3, 16, 8)),
    "destroy a level": lambda: ask("cuArrayDestroy", _level(mipmapped(3, 16, 8))),
    "destroy a mipmap as an array": lambda: ask("cuArrayDestroy", mipmapped(3, 16, 8)),
    "destroy an array as a mipmap": lambda: ask("cuMipmappedArrayDestroy", made_array(16, 8)),
    "describe what is destroyed": lambda: ask("cuArray3DGetDescriptor_v2", ct.byref(Array3D()), _gone()),
    "describe a level of what is destroyed": lambda: ask(
        "cuArray3DGetDescriptor_v2", ct.byref(Array3D()), _destroyed_mipmap()
    ),
    "describe a wild array": lambda: ask("cuArray3DGetDescriptor_v2", ct.byref(Array3D()), ct.c_void_p(0x1234)),
    "destroy a wild array": lambda: ask("cuArrayDestroy", ct.c_void_p(0x1234)),
    "texture of what is destroyed": lambda: texture(resource_of(_gone()), Sampler())[0],
    "texture of a wild array": lambda: texture(resource_of(ct.c_void_p(0x1234)), Sampler())[0],
    "surface of what is destroyed": lambda: ask(
        "cuSurfObjectCreate", ct.byref(ct.c_uint64()), ct.byref(resource_of(_gone()))
    ),
    "mipmap as an array's texture": lambda: texture(resource_of(mipmapped(3, 16, 8), 0), Sampler())[0],
    "array as a mipmap's texture": lambda: texture(resource_of(made_array(16, 8), 1), Sampler(flags=2))[0],
    "copy to what is destroyed": lambda: _copy(
        src_type=DEVICE,
        src_device=allocate(512),
        src_pitch=64,
        dst_type=ARRAY,
        dst_array=_gone().value,
        width=64,
        rows=8,
    ),
    "copy to no array": lambda: _copy(
        src_type=DEVICE, src_device=allocate(512), src_pitch=64, dst_type=ARRAY, width=64, rows=8
    ),
    "copy from no memory": lambda: _copy(
        src_type=DEVICE, src_pitch=64, dst_type=ARRAY, dst_array=made_array(16, 8).value, width=64, rows=8
    ),
    "copy from the host's nothing": lambda: _copy(
        src_type=HOST, src_pitch=64, dst_type=ARRAY, dst_array=made_array(16, 8).value, width=64, rows=8
    ),
    "copy beyond the device's memory": _device_copy_beyond,
    "copy by a pitch of 2^31": lambda: _with_pitch(1 << 31),
    "copy by a pitch of 2^31 - 4": lambda: _with_pitch((1 << 31) - 4),
    "look-up of no texture": lambda: run(module(TEX), 0, [(0, 0)]),
    "look-up of a wild texture": lambda: run(module(TEX), 0x7777_7777, [(0, 0)]),
    "look-up of a destroyed texture": lambda: _used(_object(filled(8, 4, of=F32))),
    "look-up of a destroyed array": _used_array,
    "look-up of a surface": lambda: run(module(TEX), _surface(filled(8, 4, of=F32, flags=SURFACE)), [(0, 0)]),
    "store beyond a surface": lambda: run(
        module("sust.b.2d.b32.trap [t, {c0, c1}], c3;"), _surface(filled(8, 4, flags=SURFACE)), [(32, 0)]
    ),
    "store below a surface": lambda: run(
        module("sust.b.2d.b32.trap [t, {c0, c1}], c3;"), _surface(filled(8, 4, flags=SURFACE)), [(0, 4)]
    ),
    "store between elements": lambda: run(
        module("sust.b.2d.b32.zero [t, {c0, c1}], c3;"), _surface(filled(8, 4, flags=SURFACE)), [(2, 0)]
    ),
    "store to an array without the flag": lambda: run(
        module("sust.b.2d.b32.zero [t, {c0, c1}], c3;"), _surface(filled(8, 4)), [(0, 0)]
    ),
    "one dimension of a flat array": lambda: run(
        module("tex.1d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0}];"), _object(filled(8, 4, of=F32)), [(0,)]
    ),
    "two dimensions of linear memory": lambda: run(
        module(TEX), texture(linear(allocate(256, pattern(256)), 256), Sampler())[1], [(0, 0)]
    ),
    "integers in an array's line": lambda: run(
        module("tex.1d.v4.f32.s32 {o0, o1, o2, o3}, [t, {c0}];"), _object(filled(8, of=F32)), [(1,), (7,), (8,)]
    ),
    "floats in linear memory": lambda: run(
        module("tex.1d.v4.f32.f32 {o0, o1, o2, o3}, [t, {c0}];"),
        texture(linear(allocate(256, pattern(256)), 256), Sampler())[1],
        [(0,), (0x4000_0000,)],
    ),
    "look-up beyond freed memory": _used_memory,
    "resource of texture 0": lambda: _of_texture("cuTexObjectGetResourceDesc", 0),
    "resource of texture 99": lambda: _of_texture("cuTexObjectGetResourceDesc", 99),
    "resource of a wild texture": lambda: _of_texture("cuTexObjectGetResourceDesc", 1 << 40),
    "sampler of texture 99": lambda: _of_texture("cuTexObjectGetTextureDesc", 99),
    "view of texture 99": lambda: _of_texture("cuTexObjectGetResourceViewDesc", 99),
    "resource of surface 0": lambda: _of_texture("cuSurfObjectGetResourceDesc", 0),
    "resource of surface 99": lambda: _of_texture("cuSurfObjectGetResourceDesc", 99),
    "resource of a surface as a texture": lambda: _of_texture(
        "cuTexObjectGetResourceDesc", _surface(made_array(16, 8, flags=SURFACE))
    ),
    "resource of a texture as a surface": lambda: _of_texture(
        "cuSurfObjectGetResourceDesc", _object(made_array(16, 8))
    ),
    "destroy texture 0": lambda: ask("cuTexObjectDestroy", ct.c_uint64(0)),
    "destroy texture 99": lambda: ask("cuTexObjectDestroy", ct.c_uint64(99)),
    "destroy a wild texture": lambda: ask("cuTexObjectDestroy", ct.c_uint64(1 << 40)),
    "destroy surface 0": lambda: ask("cuSurfObjectDestroy", ct.c_uint64(0)),
    "destroy surface 99": lambda: ask("cuSurfObjectDestroy", ct.c_uint64(99)),
    "destroy a texture twice": lambda: _twice("cuTexObjectDestroy", ct.c_uint64(_object(made_array(16, 8)))),
    "destroy a surface twice": lambda: _twice(
        "cuSurfObjectDestroy", ct.c_uint64(_surface(made_array(16, 8, flags=SURFACE)))
    ),
    "destroy a surface as a texture": lambda: ask(
        "cuTexObjectDestroy", ct.c_uint64(_surface(made_array(16, 8, flags=SURFACE)))
    ),
    "wild reference": lambda: ask("cuTexRefSetFlags", ct.c_void_p(0x1234), 0),
    "no reference": lambda: ask("cuTexRefSetFlags", None, 0),
    "arrays until none is left": _many,
}


def ask_one(name: str) -> None:
    """Ask one of them."""
    tell(name, RISKS[name]())
