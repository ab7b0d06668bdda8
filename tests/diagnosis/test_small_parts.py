"""Parts of a diagnosis by themselves: each of a few elements, orders or instructions made by hand."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import ptxloom as pl
from diagnosis.made_tiles import LINES, moved, reordered, right_tile
from ptxloom.diagnosis import census, copies, culprits, findings, laws
from ptxloom.diagnosis.described import scale_lines, uncopied
from ptxloom.diagnosis.explanations import explanations
from ptxloom.diagnosis.factors import Unstored
from ptxloom.diagnosis.kept import was_there
from ptxloom.diagnosis.lines.ctas import base_of
from ptxloom.diagnosis.lines.fillers import filler_of
from ptxloom.diagnosis.moves import moves
from ptxloom.diagnosis.origins.beside import beside
from ptxloom.diagnosis.origins.permutations import named_orders
from ptxloom.diagnosis.origins.stacks import Made
from ptxloom.diagnosis.origins.tiles import Target, common_columns, common_rows
from ptxloom.diagnosis.sums.einsum import Axes
from ptxloom.diagnosis.sums.laws import ends_early
from ptxloom.diagnosis.suspects.confusions import confusions
from ptxloom.diagnosis.tallies import stores_of
from ptxloom.isa.products import MatrixForm, mma_forms
from ptxloom.machine.results.provenance import Contents, Kind, TracedArray
from ptxloom.machine.results.provenance_tags import NODE, ORIGIN

if TYPE_CHECKING:
    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.tiles import Integers, Tile, Truth
    from ptxloom.diagnosis.sums.terms import Terms
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.provenance import ProvenanceRecord

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
NOTHING: Integers = np.zeros(0, np.int64)


def form_of(shape: str, a_type: str) -> MatrixForm:
    return next(form for form in mma_forms() if (form.shape, form.a_type) == (shape, a_type))


def program_of(body: str) -> Program:
    declared = ".reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<4>;"
    text = f"{HEAD}.visible .entry k(.param .u64 a) {{ {declared} {body} ret; }}"
    return pl.kernel(pl.parse(text), "k").program


def op_of(program: Program, opcode: str) -> Op:
    return next(op for op in program.ops if op.opcode == opcode)


def array_of(dtype: type[np.generic], *shape: int, number: int = 0) -> TracedArray:
    held = np.zeros(shape, dtype)
    return TracedArray(number, "ABCD"[number], number, held.dtype, held.shape, held.strides, held.nbytes)


def test_a_place_that_the_first_instruction_of_all_stores_is_stored() -> None:
    at = np.array([[0, -1], [7, 0]])
    twice = np.array([[False, True], [False, True]])
    picture = stores_of(Contents(array_of(np.float32, 2, 2), np.zeros((2, 2), ORIGIN), at, twice))
    assert picture.held[..., 0].tolist() == [[1, 0], [1, 2]]
    assert (picture.wanted == 1).all()


@pytest.mark.parametrize(
    ("text", "exchanged"),
    [
        ("ld.global.v2.f32 {%f0, %f1}, [%d0];", "ld.global.v2.f32 {%f1, %f0}, [%d0];"),
        ("st.global.v2.f32 [%d0+8], {%f0, %f1};", "st.global.v2.f32 [%d0+8], {%f1, %f0};"),
    ],
)
def test_elements_are_exchanged_within_a_vector_and_other_operands_stay(text: str, exchanged: str) -> None:
    op = op_of(program_of(text), text[:2])
    orders = [one for one in confusions(op) if one.cause == "wrong-operand"]
    assert [new.lines for one in orders for _, new in one.rewrites] == [(exchanged,)]


@pytest.mark.parametrize(
    ("line", "common"),
    [
        ([0, 1, 1, 2], 1),
        ([2, 1, 0, 1], 1),
        ([3, 3, 1, 2], 3),
        ([1, 2, 2, 2], 2),
        ([5, 4, 4, 5], 4),
        ([-1, -1, 7, 7], 7),
    ],
)
def test_what_most_elements_of_a_line_come_from_is_common_to_it(line: list[int], common: int) -> None:
    tile, _ = right_tile(form_of("m16n8k16", "f16"), "a", events=1)
    values = np.tile(np.array(line), (1, 4, 1))
    one = tile.__class__(tile.role, tile.form, tile.plane, values, values.swapaxes(1, 2), values >= 0)
    assert common_rows(one).tolist() == [[common] * 4]
    other = tile.__class__(tile.role, tile.form, tile.plane, values, values.swapaxes(1, 2), values.swapaxes(1, 2) >= 0)
    assert common_columns(other).tolist() == [[common] * 4]


@pytest.mark.parametrize("role", ["a", "b"])
def test_an_order_of_bytes_that_is_a_reversal_is_called_one(role: str) -> None:
    told = [named.detail for named, _ in named_orders(form_of("m16n8k32", "e4m3"), role)]
    single = [detail for detail in told if ", and " not in detail]
    assert len([detail for detail in single if detail.startswith("the bytes of each register are in the order")]) == 20
    assert len([detail for detail in single if detail.endswith("of each register are in reverse order")]) == 3


def test_a_shift_of_all_products_is_no_exchange_of_tiles() -> None:
    tile, wanted = right_tile(form_of("m16n8k16", "f16"), "d")
    assert wanted.rows is not None
    assert wanted.columns is not None
    shifted, target = moved(tile, lambda slow, fast: (slow + 16, fast)), Target(wanted.rows, wanted.columns)
    found = [named.cause for named, _ in moves(shifted, target)]
    assert found[0] == "rows-shifted"
    assert "tile-exchanged" not in found


def test_a_shift_that_is_kept_in_the_array_is_named_with_its_distance() -> None:
    def clamped(slow: Integers, fast: Integers) -> tuple[Integers, Integers]:
        return np.minimum(slow + 2, LINES - 1), fast

    tile, target = right_tile(form_of("m16n8k16", "f16"), "a", events=2)
    assert target.rows is not None
    last = np.array([LINES - 16, 64])
    rows = tile.rows - target.rows[:, :1, None] + last[:, None, None]
    at = tile.__class__(tile.role, tile.form, tile.plane, rows, tile.columns, tile.known)
    wanted = target.__class__(last[:, None] + np.arange(16), target.columns)
    found = explanations(moved(at, clamped), wanted)
    assert [(one.named.cause, one.named.distance) for one in found[:1]] == [("rows-shifted", 2)]
    assert found[0].named.detail == "shifted by +2 rows, and kept in the array"


def test_a_product_behind_all_that_are_known_has_no_place_in_their_result() -> None:
    two = np.array([3, 5])
    result = Unstored(
        array_of(np.uint8, 4, 4), two, np.array([[0, 1], [2, 3]]), np.array([[0, 1], [2, 3]]), (0, NOTHING)
    )
    product = np.array([[3, 5, 4], [9, -1, 5]])
    made = Made(product, np.array([[1, 2, 0], [0, 0, 3]]), np.zeros((2, 3), np.int64))
    assert result.places(made).tolist() == [[1, 14, -1], [-1, -1, 15]]


def test_elements_that_share_a_byte_have_numbers_of_their_own() -> None:
    nodes = np.zeros(3, NODE)
    nodes["sources"]["array"] = -1
    for node, (element, bit) in ((1, (2, 0)), (2, (2, 4))):
        nodes["sources"][node, 0] = (Kind.EXACT, 1, element, 0, bit, 0, -1, -1, node)
    arrays = (array_of(np.int8, 8), array_of(np.int8, 8, number=1))
    (found,) = beside(np.array([1, 2]), 0, nodes, arrays)
    assert (found.array, found.unit_bits) == (1, 4)
    assert dict(zip(found.value.tolist(), found.unit.tolist(), strict=True)) == {0: 4, 1: 5}


@pytest.mark.parametrize(("held", "early"), [(range(6), True), (range(8), False), (range(1, 7), False)])
def test_rows_end_early_where_their_last_k_are_left_out(held: range, early: bool) -> None:
    factors = np.zeros((len(held), 2), ORIGIN)
    factors["element"] = np.array(held)[:, None]
    terms = cast("Terms", SimpleNamespace(result=np.zeros(len(held), np.int64), factors=factors))
    assert ends_early(terms, Axes(("mk", "kn", "mn"), ((1, 8), (8, 1), (1, 1)), stated=False), Counter()) is early
    assert not ends_early(terms, Axes(("mk", "kn", "mn"), ((1, 8), (8, 1), (1, 1)), stated=True), Counter())


def test_what_the_first_cta_takes_right_was_not_there_for_others() -> None:
    """Its end decides; where it has no wrong product, the others' own copies are wrong."""
    tile, wanted = right_tile(form_of("m16n8k16", "f16"), "a", events=2)
    wrong = moved(tile, lambda slow, fast: (slow + np.array([0, 1])[:, None, None], fast))
    events = np.zeros(2, [("cta", np.int64)])
    events["cta"] = [0, 1]
    raw = SimpleNamespace(kept={0: None}, events=events)
    record: Any = SimpleNamespace(
        raw=raw, arrays=(array_of(np.float16, 640, 480),), shared=dict.fromkeys((0,), np.zeros(0, ORIGIN)).get
    )
    evidence = SimpleNamespace(numbers=np.arange(2))
    explained = explanations(wrong, wanted)
    suspect = SimpleNamespace(
        tile=wrong,
        wanted=wanted,
        events=np.arange(2),
        evidence=evidence,
        explained=explained or (SimpleNamespace(repaired=tile),),
    )
    assert was_there(cast("Suspect", suspect), cast("ProvenanceRecord", record)) is False


