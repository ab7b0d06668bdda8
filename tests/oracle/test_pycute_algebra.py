"""NVIDIA's pycute (inside the nvidia-cutlass wheel) judges the layout algebra wherever pycute itself is right."""

from __future__ import annotations

import importlib
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from ptxloom.layout import (
    Layout,
    LayoutError,
    Swizzle,
    coalesce,
    complement,
    composition,
    filter,
    left_inverse,
    logical_divide,
    logical_product,
    make_layout,
    parse,
    right_inverse,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def pycute() -> Any:
    """The real pycute; the package of that name on the index is another one."""
    try:
        module = importlib.import_module("pycute")
    except ImportError:
        module = None
    if not hasattr(module, "composition"):
        pytest.skip("pycute is absent: pip install --no-deps nvidia-cutlass")
    return module


def theirs(pycute: Any, layout: Layout) -> Any:
    return pycute.Layout(layout.shape, layout.stride)


def ours(layout: Any) -> Layout:
    return Layout(layout.shape, layout.stride)


def plain(layout: Layout) -> Layout:
    """Strides of modes of size 1 mean nothing inside the layout, and the two libraries choose them differently."""

    if isinstance(layout.shape, int):
        return layout if layout.shape > 1 else Layout(1, 0)
    return make_layout(*map(plain, layout))


def random_layout(rng: Random) -> Layout:
    shape = tuple(
        rng.choice([1, 2, 3, 4, 6, 8]) if rng.random() < 0.8 else (rng.choice([2, 4]), rng.choice([2, 3]))
        for _ in range(rng.randint(1, 3))
    )
    dense = Layout(shape)
    if rng.random() < 0.3:
        return dense
    strides = [mode[1] for mode in dense.modes]
    rng.shuffle(strides)
    order = iter(strides)
    return Layout(shape, tuple(next(order) if isinstance(s, int) else (next(order), next(order)) for s in shape))


def composes(result: Layout, a: Layout, b: Layout) -> bool:
    return result.size == b.size and result.offsets() == [a(offset) for offset in b.offsets()]


CASES = 400


def judge(
    pycute: Any,
    name: str,
    mine: Callable[[Layout, Layout], Layout],
    is_right: Callable[[Layout, Layout, Layout], bool],
) -> int:
    """Compare with pycute on random pairs wherever its answer is right; how often that was."""
    rng = Random(f"{name} 6")
    compared = 0
    for _ in range(CASES):
        a, b = random_layout(rng), random_layout(rng)
        try:
            answer = ours(getattr(pycute, name)(theirs(pycute, a), theirs(pycute, b)))
        except (AssertionError, IndexError, ZeroDivisionError, LayoutError):
            continue  # pycute refuses, or its answer is not a layout
        if is_right(answer, a, b):
            assert plain(mine(a, b)) == plain(answer), (name, str(a), str(b))
            compared += 1
            continue
        with suppress(LayoutError):
            assert is_right(mine(a, b), a, b), (name, str(a), str(b))
    return compared


def divides(result: Layout, a: Layout, b: Layout) -> bool:
    try:
        return composes(result, a, make_layout(b, complement(b, a.size)))
    except LayoutError:
        return False


def multiplies(result: Layout, a: Layout, b: Layout) -> bool:
    try:
        return result[0] == a and composes(result[1], complement(a, a.size * b.cosize), b)
    except LayoutError:
        return False


def test_composition_agrees(pycute: Any) -> None:
    assert judge(pycute, "composition", composition, composes) > CASES // 8


def test_divides_agree(pycute: Any) -> None:
    assert judge(pycute, "logical_divide", logical_divide, divides) > CASES // 16


def test_products_agree(pycute: Any) -> None:
    assert judge(pycute, "logical_product", logical_product, multiplies) > CASES // 16


def test_complements_agree(pycute: Any) -> None:
    rng = Random(3)
    compared = 0
    for _ in range(CASES):
        layout, least = random_layout(rng), rng.choice([1, 24, 64, 100])
        try:
            answer = ours(pycute.complement(theirs(pycute, layout), least))
        except (AssertionError, LayoutError):
            continue  # pycute refuses, or its answer is not a layout
        joined = make_layout(filter(layout), answer)
        if sorted(joined.offsets()) == list(range(joined.size)):
            assert complement(layout, least) == answer
            compared += 1
    assert compared > CASES // 8


@pytest.mark.parametrize("name", ["coalesce", "filter"])
def test_simplifications_agree(pycute: Any, name: str) -> None:
    rng = Random(4)
    mine = {"coalesce": coalesce, "filter": filter}[name]
    for _ in range(CASES):
        layout = random_layout(rng)
        assert mine(layout) == ours(getattr(pycute, name)(theirs(pycute, layout)))


def test_inverses_agree(pycute: Any) -> None:
    rng = Random(5)
    for _ in range(CASES):
        layout = random_layout(rng)
        right = ours(pycute.right_inverse(theirs(pycute, layout)))
        mine = right_inverse(layout)
        assert mine.size >= right.size
        if mine.size == right.size:
            assert plain(mine) == plain(right)
        try:
            left = ours(pycute.left_inverse(theirs(pycute, layout)))
        except (AssertionError, LayoutError):
            continue
        if [left(value) for value in layout.offsets()] == list(range(layout.size)):
            assert left_inverse(layout).offsets()[: layout.cosize] == left.offsets()[: layout.cosize]


@pytest.mark.parametrize("name", ["zipped_divide", "tiled_divide", "zipped_product", "tiled_product"])
def test_gathered_forms_agree(pycute: Any, name: str) -> None:
    layout = Layout((8, (4, 6)), (24, (6, 1)))
    tiler = (2, 4)
    if name.endswith("product"):  # pycute before 4.4 divides where an integer tiler should multiply
        tiler = (Layout(2), Layout(4))
    mine = {
        "zipped_divide": zipped_divide,
        "tiled_divide": tiled_divide,
        "zipped_product": zipped_product,
        "tiled_product": tiled_product,
    }[name]
    their_tiler = tuple(tile if isinstance(tile, int) else theirs(pycute, tile) for tile in tiler)
    assert plain(mine(layout, tiler)) == plain(ours(getattr(pycute, name)(theirs(pycute, layout), their_tiler)))


# The layouts that pycute's own tests try, and the conditions that those tests state.

COMPOSED = """
1:0 1:0|1:0 1:1|1:1 1:0|1:1 1:1|4:1 4:1|4:2 4:1|4:1 4:2|4:0 4:1|4:1 4:0|1:0 4:1|4:1 1:0|4:1 2:1|4:2 2:1|4:1 2:2|4:2 2:2
12:1 (4,3)|12:2 (4,3)|12:1 (4,3):(3,1)|12:2 (4,3):(3,1)|12:1 (2,3):(2,4)|(4,3) (4,3)|(4,3) 12:1|(4,3) 6:2
(4,3) (6,2):(2,1)|(4,3):(3,1) (4,3)|(4,3):(3,1) 12:1|(4,3):(3,1) 6:2
(4,3):(3,1) (6,2):(2,1)|(8,8) ((2,2,2),(2,2,2)):((1,16,4),(8,2,32))
(8,8):(8,1) ((2,2,2),(2,2,2)):((1,16,4),(8,2,32))|((2,2,2),(2,2,2)):((1,16,4),(8,2,32)) 8:4|(4,2):(1,16) (4,2):(2,1)
(2,2):(2,1) (2,2):(2,1)|(4,8,2) (2,2,2):(2,8,1)|(4,8,2):(2,8,1) (2,2,2):(1,8,2)|(4,8,2):(2,8,1) (4,2,2):(2,8,1)
(4,6,8):(1,4,7) 6:1|(4,6,8,10):(2,3,5,7) 6:12
"""
COMPLEMENTED = (
    "1:0 1:1 4:0 (2,4):(1,2) (2,3):(1,2) (2,4):(1,4) (2,4,8):(8,1,64) ((2,2),(2,2)):((1,4),(8,32)) "
    "(2,(3,4)):(3,(1,6)) (4,6):(1,6) (4,10):(1,10)"
)
COALESCED = (
    "1:0 1:1 (2,4) (2,4,6) (2,4,6):(1,6,2) (2,1,6):(1,7,2) (2,1,6):(4,7,8) (2,(4,6)) (2,4):(4,1) (2,4,6):(24,6,1) "
    "(2,1,3):(2,4,4) ((2,2),(2,2)):((1,4),(8,32))"
)
INVERTED = "1:0 (1,1):(0,0) 1:1 4:1 4:2 (8,4):(1,8) (8,4):(4,1) (2,4,6):(1,2,8) (2,4,6):(4,1,8) (4,2):(1,16)"
MULTIPLIED = "1:0 1:0|1:1 1:0|1:0 1:1|1:1 1:1|3:1 4:0|3:0 4:1|3:0 4:0|3:2 4:1|3:1 (2,4)|(2,5):(5,1) 4|(4,8) 16"


@pytest.mark.parametrize("pair", COMPOSED.strip().replace("\n", "|").split("|"))
def test_the_compositions_that_pycute_tries(pair: str) -> None:
    a, b = map(Layout.parse, pair.split())
    assert composes(composition(a, b), a, b)


@pytest.mark.parametrize("text", COMPLEMENTED.split())
def test_the_complements_that_pycute_tries(text: str) -> None:
    layout = Layout.parse(text)
    assert set(layout.offsets()) & set(complement(layout).offsets()) == {0}


@pytest.mark.parametrize("text", COALESCED.split())
def test_the_layouts_that_pycute_coalesces(text: str) -> None:
    layout = Layout.parse(text)
    assert coalesce(layout).offsets() == layout.offsets()


@pytest.mark.parametrize("text", [*INVERTED.split(), "(3,7):(0,0)", "4:0", "(2,4):(0,2)"])
def test_the_layouts_that_pycute_inverts(text: str) -> None:
    layout = Layout.parse(text)
    inverse = right_inverse(layout)
    assert [layout(i) for i in inverse.offsets()] == list(range(inverse.size))
    if text in INVERTED.split():
        assert [left_inverse(layout)(value) for value in layout.offsets()] == list(range(layout.size))


@pytest.mark.parametrize("pair", MULTIPLIED.split("|"))
def test_the_products_that_pycute_tries(pair: str) -> None:
    block, tiler = map(Layout.parse, pair.split())
    result = logical_product(block, tiler)
    assert result.rank == 2
    assert result[0] == block
    assert result[1].size == tiler.size


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Sw<2,3,-3>", (0, 1, 2, 7, 72, 73, 79, 144, 255, 64, 63, 256)),
        ("Sw<1,0,1>", (0, 1, 3, 6, 8, 9, 14, 16, 62, 64, 254, 256)),
        ("Sw<3,2,3>", (0, 1, 2, 7, 8, 9, 15, 16, 59, 72, 227, 256)),
        ("Sw<2,1,-2>", (0, 1, 10, 31, 8, 9, 23, 16, 39, 64, 231, 256)),
    ],
)
def test_the_swizzles_that_pycute_tries(text: str, values: tuple[int, ...]) -> None:
    swizzle = parse(text)
    assert isinstance(swizzle, Swizzle)
    assert tuple(map(swizzle, (0, 1, 2, 7, 8, 9, 15, 16, 63, 64, 255, 256))) == values
