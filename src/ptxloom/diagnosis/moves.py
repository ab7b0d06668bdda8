"""Changes of the index: elements that come from another row, column, chunk or tile than they should.

Each function compares the actual with the wanted indices, over all products at once, and returns a change only if it
fits every known element.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.permutations import Named, Swizzle, registers_of
from ptxloom.diagnosis.pitches import pitches
from ptxloom.diagnosis.wrong_strides import Axis, of_strides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.origins.tiles import Integers, Target, Tile, Truth

_MATRIX: Final = 8  # rows of the matrices that moves move
_SHORT: Final = 4  # lines that are named one by one
_EXTENTS: Final = (16, 32, 64, 128, 256)  # of tiles in shared memory, within which rows or columns may be rotated
_FUNCTIONS: Final = {
    (f"row & {mask}" if not shift else f"(row >> {shift}) & {mask}"): (shift, mask)
    for mask in (1, 3, 7)
    for shift in range(4)
}
_FEW: Final = 1024  # elements that are asked before all
_CHUNK_BITS: Final = (128, 64, 32)  # what a swizzle keeps together
_MODULI: Final = (16, 24, 31, 32)  # bits of indices that are too narrow


class Compared(NamedTuple):
    """The actual and the right indices of the known elements, flat."""

    slow: Integers
    fast: Integers
    slow_wanted: Integers
    fast_wanted: Integers


def moves(tile: Tile, target: Target) -> Iterator[tuple[Named, bool]]:
    """Every change of index that fits all known elements, and whether it is unambiguous."""
    rows = tile.rows - target.rows[:, :, None]
    columns = tile.columns - target.columns[:, None, :]
    yield from _shifted(tile, rows, columns)
    yield from _clamped(tile, rows, columns)
    yield from _tiles(tile, rows, columns)
    yield from _paced(tile, target, rows, columns)
    yield from _matrices(tile, rows, columns)
    yield from _rotated(tile, target)
    wanted_rows, wanted_columns = target.places(tile.rows.shape)
    slow, fast = (wanted_rows, wanted_columns) if tile.plane.slow_rows else (wanted_columns, wanted_rows)
    known = tile.known
    compared = Compared(tile.slow[known], tile.fast[known], slow[known], fast[known])
    yield from _swizzled(tile, compared)
    yield from pitches(tile, slow, fast)
    yield from _overflown(tile, compared)
    yield from _of_blocks(tile, compared)


def _one(values: Integers, known: Truth) -> int | None:
    """The value that all known elements have."""
    held = values[known]
    return int(held[0]) if held.size and (held == held[0]).all() else None


def _k_axis(tile: Tile) -> int:
    """Which axis of a tile is k: 0 rows, 1 columns, -1 neither."""
    return {"a": 1, "b": 0}.get(tile.role, -1)


def _shifted(tile: Tile, rows: Integers, columns: Integers) -> Iterator[tuple[Named, bool]]:
    """All elements shifted by one distance, or each row or column by its own."""
    down, right = _one(rows, tile.known), _one(columns, tile.known)
    if down is not None and right is not None:
        yield _distance(tile, down, right), True
        return
    if right == 0 and (by := _by_line(rows, tile.known, 1)) is not None:
        yield _of_lines("row", by), True
    if down == 0 and (by := _by_line(columns, tile.known, 2)) is not None:
        yield _of_lines("column", by), True


def _clamped(tile: Tile, rows: Integers, columns: Integers) -> Iterator[tuple[Named, bool]]:
    """All rows or columns shifted by one distance, except where they would leave the array."""
    parts = (("row", rows, columns, tile.rows, 0), ("column", columns, rows, tile.columns, 1))
    for word, apart, across, held, axis in parts:
        if _one(across, tile.known) != 0:
            continue
        inside = (held > 0) & (held < tile.plane.extents[axis] - 1) & tile.known
        distance = _one(apart, inside)
        edge = tile.known & ~inside
        if distance and edge.any() and (np.abs(apart) <= abs(distance))[edge].all():
            detail = f"shifted by {_signed(distance)} {word}{'s' * (abs(distance) != 1)}, and kept in the array"
            yield Named(f"{word}s-shifted", detail, 2, distance=distance), True


def _of_lines(word: str, by: Integers) -> Named:
    """The name of a shift by another distance for each line."""
    held = np.arange(len(by)) + by
    turned = rotation(held)
    if turned is not None:
        distance, extent = turned
        return Named(f"{word}s-rotated", f"{word}s are rotated by {distance} within {extent}", distance=distance)
    if len(np.unique(held)) < len(held):
        return Named(f"{word}s-repeated", f"its {word}s are those of {in_order(held)}", 2)
    return Named(f"{word}s-shifted", _uneven(word, by), 3)


def _distance(tile: Tile, down: int, right: int) -> Named:
    along = (down, right)[_k_axis(tile)] if _k_axis(tile) >= 0 else 0
    across = down + right - along
    if along and not across and along % tile.shape[_k_axis(tile)] == 0:
        return Named("k-tile-mismatch", f"its k is {_signed(along)} from that of the other operand", distance=along)
    if down and right:
        return Named("rows-shifted", f"shifted by {_signed(down)} rows and {_signed(right)} columns", 2, distance=down)
    if right:
        return Named("columns-shifted", f"shifted by {_signed(right)} column{'s' * (abs(right) != 1)}", distance=right)
    return Named("rows-shifted", f"shifted by {_signed(down)} row{'s' * (abs(down) != 1)}", distance=down)


def _signed(value: int) -> str:
    return f"{value:+d}"


def _by_line(distances: Integers, known: Truth, axis: int) -> Integers | None:
    """The distance of each row (axis 1) or column (2), if it is the same in each product; else None."""
    other = (0, 3 - axis)
    most = np.where(known, distances, np.iinfo(np.int64).min).max(axis=other)
    least = np.where(known, distances, np.iinfo(np.int64).max).min(axis=other)
    return most if (most == least).all() else None


def rotation(held: Integers) -> tuple[int, int] | None:
    """The rotation of lines, and the number of lines within which they rotate; None if they do not."""
    straight = np.arange(len(held))
    distance, extent = int(held[0]), _MATRIX
    while extent <= len(held) and len(held) % extent == 0:
        if distance and (held == straight // extent * extent + (straight + distance) % extent).all():
            return distance, extent
        extent *= 2
    return None


def in_order(lines: Integers) -> str:
    """Lines in their order, such as `0 to 15, 0 to 15`; those of a short run one by one."""
    cuts = np.flatnonzero(np.diff(lines) != 1) + 1
    runs: list[list[int]] = [run.tolist() for run in np.split(lines, cuts)]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > _SHORT else ", ".join(map(str, run)) for run in runs)


def _uneven(word: str, by: Integers) -> str:
    """Runs of lines with their distances."""
    parts: list[str] = []
    start = 0
    for stop in range(1, len(by) + 1):
        if stop == len(by) or by[stop] != by[start]:
            if by[start]:
                lines = f"{word} {start}" if stop == start + 1 else f"{word}s {start} to {stop - 1}"
                parts.append(f"{lines} by {_signed(int(by[start]))}")
            start = stop
    return "shifted: " + ", ".join(parts)


def _tiles(tile: Tile, rows: Integers, columns: Integers) -> Iterator[tuple[Named, bool]]:
    """Each product shifted by its own distance; or parts of an operand from several k tiles."""
    axis = _k_axis(tile)
    along, across = (columns, rows) if axis == 1 else (rows, columns)
    own = [_per_product(values, tile.known) for values in (along, across)]
    if axis >= 0 and _one(across, tile.known) == 0:
        size = tile.shape[axis]
        if own[0] is not None and len(np.unique(own[0])) > 1 and not (own[0] % size).any():
            said = ", ".join(_signed(int(value)) for value in np.unique(own[0])[:4])
            yield Named("k-tile-mismatch", f"its k is off by whole tiles: by {said}"), True
        elif own[0] is None and not (along[tile.known] % size).any():
            yield Named("k-tiles-mixed", "its elements are of several k tiles", 5), False
    varied = any(values is not None and len(np.unique(values)) > 1 for values in own)
    if own[0] is not None and own[1] is not None and varied and (axis < 0 or not np.any(own[0])):
        yield Named("tile-exchanged", "whole tiles are those of other products", 3), False


def _paced(tile: Tile, target: Target, rows: Integers, columns: Integers) -> Iterator[tuple[Named, bool]]:
    """A factor whose k advances faster or slower from product to product than the other's."""
    axis = _k_axis(tile)
    if axis < 0:
        return
    along, across = (columns, rows) if axis == 1 else (rows, columns)
    own = _per_product(along, tile.known)
    if own is None or _one(across, tile.known) != 0:
        return
    wanted = (target.columns if axis == 1 else target.rows)[tile.known.any(axis=(1, 2)), 0]
    steps, held = np.unique(wanted), own + wanted
    if len(steps) < 2 or steps[0] != 0 or len(np.unique(np.stack((wanted, held)), axis=1)[0]) != len(steps):
        return
    pace = int(steps[1])
    other = int(held[wanted == pace][0])
    if (held * pace == wanted * other).all():
        detail = f"its k advances by {other} from product to product, that of the other operand by {pace}"
        yield Named("k-tile-mismatch", detail, 2), len(steps) > 2