@pytest.mark.parametrize(("count", "filler"), [(0, "add"), (7, "add"), (8, "mov"), (12, "mov")])
def test_a_register_is_followed_through_eight_moves(count: int, filler: str) -> None:
    moved_on = " ".join(f"mov.b32 %r{n + 1}, %r{n};" for n in range(count))
    program = program_of(f"add.u32 %r0, %r19, 1; {moved_on} st.global.u32 [%d0], %r{count};")
    found = filler_of(op_of(program, "st"), f"%r{count}", program)
    assert found is not None
    assert found.opcode == filler
    assert found.text.split()[1].rstrip(",") == f"%r{max(0, count - 7)}"


def test_an_address_without_one_part_of_the_ctas_index_is_told_by_another_part() -> None:
    part = "mov.u32 %r{n}, %ctaid.{f}; mul.wide.u32 %d{n}, %r{n}, {by}; add.s64 %d0, %d0, %d{n};"
    both = part.format(n=1, f="y", by=64) + part.format(n=2, f="z", by=256)
    begin, end = "ld.param.u64 %d0, [a];", "ld.global.f32 %f0, [%d0];"
    program = program_of(begin + both + end)
    load = next(op for op in program.ops if "global" in op.text)

    def told(field: str) -> str:
        found = base_of(load, field, program)
        return found.text if found is not None else ""

    assert [told(field).rstrip(";").rpartition(" ")[2] for field in "xyz"] == ["64", "64", "256"]
    program = program_of(begin + end)
    load = next(op for op in program.ops if "global" in op.text)
    assert [told(field) for field in "xyz"] == ["", "", ""]


