"""References of modules to textures and surfaces, as far as a driver still has them."""

from __future__ import annotations

import ctypes as ct

from calls import (
    AS_INTEGER,
    F32,
    NORMALIZED,
    SURFACE,
    U8,
    U32,
    Array2D,
    Resource,
    allocate,
    ask,
    float_bits,
    made_array,
    module,
    pattern,
    read,
    run,
    sum_of,
    tell,
    write,
)
from lookups import filled
from objects import mipmapped

_BEFORE = ".global .texref image;\n.global .surfref canvas;\n.global .u32 number = 5;\n"
_TEX = "tex.2d.v4.f32.f32 {o0, o1, o2, o3}, [image, {c0, c1}];"
_LINE = "tex.1d.v4.f32.s32 {o0, o1, o2, o3}, [image, {c0}];"
_STORE = "sust.b.2d.b32.zero [canvas, {c0, c1}], c3;"
_PLACES = [(float_bits(x / 2), float_bits(y / 2)) for x in range(-3, 20, 2) for y in range(-1, 9, 2)]


def ask_all() -> None:
    """Every question."""
    code, lines = module(_TEX, _BEFORE), module(_LINE, _BEFORE)
    found = ct.c_void_p()
    for name in (b"image", b"canvas", b"number", b"nothing"):
        tell(f"texture reference {name.decode()}", ask("cuModuleGetTexRef", ct.byref(found), code, name))
        tell(f"surface reference {name.decode()}", ask("cuModuleGetSurfRef", ct.byref(found), code, name))
    tell("texture reference for nobody", ask("cuModuleGetTexRef", None, code, b"image"))
    tell("texture reference of no name", ask("cuModuleGetTexRef", ct.byref(found), code, None))
    reference, of_line = ct.c_void_p(), ct.c_void_p()
    if ask("cuModuleGetTexRef", ct.byref(reference), code, b"image") or ask(
        "cuModuleGetTexRef", ct.byref(of_line), lines, b"image"
    ):
        return
    again = ct.c_void_p()
    ask("cuModuleGetTexRef", ct.byref(again), code, b"image")
    tell("a reference twice is one", reference.value == again.value)
    _state("at first", reference)
    _settings(reference)
    array = filled(8, 4, of=F32)
    tell("array", ask("cuTexRefSetArray", reference, array, 1))
    back = ct.c_void_p()
    tell("array back", ask("cuTexRefGetArray", ct.byref(back), reference), back.value == array.value)
    for dim in range(2):
        ask("cuTexRefSetAddressMode", reference, dim, 1)
    ask("cuTexRefSetFilterMode", reference, 0)
    ask("cuTexRefSetFlags", reference, 0)
    _state("with an array", reference)
    tell("look-up", run(code, 0, _PLACES))
    ask("cuTexRefSetFilterMode", reference, 1)
    tell("look-up between texels", run(code, 0, _PLACES))
    ask("cuTexRefSetFlags", reference, NORMALIZED)
    tell("look-up with normalised places", run(code, 0, _PLACES))
    tell(
        "bytes as floats", ask("cuTexRefSetArray", reference, filled(8, 4, of=U8, channels=4), 1), run(code, 0, _PLACES)
    )
    tell("array of other flags", [ask("cuTexRefSetArray", reference, array, flags) for flags in (0, 2, 3)])
    tell("no array", ask("cuTexRefSetArray", reference, None, 1))
    tell("a mipmap", ask("cuTexRefSetMipmappedArray", reference, mipmapped(3, 16, 8), 1))
    _memory(of_line, lines)
    _pitched(reference, code)
    _surface()
    made = ct.c_void_p()
    tell("created", ask("cuTexRefCreate", ct.byref(made)), ask("cuTexRefDestroy", made))


def _memory(reference: ct.c_void_p, code: ct.c_void_p) -> None:
    memory, offset, back = allocate(1024, pattern(1024, 4)), ct.c_size_t(99), ct.c_uint64()
    tell("format", ask("cuTexRefSetFormat", reference, U32, 2))
    tell("wrong formats", [ask("cuTexRefSetFormat", reference, of, n) for of, n in ((0, 1), (1, 3), (1, 0), (0x91, 1))])
    ask("cuTexRefSetFormat", reference, U32, 2)
    for at in (0, 256, 512, 4):
        status = ask("cuTexRefSetAddress_v2", ct.byref(offset), reference, ct.c_uint64(memory + at), ct.c_size_t(256))
        tell(f"address at {at}", status, offset.value)
    status = ask("cuTexRefSetAddress_v2", None, reference, ct.c_uint64(memory + 4), ct.c_size_t(256))
    tell("address at 4 with no offset", status)
    status = ask("cuTexRefSetAddress_v2", ct.byref(offset), reference, ct.c_uint64(memory), ct.c_size_t(256))
    tell("address", status, ask("cuTexRefGetAddress_v2", ct.byref(back), reference), back.value == memory)
    _state("with memory", reference)
    tell("look-up in memory", run(code, 0, [(n & 0xFFFF_FFFF,) for n in range(-2, 36)]))
    tell("array back of memory", ask("cuTexRefGetArray", ct.byref(ct.c_void_p()), reference))
    for size in (0, 1 << 40):
        status = ask("cuTexRefSetAddress_v2", ct.byref(offset), reference, ct.c_uint64(memory), ct.c_size_t(size))
        tell(f"address of {size}", status)