def _per_product(distances: Integers, known: Truth) -> Integers | None:
    """The distance that all elements of each product have."""
    most = np.where(known, distances, np.iinfo(np.int64).min).max(axis=(1, 2))
    least = np.where(known, distances, np.iinfo(np.int64).max).min(axis=(1, 2))
    some = known.any(axis=(1, 2))
    return most[some] if (most == least)[some].all() else None


def _matrices(tile: Tile, rows: Integers, columns: Integers) -> Iterator[tuple[Named, bool]]:
    """Whole matrices (what one register of all lanes holds) from other places of the array."""
    register = registers_of(tile.form, tile.role)
    count = int(register.max()) + 1
    if count < 2:
        return
    parts: list[str] = []
    for number in range(count):
        held = tile.known & (register == number)
        if not held.any():
            continue
        down, right = _one(rows, held), _one(columns, held)
        if down is None or right is None or down % 8 or right % 8:
            return
        if down or right:
            parts.append(f"register {number} holds the matrix {_signed(down)} rows, {_signed(right)} columns away")
    if parts:
        yield Named("matrices-exchanged", "; ".join(parts), 2), True


def _rotated(tile: Tile, target: Target) -> Iterator[tuple[Named, bool]]:
    """Rows or columns rotated within a tile that is larger than the operand."""
    straight = (
        (tile.rows == target.rows[:, :, None]) | ~tile.known,
        (tile.columns == target.columns[:, None, :]) | ~tile.known,
    )
    for word, values, lines, other, extent in (
        ("row", tile.rows, target.rows[:, :, None], straight[1], tile.shape[0]),
        ("column", tile.columns, target.columns[:, None, :], straight[0], tile.shape[1]),
    ):
        if not other.all():
            continue
        apart = values - lines
        shape = np.broadcast_to(lines, values.shape)
        for size in _EXTENTS:
            if size <= extent:
                continue
            turned = (apart % size)[tile.known]
            distance = int(turned[0]) if turned.size else 0
            same = values // size == shape // size
            turns = np.unique(apart[tile.known]).size > 1
            if distance and turns and (turned == distance).all() and same[tile.known].all():
                yield (
                    Named(f"{word}s-rotated", f"{word}s are rotated by {distance} within {size}", distance=distance),
                    True,
                )
                break


