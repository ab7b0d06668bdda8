"""Decodes tags: the 64 bits that native code keeps for a byte, as named fields."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.machine.runtime.structs import trail as model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Kind(IntEnum):
    """The kind of an origin."""

    NONE = 0  # nothing is known: a literal, a counter
    EXACT = 1  # it is the element, bit by bit
    CONVERTED = 2  # the element, converted to another type
    COMPUTED = 3  # computed, from the inputs in its node
    PRODUCT = 4  # an element of D of a matrix product
    MIXED = 6  # its bytes do not belong together; its node holds the origins of two of them


ORIGIN: Final = np.dtype([
    ("kind", "u1"),
    ("array", "i2"),  # -1: no array
    ("element", "i8"),  # flat number in the array
    ("byte", "u1"),  # of the element: where the value starts
    ("bit", "u1"),  # of that byte: where an element of fewer bits starts
    ("at", "u1"),  # the bit at which it starts in its register's byte, if it was shifted or masked
    ("node", "i8"),  # of COMPUTED and MIXED their node, of PRODUCT the event; -1: neither
    ("item", "i4"),  # of PRODUCT: the flat number in D; -1: not of a product
    ("path", "i4"),
])  # fmt: skip
NODE: Final = np.dtype([("site", "i8"), ("sources", ORIGIN, 3)])

_BITS: Final = model.BITS >> model.KIND_SHIFT
_SLOTS: Final = (1 << model.SLOT_BITS) - 1


def decoded(tags: NDArray[np.uint64], places: NDArray[np.uint64], arrays: Sequence[tuple[int, int]]) -> NDArray[Any]:
    """Decode tags.

    Args:
        tags: The tags, in any shape.
        places: Where each array starts, in the numbers that tags use.
        arrays: The bytes of each, and of its elements.

    Returns:
        `ORIGIN` in the tags' shape; `item` holds the slot of a product's element.
    """
    result = np.zeros(tags.shape, ORIGIN)
    kinds = (tags >> np.uint64(model.KIND_SHIFT)).astype(np.uint8)
    kinds[kinds == model.WRITTEN >> model.KIND_SHIFT] = Kind.NONE
    origin = (tags & np.uint64(model.ORIGIN)).astype(np.int64)
    inner = origin >> model.BYTE_BITS
    result["kind"], result["array"], result["node"], result["item"] = kinds, -1, -1, -1
    result["path"] = tags >> np.uint64(model.PATH_SHIFT) & np.uint64(model.PATH_LIMIT - 1)
    is_product = kinds == Kind.PRODUCT
    result["item"][is_product] = inner[is_product] & _SLOTS
    noded = np.isin(kinds, (Kind.COMPUTED, Kind.MIXED))
    result["node"] = np.where(is_product, inner >> model.SLOT_BITS, np.where(noded, inner, -1))
    bits = kinds == _BITS
    start = np.where(kinds == Kind.EXACT, origin << model.BIT_BITS, inner + np.where(bits, origin & 7, 0))
    element = np.isin(kinds, (Kind.EXACT, Kind.CONVERTED, _BITS))
    result["at"][bits] = origin[bits] & 7
    result["bit"][element] = start[element] & 7
    result["kind"][bits] = Kind.CONVERTED
    _locate(result, start >> model.BIT_BITS, element, places, arrays)
    return result


def _locate(
    result: NDArray[Any],
    at: NDArray[np.int64],
    chosen: NDArray[np.bool_],
    places: NDArray[np.uint64],
    arrays: Sequence[tuple[int, int]],
) -> None:
    """Name the arrays and elements at places of global memory; for each, the smallest array that holds it."""
    by_size = sorted(range(len(arrays)), key=lambda n: -arrays[n][0])
    for number in by_size:
        start, (size, item) = int(places[number]), arrays[number]
        inside = chosen & (at >= start) & (at < start + size)
        offset = at[inside] - start
        result["array"][inside], result["element"][inside] = number, offset // item
        result["byte"][inside] = offset % item


def value_tags(
    tags: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.bool_], NDArray[np.int64]]:
    """Of values in memory, a row of tags each: the tag of each whole, whether written twice, and its path.

    A value whose bytes do not follow one another is MIXED, with no node.
    """
    clean = tags & np.uint64(~(model.PATH_FIELD | model.TWICE) & (1 << 64) - 1)
    none = np.isin(clean, np.array([0, model.WRITTEN], np.uint64)) & (clean == clean[:, -1:])
    follows = clean == clean[:, :1] + np.arange(tags.shape[1], dtype=np.uint64)
    prefix = np.logical_and.accumulate(follows, 1)
    alike = (prefix | none).all(1) & ~(prefix & none)[:, 1:].any(1) | none.all(1)
    paths = (tags >> np.uint64(model.PATH_SHIFT) & np.uint64(model.PATH_LIMIT - 1)).astype(np.int64).max(1, initial=0)
    values = np.where(alike, tags[:, 0] & np.uint64(~model.TWICE & (1 << 64) - 1), np.uint64(model.MIXED))
    twice: NDArray[np.bool_] = np.any(tags & np.uint64(model.TWICE), axis=1)
    return values, twice, paths
