"""Between rows as memory holds them and registers as lanes hold them: one strided copy per plane of a fragment.

Rows are gathered so that every plane is one long run: the digits of (matrix, row) that stand below the finest column
digit in the order of the registers are taken out first, one plane for each of their values; within a plane both
sides then count in the same order, and NumPy copies it in one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.fragments.model import Axis, Digit

if TYPE_CHECKING:
    import numpy.typing as npt

    from ptxloom.fragments.model import Fragment

    Array = npt.NDArray[Any]

_UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32}


@dataclass(frozen=True, slots=True)
class Rearrangement:
    """How the rows of a matrix move become registers; every field follows from the fragment's digits.

    Attributes:
        word: The type of the largest piece that both sides hold whole.
        planes: Digits of (matrix, row) taken out as planes, highest first, in the order of the registers.
        within: The other digits of (matrix, row), highest first, in the order of the registers.
        columns: Digits of the column above a word, highest first.
        target: Every digit above a word in the order of the registers, highest first.
    """

    word: type[np.unsignedinteger]
    planes: tuple[Digit, ...]
    within: tuple[Digit, ...]
    columns: tuple[Digit, ...]
    target: tuple[Digit, ...]

    def gather_order(self, addresses: Array) -> Array:
        """Row addresses (warps, matrices * rows) as (planes, warps, rows within a plane), a view."""
        source = sorted((*self.planes, *self.within), key=lambda digit: (digit.axis is Axis.ROW, -digit.weight))
        split = addresses.reshape(len(addresses), *(2,) * len(source))
        order = [1 + source.index(digit) for digit in (*self.planes, *self.within)]
        planes, within = order[: len(self.planes)], order[len(self.planes) :]
        return split.transpose(*planes, 0, *within)

    def warps_first(self, gathered: Array) -> Array:
        """What is in gather order, one item a row, flat and by warp."""
        return np.moveaxis(gathered, len(self.planes), 0).reshape(-1)

    def to_registers(self, rows: Array, registers: npt.NDArray[np.uint32]) -> None:
        """Copy rows in gather order into registers (warps, 32, registers), C-contiguous."""
        source, target = self._views(rows, registers)
        for plane in product((0, 1), repeat=len(self.planes)):
            target[plane] = source[plane]

    def to_rows(self, registers: npt.NDArray[np.uint32], rows: Array) -> None:
        """The inverse: copy registers into rows in gather order."""
        source, target = self._views(rows, registers)
        for plane in product((0, 1), repeat=len(self.planes)):
            source[plane] = target[plane]

    def _views(self, rows: Array, registers: npt.NDArray[np.uint32]) -> tuple[Array, Array]:
        """Both sides as (plane digits..., warps, inner digits in the registers' order...)."""
        warps = len(registers)
        inner = [digit for digit in self.target if digit not in self.planes]
        held = (*self.within, *self.columns)
        source = rows.view(self.word).reshape(*(2,) * len(self.planes), warps, *(2,) * len(held))
        first = len(self.planes) + 1
        source = source.transpose(*range(first), *(first + held.index(digit) for digit in inner))
        target = registers.view(self.word).reshape(warps, *(2,) * len(self.target))
        at = {digit: 1 + place for place, digit in enumerate(self.target)}
        target = target.transpose(*(at[d] for d in self.planes), 0, *(at[d] for d in inner))
        return source, target


@cache
def rearrangement(fragment: Fragment) -> Rearrangement:
    """The rearrangement of a fragment of ldmatrix or stmatrix, or of one whose rows are 16 bytes long."""
    low = 0  # value digits that are the lowest column digits: elements that stay side by side
    while low < len(fragment.values) and fragment.values[low] == Digit(Axis.COLUMN, 1 << low):
        low += 1
    target = (*reversed(fragment.lanes), *reversed(fragment.values[low:]))
    finest = target.index(Digit(Axis.COLUMN, 1 << low))
    planes = tuple(digit for digit in target[finest + 1 :] if digit.axis is not Axis.COLUMN)
    within = tuple(digit for digit in target[:finest] if digit.axis is not Axis.COLUMN)
    columns = sorted((digit for digit in target if digit.axis is Axis.COLUMN), key=lambda d: -d.weight)
    return Rearrangement(_UNSIGNED[fragment.stride << low], planes, within, tuple(columns), target)
