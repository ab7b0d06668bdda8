"""Parts of a diagnosis that few kernels reach, each against what it must find, counted or built another way."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from diagnosis.made_tiles import right_tile
from ptxloom.diagnosis import culprits, tallies, totals
from ptxloom.diagnosis.arrays.images import image_of
from ptxloom.diagnosis.described import block_scales, scale_lines, solving
from ptxloom.diagnosis.explanations import _elsewhere
from ptxloom.diagnosis.lines import accumulators
from ptxloom.diagnosis.moves import in_order
from ptxloom.diagnosis.origins.chains import Places
from ptxloom.diagnosis.origins.evidence import SiteEvidence
from ptxloom.diagnosis.origins.roots import _SUM, NO_ROOT, _of_several
from ptxloom.diagnosis.origins.stacks import Stack
from ptxloom.diagnosis.origins.tiles import Target
from ptxloom.diagnosis.relations.examined import _source
from ptxloom.diagnosis.relations.leaves import Leaves
from ptxloom.diagnosis.relations.links import Link, Links
from ptxloom.diagnosis.relations.names import pitched
from ptxloom.diagnosis.sums.addends import _pitch_of
from ptxloom.diagnosis.suspects import terms
from ptxloom.diagnosis.suspects.operands import DefUse
from ptxloom.diagnosis.suspects.sources import Sources
from ptxloom.isa.products import mma_forms
from ptxloom.machine.results.provenance import Kind, TracedArray
from ptxloom.machine.results.provenance_tags import ORIGIN

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers, Tile
    from ptxloom.machine.program.model import Program

FORM = next(form for form in mma_forms() if (form.shape, form.a_type) == ("m16n8k16", "f16"))


def program_of(body: str) -> Program:
    declared = ".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %d<4>; .reg .f32 %f<40>;"
    text = f".version 8.6\n.target sm_90a\n.address_size 64\n.entry k() {{ {declared} {body} ret; }}"
    return pl.kernel(pl.parse(text), "k", unchecked=True).program


# Scales


@pytest.mark.parametrize("rows", [128, 384])
@pytest.mark.parametrize("blocks", [4, 12])
def test_places_of_scales_in_tiles_are_numbered_row_by_row_and_back(rows: int, blocks: int) -> None:
    """A tile of 512 bytes holds 128 rows and 4 blocks: the rows 0, 32, 64 and 96 side by side, in 16 bytes."""
    row, block = (axis.ravel() for axis in np.indices((rows, blocks)))
    tiled = block_scales._Layout(rows, blocks, tiled=True, shape=(rows, blocks))
    flat = block_scales._Layout(rows, blocks, tiled=False, shape=(rows, blocks))
    place = tiled.element(row, block)
    kept = np.zeros((rows // 128, blocks // 4, 32, 4, 4), np.int64)
    kept[row // 128, block // 4, row % 32, row % 128 // 32, block % 4] = np.arange(rows * blocks)
    assert kept.ravel()[place].tolist() == list(range(rows * blocks))
    assert tiled.plain(place).tolist() == flat.element(row, block).tolist() == list(range(rows * blocks))


@pytest.mark.parametrize(("rows", "blocks"), [(1, 1), (128, 4), (129, 4), (300, 5), (256, 9)])
def test_an_array_of_whole_tiles_holds_the_scales_of_as_many_rows_and_blocks(rows: int, blocks: int) -> None:
    tiles = -(-rows // 128), -(-blocks // 4)
    held: Any = SimpleNamespace(role="a", size=32)
    reading: Any = SimpleNamespace(planes={"a": SimpleNamespace(extents=(rows, 32 * blocks - 1))})

    def layout(shape: tuple[int, ...]) -> block_scales._Layout | None:
        array = np.zeros(shape, np.uint8)
        traced = TracedArray(0, "S", 0, array.dtype, array.shape, array.strides, array.nbytes)
        return block_scales._layout(held, reading, traced)

    found = layout((*tiles, 512))
    assert found is not None
    assert (found.rows, found.blocks, found.tiled) == (128 * tiles[0], 4 * tiles[1], True)
    assert layout((tiles[0] + 1, tiles[1], 512)) is None
    assert layout((rows, blocks)) == block_scales._Layout(rows, blocks, tiled=False, shape=(rows, blocks))


def held_scales(count: int) -> tuple[scale_lines.Held, scale_lines.Taken]:
    one = np.zeros(count, np.int64)
    held = scale_lines.Held("a", 0, one, one, one, one, one, one + 1, 32, (9,))
    return held, scale_lines.Taken(one, one, np.arange(count), one == 0)


@pytest.mark.parametrize("copies", [0, 1, 2])
def test_a_wrong_pitch_of_scales_is_the_first_copy_s(monkeypatch: pytest.MonkeyPatch, copies: int) -> None:
    def copies_of(*_: object) -> list[Any]:
        return [SimpleNamespace(site=20 + n) for n in range(copies)]

    monkeypatch.setattr(scale_lines, "copies_of", copies_of)
    held, taken = held_scales(3)
    named: Any = SimpleNamespace(cause="leading-dimension")
    assert scale_lines.reader_of(held, named, taken, Any) == ((20,) if copies else (9,))  # type: ignore[arg-type]


@pytest.mark.parametrize(("there", "whether"), [(0, False), (2, False), (3, True), (4, True)])
@pytest.mark.parametrize("by_moments", [True, False])
def test_the_first_cta_had_scales_if_its_memory_holds_most_of_them(there: int, whether: bool, by_moments: bool) -> None:
    """Another CTA has them all, and so has memory at another moment."""
    held, taken = held_scales(4)
    events = np.zeros(1, [("cta", np.int64), ("site", np.int64)])
    events["site"] = 5
    memory = np.zeros(4, ORIGIN)
    memory["kind"], memory["element"] = Kind.EXACT, np.arange(4)

    def shared(cta: int, site: int = -1) -> np.ndarray[Any, Any]:
        asked = cta == 0 and site == (5 if by_moments else -1)
        return memory[:there] if asked else memory

    record: Any = SimpleNamespace(
        raw=SimpleNamespace(events=events, moments={5} if by_moments else set()), shared=shared
    )
    assert scale_lines._are_in_shared(held, taken, taken.wrong, record) is whether


# Pictures


def test_a_sum_is_shown_whose_k_are_the_furthest_from_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sum 4 has every k twice but one, sum 7 lacks one k: most k of the former are wrong."""
    k = {4: [0, 0, 1, 1, 2, 3, 3], 7: [0, 1, 2, 2, 2, 2, 2]}
    site: Any = SimpleNamespace(chain=np.array(list(k)))
    lines = np.array(list(k.values()))

    def tiles(*_: object) -> dict[str, Integers]:
        return {"a": lines}

    def columns(tile: Integers) -> Integers:
        return tile

    monkeypatch.setattr(tallies, "tiles_of", tiles)
    monkeypatch.setattr(tallies, "common_columns", columns)
    reading: Any = SimpleNamespace(planes={"a": SimpleNamespace(extents=(1, 4))})
    picture = tallies.k_of_a_sum([site], reading, "a")
    counted = {chain: Counter(held) for chain, held in k.items()}
    worst = max(k, key=lambda chain: sum(counted[chain][n] != 1 for n in range(4)))
    told = [int(cell) for cell in picture.held[0, :, 0]]
    spread = [n for n, name in zip(told, picture.columns, strict=True) for _ in range(_span(name))]
    assert spread == [counted[worst][n] for n in range(4)]


