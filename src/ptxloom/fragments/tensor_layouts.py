"""Where the operands of `tcgen05.mma` are in tensor memory: D's layouts A to G, and A's rows (PTX ISA 9.7.16.10.5).

A layout follows from how many rows D has, whether one CTA computes it or a pair, and whether weights stay (`.ws`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import TENSOR_LANES


class TensorPlace(NamedTuple):
    """A place of tensor memory: of which CTA of a pair, and from the lane and the column of the address on."""

    cta: int
    lane: int
    column: int


@dataclass(frozen=True, slots=True)
class TensorLayout:
    """How rows of a matrix are spread over lanes, and its columns over columns.

    Attributes:
        name: The manual's letter.
        m: The rows of D.
        ctas: 1, or 2 for a pair.
        rows: How many of the rows each CTA has.
        group: Rows that are in neighbouring lanes.
        pitch: Lanes from one such group of rows to the next.
        folds: In how many parts the columns are cut: each has lanes of its own.

    Example:
        >>> accumulator_layout(128, 2).place(5, 100, 128)
        TensorPlace(cta=0, lane=69, column=36)
    """

    name: str
    m: int
    ctas: int
    rows: int
    group: int
    pitch: int
    folds: int = 1

    def place(self, row: int, column: int, n: int) -> TensorPlace:
        """Where an element of D is, which has `n` columns in all."""
        cta, row = divmod(row, self.rows)
        fold, column = divmod(column, n // self.folds)
        group, within = divmod(row, self.group)
        return TensorPlace(cta, group * self.pitch + within + fold * (TENSOR_LANES // self.folds), column)

    def columns(self, n: int) -> int:
        """How many columns of tensor memory D takes."""
        return n // self.folds

    @property
    def lanes(self) -> int:
        """How many lanes from the address on, gaps included."""
        return (self.rows // self.group - 1) * self.pitch + self.group + (self.folds - 1) * TENSOR_LANES // self.folds


_LAYOUTS: Final = {
    (128, 1, False): TensorLayout("D", 128, 1, 128, 128, 128),
    (64, 1, False): TensorLayout("F", 64, 1, 64, 16, 32),
    (256, 2, False): TensorLayout("A", 256, 2, 128, 128, 128),
    (128, 2, False): TensorLayout("B", 128, 2, 64, 64, 64, 2),
    (128, 1, True): TensorLayout("D", 128, 1, 128, 128, 128),
    (64, 1, True): TensorLayout("E", 64, 1, 64, 64, 64, 2),
    (32, 1, True): TensorLayout("G", 32, 1, 32, 32, 32, 4),
}
_SPARSE_PAIR: Final = TensorLayout("C", 128, 2, 64, 16, 32)


def accumulator_layout(m: int, ctas: int = 1, *, ws: bool = False, sparse: bool = False) -> TensorLayout:
    """The layout of D.

    Args:
        m: The rows of D.
        ctas: 1 for `.cta_group::1`, 2 for `.cta_group::2`.
        ws: Whether the instruction is `.ws`.
        sparse: Whether it is `.sp`.

    Raises:
        UsageError: There is no such D.
    """
    if (m, ctas, sparse) == (128, 2, True):
        return _SPARSE_PAIR
    if (m, ctas, ws) not in _LAYOUTS:
        legal = sorted(rows for rows, group, kept in _LAYOUTS if (group, kept) == (ctas, ws))
        raise UsageError("m", m, f"one of {', '.join(map(str, legal))}")
    return _LAYOUTS[m, ctas, ws]
