"""A pattern that was planted is the one that is named, whatever the array, its size and the place."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxloom.comparison import Comparison, compare
from ptxloom.comparison.index_sets import in_words
from ptxloom.comparison.places import places
from ptxloom.fragments import fragment

SIZES = st.sampled_from([(32, 32), (48, 64), (64, 48), (96, 40), (128, 128), (33, 65)])
SEEDS = st.integers(0, 999)


def values(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def kinds(found: Comparison) -> list[str]:
    return [pattern.kind for pattern in found.patterns]


def told(found: Comparison) -> str:
    return "; ".join(pattern.sentence for pattern in found.patterns)


@given(SIZES, SEEDS, st.data())
def test_a_block_of_rows_or_columns(shape: tuple[int, int], seed: int, data: st.DataObject) -> None:
    wanted = values(shape, seed)
    axis = data.draw(st.integers(0, 1))
    first = data.draw(st.integers(1, shape[axis] // 2))
    last = data.draw(st.integers(first, shape[axis] - 2))
    got = wanted.copy()
    np.moveaxis(got, axis, 0)[first : last + 1] += 1
    found = compare(got, wanted)
    noun = ("row", "column")[axis]
    assert kinds(found) == ["block"]
    assert told(found) == (f"{noun} {first}" if first == last else f"{noun}s {first} to {last}")


@given(SIZES, SEEDS, st.integers(0, 1), st.integers(2, 9), st.data())
def test_every_nth(shape: tuple[int, int], seed: int, axis: int, step: int, data: st.DataObject) -> None:
    wanted = values(shape, seed)
    first = data.draw(st.integers(0, step - 1))
    got = wanted.copy()
    np.moveaxis(got, axis, 0)[first::step] += 1
    found = compare(got, wanted)
    assert kinds(found) == ["periodic"]
    ordinal = {2: "second", 3: "third"}.get(step, f"{step}th")
    assert told(found) == f"every {ordinal} {('row', 'column')[axis]}, from {first} on"


@given(st.sampled_from([16, 32, 64]), st.integers(1, 3), st.data())
def test_a_tail_beyond_a_multiple_of_the_tile(tile: int, whole: int, data: st.DataObject) -> None:
    extent = tile * whole + data.draw(st.integers(1, tile - 1))
    wanted = values((extent, 24), 1)
    got = wanted.copy()
    got[tile * whole :] = 0
    found = compare(got, wanted)
    assert kinds(found) == ["tail", "constant"]
    assert f"rows {tile * whole}" in told(found) or f"row {tile * whole}" in told(found)
    named = int(found.patterns[0].sentence.rpartition("the tail beyond a multiple of ")[2])
    whole_tiles = [
        size for size in (8, 16, 32, 64, 128, 256) if not tile * whole % size and extent - tile * whole < size
    ]
    assert named == max(whole_tiles)


@given(st.tuples(st.integers(1, 4), st.integers(2, 4)), SEEDS, st.data())
def test_the_tile_of_one_cta(grid: tuple[int, int], seed: int, data: st.DataObject) -> None:
    x, y = (data.draw(st.integers(0, extent - 1)) for extent in grid)
    wanted = values((32 * grid[1], 16 * grid[0]), seed)
    got = wanted.copy()
    got[32 * y : 32 * y + 32, 16 * x : 16 * x + 16] += 1
    found = compare(got, wanted, grid=grid)
    assert kinds(found)[0] == "tiles"
    assert f"the tile of CTA ({x}, {y}, 0)" in told(found)


@given(st.integers(0, 31), st.integers(1, 4), st.integers(1, 4), SEEDS)
def test_what_one_lane_holds(lane: int, down: int, across: int, seed: int) -> None:
    wanted = values((16 * down, 8 * across), seed)
    got = wanted.copy()
    for element in fragment("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "d"):
        if element.lane == lane:
            got[element.row :: 16, element.column :: 8] += 1
    found = compare(got, wanted)
    assert f"what lane {lane} holds of each 16 x 8 tile of an mma's accumulators" in told(found)


@given(SIZES, SEEDS, st.sampled_from(["above", "below", "on"]))
def test_a_side_of_the_diagonal(shape: tuple[int, int], seed: int, side: str) -> None:
    wanted = values(shape, seed)
    row, column = np.indices(shape)
    chosen = {"above": row < column, "below": row > column, "on": row == column}[side]
    found = compare(wanted + chosen, wanted)
    assert told(found) == f"the elements {side} the diagonal"


@given(SIZES, SEEDS, st.floats(-8, 8).filter(lambda f: abs(f) > 0.01 and abs(f - 1) > 0.01))
def test_a_multiple(shape: tuple[int, int], seed: int, factor: float) -> None:
    wanted = values(shape, seed)
    found = compare((wanted * factor).astype(np.float32), wanted)
    assert kinds(found) == ["everywhere", "scaled"]
    assert float(told(found).split("hold ")[1].split(" times")[0]) == pytest.approx(factor, rel=1e-4)


@given(SIZES, SEEDS, st.integers(-5, 5), st.integers(-5, 5))
def test_a_shift(shape: tuple[int, int], seed: int, down: int, right: int) -> None:
    wanted = values(shape, seed)
    if not (down or right):
        return
    got = np.roll(wanted, (down, right), (0, 1))
    rolled = compare(got, wanted)
    assert kinds(rolled)[-1] == "exchanged" or told(rolled).endswith("cyclically")
    outside = np.zeros(shape, bool)
    outside[: max(down, 0)] = outside[shape[0] + min(down, 0) :] = True
    outside[:, : max(right, 0)] = outside[:, shape[1] + min(right, 0) :] = True
    got[outside] = wanted[outside]
    found = compare(got, wanted)
    assert kinds(found)[-1] == "shifted"
    for by, noun in ((down, "row"), (right, "column")):
        assert (f"{abs(by)} {noun}" in told(found).split("belongs")[-1]) == bool(by)


@given(st.sampled_from([(32, 32), (64, 128)]), SEEDS, st.sampled_from([1, 2, 4, 8, 16]), st.integers(0, 1))
def test_exchanged_in_pairs(shape: tuple[int, int], seed: int, flip: int, axis: int) -> None:
    wanted = values(shape, seed)
    found = compare(np.take(wanted, np.arange(shape[axis]) ^ flip, axis), wanted)
    assert kinds(found)[-1] == "exchanged"
    assert f"{('row', 'column')[axis]}s i and i ^ {flip} are exchanged" in told(found)


def numbers_of(words: str, extent: int) -> set[int]:
    """The numbers that words for a set of rows name: written anew, from the sentences alone."""
    words = words.partition(", the tail")[0]
    if words.startswith("every "):
        ordinal, first = words.removeprefix("every ").removesuffix(" on").split(" row, from ")
        step = {"second": 2, "third": 3}.get(ordinal) or int(ordinal.removesuffix("th"))
        return {*range(int(first), extent, step)}
    named, _, period = words.partition(" of every ")
    named = named.removeprefix("rows ").removeprefix("row ")
    if " to " in named:
        first, last = map(int, named.split(" to "))
        chosen = {*range(first, last + 1)}
    else:
        chosen = {int(one) for one in named.replace(" and ", ", ").split(", ")}
    return {n for n in range(extent) if n % int(period) in chosen} if period else chosen


@given(st.integers(1, 24).flatmap(lambda extent: st.lists(st.booleans(), min_size=extent, max_size=extent)))
def test_numbers_in_words_are_the_numbers_and_what_repeats_at_least_twice_is_periodic(chosen: list[bool]) -> None:
    numbers = {n for n, one in enumerate(chosen) if one}
    if not numbers:
        return
    kind, words = in_words(np.array(chosen), "row")
    extent = len(chosen)
    together = max(numbers) - min(numbers) + 1 == len(numbers)
    repeats = any(
        all(chosen[n] == chosen[n + period] for n in range(extent - period)) for period in range(2, extent // 2 + 1)
    )
    expected = {"all"} if all(chosen) else {"block", "tail"} if together else {"periodic"} if repeats else {"some"}
    assert kind in expected
    if " rows, the first " in words:
        count, _, listed = words.partition(" rows, the first ")
        assert int(count) == len(numbers) > 6 or " of every " in words
        assert [*map(int, listed.partition(" of every ")[0].split(", "))] == sorted(numbers)[:6]
    elif words:
        assert numbers_of(words, extent) == numbers


@given(SIZES, SEEDS, st.integers(0, 1))
def test_rows_in_another_order(shape: tuple[int, int], seed: int, axis: int) -> None:
    wanted = values(shape, seed)
    order = np.random.default_rng(seed + 1).permutation(shape[axis])
    found = compare(np.take(wanted, order, axis), wanted)
    first = int(np.flatnonzero(order != np.arange(len(order)))[0])
    assert kinds(found)[-1] == "permuted"
    assert f"{('row', 'column')[axis]} {first} holds {order[first]}" in told(found)
    assert told(found).count(" holds ") == 4
    assert told(found).endswith(", ...")


@given(st.sampled_from([(32, 32), (64, 64), (48, 32), (40, 56)]), SEEDS)
def test_transposed(shape: tuple[int, int], seed: int) -> None:
    wanted = values(shape, seed)
    found = compare(np.ascontiguousarray(wanted.T).reshape(shape), wanted)
    assert kinds(found)[-1] == "transposed"
    tiles = wanted.reshape(shape[0] // 8, 8, shape[1] // 8, 8).swapaxes(1, 3).reshape(shape)
    assert told(compare(tiles, wanted)).endswith("each tile of 8 x 8 is transposed")


@given(SIZES, SEEDS, st.floats(0.05, 0.3))
def test_nothing_is_said_of_what_has_no_pattern(shape: tuple[int, int], seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    wrong = rng.random(shape) < share
    wrong[0, 0] = wrong[-1, -1] = wrong[3, 7] = True
    wanted = values(shape, seed)
    found = compare(np.where(wrong, rng.standard_normal(shape), wanted), wanted)
    assert found.patterns == ()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), SEEDS, st.floats(0.01, 1))
def test_any_mask_of_any_shape_has_its_say(shape: list[int], seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    wrong = rng.random(shape) < share
    if wrong.any():
        assert all(pattern.sentence for pattern in places(wrong, (2, 2)))
    wanted = rng.integers(0, 3, shape)
    found = compare(np.where(wrong, wanted + 1, wanted), wanted)
    assert found.wrong == int(wrong.sum())
    assert all(pattern.sentence for pattern in found.patterns)


def test_slices_of_many_dimensions_are_named() -> None:
    wanted = values((3, 4, 16, 8), 1)
    got = wanted.copy()
    got[1, :, :, 4:] += 1
    assert told(compare(got, wanted)) == "slice of axis 0 1, columns 4 to 7"


@pytest.mark.parametrize(("rows", "first"), [(2000, 0), (30000, 0), (30000, 20000)])
def test_large_arrays_are_looked_through_in_the_part_that_differs(rows: int, first: int) -> None:
    wanted = values((rows, 100), 3)
    got = wanted.copy()
    got[first:] = np.roll(wanted, 3, 0)[first:]
    way = "3 rows above" if first else "3 rows above, cyclically"
    assert told(compare(got, wanted)).endswith(f"they hold what belongs {way}")


@given(SIZES, SEEDS, st.integers(1, 8))
def test_three_elements_say_nothing_of_what_they_hold_and_four_do(
    shape: tuple[int, int], seed: int, count: int
) -> None:
    wanted = values(shape, seed)
    chosen = np.random.default_rng(seed).choice(wanted.size, count, replace=False)
    scaled, constant = wanted.copy(), wanted.copy()
    scaled.flat[chosen] *= 3
    constant.flat[chosen] = 7
    expected = {"scaled", "constant"} if count >= 4 else set[str]()
    held = {kind for got in (scaled, constant) for kind in kinds(compare(got, wanted))}
    assert held & {"scaled", "constant"} == expected


@given(SIZES, SEEDS, st.integers(-3, 3).filter(bool), st.integers(-3, 3).filter(bool), st.integers(0, 1))
def test_a_shift_is_true_of_every_element_that_comes_from_somewhere(
    shape: tuple[int, int], seed: int, down: int, right: int, axis: int
) -> None:
    """What would come from beyond an edge may hold anything; what comes from the row or column at it may not."""
    wanted, other = values(shape, seed), values(shape, seed + 1)
    sources = [numbers - by for numbers, by in zip(np.indices(shape), (down, right), strict=True)]
    inside = np.all([(at >= 0) & (at < extent) for at, extent in zip(sources, shape, strict=True)], axis=0)
    got: Any = cast("Any", np.where)(inside, np.roll(wanted, (down, right), (0, 1)), other)
    assert kinds(compare(got, wanted))[-1] == "shifted"
    edge = 0 if (down, right)[axis] > 0 else shape[axis] - 1
    spoilt = np.flatnonzero(inside & (sources[axis] == edge))
    got.flat[spoilt[seed % len(spoilt)]] += 9
    assert "shifted" not in kinds(compare(got, wanted))


@given(SIZES, SEEDS, st.floats(0, 1e-3), st.floats(0, 1e-3), st.floats(0, 1e-2))
def test_tolerance_is_what_numpy_calls_close(
    shape: tuple[int, int], seed: int, rtol: float, atol: float, by: float
) -> None:
    """`|got - wanted| <= atol + rtol * |wanted|`, and more allowed never makes more wrong."""
    wanted = values(shape, seed)
    got: Any = wanted + by * values(shape, seed + 1)
    found = compare(got, wanted, rtol=rtol, atol=atol + 1e-9)
    close = np.isclose(got.astype(float), wanted.astype(float), rtol=rtol, atol=atol + 1e-9)
    assert found.wrong == int((~close).sum())
    assert compare(got, wanted, rtol=2 * rtol, atol=2 * atol + 1e-9).wrong <= found.wrong
    if found.first is not None and found.largest is not None:
        assert found.first.index == tuple(np.argwhere(~close)[0])
        assert found.largest.error >= found.first.error > found.first.allowed


@given(SIZES, SEEDS, st.integers(-12, 12))
def test_a_verdict_is_the_same_in_any_unit(shape: tuple[int, int], seed: int, exponent: int) -> None:
    wanted = values(shape, seed)
    rng = np.random.default_rng(seed + 1)
    got: Any = wanted + rng.choice([0, 1e-6, 1e-4, 1e-2], shape).astype(np.float32) * values(shape, seed + 2)
    plain, scaled = compare(got, wanted), compare(np.ldexp(got, exponent), np.ldexp(wanted, exponent))
    assert 0 < plain.wrong == scaled.wrong < wanted.size


@given(st.sampled_from([8, 16, 32, 64, 128, 256]), st.integers(2, 3), st.integers(2, 4), SEEDS)
def test_whole_tiles(size: int, down: int, across: int, seed: int) -> None:
    tiles = np.random.default_rng(seed).random((down, across)) < 0.5
    tiles[0, 0], tiles[0, 1], tiles[1, 0], tiles[1, 1] = (
        (True, False, False, True) if seed % 2 else (False, True, True, False)
    )
    if any(one.kind in {"block", "periodic", "scattered"} for one in places(tiles)):
        return  # rows and columns of tiles say it better
    found = places(np.kron(tiles, np.ones((size, size), bool)))
    row, column = (size * int(at) for at in np.argwhere(tiles)[0])
    what = f"{tiles.sum()} of {down * across} tiles of {size} x {size}"
    assert [one.sentence for one in found] == [f"{what}, the first at row {row}, column {column}"]


def test_a_lane_is_named_where_nine_tenths_of_what_it_holds_differ() -> None:
    held = fragment("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "d")
    wrong = np.zeros((32, 40), bool)
    for element in held:
        if element.lane == 5:
            wrong[element.row :: 16, element.column :: 8] = True
    spots = np.argwhere(wrong)
    for right in range(6):
        if right:
            wrong[*spots[7 * right]] = False
        said = [one.kind for one in places(wrong)]
        assert said == (["periodic", "lanes"] if right <= 4 else []), right


@given(SIZES, SEEDS)
def test_an_array_is_equal_to_itself_and_order_does_not_matter(shape: tuple[int, int], seed: int) -> None:
    wanted = values(shape, seed)
    ways: list[dict[str, Any]] = [{}, {"rtol": 0.0, "atol": 0.0}, {"rtol": 1e-3}]
    for options in ways:
        assert compare(wanted, wanted.copy(), **options).passed
    got = cast("Any", np.where)(np.random.default_rng(seed).random(shape) < 0.2, wanted + 1, wanted)
    order = np.random.default_rng(seed).permutation(shape[0])
    assert compare(got, wanted).wrong == compare(got[order], wanted[order]).wrong


@pytest.mark.parametrize("by", [2, -3, 9])
def test_a_shift_along_memory_that_no_shift_of_rows_and_columns_is(by: int) -> None:
    wanted = values((40, 8), 1)
    got = np.roll(wanted.ravel(), by).reshape(wanted.shape)
    lost = np.s_[:by] if by > 0 else np.s_[by:]
    got.flat[lost] = 0
    found = compare(got, wanted)
    assert kinds(found)[-1] == "shifted"
    assert told(found).endswith(f"{abs(by)} elements {'before' if by > 0 else 'after'}, in memory")


def test_a_shift_from_which_less_than_half_of_what_is_wrong_comes_is_none() -> None:
    wanted = values((40, 16), 2)
    for down, kind in ((24, "everywhere"), (16, "shifted")):
        got = values((40, 16), 3)
        got[down:] = wanted[: 40 - down]
        assert kinds(compare(got, wanted))[-1] == kind


@pytest.mark.parametrize("axis", [0, 1])
def test_what_reaches_a_column_or_a_row_further_is_not_the_tile_of_one_cta(axis: int) -> None:
    wanted = values((64, 64), 4)
    got = wanted.copy()
    got[tuple(slice(0, 17 if each == axis else 16) for each in range(2))] += 1
    assert "of CTA" not in told(compare(got, wanted, grid=(4, 4)))


@pytest.mark.parametrize("grid", [(4, 1), (1, 4)])
def test_the_tile_of_one_cta_of_a_row_or_column_of_them(grid: tuple[int, int]) -> None:
    wanted = values((32 * grid[1], 32 * grid[0]), 5)
    got = wanted.copy()
    got[tuple(slice(32, 64) if extent > 32 else slice(None) for extent in wanted.shape)] += 1
    assert f"the tile of CTA ({int(grid[0] > 1)}, {int(grid[1] > 1)}, 0)" in told(compare(got, wanted, grid=grid))


@pytest.mark.parametrize("size", [2, 4, 8, 16, 32, 64, 128])
def test_tiles_that_are_transposed_each(size: int) -> None:
    wanted = values((size, 3 * size), 6)
    got = np.concatenate([tile.T for tile in np.split(wanted, 3, axis=1)], axis=1)
    assert f"each tile of {size} x {size} is transposed" in told(compare(got, wanted))
