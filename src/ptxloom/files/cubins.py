"""The PTX in cubins: code compiled with line information (`-lineinfo`) contains its PTX text.

A cubin is an ELF file for CUDA's machine. Its section `.nv_debug_ptx_txt` holds the lines of the PTX, each ended by a
zero; comments and line directives are blank, so that lines keep their numbers. In relocatable code (`-rdc true`, `-dc`)
a number follows the section's name. None of this is documented; it was determined from files of ptxas 13.4
and 13.5.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECTION: Final = re.compile(rb"\.nv_debug_ptx_txt(\.\d+)?")
_CUDA: Final = 190  # e_machine
_CLASS_64: Final = 2
_HEADER: Final = struct.Struct("<4sB13xH20xQ10xHHH")  # magic, class, machine, where sections are, bytes, number, names
_HEADING: Final = struct.Struct("<II16xQQ24x")  # a section's name, type, offset, bytes
_NO_BITS: Final = 8
_TARGET: Final = re.compile(rb"^[^\S\n]*+\.target\s++(sm_\d++[af]?)", re.MULTILINE)
_VERSION: Final = re.compile(rb"^[^\S\n]*+\.version\s", re.MULTILINE)
_LONGEST_NAME: Final = 64  # longer than that of any relevant section


def ptx_of(cubin: bytes) -> tuple[str, bytes] | None:
    """The target and PTX source of a cubin; None if it contains no PTX, or is not a cubin.

    Args:
        cubin: The file. A damaged one counts as having no PTX.
    """
    text = b"".join(_texts(cubin)).replace(b"\0", b"\n")
    target = target_of(text)
    if not target or len(_VERSION.findall(text)) != 1:  # several linked modules, whose lines are mixed
        return None
    return target, text


def target_of(text: bytes) -> str:
    """The target that a PTX text names, such as `sm_90a`; empty if it names no target."""
    found = _TARGET.search(text)
    return found[1].decode("ascii") if found else ""


def _texts(data: bytes) -> Iterator[bytes]:
    """The sections of a cubin that hold PTX; empty if their claimed sizes together exceed the file."""
    places = [(start, size) for name, start, size in _sections(data) if _SECTION.fullmatch(name)]
    if sum(size for _, size in places) <= len(data):
        yield from (data[start : start + size] for start, size in places)


def _sections(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The sections of a cubin: names (long ones truncated), offsets and sizes."""
    if len(data) < _HEADER.size:
        return
    header: tuple[bytes, int, int, int, int, int, int] = _HEADER.unpack_from(data)
    magic, width, machine, at, each, count, names = header
    if (magic, width, machine, each) != (b"\x7fELF", _CLASS_64, _CUDA, _HEADING.size) or names >= count:
        return
    if at + count * each > len(data):
        return
    headings: list[tuple[int, int, int, int]] = [_HEADING.unpack_from(data, at + each * n) for n in range(count)]
    _, _, start, size = headings[names]
    spelled = data[start : start + size]
    for name, kind, start, size in headings:
        if kind != _NO_BITS and start + size <= len(data):
            yield spelled[name : name + _LONGEST_NAME].partition(b"\0")[0], start, size
