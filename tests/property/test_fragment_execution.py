from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.fragments.execute import ldmatrix, movmatrix, stmatrix

SEEDS = st.integers(0, 2**32 - 1)


def spread_rows(rng: np.random.Generator, warps: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
    return (16 * np.stack([rng.permutation(40)[:32] for _ in range(warps)])).astype(np.uint32)


@pytest.mark.parametrize("num", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
@settings(max_examples=50, deadline=None)
@given(seed=SEEDS)
def test_store_then_load_is_the_identity(num: int, trans: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    memory = rng.integers(0, 256, (3, 640), np.uint8)
    before = memory.copy()
    addresses = spread_rows(rng, 3)
    registers = rng.integers(0, 2**32, (3, 32, num), np.uint32)
    form = f"m8n8.x{num}{trans}.b16"
    stmatrix(form, memory, addresses, registers)
    np.testing.assert_array_equal(ldmatrix(form, memory, addresses), registers)
    untouched = np.ones((3, 40), np.bool_)
    np.put_along_axis(untouched, addresses[:, : 8 * num].astype(np.intp) // 16, False, axis=1)
    rows, rows_before = memory.reshape(3, 40, 16), before.reshape(3, 40, 16)
    np.testing.assert_array_equal(rows[untouched], rows_before[untouched])


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS)
def test_load_then_store_elsewhere_copies_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    memory = rng.integers(0, 256, 640, np.uint8)
    copy = np.zeros_like(memory)
    addresses = spread_rows(rng, 1)[0]
    for trans in ("", ".trans"):
        stmatrix(f"m8n8.x4{trans}.b16", copy, addresses, ldmatrix(f"m8n8.x4{trans}.b16", memory, addresses))
        at = addresses.astype(np.intp) // 16
        np.testing.assert_array_equal(copy.reshape(40, 16)[at], memory.reshape(40, 16)[at])


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS)
def test_trans_is_a_load_followed_by_movmatrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    memory = rng.integers(0, 256, 1024, np.uint8)
    addresses = (16 * rng.integers(0, 64, (4, 32))).astype(np.uint32)
    plain, trans = (ldmatrix(form, memory, addresses) for form in ("m8n8.x1.b16", "m8n8.x1.trans.b16"))
    np.testing.assert_array_equal(movmatrix(plain), trans)
    np.testing.assert_array_equal(movmatrix(movmatrix(plain)), plain)


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS)
def test_the_byte_transpose_is_undone_by_the_byte_store(seed: int) -> None:
    # m16n16.x1.trans holds 16 rows of 16 bytes; stmatrix m16n8.x2.trans with its bytes put in place stores them.
    rng = np.random.default_rng(seed)
    memory = rng.integers(0, 256, 256, np.uint8)
    addresses = (16 * (np.arange(32) % 16)).astype(np.uint32)
    loaded = ldmatrix("m16n16.x1.trans.b8", memory, addresses).view(np.uint8).reshape(32, 2, 4)
    matrix = np.zeros((16, 16), np.uint8)
    for lane in range(32):
        for register in range(2):
            for byte in range(4):
                matrix[4 * (lane % 4) + byte, lane // 4 + 8 * register] = loaded[lane, register, byte]
    np.testing.assert_array_equal(matrix, memory.reshape(16, 16))
