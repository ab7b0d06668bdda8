"""Results that use several elements of an array by separate loads, as stencils do; compares these loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.relations.names import pitched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.relations.leaves import Leaves
    from ptxloom.diagnosis.relations.links import Links

_LIKELY: Final = 0.6  # of the elements of a load, that stand alike
_MOST_WAYS: Final = 64


class Odd(NamedTuple):
    """A load whose elements are used differently from those of other loads.

    Attributes:
        named: The difference.
        wrong: (leaves,) their numbers.
    """

    named: Named
    wrong: Truth


def odd_ways(ways: Leaves, links: Links) -> Iterator[Odd]:
    """The loads that bring to each result an element that is placed differently from the others of its load.

    Args:
        ways: The elements of one array, with their paths.
        links: How they correspond to the results, axis by axis.
    """
    numbers = np.unique(ways.path)
    if links.free or not 1 < len(numbers) <= _MOST_WAYS:
        return
    found: list[Odd] = []
    for number in numbers.tolist():
        own = ways.path == number
        each = ways.chosen(own)
        if len(np.unique(each.result)) < len(each.result):
            return  # in a loop: which of its elements is which is not known
        named = _named(each, links)
        if named is not None:
            wrong = own.copy()
            wrong[own] = True if named.cause == "leading-dimension" else _elsewhere(each, links)
            found.append(Odd(named, wrong))
    if 2 * len(found) < len(numbers):
        yield from found


def _named(each: Leaves, links: Links) -> Named | None:
    """The name of the deviation of one load's elements; None if there is none, or it has no name."""
    apart = links.apart(each.result, each.element)
    different, counts = np.unique(apart, axis=1, return_counts=True)
    if len(counts) == 1:
        return None
    usual: Integers = different[:, np.argmax(counts)]
    if counts.max() < _LIKELY * len(each.result):
        return pitched(each, links)
    strides = np.cumprod((1, *links.shape[:0:-1]))[::-1]
    if len(np.unique(strides @ apart)) > 1:
        return None  # kept in the array, or mirrored
    shown = ", ".join(f"{int(one):+d}" for one in usual)
    return Named("columns-shifted", f"what is taken at ({shown}) is of the next row where that one ends", 2)


def _elsewhere(each: Leaves, links: Links) -> Truth:
    apart = links.apart(each.result, each.element)
    different, which, counts = np.unique(apart, axis=1, return_inverse=True, return_counts=True)
    del different
    return which.ravel() != np.argmax(counts)
