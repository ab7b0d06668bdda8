"""Steps that use a CTA's engines: boxes of tensors, texels, and products in tensor memory.

A tensor map is written by the program itself, which knows its 128 bytes: the launch's input, 224 bytes per row, is the
tensor. The launcher makes the texture, the same for every program.
"""

from __future__ import annotations

from functools import cache
from struct import unpack
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.conformance.scenes.things import TextureObject
from ptxloom.descriptors import DATA_TYPES, InstructionDescriptor, MatrixDescriptor, encode_tiled
from ptxloom.descriptors.instruction import SCALED_KINDS, TYPES
from ptxloom.descriptors.tensor_types import swizzle_bytes
from ptxloom.fuzzing.banks import BLOCK, EXCHANGE, FRAME_BYTES, OBJECTS
from ptxloom.fuzzing.statements import register

if TYPE_CHECKING:
    from random import Random

MAPS: Final = "maps"
"""The variable that holds the tensor maps of a kernel's CTAs."""
TEXTURE: Final = "tex_"
"""The kernel's parameter that is a texture."""
MAP_BYTES: Final = 128
_WAIT: Final = "bar.sync 0;"
_ROOM: Final = 4096
_BARRIER: Final = f"[%o+{OBJECTS + 64}]"
_SLOT: Final = f"%o+{OBJECTS + 128}"
_SWIZZLES: Final = ("none", "32B", "64B", "128B")
_PLAIN: Final = (16, 32, 64, 96)
"""Bytes of a row of a box without a swizzle."""
_COLUMNS: Final = 32
_FACTORS: Final = MatrixDescriptor(0, 128, 256, generation="tcgen05").bits
"""A descriptor of rows of 32 bytes in core matrices, not swizzled."""
_ROWS: Final = 128


@cache
def texture() -> TextureObject:
    """The texture of every program."""
    texels = (np.arange(7 * 9 * 4, dtype=np.int64) * 2654435761 % 251).astype(np.float32) / np.float32(16)
    sampling = {
        "address_mode": "border",
        "filter_mode": "linear",
        "normalized_coords": False,
        "border_color": (0.25, 1.5, -2.0, 3.0),
        "read_mode": "element_type",
    }
    return TextureObject("2d", (texels.reshape(7, 9, 4),), sampling)


def looked_up(chance: Random) -> str:
    """A look-up of the texture, or texels gathered from it."""
    floats = ", ".join(f"%f{at}" for at in range(4))
    place = f"{{{register(chance, 'f')}, {register(chance, 'f')}}}"
    steps = f", {{{chance.randint(-8, 7)}, {chance.randint(-8, 7)}}}" if chance.random() < 0.3 else ""
    asked = chance.choice(("tex.2d.v4.f32.f32", "tex.2d.v4.f32.f32", f"tld4.{chance.choice('rgba')}.2d.v4.f32.f32"))
    return f".reg .b64 %tx; ld.param.u64 %tx, [{TEXTURE}]; {asked} {{{floats}}}, [%tx, {place}]{steps};"


