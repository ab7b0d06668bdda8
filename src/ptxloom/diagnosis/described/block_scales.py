"""Scales that a product takes for blocks of its factors (`.block_scale`): each must be that of its own row and block.

The shape of the array of scales gives the scale of an element: one for each row and each block along k, row by row, or
in tiles of 512 bytes as for copies to tensor memory: 128 rows by four blocks, 16 bytes for four rows 32 apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.arrays.blocks import Matrix, Scales, asked, pitched
from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.described.scale_lines import Held, Taken, product_of, reader_of
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.origins.tiles import common_columns, common_rows
from ptxloom.diagnosis.totals import Total
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray

TILE_ROWS: Final = 128
TILE_BLOCKS: Final = 4
TILE: Final = TILE_ROWS * TILE_BLOCKS
_QUARTER: Final = 32  # rows
_UNKNOWN: Final = "the scales of its blocks were not judged"
_WORDS: Final = {"a": ("m", "k"), "b": ("n", "k")}


class Judged(NamedTuple):
    """The verdict on the scales of products.

    Attributes:
        found: What is wrong.
        left_open: Why some could not be judged; empty if all could.
    """

    found: tuple[Total, ...]
    left_open: str = ""


def block_scales_of(group: Sequence[SiteEvidence], reading: Reading, record: ProvenanceRecord) -> Judged:
    """Check that each scale that a product uses is that of its row and block.

    Args:
        group: Instructions that multiply the same arrays.
        reading: How these are read: no law is broken by the elements themselves.
        record: Knows the scales.
    """
    held = {role: one for role in "ab" if role in reading.planes and (one := _held(group, reading, role, record))}
    exchanged = _exchanged(held, reading, record)
    if exchanged is not None:
        return Judged((exchanged,))
    found: list[Total] = []
    whys = [_UNKNOWN] if group[0].form.scale_vector and len(held) < len("ab") else []
    for one in held.values():
        judged = _judged(one, reading, record)
        if isinstance(judged, Total):
            found.append(judged)
        elif judged:
            whys.append(judged)
    return Judged(tuple(found), "; ".join(whys))


def _held(group: Sequence[SiteEvidence], reading: Reading, role: str, record: ProvenanceRecord) -> Held | None:
    """The scales of a factor, each with the row and block that use it; None if no array has them."""
    parts: list[tuple[Integers, ...]] = []
    for site in group:
        origins = record.scales(site.numbers, role)
        stack = next((one for one in site.stacks if one.role == role), None)
        if origins is None or stack is None or site.form.sparse or reading.planes[role].stacked:
            return None
        tile = tiles_of(site, reading)[role]
        rows, k = (
            (common_rows(tile), common_columns(tile)) if role == "a" else (common_columns(tile), common_rows(tile))
        )
        size = k.shape[1] // origins.shape[2]
        block = np.where(k[:, ::size] % size == 0, k[:, ::size] // size, -1)
        known = (rows[:, :, None] >= 0) & (block[:, None, :] >= 0)
        from_array = (origins["kind"] == Kind.EXACT) & (origins["byte"] == 0)
        parts.append(
            (
                np.broadcast_to(site.numbers[:, None, None], known.shape)[known],
                np.broadcast_to(rows[:, :, None], known.shape)[known],
                np.broadcast_to(block[:, None, :], known.shape)[known],
                np.where(from_array, origins["array"], -1)[known].astype(np.int64),
                origins["element"][known].astype(np.int64),
                origins["path"][known].astype(np.int64),
                np.full(np.count_nonzero(known), size),
            )
        )
    number, rows, block, array, element, path, size = (np.concatenate(one) for one in zip(*parts, strict=True))
    numbers, counts = np.unique(array[array >= 0], return_counts=True)
    if not len(numbers):
        return None
    sites = tuple(site.site for site in group)
    return Held(role, int(numbers[np.argmax(counts)]), number, rows, block, array, element, path, int(size[0]), sites)


def _exchanged(held: dict[str, Held], reading: Reading, record: ProvenanceRecord) -> Total | None:
    """Scales of one factor that are used for the other, by the sizes of their arrays."""
    if len(held) < 2:
        return None
    a, b = held["a"], held["b"]
    fits = {
        (role, array): _layout(held[role], reading, record.arrays[array]) is not None
        for role in "ab"
        for array in (a.array, b.array)
    }
    if a.array == b.array:
        if fits["a", a.array] == fits["b", b.array]:
            return None
        wrong = b if fits["a", a.array] else a
        name = record.arrays[a.array].name
        detail = f"the scales of both factors come from {name}, whose size is that of the other factor's"
    elif fits["a", a.array] or fits["b", b.array] or not (fits["a", b.array] and fits["b", a.array]):
        return None
    else:
        wrong, detail = (
            a,
            f"they come from {record.arrays[a.array].name}, whose size is that of the other factor's scales",
        )
    total = len(wrong.element)
    named = Named("operands-exchanged", detail)
    paths = wrong.path[wrong.array_of == wrong.array]
    lines = product_of(wrong, both=a.array == b.array, record=record)
    return Total("block", named, wrong.role, wrong.array, paths, wrong.sites, total, total, certain=False, lines=lines)


class _Layout(NamedTuple):
    """How an array holds the scales of a matrix.

    Attributes:
        rows: Rows with scales.
        blocks: Blocks along k.
        tiled: Whether in tiles of 512 bytes.
        shape: What determines the order of rows and blocks: the array's own shape, or nothing.
    """

    rows: int
    blocks: int
    tiled: bool
    shape: tuple[int, ...]

    def plain(self, element: Integers) -> Integers:
        """The numbers that elements would have row by row."""
        if not self.tiled:
            return element
        tile, inside = np.divmod(element, TILE)
        down, across = np.divmod(tile, self.blocks // TILE_BLOCKS)
        row = down * TILE_ROWS + inside % 16 // TILE_BLOCKS * _QUARTER + inside // 16
        return row * self.blocks + across * TILE_BLOCKS + inside % TILE_BLOCKS

    def element(self, rows: Integers, block: Integers) -> Integers:
        """Where in the array the scales of rows and blocks are; of a matrix, row by row."""
        if not self.tiled:
            return rows * self.blocks + block
        tile = rows // TILE_ROWS * (self.blocks // TILE_BLOCKS) + block // TILE_BLOCKS
        return tile * TILE + rows % _QUARTER * 16 + rows % TILE_ROWS // _QUARTER * TILE_BLOCKS + block % TILE_BLOCKS


def _layout(held: Held, reading: Reading, array: TracedArray) -> _Layout | None:
    """How an array holds a factor's scales, as far as its size and shape show; None if it does not hold them."""
    extents = reading.planes[held.role].extents
    rows, k = extents if held.role == "a" else extents[::-1]
    blocks = -(-k // held.size)
    if array.dtype.itemsize != 1:
        return None
    if len(array.shape) == 2 and sorted(array.shape) == sorted((rows, blocks)):
        return _Layout(rows, blocks, tiled=False, shape=array.shape)
    padded = -(-rows // TILE_ROWS) * TILE_ROWS, -(-blocks // TILE_BLOCKS) * TILE_BLOCKS
    if array.nbytes == padded[0] * padded[1] and (len(array.shape) != 2 or array.shape[1] == TILE):
        tiled = _Layout(*padded, tiled=True, shape=padded)
        flat = _Layout(rows, blocks, tiled=False, shape=(rows * blocks,))
        return max((tiled, flat), key=lambda one: _share(one, held)) if len(array.shape) == 1 else tiled
    return _Layout(rows, blocks, tiled=False, shape=(rows * blocks,)) if array.nbytes == rows * blocks else None


def _share(layout: _Layout, held: Held) -> int:
    """The number of scales that belong to their rows and blocks."""
    return int(np.count_nonzero(layout.plain(held.element) == held.rows * layout.blocks + held.block))


def _judged(held: Held, reading: Reading, record: ProvenanceRecord) -> Total | str:
    """The error of a factor's scales, or why they could not be judged; empty if they are right."""
    name = record.arrays[held.array].name
    layout = _layout(held, reading, record.arrays[held.array])
    whose = f"the scales of {held.role.upper()} come from {name}"
    if layout is None:
        return f"{whose}, which has not one for each row and block: no law says which belong together"
    own = (held.array_of == held.array) & (held.rows < layout.rows) & (held.block < layout.blocks)
    own &= held.rows < (reading.planes[held.role].extents[0 if held.role == "a" else 1])
    plain, rows, block = layout.plain(held.element[own]), held.rows[own], held.block[own]
    matrix = Matrix((layout.rows, layout.blocks), _WORDS[held.role])
    result = asked(plain, (rows, block), matrix, Scales(layout.shape, layout.rows * layout.blocks))
    if result.right:
        return ""
    wanted = rows * layout.blocks + block
    wrong = result.wrong if result.named is not None else plain != wanted
    named = (
        result.named
        or _of_tiles(layout, held.element[own], rows, block)
        or _unruly(plain, rows, block, layout, held.role)
    )
    if named is None:
        return f"{whose}, in an order of its own: no law says which belong together"
    taken = Taken(*np.divmod(plain, layout.blocks), layout.element(rows, block), wrong)
    lines = reader_of(held.chosen(own), named, taken, record)
    count = int(np.count_nonzero(wrong))
    paths = held.path[own][wrong]
    return Total(
        "block", named, held.role, held.array, paths, held.sites, count, len(wrong), certain=False, lines=lines
    )


def _of_tiles(layout: _Layout, element: Integers, rows: Integers, block: Integers) -> Named | None:
    """A wrong pitch of rows of tiles, in tiles."""
    if not layout.tiled:
        return None
    return pitched(element // TILE, (rows // TILE_ROWS, block // TILE_BLOCKS), layout.blocks // TILE_BLOCKS, "tiles")


def _unruly(plain: Integers, rows: Integers, block: Integers, layout: _Layout, role: str) -> Named | None:
    """Rows and blocks that use several scales, or scales that several rows and blocks use."""
    wanted = rows * layout.blocks + block
    pairs = np.unique(np.stack((wanted, plain), axis=1), axis=0)
    several = len(pairs) > len(np.unique(pairs[:, 0]))
    shared = len(pairs) > len(np.unique(pairs[:, 1]))
    held_row, held_block = np.divmod(plain, layout.blocks)
    if (held_block == block).all():
        return Named("block-mismatch", f"the scales are those of other {_WORDS[role][0]}")
    if (held_row == rows).all() and (several or shared):
        return Named("block-mismatch", "the scales are those of other k")
    if (held_row == rows).all() and (held_block // TILE_BLOCKS == block // TILE_BLOCKS).all():
        return Named("block-mismatch", "the four scales of a word are taken in another order")
    if several or shared:
        return Named("block-mismatch", "rows and blocks share scales that are not theirs")
    return None