# --- swizzles ---


def _swizzled(tile: Tile, compared: Compared) -> Iterator[tuple[Named, bool]]:
    """Chunks XORed with a function of the row, on one side or differently on both."""
    for chunk_bits in _CHUNK_BITS:
        chunk = chunk_bits // tile.plane.unit_bits
        if not chunk:
            return
        found = _one_row(compared, chunk) or _across_rows(compared, chunk)
        if found is not None:
            steps, text = found
            kept = "" if chunk_bits == _CHUNK_BITS[0] else f" of {chunk_bits // 8} bytes"
            swizzle = Swizzle(*_FUNCTIONS[text], chunk_bits // 8) if text in _FUNCTIONS else None
            yield Named("swizzle-mismatch", f"chunks{kept} are XORed with {text}", steps, swizzle=swizzle), True
            return


def _one_row(compared: Compared, chunk: int) -> tuple[int, str] | None:
    """Swizzles that stay within a row: chunk ^ (row >> s & mask)."""
    if (compared.slow != compared.slow_wanted).any():
        return None
    turned = compared.fast ^ compared.fast_wanted
    if (turned % chunk).any() or not turned.any():
        return None
    wanted = turned // chunk
    return _named(wanted, {text: compared.slow >> shift & mask for text, (shift, mask) in _FUNCTIONS.items()})


def _across_rows(compared: Compared, chunk: int) -> tuple[int, str] | None:
    """CuTe's swizzles on the address, where rows are shorter than 128 bytes and so take part in the XOR."""
    for chunks in (1, 2, 4):
        width = chunk * chunks
        if any(_leaves(compared, width, chunk, few) for few in (_FEW, None)):
            continue
        held = compared.slow * chunks + compared.fast // chunk % chunks
        wanted = compared.slow_wanted * chunks + compared.fast_wanted // chunk % chunks
        found = _named(
            held ^ wanted,
            {f"Sw<{bits},4,3> of {16 * chunks}-byte rows": wanted >> 3 & (1 << bits) - 1 for bits in (1, 2, 3)},
        )
        if found is not None:
            return found
    return None


def _leaves(compared: Compared, width: int, chunk: int, few: int | None) -> bool:
    """Whether any of the first few elements, or of all, is in another part of its row, or of its chunk."""
    held, wanted = compared.fast[:few], compared.fast_wanted[:few]
    return bool((held // width != wanted // width).any() or (held % chunk != wanted % chunk).any())


def _named(wanted: Integers, functions: dict[str, Integers]) -> tuple[int, str] | None:
    """The function that maps to the wanted index, or the XOR of two."""
    if not wanted.any():
        return None
    for text, values in functions.items():
        if (values == wanted).all():
            return 1, text
    for (first, left), (second, right) in combinations(functions.items(), 2):
        if (left ^ right == wanted).all():
            return 2, f"{first} on one side and {second} on the other"
    return None


def _of_blocks(tile: Tile, compared: Compared) -> Iterator[tuple[Named, bool]]:
    """Blocks of an array of several axes, or lines in them, that are exchanged, or replaced by one of them."""
    plane = tile.plane
    if plane.stacked or not plane.counted:
        return
    wanted = compared.slow_wanted * plane.pitch + compared.fast_wanted
    index = np.stack([wanted // weight % extent for _, extent, weight in plane.counted])
    axes = [Axis(*_counted_by(tile, weight), apart) for apart, _, weight in plane.counted]
    named = of_strides(plane.offset(compared.slow * plane.pitch + compared.fast), index, axes)
    if named is not None:
        yield named, True


def _counted_by(tile: Tile, weight: int) -> tuple[str, str]:
    """What an axis of an array counts, rows or columns of the matrix; and the same with the size of its blocks."""
    slow, count = weight >= tile.plane.pitch, weight // tile.plane.pitch or weight
    word = "rows" if slow == tile.plane.slow_rows else "columns"
    return word, word if count == 1 else f"blocks of {count} {word}"


def _overflown(tile: Tile, compared: Compared) -> Iterator[tuple[Named, bool]]:
    """Indices that have lost their upper bits; later additions may exceed them again."""
    pitch, unit_bytes = tile.plane.pitch, max(tile.plane.unit_bits // 8, 1)
    held = compared.slow * pitch + compared.fast
    wanted = compared.slow_wanted * pitch + compared.fast_wanted
    lost = wanted - held
    for bits in _MODULI:
        for unit, word in ((1, "index"), (unit_bytes, "offset in bytes")):
            modulus = (1 << bits) // unit
            near = (held >= 0) & (held < modulus + pitch)
            if lost.any() and near.all() and not (lost % modulus).any() and (lost >= 0).all():
                yield Named("index-overflow", f"the {word} is kept in {bits} bits", 2), True
                return