def boxed(chance: Random) -> str:
    """A box of the launch's input, by a tensor map that the first thread writes."""
    kind = chance.choice([one for one in DATA_TYPES.values() if not one.is_narrow])
    swizzle = chance.choice(_SWIZZLES)
    spans = _PLAIN if swizzle == "none" else (swizzle_bytes(swizzle),)
    inner = chance.choice([span for span in spans if span >= kind.element_bytes])
    rows = chance.randint(1, min(_ROOM // inner, 32))
    size = kind.element_bytes
    fill = "nan" if kind.is_float and chance.random() < 0.3 else "none"
    steps = 1, chance.choice((1, 1, 2))
    whole, box = (FRAME_BYTES // size, BLOCK), (inner // size, rows)
    made = encode_tiled(kind.name, 0, whole, (FRAME_BYTES,), box, steps, swizzle=swizzle, oob_fill=fill)
    halves = unpack("<16Q", made.to_bytes())
    first = max(16 // size, 1) * chance.randint(-1, FRAME_BYTES // 16)
    point = f"{first}, {chance.randint(-3, BLOCK)}"
    stores = " ".join(
        f"@%z st.global.v2.b64 [%mp+{16 * at}], {{{'%in' if at == 0 else halves[2 * at]}, {halves[2 * at + 1]}}};"
        for at in range(8)
    )
    return (
        f".reg .b64 %mp, %s; .reg .pred %q; .reg .b32 %y; mov.u32 %m, %ctaid.x; mov.u64 %mp, {MAPS}; "
        f"mad.wide.u32 %mp, %m, {MAP_BYTES}, %mp;\n{stores}\n"
        "@%z fence.proxy.tensormap::generic.release.gpu; "
        f"@%z mbarrier.init.shared.b64 {_BARRIER}, 1; fence.proxy.async; {_WAIT} cvta.global.u64 %mp, %mp;\n"
        f"@%z fence.proxy.tensormap::generic.acquire.gpu [%mp], {MAP_BYTES};\n"
        f"@%z mbarrier.arrive.expect_tx.shared.b64 %s, {_BARRIER}, {made.transaction_bytes};\n"
        f"@%z cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        f"[%o+{EXCHANGE}], [%mp, {{{point}}}], {_BARRIER};\n"
        f"W: mbarrier.try_wait.parity.shared.b64 %q, {_BARRIER}, 0; @!%q bra W;\n"
        f"rem.u32 %m, %t, {made.transaction_bytes // 4}; mad.wide.u32 %a, %m, 4, %o; "
        f"ld.shared.b32 {register(chance, 'w')}, [%a+{EXCHANGE}]; "
        f"{_WAIT} @%z mbarrier.inval.shared.b64 {_BARRIER}; {_WAIT}"
    )


def tensor_product(chance: Random) -> str:
    """`tcgen05.mma` of data that threads stored in shared memory, added to data in tensor memory."""
    kind = chance.choice([one for one in TYPES if one not in SCALED_KINDS])
    a, b = (chance.choice(tuple(TYPES[kind])) for _ in range(2))
    b = a if kind == "f16" else b
    result = "s32" if kind == "i8" else "f32"
    letter = "w" if kind == "i8" else "f"
    told = InstructionDescriptor(kind, _ROWS, 8, a, b, result, saturate=kind == "i8" and chance.random() < 0.5)
    names = ", ".join(f"%{letter}{at}" for at in range(4))
    pieces = "%x0, %x1, %x2, %x3"
    return (
        ".reg .b64 %da, %db; .reg .pred %q, %w; .reg .b32 %tm, %ln; shr.u32 %m, %t, 5; setp.ne.u32 %w, %m, 0;\n"
        f"@!%w tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [{_SLOT}], {_COLUMNS};\n"
        f"@%z mbarrier.init.shared.b64 {_BARRIER}, 1; mad.wide.u32 %a, %t, 32, %o;\n"
        f"st.shared.v4.b32 [%a+{EXCHANGE}], {{{pieces}}}; xor.b32 %m, %x0, %t; "
        f"st.shared.v4.b32 [%a+{EXCHANGE + 16}], {{%m, %x3, %x2, %x1}}; fence.proxy.async; {_WAIT}\n"
        f"ld.shared.u32 %tm, [{_SLOT}]; shr.u32 %m, %t, 5; shl.b32 %ln, %m, 21; add.u32 %ln, %ln, %tm;\n"
        f"tcgen05.st.sync.aligned.32x32b.x4.b32 [%ln], {{{names}}}; add.u32 %m, %ln, 4;\n"
        f"tcgen05.st.sync.aligned.32x32b.x4.b32 [%m], {{{names}}}; tcgen05.wait::st.sync.aligned;\n"
        f"tcgen05.fence::before_thread_sync; {_WAIT} tcgen05.fence::after_thread_sync;\n"
        f"add.u64 %a, %o, {EXCHANGE}; shr.u64 %a, %a, 4; and.b64 %a, %a, 16383; or.b64 %da, %a, {_FACTORS}; "
        f"add.u64 %db, %da, {chance.randrange(8) * 16}; setp.eq.u32 %q, %t, {chance.randrange(2) * BLOCK};\n"
        f"@%z tcgen05.mma.cta_group::1.kind::{kind} [%tm], %da, %db, {told.bits}, %q;\n"
        f"@%z tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 {_BARRIER};\n"
        f"W: mbarrier.try_wait.parity.shared.b64 %q, {_BARRIER}, 0; @!%q bra W;\n"
        "tcgen05.fence::after_thread_sync; "
        f"tcgen05.ld.sync.aligned.32x32b.x4.b32 {{{names}}}, [%ln]; tcgen05.wait::ld.sync.aligned;\n"
        f"tcgen05.fence::before_thread_sync; {_WAIT} @%z mbarrier.inval.shared.b64 {_BARRIER};\n"
        f"@!%w tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, {_COLUMNS}; {_WAIT}"
    )
