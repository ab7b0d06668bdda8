"""What an H200 did with the matrix moves and the operands of mma, replayed; `tools/record/matrix_moves.py` made it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.fragments import Evidence, fragment
from ptxloom.fragments.execute import ldmatrix, movmatrix, stmatrix
from ptxloom.isa.matrix import variants
from recorded.matrix.matrix_cases import (
    LOADS,
    SIGNED_LOADS,
    STORES,
    TRANSPOSE,
    addresses_of,
    decode,
    memory_of,
    products,
    registers_of,
)

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm
    from recorded.matrix.matrix_cases import Product, Values

HERE = Path(__file__).parent
MOVES = dict(np.load(HERE / "matrix_moves.npz"))
PRODUCTS = {product.form.spelling: product for product in products()}


def test_the_recording_says_where_it_comes_from() -> None:
    about = json.loads((HERE / "matrix_moves.json").read_text())
    assert about["gpu"] == "NVIDIA H200"
    faults = about["rows 8 bytes off"]
    assert "MISALIGNED" in faults[LOADS[0]]
    assert faults[SIGNED_LOADS[0]].startswith("no fault")


@pytest.mark.parametrize("form", [*LOADS, *SIGNED_LOADS])
def test_loads_are_the_hardwares(form: str) -> None:
    np.testing.assert_array_equal(ldmatrix(form, memory_of(form), addresses_of(form)), MOVES[form])


@pytest.mark.parametrize("form", STORES)
def test_stores_are_the_hardwares(form: str) -> None:
    memory = memory_of(form).copy()
    stmatrix(form, memory, addresses_of(form), registers_of(form))
    np.testing.assert_array_equal(memory, MOVES[form])


def test_movmatrix_is_the_hardwares() -> None:
    np.testing.assert_array_equal(movmatrix(registers_of(TRANSPOSE)), MOVES[TRANSPOSE])


def test_every_form_said_to_have_run_was_recorded() -> None:
    ran = {move.short for move in variants() if fragment(move).confirmed is Evidence.SILICON}
    recorded = {spelling.split(".aligned.")[1].replace(".shared", "") for spelling in MOVES if "mov" not in spelling}
    assert recorded == ran


def matrices(form: MatrixForm, operand: str, values: Values) -> Values:
    """(warps, matrices, rows, columns) of what lanes hold, through the fragment."""
    held = fragment(form, operand)
    places = np.array([[e.matrix, e.row, e.column] for e in held]).reshape(32, held.values_per_lane, 3)
    result = np.zeros((len(values), held.matrices, held.rows, held.columns), np.int64)
    result[:, places[..., 0], places[..., 1], places[..., 2]] = values
    return result


def multiplied(product: Product) -> Values:
    """D = A * B + C in integers; single bits are combined and counted."""
    a, b, c = (matrices(product.form, operand, getattr(product, operand)) for operand in "abc")
    match product.form.bit_operation:
        case "xor":
            both = (a[..., :, :, None] ^ b[..., None, :, :]).sum(axis=-2)
        case "and":
            both = (a[..., :, :, None] & b[..., None, :, :]).sum(axis=-2)
        case _:
            both = a @ b
    return both + c


@pytest.mark.parametrize("spelling", PRODUCTS)
def test_the_operands_of_mma_are_the_hardwares(spelling: str) -> None:
    with np.load(HERE / "mma_operands.npz") as recorded:
        registers = recorded[spelling]
    product = PRODUCTS[spelling]
    assert fragment(product.form, "d").confirmed is Evidence.SILICON
    got = matrices(product.form, "d", decode(product.form, registers))
    np.testing.assert_array_equal(got, multiplied(product))