def _span(name: str) -> int:
    """How many columns a name stands for."""
    first, _, last = name.partition("-") if "-" in name else name.partition("–")
    return int(last) - int(first) + 1 if last else 1


def test_the_operand_with_the_most_elements_from_beyond_its_rows_is_shown() -> None:
    tile, _ = right_tile(FORM, "a", events=3)
    beyond = np.zeros(tile.known.shape, np.bool_)
    beyond[0, 0, :3] = beyond[1, 2:4, 5:9] = beyond[2, 7, :7] = True
    products = {10 + n: SimpleNamespace(cta=(n, 0, 0), warp=n) for n in range(3)}
    record: Any = SimpleNamespace(products=products)
    picture = tallies.lines_beyond(tile, beyond, np.arange(10, 13), record)
    assert picture.about.startswith("CTA (1, 0, 0), warp 1")
    assert np.array_equal(picture.held[..., 0], tile.rows[1])
    assert np.array_equal((picture.wanted == -1).all(axis=-1), beyond[1])


def test_lines_are_told_one_by_one_up_to_four_in_a_row() -> None:
    held = [7, 3, 4, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 24]
    assert in_order(np.array(held)) == "7, 3, 4, 9, 10, 11, 0, 1, 2, 3, 20 to 24"


# Lines to blame


