"""Which axis of each array is m, n and k, and the pitch of its lines: the reading under which most laws hold.

Arrays may be flat, may be in row- or in column-major order, and either may be multiplied from the left: this is
unknown, unless there is an `Expectation`. The sizes of three arrays determine m, n and k; the loaded offsets determine
the rest.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import isqrt, prod
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.arrays.blocked import planes_of
from ptxloom.diagnosis.origins.tiles import Plane, Tile, common_columns, common_rows, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.expectation import Expectation
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.stacks import Stack
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.results.provenance import TracedArray

_SAMPLES: Final = 48  # products that a reading is chosen by
_MOST_PITCHES: Final = 8
_MOST_READINGS: Final = 4  # that are tried
_MARGIN: Final = 4.0  # of the score, between those that are
_MOST_PLANES: Final = 6  # of an operand, of arrays of several axes
_SEVERAL: Final = 3  # axes, of which a matrix has two
_PAIRS: Final = (("a", "b", 1, 0), ("a", "d", 0, 0), ("b", "d", 1, 1))  # who shares which axis: 0 rows, 1 columns
_SPARSE_PAIRS: Final = _PAIRS[1:]  # a sparse A has half as many k as it stands for

Pairs: TypeAlias = tuple[tuple[str, str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the arrays of a product are read.

    Attributes:
        planes: The plane of each role.
        stated: Whether the user declared it.
        score: How well the laws hold under it.
        image: Whether the first factor is an image, whose padding omits some k.
        reshaped: The number of arrays that are read with another line length than that of the given matrices.
    """

    planes: dict[str, Plane]
    stated: bool
    score: float
    image: bool = False
    reshaped: int = 0


