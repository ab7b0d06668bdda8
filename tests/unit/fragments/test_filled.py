from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from ptxloom.diagnostics import UsageError
from ptxloom.fragments import fragment
from ptxloom.fragments.execute import ldmatrix
from ptxloom.fragments.filled import fill, read_registers
from ptxloom.fragments.matrix_operands import matrix_operands
from ptxloom.fragments.number_types import is_complex, is_float, is_number
from ptxloom.isa.matrix import variants
from ptxloom.syntax import parse
from ptxloom.syntax.visitor import instructions
from ptxloom.views.drawing.formats import as_svg
from ptxloom.views.fragments import filled_pictures
from ptxloom.views.fragments.filled_pictures import number

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOADS = [move.spelling for move in variants() if move.opcode == "ldmatrix" and move.source == move.destination]
RNG = np.random.default_rng(8)
MEMORY = RNG.integers(0, 256, 8192, dtype=np.uint8)
ROWS = (16 * RNG.permutation(512)[:32]).astype(np.uint32)


@pytest.mark.parametrize("spelling", LOADS)
def test_a_loaded_fragment_shows_the_rows_of_memory(spelling: str) -> None:
    held = fragment(spelling)
    registers = ldmatrix(spelling, MEMORY, ROWS)
    values = fill(held, registers, "u8").values
    assert values.shape == (held.matrices, held.rows, 16)
    for matrix in range(held.matrices):
        for row in range(held.rows):
            at = int(ROWS[held.address_lane(matrix=matrix, row=row)])
            assert values[matrix, row].tolist() == MEMORY[at : at + 16].tolist()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f32", np.float32), ("f64", np.float64), ("s16", np.int16),
        ("u32", np.uint32), ("s8", np.int8), ("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2),
    ],
)  # fmt: skip
def test_bits_are_read_as_the_type_says(name: str, dtype: type[Any]) -> None:
    spelling = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    values = fill(fragment(spelling), ldmatrix(spelling, MEMORY, ROWS), name).values
    wanted: NDArray[Any] = np.stack([MEMORY[at : at + 16] for at in ROWS]).view(np.dtype(dtype)).reshape(4, 8, -1)
    assert values.dtype == np.dtype(dtype)
    assert values.tobytes() == wanted.tobytes()


def test_narrow_integers_are_taken_apart() -> None:
    registers = np.full((32, 1), 0xF21E, np.uint32)
    values = fill(fragment("m8n8.x1.b16"), registers, "s4").values
    assert values[0, 0, :8].tolist() == [-2, 1, 2, -1, 0, 0, 0, 0]


@pytest.mark.parametrize("wrong", ["f16x2", "pred", "q7", "b128x2"])
def test_types_that_are_none(wrong: str) -> None:
    with pytest.raises(UsageError, match="type"):
        fill(fragment("m8n8.x1.b16"), np.zeros((32, 1), np.uint32), wrong)


def test_registers_that_are_too_few() -> None:
    with pytest.raises(UsageError, match="registers"):
        fill(fragment("m8n8.x2.b16"), np.zeros((32, 1), np.uint32))


def test_numbers_are_short() -> None:
    shown = [number(v) for v in (7, -0.0, 0.1, 65504.0, 1e-9, float("inf"))]
    assert shown == ["7", "-0", "0.1", "65504", "1e-09", "inf"]


def test_the_picture_says_every_value() -> None:
    filled = fill(fragment("m8n8.x1.b16"), np.arange(32, dtype=np.uint32)[:, None], "s16")
    text = filled_pictures.full(filled, list(range(0, 512, 16)))
    assert text.splitlines()[2].split() == ["0x0", "0", "0", "0", "1", "0", "2", "0", "3", "0"]
    picture = as_svg(filled_pictures.figure([filled], list(range(0, 512, 16))))
    assert picture.count("held by lane 31 in register 0") == 2
    assert "lane 7 passes the address 0x70 of row 7" in picture


def test_numbers_side_by_side_in_registers_are_read_lowest_bits_first() -> None:
    assert read_registers(np.array([0x40003C00, 0xC4005000], np.uint32), "f16").tolist() == [[1, 2], [32, -4]]
    assert read_registers(np.array([0x0180], np.uint16), "s8").tolist() == [[-128, 1]]


INTEGERS = (
    "bool",
    "int8",
    "uint16",
    "int32",
    "uint64",
    ml_dtypes.int2,
    ml_dtypes.uint2,
    ml_dtypes.int4,
    ml_dtypes.uint4,
)
FLOATS = ("float16", "float32", "float64", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn)
NO_NUMBERS = ("object", "datetime64[s]", "timedelta64[s]", "U3", "S3", "V4", [("x", "f4")])


@pytest.mark.parametrize(
    ("kinds", "known"),
    [
        (INTEGERS, (True, False, False)),
        (FLOATS, (True, True, False)),
        (("complex64", "complex128"), (True, False, True)),
        (NO_NUMBERS, (False, False, False)),
    ],
)
def test_types_of_arrays_are_numbers_floats_and_complex_ones_or_not(
    kinds: tuple[Any, ...], known: tuple[bool, bool, bool]
) -> None:
    for kind in map(np.dtype, kinds):
        assert (is_number(kind), is_float(kind), is_complex(kind)) == known, kind


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 a, b, c, d, e, 0;", "dabc"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 a, b, c, d;", "dabc"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {a, b, c, d}, x, y, e, 0, p, 1, 1, 0, 0;", "d"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a, b, c, d}, {a, b, c, d}, y, p, 1, 1, 0;", "da"),
    ],
)
def test_matrices_in_registers_are_those_that_have_a_map(statement: str, names: str) -> None:
    (node,) = instructions(parse(statement))
    assert "".join(one.name for one in matrix_operands(node)) == names
