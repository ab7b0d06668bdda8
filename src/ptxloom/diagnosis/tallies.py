"""Pictures of errors that no single operand shows: counts of each k and of each stored place, and missing elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.origins.tiles import common_columns, common_rows
from ptxloom.diagnosis.pictures import Picture, about_of, of_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Integers, Tile, Truth
    from ptxloom.machine.results.provenance import Contents, ProvenanceRecord

_BITS = 8  # of a byte
_NOTHING = -1


def k_of_a_sum(sites: Sequence[SiteEvidence], reading: Reading, role: str) -> Picture:
    """How often each k is multiplied into one sum: the first of those that are the furthest from once."""
    axis = 1 if role == "a" else 0
    extent = reading.planes[role].extents[axis]
    lines = [(common_columns if axis else common_rows)(tiles_of(site, reading)[role]) for site in sites]
    chains = np.concatenate([np.repeat(s.chain, one.shape[1]) for s, one in zip(sites, lines, strict=True)])
    k = np.concatenate([one.ravel() for one in lines])
    inside = (k >= 0) & (k < extent)
    numbers, which = np.unique(chains[inside], return_inverse=True)
    counts = np.zeros((len(numbers), extent), np.int64)
    np.add.at(counts, (which.ravel(), k[inside]), 1)
    worst = counts[int(np.argmax((counts != 1).sum(axis=1)))][None]
    about = "by k how often it is multiplied into one sum, as it is | as it should be"
    return of_runs(about, worst, np.ones_like(worst), ("sum", "k"), "times")


def stores_of(contents: Contents) -> Picture:
    """How often each place of an array is stored."""
    stored = (contents.stored_at >= 0).astype(np.int64) + (contents.stored_twice & (contents.stored_at >= 0))
    lines = stored.reshape(-1, stored.shape[-1] if stored.ndim > 1 else stored.size)
    about = f"by row and column how often {contents.array.name} is stored (2: or more), as it is | as it should be"
    return of_runs(about, lines, np.ones_like(lines), ("row", "column"))


def lines_beyond(tile: Tile, beyond: Truth, numbers: Integers, record: ProvenanceRecord) -> Picture:
    """The operand with the most elements from beyond the end of its rows: nothing should be read there."""
    at = int(np.argmax(np.count_nonzero(beyond, axis=(1, 2))))
    held = np.stack((tile.rows[at], tile.columns[at]), axis=-1)
    wanted = np.where(beyond[at][..., None], _NOTHING, held)
    return Picture(about_of(int(numbers[at]), record), held, wanted)


def elements_absent(
    lines: tuple[Integers, Integers], absent: Truth, numbers: Integers, record: ProvenanceRecord
) -> Picture:
    """The operand in which the most elements are absent, by its rows and columns as they should be."""
    at = int(np.argmax(np.count_nonzero(absent, axis=(1, 2))))
    wanted = np.stack(np.broadcast_arrays(lines[0][at][:, None], lines[1][at][None, :]), axis=-1)
    held = np.where(absent[at][..., None], _NOTHING, wanted)
    return Picture(about_of(int(numbers[at]), record), held, wanted)


def by_place(
    about: str,
    place: Sequence[Integers],
    values: tuple[Integers, Integers],
    axes: tuple[str, str] = ("row", "column"),
) -> Picture:
    """A picture of values at the places of a matrix, as they are and as they should be.

    Args:
        about: The caption.
        place: (elements,) the row and the column of each; of a vector the number.
        values: (elements,) as it is, and as it should be.
        axes: The meanings of rows and columns.
    """
    rows, columns = place if len(place) > 1 else (np.zeros_like(place[0]), place[0])
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    both = [np.full(shape, _NOTHING, np.int64) for _ in values]
    order = np.argsort(values[0] != values[1], kind="stable")  # of a place that takes several, a wrong one
    for one, value in zip(both, values, strict=True):
        one[rows[order], columns[order]] = value[order]
    return of_runs(about, both[0], both[1], axes)


def bits_of_nibbles(bits: int, shift: int) -> Picture:
    """A picture of the bits of an element in its byte."""
    lowest = np.arange(_BITS)[::-1]
    held, wanted = (np.where((lowest >= by) & (lowest < by + bits), lowest - by, _NOTHING) for by in (0, shift))
    names = tuple(map(str, lowest.tolist()))
    about = "by bit of a byte the bit of the element in it, as it is | as it should be"
    return Picture(about, held[None, :, None], wanted[None, :, None], ("bit",), names, axes=("element", "byte"))


def arrays_of_operands(role: str, names: tuple[str, str]) -> Picture:
    """A picture of the factors' arrays, for two factors from one array."""
    wanted = np.array([0, 1] if role == "b" else [1, 0])[:, None, None]
    about = "the array that each operand comes from, as it is | as it should be"
    return Picture(about, np.zeros_like(wanted), wanted, ("a", "b"), ("array",), names, ("operand", ""))
