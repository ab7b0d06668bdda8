"""Fatbins as nvcc writes them, made by hand."""

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
