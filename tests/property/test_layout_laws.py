"""Laws of the layout algebra on random layouts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptxloom.layout import (
    Layout,
    LayoutError,
    Swizzle,
    blocked_product,
    coalesce,
    compatible,
    complement,
    composition,
    downcast,
    filter,
    flat_divide,
    flatten,
    layout_of,
    left_inverse,
    logical_divide,
    logical_product,
    make_layout,
    parse,
    raked_product,
    right_inverse,
    tiled_divide,
    to_linear,
    upcast,
    with_shape,
    zipped_divide,
    zipped_product,
)
from sweeps import examples

if TYPE_CHECKING:
    from ptxloom.layout import IntTuple

law = settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

SHAPES = st.recursive(
    st.sampled_from([1, 2, 2, 3, 4, 4, 5, 6, 8]),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple),
    max_leaves=4,
)


@st.composite
def layouts(draw: st.DrawFn, strides: st.SearchStrategy[int] | None = None) -> Layout:
    """A nested layout: dense in some order of its modes, dense with gaps, or of any strides."""
    shape: IntTuple = draw(SHAPES)
    leaves = flatten(shape)
    if strides is not None:
        return _with_strides(shape, draw(st.lists(strides, min_size=len(leaves), max_size=len(leaves))))
    kind = draw(st.sampled_from(["dense", "gaps", "any"]))
    if kind == "any":
        return _with_strides(shape, draw(st.lists(st.integers(0, 24), min_size=len(leaves), max_size=len(leaves))))
    steps = [0] * len(leaves)
    current = 1
    for i in draw(st.permutations(range(len(leaves)))):
        current *= draw(st.sampled_from([1, 1, 2, 3])) if kind == "gaps" else 1
        steps[i] = 0 if kind == "gaps" and draw(st.integers(0, 9)) == 0 else current
        current *= leaves[i]
    return _with_strides(shape, steps)


def _with_strides(shape: IntTuple, strides: list[int]) -> Layout:
    rest = iter(strides)

    def nested(value: IntTuple) -> IntTuple:
        return next(rest) if isinstance(value, int) else tuple(nested(inner) for inner in value)

    return Layout(shape, nested(shape))


def is_bijection(layout: Layout) -> bool:
    return sorted(layout.offsets()) == list(range(layout.size))


def check_composition(result: Layout, a: Layout, b: Layout) -> None:
    assert compatible(b.shape, result.shape)
    assert result.offsets() == [a(offset) for offset in b.offsets()]


def no_composition_exists(a: Layout, b: Layout) -> bool:
    """Decided without the algebra: a layout would have to be A along each mode of B, and additive over them."""
    along: list[list[int]] = []
    for extent, step in b.modes:
        values = [a(step * x) for x in range(extent)]
        try:
            layout_of(values)
        except LayoutError:
            return True
        along.append(values)
    sums = [0]
    for values in along:
        sums = [total + value for value in values for total in sums]
    return sums != [a(offset) for offset in b.offsets()]


@law
@given(layouts(), layouts())
def test_composition_does_one_after_the_other_or_says_that_nothing_does(a: Layout, b: Layout) -> None:
    try:
        result = composition(a, b)
    except LayoutError:
        assert no_composition_exists(a, b)
    else:
        check_composition(result, a, b)


@law
@given(layouts(st.integers(-9, 9)), layouts(st.integers(-9, 9)))
def test_composition_with_negative_strides_obeys_the_same_law(a: Layout, b: Layout) -> None:
    try:
        result = composition(a, b)
    except LayoutError:
        assert no_composition_exists(a, b)
    else:
        check_composition(result, a, b)


@law
@given(layouts(), layouts(), layouts())
def test_composition_is_associative(a: Layout, b: Layout, c: Layout) -> None:
    try:
        left, right = composition(composition(a, b), c), composition(a, composition(b, c))
    except LayoutError:
        return
    in_range = b.cosize <= a.size and c.cosize <= b.size
    if in_range:
        assert left.offsets() == right.offsets()


@law
@given(layouts(), st.integers(1, 300))
def test_a_complement_fills_what_the_layout_leaves_out(layout: Layout, least: int) -> None:
    try:
        rest = complement(layout, least)
    except LayoutError:
        whole = filter(layout)
        tilable = len(set(whole.offsets())) == whole.size and _tiles_an_interval(whole)
        assert not tilable
        return
    values = make_layout(filter(layout), rest).offsets()
    assert len(set(values)) == len(values)
    assert set(range(least)) <= set(values)
    assert rest.offsets() == sorted(rest.offsets())


def _tiles_an_interval(layout: Layout) -> bool:
    """Whether greedy filling (take the smallest hole as the next start) makes one whole interval."""
    block = set(layout.offsets())
    goal = layout.cosize
    seen = set(block)
    while True:
        hole = next(i for i in range(max(seen) + 2) if i not in seen)
        if hole >= goal:
            return seen == set(range(max(seen) + 1))
        moved = {hole + value for value in block}
        if moved & seen:
            return False
        seen |= moved


@law
@given(layouts())
def test_coalescing_keeps_the_function_and_is_as_short_as_can_be(layout: Layout) -> None:
    short = coalesce(layout)
    assert short.offsets() == layout.offsets()
    assert short.depth <= 1
    assert coalesce(short) == short
    modes = [mode for mode in short.modes if mode[0] > 1]
    assert all(first[0] * first[1] != second[1] for first, second in pairwise(modes))
    by_mode = coalesce(layout, (1,) * layout.rank if isinstance(layout.shape, tuple) else 1)
    assert [mode.size for mode in by_mode] == [mode.size for mode in layout]
    assert by_mode.offsets() == layout.offsets()


@law
@given(layouts())
def test_a_right_inverse_walks_the_image_in_order(layout: Layout) -> None:
    inverse = right_inverse(layout)
    assert [layout(i) for i in inverse.offsets()] == list(range(inverse.size))
    if is_bijection(layout):
        assert inverse.size == layout.size


@law
@given(layouts())
def test_a_left_inverse_undoes_the_layout(layout: Layout) -> None:
    values = layout.offsets()
    try:
        inverse = left_inverse(layout)
    except LayoutError:
        assert not is_bijection(layout)
        return
    assert [inverse(value) for value in values] == list(range(layout.size))


@law
@given(layouts(), layouts())
def test_a_divide_is_the_tile_and_then_the_rest(layout: Layout, tiler: Layout) -> None:
    try:
        divided = logical_divide(layout, tiler)
    except LayoutError:
        return
    tile, _ = divided
    check_composition(divided, layout, make_layout(tiler, complement(tiler, layout.size)))
    check_composition(tile, layout, tiler)
    if is_bijection(layout) and divided.size == layout.size:
        assert is_bijection(divided)


@law
@given(layouts(), layouts())
def test_a_product_repeats_the_block_without_overlap(block: Layout, tiler: Layout) -> None:
    try:
        product = logical_product(block, tiler)
    except LayoutError:
        return
    first, repeated = product
    assert first == block
    assert compatible(tiler.shape, repeated.shape)
    inside, starts = set(filter(block).offsets()), set(repeated.offsets())
    assert len({a + b for a in inside for b in starts}) == len(inside) * len(starts)
    assert len(starts) == len(set(tiler.offsets()))


@law
@given(st.tuples(layouts(), layouts()).map(lambda pair: make_layout(*pair)), st.tuples(SHAPES, SHAPES))
def test_gathering_a_divide_or_product_moves_modes_and_nothing_else(
    layout: Layout, tiler: tuple[IntTuple, IntTuple]
) -> None:
    tiles = (Layout(tiler[0]), Layout(tiler[1]))
    for split, gathered in ((logical_divide, zipped_divide), (logical_product, zipped_product)):
        try:
            by_mode = split(layout, tiles)
        except LayoutError:
            continue
        zipped = gathered(layout, tiles)
        for half in (0, 1):
            assert zipped[half] == make_layout(by_mode[0][half], by_mode[1][half])
    try:
        zipped = zipped_divide(layout, tiles)
    except LayoutError:
        return
    assert tiled_divide(layout, tiles).modes == flat_divide(layout, tiles).modes == zipped.modes


@law
@given(st.sampled_from([(2, 3), (4, 2), (3,), (2, 2, 2)]), st.data())
def test_blocked_and_raked_products_lay_blocks_side_by_side_and_dealt_out(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    block = Layout.row_major(shape) if data.draw(st.booleans()) else Layout(shape)
    tiler = Layout(tuple(data.draw(st.integers(1, 4)) for _ in shape))
    blocked, raked, plain = blocked_product(block, tiler), raked_product(block, tiler), logical_product(block, tiler)
    pairs = [(b, t) for b in range(block.size) for t in range(tiler.size)]
    for b, t in pairs:
        inner, outer = flatten(block.coordinate(b)), flatten(tiler.coordinate(t))
        side_by_side = tuple(i + o * n for i, o, n in zip(inner, outer, shape, strict=True))
        dealt = tuple(o + i * n for i, o, n in zip(inner, outer, flatten(tiler.shape), strict=True))
        assert blocked(side_by_side) == raked(dealt) == plain(b, t)


@law
@given(layouts(), SHAPES)
def test_with_shape_keeps_the_order_of_the_values(layout: Layout, shape: IntTuple) -> None:
    try:
        shaped = with_shape(layout, shape)
    except LayoutError:
        return
    assert compatible(shape, shaped.shape)
    assert shaped.offsets() == layout.offsets()


@law
@given(layouts(), st.sampled_from([2, 3, 4, 8]))
def test_casting_to_wider_elements_keeps_the_bits(layout: Layout, count: int) -> None:
    try:
        wide = upcast(layout, count)
    except LayoutError:
        return
    small = sorted(layout.offsets())
    assert small == sorted(value * count + i for value in wide.offsets() for i in range(count))


@law
@given(layouts(), st.sampled_from([2, 3, 4]))
def test_casting_down_and_up_again_is_the_identity(layout: Layout, count: int) -> None:
    try:
        narrow = downcast(layout, count)
    except LayoutError:
        return
    assert sorted(narrow.offsets()) == sorted(value * count + i for value in layout.offsets() for i in range(count))
    assert upcast(narrow, count).offsets() == layout.offsets()


@law
@given(layouts(st.integers(-40, 40)))
def test_what_is_written_reads_back(layout: Layout) -> None:
    assert parse(str(layout)) == layout
    assert Layout.parse(re.sub(r"(-?\d+)", r" _\1 ", str(layout))) == layout


@law
@given(layouts(st.integers(-9, 9)))
def test_every_kind_of_coordinate_names_the_same_element(layout: Layout) -> None:
    offsets = layout.offsets()
    assert offsets == [layout(i) for i in range(layout.size)]
    assert offsets == [layout(layout.coordinate(i)) for i in range(layout.size)]
    assert layout.cosize == max(offsets) - min(offsets) + 1


@law
@given(layouts())
def test_a_layout_is_found_again_from_its_values(layout: Layout) -> None:
    assert layout_of(layout.offsets()).offsets() == layout.offsets()
    assert (
        layout_of(layout.offsets()).modes == tuple(mode for mode in coalesce(layout).modes if mode[0] > 1)
        or layout.size == 1
    )


@law
@given(
    st.permutations(range(6)),
    st.integers(1, 5),
    st.sampled_from([None, Swizzle(1, 0, 1), Swizzle(2, 1, 2), Swizzle(2, 0, -3), Swizzle(3, 0, 3)]),
)
def test_linear_over_f2_and_back(order: list[int], split: int, swizzle: Swizzle | None) -> None:
    plain = Layout(
        ((2,) * split, (2,) * (6 - split)), (tuple(1 << b for b in order[:split]), tuple(1 << b for b in order[split:]))
    )
    layout = plain if swizzle is None else composition(swizzle, plain)
    linear = to_linear(layout, "lane", "register")
    values = [linear(lane=i % (1 << split), register=i >> split) for i in range(64)]
    assert values == layout.offsets()
    assert linear.to_layout().offsets() == values
