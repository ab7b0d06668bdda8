"""Images that mean harm: right ones of every kind, with headers, lengths and bytes changed, by seed."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from unit.files.fatbin_writer import cubin, entry, fatbin, lz4

if TYPE_CHECKING:
    import random

HEAD: Final = b".version 8.0\n.target sm_80\n.address_size 64\n"
FILL: Final = (
    HEAD
    + b""".global .align 4 .u32 base = 5;
.global .texref picture;
.global .surfref board;
.const .align 8 .b8 table[64] = {1, 2, 3, 4};
.visible .entry fill(.param .u64 to, .param .u32 count)
{
    .reg .b64 %to; .reg .b32 %t, %count, %x; .reg .pred %beyond;
    ld.param.u64 %to, [to]; ld.param.u32 %count, [count];
    mov.u32 %t, %tid.x; setp.ge.u32 %beyond, %t, %count; @%beyond ret;
    ld.global.u32 %x, [base]; add.u32 %x, %x, %t;
    mad.wide.u32 %to, %t, 4, %to; st.global.u32 [%to], %x;
    ret;
}
"""
)
TEXTS: Final = (
    FILL,
    HEAD + b".extern .global .u32 other;\n.visible .global .b8 bytes[16];\n.visible .entry add() { ret; }\n",
    HEAD + b".extern .func away();\n.visible .entry k() { call away, (); ret; }\n",
    HEAD + b".visible .func away() { ret; }\n.weak .entry k() .maxntid 64 { bar.sync 0; ret; }\n",
)
EDGES: Final = (
    *(0, 1, 2, 7, 8, 15, 16, 63, 64, 65, 255, 256, 4095, 4096, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32),
    *(2**39, 2**40, 2**47, 2**63 - 1, 2**63, 2**64 - 4096, 2**64 - 64, 2**64 - 16, 2**64 - 1),
)
_MOST: Final = 1 << 19  # bytes of an image
_SIZES: Final = {"<H": 1 << 16, "<I": 1 << 32, "<Q": 1 << 64}


def zstandard(text: bytes) -> bytes:
    """One frame of raw blocks."""
    step = 1 << 16
    parts = [text[at : at + step] for at in range(0, len(text), step)] or [b""]
    blocks = [
        struct.pack("<I", (number == len(parts) - 1) | len(part) << 3)[:3] + part for number, part in enumerate(parts)
    ]
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(text)) + b"".join(blocks)


def image(draw: random.Random) -> bytes:
    """An image, right or not."""
    made = bytearray(_whole(draw))
    for _ in range(draw.choice((0, 1, 1, 2, 3, 8))):
        if made:
            _change(made, draw)
    del made[_MOST:]
    return bytes(made)


def text(draw: random.Random) -> bytes:
    """A PTX text, right or not."""
    chosen = draw.choice(TEXTS)
    if draw.random() < 0.6:
        return chosen
    words = chosen.split(b" ")
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(words))
        what = draw.randrange(5)
        if what == 0:
            words[at] = str(draw.choice(EDGES)).encode()
        elif what == 1:
            words.insert(at, words[draw.randrange(len(words))])
        elif what == 2:
            del words[at : at + draw.randrange(1, 4)]
        elif what == 3:
            words[at] += draw.choice((b";", b"}", b"{", b'\n.file 1 "x"\n', b"[18446744073709551615]", b"\xff", b"\0"))
        else:
            words[at] = words[at].replace(b"80", draw.choice((b"90a", b"9", b"999999999", b"", b"75", b"120f")))
        words = words or [b""]
    return b" ".join(words)


def _whole(draw: random.Random) -> bytes:
    """An image of one of the kinds, as it should be."""
    kind = draw.randrange(6)
    if kind == 0:
        return text(draw) + b"\0"
    if kind == 1:
        return cubin(text(draw), draw.choice((b".nv_debug_ptx_txt", b".nv_debug_ptx_txt.123456", b".text")))
    if kind == 2:
        return draw.randbytes(draw.choice((0, 1, 3, 64, 4096)))
    return fatbin(*(_entry(draw) for _ in range(draw.choice((0, 1, 1, 2, 5)))))


def _entry(draw: random.Random) -> bytes:
    """An image of a fatbin."""
    inner = text(draw)
    arch = draw.choice((75, 80, 80, 90, 0, 4294967295))
    claimed = len(inner) if draw.random() < 0.8 else draw.choice(EDGES)
    packing = draw.randrange(5)
    if packing == 0:
        return entry(lz4(inner), arch, 1, 0x2011, claimed)
    if packing == 1:
        return entry(zstandard(inner), arch, 1, 0x8011, claimed)
    if packing == 2:
        return entry(cubin(inner), arch, 2, 0x11, 0)
    if packing == 3:
        return entry(zstandard(cubin(inner)), arch, 2, 0x8011, len(cubin(inner)))
    return entry(inner, arch, draw.choice((1, 1, 1, 2, 8, 65535)))


def _change(made: bytearray, draw: random.Random) -> None:
    """Do one thing to an image that is not empty, mostly to a number of a header."""
    what = draw.randrange(8)
    near = draw.choice((64, 160, len(made)))
    at = draw.randrange(min(near, len(made)))
    if what < 4:
        form = draw.choice((*_SIZES,))
        size = struct.calcsize(form)
        at = at // size * size if draw.random() < 0.8 else at
        made[at : at + size] = struct.pack(form, draw.choice(EDGES) % _SIZES[form])
    elif what == 4:
        made[at] ^= 1 << draw.randrange(8)
    elif what == 5:
        del made[at:]
    elif what == 6:
        made[at:at] = made[at : at + draw.choice((1, 16, 64, 1024))]
    else:
        made += made[at:]