def readings_of(
    sites: Sequence[SiteEvidence], arrays: Sequence[TracedArray], expected: Expectation | None
) -> tuple[Reading, ...]:
    """The readings of instructions that multiply the same arrays, in one form, the likeliest first.

    Returns:
        A few under which the arrays' extents agree, or that were stated; none if there is nothing to read.
    """
    stacks = {
        stack.role: _sampled([s for site in sites for s in site.stacks if s.role == stack.role])
        for stack in sites[0].stacks
    }
    if "a" not in stacks and "b" not in stacks:
        return ()
    sizes = {role: 8 * arrays[stack.array].nbytes // stack.unit_bits for role, stack in stacks.items()}
    stated = _stated(stacks, arrays, expected)
    choices: dict[str, list[_Choice]] = {}
    for role, stack in stacks.items():
        pitches = _pitches(role, stack, arrays[stack.array], sizes, exact=bool(stated))
        slow = [stated[role]] if role in stated else [True, False]
        batch = _batch(role, stacks, arrays, sizes)
        choices[role] = [
            _Choice.of(sites[0], stack, _plane(stack, arrays[stack.array], pitch, sizes[role], batch, slow_rows=rows))
            for pitch in pitches
            for rows in slow
        ]
    if not all(choices.values()):
        return ()
    scored: list[Reading] = []
    for best in product(*choices.values()):
        chosen = dict(zip(choices, best, strict=True))
        planes = {role: choice.plane for role, choice in chosen.items()}
        pairs = _SPARSE_PAIRS if sites[0].form.sparse else _PAIRS
        if stated or _extents_agree(planes, pairs) >= 0:
            reshaped = sum(_is_reshaped(plane, arrays[plane.array]) for plane in planes.values())
            scored.append(Reading(planes, bool(stated), _score(chosen, pairs), reshaped=reshaped))
    scored.sort(key=lambda reading: -reading.score)
    return tuple(reading for reading in scored[:_MOST_READINGS] if reading.score > scored[0].score - _MARGIN)


def blocked_readings_of(sites: Sequence[SiteEvidence], arrays: Sequence[TracedArray]) -> tuple[Reading, ...]:
    """The readings under which some array's rows, or columns, consist of several of its axes, the likeliest first.

    Returns:
        A few, with equal extents; empty if there are none.
    """
    first = sites[0]
    pairs = _SPARSE_PAIRS if first.form.sparse else _PAIRS
    if any(site.described for site in sites) or {stack.role for stack in first.stacks} != set("abd"):
        return ()
    choices: list[list[_Choice]] = []
    for role in "abd":
        stack = _sampled([s for site in sites for s in site.stacks if s.role == role])
        array = arrays[stack.array]
        size, per = 8 * array.nbytes // stack.unit_bits, 8 * array.dtype.itemsize // stack.unit_bits
        pitch = array.shape[-1] * per
        plain = [_plane(stack, array, pitch, size, 1, slow_rows=rows) for rows in (True, False)] if pitch > 1 else []
        tried = [_Choice.of(first, stack, plane) for plane in (*plain, *planes_of(array, stack.unit_bits))]
        choices.append(sorted(tried, key=lambda one: -one.whole - one.compact)[:_MOST_PLANES])
    scored: list[Reading] = []
    for best in product(*choices):
        planes = {role: choice.plane for role, choice in zip("abd", best, strict=True)}
        if any(plane.digits for plane in planes.values()) and _extents_agree(planes, pairs) == len(pairs) / 2:
            scored.append(Reading(planes, stated=False, score=_score(dict(zip("abd", best, strict=True)), pairs)))
    scored.sort(key=lambda reading: -reading.score)
    return tuple(scored[:_MOST_READINGS])


def _is_reshaped(plane: Plane, array: TracedArray) -> bool:
    """Whether an array that was given as one matrix is read as another."""
    return len(array.shape) == 2 and array.shape[-1] * 8 * array.dtype.itemsize != plane.pitch * plane.unit_bits


def _sampled(stacks: list[Stack]) -> Stack:
    """A part of the products of several instructions."""
    offset, known = (np.concatenate([getattr(s, name) for s in stacks]) for name in ("offset", "known"))
    chosen = np.unique(np.linspace(0, len(offset) - 1, min(len(offset), _SAMPLES)).astype(np.int64))
    return replace(stacks[0], offset=offset[chosen], known=known[chosen], node=None)


def _stated(stacks: dict[str, Stack], arrays: Sequence[TracedArray], expected: Expectation | None) -> dict[str, bool]:
    """For each role whether the slow index is its row, where the axes of all arrays are known."""
    if expected is None or not expected.is_product:
        return {}
    axes = {role: expected.axes.get(arrays[stack.array].name) for role, stack in stacks.items()}
    found: dict[str, bool] = {}
    left = None
    if (own := axes.get("a")) is not None and "k" in own:
        found["a"] = own[1] == "k"
        left = own[0] if own[1] == "k" else own[1]
    if (own := axes.get("b")) is not None and "k" in own:
        found["b"] = own[0] == "k"
        left = left or {"n": "m", "m": "n"}[own[1] if own[0] == "k" else own[0]]
    if (own := axes.get("d")) is not None and left in own:
        found["d"] = own[0] == left
    return found


def _pitches(role: str, stack: Stack, array: TracedArray, sizes: dict[str, int], *, exact: bool) -> list[int]:
    """Possible pitches of the array's lines in elements, the likeliest first."""
    per = 8 * array.dtype.itemsize / stack.unit_bits
    shaped = [int(array.shape[-1] * per)] if len(array.shape) > 1 else []
    if shaped and exact:
        return shaped
    found = [*shaped, *_by_sizes(role, sizes), *_by_steps(stack)]
    return list(dict.fromkeys(pitch for pitch in found if 1 < pitch <= max(sizes[role], 2)))[:_MOST_PITCHES]


def _by_sizes(role: str, sizes: dict[str, int]) -> list[int]:
    """m, n and k, if the three arrays are whole matrices without gaps."""
    if len(sizes) < 3 or not all(sizes.values()):
        return []
    a, b, d = (sizes[name] for name in "abd")
    square = a * b // d
    k = isqrt(square)
    if k * k != square or not k or a % k or b % k:
        return []
    return {"a": [k, a // k], "b": [b // k, k], "d": [b // k, a // k]}[role]


def _by_steps(stack: Stack) -> list[int]:
    """The most frequent distances of neighbours in rows, and in columns."""
    found: list[int] = []
    for axis in (1, 2):
        apart: Integers = np.abs(np.diff(stack.offset, axis=axis))
        known = np.minimum(np.delete(stack.known, 0, axis), np.delete(stack.known, -1, axis))
        steps, counts = np.unique(apart[known], return_counts=True)
        common = steps[np.argsort(-counts, kind="stable")][:3]
        found += [int(step) for step in common if step > 1]
    return found


def _batch(role: str, stacks: dict[str, Stack], arrays: Sequence[TracedArray], sizes: dict[str, int]) -> int:
    """The number of matrices in the array of an operand: that of its leading axes, if the others may have as many."""
    batch = prod(arrays[stacks[role].array].shape[:-2])
    others = [(arrays[stack.array].shape, sizes[other]) for other, stack in stacks.items() if other != role]
    fits = (
        all((prod(shape[:-2]) if len(shape) > 2 else size) % batch == 0 for shape, size in others) if batch else False
    )
    return batch if fits else 1


def _plane(stack: Stack, array: TracedArray, pitch: int, size: int, batch: int, *, slow_rows: bool) -> Plane:
    shape = array.shape
    per = 8 * array.dtype.itemsize / stack.unit_bits
    shaped = len(shape) > 1 and int(shape[-1] * per) == pitch
    lines = size // pitch
    batch = batch if shaped else 1
    slow_is_k = stack.role in "ab" and slow_rows == (stack.role == "b")
    several = [(int(prod(shape[n + 1 :]) * per), extent) for n, extent in enumerate(shape) if extent > 1]
    return Plane(
        stack.array,
        pitch,
        slow_rows,
        lines // batch if slow_is_k and batch > 1 else lines,
        stack.unit_bits,
        batch > 1 and slow_is_k,
        axes=tuple(several) if len(several) >= _SEVERAL and per >= 1 and not size % pitch else (),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """A plane, and the tile read with it."""

    plane: Plane
    whole: float
    compact: float
    lines: tuple[Integers, Integers]  # rows, columns

    @classmethod
    def of(cls, site: SiteEvidence, stack: Stack, plane: Plane) -> _Choice:
        tile = tile_of(stack, site, plane)
        lines = common_rows(tile), common_columns(tile)
        right = np.count_nonzero(whole(tile) & tile.known) / max(np.count_nonzero(tile.known), 1)
        return cls(plane, right, _compact(tile), lines)


def tile_of(stack: Stack, site: SiteEvidence, plane: Plane) -> Tile:
    """A stack as rows and columns of its matrix."""
    rows, columns = plane.split(stack.offset)
    return Tile(stack.role, site.form, plane, rows, columns, stack.known)


def _compact(tile: Tile) -> float:
    """The fraction of products whose rows and columns are consecutive and as many as their operand's."""
    score = 0.0
    for values, extent in ((tile.rows, tile.shape[0]), (tile.columns, tile.shape[1])):
        most = np.where(tile.known, values, -1).max(axis=(1, 2))
        least = np.where(tile.known, values, np.iinfo(np.int64).max).min(axis=(1, 2))
        score += np.count_nonzero((most - least < extent) & (most >= 0)) / len(most)
    return score / 2


def _score(chosen: dict[str, _Choice], pairs: Pairs) -> float:
    score = sum(choice.whole + choice.compact for choice in chosen.values())
    for first, second, axis, other in pairs:
        if first in chosen and second in chosen:
            score += 2 * _alike(chosen[first].lines[axis], chosen[second].lines[other])
    return score + _extents_agree({role: choice.plane for role, choice in chosen.items()}, pairs)


def _alike(left: Integers, right: Integers) -> float:
    """A score for how well two operands agree on an axis: on its extent, and line by line."""
    if left.shape != right.shape:
        return 0.0
    ends = (left.min(axis=1) == right.min(axis=1)) & (left.max(axis=1) == right.max(axis=1))
    return (np.count_nonzero(ends) / ends.size + np.count_nonzero(left == right) / left.size) / 2


def _extents_agree(planes: dict[str, Plane], pairs: Pairs) -> float:
    """Half a point for each axis on which two arrays have the same extent; less than 0 if some cannot."""
    score = 0.0
    for first, second, axis, other in pairs:
        if first not in planes or second not in planes:
            continue
        left, right = planes[first], planes[second]
        extents = left.extents[axis], right.extents[other]
        if extents[0] == extents[1]:
            score += 0.5
        elif not _may_be_longer(left, axis, extents) and not _may_be_longer(right, other, extents):
            score -= 4.0
    return score


def _may_be_longer(plane: Plane, axis: int, extents: tuple[int, int]) -> bool:
    """Whether an axis is the slow one, along which an array may hold more lines than are multiplied."""
    own = plane.extents[axis]
    return plane.slow_rows == (axis == 0) and own == max(extents) and own < 2 * min(extents)
