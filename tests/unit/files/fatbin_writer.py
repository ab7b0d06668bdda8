"""Fatbins as nvcc writes them, and cubins as ptxas does, made by hand."""

from __future__ import annotations

import struct

PTX = ".version 8.0\n.target sm_{}\n.address_size 64\n.visible .entry add() {{ ret; }}\n"


def entry(data: bytes, arch: int = 80, kind: int = 1, flags: int = 0x11, whole: int = 0) -> bytes:
    padded = data + bytes(-len(data) % 8)
    packed = len(data) if flags & 0xA000 else 0
    head = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 80, len(padded), packed, 64, 5, 9, arch, 0, 0, flags, 0, whole)
    return head + bytes(80 - len(head)) + padded


def fatbin(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def ptx(arch: int) -> bytes:
    return PTX.format(arch).encode()


def lz4(text: bytes) -> bytes:
    """One block of literals."""
    rest = len(text) - 15
    return b"\xf0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + text


def cubin(text: bytes, section: bytes = b".nv_debug_ptx_txt", machine: int = 190) -> bytes:
    """A cubin whose section holds a text, each line of it ended by a zero."""
    spelled = b"\0.shstrtab\0" + section + b"\0"
    contents = (b"", spelled, text.replace(b"\n", b"\0"))
    body, headings = b"", b""
    for name, content in zip((0, 1, 11), contents, strict=True):
        headings += struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, 64 + len(body), len(content), 0, 0, 1, 0)
        body += content
    start = 64 + len(body)
    sizes = (64, 0, 0, 64, 3, 1)
    head = struct.pack("<4s4B8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 2, machine, 1, 0, 0, start, 0, *sizes)
    return head + body + headings