def test_a_copy_that_is_swizzled_is_told_by_chunks_of_sixteen_bytes() -> None:
    row, column = np.divmod(np.arange(32 * 32).reshape(32, 32), 32)
    origins = np.zeros((32, 32), ORIGIN)
    origins["kind"], origins["element"] = Kind.EXACT, row * 32 + (column ^ (row % 2) * 8)
    contents = Contents(array_of(np.float16, 32, 32, number=1), origins, row * 0, row < 0)
    copy = copies._tiled(contents, array_of(np.float16, 32, 32), 16, turned=False, stated=True)
    assert copy is not None
    assert copy.tile.plane.unit_bits == 16
    assert [one.named.cause for one in copy.explained[:1]] == ["swizzle-mismatch"]


def test_what_nobody_multiplies_is_not_asked_for() -> None:
    """The last k is from no array on either side: the tile reaches beyond the matrix. One of A alone is asked for."""
    a, b = np.ones((1, 4, 3), np.bool_), np.ones((1, 3, 2), np.bool_)
    a[0, :, 2] = b[0, 2, :] = False
    assert not census._unasked("a", {"a": a, "b": b}).any()
    a[0, 1, 1] = False
    assert np.argwhere(census._unasked("a", {"a": a, "b": b})).tolist() == [[0, 1, 1]]


@pytest.mark.parametrize(
    ("rows", "elsewhere"), [([32, 32], True), ([64, 64], True), ([33, 33], False), ([32, 64], False)]
)
def test_scales_of_another_column_of_tensor_memory_are_a_quarter_of_a_tile_away(
    rows: list[int], elsewhere: bool
) -> None:
    assert scale_lines._is_elsewhere(np.array(rows), np.zeros(2, np.int64)) is elsewhere
    assert not scale_lines._is_elsewhere(np.array(rows), np.array([0, 1]))


