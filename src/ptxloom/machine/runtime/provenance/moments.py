"""Keeps the shared memory of chosen CTAs at chosen moments: all of its bytes and their tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, length, part, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.provenance.shared_words import copy_words
from ptxloom.machine.runtime.state import Cta, Warp

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def cta_number(cta: Cta) -> u64:
    """A CTA's number in the grid."""
    grid = cta.launch.grid
    at = cta.ctaid
    return u64(at[0]) + u64(grid[0]) * (u64(at[1]) + u64(grid[1]) * u64(at[2]))


def place_among(numbers: Slice[u64], number: u64) -> u64:
    """The index of a number in a sorted slice; the slice's length if it is not in there."""
    low: u64 = 0
    high = length(numbers)
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    if low < length(numbers) and numbers[low] == number:
        return low
    return length(numbers)


@watching
def keep_shared(cta: Cta, moment: u32) -> None:
    """At the first occurrence of a requested moment of a CTA: keep its bytes and their tags."""
    trail = cta.launch.trail
    place = place_among(trail.kept, cta_number(cta))
    if place == length(trail.kept):
        return
    at = place * u64(trail.moments) + u64(moment)
    if trail.taken[at] != 0:
        return
    trail.taken[at] = 1
    size = u64(trail.shared_bytes)
    copy_words(cta, part(trail.pictures, at * size, size))
    copy(part(trail.contents, at * size, size), cta.shared, size)


def keep_warps_shared(w: Warp, lanes: u32, paired: u32, moment: u32) -> None:
    """The same at an instruction of a warp, for its CTA and, if `paired`, for the peer."""
    if lanes == 0:
        return
    keep_shared(w.cta, moment)
    if paired != 0 and w.launch.members & 1 == 0:  # else there is none, as the instruction has no field for it
        keep_shared(w.cta.peers[w.cta.rank ^ 1].cta, moment)