@pytest.mark.parametrize("inlined", [True, False])
@pytest.mark.parametrize("file", [1, 2])
def test_a_product_is_a_helper_s_if_it_was_inlined_from_another_file_than_the_load(
    monkeypatch: pytest.MonkeyPatch, inlined: bool, file: int
) -> None:
    product, load, unknown = (SimpleNamespace(node=SimpleNamespace(start=start)) for start in (10, 20, 30))
    known = {10: SimpleNamespace(into=5 if inlined else None, file=1), 20: SimpleNamespace(into=None, file=file)}

    def origins(_: object) -> Any:
        return SimpleNamespace(at=known.get)

    monkeypatch.setattr(culprits, "origins_in", origins)
    module: Any = None
    ask: Any = culprits._is_helper
    assert ask(product, load, module) is (inlined and file == 2)
    assert not ask(product, unknown, module)
    assert not ask(unknown, load, module)


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_product_that_never_adds_is_blamed_only_where_it_is_done_more_than_once(
    monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    flag, product = (SimpleNamespace(site=site) for site in (3, 4))
    events = np.zeros(times + 2, [("cta", np.int64), ("warp", np.int64), ("site", np.int64)])
    events["site"] = [4] * times + [8, 8]

    def asks(*_: object) -> str:
        return "%p1"

    def writer(*_: object) -> Any:
        return flag

    monkeypatch.setattr(accumulators, "_flag", asks)
    monkeypatch.setattr(accumulators, "_writer", writer)

    def operands(numbers: Integers, _: str) -> Any:
        return {"kind": np.full(len(numbers), Kind.EXACT)}

    record: Any = SimpleNamespace(raw=SimpleNamespace(events=events), operands=operands)
    ask: Any = accumulators.started_anew
    assert ask([product], record) is (flag if times > 1 else None)


@pytest.mark.parametrize("place", [1, 2])
def test_the_eight_nearest_registers_are_tried_as_missing_factors_of_an_operand(place: int) -> None:
    ones = "".join(f"mov.f32 %f{n}, 0f3f800000;" for n in range(12))
    program = program_of(f"{ones} add.f32 %f20, %f0, %f1;")
    op = next(one for one in program.ops if one.opcode == "add")
    operands = DefUse(program, {}, Sources(program, {}, ()))
    tried: set[str] = set()
    for change in terms.missing_in_operands(op, operands):
        if change.slot == ("mul", place):
            tried.add(change.what.rpartition(" ")[2].strip("`"))
    own = f"%f{place - 1}"
    nearest = [f"%f{2 - place}", *(f"%f{n}" for n in range(11, 1, -1))][:8]
    assert tried == {own, *nearest}


@pytest.mark.parametrize("files", [1, 2])
def test_unpacked_nibbles_are_shifted_or_told_with_the_array_they_come_from(
    monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    unpack, shift = program_of(
        ".shared .align 16 .b8 t[512];"
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r0}, [t]; shl.b32 %r1, %r0, 2;"
    ).ops[:2]
    paths = {1: (0,), 2: (0, 1)}
    program = SimpleNamespace(ops=[unpack, shift])

    def way(_: object, path: int) -> tuple[int, ...]:
        return paths[path]

    def picture(*_: object) -> None:
        return None

    monkeypatch.setattr(totals, "way", way)
    monkeypatch.setattr(totals, "bits_of_nibbles", picture)
    form = next(one for one in mma_forms() if one.payload_shift("a") == 2)
    known = np.ones((1, 2, 2), np.bool_)

    def sites(path: int) -> list[Any]:
        stack = SimpleNamespace(role="a", array=6, known=known, path=np.full(known.shape, path), unit_bits=8)
        return [SimpleNamespace(form=form, stacks=(stack,), site=n) for n in range(files)]

    record: Any = SimpleNamespace(program=program)
    (found,) = totals.nibbles_unshifted(sites(1), record)
    assert (found.named.cause, found.role, found.array, found.wrong) == ("nibbles-unshifted", "a", 6, 4 * files)
    assert not list(totals.nibbles_unshifted(sites(2), record))


# Where values come from


@pytest.mark.parametrize("array", [0, 1, 2])
def test_results_are_where_most_are_stored_whichever_array_that_is(array: int) -> None:
    places = Places.__new__(Places)
    held = np.full(FORM.m * FORM.n, array)
    held[:5], held[5:9] = -1, 3
    places._start, places._array, places._bits = np.array([0, len(held)]), held, {array: 32, 3: 16}
    places._offset = np.where(held < 0, -1, np.arange(len(held)))
    places._path = np.zeros(len(held), np.int64)
    group: Any = SimpleNamespace(form=FORM, rows=FORM.m, numbers=np.array([0]))
    found = places.of(group)
    assert found is not None
    assert (found.array, found.unit_bits) == (array, 32)
    assert np.array_equal(found.known.ravel(), held == array)
    assert np.array_equal(found.missing.ravel(), held < 0)
    places._array = np.full(len(held), -1)
    assert places.of(group) is None


@pytest.mark.parametrize("item", [0, 7])
def test_the_root_of_a_value_is_the_one_product_of_its_sources_or_the_sum_of_several(item: int) -> None:
    """A maximum of sums scales a value; a sum of products is one itself, if all are of the same place."""
    assert _of_several({(5, item)}, adds=False) == (5, item)
    assert _of_several({(5, item), (_SUM, item)}, adds=False) == (5, item)
    assert _of_several({(5, item), (_SUM, item), (_SUM, item + 1)}, adds=False) == (5, item)
    assert _of_several({(5, item), (6, item)}, adds=False) == (NO_ROOT, NO_ROOT)
    assert _of_several({(5, item), (6, item)}, adds=True) == (_SUM, item)
    assert _of_several({(5, item), (_SUM, item)}, adds=True) == (_SUM, item)
    assert _of_several({(5, item), (6, item + 1)}, adds=True) == (NO_ROOT, NO_ROOT)


# Orders and pitches


@pytest.mark.parametrize("own", [5, 8])
@pytest.mark.parametrize("pitch", [3, 6, 8, 11])
def test_a_pitch_of_rows_is_told_by_which_elements_came(own: int, pitch: int) -> None:
    """Each result should come from the element at its own place, in rows of `own`; it comes from rows of `pitch`."""
    rows, columns = 4, 3
    row, column = (axis.ravel() for axis in np.indices((rows, columns)))
    none = np.zeros(len(row), np.int64)
    result = row * columns + column
    leaves = Leaves(result, none, row * pitch + column, none, none, none + 1, none == 0)
    found = pitched(leaves, Links((rows, own), (rows, columns), (Link(0), Link(1))))
    if pitch == own:
        assert found is None
        return
    assert found is not None
    assert found.cause == "leading-dimension"
    assert f"{pitch} elements apart; they are {own}" in found.detail
    assert _pitch_of(leaves.element, row, column) == pitch


@pytest.mark.parametrize("place", range(12))
def test_a_single_element_from_elsewhere_leaves_no_pitch(place: int) -> None:
    row, column = (axis.ravel() for axis in np.indices((4, 3)))
    elements = row * 7 + column
    elements[place] += 1
    assert _pitch_of(elements, row, column) is None


def test_a_layout_of_another_shape_is_supposed_and_not_proved() -> None:
    tile, target = right_tile(FORM, "a", events=2)
    size = FORM.m * FORM.k
    number = np.arange(size)
    turned = number ^ (number & 1) << 3  # linear over XOR, and no order of this operand's elements
    held = np.broadcast_to(turned.reshape(tile.rows.shape[1:]) * 2, tile.rows.shape)
    other: Tile = tile.__class__(tile.role, tile.form, tile.plane, held // 64, held % 64, tile.known)
    assert target.rows is not None
    assert target.columns is not None
    found = list(_elsewhere(other, Target(target.rows, target.columns)))
    assert [(one.named.cause, one.proved) for one in found] == [("other-layout", False)]


@pytest.mark.parametrize("by_tap", [True, False])
def test_an_image_is_read_as_the_matrix_of_pixels_and_taps(by_tap: bool) -> None:
    """A 2x2 kernel over 5x9 pixels of 4 numbers gives 4x8 pixels of 8: 32 pixels by 16 taps, in two products."""
    image, weights, result = (5, 9, 4), (2, 2, 4, 8) if by_tap else (8, 2, 2, 4), (4, 8, 8)
    arrays = [
        TracedArray(n, "IWR"[n], n, held.dtype, held.shape, held.strides, held.nbytes)
        for n, held in enumerate(np.zeros(shape, np.float16) for shape in (image, weights, result))
    ]
    pixel, tap, channel = np.arange(32).reshape(2, 16), np.arange(16), np.arange(8)
    y, x, down, right, depth = pixel // 8, pixel % 8, tap // 8, tap // 4 % 2, tap % 4
    taken = ((y[..., None] + down) * 9 + x[..., None] + right) * 4 + depth
    weight = tap[:, None] * 8 + channel if by_tap else channel * 16 + tap[:, None]
    stored = pixel[..., None] * 8 + channel

    def stack(role: str, array: int, offset: Integers) -> Stack:
        held = np.broadcast_to(offset, (2, *offset.shape[-2:]))
        return Stack(role, array, 16, held, held >= 0, held * 0, held < 0)

    stacks = stack("a", 0, taken), stack("b", 1, weight), stack("d", 2, stored)
    site = SiteEvidence(0, 1, "", FORM, np.arange(2), np.arange(2), *stacks, {})
    found = image_of([site], arrays)
    assert found is not None
    plane, held = found.reading.planes["a"], found.group[0].a
    assert (plane.lines, plane.pitch, found.array.shape, found.array.nbytes) == (32, 16, (32, 16), 512)
    assert held is not None
    assert np.array_equal(held.offset, pixel[..., None] * 16 + tap)
    assert found.group[0].d is not None
    assert found.reading.planes["d"].lines == 32


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("again", [True, False])
def test_how_often_an_element_comes_is_judged_only_where_it_is_summed_and_used_for_nothing_else(
    axis: int, again: bool
) -> None:
    array = TracedArray(0, "A", 0, np.dtype(np.float32), (4,), (4,), 16)
    number = np.arange(4)
    leaves = Leaves(number, number * 0, number, number * 0, number * 0 - 1, number * 0 + 1, number >= 0)
    links = Links((4,), (4,), (Link(axis),), stated=True, again=again)
    result: Any = SimpleNamespace(record=None)
    found = _source(array, leaves, result, {"A": links})
    assert not isinstance(found, str)
    assert found.counted is (axis < 0 and not again)


def test_descriptors_with_the_fewest_wrong_fields_are_the_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [SimpleNamespace(wrong=wrong) for wrong in (("a", "b"), ("c",), ("a", "b", "c"), ("d",))]
    each = iter([made, []])

    def solutions(_: object) -> list[Any]:
        return next(each)

    monkeypatch.setattr(solving, "_all", solutions)
    asked: Any = None
    assert solving.solved(asked) == (made[1], made[3])
    assert solving.solved(asked) == ()
