"""Zstandard's frames (RFC 8878, 3), in which nvcc 13 packs PTX. Dictionaries and checksums are ignored."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.files.packed.damage import DamagedError, number, part, repeat
from ptxloom.files.packed.entropy import Backward, DecodingTable, Huffman, always, make_table, read_huffman, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAGIC: Final = 0xFD2FB528
_MOST_BLOCK: Final = 1 << 17  # the most bytes of one block, unpacked
_RAW, _RLE, _COMPRESSED, _TREELESS = range(4)  # kinds of blocks and of literals
_PREDEFINED, _ONE, _WRITTEN, _REPEATED = range(4)  # how a table of sequences is stored


def _bases(first: int, plain: int, extra: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """By code: the least value, and the number of extra bits; `plain` codes have none."""
    rows = [(first + code, 0) for code in range(plain)]
    for bits in extra:
        base, before = rows[-1]
        rows.append((base + (1 << before), bits))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A part of sequences that has a table of its own.

    Attributes:
        most_log: The most states, as a logarithm.
        most_symbols: The number of codes.
        usual: The predefined table.
    """

    most_log: int
    most_symbols: int
    usual: DecodingTable


_LITERALS: Final = _bases(0, 16, (1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
_MATCHES: Final = _bases(3, 32, (1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
_KINDS: Final = (
    _Kind(9, 36, make_table([4, 3, *[2] * 11, 1, 1, 1, *[2] * 9, 3, 2, 1, 1, 1, 1, 1, *[-1] * 4], 6)),
    _Kind(8, 32, make_table([*[1] * 6, 2, 2, 2, *[1] * 15, *[-1] * 5], 5)),
    _Kind(9, 53, make_table([1, 4, 3, *[2] * 6, *[1] * 37, *[-1] * 7], 6)),
)
"""Literal lengths, offsets, match lengths."""


@dataclass(slots=True)
class _Frame:
    """The state that later blocks of a frame take over from earlier ones."""

    limit: int
    out: bytearray = field(default_factory=bytearray)
    offsets: list[int] = field(default_factory=lambda: [1, 4, 8])
    huffman: Huffman | None = None
    tables: list[DecodingTable | None] = field(default_factory=lambda: [None, None, None])


def decompress(data: bytes, size: int) -> bytes:
    """Unpack a frame.

    Args:
        data: The frame.
        size: The most bytes that it may unpack to.

    Raises:
        DamagedError: It is not a frame, is truncated, or unpacks to more.
    """
    if number(data, 0, 4) != _MAGIC:
        raise DamagedError
    head = number(data, 4, 1)
    is_single, content = head >> 5 & 1, head >> 6
    at = 5 + (1 - is_single) + (0, 1, 2, 4)[head & 3] + (is_single, 2, 4, 8)[content]
    frame = _Frame(size)
    is_last = False
    while not is_last:
        block = number(data, at, 3)
        is_last, kind, count = bool(block & 1), block >> 1 & 3, block >> 3
        at += 3
        held = part(data, at, 1 if kind == _RLE else count)
        at += len(held)
        _block(frame, kind, held, count)
    return bytes(frame.out)


def _block(frame: _Frame, kind: int, held: bytes, count: int) -> None:
    if kind == _COMPRESSED:
        literals, at = _literals(frame, held)
        _sequences(frame, held, at, literals)
        return
    if kind > _COMPRESSED or count > _MOST_BLOCK or count > frame.limit - len(frame.out):
        raise DamagedError
    frame.out += held if kind == _RAW else held * count


def _literals(frame: _Frame, data: bytes) -> tuple[bytes, int]:
    """The literals of a block, and their end."""
    head = number(data, 0, 1)
    kind, form = head & 3, head >> 2 & 3
    if kind in {_RAW, _RLE}:
        width = (1, 2, 1, 3)[form]
        size = number(data, 0, width) >> (4 if form & 1 else 3)
        if size > _MOST_BLOCK:
            raise DamagedError
        found = part(data, width, size if kind == _RAW else 1)
        return (found if kind == _RAW else found * size), width + len(found)
    width, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
    sizes = number(data, 0, width) >> 4
    size, packed = sizes & (1 << bits) - 1, sizes >> bits
    held = part(data, width, packed)
    start = 0
    if kind == _COMPRESSED:
        frame.huffman, start = read_huffman(held, 0)
    if frame.huffman is None or size > _MOST_BLOCK:
        raise DamagedError
    streams = held[start:]
    decoded = frame.huffman.decode(streams, size) if form == 0 else _four(frame.huffman, streams, size)
    return decoded, width + packed


def _four(huffman: Huffman, data: bytes, size: int) -> bytes:
    """Literals in four streams, the lengths of three before them."""
    lengths = [number(data, at, 2) for at in (0, 2, 4)]
    each = size + 3 >> 2
    at, out = 6, b""
    for length in lengths:
        out += huffman.decode(part(data, at, length), each)
        at += length
    if size < len(out):
        raise DamagedError
    return out + huffman.decode(data[at:], size - len(out))


def _sequences(frame: _Frame, data: bytes, at: int, literals: bytes) -> None:
    """Run the sequences of a block: literals alternating with matches."""
    count = number(data, at, 1)
    at += 1
    if count == 255:
        count, at = number(data, at, 2) + 0x7F00, at + 2
    elif count > 127:
        count, at = (count - 128 << 8) + number(data, at, 1), at + 1
    used = _run(frame, data, at, count, literals) if count else 0
    rest = literals[used:]
    if len(rest) > frame.limit - len(frame.out):
        raise DamagedError
    frame.out += rest


def _run(frame: _Frame, data: bytes, at: int, count: int, literals: bytes) -> int:
    """Run `count` sequences; returns the number of literals used."""
    modes = number(data, at, 1)
    at += 1
    for place, kind in enumerate(_KINDS):
        frame.tables[place], at = _table(kind, modes >> 6 - 2 * place & 3, data, at, frame.tables[place])
    by_literals, by_offset, by_match = (table or always(0) for table in frame.tables)
    stream = Backward(data[at:])
    one, two, three = stream.read(by_literals.log), stream.read(by_offset.log), stream.read(by_match.log)
    used = 0
    for left in range(count, 0, -1):
        code = by_offset.symbols[two]
        offset = (1 << code) + stream.read(code)
        base, bits = _MATCHES[by_match.symbols[three]]
        match = base + stream.read(bits)
        base, bits = _LITERALS[by_literals.symbols[one]]
        length = base + stream.read(bits)
        if length > len(literals) - used or length > frame.limit - len(frame.out):
            raise DamagedError
        frame.out += literals[used : used + length]
        used += length
        repeat(frame.out, _offset(frame.offsets, offset, length), match, frame.limit)
        if left > 1:
            one, three, two = (
                by_literals.after(one, stream), by_match.after(three, stream), by_offset.after(two, stream)
            )  # fmt: skip
    if stream.left:
        raise DamagedError
    return used


def _table(kind: _Kind, mode: int, data: bytes, at: int, before: DecodingTable | None) -> tuple[DecodingTable, int]:
    """One of the tables of a block's sequences, and its end."""
    if mode == _PREDEFINED:
        return kind.usual, at
    if mode == _ONE:
        symbol = number(data, at, 1)
        if symbol >= kind.most_symbols:
            raise DamagedError
        return always(symbol), at + 1
    if mode == _WRITTEN:
        return read_table(data, at, kind.most_log, kind.most_symbols)
    if before is None:
        raise DamagedError
    return before, at


def _offset(known: list[int], value: int, literals: int) -> int:
    """The distance of a match; the last three can be repeated by index (RFC 8878, 3.1.1.5)."""
    if value > 3:
        known[:] = value - 3, *known[:2]
        return known[0]
    place = value - 1 + (literals == 0)
    found = known[0] - 1 if place == 3 else known[place]
    if place:
        known[:] = (found, known[0], known[2] if place == 1 else known[1])
    return found
