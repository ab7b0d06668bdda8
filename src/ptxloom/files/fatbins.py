"""The PTX in fatbins, wherever they are: by themselves, in objects, libraries, archives and programs.

A fatbin is a header (magic, version, sizes) and entries, each with a header of its own. None of this is documented; the
facts used here were determined from files that nvcc 13.5 writes in each `-compress-mode`.
"""

from __future__ import annotations

import struct
from itertools import chain
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.files.cubins import ptx_of, target_of
from ptxloom.files.errors import UnreadableFile
from ptxloom.files.packed.damage import DamagedError
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC: Final = b"\x50\xed\x55\xba"
_HEADER: Final = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of all entries
_ENTRY: Final = struct.Struct("<HHIQIIHHIIIQQQ")
_PTX: Final = 1  # kinds of entries
_CUBIN: Final = 2
_LZ4: Final = 0x2000
_ZSTD: Final = 0x8000
_MOST_BYTES: Final = 1 << 28  # of one image
_MOST_IN_ALL: Final = 1 << 29  # of all unpacked images of a file


@dataclass(frozen=True, slots=True)
class Entry:
    """One image of a fatbin.

    Attributes:
        kind: 1 for PTX, 2 for a cubin.
        arch: Its architecture, such as 80.
        flags: The kind of compression.
        size: Its unpacked size in bytes, if it is compressed.
        data: Its bytes.
    """

    kind: int
    arch: int
    flags: int
    size: int
    data: bytes


def ptx_in(data: bytes, name: str) -> tuple[tuple[str, bytes], ...]:
    """Every PTX text in the fatbins of a file, in order; if there are none, the PTX source of its machine code.

    Args:
        data: The file.
        name: Its name in messages.

    Returns:
        Each with its architecture, such as `sm_90a`.

    Raises:
        UnreadableFile: A damaged image contains one.
    """
    found, unpacker = tuple(entries(data)), _Unpacker(name)
    texts = [(one.arch, unpacker.content(one).strip(b"\0")) for one in found if one.kind == _PTX]
    if texts:
        return tuple((target_of(text) or f"sm_{arch}", text) for arch, text in texts)
    cubins = chain([data], (unpacker.content(one) for one in found if one.kind == _CUBIN))
    return tuple(one for one in map(ptx_of, cubins) if one)


def entries(data: bytes) -> Iterator[Entry]:
    """All images of all fatbins of a file; false matches are skipped."""
    at = data.find(MAGIC)
    while at >= 0:
        end = at + 1
        if at + _HEADER.size <= len(data):
            _, version, header_bytes, size = _HEADER.unpack_from(data, at)
            if version == 1 and header_bytes >= _HEADER.size and size <= len(data) - at - header_bytes:
                end = at + header_bytes + size
                yield from _entries(data[at + header_bytes : end])
        at = data.find(MAGIC, end)


def _entries(body: bytes) -> Iterator[Entry]:
    at = 0
    while at + _ENTRY.size <= len(body):
        kind, _, header_bytes, size, packed, _, _, _, arch, _, _, flags, _, whole = _ENTRY.unpack_from(body, at)
        start = at + header_bytes
        if header_bytes < _ENTRY.size or start > len(body) or size > len(body) - start:
            return
        used = packed if flags & (_LZ4 | _ZSTD) and packed <= size else size
        yield Entry(kind, arch, flags, whole, body[start : start + used])
        at = start + size


@dataclass(slots=True)
class _Unpacker:
    """Unpacks the images of one file, up to a total size.

    Attributes:
        name: The file's name in messages.
        total: The number of unpacked bytes.
    """

    name: str
    total: int = 0

    def content(self, entry: Entry) -> bytes:
        """The bytes of an entry, unpacked.

        Raises:
            UnreadableFile: It is damaged, or too large, alone or together with earlier ones.
        """
        if not entry.flags & (_LZ4 | _ZSTD):
            return entry.data
        if entry.size > _MOST_BYTES:
            raise UnreadableFile(
                f"{title(self.name)}: an image in it would have {entry.size:,} bytes; the limit is {_MOST_BYTES:,}"
            )
        self.total += entry.size
        if self.total > _MOST_IN_ALL:
            message = f"the images in it would have more than {_MOST_IN_ALL:,} bytes, the limit"
            raise UnreadableFile(f"{title(self.name)}: {message}; `cuobjdump -xptx all` extracts them one by one")
        from ptxloom.files.packed import lz4, zstandard  # noqa: PLC0415 - most commands read no compressed image

        unpack = lz4.decompress if entry.flags & _LZ4 else zstandard.decompress
        try:
            return unpack(entry.data, entry.size)
        except DamagedError:
            raise UnreadableFile(f"{title(self.name)}: an image in it is damaged, and cannot be unpacked") from None
