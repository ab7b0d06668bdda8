"""How sums of products are taken apart, and what changes of index explain a factor: by elements made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis.culprits import is_divided
from ptxloom.diagnosis.lines.addresses import made_for
from ptxloom.diagnosis.origins.bases import Bases
from ptxloom.diagnosis.sums.einsum import Axes
from ptxloom.diagnosis.sums.joined import joined
from ptxloom.diagnosis.sums.laws import changes_of
from ptxloom.diagnosis.sums.terms import Unfolding
from ptxloom.machine.results.provenance import Kind
from ptxloom.machine.results.provenance_tags import NODE, ORIGIN

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.permutations import Named
    from ptxloom.diagnosis.origins.tiles import Integers

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
PLAIN = Axes(("mk", "kn", "mn"), ((8, 32), (32, 48), (8, 48)), stated=False)
BATCH = Axes(("xmk", "xnk", "xmn"), ((3, 8, 32), (3, 16, 32), (3, 8, 16)), stated=False)

CUBE = Axes(("xmk", "xnk", "xmn"), ((4, 4, 8), (4, 4, 8), (4, 4, 4)), stated=False)


def changes(axes: Axes, index: dict[str, Integers], element: Integers) -> list[Named]:
    """What explains that a second factor is read at these flat numbers, and not at this index."""
    held = axes.indices(1, element)
    wrong = np.any([held[letter] != index[letter] for letter in axes.letters[1]], axis=0)
    return changes_of(axes, 1, held, index, wrong)


def everywhere(axes: Axes) -> dict[str, Integers]:
    return axes.indices(1, np.arange(int(np.prod(axes.shapes[1]))))


@pytest.mark.parametrize("tile", [8, 16])
@pytest.mark.parametrize("pitch", [32, 40])
def test_rows_are_too_near_within_tiles_whose_pointer_goes_on_rightly(tile: int, pitch: int) -> None:
    index = everywhere(PLAIN)
    first, inner = np.divmod(index["k"], tile)
    found = changes(PLAIN, index, first * tile * 48 + inner * pitch + index["n"])
    assert found[0].cause == "leading-dimension"
    assert f"{pitch} elements apart within tiles of" in found[0].detail


def test_rows_are_too_near_between_tiles_that_are_right_by_themselves() -> None:
    index = everywhere(PLAIN)
    first, inner = np.divmod(index["k"], 16)
    found = changes(PLAIN, index, first * 16 * 40 + inner * 48 + index["n"])
    assert found[0].cause == "leading-dimension"
    assert "40 elements apart between tiles of 16; they are 48" in found[0].detail


@pytest.mark.parametrize(
    ("strides", "cause", "detail"),
    [
        ((8, 32, 1), "order-exchanged", "matrices and rows are exchanged"),
        ((0, 8, 1), "rows-repeated", "one of the matrices stands for all"),
        ((24, 8, 1), "leading-dimension", "matrices are taken to be 24 elements apart; they are 32"),
    ],
)
def test_axes_of_matrices_that_are_read_with_other_strides_are_told(
    strides: tuple[int, int, int], cause: str, detail: str
) -> None:
    index = everywhere(CUBE)
    found = changes(CUBE, index, np.array(strides) @ np.stack([index[letter] for letter in "xnk"]))
    assert (found[0].cause, found[0].detail) == (cause, detail)


def test_a_pointer_that_never_goes_on_is_no_pitch() -> None:
    index = everywhere(PLAIN)
    found = changes(PLAIN, index, index["k"] % 16 * 48 + index["n"])
    assert "leading-dimension" not in {one.cause for one in found}


def test_tiles_of_a_batch_are_transposed_as_those_of_one_matrix_are() -> None:
    index = everywhere(BATCH)
    (up, row), (left, column) = np.divmod(index["n"], 8), np.divmod(index["k"], 8)
    found = changes(BATCH, index, (index["x"] * 16 + up * 8 + column) * 32 + left * 8 + row)
    assert found[0].cause == "transposed"


def test_another_matrix_of_a_batch_is_no_change_within_one() -> None:
    index = everywhere(BATCH)
    found = changes(BATCH, index, ((index["x"] + 1) % 3 * 16 + index["n"]) * 32 + index["k"])
    assert "transposed" not in {one.cause for one in found}


def test_nothing_joins_products_of_matrices_where_there_are_none() -> None:
    nodes = np.zeros(2, NODE)
    nodes["sources"][1, 0] = (Kind.EXACT, 0, 0, 0, 0, 0, -1, -1, 1)
    stored = np.zeros(4, ORIGIN)
    stored["kind"], stored["node"] = Kind.COMPUTED, 1
    found = joined(np.ones(4, np.bool_), stored, nodes)
    assert (len(found.places), found.whole.any()) == (0, False)


NORM = """.visible .entry k(.param .u64 X, .param .u64 Y) {
.reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;
ld.param.u64 %d1, [X]; ld.param.u64 %d2, [Y]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;
add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; mul.f32 %f2, %f1, %f1;
STEPS
mul.f32 %f2, %f2, %f1; st.global.f32 [%d2], %f2; ret; }"""
STEP = "mov.b32 %r2, %f2; shfl.sync.bfly.b32 %r3|%p, %r2, {}, 31, -1; mov.b32 %f3, %r3; add.f32 %f2, %f2, %f3;\n"


@pytest.mark.parametrize(("steps", "terms"), [(2, 32 * 4), (5, 0)])
def test_a_sum_that_all_elements_of_a_row_have_in_common_is_not_taken_apart_for_each(steps: int, terms: int) -> None:
    text = HEAD + NORM.replace("STEPS", "".join(STEP.format(1 << n) for n in range(steps)))
    args: list[Any] = [np.arange(1, 33, dtype=np.float32), np.zeros(32, np.float32)]
    record = pl.kernel(pl.parse(text), "k").launch(1, 32, args, provenance=True, threads=1).provenance
    assert record is not None
    found = Unfolding(record, Bases(record)).terms(record.contents(1))
    assert found is not None
    assert len(found.result) == terms
    assert found.whole.all() == bool(terms)


@pytest.mark.parametrize(("taken", "divided"), [("%r1, %r3", True), ("%r1, %r2", True), ("%r9, %r8", False)])
def test_a_matrix_move_is_divided_if_products_take_a_part_of_it_each(taken: str, divided: bool) -> None:
    body = ".reg .b32 %r<20>; .reg .f32 %f<4>; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];"
    product = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3},"
    factors = f"{{%r1, %r2, %r3, %r4}}, {{{taken}}}, {{%f0, %f1, %f2, %f3}};"
    text = f"{HEAD}.visible .entry k() {{ {body} {product} {factors} ret; }}"
    program = pl.kernel(pl.parse(text), "k").program
    move, mma = (next(op for op in program.ops if op.opcode == name) for name in ("ldmatrix", "mma"))
    assert is_divided(move, [mma], "b") == divided
    assert not is_divided(move, [mma], "a")
    assert not is_divided(mma, [mma], "b")


def test_a_load_of_two_arrays_is_told_by_the_address_of_one() -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 A, .param .u64 B) {{
.reg .pred %p; .reg .b64 %d<9>; .reg .f32 %f;
.loc 1 3 0
ld.param.u64 %d1, [A]; add.s64 %d3, %d1, 8;
.loc 1 5 0
ld.param.u64 %d2, [B]; add.s64 %d4, %d2, 16; selp.b64 %d5, %d3, %d4, %p;
ld.global.f32 %f, [%d5]; ld.global.f32 %f, [%d4]; ret; }}
.file 1 "kernel.cu"
"""
    program = pl.kernel(pl.parse(text), "k").program
    both, one = (op for op in program.ops if op.has("global"))
    found = [made_for(both, name, program) for name in "AB"]
    assert [op.text for op in found if op is not None] == ["add.s64 %d3, %d1, 8;", "add.s64 %d4, %d2, 16;"]
    assert made_for(one, "B", program) is None
