"""A fragment with the values that registers hold, read as any element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.display import mimebundle
from ptxloom.fragments.number_types import FLOATS
from ptxloom.isa.types import Kind, element_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.fragments.model import Fragment


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A fragment and the value of each of its elements.

    Attributes:
        fragment: The fragment.
        type: The type that the bits are read as.
        values: (matrices, rows, columns); a type narrower than an element makes more columns, a wider one fewer.
        first_row: Which row the first one is of a matrix that several warps hold together.
    """

    fragment: Fragment
    type: str
    values: NDArray[Any]
    first_row: int = 0

    _repr_mimebundle_ = mimebundle

    @property
    def per_element(self) -> float:
        """The number of values per element of the fragment."""
        return self.values.shape[2] / self.fragment.columns


def fill(fragment: Fragment, registers: NDArray[Any], type_: str = "") -> Filled:
    """Put the registers of a warp in the places of a fragment.

    Args:
        fragment: The fragment.
        registers: (lanes, registers) unsigned integers.
        type_: What to read the bits as: f16, bf16, s8, e4m3, b16, ...; plain bits of the element's width if left out.

    Raises:
        UsageError: The number of registers is wrong, or the type does not fit the rows.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> import numpy as np
        >>> held = fill(fragment("m8n8.x1.b16"), np.arange(32)[:, None], "s16")
        >>> held.values[0, 1].tolist()
        [4, 0, 5, 0, 6, 0, 7, 0]
    """
    if registers.shape != (fragment.lane_count, fragment.registers):
        raise UsageError("registers", registers.shape, f"of shape ({fragment.lane_count}, {fragment.registers})")
    name = type_ or f"b{fragment.width}"
    bits = _bits(fragment, name)
    if (fragment.width * fragment.columns) % bits:
        raise UsageError("type", name, f"one that divides rows of {fragment.width * fragment.columns} bits")
    return Filled(fragment, name, _read(_rows(fragment, registers), bits, name))


def read_registers(registers: NDArray[Any], type_: str) -> NDArray[Any]:
    """The numbers of a type that registers hold side by side, the lowest bits first.

    Args:
        registers: (n,) unsigned integers.
        type_: f16, bf16, s8, e4m3, b16, ...

    Returns:
        (n, numbers in a register).

    Raises:
        UsageError: There is no such type, or it does not divide a register.

    Example:
        >>> import numpy as np
        >>> read_registers(np.array([0x40003C00], np.uint32), "f16").tolist()
        [[1.0, 2.0]]
    """
    known = element_type(type_)
    width = 8 * registers.dtype.itemsize
    if known.count > 1 or known.kind is Kind.PREDICATE or width % known.container_bits:
        raise UsageError("type", type_, f"a type of one number that divides {width} bits")
    digits = (registers[:, None].astype(np.uint64) >> np.arange(width, dtype=np.uint64) & np.uint64(1)).astype(np.uint8)
    return _read(digits.reshape(1, len(registers), width), known.container_bits, type_)[0]


def _bits(fragment: Fragment, name: str) -> int:
    """The width of a value in bits; a narrow one may be read from its whole element."""
    known = element_type(name)
    if known.count > 1 or known.kind is Kind.PREDICATE:
        raise UsageError("type", name, "a type of one number, such as f16")
    return fragment.width if fragment.width in {known.bits, known.container_bits} else known.container_bits


def _rows(fragment: Fragment, registers: NDArray[Any]) -> NDArray[np.uint8]:
    """(matrices, rows, bits of a row): the elements' bits side by side, the lowest first."""
    bits = np.zeros((fragment.matrices, fragment.rows, fragment.columns, fragment.width), np.uint8)
    for element in fragment:
        value = int(registers[element.lane, element.register]) >> element.bit
        digits = [value >> place & 1 for place in range(element.width)]
        bits[element.matrix, element.row, element.column] = digits
    return bits.reshape(fragment.matrices, fragment.rows, -1)


def _read(rows: NDArray[np.uint8], bits: int, name: str) -> NDArray[Any]:
    """Bits as numbers of a type."""
    known = element_type(name)
    digits = rows.reshape(*rows.shape[:2], -1, bits).astype(np.uint64)
    plain = (digits << np.arange(bits, dtype=np.uint64)).sum(axis=-1, dtype=np.uint64)
    if name in FLOATS:
        return _as_float(plain, name)
    size = max(8, 1 << (bits - 1).bit_length())
    if known.signed:
        top = np.uint64(64 - bits)
        return ((plain << top).view(np.int64) >> top.view(np.int64)).astype(f"i{size // 8}")
    return plain.astype(f"u{size // 8}")


def _as_float(plain: NDArray[np.uint64], name: str) -> NDArray[Any]:
    dtype = np.dtype(FLOATS[name])
    return plain.astype(f"u{dtype.itemsize}").view(dtype)
