"""The two codes of Zstandard: finite state entropy and Huffman (RFC 8878, 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.files.packed.damage import DamagedError, number, part

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_HUFFMAN_BITS: Final = 11
_MOST_WEIGHTS_LOG: Final = 6


class Backward:
    """Bits read backwards from the end of some bytes, where a 1 marks the first; zeros before the beginning.

    Attributes:
        left: The number of unread bits; negative after reading too many.
    """

    def __init__(self, data: bytes) -> None:
        if not data or not data[-1]:
            raise DamagedError
        self._data = data
        self.left = 8 * len(data) - 9 + data[-1].bit_length()

    def read(self, count: int) -> int:
        """The next bits, the first read being the highest."""
        self.left -= count
        low, over = max(self.left, 0), max(-self.left, 0)
        if over >= count:
            return 0
        window = int.from_bytes(self._data[low >> 3 : (low + count + 7 >> 3) + 1], "little") >> (low & 7)
        return (window & (1 << count - over) - 1) << over


@dataclass(frozen=True, slots=True)
class DecodingTable:
    """A decoding table of finite state entropy: for each state a symbol, and how to find the next state.

    Attributes:
        log: There are 1 << log states.
        symbols: By state.
        bits: The number of bits to read for the next state.
        bases: The number to add to them.
    """

    log: int
    symbols: Sequence[int]
    bits: Sequence[int]
    bases: Sequence[int]

    def after(self, state: int, stream: Backward) -> int:
        """The next state."""
        return self.bases[state] + stream.read(self.bits[state])


def always(symbol: int) -> DecodingTable:
    """The table with a single symbol."""
    return DecodingTable(0, (symbol,), (0,), (0,))


def make_table(counts: Sequence[int], log: int) -> DecodingTable:
    """The table of a distribution; -1 means a symbol with less than one state."""
    size = 1 << log
    symbols = [0] * size
    following = [max(count, 1) for count in counts]
    end = size
    for symbol, count in enumerate(counts):
        if count < 0:
            end -= 1
            symbols[end] = symbol
    at, step = 0, (size >> 1) + (size >> 3) + 3
    for symbol, count in enumerate(counts):
        for _ in range(count):
            symbols[at] = symbol
            at = at + step & size - 1
            while at >= end:
                at = at + step & size - 1
    bits, bases = [0] * size, [0] * size
    for state, symbol in enumerate(symbols):
        place = following[symbol]
        following[symbol] += 1
        bits[state] = log + 1 - place.bit_length()
        bases[state] = (place << bits[state]) - size
    return DecodingTable(log, symbols, bits, bases)


def read_table(data: bytes, at: int, most_log: int, most_symbols: int) -> tuple[DecodingTable, int]:
    """A table from its stored distribution, and the end of that (RFC 8878, 4.1.1).

    Raises:
        DamagedError: It is not a table.
    """
    held = int.from_bytes(data[at : at + 512], "little")  # longer than any distribution
    log = (held & 15) + 5
    used = 4
    left = 1 << log
    counts: list[int] = []
    while left > 0:
        width = (left + 1).bit_length()
        value = held >> used & (1 << width) - 1
        few, short = (1 << width) - 2 - left, value & (1 << width - 1) - 1
        if short < few:
            value, width = short, width - 1
        elif value >= 1 << width - 1:
            value -= few
        used += width
        counts.append(value - 1)
        left -= abs(value - 1)
        while value == 1:
            zeros = held >> used & 3
            used += 2
            counts += [0] * zeros
            if zeros < 3 or len(counts) > most_symbols:
                break
        if len(counts) > most_symbols:
            raise DamagedError
    end = at + (used + 7 >> 3)
    if left or log > most_log or end > len(data):
        raise DamagedError
    return make_table(counts, log), end


@dataclass(frozen=True, slots=True)
class Huffman:
    """A decoding table of Huffman's code: for each value of the next bits a symbol, and the length of its code.

    Attributes:
        most_bits: The longest code, in bits.
        symbols: Symbols, by the value of `most_bits` bits.
        bits: Lengths of codes, likewise.
    """

    most_bits: int
    symbols: Sequence[int]
    bits: Sequence[int]

    def decode(self, data: bytes, count: int) -> bytes:
        """`count` symbols of one stream.

        Raises:
            DamagedError: The stream has fewer.
        """
        stream, mask = Backward(data), (1 << self.most_bits) - 1
        state = stream.read(self.most_bits)
        out = bytearray()
        for _ in range(count):
            out.append(self.symbols[state])
            own = self.bits[state]
            state = (state << own | stream.read(own)) & mask
        if stream.left != -self.most_bits:
            raise DamagedError
        return bytes(out)


def read_huffman(data: bytes, at: int) -> tuple[Huffman, int]:
    """A Huffman table from its stored weights, and the end of those (RFC 8878, 4.2.1).

    Raises:
        DamagedError: It is not a table.
    """
    head = number(data, at, 1)
    at += 1
    if head >= 128:
        count = head - 127
        packed = part(data, at, count + 1 >> 1)
        weights = [byte >> shift & 15 for byte in packed for shift in (4, 0)][:count]
        return _huffman(weights), at + len(packed)
    return _huffman(_weights(part(data, at, head))), at + head


def _weights(data: bytes) -> list[int]:
    """Weights from two interleaved states of a table."""
    table, start = read_table(data, 0, _MOST_WEIGHTS_LOG, 256)
    stream = Backward(data[start:])
    states = [stream.read(table.log), stream.read(table.log)]
    weights: list[int] = []
    turn = 0
    while len(weights) < 255:
        weights.append(table.symbols[states[turn]])
        states[turn] = table.after(states[turn], stream)
        turn ^= 1
        if stream.left < 0:
            weights.append(table.symbols[states[turn]])
            return weights
    raise DamagedError


def _huffman(weights: list[int]) -> Huffman:
    """The table of weights; that of the last symbol is implied."""
    total = sum(1 << weight >> 1 for weight in weights)
    most = total.bit_length()
    last = (1 << most) - total
    if not total or most > _MOST_HUFFMAN_BITS or last & last - 1:
        raise DamagedError
    lengths = [most + 1 - weight if weight else 0 for weight in (*weights, last.bit_length())]
    symbols: list[int] = []
    bits: list[int] = []
    for length in range(most, 0, -1):
        for symbol in (symbol for symbol, own in enumerate(lengths) if own == length):
            symbols += [symbol] * (1 << most - length)
            bits += [length] * (1 << most - length)
    if len(symbols) != 1 << most or len(lengths) > 256:
        raise DamagedError
    return Huffman(most, symbols, bits)