@pytest.mark.parametrize(("block", "brought"), [(1, True), (3, True), (4, False), (8, False)])
def test_a_scale_was_brought_with_the_others_of_its_word(block: int, brought: bool) -> None:
    events = np.zeros(1, [("cta", np.int64)])
    record: Any = SimpleNamespace(raw=SimpleNamespace(events=events, kept={}))
    one = np.zeros(1, np.int64)
    held = scale_lines.Held("a", 0, one, one, one + block, one, one, one, 32, ())
    taken = scale_lines.Taken(one, one, one, one == 0)
    assert scale_lines._were_brought(held, taken, (), record) is brought


@pytest.mark.parametrize(
    ("place", "made", "chosen"),
    [
        (4, [[7, 2], [8, 2]], (2,)),
        (4, [[2], [2]], (2,)),
        (4, [[7], [8]], (7,)),
        (4, [[7, 2]], (7,)),
        (3, [[7, 2], [8, 2]], (7,)),
        (3, [[2], [2]], (2,)),
        (4, [list[int](), list[int]()], (11, 12)),
    ],
)
def test_an_operand_is_made_by_what_all_products_share(
    monkeypatch: pytest.MonkeyPatch, place: int, made: list[list[int]], chosen: tuple[int, ...]
) -> None:
    """The address of scales; the instruction descriptor (3) rather by what each product has of its own."""

    def constants(op: Op, *_: object) -> list[int]:
        return made[op.site - 11]

    monkeypatch.setattr(scale_lines, "_constants", constants)
    products: Any = [SimpleNamespace(site=11 + number) for number in range(len(made))]
    record: Any = None
    assert scale_lines._maker(products, place, record) == chosen


@pytest.mark.parametrize(("cause", "asked"), [("k-missing", True), ("rows-shifted", False)])
def test_where_a_sum_begins_anew_is_asked_only_of_k_that_are_missing(
    monkeypatch: pytest.MonkeyPatch, cause: str, asked: bool
) -> None:
    program = program_of("mov.u32 %r0, 1; add.u32 %r1, %r0, 2;")
    first, begins = program.ops[:2]
    found = culprits.Culprit("found", first, None, ())
    total: Any = SimpleNamespace(ways=NOTHING, field="", named=SimpleNamespace(cause=cause), certain=True, again="")

    def started(*_: object) -> Op:
        return begins

    def none(*_: object) -> tuple[Op, ...]:
        return ()

    monkeypatch.setattr(findings, "started_anew", started)
    monkeypatch.setattr(findings, "copies_of", none)
    record: Any = SimpleNamespace(program=program)
    assert findings._of_loop(found, total, [first], record).op is (begins if asked else first)


def test_nothing_is_sure_of_a_factor_whose_k_no_other_operand_tells() -> None:
    tile, _ = right_tile(form_of("m16n8k16", "f16"), "b", events=2)
    order = next(order for named, order in named_orders(tile.form, "b") if named.cause == "registers-exchanged")
    evidence: Any = SimpleNamespace()
    (found,) = laws._unordered(evidence, {"b": reordered(tile, order)}, {})
    assert (found.law, found.sure) == (laws.K, False)
    assert [one.named.cause for one in found.explained][:1] == ["registers-exchanged"]


def test_elements_of_the_first_row_and_column_are_missed_where_they_were_never_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tile, _ = right_tile(form_of("m16n8k16", "f16"), "a", events=1)
    tile = tile.moved(tile.slow - tile.slow.min(), tile.fast - tile.fast.min())
    missing = np.zeros(tile.known.shape, np.bool_)
    missing[0, 0, :] = missing[0, :, 0] = True
    stack = SimpleNamespace(role="a", missing=missing, path=np.zeros(missing.shape, np.int64), known=~missing)
    site: Any = SimpleNamespace(described=("a",), stacks=(stack,), numbers=np.arange(1), site=0)
    reading: Any = SimpleNamespace(image=False, stated=True, planes={"a": tile.plane})

    def tiles(*_: object) -> dict[str, Tile]:
        return {"a": tile}

    def picture(_lines: object, absent: Truth, *_: object) -> Truth:
        return absent

    monkeypatch.setattr(uncopied, "tiles_of", tiles)
    monkeypatch.setattr(uncopied, "elements_absent", picture)
    record: Any = None
    (found,) = uncopied.not_copied([site], reading, record)
    assert (found.named.cause, found.wrong, found.total) == ("not-copied", 31, 256)
