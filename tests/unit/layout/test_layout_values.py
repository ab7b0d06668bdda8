"""Layouts as values: construction, coordinates, strings, slices, tensors, swizzles; and every refusal says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.layout import (
    ComposedLayout,
    Layout,
    LayoutError,
    LinearLayout,
    Swizzle,
    Tensor,
    coalesce,
    complement,
    composition,
    downcast,
    filter,
    layout_of,
    left_inverse,
    logical_divide,
    make_layout,
    parse,
    recast,
    right_inverse,
    tiled_product,
    to_linear,
    upcast,
    with_shape,
    zipped_divide,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def test_coordinates_of_every_kind() -> None:
    layout = Layout((3, (2, 3)), (3, (12, 1)))
    assert layout(16) == layout(1, 5) == layout(1, (1, 2)) == layout((1, (1, 2))) == 17
    assert layout.coordinate(16) == (1, (1, 2))
    assert (layout.size, layout.cosize, layout.rank, layout.depth, len(layout)) == (18, 21, 2, 2, 2)
    assert [str(mode) for mode in layout] == ["3:3", "(2,3):(12,1)"]
    assert layout[-1] == layout[1]


def test_past_the_end_the_last_mode_continues_and_below_zero_mirrors() -> None:
    layout = Layout((4, 2), (1, 10))
    assert layout(9) == 21
    assert layout(-9) == -21
    assert Layout(4, -2)(3) == -6
    assert Layout(4, -2).cosize == 7
    assert Layout((), ())(0) == 0
    assert Layout((), ()).size == 1


def test_a_layout_is_an_immutable_value() -> None:
    layout = Layout([4, [2, 2]], [1, [4, 8]])
    assert layout == Layout((4, (2, 2))) == Layout((np.int64(4), (2, 2)))
    assert hash(layout) == hash(Layout((4, (2, 2))))
    assert layout != Layout(16)
    assert eval(repr(layout)) == layout  # noqa: S307 - that is what repr is for
    with pytest.raises(AttributeError):
        layout.shape = 4  # pyright: ignore[reportAttributeAccessIssue] - the point of the test


def test_default_strides_are_dense_leftmost_fastest() -> None:
    assert str(Layout((2, (3, 4)))) == "(2,(3,4)):(1,(2,6))"
    assert str(Layout.row_major((2, (3, 4)))) == "(2,(3,4)):(12,(4,1))"


def test_arrays_of_coordinates_evaluate_at_once() -> None:
    layout = Layout(((4, 8), (2, 2, 2)), ((32, 1), (16, 8, 128)))
    threads, values = np.arange(32)[:, None], np.arange(8)
    grid = layout.at(threads, values)
    assert grid.shape == (32, 8)
    assert grid.T.ravel().tolist() == layout.offsets() == layout.at(np.arange(256)).tolist()
    swizzled = composition(Swizzle(2, 1, 3), layout)
    assert swizzled.at(np.arange(256)).tolist() == swizzled.offsets() == [swizzled(i) for i in range(256)]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("(8,4):(1,8)", Layout((8, 4), (1, 8))),
        (" ( _8 , _4 ) : ( _1 , 8 ) ", Layout((8, 4), (1, 8))),
        ("_8:_1", Layout(8, 1)),
        ("(4,(2,-3)):(-1,(0,4))".replace("-3", "3"), Layout((4, (2, 3)), (-1, (0, 4)))),
        ("(8,(2,2))", Layout((8, (2, 2)))),
        ("():()", Layout((), ())),
        ("(4,):(2,)", Layout((4,), (2,))),
        ("Sw<3,4,3>", Swizzle(3, 4, 3)),
        ("S<2,4,-3> o _16 o (8,64):(64,1)", ComposedLayout(Swizzle(2, 4, -3), 16, Layout((8, 64), (64, 1)))),
        ("Swizzle<3,3,3> o (8,64):(64,1)", ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))),
    ],
)
def test_texts_that_cute_writes_are_read(text: str, same: object) -> None:
    value = parse(text)
    assert value == same
    assert parse(str(value)) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected an integer or `\\(` at column 1, saw the end"),
        ("(8,4:(1,8)", "expected `,` or `\\)` at column 5, saw `:\\(1,8\\)`"),
        ("8:1:2", "expected nothing more at column 4"),
        ("8 4", "expected `:` and a stride at column 2"),
        ("(8,4):1", "only one of the two is a tuple"),
        ("(8,4):(1,2,3)", "2 modes against 3"),
        ("0:1", "0 cannot be a shape"),
        ("Sw<3,3,3> x 8:1", "expected `o`"),
        ("Sw<3,3,2>", "must be at least B"),
    ],
)
def test_texts_that_are_no_layout_are_refused_with_the_place(text: str, why: str) -> None:
    with pytest.raises(LayoutError, match=why):
        parse(text)


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (lambda: composition(Layout((6, 2), (1, 7)), Layout(3, 4)), "along the mode 3:4 the values 0, 4, 9"),
        (lambda: composition(Layout((4, 4), (1, 5)), Layout((4, 2), (1, 2))), "carry into each other"),
        (lambda: composition(Layout((6, 2), (1, 7)), Layout(1 << 20, 4)), "too many to try"),
        (lambda: composition(Layout(8), (2, 2)), "2 tiles are too many"),
        (lambda: composition(Swizzle(1, 1, 1), None), "has no modes"),
        (lambda: complement(Layout((2, 2), (1, 1)), 8), "repeats or interleaves"),
        (lambda: complement(Layout((4, 2), (1, 6)), 12), "blocks of 4 cannot fill the gap before its mode 2:6"),
        (lambda: complement(Layout((4, 2), (1, 6)), 5), "blocks of 4"),
        (lambda: complement(Layout(4, -1), 8), "below zero"),
        (lambda: left_inverse(Layout((4, 2), (1, 0))), "stride 0"),
        (lambda: left_inverse(Layout((4, 2), (1, 3))), "no whole, sufficient step"),
        (lambda: left_inverse(Layout(4, -1)), "no whole, sufficient step"),
        (lambda: with_shape(Layout(8), (3, 2)), "do not fill"),
        (lambda: coalesce(Layout(8), (1, 1)), "more modes"),
        (lambda: layout_of([1, 2]), "start with 0"),
        (lambda: layout_of([0, 1, 3]), "no constant strides"),
        (lambda: upcast(Layout(6, 1), 4), "does not fill or skip whole groups"),
        (lambda: upcast(Layout((2, 4), (1, 8)), 4), "runs of 2 adjacent elements"),
        (lambda: upcast(Layout((2, 2), (1, 1)), 4), "after runs of 2 adjacent elements it steps by 1"),
        (lambda: upcast(Layout(4, 1), 0), "at least 1"),
        (lambda: downcast(Layout(4, 2), 2), "no mode has stride 1"),
        (lambda: to_linear(Layout(6, 1), "x"), "not a power of two long"),
        (lambda: to_linear(Layout((2, 2), (1, 1)), "x"), "carries"),
        (lambda: to_linear(Layout(2, -1), "x"), "below zero"),
        (lambda: to_linear(Layout(4), "x", "y"), "2 names"),
        (lambda: LinearLayout((("x", (1, 2, 3)),)).to_layout(), "its bases overlap"),
        (lambda: LinearLayout((("x", (1,)),))(y=1), "not an input"),
        (lambda: Layout(8)((1, 2)), "does not fit shape 8"),
        (lambda: Layout((8, 2)).slice(None), "never"),
        (lambda: Layout("8"), "made of integers"),
        (lambda: zipped_divide(Layout(8), (2, 2)), "too many"),
        (lambda: Swizzle(-1, 0, 0), "cannot be negative"),
    ],
)
def test_what_has_no_answer_is_an_error_that_says_why(refused: Callable[[], object], why: str) -> None:
    if why == "never":
        assert refused() == Layout((8, 2))
        return
    with pytest.raises(LayoutError, match=why):
        refused()


def test_answers_that_division_alone_would_refuse() -> None:
    assert composition(Layout((6, 2, 5), (1, 2, 8)), Layout(4, 4)) == Layout((2, 2), (4, 4))
    assert composition(Layout(10), Layout(3, 4)) == Layout(3, 4)
    assert composition(Layout((4, 1), (1, 7)), Layout(8)).offsets() == [Layout((4, 1), (1, 7))(i) for i in range(8)]
    assert complement(Layout((4, 6), (1, 6))) == complement(Layout((4, 6), (1, 6)), 4) == Layout(1, 0)
    assert left_inverse(Layout((2, 2), (1, 3)))(4) == 3


def test_by_mode_tilers() -> None:
    layout = Layout((12, (4, 8)), (59, (13, 1)))
    assert composition(layout, (Layout(3, 4), Layout(8, 2))).shape == (3, (2, 4))
    assert str(composition(layout, (None, 4))) == "(12,4):(59,13)"
    assert str(logical_divide(Layout((8, 6)), (4, None))) == "((4,2),6):((1,4),8)"
    assert str(zipped_divide(Layout((8, 6)), (4, None))) == "((4,1),(2,6)):((1,0),(4,8))"
    assert str(tiled_product(Layout((2, 2)), Layout((3, 4)))) == "((2,2),3,4):((1,2),4,12)"
    assert right_inverse(4) == left_inverse(4) == Layout(4)
    assert complement(4, 8) == Layout(2, 4)
    assert str(filter(Layout((2, (2, 2)), (1, (0, 2))), (1, 1))) == "(2,2):(1,2)"


def test_slicing_and_tensors_keep_the_offset() -> None:
    tensor = Tensor(7, Layout((8, (2, 4)), (8, (4, 1))))
    part = tensor.slice(None, (1, None))
    assert part == Tensor(11, Layout((8, 4), (8, 1)))
    assert part(2, 3) == tensor(2, (1, 3))
    assert part.offsets()[5] == part(5)
    swizzled = Tensor(0, composition(Swizzle(3, 3, 3), Layout((8, 64), (64, 1))))
    row = swizzled.slice(5, None)
    assert [row(c) for c in range(64)] == [swizzled(5, c) for c in range(64)]
    tile = swizzled.tile((4, 16), (1, 2))
    assert [tile(i, j) for j in range(16) for i in range(4)] == [
        swizzled(4 + i, 32 + j) for j in range(16) for i in range(4)
    ]
    assert tile.size == 64
    assert str(tile).startswith("0 + Sw<3,3,3> o 288 o")


def test_a_swizzle_moves_bits_both_ways_and_undoes_itself() -> None:
    for swizzle in (Swizzle(2, 3, 3), Swizzle(2, 1, -3), Swizzle(0, 4, 0)):
        values = [swizzle(i) for i in range(swizzle.span)]
        assert sorted(values) == list(range(swizzle.span))
        assert [swizzle(value) for value in values] == list(range(swizzle.span))
    assert Swizzle(2, 1, -2)(2) == 2 ^ (2 << 2)


def test_swizzled_layouts_compose_on_the_inside() -> None:
    swizzled = composition(Swizzle(3, 3, 3), Layout((8, 64), (64, 1)))
    columns = composition(swizzled, (None, Layout(8, 8)))
    assert [columns(3, j) for j in range(8)] == [swizzled(3, 8 * j) for j in range(8)]
    assert swizzled.size == swizzled.cosize == 512


def test_recast_between_widths() -> None:
    bits = make_layout(Layout((4, 8), (256, 16)), Layout((16, 2), (1, 128)))
    assert str(recast(bits, 1, 16)) == "((4,8),(1,2)):((16,1),(1,8))"
    assert recast(Layout((64, 8), (1, 64)), 8, 32) == Layout((16, 8), (1, 16))
    assert recast(Layout(16), 6, 8) == Layout(12)
    assert downcast(Layout(4, 1), 1) == Layout(4, 1)


def test_triton_bases() -> None:
    linear = to_linear(Layout(((4, 8), (2, 2)), ((32, 1), (16, 8))), "lane", "register")
    assert linear.bases == (("lane", (32, 64, 1, 2, 4)), ("register", (16, 8)))
    assert linear.split(dim1=16, dim0=8)["lane"] == ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0))
    assert str(linear) == "lane: 32, 64, 1, 2, 4, register: 16, 8"
    assert linear.to_layout() == Layout(((4, 8), (2, 2)), ((32, 1), (16, 8)))
    with pytest.raises(LayoutError, match="too small"):
        linear.split(dim1=8, dim0=8)
    with pytest.raises(LayoutError, match="not a power of two"):
        linear.split(dim1=12, dim0=16)
    swizzled = to_linear(composition(Swizzle(3, 3, 3), Layout((64, 8), (1, 64))), "column", "row").to_layout()
    assert str(swizzled) == "Sw<3,3,3> o 0 o (64,8):(1,64)"


def test_modes_out_of_range_are_named() -> None:
    with pytest.raises(IndexError, match="has no mode 2; its rank is 2"):
        Layout((8, 4))[2]
    with pytest.raises(IndexError, match="its rank is 1"):
        Layout(8)[1]
