"""The other inputs of an operand's elements: the scale and the zero point of a dequantised weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.packed import first_bits, unit_bits_of
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.results.provenance import TracedArray

_DEEPEST: Final = 8  # instructions between an element and what is computed from it
_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)
_MOST: Final = 1 << 22  # values that are looked at


class Beside(NamedTuple):
    """Elements of one array that values are computed from.

    Attributes:
        array: Its number.
        unit_bits: Of an element as it is used: fewer than those of the array's where several are packed in one.
        value: (found,) which of the values.
        unit: (found,) the flat number of the element, in units.
        path: (found,) its way.
    """

    array: int
    unit_bits: int
    value: Integers
    unit: Integers
    path: Integers


def beside(values: Integers, main: int, nodes: NDArray[Any], arrays: tuple[TracedArray, ...]) -> Iterator[Beside]:
    """The elements of each array but one that values are computed from.

    Args:
        values: (values,) their nodes.
        main: The array that is left out.
        nodes: What values are computed from.
        arrays: Of the launch.
    """
    which, origins = leaves(values, nodes)
    own = (origins["array"] >= 0) & (origins["array"] != main)
    numbers: list[int] = np.unique(origins["array"][own]).tolist()
    for number in numbers:
        here = origins["array"] == number
        found, array = origins[here], arrays[number]
        first, bits = first_bits(found), 8 * array.dtype.itemsize
        unit_bits = unit_bits_of(first, bits)
        unit = found["element"] * (bits // unit_bits) + first // unit_bits
        yield Beside(number, unit_bits, which[here], unit, found["path"].astype(np.int64))


def leaves(values: Integers, nodes: NDArray[Any]) -> tuple[Integers, NDArray[Any]]:
    """The value that each element contributes to, and its origin; empty if there are too many."""
    which, node = np.arange(len(values)), values
    found: list[tuple[Integers, NDArray[Any]]] = [(which[:0], nodes["sources"][:0, 0])]
    count = 0
    for _ in range(_DEEPEST):
        count += len(node)
        if not len(node) or count > _MOST:
            break
        sources = nodes["sources"][node]
        row, place = np.nonzero(np.isin(sources["kind"], _ELEMENT))
        found.append((which[row], sources[row, place]))
        row, place = np.nonzero((sources["kind"] == Kind.COMPUTED) & (sources["node"] > 0))
        further = np.stack((which[row], sources["node"][row, place].astype(np.int64)), axis=1)
        which, node = np.unique(further, axis=0).T
    if count > _MOST:
        found = found[:1]
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])
