"""Where one operand of all products of an instruction comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers, Truth


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Where one operand of all products of an instruction comes from.

    Attributes:
        role: "a", "b", or "d" for the places in the result.
        array: The number of the array that most elements come from.
        unit_bits: The unit of offsets.
        offset: (events, rows, columns) offsets in the array.
        known: Likewise whether the element comes from that array.
        path: Likewise by which instructions; 0: unknown.
        missing: Likewise whether nothing is known of it, although something should be.
        node: Likewise what it was computed from; 0 if it was not. None unless it is a factor from an array.
    """

    role: str
    array: int
    unit_bits: int
    offset: Integers
    known: Truth
    path: Integers
    missing: Truth
    node: Integers | None = None

    def halved(self) -> Stack:
        """This stack, with each element read as the lower half of the previous one."""
        return replace(self, unit_bits=self.unit_bits // 2, offset=np.where(self.offset < 0, -1, 2 * self.offset))


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A factor whose elements come from no array: which elements of other products they are computed from.

    Attributes:
        product: (events, rows, columns) the product; -1: none, or several.
        item: Likewise the flat number in its D.
        path: Likewise by which instructions since then; 0: unknown.
    """

    product: Integers
    item: Integers
    path: Integers
