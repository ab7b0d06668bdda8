"""Names for errors in which a result is computed from the wrong elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.sums.einsum import Axes
from ptxloom.diagnosis.sums.laws import changes_of

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.relations.leaves import Leaves
    from ptxloom.diagnosis.relations.links import Links

_UNKNOWN: Final = Named("unknown", "no single change explains it", 9)
_MANY: Final = 3  # the least results for which a pitch is named


def of_moved(leaves: Leaves, links: Links, wrong: Truth) -> tuple[Named, ...]:
    """The changes of index that explain elements that stand in for others, the plainest first.

    Args:
        leaves: The elements of one array.
        links: How they should go with the results.
        wrong: (leaves,) which do not.
    """
    turned = _turned(leaves, links)
    if turned is not None:
        return (turned,)
    apart = pitched(leaves, links)
    if apart is not None:
        return (apart,)
    if links.free:
        return _along(leaves, links, wrong)
    held = dict(zip("ijkl", np.unravel_index(leaves.element, links.shape), strict=False))
    wanted = dict(zip("ijkl", links.base(leaves.result), strict=False))
    letters = "ijkl"[: len(links.shape)]
    axes = Axes((letters, letters, letters), (links.shape, links.shape, links.shape), stated=True)
    return tuple(changes_of(axes, 0, held, wanted, wrong)) or (_UNKNOWN,)


def _turned(leaves: Leaves, links: Links) -> Named | None:
    """An array with two axes, of which the wrong one corresponds to the result's."""
    if len(links.shape) != 2:
        if len(links.shape) == 1 and links.by[0].axis >= 0 and len(links.result) == 2:
            index = np.unravel_index(leaves.result, links.result)
            other = index[1 - links.by[0].axis]
            if (leaves.element == other).all():
                words = ("column", "row") if links.by[0].axis == 0 else ("row", "column")
                return Named("order-exchanged", f"it is taken at the {words[0]}, not at the {words[1]}")
        return None
    row, column = np.unravel_index(leaves.element, links.shape)
    base = links.base(leaves.result)
    if len(links.free) == 1:
        own = 1 - links.free[0]
        held = (row, column)[1 - own]
        if links.shape[0] == links.shape[1] and (held == base[own]).all():
            return Named("order-exchanged", "rows are taken for columns")
        return None
    if not links.free and (row == base[1]).all() and (column == base[0]).all():
        return Named("order-exchanged", "row and column are exchanged")
    return None


def pitched(leaves: Leaves, links: Links) -> Named | None:
    """A wrong pitch of rows, in elements."""
    if len(links.shape) < 2 or links.by[-2].axis < 0:
        return None
    base = links.base(leaves.result)
    slow = np.zeros(len(leaves.element), np.int64)
    for axis, extent in enumerate(links.shape[:-1]):
        slow = slow * extent + base[axis]
    rest = leaves.element - base[-1]
    first = int(slow.min())
    start = rest[slow == first].min()
    for line in np.unique(slow)[1:_MANY]:
        pitch, left = divmod(int(rest[slow == line].min() - start), int(line) - first)
        own = links.shape[-1]
        if left or pitch == own or pitch <= 0:
            return None
        across = leaves.element - slow * pitch - base[-1]
        if links.by[-1].axis >= 0:
            fits = bool((across == across[0]).all())
        else:
            fits = bool((across >= 0).all() and (across < own).all())
        if fits:
            return Named("leading-dimension", f"rows are taken to be {pitch} elements apart; they are {own}")
    return None


def _along(leaves: Leaves, links: Links, wrong: Truth) -> tuple[Named, ...]:
    """Elements of another line than the one that is summed."""
    apart = links.apart(leaves.result, leaves.element)
    for number, link in enumerate(links.by):
        if link.axis < 0 or not apart[number][wrong].any():
            continue
        word = "column" if number == len(links.by) - 1 else "row"
        distances = np.unique(apart[number][wrong])
        if len(distances) == 1:
            return (Named(f"{word}s-shifted", f"some are shifted by {int(distances[0]):+d} {word}s", 2),)
        return (Named(f"{word}s-permuted", f"some are of other {word}s than the rest of their sum", 3),)
    return (_UNKNOWN,)


def ranges(numbers: Integers) -> str:
    """Numbers in words: `128 to 159`, `3`, `0, 2, 4 and 12 more`."""
    found = np.unique(numbers)
    if len(found) > 1 and found[-1] - found[0] == len(found) - 1:
        return f"{int(found[0])} to {int(found[-1])}"
    steps = np.unique(np.diff(found))
    if len(found) > 2 and len(steps) == 1:
        return f"{int(found[0])}, {int(found[1])}, ... {int(found[-1])}"
    shown = ", ".join(str(int(one)) for one in found[:4])
    return shown + (f" and {len(found) - 4:,} more" if len(found) > 4 else "")
