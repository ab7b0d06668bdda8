"""Operands as they should be, made by hand, and what mistakes make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.origins.tiles import Plane, Tile, Wanted
from ptxloom.fragments import fragment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.permutations import Order
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.isa.products import MatrixForm

PITCH = 480
LINES = 640


def right_tile(form: MatrixForm, role: str, *, slow_rows: bool = True, events: int = 5) -> tuple[Tile, Wanted]:
    """An operand of several products, at places that warps and CTAs would have, and what the others say of it."""
    rng = np.random.default_rng(7)
    held = fragment(form, role)
    first_row, first_column = (rng.integers(0, 4, events) * 64 for _ in range(2))
    rows = first_row[:, None] + np.arange(held.rows)
    columns = first_column[:, None] + np.arange(held.columns)
    shape = (events, held.rows, held.columns)
    plane = Plane(0, PITCH, slow_rows, LINES, form.container_bits(role))
    spread = np.broadcast_to(rows[:, :, None], shape).copy(), np.broadcast_to(columns[:, None, :], shape).copy()
    return Tile(role, form, plane, *spread, np.ones(shape, np.bool_)), Wanted(rows, columns)


def reordered(tile: Tile, order: Order) -> Tile:
    """Each place of the operand holds what stands in `order`."""

    def put(values: NDArray[np.int64]) -> NDArray[np.int64]:
        return values.reshape(len(values), -1)[:, order].reshape(values.shape)

    return replace(tile, rows=put(tile.rows), columns=put(tile.columns))


def moved(tile: Tile, change: Callable[[Integers, Integers], tuple[Integers, Integers]]) -> Tile:
    """Each element comes from another slow and fast index."""
    return tile.moved(*change(tile.slow, tile.fast))


def pitched(writer: int, reader: int) -> Callable[[Integers, Integers], tuple[Integers, Integers]]:
    """A tile of 64 rows written with one pitch and read with another."""

    def change(slow: Integers, fast: Integers) -> tuple[Integers, Integers]:
        flat = slow % 64 * reader + fast % 64
        return slow // 64 * 64 + flat // writer, fast // 64 * 64 + flat % writer

    return change
