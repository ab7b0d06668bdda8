"""The swizzle finder against a count of its own, for every pitch, and against the table measured on an H200."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from ptxloom.banks import bank_conflicts
from ptxloom.banks.swizzles import Choice, cost_of, find_swizzles
from ptxloom.banks.tiles import Arrangement, Tile, make_tile
from ptxloom.banks.traffic import NoTile, traffic_of
from ptxloom.descriptors import Box, encode_tiled
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.layout import Swizzle

PITCHES = range(16, 513, 16)


def by_expression(choice: Choice) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """(rows, columns) byte offsets, from the C expression that a user would paste."""
    tile = choice.arrangement.tile
    row, column = np.meshgrid(np.arange(tile.rows), np.arange(tile.columns), indexing="ij")
    text = choice.arrangement.expression.replace("/", "//")
    index = text.strip("()").partition(", ")[0].removeprefix("i = ") if text.startswith("(") else text
    i = eval(index, {}, {"row": row, "column": column})  # noqa: S307 - our own text
    if text.startswith("("):
        i = eval(text.partition(", ")[2][:-1], {}, {"i": i})  # noqa: S307 - our own text
    return i * tile.element_bits // 8


def phases_of_matrices(tile: Tile, offsets: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> list[int]:
    """Wavefronts of every aligned 8-row, 16-byte matrix, counted bank by bank."""
    step = 128 // tile.element_bits
    counts: list[int] = []
    for top, left in itertools.product(range(0, tile.rows, 8), range(0, tile.columns, step)):
        words: dict[int, set[int]] = {}
        for start in offsets[top : top + 8, left].tolist():
            for word in range(start // 4, start // 4 + 4):
                words.setdefault(word % 32, set()).add(word)
        counts.append(max(len(found) for found in words.values()))
    return counts


@pytest.mark.parametrize("pitch", PITCHES)
def test_every_pitch_is_counted_as_directly(pitch: int) -> None:
    tile = make_tile(16, pitch // 2, "f16")
    found = find_swizzles(tile, ["ldmatrix"])
    assert found.plain.costs[0].wavefronts == sum(phases_of_matrices(tile, by_expression(found.plain)))
    for choice in found.choices:
        offsets = by_expression(choice)
        assert set(phases_of_matrices(tile, offsets)) == {1}
        assert len(np.unique(offsets)) == offsets.size
        assert int(offsets.max()) < choice.arrangement.storage_bytes


@pytest.mark.parametrize("pitch", PITCHES)
def test_no_swizzle_of_fewer_bits_and_no_smaller_padding_would_do(pitch: int) -> None:
    tile = make_tile(16, pitch // 2, "f16")
    found = find_swizzles(tile, ["ldmatrix"])
    traffic = [traffic_of(tile, "ldmatrix")]
    for choice in found.choices:
        arrangement = choice.arrangement
        fewer = range(1, arrangement.swizzle.bits if arrangement.swizzle else 0)
        for bits, base, shift in itertools.product(fewer, range(4, 9), range(1, 9)):
            if shift >= bits:
                assert cost_of(Arrangement(tile, swizzle=Swizzle(bits, base, shift)), traffic).conflicts
        for padding in range(16, arrangement.padding_bytes, 16):
            assert cost_of(Arrangement(tile, padding_bytes=padding), traffic).conflicts


@pytest.mark.parametrize(
    ("pitch", "wavefronts"),
    [
        (128, {None: 8, (1, 3, 3): 4, (2, 3, 3): 2, (3, 3, 3): 1}),
        (64, {None: 4, (1, 3, 3): 2, (2, 3, 3): 1, (3, 3, 3): 1}),
        (32, {None: 2, (1, 3, 3): 1, (2, 3, 3): 1, (3, 3, 3): 1}),
        (256, {None: 8, (1, 3, 3): 8, (2, 3, 3): 4, (3, 3, 3): 2, (3, 3, 4): 1}),
        (16, {None: 1}),
        (80, {None: 1}),
        (144, {None: 1}),
    ],
)
def test_the_table_of_wavefronts_per_matrix(pitch: int, wavefronts: dict[tuple[int, int, int] | None, int]) -> None:
    tile = make_tile(64, 8, "f16", pitch)
    for swizzle, expected in wavefronts.items():
        in_bytes = Swizzle(swizzle[0], swizzle[1] + 1, swizzle[2]) if swizzle else None
        arrangement = Arrangement(tile, swizzle=in_bytes)
        cost = cost_of(arrangement, [traffic_of(tile, "ldmatrix.x4.trans")]).costs[0]
        assert cost.wavefronts == expected * cost.ideal
        assert arrangement.of_elements == (Swizzle(*swizzle) if swizzle else None)


def test_the_usual_tiles() -> None:
    asked = [
        ((64, 64, "f16"), ["cp.async", "ldmatrix.x4"], ["Swizzle<3,3,3>", "16 bytes of padding"]),
        ((128, 32, "bf16"), ["cp.async", "ldmatrix.x4.trans", "stmatrix.x4"], ["Swizzle<2,3,3>"]),
        ((64, 128, "s8"), ["cp.async", "ldmatrix.x4"], ["Swizzle<3,4,3>", "16 bytes of padding"]),
        ((64, 128, "s4"), ["cp.async", "ldmatrix.x4"], ["Swizzle<2,5,3>"]),
        ((64, 64, "f16"), ["tma", "ldmatrix.x4"], ["Swizzle<3,3,3>"]),
        ((64, 32, "f16"), ["tma", "ldmatrix.x4"], ["Swizzle<2,3,3>"]),
        ((32, 32, "f32"), ["st.shared.b32", "ld.shared.b32@column"], ["Swizzle<5,0,5>"]),
        ((64, 8, "f16"), ["ldmatrix.x1"], ["as it is"]),
    ]
    for tile, accesses, expected in asked:
        found = find_swizzles(make_tile(*tile), accesses)
        assert found.free
        assert [str(choice.arrangement) for choice in found.choices] == expected, (tile, accesses)
        assert all(not choice.conflicts for choice in found.choices)


@pytest.mark.parametrize(
    ("tile", "mode", "boxes", "columns"),
    [
        ((128, 128, "bf16"), "128B", 2, 64),
        ((64, 256, "f16"), "128B", 4, 64),
        ((64, 96, "f16"), "64B", 3, 32),
        ((64, 48, "f16"), "32B", 3, 16),
        ((64, 64, "f16"), "128B", 1, 64),
        ((64, 32, "f32"), "128B", 1, 32),
        ((32, 32, "f16"), "64B", 1, 32),
        ((64, 72, "f16"), None, 0, 0),
        ((16, 16, "f16", 64), None, 0, 0),  # between the rows of a box there is nothing
        ((16, 32, "f16", 128), None, 0, 0),
    ],
)
def test_rows_wider_than_a_mode_of_tma_are_cut_into_boxes(
    tile: tuple[Any, ...], mode: str | None, boxes: int, columns: int
) -> None:
    made = make_tile(*tile)
    found = find_swizzles(made, ["tma", "ldmatrix.x4"])
    if mode is None:
        assert found.by_tma is None
        return
    (best,) = found.choices
    assert found.by_tma == best
    arrangement = best.arrangement
    assert arrangement.tma_mode is not None
    assert (arrangement.tma_mode.name, arrangement.boxes, arrangement.box_columns) == (mode, boxes, columns)
    assert not best.conflicts
    ldmatrix = find_swizzles(made, ["ldmatrix.x4"]).by_tma
    assert ldmatrix is not None
    assert ldmatrix.arrangement == arrangement


@pytest.mark.parametrize("tile", [(16, 128, "bf16"), (8, 192, "f16"), (16, 32, "f32"), (16, 256, "s8")])
def test_boxes_lie_where_a_tensor_map_writes_them(tile: tuple[int, int, str]) -> None:
    found = find_swizzles(make_tile(*tile), ["tma", "ldmatrix.x1"]).by_tma
    assert found is not None
    arrangement, (rows, columns, element) = found.arrangement, tile
    mode = arrangement.tma_mode
    assert mode is not None
    names = {"bf16": "BFLOAT16", "f16": "FLOAT16", "f32": "FLOAT32", "s8": "UINT8"}
    bytes_each = arrangement.tile.element_bits // 8
    wide = arrangement.box_columns
    made = encode_tiled(names[element], 0, (columns, rows), (columns * bytes_each,), (wide, rows), swizzle=mode.name)
    for box in range(arrangement.boxes):
        copied = Box(made, (box * wide, 0), shared_address=box * rows * wide * bytes_each)
        for row, column in itertools.product(range(rows), range(0, wide, 16 // bytes_each)):
            written = copied.place((column, row)).shared_address
            assert written == by_expression(found)[row, box * wide + column]
            assert arrangement.swizzle is not None
            assert written == arrangement.swizzle(arrangement.offset(row, (box * wide + column) * bytes_each))


def test_where_nothing_helps_the_least_cost_is_said() -> None:
    found = find_swizzles(make_tile(64, 64, "f16", 144 * 8), ["tma", "ld.shared.b16@column"])
    assert not found.free
    assert found.by_tma is None
    both = find_swizzles(make_tile(64, 64, "f16"), ["ldmatrix.x4", "ld.shared.b16@column"])
    assert not both.free
    assert str(both.best.arrangement) == "Swizzle<3,3,3>"
    assert 0 < both.best.conflicts < both.plain.conflicts


def test_what_is_pasted_says_the_same_as_cute() -> None:
    choice = find_swizzles(make_tile(64, 64, "f16"), ["cp.async", "ldmatrix"]).choices[0]
    assert choice.arrangement.expression == "(i = row * 64 + column, i ^ ((i >> 6 & 7) << 3))"
    cute = "composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _64>, Stride<Int<64>, _1>>{})"
    assert choice.arrangement.cute == cute


def test_the_memory_of_a_swizzled_tile_reaches_the_end_of_its_last_block() -> None:
    found = find_swizzles(make_tile(8, 56, "f16", 128), ["ldmatrix"])
    choice = found.choices[0]
    assert str(choice.arrangement) == "Swizzle<3,3,3>"
    assert found.plain.arrangement.storage_bytes == 1008
    assert int(by_expression(choice).max()) == 1022
    assert choice.arrangement.storage_bytes == 1024


def test_costs_are_those_of_the_banks() -> None:
    tile = make_tile(64, 64, "f16")
    traffic = traffic_of(tile, "ldmatrix.x2")
    places = np.array(traffic.rows).reshape(-1, 16) * tile.pitch_bytes + np.array(traffic.byte_columns).reshape(-1, 16)
    addresses = np.pad(places, ((0, 0), (0, 16)))
    report = bank_conflicts("ldmatrix.sync.aligned.m8n8.x2.b16", addresses)
    assert find_swizzles(tile, ["ldmatrix.x2"]).plain.costs[0].wavefronts == report.wavefronts == 512
    assert report.ideal == 64


@pytest.mark.parametrize("pitch", [80, 112, 144, 208])
@pytest.mark.parametrize("name", ["cp.async", "ldmatrix.x4.trans", "ld.shared.v2.b32", "ld.shared.b32@column"])
def test_warps_that_are_alike_are_counted_as_if_each_were_counted(pitch: int, name: str) -> None:
    tile = make_tile(24, 40, "f16", pitch)
    traffic = traffic_of(tile, name)
    offsets = np.array(traffic.rows) * pitch + np.array(traffic.byte_columns)
    for swizzle in (None, Swizzle(1, 4, 3), Swizzle(3, 4, 3), Swizzle(2, 5, 4)):
        places = (offsets if swizzle is None else swizzle(offsets)).tolist()
        warps = [places[start : start + 32] for start in range(0, len(places), 32)]
        counted = sum(
            bank_conflicts(traffic.instruction, warp + [0] * (32 - len(warp)), (1 << len(warp)) - 1).wavefronts
            for warp in warps
        )
        assert cost_of(Arrangement(tile, swizzle=swizzle), [traffic]).costs[0].wavefronts == counted


def test_what_does_not_fit_is_refused() -> None:
    tile = make_tile(8, 64, "f16")
    with pytest.raises(NoTile, match="matrices of 16 rows"):
        find_swizzles(tile, ["ldmatrix.m16n16.x1.trans.b8"])
    with pytest.raises(NoTile, match="not an access that can be laid out"):
        find_swizzles(tile, ["red.shared.b32"])
    with pytest.raises(UnsupportedForm, match="must name one type"):
        find_swizzles(tile, ["ld.shared.v4"])
    with pytest.raises(UsageError, match="@row"):
        find_swizzles(tile, ["ld.shared.b32@diagonal"])
    with pytest.raises(UsageError, match="at least one"):
        find_swizzles(tile, [])
    with pytest.raises(UsageError, match="multiple of 16 bytes"):
        make_tile(8, 5, "f16")
    with pytest.raises(UsageError, match="at least 128"):
        make_tile(8, 64, "f16", 64)