def _pitched(reference: ct.c_void_p, code: ct.c_void_p) -> None:
    memory = allocate(4096, b"".join(bytes(ct.c_float(n % 97 / 4)) for n in range(1024)))
    about = Array2D(16, 8, F32, 1)
    ask("cuTexRefSetFilterMode", reference, 0)
    ask("cuTexRefSetFlags", reference, AS_INTEGER)
    for at, pitch in ((0, 512), (0, 64), (0, 48), (0, 65), (16, 64), (512, 64), (0, 0)):
        status = ask(
            "cuTexRefSetAddress2D_v3", reference, ct.byref(about), ct.c_uint64(memory + at), ct.c_size_t(pitch)
        )
        tell(f"pitched at {at} {pitch}", status)
    ask("cuTexRefSetFormat", reference, F32, 1)
    status = ask("cuTexRefSetAddress2D_v3", reference, ct.byref(about), ct.c_uint64(memory), ct.c_size_t(128))
    tell("look-up in pitched memory", status, run(code, 0, _PLACES))


def _surface() -> None:
    code, reference, back = module(_STORE, _BEFORE), ct.c_void_p(), ct.c_void_p()
    tell("surface", ask("cuModuleGetSurfRef", ct.byref(reference), code, b"canvas"))
    array = made_array(8, 4, flags=SURFACE)
    write(array, bytes(128))
    tell("surface's array", [ask("cuSurfRefSetArray", reference, array, flags) for flags in (0, 1)])
    tell("surface of an array without the flag", ask("cuSurfRefSetArray", reference, made_array(8, 4), 0))
    tell("surface of no array", ask("cuSurfRefSetArray", reference, None, 0))
    ask("cuSurfRefSetArray", reference, array, 0)
    tell("array back of a surface", ask("cuSurfRefGetArray", ct.byref(back), reference), back.value == array.value)
    tell("stored", len(run(code, 0, [(4 * n, n & 3, 0, n + 7) for n in range(10)])), sum_of(read(array)))


def _settings(reference: ct.c_void_p) -> None:
    """Each setting, right and wrong."""
    color = (ct.c_float * 4)(0.5, 0.25, -1, 2)
    for question, name, *given in (
        *(("mode 4", "cuTexRefSetAddressMode", 0, 4), ("dimension 3", "cuTexRefSetAddressMode", 3, 1)),
        *(("mode 2", "cuTexRefSetAddressMode", 1, 2), ("filter 2", "cuTexRefSetFilterMode", 2)),
        *(("filter 1", "cuTexRefSetFilterMode", 1), ("levels' filter", "cuTexRefSetMipmapFilterMode", 1)),
        *(("bias", "cuTexRefSetMipmapLevelBias", ct.c_float(1.5)), ("flags 1", "cuTexRefSetFlags", 1)),
        *(("flags 0x80", "cuTexRefSetFlags", 0x80), ("anisotropy", "cuTexRefSetMaxAnisotropy", 4)),
        *(("anisotropy 100", "cuTexRefSetMaxAnisotropy", 100), ("border", "cuTexRefSetBorderColor", color)),
        *(("no border", "cuTexRefSetBorderColor", None),),
        ("levels", "cuTexRefSetMipmapLevelClamp", ct.c_float(0.5), ct.c_float(2)),
    ):
        tell(f"set {question}", ask(name, reference, *given))
    _state("when all is set", reference)


def _state(when: str, reference: ct.c_void_p) -> None:
    """What a reference says of itself."""
    of, count, flags, filter_, number = (ct.c_int() for _ in range(5))
    bias, least, most = ct.c_float(), ct.c_float(), ct.c_float()
    color = (ct.c_float * 4)()
    tell(f"format {when}", ask("cuTexRefGetFormat", ct.byref(of), ct.byref(count), reference), of.value, count.value)
    tell(f"flags {when}", ask("cuTexRefGetFlags", ct.byref(flags), reference), flags.value)
    tell(f"filter {when}", ask("cuTexRefGetFilterMode", ct.byref(filter_), reference), filter_.value)
    tell(f"levels' filter {when}", ask("cuTexRefGetMipmapFilterMode", ct.byref(filter_), reference), filter_.value)
    for dim in range(4):
        tell(f"mode {dim} {when}", ask("cuTexRefGetAddressMode", ct.byref(number), reference, dim), number.value)
    tell(f"bias {when}", ask("cuTexRefGetMipmapLevelBias", ct.byref(bias), reference), bias.value)
    status = ask("cuTexRefGetMipmapLevelClamp", ct.byref(least), ct.byref(most), reference)
    tell(f"levels {when}", status, least.value, most.value)
    tell(f"anisotropy {when}", ask("cuTexRefGetMaxAnisotropy", ct.byref(number), reference), number.value)
    tell(f"border {when}", ask("cuTexRefGetBorderColor", color, reference), list(color))
    if when == "at first":
        tell("array at first", ask("cuTexRefGetArray", ct.byref(ct.c_void_p()), reference))
        tell("address at first", ask("cuTexRefGetAddress_v2", ct.byref(ct.c_uint64()), reference))
        tell("resource for nobody", ask("cuTexRefGetFlags", None, reference), Resource().type)
